"""Checks on their two ways to a worker and back: each is answered once, and a way that breaks costs the life. The
worker's kernel is a stand-in at the far side of a real connection; the last tests have real workers.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import ray
from waiting import PATIENCE_S, until

from cluster import ways
from cluster.api import Caller, ClusterSettings
from cluster.caps import Accounts
from cluster.exchange import Check, CheckAnswer, CheckSession, Parcel, ServedLine, pack_answers
from cluster.kinds import Kinds
from cluster.line import Address, Listener, connect
from cluster.local import LocalCluster
from cluster.placement import Placement, WorkerPlan
from cluster.pool import WorkerPool
from cluster.telemetry import Telemetry
from cluster.tickets import Ticket
from cluster.ways import CallWay, LineWay, Told, secret_for, way_to
from cluster.workers import LeanWorker, WorkerInfo
from rlmath.errors import KernelUnavailable
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.types import KernelIdentity

LIFE, SECRET = "0.1", b"s" * 32
SLOTS = 2
SOON_S = PATIENCE_S
ENDLESS = Source("endless")


class Kernel:
    """Answers in turn, each after a moment; `ENDLESS` never."""

    slots = SLOTS
    identity = KernelIdentity("stand-in", "0", "none")

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        self.began.append(source.command)
        try:
            await (asyncio.sleep(0.001) if source != ENDLESS else asyncio.Event().wait())
        finally:
            self.ended.append(source.command)
        return CheckResult(axioms_line=source.command)

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        return Certificate(await self.check(source, timeout_s=timeout_s), None)


class Scheduler:
    """What a way tells."""

    def __init__(self) -> None:
        self.answers: list[CheckAnswer] = []
        self.reasons: list[str] = []
        self._news = asyncio.Event()
        self.told = Told(self._answered, self._lost)

    def _answered(self, answers: Sequence[CheckAnswer]) -> None:
        self.answers += answers
        self._news.set()

    def _lost(self, reason: str) -> None:
        self.reasons.append(reason)
        self._news.set()

    async def heard(self, answers: int = 0, reasons: int = 0) -> None:
        async with asyncio.timeout(SOON_S):
            while len(self.answers) < answers or len(self.reasons) < reasons:
                self._news.clear()
                await self._news.wait()


class Worker:
    """The worker's side of a line, without its actor."""

    def __init__(self, grace_s: float = 30.0) -> None:
        self.kernel, self.listener, self._grace_s = Kernel(), Listener(), grace_s

    async def open(self, life: str = LIFE, secret: bytes = SECRET) -> Address:
        address = await self.listener.start("127.0.0.1")
        self.session = CheckSession(self.kernel, SLOTS, self._grace_s)
        self.listener.expect(life, secret, ServedLine(self.session))
        return address

    async def all_ended(self) -> None:
        await until(lambda: len(self.kernel.ended) == len(self.kernel.began))


@asynccontextmanager
async def lined(grace_s: float = 30.0) -> AsyncIterator[tuple[Worker, Scheduler, LineWay]]:
    worker, scheduler = Worker(grace_s), Scheduler()
    way = LineWay(LIFE, scheduler.told)
    await connect(await worker.open(), LIFE, SECRET, way)
    yield worker, scheduler, way
    way.close()
    await worker.session.close()
    await worker.listener.close()


def check(number: int, source: Source | None = None, timeout_s: float = 60.0) -> Check:
    return Check(number, source or Source(f"t{number}"), timeout_s)


async def test_every_check_is_answered_once_and_with_its_own_result() -> None:
    async with lined() as (worker, scheduler, way):
        for begin in range(0, 300, 10):
            way.send([check(number) for number in range(begin, begin + 10)], [])
        await scheduler.heard(answers=300)
        await asyncio.sleep(0.1)
        assert Counter(answer.job_id for answer in scheduler.answers) == Counter(range(300))
        for answer in scheduler.answers:
            assert isinstance(answer.result, CheckResult)
            assert answer.result.axioms_line == f"t{answer.job_id}"
        assert sorted(worker.kernel.began) == sorted(f"t{number}" for number in range(300))
        assert scheduler.reasons == []


async def test_what_is_too_long_for_one_frame_travels_in_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "MOST_FRAME", 2_000)
    async with lined() as (_, scheduler, way):
        way.send([check(number, Source(f"{number}" * 900)) for number in range(7)], [])
        await scheduler.heard(answers=7)
    assert sorted(answer.job_id for answer in scheduler.answers) == list(range(7))
    assert scheduler.reasons == []


