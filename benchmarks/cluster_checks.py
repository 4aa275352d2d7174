"""What a check costs on its way through the actors, with a kernel that does nothing, or sleeps.

    python benchmarks/cluster_checks.py [--checks 20000] [--in-flight 512] [--seconds 10] [--rounds 3]

Two figures, each beside what it is compared with, in turns:
- checks a second through the pool, the book of checks and a worker actor, whose kernel answers at once; beside the same
  where there is no line to the worker, and beside one call of a worker for each check, as many in flight;
- with a kernel that takes 10 ms, at 100 checks/s offered (evenly spaced): the median from asking to the answer, through
  the cluster, and of the same kernel in the same process as whoever asks.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import ray

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
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.types import KernelIdentity

SLOTS = 64
OFFERED_HZ = 100.0
SLEEP_S = 0.010
IDENTITY = KernelIdentity("nothing", "0", "none")


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

    def __init__(self, worker: type[LeanWorker], node_id: str, direct_line: bool = True) -> None:
        kinds = Kinds()
        (kind,) = kinds.all()
        plan = WorkerPlan((Placement(node_id, SLOTS, kind),), kinds=kinds)
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
        await self._pool.check(Source(f"theorem t{number} : True := trivial"), timeout_s=60.0, ticket=ticket)

    async def _one_call(self) -> None:
        assert self._pool is not None
        (link,) = self._pool._links.values()
        assert link.life is not None
        number = next(self._numbers)
        check = Check(number, Source(f"theorem t{number} : True := trivial"), 60.0)
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


def main(checks: int, in_flight: int, seconds: float, rounds: int) -> None:
    session = open_session(None, log_to_driver=False)
    try:
        node = ray.get_runtime_context().get_node_id()
        remote: Any = ray.remote(num_cpus=0)(Asker)
        idle, calls, sleepy = (
            remote.remote(worker, node, direct_line)
            for worker, direct_line in ((IdleWorker, True), (IdleWorker, False), (SleepyWorker, True))
        )
        askers = idle, calls, sleepy
        ray.get([asker.start.remote() for asker in askers])
        for asker in (idle, calls):
            ray.get(asker.rate.remote(2_000, in_flight, pooled=True))
        ray.get(calls.rate.remote(500, in_flight, pooled=False))
        for number in range(rounds):
            lined = ray.get(idle.rate.remote(checks, in_flight, pooled=True))
            called = ray.get(calls.rate.remote(checks, in_flight, pooled=True))
            single = ray.get(calls.rate.remote(checks // 10, in_flight, pooled=False))
            through, bare = (ray.get(sleepy.latency.remote(seconds, pooled=pooled)) for pooled in (True, False))
            added = (through - bare) * 1e3
            print(
                f"round {number}: {lined:.0f} checks/s, by calls {called:.0f} ({lined / called:.2f} times), "
                f"one call each {single:.0f} ({lined / single:.1f} times); "
                f"p50 at {OFFERED_HZ:.0f}/s {through * 1e3:.2f} ms, bare {bare * 1e3:.2f} ms (+{added:.2f} ms)",
                flush=True,
            )
        ray.get([asker.stop.remote() for asker in askers])
    finally:
        session.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", type=int, default=20_000)
    parser.add_argument("--in-flight", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    main(arguments.checks, arguments.in_flight, arguments.seconds, arguments.rounds)
