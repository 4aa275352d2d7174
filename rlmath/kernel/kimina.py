"""A Kimina Lean server as a kernel: an async client of its `/api/check`.

Checks that come together travel together. Of what the server reports in `error`, one thing is evidence: that the text
itself ran out of its time. All else (no REPL, a REPL that died, a header that does not load, HTTP and connection
trouble) says nothing about the text and raises `KernelUnavailable`.

A snippet is one file (`one_file.py`).
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import secrets
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import httpx

from rlmath.errors import InputError, KernelUnavailable
from rlmath.header import for_checks
from rlmath.kernel.config import KiminaKernelConfig
from rlmath.kernel.lean_reply import Question, read_reply
from rlmath.kernel.one_file import OneFile, lay_out, sort_out
from rlmath.kernel.protocol import Source
from rlmath.kernel.unaudited import Ran, UnauditedKernel

LINGER_S: Final = 0.001
"""How long a check waits for others to travel with."""
GRACE_S: Final = 15.0
"""Seconds that a server may take beyond all that it was allowed: its own safety margin is 10."""
START_CHECK_S: Final = 300.0
"""For the server to elaborate the header the first time."""

_TIMED_OUT: Final = re.compile(r"\bcommand timed out\b")
_HEADER: Final = re.compile(r"\bheader\b", re.IGNORECASE)


class KiminaBackend:
    """See `rlmath.kernel.unaudited.Backend`."""

    kind = "kimina"
    restarts = 0

    def __init__(self, config: KiminaKernelConfig, *, slots: int) -> None:
        """Raises `InputError` when the key's environment variable is not set."""
        headers = {}
        if config.api_key_env is not None:
            key = os.environ.get(config.api_key_env)
            if not key:
                raise InputError("kernel.api_key_env", f"the environment variable {config.api_key_env} is not set")
            headers["Authorization"] = f"Bearer {key}"
        self._config = config
        self._preamble = for_checks(config.header)
        self._headers = headers
        self._slots = slots
        self._client: httpx.AsyncClient | None = None
        self._waiting: list[tuple[OneFile, float, asyncio.Future[Mapping[str, Any]]]] = []
        self._sending: set[asyncio.Task[None]] = set()

    @property
    def lean_version(self) -> str:
        """See `Backend`."""
        return self._config.lean_version.removeprefix("v")

    @property
    def environment(self) -> str:
        """See `Backend`."""
        return f"{self._config.environment}+{self._preamble.digest}"

    async def start(self) -> None:
        """See `Backend`. Has the server elaborate the header."""
        if self._client is not None:
            return
        # As many connections as checks: the server waits for a whole request, so a full pool would be a second queue.
        limits = httpx.Limits(max_connections=self._slots + 1, max_keepalive_connections=self._slots + 1)
        self._client = httpx.AsyncClient(base_url=self._config.base_url, headers=self._headers, limits=limits)
        probe = Source("theorem rlmath_probe : ∀ p : Prop, p → p := fun _ h => h", declaration="rlmath_probe")
        ran = await self.run(probe, Question("rlmath_probe", f"rlmath_{secrets.token_hex(16)}"), START_CHECK_S)
        if ran.timed_out or ran.answer is None or any(m.severity == "error" for m in ran.messages):
            said = ran.messages[0].text if ran.messages else "no answer"
            raise KernelUnavailable(f"{self._config.base_url} does not take a true theorem: {said}")

    async def aclose(self) -> None:
        """See `Backend`."""
        for task in self._sending:
            task.cancel()
        while self._sending:
            await asyncio.gather(*self._sending, return_exceptions=True)
        for _, _, future in self._waiting:
            _fail(future, "the kernel was closed")
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def run(self, source: Source, question: Question, timeout_s: float) -> Ran:
        """See `Backend`."""
        file = lay_out(self._preamble, source, question)
        started = time.perf_counter()
        result = await self._submit(file, timeout_s)
        elapsed_s = time.perf_counter() - started
        took = result.get("time")
        timings = {"elaborate": float(took)} if isinstance(took, int | float) else {}
        if (error := result.get("error")) is not None:
            if _TIMED_OUT.search(str(error)) and not _HEADER.search(str(error)):
                return Ran(timed_out=True, elapsed_s=elapsed_s, timings=timings)
            raise KernelUnavailable(f"{self._config.base_url}: {str(error)[:500]}")
        if timings and timings["elaborate"] > timeout_s:  # it counts whole seconds
            return Ran(timed_out=True, elapsed_s=elapsed_s, timings=timings)
        try:
            messages = read_reply(result["response"]).messages
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise KernelUnavailable(f"{self._config.base_url} sent something unreadable: {problem}") from None
        return replace(
            sort_out(file, messages, source, question, imports_count=False), elapsed_s=elapsed_s, timings=timings
        )

    async def _submit(self, file: OneFile, timeout_s: float) -> Mapping[str, Any]:
        if self._client is None:
            raise KernelUnavailable("the kernel is not started, or was closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Mapping[str, Any]] = loop.create_future()
        if not self._waiting:
            loop.call_later(LINGER_S, self._send_off)
        self._waiting.append((file, timeout_s, future))
        return await future

    def _send_off(self) -> None:
        """Send what waits, those with the same timeout together."""
        waiting, self._waiting = self._waiting, []
        groups: defaultdict[int, list[tuple[OneFile, asyncio.Future[Mapping[str, Any]]]]] = defaultdict(list)
        for file, timeout_s, future in waiting:
            if not future.done():
                groups[math.ceil(timeout_s)].append((file, future))
        for seconds, group in groups.items():
            for at in range(0, len(group), self._config.batch):
                task = asyncio.get_running_loop().create_task(
                    self._send(seconds, dict(enumerate(group[at : at + self._config.batch])))
                )
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)

    async def _send(self, seconds: int, batch: Mapping[int, tuple[OneFile, asyncio.Future[Mapping[str, Any]]]]) -> None:
        # The ids are our own and fresh, so an answer to another request is none to this one.
        tag = secrets.token_hex(8)
        ids = {f"{tag}-{number}": future for number, (_, future) in batch.items()}
        try:
            for answer in await self._post(tag, seconds, [file for file, _ in batch.values()]):
                future = ids.pop(str(answer.get("id")), None)
                if future is not None and not future.done():
                    future.set_result(answer)
            why = "the server's answer leaves a snippet out"
        except KernelUnavailable as error:
            why = str(error)
        except asyncio.CancelledError:
            why = "the kernel was closed"
        for future in ids.values():
            _fail(future, why)

    async def _post(self, tag: str, seconds: int, files: Sequence[OneFile]) -> list[Mapping[str, Any]]:
        if self._client is None:
            raise KernelUnavailable("the kernel was closed")
        snippets = [{"id": f"{tag}-{number}", "code": file.text} for number, file in enumerate(files)]
        longest = self._config.max_wait_s + seconds * len(files) + GRACE_S
        base_url = self._config.base_url
        try:
            async with asyncio.timeout(longest):
                response = await self._client.post(
                    "/api/check", json={"snippets": snippets, "timeout": seconds, "reuse": True}, timeout=longest
                )
            if response.status_code != 200:
                raise KernelUnavailable(f"{base_url} answered HTTP {response.status_code}: {response.text[:300]}")
            results = response.json()["results"]
        except TimeoutError:
            raise KernelUnavailable(f"{base_url} did not answer within {longest:g} s") from None
        except httpx.HTTPError as error:
            raise KernelUnavailable(f"{base_url}: {error or type(error).__name__}") from None
        except (ValueError, KeyError, TypeError) as error:
            raise KernelUnavailable(f"{base_url} sent something unreadable: {error}") from None
        if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
            raise KernelUnavailable(f"{base_url} sent something unreadable: no list of results")
        return results


def _fail(future: asyncio.Future[Mapping[str, Any]], why: str) -> None:
    if not future.done():
        future.set_exception(KernelUnavailable(why))
        future.exception()


def make_kimina_kernel(config: KiminaKernelConfig, *, slots: int | None = None) -> UnauditedKernel:
    """The kernel that `config` describes, not started yet."""
    chosen = len(os.sched_getaffinity(0)) if slots is None else slots
    return UnauditedKernel(KiminaBackend(config, slots=chosen), slots=slots, accept_unaudited=config.accept_unaudited)
