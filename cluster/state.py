"""The scheduler's book of checks as a pure state machine: events in, instructions out. No ray, no clock, no I/O.

A check that a request wants (a job) is settled exactly once: with the kernel's result, or with an error. Jobs that want
the same are served by one run; a run goes to one worker at a time, chosen by environment and load, in an order that is
fair between clients (fair.py). Before it first goes, the most it may cost is held on the accounts of the job whose turn
it is (caps.py). Infrastructure that fails it costs nothing: it goes to another worker, at most as often as the retry
policy says. A run under which its worker died is a suspect from then on: no worker has two suspects, and when a second
worker has died under it, it gets no third. A worker that is lost gives its runs back; so does one that has more than
its slots hold, when another would idle or when it is to drain.

`WorkerPool` (pool.py) turns instructions into calls and completions into events.
"""

from __future__ import annotations

from collections import deque

from cluster.billing import Billing
from cluster.caps import AccountKey, Accounts
from cluster.events import (
    Alarm,
    Answered,
    Cancelled,
    CapsChanged,
    CheckJob,
    Drained,
    Event,
    Expired,
    Instruction,
    NoWorkers,
    Pause,
    PauseOver,
    Settle,
    Submitted,
    WorkerDraining,
    WorkerLost,
    WorkerReady,
)
from cluster.fleet import AHEAD, Room, Run, Worker
from cluster.retry import RetryPolicy
from cluster.tally import Tally
from cluster.verdict_cache import Outcome, VerdictCache, kernel_seconds
from rlmath.errors import CapReached, KernelUnavailable, RlmathError, Unavailable

MOST_KILLS = 2
"""Workers that may die under a check before it is taken for the cause."""
STALE = 256
"""Entries of the queue that stand for nothing any more, before it is swept."""


