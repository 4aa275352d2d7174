"""The scheduler's book of checks as a pure state machine: events in, instructions out. No ray, no clock, no I/O.

A check is queued, sent to a worker, and settled exactly once: with the kernel's result, or with an error when
infrastructure failed it as often as the retry policy allows. Checks of older requests go first. A worker that is lost
gives its checks back; so does one that has more than its slots hold, when another would idle.

`WorkerPool` (pool.py) turns instructions into calls and completions into events.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from cluster.retry import RetryPolicy
from rlmath.errors import KernelUnavailable, RlmathError, Unavailable
from rlmath.kernel.protocol import Certificate, CheckResult, Source

AHEAD = 6
"""Of `depth`: with two slots, so many halve the number of calls again; more gain little (`benchmarks/cluster_rate.py`).
"""

Outcome = CheckResult | Certificate
"""What a check comes to, with or without an audit."""


@dataclass(frozen=True)
class CheckJob:
    """One check to be made."""

    id: int
    """Unique in the scheduler's life, ascending."""
    source: Source
    timeout_s: float
    priority: int = 0
    """Lower goes first: the number of the request that asked."""
    reference: Source | None = None
    """Set: the check is to be certified against it, and its result is a `Certificate`."""


# Events


@dataclass(frozen=True)
class Submitted:
    """A request wants a check."""

    job: CheckJob


@dataclass(frozen=True)
class Cancelled:
    """Whoever wanted the check does not want it any more: it is never settled."""

    job_id: int


@dataclass(frozen=True)
class WorkerReady:
    """A worker takes checks. Each life of a worker has an id of its own, so late news of an earlier life is told apart."""

    worker: str
    slots: int


@dataclass(frozen=True)
class WorkerLost:
    """A worker is gone and whatever it had may or may not have run."""

    worker: str
    reason: str


@dataclass(frozen=True)
class Answered:
    """A worker answered a check: with a result, with an error, or (both None) with word that it was stopped as told."""

    worker: str
    job_id: int
    result: Outcome | None = None
    error: RlmathError | None = None


@dataclass(frozen=True)
class PauseOver:
    """The pause before a check's next attempt is over."""

    job_id: int


@dataclass(frozen=True)
class NoWorkers:
    """No worker is ready and none is coming."""

    reason: str


Event = Submitted | Cancelled | WorkerReady | WorkerLost | Answered | PauseOver | NoWorkers


# Instructions


@dataclass(frozen=True)
class Send:
    """Give the check to the worker."""

    worker: str
    job: CheckJob


@dataclass(frozen=True)
class Stop:
    """Tell the worker to end the check; it still answers it."""

    worker: str
    job_id: int


@dataclass(frozen=True)
class Pause:
    """Report `PauseOver` after so many seconds."""

    job_id: int
    seconds: float


@dataclass(frozen=True)
class Settle:
    """The check is done: exactly one of `result` and `error` is set."""

    job_id: int
    result: Outcome | None = None
    error: RlmathError | None = None


Instruction = Send | Stop | Pause | Settle


@dataclass
class _Check:
    job: CheckJob
    failures: int = 0
    worker: str | None = None
    """Who has it now."""
    avoid: str | None = None
    """Who failed it last."""
    queued: bool = False
    dropped: bool = False
    """Cancelled while a worker has it: kept until that worker answers, for its slot is still taken."""


@dataclass
class _Worker:
    slots: int
    depth: int
    """Most checks it may have at once."""
    has: dict[int, None] = field(default_factory=dict)
    """In the order of sending."""
    stopping: set[int] = field(default_factory=set)
    """Those of them that it was told to end."""

    @property
    def surplus(self) -> int:
        """Checks beyond its slots, when all that it was told to end are gone. Below 0: slots that will idle."""
        return len(self.has) - len(self.stopping) - self.slots


def depth(slots: int, ahead: int) -> int:
    """Most checks that a worker may have at once: those in its slots, and some that wait there, which hides the way to
    the scheduler and back and lets many travel in one call. It is at least `ahead` that may wait.
    """
    return slots + max(slots, ahead)


