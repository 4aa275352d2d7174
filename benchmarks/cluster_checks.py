"""What a check costs on its way through the actors, with a kernel that does nothing, or sleeps.

    python benchmarks/cluster_checks.py [--checks 20000] [--in-flight 512] [--seconds 10] [--rounds 3] [--real 1000]

Three figures, each beside what it is compared with, in turns:
- checks a second through the pool, the book of checks and a worker actor, whose kernel answers at once; beside the same
  where there is no line to the worker, and beside one call of a worker for each check, as many in flight;
- with a kernel that takes 10 ms, at 100 checks/s offered (evenly spaced): the median from asking to the answer, through
  the cluster, and of the same kernel in the same process as whoever asks;
- with the embedded kernel, tiny theorems and their axioms, two slots, 64 in flight: the share of the slots' time that
  the kernel's own processes (its image and the checks) are on a core, through the cluster, and of a kernel in this
  process.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from image_processes import cpu_seconds

from cluster.api import Caller, ClusterSettings
from cluster.caps import Accounts
from cluster.exchange import Check, Parcel
from cluster.kinds import Kinds
from cluster.placement import Placement, WorkerPlan
from cluster.pool import WorkerPool
from cluster.ray_session import open_session
from cluster.telemetry import Telemetry
from cluster.tickets import Ticket
from cluster.workers import LeanWorker
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.types import KernelIdentity

SLOTS = 64
OFFERED_HZ = 100.0
SLEEP_S = 0.010
REAL_SLOTS, REAL_IN_FLIGHT = 2, 64
IDENTITY = KernelIdentity("nothing", "0", "none")


def theorem(number: int) -> Source:
    """A tiny one, and what it rests on; no two are equal."""
    name = f"t{number}"
    text = f"theorem {name} (p q : Prop) (hp : p) (hq : q) : p ∧ q ∧ {number} + 1 = {number + 1} := ⟨hp, hq, rfl⟩"
    return Source(text, declaration=name, axioms=True)


@dataclass(frozen=True)
class Stats:
    slots: int = SLOTS
    checks: int = 0
    timed_out: int = 0
    crashed: int = 0
    unavailable: int = 0
    in_flight: int = 0
    restarts: int = 0
    image_pid: int | None = None


class Nothing:
    """A kernel that makes no checks, and takes so long for it."""

    slots = SLOTS
    identity = IDENTITY

    def __init__(self, sleep_s: float) -> None:
        self._sleep_s = sleep_s

    async def start(self) -> None: ...

    async def aclose(self) -> None: ...

    def stats(self) -> Stats:
        return Stats()

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        if self._sleep_s:
            await asyncio.sleep(self._sleep_s)
        return CheckResult(elapsed_s=self._sleep_s)

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        return Certificate(await self.check(source, timeout_s=timeout_s), None)  # it audits nothing

    async def __aenter__(self) -> Nothing:
        return self

    async def __aexit__(self, *_: object) -> None: ...


class IdleWorker(LeanWorker):
    """The product's worker around it."""

    def _make(self) -> Nothing:
        return Nothing(0.0)


class SleepyWorker(LeanWorker):
    """And around one that takes its time."""

    def _make(self) -> Nothing:
        return Nothing(SLEEP_S)


class Asker:
    """In an actor of its own, as the scheduler is: asks for checks."""

    def __init__(self, worker: type[LeanWorker], node_id: str, direct_line: bool, slots: int) -> None:
        kinds = Kinds()
        (kind,) = kinds.all()
        plan = WorkerPlan((Placement(node_id, slots, kind),), kinds=kinds)
        settings = ClusterSettings(cached_checks=0, direct_line=direct_line)
        self._parts = plan, settings, worker
        self._pool: WorkerPool | None = None
        self._kind = kind
        self._numbers = itertools.count()

    async def start(self) -> None:
        plan, settings, worker = self._parts
        self._pool = WorkerPool(plan, settings, Accounts(), lambda _: None, Telemetry(), worker=worker)
        self._pool.start()
        await self._pool.identity(self._kind)

    async def stop(self) -> None:
        assert self._pool is not None
        await self._pool.close()

    async def _pooled(self) -> None:
        assert self._pool is not None
        number = next(self._numbers)
        ticket = Ticket(number, Caller(), self._kind)
        await self._pool.check(theorem(number), timeout_s=60.0, ticket=ticket)

    async def _one_call(self) -> None:
        assert self._pool is not None
        (link,) = self._pool._links.values()
        assert link.life is not None
        number = next(self._numbers)
        check = Check(number, theorem(number), 60.0)
        await link.actor.exchange.remote(Parcel(link.life.name, [check], [], wait=True).pack())

    async def rate(self, checks: int, in_flight: int, *, pooled: bool) -> float:
        """Checks a second."""
        one: Callable[[], Awaitable[None]] = self._pooled if pooled else self._one_call
        left = iter(range(checks))

        async def some() -> None:
            for _ in left:
                await one()

        began = time.perf_counter()
        await asyncio.gather(*(some() for _ in range(in_flight)))
        return checks / (time.perf_counter() - began)

    async def busy(self, checks: int) -> tuple[float, float]:
        """Checks a second, and the share of the slots' time that the kernel was on a core."""
        assert self._pool is not None
        (worker,) = self._pool.workers()
        assert worker.image_pid is not None
        before = cpu_seconds(worker.image_pid)
        rate = await self.rate(checks, REAL_IN_FLIGHT, pooled=True)
        return rate, (cpu_seconds(worker.image_pid) - before) * rate / (checks * worker.slots)

    async def latency(self, seconds: float, *, pooled: bool) -> float:
        """Median seconds of a check, at `OFFERED_HZ`."""
        here, took = Nothing(SLEEP_S), []

        async def one() -> None:
            began = time.perf_counter()
            await (self._pooled() if pooled else here.check(Source(""), timeout_s=1.0))
            took.append(time.perf_counter() - began)

        began, tasks = time.perf_counter(), []
        for number in range(int(seconds * OFFERED_HZ)):
            await asyncio.sleep(max(0.0, began + number / OFFERED_HZ - time.perf_counter()))
            tasks.append(asyncio.create_task(one()))
        await asyncio.gather(*tasks)
        return statistics.median(took)


