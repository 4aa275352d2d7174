"""Idempotent requests, without Ray."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from cluster.api import ScoreRequest
from cluster.requests import RequestTable
from rlmath.errors import InputError
from rlmath.leaf.config import RecordedLeaf
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Status

GOAL = GoalSpec("g", "True")


class Runs:
    """Counts runs and holds them until released."""

    def __init__(self, status: Status = Status.VERIFIED) -> None:
        self.begun = self.cancelled = 0
        self.release = asyncio.Event()
        self.status = status

    async def run(self) -> EpisodeResult:
        self.begun += 1
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return EpisodeResult("g", self.status)


async def test_two_callers_of_one_id_share_one_run_and_later_ones_get_the_verdict() -> None:
    table, runs = RequestTable(10), Runs()
    both = [asyncio.create_task(table.once("r", "f", runs.run)) for _ in range(2)]
    await asyncio.sleep(0)
    assert table.open == 1
    runs.release.set()
    first, second = await asyncio.gather(*both)
    assert first is second
    assert await table.once("r", "f", runs.run) is first
    assert (runs.begun, table.answered, table.open) == (1, 1, 0)


async def test_an_id_used_for_something_else_is_refused_running_or_done() -> None:
    table, runs = RequestTable(10), Runs()
    task = asyncio.create_task(table.once("r", "f", runs.run))
    await asyncio.sleep(0)
    with pytest.raises(InputError, match="request_id"):
        await table.once("r", "other", runs.run)
    runs.release.set()
    await task
    with pytest.raises(InputError, match="request_id"):
        await table.once("r", "other", runs.run)
    assert runs.begun == 1


async def test_what_is_no_evidence_is_run_again() -> None:
    table, runs = RequestTable(10), Runs(Status.ERROR)
    runs.release.set()
    for _ in range(2):
        assert (await table.once("r", "f", runs.run)).reward is None
    assert runs.begun == 2


async def test_a_run_ends_with_the_last_caller_that_waits_and_not_before() -> None:
    table, runs = RequestTable(10), Runs()
    first, second = (asyncio.create_task(table.once("r", "f", runs.run)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    assert (runs.cancelled, table.open) == (0, 1)
    second.cancel()
    await asyncio.wait([second])
    await asyncio.sleep(0)
    assert (runs.cancelled, table.open) == (1, 0)
    runs.release.set()
    assert (await table.once("r", "f", runs.run)).status is Status.VERIFIED
    assert runs.begun == 2


@pytest.mark.parametrize("fingerprint", ["f", "other"])
async def test_no_run_begins_before_a_cancelled_one_of_its_id_is_over(fingerprint: str) -> None:
    """Else both would write one row of the journal: the second's verdict came to stand under the first's text."""
    table, over, log = RequestTable(10), asyncio.Event(), list[str]()

    async def slow_to_end() -> EpisodeResult:
        try:
            await asyncio.sleep(60)
        finally:
            await over.wait()
            log.append("first over")
        raise AssertionError

    async def second() -> EpisodeResult:
        log.append("second begun")
        return EpisodeResult("g", Status.VERIFIED)

    first = asyncio.create_task(table.once("r", "f", slow_to_end))
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.wait([first])
    again = [asyncio.create_task(table.once("r", fingerprint, second)) for _ in range(2)]
    await asyncio.sleep(0.01)
    assert (log, await table.known("r")) == ([], None)
    over.set()
    assert [(await each).status for each in again] == [Status.VERIFIED] * 2
    assert (log, table.open) == (["first over", "second begun"], 0)


async def test_the_verdict_asked_for_longest_ago_is_forgotten_first() -> None:
    table, runs = RequestTable(2), Runs()
    runs.release.set()
    for request_id in ("a", "b", "a", "c", "a"):
        await table.once(request_id, "f", runs.run)
    assert runs.begun == 3
    await table.once("b", "f", runs.run)
    assert runs.begun == 4


def test_the_fingerprint_holds_everything_but_the_id() -> None:
    base = ScoreRequest("r", GOAL, "x")
    same = ScoreRequest("other id", GoalSpec("g", "True"), "x", recorded=None)
    assert base.fingerprint() == same.fingerprint()
    others = [
        ScoreRequest("r", GoalSpec("g", "False"), "x"),
        ScoreRequest("r", GOAL, "y"),
        ScoreRequest("r", GOAL, b"x"),
        ScoreRequest("r", GOAL, "x", Budgets(max_lemmas=1)),
        ScoreRequest("r", GOAL, "x", leaf=RecordedLeaf()),
        ScoreRequest("r", GOAL, "x", recorded={"h": "rfl"}),
        ScoreRequest("r", GOAL, "x", recorded={"h": ["rfl", "simp"]}),
    ]
    assert len({base.fingerprint(), *(other.fingerprint() for other in others)}) == 1 + len(others)
    assert ScoreRequest("r", GOAL, "\ud800").fingerprint() != base.fingerprint()


def test_an_empty_id_is_refused() -> None:
    with pytest.raises(InputError, match="request_id"):
        ScoreRequest("", GOAL, "x")


def test_what_travels_is_known_without_ray() -> None:
    program = (
        "import sys, cluster.api, cluster.requests, cluster.state, cluster.admission, cluster.books, "
        "cluster.autoscale, cluster.placement, cluster.renewal, cluster.metrics; "
        "sys.exit('ray' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
