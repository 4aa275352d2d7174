"""The workers of the book of checks (state.py): what each has, how full it is, and which gets the next run."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from cluster.caps import Hold
from cluster.events import CheckJob, Instruction, Send, Stop
from cluster.fair import FairQueue
from cluster.levels import Levels
from cluster.verdict_cache import Outcome, died_of_memory

AHEAD = 10
"""Of `depth`: with two slots, so many halve the number of calls again; more gain little (`benchmarks/cluster_rate.py`).
"""
LOAD_STEPS = 8
"""Levels of load for each check a slot may have."""


def depth(slots: int, ahead: int) -> int:
    """Most checks that a worker may have at once: those in its slots, and some that wait there, which hides the way to
    the scheduler and back and lets many travel in one call. It is at least `ahead` that may wait.
    """
    return slots + max(slots, ahead)


@dataclass(slots=True, eq=False)
class Run:
    """One execution, for all jobs that want it."""

    job: CheckJob
    """Of the job that began it, whose id it has."""
    room: Room
    """Where it is to be made."""
    waiters: dict[int, CheckJob] = field(default_factory=dict)
    """Jobs to be settled by it; none: it was dropped, and lives until its worker has answered."""
    queued: bool = True
    """Waits for its first worker."""
    worker: Worker | None = None
    """Who has it now."""
    avoid: str | None = None
    """Who failed it last."""
    failures: int = 0
    moved: bool = False
    """It died of memory once, and is where there is more."""
    kills: int = 0
    """Workers that died under it; more than none makes it a suspect."""
    payer: CheckJob | None = None
    """The job whose turn it was."""
    hold: Hold | None = None
    cost: float = 0.0
    """Charged to the payer's share of the kernel, until the real one is known."""

    def may_move(self, result: Outcome) -> bool:
        """Whether it is to be tried once more, with more memory, instead of having this result."""
        return bool(self.waiters) and self.job.larger is not None and not self.moved and died_of_memory(result)


@dataclass(slots=True, eq=False)
class Room:
    """The workers of one environment, and what waits for them."""

    queue: FairQueue[int] = field(default_factory=FairQueue)
    """Ids of jobs."""
    stale: int = 0
    """Entries of the queue that stand for nothing any more, at most."""
    again: deque[int] = field(default_factory=deque)
    """Runs that have had their turn before, and go first."""
    workers: dict[str, Worker] = field(default_factory=dict)
    load: Levels = field(default_factory=Levels)
    """Workers with room, by how full they are."""
    surplus: Levels = field(default_factory=Levels)
    """Workers with more than their slots hold, by how much more."""
    idle: int = 0
    coming: int = 0
    """Runs asked back."""
    queued: int = 0
    """Runs that wait for a worker."""
    in_flight: int = 0
    """Runs that workers have."""
    barren: str | None = None
    """Why there are no workers and none will come; None while there is hope."""

    def add(self, name: str, slots: int, ahead: int) -> Worker:
        """A worker that takes checks."""
        self.barren = None
        worker = self.workers[name] = Worker(name, self, slots, depth(slots, ahead))
        worker.touch()
        return worker

    def remove(self, worker: Worker) -> None:
        """A worker that is gone, and has nothing."""
        del self.workers[worker.name]
        self.idle -= worker.idle
        self.load.remove(worker.name)
        self.surplus.remove(worker.name)

    def choose_again(self, run: Run) -> Worker | None:
        """The least loaded worker with room, and not the one to avoid if another will do. Suspects are kept apart."""
        second = None
        for name in self.load.ascending():
            worker = self.workers[name]
            if run.kills and worker.suspects:
                continue
            if name != run.avoid:
                return worker
            second = worker
        return second

    def even_out(self, out: list[Instruction]) -> None:
        """When nothing waits here: ask back, for slots that would idle, what waits at another worker."""
        if len(self.queue) or self.again:
            return
        for _ in range(self.idle - self.coming):
            if not self.surplus:
                return
            worker = self.workers[self.surplus.highest()]
            worker.ask_back(next(i for i in reversed(worker.has) if i not in worker.stopping), out)
            worker.touch()


@dataclass(slots=True, eq=False)
class Worker:
    """One life of a worker."""

    name: str
    room: Room
    slots: int
    depth: int
    """Most checks it may have at once."""
    has: dict[int, None] = field(default_factory=dict)
    """Runs, in the order of sending."""
    stopping: set[int] = field(default_factory=set)
    """Those of them that it was told to end."""
    back: set[int] = field(default_factory=set)
    """Those of them that are wanted still."""
    suspects: int = 0
    draining: bool = False
    idle: int = 0
    """Slots that will idle when all that it was told to end are gone."""

    def give(self, run: Run, out: list[Instruction]) -> None:
        """Send it a run."""
        run.worker = self
        self.has[run.job.id] = None
        self.suspects += run.kills > 0
        self.touch()
        out.append(Send(self.name, run.job))

    def take(self, run: Run) -> None:
        """It has a run no more."""
        run_id = run.job.id
        del self.has[run_id]
        self.stopping.discard(run_id)
        self.give_up(run_id)
        self.suspects -= run.kills > 0
        run.worker = None
        self.touch()

    def give_up(self, run_id: int) -> None:
        """A run that was asked back is not wanted any more."""
        if run_id in self.back:
            self.back.discard(run_id)
            self.room.coming -= 1

    def ask_back(self, run_id: int, out: list[Instruction]) -> None:
        """Have a run that is wanted given back."""
        if run_id not in self.stopping:
            self.back.add(run_id)
            self.room.coming += 1
            self.stop(run_id, out)

    def stop(self, run_id: int, out: list[Instruction]) -> None:
        """Tell it to end a run, unless it was told already."""
        if run_id not in self.stopping:
            self.stopping.add(run_id)
            out.append(Stop(self.name, run_id))

    def drain(self, out: list[Instruction]) -> None:
        """Give it no more, and have back what its slots do not hold."""
        self.draining = True
        for run_id in list(self.has)[self.slots :]:
            self.ask_back(run_id, out)
        self.touch()

    def touch(self) -> None:
        """Note how full it is, after any change."""
        room, has = self.room, len(self.has)
        surplus = has - len(self.stopping) - self.slots
        idle = -surplus if surplus < 0 and not self.draining else 0
        room.idle += idle - self.idle
        self.idle = idle
        if surplus > 0:
            room.surplus.put(self.name, surplus)
        else:
            room.surplus.remove(self.name)
        if has < self.depth and not self.draining:
            room.load.put(self.name, has * LOAD_STEPS // self.slots)
        else:
            room.load.remove(self.name)
