"""The lively half of `state.CheckBook`: turns its instructions into calls of `LeanWorker` actors, and what comes back
into events.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from cluster.api import ClusterSettings, WorkerStatus
from cluster.caps import MICRO, Accounts
from cluster.events import (
    Alarm,
    Answered,
    Cancelled,
    CapsChanged,
    Charge,
    CheckJob,
    Event,
    Expired,
    NoWorkers,
    Pause,
    PauseOver,
    Send,
    Settle,
    Stop,
    Submitted,
    WorkerLost,
    WorkerReady,
)
from cluster.exchange import Parcel, turns_of, unpack_answers
from cluster.failures import is_final, reason_of
from cluster.retry import RetryPolicy
from cluster.state import CheckBook
from cluster.tickets import Ticket
from cluster.verdict_cache import Outcome, VerdictCache, check_key
from cluster.workers import HEALTH, LeanWorker, Pulse, WorkerInfo
from rlmath.errors import KernelUnavailable, RlmathError
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.types import KernelIdentity

logger = logging.getLogger(__name__)

OPEN_CALLS = 2
"""Calls that may wait for answers at one worker: a second one hides the way of the first."""
RESTART = RetryPolicy(first_pause_s=0.25, longest_pause_s=30.0)
"""Pauses between attempts to open a worker."""


@dataclass(frozen=True)
class Placement:
    """Where a worker is to live."""

    node_id: str
    slots: int


@dataclass
class _Life:
    """One life of a worker, from the moment it takes checks until it is lost."""

    name: str
    lost: asyncio.Future[str]
    """Set to the reason once."""
    jobs: list[CheckJob] = field(default_factory=list)
    stops: list[int] = field(default_factory=list)
    open_calls: int = 0
    flush_due: bool = False

    def lose(self, reason: str) -> None:
        if not self.lost.done():
            self.lost.set_result(reason)


@dataclass
class _Link:
    """One worker over all its lives."""

    index: int
    placement: Placement
    actor: Any
    state: str = "starting"
    detail: str = ""
    starts: int = 0
    life: _Life | None = None
    pid: int | None = None
    image_pid: int | None = None
    checks: int = 0


class WorkerPool:
    """Keeps one `LeanWorker` alive at each placement and has checks made by whichever has room."""

    def __init__(
        self,
        placements: Sequence[Placement],
        settings: ClusterSettings,
        accounts: Accounts,
        charged: Callable[[Charge], None],
    ) -> None:
        """`accounts`: whose kernel time the checks are. `charged`: told of each charge for a check."""
        self._settings = settings
        self._charged = charged
        policy, cache = RetryPolicy(attempts=settings.attempts), VerdictCache(settings.cached_checks)
        self._book = CheckBook(policy, accounts=accounts, cache=cache)
        self._alarms: dict[int, asyncio.TimerHandle] = {}
        self._links = [_Link(i, placement, _spawn(placement, settings)) for i, placement in enumerate(placements)]
        self._living: dict[str, tuple[_Link, _Life]] = {}
        self._futures: dict[int, asyncio.Future[Outcome]] = {}
        self._ids = itertools.count()
        self._lives = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()
        self._identity: KernelIdentity | None = None
        self._known: asyncio.Event = asyncio.Event()

    def start(self) -> None:
        """Begin to open the workers; returns at once."""
        for link in self._links:
            self._spawn_task(self._keep(link))

    async def close(self) -> None:
        """End every check and every worker."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        closing = [link.actor.close.remote() for link in self._links if link.state == "ready"]
        if closing:
            await asyncio.wait([asyncio.ensure_future(_closed(ref)) for ref in closing], timeout=5.0)
        for link in self._links:
            ray.kill(link.actor, no_restart=True)

    # What requests use

    async def identity(self) -> KernelIdentity:
        """Of the kernel that every worker has; waits for the first that is ready. Raises `KernelUnavailable` when all
        refused.
        """
        while self._identity is None:
            if self._links and all(link.state == "refused" for link in self._links):
                raise KernelUnavailable(self._refusal())
            self._known.clear()
            await self._known.wait()
        return self._identity

    async def check(self, source: Source, *, timeout_s: float, ticket: Ticket) -> CheckResult:
        """One check, wherever there is room. Raises `KernelUnavailable` when the attempts are spent and `CapReached`
        when an account of the ticket has not enough kernel time left.
        """
        result = await self._settled(await self._job(source, None, timeout_s, ticket))
        assert isinstance(result, CheckResult), "a job without a reference is a plain check"
        return result

    async def certify(self, source: Source, reference: Source, *, timeout_s: float, ticket: Ticket) -> Certificate:
        """One check with its audit, all on one worker; else as `check`."""
        result = await self._settled(await self._job(source, reference, timeout_s, ticket))
        assert isinstance(result, Certificate), "a job with a reference is certified"
        return result

    def caps_changed(self) -> None:
        """What waits for room on an account may have it now."""
        self._apply(CapsChanged())

    async def _job(self, source: Source, reference: Source | None, timeout_s: float, ticket: Ticket) -> CheckJob:
        environment, caller = str(await self.identity()), ticket.caller
        return CheckJob(
            id=next(self._ids),
            source=source,
            timeout_s=timeout_s,
            reference=reference,
            environment=environment,
            key=check_key(environment, source, reference, ticket.scope),
            client=caller.client,
            weight=caller.weight,
            priority=caller.priority,
            order=ticket.number,
            accounts=ticket.accounts,
            most_us=round(sum(turns_of(timeout_s, certify=reference is not None)) * MICRO),
            deadline_s=self._settings.check_deadline_s,
        )

    async def _settled(self, job: CheckJob) -> Outcome:
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._futures[job.id] = future
        self._apply(Submitted(job))
        try:
            return await future
        finally:
            if self._futures.pop(job.id, None) is not None:
                self._disarm(job.id)
                self._apply(Cancelled(job.id))

    # What status shows

    @property
    def known_identity(self) -> KernelIdentity | None:
        """None until a worker was ready."""
        return self._identity

    @property
    def book(self) -> CheckBook:
        """For its counters."""
        return self._book

    def workers(self) -> tuple[WorkerStatus, ...]:
        """Every worker, by placement."""
        return tuple(
            WorkerStatus(
                node=link.placement.node_id[:8],
                state=link.state,
                slots=link.placement.slots,
                in_flight=self._book.load(link.life.name) if link.life else 0,
                pid=link.pid,
                image_pid=link.image_pid,
                checks=link.checks,
                starts=link.starts,
                detail=link.detail,
            )
            for link in self._links
        )

    # Instructions

    def _apply(self, event: Event) -> None:
        loop = asyncio.get_running_loop()
        for instruction in self._book.handle(event):
            match instruction:
                case Send(worker, job):
                    self._living[worker][1].jobs.append(job)
                    self._flush_soon(worker)
                case Stop(worker, job_id):
                    self._living[worker][1].stops.append(job_id)
                    self._flush_soon(worker)
                case Pause(job_id, seconds):
                    loop.call_later(seconds, self._apply, PauseOver(job_id))
                case Alarm(job_id, seconds):
                    self._alarms[job_id] = loop.call_later(seconds, self._apply, Expired(job_id))
                case Charge():
                    self._charged(instruction)
                case Settle(job_id, result, error):
                    self._disarm(job_id)
                    future = self._futures.pop(job_id)
                    if result is not None:
                        future.set_result(result)
                    elif error is not None:
                        future.set_exception(error)

    def _disarm(self, job_id: int) -> None:
        if (alarm := self._alarms.pop(job_id, None)) is not None:
            alarm.cancel()

    def _flush_soon(self, worker: str) -> None:
        # All that is decided in one turn of the loop travels in one call.
        _, life = self._living[worker]
        if not life.flush_due:
            life.flush_due = True
            asyncio.get_running_loop().call_soon(self._flush, worker)

    def _flush(self, worker: str) -> None:
        if worker not in self._living:
            return
        link, life = self._living[worker]
        life.flush_due = False
        idle = not life.jobs and not life.stops
        if life.lost.done() or (idle and (life.open_calls or not self._book.load(worker))):
            return
        jobs, stops, life.jobs, life.stops = life.jobs, life.stops, [], []
        parcel = Parcel(life.name, jobs, stops, wait=life.open_calls < OPEN_CALLS)
        self._spawn_task(self._exchange(link, life, parcel))

    async def _exchange(self, link: _Link, life: _Life, parcel: Parcel) -> None:
        life.open_calls += parcel.wait
        try:
            packed = await link.actor.exchange.remote(parcel.pack())
        except (RayError, RlmathError) as error:
            life.lose(reason_of(error))
            return
        finally:
            life.open_calls -= parcel.wait
        for answer in unpack_answers(packed):
            self._apply(Answered(life.name, answer.job_id, answer.result, answer.error, answer.killed))
        if life.name in self._living:
            self._flush_soon(life.name)

    # Lives of a worker

    async def _keep(self, link: _Link) -> None:
        failures, failing_since = 0, 0.0
        while True:
            name = f"{link.index}.{next(self._lives)}"
            try:
                info: WorkerInfo = await asyncio.wait_for(link.actor.open.remote(name), self._settings.start_timeout_s)
                self._agree(info.identity)
            except (RayError, RlmathError, TimeoutError) as error:
                failures += 1
                failing_since = failing_since if failures > 1 else time.monotonic()
                self._failed_to_open(link, error, failures, time.monotonic() - failing_since)
                await asyncio.sleep(RESTART.pause_s(failures))
                continue
            failures = 0
            life = link.life = _Life(name, asyncio.get_running_loop().create_future())
            self._living[name] = link, life
            link.state, link.detail, link.starts = "ready", "", link.starts + 1
            link.pid, link.image_pid = info.pid, info.image_pid
            self._known.set()
            self._apply(WorkerReady(name, info.slots, str(info.identity)))
            pinging = asyncio.create_task(self._ping(link, life))
            try:
                reason = await life.lost
            finally:
                pinging.cancel()
            logger.warning("worker %s lost: %s", name, reason)
            link.state, link.detail, link.life = "lost", reason, None
            del self._living[name]
            self._apply(WorkerLost(name, f"worker lost: {reason}"))

    def _agree(self, identity: KernelIdentity) -> None:
        """Every verdict names one kernel, so all workers must have the same."""
        if self._identity is None:
            self._identity = identity
        elif identity != self._identity:
            raise KernelUnavailable(f"this worker's kernel is {identity}, the others' is {self._identity}")

    def _failed_to_open(self, link: _Link, error: BaseException, failures: int, for_s: float) -> None:
        timed_out = isinstance(error, TimeoutError)
        reason = f"not ready after {self._settings.start_timeout_s:.0f} s" if timed_out else reason_of(error)
        logger.warning("worker %d did not open: %s", link.index, reason)
        if timed_out or isinstance(error, RayTaskError | RlmathError):
            # The kernel's own word. One that refuses on a fresh machine will refuse again.
            refused = not link.starts or failures >= self._settings.start_attempts
        else:
            refused = for_s >= self._settings.absence_s
        link.state, link.detail = "refused" if refused else "starting", reason
        if timed_out or is_final(error):
            ray.kill(link.actor, no_restart=True)
            link.actor = _spawn(link.placement, self._settings)
        if all(other.state == "refused" for other in self._links):
            environment = "" if self._identity is None else str(self._identity)
            self._apply(NoWorkers(self._refusal(), environment))
        self._known.set()

    def _refusal(self) -> str:
        reasons = dict.fromkeys(link.detail for link in self._links)
        return f"no Lean worker could start: {'; '.join(reasons)}"

    async def _ping(self, link: _Link, life: _Life) -> None:
        limit = self._settings.ping_timeout_s
        while True:
            await asyncio.sleep(self._settings.ping_period_s)
            try:
                pulse: Pulse = await asyncio.wait_for(link.actor.ping.remote(), limit)
            except TimeoutError:
                self._replace(link, life, f"no answer to a ping for {limit:.0f} s")
                return
            except (RayError, RlmathError) as error:
                life.lose(reason_of(error))
                return
            link.image_pid, link.checks = pulse.image_pid, pulse.checks
            if pulse.loop_lag_s > limit:
                self._replace(link, life, f"its loop stood still for {pulse.loop_lag_s:.0f} s")
                return

    def _replace(self, link: _Link, life: _Life, reason: str) -> None:
        ray.kill(link.actor, no_restart=False)
        life.lose(reason)

    def _spawn_task(self, coroutine: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("a task of the pool ended", exc_info=task.exception())


async def _closed(ref: Any) -> None:
    try:
        await ref
    except RayError as error:
        logger.info("worker did not close: %s", reason_of(error))


def _spawn(placement: Placement, settings: ClusterSettings) -> Any:
    """A worker at its place. It asks Ray for no CPU: its checks run in processes that Ray does not see."""
    remote: Any = ray.remote  # its stub knows no concurrency_groups
    actor_class = remote(num_cpus=0, max_restarts=-1, max_task_retries=0, concurrency_groups={HEALTH: 1})(LeanWorker)
    where = NodeAffinitySchedulingStrategy(placement.node_id, soft=False)
    return actor_class.options(scheduling_strategy=where).remote(
        placement.slots, settings.kernel_grace_s, settings.require_isolation
    )
