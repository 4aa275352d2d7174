"""The lively half of the book of checks, with a stand-in at the far side of the wire to a worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from waiting import until

from cluster.api import Caller, ClusterSettings
from cluster.autoscale import Autoscale
from cluster.caps import Accounts
from cluster.exchange import Check, CheckAnswer, pack_answers, unpack_parcel
from cluster.kinds import Kinds
from cluster.lives import Life, Link
from cluster.placement import Placement, WorkerPlan
from cluster.pool import WorkerPool
from cluster.telemetry import Telemetry
from cluster.tickets import Ticket
from cluster.ways import CallWay, Told
from cluster.workers import WorkerInfo
from rlmath.errors import KernelUnavailable
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.types import KernelIdentity

KINDS = Kinds()
KIND, _ = KINDS.choose()
PLAN = WorkerPlan(scaled=((KIND, Autoscale(4, 1)),), kinds=KINDS)
IDENTITY = KernelIdentity("embedded", "4", "e")


class Wire:
    """Answers every call at once with what `answers` makes of its checks."""

    def __init__(self, answers: Callable[[Sequence[Check]], list[CheckAnswer]]) -> None:
        self._answers = answers
        self.exchange = SimpleNamespace(remote=self._exchange)

    async def _exchange(self, packed: bytes) -> bytes:
        return pack_answers(self._answers(unpack_parcel(packed).checks))


async def ready(
    answers: Callable[[Sequence[Check]], list[CheckAnswer]], deadline_s: float = 60.0
) -> tuple[WorkerPool, Life]:
    """A pool with one worker that is ready."""
    settings = ClusterSettings(cached_checks=0, check_deadline_s=deadline_s)
    pool = WorkerPool(PLAN, settings, Accounts(), lambda _: None, Telemetry())
    wire: Any = Wire(answers)
    link = Link(0, Placement(None, 4, KIND), wire)
    life = link.life = Life("w", asyncio.get_running_loop().create_future())
    life.way = CallWay(life.name, wire, Told(partial(pool.answered, life), life.lose))
    pool.agree(link, IDENTITY)
    pulse: Any = None
    pool.begun(link, life, WorkerInfo(1, "node", 4, IDENTITY, pulse))
    return pool, life


def ask(pool: WorkerPool, number: int) -> asyncio.Task[CheckResult]:
    ticket = Ticket(number, Caller(), KIND)
    return asyncio.create_task(pool.check(Source(f"theorem t{number} : True := trivial"), timeout_s=1.0, ticket=ticket))


async def test_an_answer_that_crosses_a_cancellation_costs_no_other_answer() -> None:
    tasks: list[asyncio.Task[CheckResult]] = []

    def answers(checks: Sequence[Check]) -> list[CheckAnswer]:
        if checks:
            tasks[0].cancel()  # whoever asked has not run since, so nobody was told
        return [CheckAnswer(check.id, CheckResult(elapsed_s=0.1)) for check in checks]

    pool, life = await ready(answers)
    tasks += [ask(pool, number) for number in range(3)]
    done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
    assert isinstance(done[0], asyncio.CancelledError)
    assert done[1:] == [CheckResult(elapsed_s=0.1)] * 2
    assert not life.lost.done()
    assert (pool.book.open, pool.book.in_flight, pool.book.queued) == (0, 0, 0)


async def test_answers_that_cannot_be_taken_cost_the_worker_its_life_and_no_check_its_answer() -> None:
    def answers(checks: Sequence[Check]) -> list[CheckAnswer]:
        broken: Any = "no result"
        return [CheckAnswer(check.id, broken) for check in checks[:1]]

    pool, life = await ready(answers)
    task = ask(pool, 0)
    reason = await asyncio.wait_for(life.lost, 10)
    assert "could not be taken" in reason
    pool.ended(pool._living["w"][0], life, reason)
    assert pool.book.queued == 1
    task.cancel()
    assert isinstance(
        (await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError | KernelUnavailable
    )


async def test_a_check_that_is_not_answered_in_its_time_is_an_error() -> None:
    pool, life = await ready(lambda checks: [], deadline_s=0.2)
    asked = [ask(pool, number) for number in range(3)]
    done = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 10)
    assert [type(each) for each in done] == [KernelUnavailable] * 3
    assert "not answered within 0.2 s" in str(done[0])
    life.way.close()


async def test_what_one_turn_decides_travels_together_unless_it_is_much() -> None:
    sent: list[list[int]] = []

    class Noted:
        full = 3

        def send(self, checks: Sequence[Check], stop: Sequence[int]) -> None:
            sent.append([check.id for check in checks])

        def close(self) -> None: ...

    pool, life = await ready(lambda checks: [])
    life.way = Noted()
    tasks = [ask(pool, number) for number in range(8)]
    await until(lambda: sum(map(len, sent)) == 8)
    assert sent == [[0, 1, 2], [3, 4, 5], [6, 7]]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