class CheckBook:
    """Every check that is not settled, and every worker that takes checks."""

    def __init__(
        self,
        policy: RetryPolicy,
        *,
        ahead: int = AHEAD,
        accounts: Accounts | None = None,
        cache: VerdictCache | None = None,
    ) -> None:
        """`ahead`: see `depth`. `accounts`: where jobs' accounts are. `cache`: None: no verdict is kept."""
        self._policy = policy
        self._ahead = ahead
        self._billing = Billing(accounts if accounts is not None else Accounts())
        self._cache = cache if cache is not None else VerdictCache(0)
        self._runs: dict[int, Run] = {}
        self._jobs: dict[int, Run] = {}
        """The run by which each job that is not settled will be."""
        self._alike: dict[tuple[bytes, float], Run] = {}
        """Runs that further jobs may join."""
        self._workers: dict[str, Worker] = {}
        self._rooms: dict[str, Room] = {}
        self.tally = Tally()

    @property
    def queued(self) -> int:
        """Checks that wait for a worker."""
        return sum(room.queued for room in self._rooms.values())

    @property
    def in_flight(self) -> int:
        """Checks that workers have."""
        return sum(room.in_flight for room in self._rooms.values())

    @property
    def open(self) -> int:
        """Jobs that are not settled."""
        return len(self._jobs)

    def demand(self, environment: str) -> int:
        """Checks of one environment that are not settled."""
        room = self._room(environment)
        return room.queued + room.in_flight

    def load(self, worker: str) -> int:
        """How many checks this worker has."""
        known = self._workers.get(worker)
        return len(known.has) if known else 0

    def handle(self, event: Event) -> list[Instruction]:
        """Take note of an event; say what is to be done now, in order."""
        out: list[Instruction] = []
        match event:
            case Answered():
                self._answer(event, out)
            case Submitted(job):
                self._submit(job, out)
            case Cancelled(job_id):
                self._leave(job_id, out)
            case Expired(job_id):
                late_job = self._leave(job_id, out)
                if late_job is not None:
                    late = KernelUnavailable(f"the check was not answered within {late_job.deadline_s:g} s")
                    out.append(Settle(job_id, error=late))
            case WorkerReady(name, slots, environment):
                self._worker_ready(name, slots, environment, out)
            case WorkerLost(name, reason):
                self._worker_lost(name, reason, out)
            case WorkerDraining(name):
                self._drain(name, out)
            case PauseOver(run_id):
                run = self._runs.get(run_id)
                if run is not None and run.worker is None and not run.queued:
                    self._serve_again(run, out)
            case NoWorkers(reason, environment):
                self._no_workers(reason, environment, out)
            case CapsChanged():
                for key in self._billing.crowded:
                    self._unpark(key, out)
        return out

    # Jobs

    def _submit(self, job: CheckJob, out: list[Instruction]) -> None:
        if job.id in self._jobs:
            raise ValueError(f"check {job.id} submitted twice")
        run = None
        if job.key is not None:
            known = self._cache.get(job.key, job.timeout_s)
            if known is not None:
                self.tally.cache_hits += 1
                out.append(Settle(job.id, result=known))
                return
            run = self._alike.get((job.key, job.timeout_s))
        room = self._room(job.environment)
        if run is not None:
            self.tally.shared += 1
        elif room.barren is not None:
            out.append(Settle(job.id, error=KernelUnavailable(room.barren)))
            return
        else:
            run = self._runs[job.id] = Run(job, room)
            room.queued += 1
            if job.key is not None:
                self._alike[job.key, job.timeout_s] = run
        self._jobs[job.id] = run
        run.waiters[job.id] = job
        if job.deadline_s is not None:
            out.append(Alarm(job.id, job.deadline_s))
        if run.queued:
            self._push(room, job)
            self._dispatch(room, out)

    def _push(self, room: Room, job: CheckJob) -> None:
        room.queue.push(job.client, job.weight, job.priority, job.order, job.id)

    def _leave(self, job_id: int, out: list[Instruction]) -> CheckJob | None:
        """A job that waits no more; None when it was settled before."""
        run = self._jobs.pop(job_id, None)
        if run is None:
            return None
        job, room = run.waiters.pop(job_id), run.room
        if run.queued:
            room.stale += 1
        if not run.waiters:
            self._forget_alike(run)
            if run.worker is None:
                self._forget(run)
                self._release(run, None, out)
            else:
                run.worker.give_up(run.job.id)
                run.worker.stop(run.job.id, out)
                run.worker.touch()
                room.even_out(out)
        if room.stale > STALE and room.stale > len(room.queue) // 2:
            room.queue.keep_if(lambda job_id: job_id in self._jobs)
            room.stale = 0
        return job

    def _end(self, run: Run, out: list[Instruction], result: Outcome | None, error: RlmathError | None) -> None:
        """Settle all that wait for a run, and forget it."""
        self._forget_alike(run)
        self._forget(run)
        self._release(run, result, out)
        if run.queued:
            run.room.stale += len(run.waiters)
        for job_id in run.waiters:
            del self._jobs[job_id]
            out.append(Settle(job_id, result, error))
        run.waiters.clear()

    def _forget(self, run: Run) -> None:
        del self._runs[run.job.id]
        if run.worker is None:
            run.room.queued -= 1

    def _forget_alike(self, run: Run) -> None:
        key = run.job.key
        if key is not None and self._alike.get((key, run.job.timeout_s)) is run:
            del self._alike[key, run.job.timeout_s]

    def _release(self, run: Run, result: Outcome | None, out: list[Instruction]) -> None:
        """The run is over: charge what it cost, let go what was held. Without a result nothing is charged."""
        payer = run.payer
        if payer is None:
            return
        queue = self._room(payer.environment).queue
        if result is None:
            queue.refund(payer.client, run.cost)
        else:
            queue.settle(payer.client, run.cost, kernel_seconds(result))
        for key in self._billing.end(run, result, out):
            self._unpark(key, out)

    def _unpark(self, key: AccountKey, out: list[Instruction]) -> None:
        rooms: dict[int, Room] = {}
        for job_id in self._billing.unpark(key):
            run = self._jobs.get(job_id)
            if run is not None and run.queued:
                self._push(run.room, run.waiters[job_id])
                rooms[id(run.room)] = run.room
        for room in rooms.values():
            self._dispatch(room, out)

    # Answers

    def _answer(self, event: Answered, out: list[Instruction]) -> None:
        worker = self._workers.get(event.worker)
        if worker is None or event.job_id not in worker.has:
            return  # news of an earlier life: the check has been given to someone else
        run = self._runs[event.job_id]
        asked_back = event.job_id in worker.back
        self._take_from(worker, run)
        if event.result is not None:
            self.tally.done += 1
        if event.result is not None and run.may_move(event.result):
            self._move_up(run, out)
        elif event.result is not None:
            if run.job.key is not None:
                self._cache.put(run.job.key, run.job.timeout_s, event.result)
            self._end(run, out, event.result, None)
        elif event.error is not None and not isinstance(event.error, Unavailable):
            self._end(run, out, None, event.error)
        elif not run.waiters:
            self._end(run, out, None, None)
        elif event.error is None and asked_back:
            run.room.again.append(event.job_id)
        else:
            error = event.error or KernelUnavailable("the check was stopped")
            self._fail(run, event.worker, error, event.killed, out)
        self._dispatch(worker.room, out)
        self._see_drained(worker, out)

    def _move_up(self, run: Run, out: list[Instruction]) -> None:
        self.tally.moved += 1
        run.room.queued -= 1
        run.moved, run.room = True, self._room(run.job.larger or run.job.environment)
        run.room.queued += 1
        self._serve_again(run, out)

    def _fail(self, run: Run, worker: str, error: RlmathError, killed: bool, out: list[Instruction]) -> None:
        """For a run that no worker has any more."""
        run.avoid = worker
        run.failures += 1
        run.kills += killed
        if not run.waiters:
            self._end(run, out, None, None)
        elif run.kills >= MOST_KILLS:
            self.tally.poisoned += 1
            told = f"gave up: {run.kills} workers died while they had this check; the last: {error}"
            self._end(run, out, None, KernelUnavailable(told))
        elif run.failures >= self._policy.attempts:
            told = f"gave up after {run.failures} attempts; the last: {error}"
            self._end(run, out, None, KernelUnavailable(told))
        else:
            self.tally.retries += 1
            out.append(Pause(run.job.id, self._policy.pause_s(run.failures)))

    # Workers

    def _room(self, environment: str) -> Room:
        room = self._rooms.get(environment)
        if room is None:
            room = self._rooms[environment] = Room()
        return room

    def _worker_ready(self, name: str, slots: int, environment: str, out: list[Instruction]) -> None:
        room = self._room(environment)
        self._workers[name] = room.add(name, slots, self._ahead)
        self._dispatch(room, out)

    def _worker_lost(self, name: str, reason: str, out: list[Instruction]) -> None:
        worker = self._workers.get(name)
        if worker is None:
            return
        lost = [self._runs[run_id] for run_id in sorted(worker.has)]
        for run in lost:
            self._take_from(worker, run)
        self._remove(worker)
        for run in lost:
            self._fail(run, name, KernelUnavailable(reason), True, out)
        self._dispatch(worker.room, out)

    def _drain(self, name: str, out: list[Instruction]) -> None:
        worker = self._workers.get(name)
        if worker is not None and not worker.draining:
            worker.drain(out)
            self._see_drained(worker, out)

    def _see_drained(self, worker: Worker, out: list[Instruction]) -> None:
        if worker.draining and not worker.has and worker.name in self._workers:
            self._remove(worker)
            out.append(Drained(worker.name))

    def _remove(self, worker: Worker) -> None:
        del self._workers[worker.name]
        worker.room.remove(worker)

    def _no_workers(self, reason: str, environment: str, out: list[Instruction]) -> None:
        room = self._room(environment)
        if room.workers:
            return
        room.barren = reason
        waiting = [r for r in self._runs.values() if r.worker is None and r.room is room]
        for run in sorted(waiting, key=lambda run: run.job.id):
            self._end(run, out, None, KernelUnavailable(reason))
        room.again.clear()

    def _take_from(self, worker: Worker, run: Run) -> None:
        worker.take(run)
        run.room.in_flight -= 1
        run.room.queued += 1

    def _give(self, worker: Worker, run: Run, out: list[Instruction]) -> None:
        worker.give(run, out)
        run.room.queued -= 1
        run.room.in_flight += 1

    # Dispatch

    def _serve_again(self, run: Run, out: list[Instruction]) -> None:
        room = run.room
        if room.barren is not None:
            self._end(run, out, None, KernelUnavailable(room.barren))
            return
        room.again.append(run.job.id)
        self._dispatch(room, out)

    def _dispatch(self, room: Room, out: list[Instruction]) -> None:
        if room.again and room.load:
            self._dispatch_again(room, out)
        queue = room.queue
        while len(queue) and room.load:
            _, job_id = queue.peek()
            run = self._jobs.get(job_id)
            if run is None or not run.queued:
                queue.drop()
                room.stale = max(room.stale - 1, 0)
                continue
            job = run.waiters[job_id]
            why = self._billing.begin(run, job)
            if why is not None:
                queue.drop()
                if isinstance(why, CapReached):
                    self._refuse(run, job, why, out)
                continue
            run.cost, run.queued = queue.pop(), False
            room.stale += len(run.waiters) - 1
            self._give(room.workers[room.load.lowest()], run, out)
        room.even_out(out)

    def _refuse(self, run: Run, job: CheckJob, why: CapReached, out: list[Instruction]) -> None:
        self.tally.caps_hit += 1
        del self._jobs[job.id], run.waiters[job.id]
        out.append(Settle(job.id, error=why))
        if not run.waiters:
            self._forget_alike(run)
            self._forget(run)

    def _dispatch_again(self, room: Room, out: list[Instruction]) -> None:
        kept: deque[int] = deque()
        while room.again and room.load:
            run = self._runs.get(room.again.popleft())
            if run is None or run.worker is not None:
                continue
            worker = room.choose_again(run)
            if worker is None:
                kept.append(run.job.id)
            else:
                self._give(worker, run, out)
        kept.extend(room.again)
        room.again = kept
