"""The scheduler's own state machine with up to 10,000 virtual slots: utilisation, queueing, fairness, cost a decision.

    python benchmarks/simulate.py [--slots 10 100 1000 10000] [--checks 60000] [--rounds 3]

The clock and the workers are simulated, `cluster.state.CheckBook` is the product's. Service times are drawn from what a
real kernel took for the goal bank (service_times.json, made by service_times.py). Four clients of weights 1, 1, 2 and 4
keep 4,000 checks waiting beside those that the workers have, whatever the number of slots. A call takes 2 ms each way,
a worker has 16 slots. The CPU time of this thread is measured around `handle` alone. A decision is one event handled:
a check costs two, its coming and its answer.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import statistics
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from cluster.events import Answered, CheckJob, Event, Instruction, Send, Settle, Stop, Submitted, WorkerReady
from cluster.retry import RetryPolicy
from cluster.state import CheckBook
from rlmath.kernel.protocol import CheckResult, Source

TIMES = Path(__file__).with_name("service_times.json")
WEIGHTS = (1.0, 1.0, 2.0, 4.0)
WAY_S = 0.002
SLOTS_A_WORKER = 16
CERTIFICATES = 0.25
"""Share of certificates among the checks: one an episode of the bank, beside about three others."""
WAITING = 4_000
"""Checks that wait at the scheduler."""
SOURCE = Source("theorem t : True := trivial")


@dataclass
class Worker:
    slots: int
    busy: int = 0
    waiting: deque[int] = field(default_factory=deque)


@dataclass
class Report:
    slots: int
    utilisation: float
    """Busy slot time over all slot time, after the first tenth of the checks."""
    wait_s: float
    """Median, from a check's coming to its start in a slot."""
    share_error: float
    """Largest relative distance of a client's kernel time from its share by weight."""
    decision_us: float
    """Mean CPU time of `handle`, in microseconds."""


class Simulation:
    """One run of so many checks."""

    def __init__(self, slots: int, seed: int) -> None:
        recorded = json.loads(TIMES.read_text())
        self._times = recorded["check_s"], recorded["certificate_s"]
        self._random = random.Random(seed)
        self._book = CheckBook(RetryPolicy())
        self._now = 0.0
        self._calendar: list[tuple[float, int, Event | tuple[str, int]]] = []
        self._ticks = 0
        self._workers: dict[str, Worker] = {}
        self._service: dict[int, float] = {}
        self._came: dict[int, float] = {}
        self._client: dict[int, int] = {}
        self._next = 0
        self._done = 0
        self._slots = slots
        self._handle_s = 0.0
        self._decisions = 0
        self._waits: list[float] = []
        self._busy = 0
        """Slots with a check in them now."""
        self._busy_s = 0.0
        self._served = [0.0] * len(WEIGHTS)
        self._from = 0.0
        """When measuring began."""

    def run(self, checks: int) -> Report:
        left, number = self._slots, 0
        while left > 0:
            slots = min(SLOTS_A_WORKER, left)
            self._workers[f"w{number}"] = Worker(slots)
            self._tell(WorkerReady(f"w{number}", slots))
            left, number = left - slots, number + 1
        for client in range(len(WEIGHTS)):
            share = WEIGHTS[client] / sum(WEIGHTS)
            for _ in range(WAITING // len(WEIGHTS) + round(2 * self._slots * share)):
                self._submit(client)
        warm = checks // 10
        while self._done < checks:
            when, _, what = heapq.heappop(self._calendar)
            self._busy_s += self._busy * (when - self._now)
            self._now = when
            match what:
                case (str(name), int(job_id)):
                    self._arrive(name, job_id)
                case Answered(worker, job_id):
                    self._end(worker, job_id)
                case _:
                    raise AssertionError(what)
            if self._done == warm:
                self._from, self._busy_s, self._handle_s, self._decisions = self._now, 0.0, 0.0, 0
                self._served = [0.0] * len(WEIGHTS)
                self._waits.clear()
                warm = -1
        span = self._now - self._from
        whole = sum(self._served)
        shares = [s / whole / (w / sum(WEIGHTS)) for s, w in zip(self._served, WEIGHTS, strict=True)]
        return Report(
            self._slots,
            self._busy_s / (span * self._slots),
            statistics.median(self._waits),
            max(abs(share - 1.0) for share in shares),
            self._handle_s / self._decisions * 1e6,
        )

    def _tell(self, event: Event) -> None:
        began = time.thread_time()
        instructions = self._book.handle(event)
        self._handle_s += time.thread_time() - began
        self._decisions += 1
        for instruction in instructions:
            self._obey(instruction)

    def _obey(self, instruction: Instruction) -> None:
        match instruction:
            case Send(worker, job):
                self._at(self._now + WAY_S, (worker, job.id))
            case Settle(job_id):
                self._done += 1
                self._submit(self._client.pop(job_id))
            case Stop():
                raise AssertionError("nothing is stopped while the queue is full")

    def _at(self, when: float, what: Event | tuple[str, int]) -> None:
        self._ticks += 1
        heapq.heappush(self._calendar, (when, self._ticks, what))

    def _submit(self, client: int) -> None:
        number, self._next = self._next, self._next + 1
        times = self._times[self._random.random() < CERTIFICATES]
        self._service[number] = self._random.choice(times)
        self._came[number], self._client[number] = self._now, client
        job = CheckJob(number, SOURCE, 120.0, client=str(client), weight=WEIGHTS[client], order=number // 4)
        self._tell(Submitted(job))

    def _arrive(self, name: str, job_id: int) -> None:
        worker = self._workers[name]
        if worker.busy < worker.slots:
            self._start(name, worker, job_id)
        else:
            worker.waiting.append(job_id)

    def _start(self, name: str, worker: Worker, job_id: int) -> None:
        worker.busy += 1
        self._busy += 1
        seconds = self._service[job_id]
        self._waits.append(self._now - self._came.pop(job_id))
        result = CheckResult(elapsed_s=seconds)
        self._at(self._now + seconds, Answered(name, job_id, result))

    def _end(self, name: str, job_id: int) -> None:
        """A slot is free; the scheduler hears of it a way later, which is left out: the next check waits there."""
        worker = self._workers[name]
        worker.busy -= 1
        self._busy -= 1
        seconds = self._service.pop(job_id)
        self._served[self._client[job_id]] += seconds
        if worker.waiting:
            self._start(name, worker, worker.waiting.popleft())
        self._tell(Answered(name, job_id, CheckResult(elapsed_s=seconds)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, nargs="+", default=[10, 100, 1_000, 10_000])
    parser.add_argument("--checks", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    reports: dict[int, list[Report]] = {slots: [] for slots in arguments.slots}
    for seed in range(arguments.rounds):  # in turns, so that the machine's other work falls on all
        for slots in arguments.slots:
            reports[slots].append(Simulation(slots, seed).run(max(arguments.checks, 20 * slots)))
    print(
        f"{'slots':>6}  {'busy':>6}  {'wait s':>7}  {'share error':>11}  {'us/decision':>11}  {'decisions/s':>11}  cost"
    )
    base = 0.0
    for slots, of in reports.items():
        cost = min(report.decision_us for report in of)
        base = base or cost
        busy, wait, share = (
            statistics.median(getattr(report, name) for report in of)
            for name in ("utilisation", "wait_s", "share_error")
        )
        print(
            f"{slots:6}  {busy:6.3f}  {wait:7.2f}  {share:11.3f}  {cost:11.1f}  {1e6 / cost:11.0f}  {cost / base:4.2f}"
        )


if __name__ == "__main__":
    main()
