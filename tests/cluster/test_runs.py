"""Runs and their caps, identical checks and the journal, on a real cluster with a real kernel."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_helpers import ENDLESS, GOAL, TRUE, expected, kernel_checks, kill_scheduler, requests, until

from cluster.api import Caller, ScoreRequest
from cluster.caps import Caps
from cluster.local import LocalCluster
from rlmath.errors import CapReached, InputError
from rlmath.kernel.protocol import Source
from rlmath.leaf.config import RecordedLeaf
from rlmath.types import Budgets, Status

pytestmark = pytest.mark.cluster

TWO_ATTEMPTS = {"leaf": RecordedLeaf(), "recorded": {"h1": ["exact 0", "intro n\nrfl"]}}
FOUR = Budgets(leaf_attempts_per_lemma=4)


def test_sixteen_identical_checks_cost_one(cluster: LocalCluster) -> None:
    source = Source("theorem sixteen : ∀ n : Nat, n + 0 = n := fun _ => rfl")
    before, asked = sum(kernel_checks(cluster).values()), cluster.status()
    client, loop = cluster._running()
    results = [loop.submit(client.check(source, timeout_s=30.0, caller=Caller("sixteen"))) for _ in range(16)]
    first, *others = [future.result() for future in results]
    assert first.errors == ()
    assert all(other == first for other in others)
    shared = {key: cluster.status()[key] - asked[key] for key in ("cache_hits", "checks_shared", "checks_done")}
    assert shared["checks_done"] == sum(kernel_checks(cluster).values()) - before == 1
    assert shared["cache_hits"] + shared["checks_shared"] == 15


def test_sixteen_identical_statements_of_a_group_cost_one_kernel_check(cluster: LocalCluster) -> None:
    # One statement, which is well-formed, and sixteen assemblies that fail: every plan is checked to its end.
    statement = "∀ n : Nat, n + 16 = 16 + n"
    group = [
        ScoreRequest(f"group-{n}", GOAL, f"#lemma h1 : {statement}\n#assembly\nintro n\nexact absurd {n} {n}\n#end\n")
        for n in range(16)
    ]
    run = cluster.open_run(client="group")
    before, asked = sum(kernel_checks(cluster).values()), cluster.status()
    results = [result for _, result in cluster.score_many(group, run=run)]
    assert {result.status for result in results} == {Status.PLAN_INVALID}
    done = cluster.status()["checks_done"] - asked["checks_done"]
    # The goal once, the statement once, and each plan.
    assert done == sum(kernel_checks(cluster).values()) - before == 1 + 1 + 16


def test_identical_requests_of_a_group_cost_the_checks_of_one(cluster: LocalCluster) -> None:
    plan = "#lemma h1 : ∀ n : Nat, 0 + n = n\n#assembly\nintro n\nexact h1 n\n#end\n"
    group = [ScoreRequest(f"same-{n}", GOAL, plan) for n in range(16)]
    first = sum(kernel_checks(cluster).values())
    cluster.score(GOAL, plan.replace("0 + n = n", "0 + (n + 0) = n"))
    alone = sum(kernel_checks(cluster).values()) - first
    results = [result for _, result in cluster.score_many(group)]
    assert len({result.status for result in results}) == 1
    assert sum(kernel_checks(cluster).values()) - first - alone <= alone


def test_attempts_are_charged_as_the_episode_counts_them_and_the_cap_is_a_refusal(cluster: LocalCluster) -> None:
    with cluster.open_run(caps=Caps(leaf_attempts=7), client="attempts") as run:
        for number in range(2):
            result = cluster.score(GOAL, TRUE, budgets=FOUR, run=run, request_id=f"attempts-{number}", **TWO_ATTEMPTS)
            assert (result.status, result.leaf_attempts_used) == (Status.VERIFIED, 2)
        # Four are spent; one that may need four more does not fit, one that may need three does.
        with pytest.raises(CapReached, match="leaf_attempts of run"):
            cluster.score(GOAL, TRUE, budgets=FOUR, run=run, **TWO_ATTEMPTS)
        three = Budgets(leaf_attempts_per_lemma=3)
        assert cluster.score(GOAL, TRUE, budgets=three, run=run, **TWO_ATTEMPTS).leaf_attempts_used == 2
        # Asked again, a verdict is free.
        again = cluster.score(GOAL, TRUE, budgets=FOUR, run=run, request_id="attempts-0", **TWO_ATTEMPTS)
        assert again.status is Status.VERIFIED
        account = run.account()
        assert (account.spent.leaf_attempts, account.held.leaf_attempts, run.left().leaf_attempts) == (6, 0, 1)
        assert account.spent.kernel_s > 0
    with pytest.raises(InputError, match="run"):
        cluster.score(GOAL, TRUE, run=run)


def test_requests_side_by_side_never_go_over_a_cap(cluster: LocalCluster) -> None:
    run = cluster.open_run(caps=Caps(leaf_attempts=20), client="side by side")
    asked = [
        ScoreRequest(f"side-{n}", GOAL, TRUE, FOUR, RecordedLeaf(), {"h1": ["exact 0", f"intro m{n}\nrfl"]})
        for n in range(9)
    ]
    # 9 of them may need 36; they need 18, so all fit, one after another where need be.
    results = [result for _, result in cluster.score_many(asked, run=run)]
    assert [result.leaf_attempts_used for result in results] == [2] * 9
    assert run.account().spent.leaf_attempts == 18
    with pytest.raises(CapReached):
        cluster.score(GOAL, TRUE, budgets=FOUR, run=run)
    assert run.account().spent.leaf_attempts == 18


def test_kernel_seconds_are_held_before_a_check_begins(cluster: LocalCluster) -> None:
    run = cluster.open_run(caps=Caps(kernel_s=5.0), client="kernel")
    with pytest.raises(CapReached) as caught:
        cluster.score(GOAL, ENDLESS, budgets=Budgets(verify_timeout_s=10.0), run=run)
    assert (caught.value.cap, caught.value.limit, caught.value.spent) == ("kernel_s", 5.0, 0.0)
    assert run.account().spent.kernel_us == 0
    more = cluster.open_run(caps=Caps(kernel_s=500.0), client="kernel", name=run.name)
    assert cluster.score(GOAL, ENDLESS, budgets=Budgets(verify_timeout_s=2.0), run=more).reward == 0.0
    assert 2.0 <= more.account().spent.kernel_s <= 5.0


def test_wall_time_ends_what_is_under_way(cluster: LocalCluster) -> None:
    run = cluster.open_run(caps=Caps(wall_s=2.0), client="wall")
    began = time.monotonic()
    with pytest.raises(CapReached, match="wall_s"):
        cluster.score(GOAL, ENDLESS, budgets=Budgets(verify_timeout_s=600.0), run=run)
    assert time.monotonic() - began < 60
    with pytest.raises(CapReached, match="wall_s"):
        cluster.score(GOAL, TRUE, run=run)
    assert until(lambda: cluster.status()["in_flight"] == 0, 60)


def test_an_unknown_kernel_or_memory_class_is_told(cluster: LocalCluster) -> None:
    client, loop = cluster._running()
    for wrong in ("kernel", "memory"):
        with pytest.raises(InputError, match=wrong):
            loop.run(client.score(ScoreRequest(f"unknown-{wrong}", GOAL, TRUE, **{wrong: "nonsense"})))


@pytest.fixture
def journaled(cluster: LocalCluster, tmp_path: Path) -> Iterator[LocalCluster]:
    """A cluster of its own on the same Ray, whose journal can be looked at."""
    with LocalCluster(slots=2, ledger=tmp_path / "ledger.sqlite") as running:
        yield running


def test_a_scheduler_that_is_killed_goes_on_and_charges_once(journaled: LocalCluster) -> None:
    run = journaled.open_run(caps=Caps(leaf_attempts=1_000), client="killed")
    undisturbed = journaled.open_run(client="undisturbed")
    wanted = {r.request_id.rsplit("-", 1)[1]: v for r, v in journaled.score_many(requests("calm", 30), run=undisturbed)}
    results = {}
    for request, result in journaled.score_many(requests("killed", 30), max_in_flight=16, run=run):
        assert result.status is expected(request), str(result)
        results[request.request_id.rsplit("-", 1)[1]] = result
        if len(results) == 5:
            kill_scheduler(journaled)
    assert results == wanted
    charged = sum(result.leaf_attempts_used for result in results.values())
    account = run.account()
    assert (account.spent.leaf_attempts, account.held.leaf_attempts) == (charged, 0)
    assert undisturbed.account().spent.leaf_attempts == charged
    # Killed again, with nothing under way: every verdict is remembered and costs nothing.
    kill_scheduler(journaled)
    before = run.account()
    again = {r.request_id.rsplit("-", 1)[1]: v for r, v in journaled.score_many(requests("killed", 30), run=run)}
    assert again == wanted
    assert journaled.status()["checks_done"] == 0
    assert run.account() == before


def test_a_journal_serves_one_cluster_at_a_time(journaled: LocalCluster, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in use by another cluster"):
        LocalCluster(slots=1, ledger=tmp_path / "ledger.sqlite").start()
    assert journaled.score(GOAL, TRUE).status is Status.VERIFIED


def test_what_was_under_way_is_run_again_though_nobody_asks(cluster: LocalCluster, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    request = ScoreRequest("left", GOAL, ENDLESS, Budgets(verify_timeout_s=3.0))
    with LocalCluster(slots=1, ledger=path) as first:
        future = first._running()[1].submit(first.client.score(request))
        assert until(lambda: first.status()["in_flight"] > 0, 30)
        kill_scheduler(first)
        future.cancel()
        assert until(lambda: first.status()["requests_done"] == 1, 90)
    with LocalCluster(slots=1, ledger=path) as second:
        result = second.score(GOAL, ENDLESS, budgets=Budgets(verify_timeout_s=3.0), request_id="left")
        assert result.status is Status.PLAN_INVALID
        assert second.status()["checks_done"] == 0
