"""The lively half of `state.CheckBook`: its instructions become parcels for `LeanWorker` actors, and what comes back
events.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from cluster.alarms import Alarms
from cluster.api import ClusterSettings, WorkerStatus
from cluster.autoscale import Scaler, Seat
from cluster.caps import MICRO, Accounts
from cluster.events import (
    Alarm,
    Answered,
    Cancelled,
    CapsChanged,
    Charge,
    CheckJob,
    Drained,
    Event,
    Expired,
    NoWorkers,
    Pause,
    PauseOver,
    Send,
    Settle,
    Stop,
    Submitted,
    WorkerDraining,
    WorkerLost,
    WorkerReady,
)
from cluster.exchange import Check, CheckAnswer, turns_of
from cluster.kinds import WorkerKind
from cluster.lives import Life, Link, end, keep, spawn
from cluster.placement import Placement, WorkerPlan
from cluster.retry import RetryPolicy
from cluster.state import CheckBook
from cluster.telemetry import Telemetry
from cluster.tickets import Ticket
from cluster.verdict_cache import Outcome, VerdictCache, check_key
from cluster.workers import LeanWorker, WorkerInfo
from rlmath.errors import KernelUnavailable
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.types import KernelIdentity

logger = logging.getLogger(__name__)

SCALE_S = 0.5
"""Between two looks at what is needed."""


class WorkerPool:
    """Keeps `LeanWorker` actors alive and has checks made by whichever has room."""

    def __init__(
        self,
        plan: WorkerPlan,
        settings: ClusterSettings,
        accounts: Accounts,
        charged: Callable[[Charge], None],
        telemetry: Telemetry,
        *,
        worker: type[LeanWorker] = LeanWorker,
    ) -> None:
        """`accounts`: whose kernel time the checks are. `charged`: told of each charge for a check. `worker`: what its
        actors are.
        """
        self._settings, self._charged, self._telemetry = settings, charged, telemetry
        policy, cache = RetryPolicy(attempts=settings.attempts), VerdictCache(settings.cached_checks)
        self._book = CheckBook(policy, accounts=accounts, cache=cache)
        self._plan, self._worker = plan, worker
        self._scalers = {kind.environment: (kind, bounds, Scaler(bounds)) for kind, bounds in plan.scaled}
        self._alarms = Alarms(lambda job_id: self._apply(Expired(job_id)))
        self._links: dict[int, Link] = {}
        self._keeping: dict[int, asyncio.Task[None]] = {}
        self._living: dict[str, tuple[Link, Life]] = {}
        self._futures: dict[int, asyncio.Future[Outcome]] = {}
        self._ids, self._indices, self._lives = itertools.count(), itertools.count(), itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()
        self._identities: dict[str, KernelIdentity] = {}
        """By the kernel's name."""
        self._asking: Counter[str] = Counter()
        """Those that wait for a first worker, by environment."""
        self._known: asyncio.Event = asyncio.Event()

    def start(self) -> None:
        """Begin to open the workers; returns at once."""
        for placement in self._plan.placements:
            self._add(placement)
        if self._scalers:
            self._spawn_task(self._scale())

    async def close(self) -> None:
        """End every check and every worker."""
        tasks = [*self._tasks, *self._keeping.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._alarms.close()
        await end(tuple(self._links.values()))

    # What requests use

    async def identity(self, kind: WorkerKind) -> KernelIdentity:
        """Of the kernel that every worker of this kind has; waits for the first that is ready. Raises
        `KernelUnavailable` when all refused.
        """
        name, environment = kind.kernel.name, kind.environment
        self._asking[environment] += 1
        try:
            while name not in self._identities:
                if (refusal := self._refusal(environment)) is not None:
                    raise KernelUnavailable(refusal)
                self._known.clear()
                await self._known.wait()
        finally:
            self._asking[environment] -= 1
        return self._identities[name]

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
        kind, caller = ticket.kind, ticket.caller
        identity = await self.identity(kind)
        return CheckJob(
            id=next(self._ids),
            source=source,
            timeout_s=timeout_s,
            reference=reference,
            environment=kind.environment,
            larger=None if ticket.larger is None else ticket.larger.environment,
            key=check_key(f"{identity} {kind.environment}", source, reference, ticket.scope),
            client=caller.client,
            weight=caller.weight,
            priority=caller.priority,
            order=ticket.number,
            accounts=ticket.accounts,
            most_us=round(sum(turns_of(timeout_s, certify=reference is not None)) * MICRO),
            deadline_s=self._settings.check_deadline_s,
            request=ticket.request_id,
        )

    async def _settled(self, job: CheckJob) -> Outcome:
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._futures[job.id] = future
        self._telemetry.submitted(job.id)
        self._apply(Submitted(job))
        try:
            return await future
        finally:
            if self._futures.pop(job.id, None) is not None:
                self._alarms.clear(job.id)
                self._telemetry.settled(job.id)
                self._apply(Cancelled(job.id))

    # What status shows

    @property
    def identities(self) -> dict[str, KernelIdentity]:
        """Of the kernels that were ready once, by name."""
        return self._identities

    @property
    def book(self) -> CheckBook:
        """For its counters."""
        return self._book

    @property
    def slots(self) -> int:
        """Checks that its workers make at once, those included that are on their way."""
        return sum(link.placement.slots for link in self._links.values())

    def workers(self) -> tuple[WorkerStatus, ...]:
        """Every worker, in the order in which they were asked for."""
        return tuple(link.status(self._book.load(link.life.name) if link.life else 0) for link in self._links.values())

    # Instructions

    def _apply(self, event: Event) -> None:
        for instruction in self._book.handle(event):
            match instruction:
                case Send(worker, job):
                    self._telemetry.sent(job.id)
                    life = self._living[worker][1]
                    life.checks.append(Check.of(job))
                    self._flush_soon(life)
                case Settle(job_id, result, error):
                    self._alarms.clear(job_id)
                    self._telemetry.settled(job_id)
                    future = self._futures.pop(job_id)
                    if future.done():
                        continue  # cancelled in this very moment: nobody waits
                    if result is not None:
                        future.set_result(result)
                    elif error is not None:
                        future.set_exception(error)
                case Alarm(job_id, seconds):
                    self._alarms.set(job_id, seconds)
                case Stop(worker, job_id):
                    life = self._living[worker][1]
                    life.stops.append(job_id)
                    self._flush_soon(life)
                case Pause(job_id, seconds):
                    asyncio.get_running_loop().call_later(seconds, self._apply, PauseOver(job_id))
                case Charge():
                    self._charged(instruction)
                case Drained(worker):
                    self._retire(self._living[worker][0])

    def _flush_soon(self, life: Life) -> None:
        # All that is decided in one turn of the loop travels together; but a worker is not to idle over a long turn.
        if len(life.checks) >= life.way.full:
            self._flush(life)
        elif not life.flush_due:
            life.flush_due = True
            asyncio.get_running_loop().call_soon(self._flush_due, life)

    def _flush_due(self, life: Life) -> None:
        life.flush_due = False
        self._flush(life)

    def _flush(self, life: Life) -> None:
        if life.name not in self._living or life.lost.done():
            return
        checks, stops, life.checks, life.stops = life.checks, life.stops, [], []
        life.way.send(checks, stops)

    def answered(self, life: Life, answers: Sequence[CheckAnswer]) -> None:
        """A worker answered checks."""
        try:
            for answer in answers:
                self._telemetry.answered(answer.job_id, answer.result)
                self._apply(Answered(life.name, *answer))
        except Exception:
            # What the rest of them said is lost, and would be waited for.
            life.lose("its answers could not be taken")
            logger.exception("answers of worker %s could not be taken", life.name)
            return
        self._flush_soon(life)

    # Workers come and go

    def _add(self, placement: Placement) -> None:
        index = next(self._indices)
        link = self._links[index] = Link(index, placement, spawn(placement, self._settings, self._worker), self._worker)
        task = asyncio.get_running_loop().create_task(keep(link, self._lives, self, self._settings))
        self._keeping[index] = task
        task.add_done_callback(self._ended)

    def drain(self, index: int) -> None:
        """Have a worker end what it runs, and go. One that is not ready goes at once."""
        link = self._links[index]
        if link.leaving:
            return
        link.leaving = True
        if link.life is None:
            self._retire(link)
        else:
            self._apply(WorkerDraining(link.life.name))

    def _retire(self, link: Link) -> None:
        """The worker has nothing any more: it is closed and forgotten."""
        link.leaving = True
        if link.life is not None:
            self._living.pop(link.life.name, None)
        self._keeping.pop(link.index).cancel()
        self._links.pop(link.index)
        self._spawn_task(end((link,)))

    def agree(self, link: Link, identity: KernelIdentity) -> None:
        """Every verdict names one kernel, so all workers of one kernel must have the same."""
        known = self._identities.setdefault(link.placement.kind.kernel.name, identity)
        if identity != known:
            raise KernelUnavailable(f"this worker's kernel is {identity}, the others' is {known}")

    def begun(self, link: Link, life: Life, info: WorkerInfo) -> None:
        """A worker takes checks."""
        self._telemetry.worker_started(link.environment)
        self._living[life.name] = link, life
        self._known.set()
        self._apply(WorkerReady(life.name, info.slots, link.environment))

    def ended(self, link: Link, life: Life, reason: str) -> None:
        """A worker was lost. One that was leaving is gone for good."""
        self._living.pop(life.name, None)
        self._apply(WorkerLost(life.name, reason))
        if link.leaving and link.index in self._links:
            self._retire(link)

    def refused(self, link: Link) -> None:
        """A worker did not open."""
        if (refusal := self._refusal(link.environment)) is not None:
            self._apply(NoWorkers(refusal, link.environment))
        self._known.set()

    def _refusal(self, environment: str) -> str | None:
        """Why there are no workers of a kind and none will come; None while there is hope."""
        links = [link for link in self._links.values() if link.environment == environment]
        if links and all(link.state == "refused" for link in links):
            reasons = dict.fromkeys(link.detail for link in links)
            return f"no Lean worker could start: {'; '.join(reasons)}"
        return None if links or environment in self._scalers else f"this cluster has no workers of kind {environment}"

    async def _scale(self) -> None:
        while True:
            for environment, (kind, bounds, scaler) in self._scalers.items():
                links = [i for i in self._links.values() if i.environment == environment and not i.leaving]
                loads = [self._book.load(link.life.name) if link.life else 0 for link in links]
                seats = [Seat(i.index, i.state == "ready", load) for i, load in zip(links, loads, strict=True)]
                demand = max(self._book.demand(environment), self._asking[environment])
                decision = scaler.decide(time.monotonic(), demand, seats)
                for _ in range(decision.start):
                    self._add(Placement(None, kind.memory.slots or bounds.worker_slots, kind))
                for index in decision.drain:
                    self.drain(index)
            await asyncio.sleep(SCALE_S)

    def _spawn_task(self, coroutine: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("a task of the pool ended", exc_info=task.exception())
