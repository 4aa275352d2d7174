"""The async client of a gateway (`rlmath serve`): judge and check over HTTP, results as the library's own types.

A verdict comes back, or an exception: `InputError` for what the caller got wrong, `Refused` for a spent cap or a queue
that stayed full, `KernelUnavailable` for everything that infrastructure did. None of them is a reward. Every call has
an id of its own from the start, so that it can be repeated whatever became of the connection: nothing is judged twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Sized
from dataclasses import asdict
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from cluster.caps import AccountStatus, Caps
from cluster.http_wire import (
    CHECK_GOAL,
    PATIENCE,
    WAIT_S,
    Recorded,
    Trouble,
    account_of,
    check_of,
    kernels_of,
    pause_s,
    read,
    result_of,
    score_body,
    status_of,
    trouble_of,
)
from cluster.retry import RetryPolicy
from rlmath.errors import InputError, KernelUnavailable, RlmathError
from rlmath.kernel.protocol import CheckResult
from rlmath.render import ScoredResult
from rlmath.types import Budgets, GoalSpec, KernelIdentity

if TYPE_CHECKING:
    import ssl

    import httpx

    from cluster.api import ScoreRequest
    from cluster.http_wire import Leaf

Progress = Callable[[int, int | None], None]
"""Told after each result: how many there are, of how many (None: not known)."""

logger = logging.getLogger(__name__)

SLACK_S = 20.0
"""For a reply to arrive beyond the time the server was asked to wait."""
CONNECT_S = 10.0
POLL_PAUSE_S = 0.25
"""Before a request is asked for again that the server has still not answered: it has waited already."""
ANSWERS = frozenset({200, 201, 202})
JSON_TYPES = ("application/json", "application/problem+json")


class AsyncClusterClient:
    """For use in one event loop; any number of calls at once."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        deadline_s: float = 3_600.0,
        patience: RetryPolicy = PATIENCE,
        max_connections: int = 128,
        verify: ssl.SSLContext | bool = True,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`url`: of the gateway, `http://host:port`.
        `api_key`: `rlm_…`; None: the server asks for none.
        `deadline_s`: for each call, all its attempts and pauses included.
        `patience`: how many failures in a row a call bears, and the pauses between them.
        `verify`: how the server's certificate is checked, as httpx has it.
        `transport`: instead of sockets.
        """
        import httpx

        parts = httpx.URL(url) if isinstance(url, str) and "://" in url else None
        if parts is None or parts.scheme not in ("http", "https") or not parts.host:
            raise InputError("url", f"must be http://host:port or https://host:port, got {url!r}")
        if parts.path.rstrip("/").endswith("/v1"):
            raise InputError("url", f"must be the server's root, without /v1: got {url!r}")
        self._http = httpx.AsyncClient(
            base_url=url,
            headers={} if api_key is None else {"authorization": f"Bearer {api_key}"},
            limits=httpx.Limits(max_connections=max_connections, max_keepalive_connections=max_connections),
            timeout=httpx.Timeout(None, connect=CONNECT_S),
            verify=verify,
            transport=transport,
        )
        self._failed: type[Exception] = httpx.RequestError
        self._deadline_s = deadline_s
        self._patience = patience
        self._calls_off: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        if self._calls_off:
            await asyncio.wait(self._calls_off, timeout=CONNECT_S)
        await self._http.aclose()

    async def score(
        self,
        goal: GoalSpec,
        completion: str | bytes,
        *,
        budgets: Budgets | None = None,
        leaf: Leaf | None = None,
        recorded: Recorded | None = None,
        run: str | None = None,
        priority: int = 0,
        request_id: str | None = None,
        deadline_s: float | None = None,
    ) -> ScoredResult:
        """The verdict on one completion. `request_id`: None: a fresh one. Cancelling the call ends its work."""
        body = score_body(
            goal,
            completion,
            budgets=budgets,
            leaf=leaf,
            recorded=recorded,
            run=run,
            priority=priority,
            request_id=request_id or uuid.uuid4().hex,
        )
        reply = await self._answer("/v1/score", body, deadline_s)
        return ScoredResult.of(read(partial(result_of, goal_id=goal.id), reply), completion)

    async def score_many(
        self,
        requests: Iterable[ScoreRequest],
        *,
        max_in_flight: int = 64,
        ordered: bool = False,
        run: str | None = None,
        progress: Progress | None = None,
    ) -> AsyncIterator[tuple[ScoreRequest, ScoredResult]]:
        """Results as they come, or in the requests' order, with at most `max_in_flight` begun and not yielded.

        `requests` is read as far as needed. The first one that cannot be judged ends the iterator with its exception;
        that, and closing it, ends the rest.
        """
        if max_in_flight < 1:
            raise InputError("max_in_flight", f"must be at least 1, got {max_in_flight}")
        total = len(requests) if isinstance(requests, Sized) else None
        source = iter(requests)
        running: dict[asyncio.Task[ScoredResult], ScoreRequest] = {}
        count = 0
        try:
            while True:
                while len(running) < max_in_flight and (request := next(source, None)) is not None:
                    running[asyncio.create_task(self._score_request(request, run))] = request
                if not running:
                    return
                if ordered:
                    done = {next(iter(running))}
                    await asyncio.wait(done)
                else:
                    done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    result = task.result()
                    count += 1
                    if progress is not None:
                        progress(count, total)
                    yield running.pop(task), result
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def check(
        self,
        source: str,
        *,
        context: str = "",
        timeout_s: float = 60.0,
        run: str | None = None,
        request_id: str | None = None,
        deadline_s: float | None = None,
    ) -> CheckResult:
        """What Lean says of a source. No judgement: it may hold axioms of its own."""
        body = {"source": source, "context": context, "timeout_s": timeout_s}
        return read(check_of, await self._answer("/v1/check", _with_id(body, request_id, run), deadline_s))

    async def check_proof(
        self,
        prop: str,
        proof: str,
        *,
        context: str = "",
        name: str = "goal",
        timeout_s: float = 60.0,
        run: str | None = None,
        request_id: str | None = None,
        deadline_s: float | None = None,
    ) -> ScoredResult:
        """Whether a tactic block proves a proposition: through every gate, the kernel and the audit."""
        body = {"prop": prop, "proof": proof, "context": context, "name": name, "timeout_s": timeout_s}
        reply = await self._answer("/v1/check", _with_id(body, request_id, run), deadline_s)
        return ScoredResult.of(read(partial(result_of, goal_id=CHECK_GOAL), reply))

    @contextlib.asynccontextmanager
    async def run(self, caps: Caps | None = None, *, name: str | None = None) -> AsyncIterator[AsyncRun]:
        """A run, open for as long as the context: what is called with `run=run.name` counts against its caps.

        `name`: None: a fresh one. A run of that name that is open goes on with what it has spent, under these caps.
        """
        run = AsyncRun(self, name or uuid.uuid4().hex)
        await self._exchange("POST", "/v1/runs", {"run": run.name, "caps": asdict(caps or Caps())})
        try:
            yield run
        finally:
            await self._exchange("DELETE", _run_path(run.name))

    async def account(self, run: str) -> AccountStatus:
        """What a run may use, has spent, and what its work under way holds. Raises `InputError` when it is unknown."""
        return read(account_of, await self._exchange("GET", _run_path(run)))

    async def kernels(self) -> tuple[KernelIdentity, ...]:
        """The kernels that verdicts come from."""
        return read(kernels_of, await self._exchange("GET", "/v1/kernels"))

    async def status(self) -> dict[str, Any]:
        """Workers, queues and this client's recent verdicts."""
        return read(status_of, await self._exchange("GET", "/v1/status"))

    async def _score_request(self, request: ScoreRequest, run: str | None) -> ScoredResult:
        from cluster.api import ScoreRequest

        if not isinstance(request, ScoreRequest):
            raise InputError("request", f"must be a ScoreRequest, got {type(request).__name__}")
        return await self.score(
            request.goal,
            request.completion,
            budgets=request.budgets,
            leaf=request.leaf,
            recorded=request.recorded,
            request_id=request.request_id,
            run=run,
        )

    async def _exchange(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        return await self._call(method, path, body, time.monotonic() + self._deadline_s)

    async def _answer(self, path: str, body: dict[str, Any], deadline_s: float | None) -> dict[str, Any]:
        """The answer to a piece of work. Asked again under its id for as long as it takes."""
        deadline = time.monotonic() + (self._deadline_s if deadline_s is None else deadline_s)
        goes_on = False
        try:
            while True:
                # The whole body again: a server that was started anew has forgotten the id.
                reply = await self._call("POST", path, body, deadline)
                if reply["state"] == "done":
                    return reply
                goes_on = True
                await asyncio.sleep(POLL_PAUSE_S)
        except (asyncio.CancelledError, RlmathError):
            if goes_on:
                self._call_off(body["request_id"])
            raise

    async def _call(self, method: str, path: str, body: dict[str, Any] | None, deadline: float) -> dict[str, Any]:
        """One exchange, repeated while that may help."""
        failures = 0
        while True:
            left = deadline - time.monotonic()
            wait_s = max(0.0, min(WAIT_S, left - 1.0))
            if body is not None and "request_id" in body:
                body = {**body, "wait_s": wait_s}
            content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
            reply = await self._once(method, path, content, wait_s + SLACK_S)
            if body is not None and "request_id" in body and not isinstance(reply, Trouble):
                reply = _of_request(body["request_id"], reply)
            if not isinstance(reply, Trouble):
                if reply.get("state") != "pending" or left > 1.0:
                    return reply
                reply = Trouble(KernelUnavailable("gateway: no answer within the deadline"), again=False)
            failures += reply.counts
            pause = pause_s(self._patience, failures, reply.after_s)
            if not reply.again or failures >= self._patience.attempts or time.monotonic() + pause >= deadline:
                raise reply.error
            if failures == 1:
                logger.warning("%s; trying again for a while (is `rlmath serve` running there?)", reply.error)
            await asyncio.sleep(pause)

    async def _once(self, method: str, path: str, content: bytes | None, timeout_s: float) -> dict[str, Any] | Trouble:
        headers = {} if content is None else {"content-type": "application/json"}
        try:
            async with asyncio.timeout(timeout_s + CONNECT_S):
                response = await self._http.request(method, path, content=content, headers=headers)
        except (self._failed, TimeoutError) as error:
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            return Trouble(KernelUnavailable(f"gateway at {self._http.base_url}: {said}"), again=True)
        try:
            document = response.json() if response.headers.get("content-type", "").startswith(JSON_TYPES) else None
        except (ValueError, RecursionError):
            document = None
        if response.status_code in ANSWERS and isinstance(document, dict):
            return document
        if response.status_code < 400:
            said = f"HTTP {response.status_code}, and no JSON as a gateway has it"
            return Trouble(KernelUnavailable(f"gateway at {self._http.base_url}: {said}"), again=True)
        told = document if isinstance(document, dict) else {}
        return trouble_of(response.status_code, told, response.headers.get("retry-after"))

    def _call_off(self, request_id: str) -> None:
        """End work that goes on at the server although this call does not, if word gets there."""

        async def call_off() -> None:
            with contextlib.suppress(self._failed, TimeoutError):
                async with asyncio.timeout(CONNECT_S):
                    await self._http.delete(f"/v1/requests/{quote(request_id, safe='')}")

        task = asyncio.get_running_loop().create_task(call_off())
        self._calls_off.add(task)
        task.add_done_callback(self._calls_off.discard)


class AsyncRun:
    """A run of `AsyncClusterClient.run`."""

    def __init__(self, client: AsyncClusterClient, name: str) -> None:
        self._client = client
        self.name = name
        """For `run=` of the calls that count against its caps."""

    async def account(self) -> AccountStatus:
        """See `AsyncClusterClient.account`."""
        return await self._client.account(self.name)


def _run_path(name: str) -> str:
    return f"/v1/runs/{quote(name, safe='')}"


def _of_request(request_id: str, reply: dict[str, Any]) -> dict[str, Any] | Trouble:
    """The reply, if it is to this request: whatever stands between may have mixed up two, or be no gateway at all."""
    if reply.get("request_id") == request_id and reply.get("state") in ("done", "pending"):
        return reply
    return Trouble(KernelUnavailable("gateway: the reply is not to this request, or not a gateway's"), again=True)


def _with_id(body: dict[str, Any], request_id: str | None, run: str | None) -> dict[str, Any]:
    body["request_id"] = request_id or uuid.uuid4().hex
    return body if run is None else {**body, "run": run}