async def bare(checks: int) -> tuple[float, float]:
    """The same as `Asker.busy` of a kernel in this process."""
    numbers = iter(range(checks))
    async with EmbeddedKernel(slots=REAL_SLOTS) as kernel:

        async def some() -> None:
            for number in numbers:
                await kernel.check(theorem(number), timeout_s=60.0)

        await kernel.check(theorem(checks), timeout_s=60.0)
        pid = kernel.stats().image_pid
        assert pid is not None
        before, began = cpu_seconds(pid), time.perf_counter()
        await asyncio.gather(*(some() for _ in range(REAL_IN_FLIGHT)))
        wall = time.perf_counter() - began
        return checks / wall, (cpu_seconds(pid) - before) / (REAL_SLOTS * wall)


def start(node: str, *made_of: tuple[type[LeanWorker], bool, int]) -> list[Any]:
    """Askers with a worker each: what it is, whether there is a line to it, its slots."""
    remote: Any = ray.remote(num_cpus=0)(Asker)
    askers = [remote.remote(worker, node, direct_line, slots) for worker, direct_line, slots in made_of]
    ray.get([asker.start.remote() for asker in askers])
    return askers


def stop(askers: Sequence[Any]) -> None:
    """End them, and their processes."""
    ray.get([asker.stop.remote() for asker in askers])
    for asker in askers:
        ray.kill(asker)


def nothing(node: str, checks: int, in_flight: int, seconds: float, rounds: int) -> None:
    """The first two figures."""
    with_line, without = (IdleWorker, True, SLOTS), (IdleWorker, False, SLOTS)
    askers = idle, calls, single, sleepy = start(node, with_line, without, without, (SleepyWorker, True, SLOTS))
    for asker in (idle, calls):
        ray.get(asker.rate.remote(2_000, in_flight, pooled=True))
    ray.get(single.rate.remote(500, in_flight, pooled=False))
    for number in range(rounds):
        lined = ray.get(idle.rate.remote(checks, in_flight, pooled=True))
        called = ray.get(calls.rate.remote(checks, in_flight, pooled=True))
        one_each = ray.get(single.rate.remote(checks // 10, in_flight, pooled=False))
        through, alone = (ray.get(sleepy.latency.remote(seconds, pooled=pooled)) for pooled in (True, False))
        print(
            f"round {number}: {lined:.0f} checks/s, by calls {called:.0f} ({lined / called:.2f} times), "
            f"one call each {one_each:.0f} ({lined / one_each:.1f} times); p50 at {OFFERED_HZ:.0f}/s "
            f"{through * 1e3:.2f} ms, bare {alone * 1e3:.2f} ms (+{(through - alone) * 1e3:.2f} ms)",
            flush=True,
        )
    stop(askers)


def real(node: str, checks: int, rounds: int) -> None:
    """The third."""
    askers = [asker] = start(node, (LeanWorker, True, REAL_SLOTS))
    ray.get(asker.rate.remote(50, REAL_IN_FLIGHT, pooled=True))
    for number in range(rounds):
        here_rate, here = asyncio.run(bare(checks))
        there_rate, there = ray.get(asker.busy.remote(checks))
        print(
            f"round {number}: kernel busy {there:.2f} ({there_rate:.0f} checks/s), bare {here:.2f} ({here_rate:.0f})",
            flush=True,
        )
    stop(askers)


def main(checks: int, in_flight: int, seconds: float, rounds: int, real_checks: int) -> None:
    session = open_session(None, log_to_driver=False)
    try:
        node = ray.get_runtime_context().get_node_id()
        nothing(node, checks, in_flight, seconds, rounds)
        real(node, real_checks, rounds)
    finally:
        session.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", type=int, default=20_000)
    parser.add_argument("--in-flight", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--real", type=int, default=1000)
    arguments = parser.parse_args()
    main(arguments.checks, arguments.in_flight, arguments.seconds, arguments.rounds, arguments.real)