class CheckBook:
    """Every check that is not settled, and every worker that takes checks."""

    def __init__(self, policy: RetryPolicy, *, ahead: int = AHEAD) -> None:
        """`ahead`: see `depth`."""
        self._policy = policy
        self._ahead = ahead
        self._checks: dict[int, _Check] = {}
        self._workers: dict[str, _Worker] = {}
        self._queue: list[tuple[int, int]] = []
        self._queued = 0
        self._barren: str | None = None
        """Why there are no workers and none will come; None while there is hope."""
        self.retries = 0
        """Attempts made after a failure."""
        self.done = 0
        """Checks settled with a result."""

    @property
    def queued(self) -> int:
        """Checks that wait for a worker."""
        return self._queued

    @property
    def in_flight(self) -> int:
        """Checks that workers have."""
        return sum(len(w.has) for w in self._workers.values())

    def load(self, worker: str) -> int:
        """How many checks this worker has."""
        known = self._workers.get(worker)
        return len(known.has) if known else 0

    def handle(self, event: Event) -> list[Instruction]:
        """Take note of an event; say what is to be done now, in order."""
        out: list[Instruction] = []
        match event:
            case Submitted(job):
                self._submit(job, out)
            case Cancelled(job_id):
                self._cancel(job_id, out)
            case WorkerReady(worker, slots):
                self._barren = None
                self._workers[worker] = _Worker(slots, depth(slots, self._ahead))
            case WorkerLost(worker, reason):
                lost = self._workers.pop(worker, None)
                for job_id in sorted(lost.has) if lost else ():
                    self._fail(job_id, worker, KernelUnavailable(reason), out)
            case Answered():
                self._answer(event, out)
            case PauseOver(job_id):
                check = self._checks.get(job_id)
                if check is not None and check.worker is None and not check.queued:
                    self._enqueue(check, out)
            case NoWorkers(reason):
                if not self._workers:
                    self._barren = reason
                    for job_id in sorted(i for i, c in self._checks.items() if c.queued):
                        self._settle(job_id, KernelUnavailable(reason), out)
        self._dispatch(out)
        if not self._queued:
            self._even_out(out)
        return out

    def _submit(self, job: CheckJob, out: list[Instruction]) -> None:
        if job.id in self._checks:
            raise ValueError(f"check {job.id} submitted twice")
        self._checks[job.id] = check = _Check(job)
        self._enqueue(check, out)

    def _enqueue(self, check: _Check, out: list[Instruction]) -> None:
        if self._barren is not None:
            self._settle(check.job.id, KernelUnavailable(self._barren), out)
            return
        check.queued = True
        self._queued += 1
        heapq.heappush(self._queue, (check.job.priority, check.job.id))

    def _forget(self, job_id: int) -> None:
        check = self._checks.pop(job_id)
        if check.queued:
            self._queued -= 1

    def _settle(self, job_id: int, error: RlmathError, out: list[Instruction]) -> None:
        self._forget(job_id)
        out.append(Settle(job_id, error=error))

    def _cancel(self, job_id: int, out: list[Instruction]) -> None:
        check = self._checks.get(job_id)
        if check is None or check.dropped:
            return
        if check.worker is None:
            self._forget(job_id)
        else:
            check.dropped = True
            self._stop(check.worker, job_id, out)

    def _answer(self, event: Answered, out: list[Instruction]) -> None:
        worker = self._workers.get(event.worker)
        if worker is None or event.job_id not in worker.has:
            return  # news of an earlier life: the check has been given to someone else
        del worker.has[event.job_id]
        stopped = event.job_id in worker.stopping and event.result is None and event.error is None
        worker.stopping.discard(event.job_id)
        check = self._checks[event.job_id]
        if check.dropped:
            self._forget(event.job_id)
        elif event.result is not None:
            self._forget(event.job_id)
            self.done += 1
            out.append(Settle(event.job_id, result=event.result))
        elif event.error is not None and not isinstance(event.error, Unavailable):
            self._settle(event.job_id, event.error, out)
        elif stopped:  # asked back
            check.worker = None
            self._enqueue(check, out)
        else:
            self._fail(event.job_id, event.worker, event.error or KernelUnavailable("the check was stopped"), out)

    def _fail(self, job_id: int, worker: str, error: RlmathError, out: list[Instruction]) -> None:
        check = self._checks[job_id]
        check.worker, check.avoid = None, worker
        check.failures += 1
        if check.dropped:
            self._forget(job_id)
        elif check.failures >= self._policy.attempts:
            self._settle(job_id, KernelUnavailable(f"gave up after {check.failures} attempts; the last: {error}"), out)
        else:
            self.retries += 1
            out.append(Pause(job_id, self._policy.pause_s(check.failures)))

    def _dispatch(self, out: list[Instruction]) -> None:
        while self._queue:
            _, job_id = self._queue[0]
            check = self._checks.get(job_id)
            if check is None or not check.queued:
                heapq.heappop(self._queue)
                continue
            worker_id = self._choose(check.avoid)
            if worker_id is None:
                return
            heapq.heappop(self._queue)
            check.queued, check.worker = False, worker_id
            self._queued -= 1
            self._workers[worker_id].has[job_id] = None
            out.append(Send(worker_id, check.job))

    def _even_out(self, out: list[Instruction]) -> None:
        """Nothing waits here: ask back, for slots that would idle, what waits at another worker."""
        idle = -sum(min(w.surplus, 0) for w in self._workers.values())
        coming = sum(not self._checks[i].dropped for w in self._workers.values() for i in w.stopping)
        for _ in range(idle - coming):
            name, worker = max(self._workers.items(), key=lambda item: item[1].surplus)
            if worker.surplus <= 0:
                return
            self._stop(name, next(i for i in reversed(worker.has) if i not in worker.stopping), out)

    def _stop(self, worker: str, job_id: int, out: list[Instruction]) -> None:
        if job_id not in self._workers[worker].stopping:
            self._workers[worker].stopping.add(job_id)
            out.append(Stop(worker, job_id))

    def _choose(self, avoid: str | None) -> str | None:
        """The least loaded worker with room; not the one to avoid, if another has room."""
        room = [(w, i) for i, w in self._workers.items() if len(w.has) < w.depth]
        if not room:
            return None
        return min(room, key=lambda wi: (wi[1] == avoid, len(wi[0].has) / wi[0].slots))[1]
