"""The async client: one scheduler, any number of requests in flight."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import ray
from ray.exceptions import RayError, TaskCancelledError

from cluster.api import Caller, ClusterStatus, ScoreRequest, error_result
from cluster.caps import AccountStatus, Caps
from cluster.failures import cause_of, is_final, is_infrastructure, reason_of
from cluster.judging import BrokenGoal
from cluster.retry import RetryPolicy
from rlmath.errors import ClusterLost, InputError, KernelUnavailable, QueueFull, RlmathError
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.render import ScoredResult

SCHEDULER_GONE = RetryPolicy(attempts=8, first_pause_s=0.5, longest_pause_s=8.0)
"""A scheduler that died is started again within seconds and goes on with its requests; asking again joins them."""


class Client:
    """Talks to one scheduler. For use in one event loop; `LocalCluster` has the synchronous twin."""

    def __init__(self, scheduler: Any) -> None:
        """`scheduler`: handle of a `cluster.scheduler.Scheduler` actor."""
        self._scheduler = scheduler

    async def score(self, request: ScoreRequest, caller: Caller | None = None) -> ScoredResult:
        """The verdict on one completion; infrastructure trouble comes back as `Status.ERROR` (reward None) after its
        retries.

        Raises `InputError` for a request that cannot be scored as it is, its goal included, and `Refused` when a cap of
        the caller's run is reached or the queue is full. Cancelling the call ends its checks.
        """
        try:
            return await self.judge(request, caller)
        except KernelUnavailable as error:
            return ScoredResult.of(error_result(request.goal, str(error)), request.completion)

    async def judge(self, request: ScoreRequest, caller: Caller | None = None) -> ScoredResult:
        """As `score`, but raises `ClusterLost` when there is no scheduler any more: no matter of one request."""
        if not isinstance(request, ScoreRequest):
            raise InputError("request", f"must be a ScoreRequest, got {type(request).__name__}")
        result = await self._call("score", request, caller or Caller())
        return ScoredResult.of(result, request.completion)

    async def check(
        self, source: Source, *, timeout_s: float, caller: Caller | None = None, kernel: str = "", memory: str = ""
    ) -> CheckResult:
        """What Lean says of a source. `kernel`, `memory`: see `ScoreRequest`. Raises `KernelUnavailable` after its
        retries, `Refused`, and `ClusterLost`.
        """
        where = {"caller": caller or Caller(), "kernel": kernel, "memory": memory}
        result: CheckResult = await self._call("check", source, timeout_s=timeout_s, **where)
        return result

    async def patient_score(self, request: ScoreRequest, caller: Caller | None = None) -> ScoredResult:
        """As `score`, for one of many: when the queue is full it waits as long as it is told to and asks again, and a
        goal that does not elaborate is a result of `Status.ERROR` that says so, which keeps no other from its verdict.
        """
        while True:
            try:
                return await self.score(request, caller)
            except QueueFull as full:
                await asyncio.sleep(full.retry_after_s)
            except BrokenGoal as error:
                return ScoredResult.of(error_result(request.goal, str(error)), request.completion)

    async def open_run(
        self, run: str, caps: Caps, *, client: str = "", client_caps: Caps | None = None
    ) -> AccountStatus:
        """See `Scheduler.open_run`."""
        opened: AccountStatus = await self._call("open_run", run, caps, client, client_caps)
        return opened

    async def close_run(self, run: str, *, client: str = "") -> AccountStatus:
        """See `Scheduler.close_run`."""
        closed: AccountStatus = await self._call("close_run", run, client)
        return closed

    async def account(self, client: str = "", run: str | None = None) -> AccountStatus:
        """See `Scheduler.account`."""
        account: AccountStatus = await self._call("account", client, run)
        return account

    async def score_many(
        self, requests: Iterable[ScoreRequest], *, max_in_flight: int = 64, caller: Caller | None = None
    ) -> AsyncIterator[tuple[ScoreRequest, ScoredResult]]:
        """Results as they come, with at most `max_in_flight` requests begun and not yielded. Closing the iterator ends
        the rest.
        """
        source = iter(requests)
        running: dict[asyncio.Task[ScoredResult], ScoreRequest] = {}
        try:
            while True:
                while len(running) < max_in_flight and (request := next(source, None)) is not None:
                    running[asyncio.create_task(self.patient_score(request, caller))] = request
                if not running:
                    return
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield running.pop(task), task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def status(self) -> ClusterStatus:
        """Raises `KernelUnavailable` when there is no scheduler any more."""
        status: ClusterStatus = await self._call("status")
        return status

    async def close_workers(self) -> None:
        """End all checks and workers; for the owner of the scheduler, before it kills it."""
        await self._scheduler.close.remote()

    async def _call(self, method: str, *arguments: Any, **named: Any) -> Any:
        failures = 0
        while True:
            ref = None
            try:
                ref = getattr(self._scheduler, method).remote(*arguments, **named)
                return await ref
            except asyncio.CancelledError:
                if ref is not None:
                    ray.cancel(ref)
                raise
            except TaskCancelledError as error:
                raise KernelUnavailable("the request was cancelled at the scheduler") from error
            except RayError as error:
                cause = cause_of(error)
                if isinstance(cause, RlmathError):
                    raise cause from None
                failures += 1
                if not is_infrastructure(error):
                    raise KernelUnavailable(f"scheduler: {reason_of(error)}") from error
                if is_final(error) or failures >= SCHEDULER_GONE.attempts:
                    raise ClusterLost(f"the cluster's scheduler is gone: {reason_of(error)}") from error
            await asyncio.sleep(SCHEDULER_GONE.pause_s(failures))
