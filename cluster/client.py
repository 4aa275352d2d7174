"""Clients of a gateway (`rlmath serve`).

    with ClusterClient("http://localhost:8000", api_key=…) as c:
        c.score(goal, plan)

`AsyncClusterClient` (async_client.py) is the one that does the work; `ClusterClient` is the same for code that blocks.
Importing this imports neither ray nor an HTTP library.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from cluster.async_client import AsyncClusterClient, Progress
from cluster.background import BackgroundLoop
from cluster.caps import AccountStatus, Caps
from cluster.http_wire import PATIENCE, Recorded
from cluster.retry import RetryPolicy
from rlmath.kernel.protocol import CheckResult
from rlmath.render import ScoredResult
from rlmath.types import Budgets, GoalSpec, KernelIdentity

if TYPE_CHECKING:
    import ssl

    from cluster.api import ScoreRequest
    from cluster.http_wire import Leaf

__all__ = ["AsyncClusterClient", "ClusterClient", "Progress"]


class ClusterClient:
    """The same for code that blocks: its calls run in a thread of its own. Threads may share it."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        deadline_s: float = 3_600.0,
        patience: RetryPolicy = PATIENCE,
        max_connections: int = 128,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        """See `AsyncClusterClient`."""
        self._async = AsyncClusterClient(
            url,
            api_key=api_key,
            deadline_s=deadline_s,
            patience=patience,
            max_connections=max_connections,
            verify=verify,
        )
        self._loop = BackgroundLoop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and end the thread."""
        self._loop.run(self._async.aclose())
        self._loop.close()

    def score(
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
        """See `AsyncClusterClient.score`. An interrupt ends the work."""
        return self._loop.run(
            self._async.score(
                goal,
                completion,
                budgets=budgets,
                leaf=leaf,
                recorded=recorded,
                run=run,
                priority=priority,
                request_id=request_id,
                deadline_s=deadline_s,
            )
        )

    def score_many(
        self,
        requests: Iterable[ScoreRequest],
        *,
        max_in_flight: int = 64,
        ordered: bool = False,
        run: str | None = None,
        progress: Progress | None = None,
    ) -> Iterator[tuple[ScoreRequest, ScoredResult]]:
        """See `AsyncClusterClient.score_many`. `requests` is read, and `progress` called, in the client's thread."""
        results = self._async.score_many(
            requests, max_in_flight=max_in_flight, ordered=ordered, run=run, progress=progress
        )
        try:
            while (pair := self._loop.run(_next(results))) is not None:
                yield pair
        finally:
            self._loop.run(_close(results))

    def check(
        self,
        source: str,
        *,
        context: str = "",
        timeout_s: float = 60.0,
        run: str | None = None,
        request_id: str | None = None,
        deadline_s: float | None = None,
    ) -> CheckResult:
        """See `AsyncClusterClient.check`."""
        return self._loop.run(
            self._async.check(
                source, context=context, timeout_s=timeout_s, run=run, request_id=request_id, deadline_s=deadline_s
            )
        )

    def check_proof(
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
        """See `AsyncClusterClient.check_proof`."""
        return self._loop.run(
            self._async.check_proof(
                prop,
                proof,
                context=context,
                name=name,
                timeout_s=timeout_s,
                run=run,
                request_id=request_id,
                deadline_s=deadline_s,
            )
        )

    @contextlib.contextmanager
    def run(self, caps: Caps | None = None, *, name: str | None = None) -> Iterator[ClusterRun]:
        """See `AsyncClusterClient.run`."""
        run = self._async.run(caps, name=name)
        opened = self._loop.run(run.__aenter__())
        try:
            yield ClusterRun(self, opened.name)
        finally:
            self._loop.run(run.__aexit__(None, None, None))

    def account(self, run: str) -> AccountStatus:
        """See `AsyncClusterClient.account`."""
        return self._loop.run(self._async.account(run))

    def kernels(self) -> tuple[KernelIdentity, ...]:
        """See `AsyncClusterClient.kernels`."""
        return self._loop.run(self._async.kernels())

    def status(self) -> dict[str, Any]:
        """See `AsyncClusterClient.status`."""
        return self._loop.run(self._async.status())


class ClusterRun:
    """A run of `ClusterClient.run`."""

    def __init__(self, client: ClusterClient, name: str) -> None:
        self._client = client
        self.name = name
        """For `run=` of the calls that count against its caps."""

    def account(self) -> AccountStatus:
        """See `ClusterClient.account`."""
        return self._client.account(self.name)


async def _next(results: AsyncIterator[tuple[ScoreRequest, ScoredResult]]) -> tuple[ScoreRequest, ScoredResult] | None:
    return await anext(results, None)


async def _close(results: AsyncIterator[tuple[ScoreRequest, ScoredResult]]) -> None:
    await results.aclose()  # type: ignore[attr-defined]  # an async generator has it