async def test_a_check_that_is_stopped_is_answered_once_too() -> None:
    async with lined() as (worker, scheduler, way):
        way.send([check(0, ENDLESS), check(1), check(2, ENDLESS)], [])
        await scheduler.heard(answers=1)
        way.send([], [0, 1, 2, 99])
        way.send([], [0, 2])
        await scheduler.heard(answers=3)
        way.send([check(3)], [0])
        await scheduler.heard(answers=4)
        assert sorted(answer.job_id for answer in scheduler.answers) == [0, 1, 2, 3]
        stopped = {a.job_id for a in scheduler.answers if a.result is None and a.error is None}
        assert stopped == {0, 2}
        await worker.all_ended()


async def test_when_the_scheduler_goes_its_checks_end_and_the_worker_serves_a_next_life() -> None:
    async with lined() as (worker, _, way):
        way.send([check(number, ENDLESS) for number in range(5)], [])
        await until(lambda: len(worker.kernel.began) == 5)
        way.close()
        await worker.all_ended()
        with pytest.raises(KernelUnavailable, match="session is over"):
            await worker.session.exchange(Parcel(LIFE, [check(5)], []))
        next_one = Scheduler()
        way = LineWay("0.2", next_one.told)
        await connect(await worker.open("0.2", b"n" * 32), "0.2", b"n" * 32, way)
        way.send([check(6)], [])
        await next_one.heard(answers=1)
        way.close()


async def test_when_the_worker_goes_the_life_is_lost_and_says_so() -> None:
    async with lined() as (worker, scheduler, way):
        way.send([check(0, ENDLESS)], [])
        await until(lambda: worker.kernel.began)
        await worker.listener.close()
        await scheduler.heard(reasons=1)
        assert scheduler.reasons[0].startswith("the line broke")
        way.send([check(1)], [])  # which the pool does not know yet
        assert scheduler.answers == []


async def test_answers_that_cannot_be_read_cost_the_life() -> None:
    scheduler, closed = Scheduler(), asyncio.Event()

    class Garbled(ServedLine):
        def took(self, frame: bytes | bytearray) -> None:
            assert self._line is not None
            self._line.send(b"no pickle")

        def broke(self, reason: str) -> None:
            closed.set()

    listener = Listener()
    address = await listener.start("127.0.0.1")
    listener.expect(LIFE, SECRET, Garbled(CheckSession(Kernel(), SLOTS, 1.0)))
    way = LineWay(LIFE, scheduler.told)
    await connect(address, LIFE, SECRET, way)
    way.send([check(0)], [])
    await scheduler.heard(reasons=1)
    assert scheduler.reasons == ["the line broke: a frame that could not be taken: UnpicklingError"]
    async with asyncio.timeout(SOON_S):
        await closed.wait()
    await listener.close()


async def test_a_stuck_kernel_costs_the_life_and_says_so() -> None:
    async with lined(grace_s=0.1) as (worker, scheduler, way):
        way.send([check(0, ENDLESS, timeout_s=0.1)], [])
        await scheduler.heard(reasons=1)
        assert scheduler.reasons == ["the kernel does not answer"]
        assert worker.session.stuck
        assert scheduler.answers == []


async def test_a_line_that_carried_nothing_ends_nothing() -> None:
    async with lined() as (worker, _, way):
        way.close()  # given up on the way, say; the life goes on by calls
        await asyncio.sleep(0.05)
        (answer,) = await worker.session.exchange(Parcel(LIFE, [check(0)], [], wait=True))
        assert answer.job_id == 0


async def test_an_answer_waits_for_others_only_while_no_slot_can_fall_idle() -> None:
    async with lined() as (_, scheduler, way):
        way.send([check(0), check(1, ENDLESS)], [])
        began = asyncio.get_running_loop().time()
        await scheduler.heard(answers=1)
        alone = asyncio.get_running_loop().time() - began
        way.send([check(number, ENDLESS) for number in range(2, 6)], [])
        way.send([check(6)], [])
        await scheduler.heard(answers=2)
        assert scheduler.answers[1].job_id == 6, "for as long as GATHER_S, not for ever"
        assert alone < SOON_S / 2
        way.send([], list(range(1, 6)))
        await scheduler.heard(answers=7)


async def test_no_task_is_left() -> None:
    before = asyncio.all_tasks()
    async with lined() as (_, scheduler, way):
        way.send([check(0), check(1, ENDLESS)], [])
        await scheduler.heard(answers=1)
    await until(lambda: asyncio.all_tasks() <= before, shows=asyncio.all_tasks)


# Which way is taken


