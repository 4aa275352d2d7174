"""Scoring on a real cluster with a real kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from cluster_helpers import ENDLESS, FALSE, GOAL, ILL_FORMED, TRUE, expected, requests, until

from cluster.api import ScoreRequest
from cluster.local import LocalCluster
from rlmath.errors import InputError
from rlmath.leaf.config import RecordedLeaf
from rlmath.types import Budgets, GoalSpec, LemmaStatus, Status

pytestmark = pytest.mark.cluster


def test_a_plan_that_proves_its_goal_is_verified_by_a_named_kernel(cluster: LocalCluster) -> None:
    result = cluster.score(GOAL, TRUE)
    assert (result.status, result.reward, result.axioms) == (Status.VERIFIED, 1.0, ())
    assert result.kernel is not None
    assert str(result.kernel) == cluster.status()["kernel"]
    assert "verified (reward 1.0)" in str(result)


def test_what_is_wrong_is_named_with_its_place_in_the_plan(cluster: LocalCluster) -> None:
    false = cluster.score(GOAL, FALSE)
    assert (false.status, false.reward) == (Status.PLAN_INVALID, 0.0)
    assert false.detail.startswith("assembly 2:")
    ill_formed = cluster.score(GOAL, ILL_FORMED)
    assert (ill_formed.status, ill_formed.reward) == (Status.STATEMENT_ILL_FORMED, 0.0)
    assert ill_formed.detail.startswith("lemma h1 1:")
    assert "zero" in ill_formed.detail
    assert cluster.score(GOAL, "I do not know.").status is Status.FORMAT_ERROR
    assert cluster.score(GOAL, b"\xff#assembly\nrfl").status is Status.FORMAT_ERROR


def test_recorded_proofs_are_attempts_in_their_order(cluster: LocalCluster) -> None:
    result = cluster.score(GOAL, TRUE, leaf=RecordedLeaf(), recorded={"h1": ["exact 0", "intro n\nrfl", "exact 1"]})
    (outcome,) = result.lemma_outcomes
    assert (outcome.status, outcome.winner, outcome.attempts_used) == (LemmaStatus.PROVED, 1, 2)


@pytest.mark.parametrize(
    ("goal", "named"),
    [
        (GoalSpec("broken prop", "∀ n : Foo, n = n"), "prop"),
        (GoalSpec("broken context", "True", context="def one : Nat := true"), "context"),
    ],
)
def test_a_broken_goal_is_its_authors_fault_and_no_evidence(cluster: LocalCluster, goal: GoalSpec, named: str) -> None:
    completion = "#assembly\nintros\nrfl\n#end\n"
    with pytest.raises(InputError) as caught:
        cluster.score(goal, completion)
    assert caught.value.field.startswith(f"goal {goal.id}: {named}")
    # Among many it is one request's trouble.
    many = [ScoreRequest(f"{goal.id}-0", goal, completion), ScoreRequest(f"{goal.id}-1", GOAL, TRUE)]
    results = {request.request_id: result for request, result in cluster.score_many(many)}
    broken, healthy = results[many[0].request_id], results[many[1].request_id]
    assert (broken.status, broken.reward, healthy.status) == (Status.ERROR, None, Status.VERIFIED)
    assert named in broken.detail


def test_a_check_that_uses_up_its_time_is_evidence(cluster: LocalCluster) -> None:
    result = cluster.score(GOAL, ENDLESS, budgets=Budgets(verify_timeout_s=2.0))
    assert (result.status, result.reward) == (Status.PLAN_INVALID, 0.0)
    assert "time" in result.detail


def test_results_come_as_they_are_ready_and_a_slow_check_delays_nobody(cluster: LocalCluster) -> None:
    slow = ScoreRequest("slow-0", GOAL, ENDLESS, Budgets(verify_timeout_s=5.0))
    quick = requests("quick", 20)
    answered = list(cluster.score_many([slow, *quick]))
    assert answered[-1][0] is slow
    assert answered[-1][1].status is Status.PLAN_INVALID
    assert {request.request_id for request, _ in answered[:-1]} == {request.request_id for request in quick}
    assert all(result.status is expected(request) for request, result in answered[:-1])


def test_no_more_requests_are_begun_than_may_be_in_flight(cluster: LocalCluster) -> None:
    begun = yielded = widest = 0

    def source() -> Iterator[ScoreRequest]:
        nonlocal begun, widest
        for request in requests("bounded", 12):
            begun += 1
            widest = max(widest, begun - yielded)
            yield request

    for _ in cluster.score_many(source(), max_in_flight=3):
        yielded += 1
        assert begun - yielded <= 3
    assert (begun, yielded, widest) == (12, 12, 3)


def test_closing_the_iterator_ends_what_is_under_way(cluster: LocalCluster) -> None:
    first = ScoreRequest("closing-first", GOAL, ENDLESS, Budgets(verify_timeout_s=2.0))
    endless = [ScoreRequest(f"closing-{i}", GOAL, ENDLESS, Budgets(verify_timeout_s=600.0)) for i in range(6)]
    results = cluster.score_many([first, *endless])
    assert next(results)[0] is first
    assert until(lambda: cluster.status()["in_flight"] > 0, 60)
    results.close()
    unfinished = ("in_flight", "queued", "requests_running")
    assert until(lambda: not any(status[key] for status in [cluster.status()] for key in unfinished), 60)


async def test_the_async_client_cancels_what_its_caller_cancels(cluster: LocalCluster) -> None:
    # Each another text: identical checks are one.
    texts = [ENDLESS.replace("repeat", f"intro n{i}\nrepeat") for i in range(6)]
    budgets = Budgets(verify_timeout_s=600.0)
    endless = [ScoreRequest(f"cancel-{i}", GOAL, text, budgets) for i, text in enumerate(texts)]
    tasks = [asyncio.create_task(cluster.client.score(request)) for request in endless]
    while (await cluster.client.status()).in_flight < 4:
        await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    assert all(isinstance(e, asyncio.CancelledError) for e in await asyncio.gather(*tasks, return_exceptions=True))
    async with asyncio.timeout(60):
        while (status := await cluster.client.status()).in_flight or status.queued or status.requests_running:
            await asyncio.sleep(0.05)
        assert (await cluster.client.score(ScoreRequest("cancel-after", GOAL, TRUE))).status is Status.VERIFIED


async def test_one_id_is_one_run(cluster: LocalCluster) -> None:
    before = await cluster.client.status()
    request = ScoreRequest("once", GOAL, TRUE)
    together = await asyncio.gather(*(cluster.client.score(request) for _ in range(5)))
    later = await cluster.client.score(request)
    assert all(result == later for result in together)
    assert {result.timings["total_s"] for result in [*together, later]} == {later.timings["total_s"]}
    after = await cluster.client.status()
    assert after.requests_done - before.requests_done == 1
    with pytest.raises(InputError, match="request_id"):
        await cluster.client.score(ScoreRequest("once", GOAL, FALSE))


async def test_the_async_client_streams_too(cluster: LocalCluster) -> None:
    wanted = requests("stream", 10)
    got = {r.request_id: result async for r, result in cluster.client.score_many(wanted, max_in_flight=4)}
    assert {r.request_id: expected(r) for r in wanted} == {i: result.status for i, result in got.items()}


def test_the_wrong_use_is_told_in_one_sentence(cluster: LocalCluster) -> None:
    with pytest.raises(InputError, match="slots"):
        LocalCluster(slots=0)
    with pytest.raises(InputError, match="is not running"):
        LocalCluster().score(GOAL, TRUE)
    with pytest.raises(InputError, match="max_in_flight"):
        next(cluster.score_many([], max_in_flight=0))
    with pytest.raises(InputError, match="address"):
        LocalCluster("192.0.2.1:6379").start()