async def test_calls_are_made_only_while_a_check_waits() -> None:
    """Also when more was answered than was asked: a worker with nothing to do returns at once, again and again."""
    calls = 0

    class Exchange:
        async def remote(self, packed: bytes) -> bytes:
            nonlocal calls
            calls += 1
            return pack_answers([CheckAnswer(1), CheckAnswer(1)])

    class Actor:
        exchange = Exchange()

    scheduler = Scheduler()
    way = CallWay(LIFE, Actor(), scheduler.told)
    way.send([check(1)], [])
    await scheduler.heard(answers=2)
    for _ in range(3):
        way.send([], [])
        await asyncio.sleep(0.01)
    assert calls == 1
    way.close()


async def test_where_there_can_be_no_line_calls_are_made_and_one_line_of_log_says_why(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="cluster")
    monkeypatch.setattr(logging.getLogger("cluster"), "propagate", True)
    on, off = ClusterSettings(), ClusterSettings(direct_line=False)
    told = Scheduler().told
    worker = Worker()
    address = await worker.open()

    async def taken(settings: ClusterSettings, at: Address | None) -> tuple[type, str]:
        caplog.clear()
        secret = secret_for(settings)
        way = await way_to(None, LIFE, told, settings, SECRET if secret else None, at)
        way.close()
        (said,) = [record.getMessage() for record in caplog.records] or [""]
        return type(way), said

    assert await taken(on, address) == (LineWay, "")
    for settings, at, why in (
        (off, address, "settings.direct_line is off"),
        (on, None, "does not listen"),
        (on, address, "before anything was proven"),  # that life's one connection was there
    ):
        way, said = await taken(settings, at)
        assert way is CallWay
        assert why in said
        assert LIFE in said
    await worker.listener.close()
    assert (await taken(on, address))[0] is CallWay, "refused"
    monkeypatch.setenv("RAY_USE_TLS", "1")
    assert secret_for(on) is None
    way, said = await taken(on, address)
    assert way is CallWay
    assert "RAY_USE_TLS" in said


async def test_a_worker_whose_ray_uses_tls_does_not_listen_whatever_the_scheduler_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (kind,) = Kinds().all()
    worker = LeanWorker(kind, 1, ClusterSettings())
    session = CheckSession(Kernel(), SLOTS, grace_s=5.0)
    assert await worker._listen(LIFE, SECRET, session) is not None
    monkeypatch.setenv("RAY_USE_TLS", "1")
    assert await worker._listen(LIFE, SECRET, session) is None
    await worker.close()


def test_each_life_has_a_secret_of_its_own() -> None:
    secrets = {secret_for(ClusterSettings()) for _ in range(3)}
    assert len(secrets) == 3
    assert {len(secret) for secret in secrets if secret} == {32}


# Real workers


class Unreachable(LeanWorker):
    """Behind a firewall."""

    async def open(self, life: str, secret: bytes | None = None) -> WorkerInfo:
        info = await super().open(life, secret)
        await self._listener.close()
        return info


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("worker", "direct_line", "way"),
    [(LeanWorker, True, LineWay), (LeanWorker, False, CallWay), (Unreachable, True, CallWay)],
)
async def test_a_worker_that_is_killed_loses_no_check_whatever_the_way(
    cluster: LocalCluster, worker: type[LeanWorker], direct_line: bool, way: type
) -> None:
    by_value: Any = ray.cloudpickle.register_pickle_by_value  # it has no types
    by_value(sys.modules[__name__])
    kinds = Kinds()
    (kind,) = kinds.all()
    plan = WorkerPlan((Placement(ray.get_runtime_context().get_node_id(), SLOTS, kind),), kinds=kinds)
    settings = ClusterSettings(cached_checks=0, direct_line=direct_line)
    charged: list[Any] = []
    pool = WorkerPool(plan, settings, Accounts(), charged.append, Telemetry(), worker=worker)
    pool.start()
    try:
        await pool.identity(kind)
        (link,) = pool._links.values()
        assert link.life is not None
        assert type(link.life.way) is way
        killed = link.pid
        assert killed is not None

        async def one(number: int) -> str:
            source = Source(f"theorem t{number} : {number} = {number} := by decide", declaration=f"t{number}")
            result = await pool.check(source, timeout_s=30.0, ticket=Ticket(number, Caller(), kind))
            if number == 8:
                os.kill(killed, signal.SIGKILL)
            assert result.errors == ()
            return source.command

        asked = await asyncio.wait_for(asyncio.gather(*map(one, range(40))), 60)
        assert len(set(asked)) == 40
        assert pool.book.tally.retries > 0
        assert (pool.book.open, pool.book.in_flight, pool.book.queued) == (0, 0, 0)
        assert link.starts == 2
        assert link.pid != killed
        assert type(link.life.way) is way
    finally:
        await pool.close()
