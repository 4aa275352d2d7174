"""From a completion to a verdict or an exception, and what of it may be logged."""

from __future__ import annotations

import asyncio
import json

import pytest
from env_kit import GOAL, PLAN, Faulty
from waiting import until

from rlmath.envs import report
from rlmath.envs.resources import EpisodeResources, LocalScorer
from rlmath.envs.scoring import Unscored, score_plan, window_exceeded
from rlmath.episode import run_episode
from rlmath.errors import InputError, KernelUnavailable, Unavailable
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.recorded import RecordedProver
from rlmath.leaf.tactics import TacticsProver
from rlmath.types import Budgets, EpisodeResult, GoalSpec, LemmaOutcome, LemmaStatus, StageReport, StageStatus, Status

SECRET = "have hidden_proof : True := trivial"
LEAF_PROOF = f"intro n\n{SECRET}\nrfl"


async def verified(goal: GoalSpec, completion: str) -> EpisodeResult:
    return EpisodeResult(goal.id, Status.VERIFIED)


async def hangs(goal: GoalSpec, completion: str) -> EpisodeResult:
    await asyncio.sleep(60)
    raise AssertionError("nobody waits that long")


async def test_the_verdict_is_run_episodes(kernel: EmbeddedKernel) -> None:
    resources = EpisodeResources(backend=kernel, leaf=TacticsProver())
    for completion in (PLAN, "no plan", PLAN.replace("exact h1", "exact h2")):
        mine = await score_plan(GOAL, completion, resources=resources)
        assert mine == await run_episode(GOAL, completion, kernel=kernel, leaf=TacticsProver())


async def test_budgets_are_the_callers_then_the_resources(kernel: EmbeddedKernel) -> None:
    resources = EpisodeResources(backend=kernel, leaf=TacticsProver(), budgets=Budgets(max_lemmas=0))
    assert (await score_plan(GOAL, PLAN, resources=resources)).status is Status.BUDGET_EXHAUSTED
    assert (await score_plan(GOAL, PLAN, resources=resources, budgets=Budgets())).status is Status.VERIFIED


async def test_a_goal_that_a_kernel_accepted_is_not_checked_again(kernel: EmbeddedKernel) -> None:
    resources = EpisodeResources(backend=kernel, leaf=TacticsProver())
    first, second = resources.live_scorer(), resources.live_scorer()
    assert isinstance(first, LocalScorer)
    assert isinstance(second, LocalScorer)
    await score_plan(GOAL, PLAN, resources=resources)
    assert second.goals_seen is first.goals_seen
    assert second.goals_seen.has(kernel.identity, GOAL)


async def test_a_broken_goal_is_nobodys_score(kernel: EmbeddedKernel) -> None:
    resources = EpisodeResources(backend=kernel, leaf=TacticsProver())
    with pytest.raises(InputError, match="goal bad"):
        await score_plan(GoalSpec("bad", "NoSuchThing"), PLAN, resources=resources)


async def test_every_call_is_named() -> None:
    scorer = Faulty(verified)
    resources = EpisodeResources(scorer=scorer)
    await score_plan(GOAL, PLAN, resources=resources, request_id="r-1", budgets=Budgets(max_lemmas=2))
    await score_plan(GOAL, PLAN, resources=resources)
    await score_plan(GOAL, PLAN, resources=resources)
    assert scorer.calls[0] == (GOAL, PLAN, Budgets(max_lemmas=2), "r-1")
    assert len({call[3] for call in scorer.calls}) == 3


async def test_whatever_keeps_a_scorer_from_a_verdict_raises() -> None:
    async def unavailable(goal: GoalSpec, completion: str) -> EpisodeResult:
        raise KernelUnavailable("the kernel died")

    async def error(goal: GoalSpec, completion: str) -> EpisodeResult:
        return EpisodeResult(goal.id, Status.ERROR, "worker lost")

    async def own_timeout(goal: GoalSpec, completion: str) -> EpisodeResult:
        raise TimeoutError

    async def lost_future(goal: GoalSpec, completion: str) -> EpisodeResult:
        raise asyncio.CancelledError

    async def refused(goal: GoalSpec, completion: str) -> EpisodeResult:
        await asyncio.open_connection("127.0.0.1", 1)
        raise AssertionError("something listens on port 1")

    for act, kind, words in [
        (unavailable, KernelUnavailable, "the kernel died"),
        (error, Unavailable, "worker lost"),
        (own_timeout, Unavailable, "the scorer's own time"),
        (lost_future, Unavailable, "was cancelled"),
        (refused, OSError, "127.0.0.1"),
    ]:
        with pytest.raises(kind, match=words):
            await score_plan(GOAL, PLAN, resources=EpisodeResources(scorer=Faulty(act)), timeout_s=30.0)


async def test_a_deadline_cancels_the_call_and_is_not_a_score() -> None:
    scorer = Faulty(hangs)
    with pytest.raises(Unavailable, match=r"no verdict within 0\.05 s"):
        await score_plan(GOAL, PLAN, resources=EpisodeResources(scorer=scorer), timeout_s=0.05)
    assert scorer.cancelled == 1


async def test_the_callers_own_cancellation_goes_through() -> None:
    scorer = Faulty(hangs)
    call = asyncio.create_task(score_plan(GOAL, PLAN, resources=EpisodeResources(scorer=scorer)))
    await until(lambda: scorer.calls)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert scorer.cancelled == 1


@pytest.mark.parametrize(
    ("completion", "cut", "exceeded"),
    [
        (PLAN, False, False),
        (PLAN, True, False),
        ("thinking", True, True),
        ("thinking", False, False),
        (None, True, True),
    ],
)
def test_a_completion_that_was_cut_before_its_plan_ended_is_no_evidence(
    completion: str | None, cut: bool, exceeded: bool
) -> None:
    result = window_exceeded(GOAL, completion, cut=cut)
    assert (result is not None) is exceeded
    if result is not None:
        assert result.status is Status.CONTEXT_WINDOW_EXCEEDED
        assert ("prompt" in result.detail) is (completion is None)


def test_each_status_has_one_indicator() -> None:
    for status in Status:
        found = report.metrics(EpisodeResult("g", status, leaf_attempts_used=3, plan_stats={"plan_x": 2.0}), 1.5)
        indicators = {name: value for name, value in found.items() if name.startswith("status_")}
        assert len(indicators) == 10
        assert [name for name, value in indicators.items() if value] == [f"status_{status.value}"]
        assert set(indicators.values()) == {0.0, 1.0}
        assert {name: found[name] for name in found if name not in indicators} == {
            "leaf_attempts_used": 3.0,
            "elapsed_s": 1.5,
            "plan_x": 2.0,
        }


def test_only_evidence_has_a_reward() -> None:
    for status in Status:
        blob = {report.INFO_KEY: report.info(EpisodeResult("g", status), 0.0)}
        if status.is_evidence:
            assert report.recorded_reward(blob) == status.reward
        else:
            with pytest.raises(Unscored, match=status.value):
                report.recorded_reward(blob)
    with pytest.raises(Unscored, match="no verdict"):
        report.recorded_reward({})


async def test_the_info_of_a_verified_plan_holds_no_proof(kernel: EmbeddedKernel) -> None:
    resources = EpisodeResources(backend=kernel, leaf=RecordedProver({"h1": LEAF_PROOF}))
    result = await score_plan(GOAL, PLAN, resources=resources)
    assert result.status is Status.VERIFIED
    assert result.artifact is not None
    assert SECRET in result.artifact
    blob = report.info(result, 0.25)
    text = json.dumps(blob, allow_nan=False)
    assert "hidden_proof" not in text
    assert "artifact" not in text
    assert (blob["status"], blob["reward"], blob["axioms"], blob["elapsed_s"]) == ("verified", 1.0, [], 0.25)
    assert blob["kernel"]["kernel"] == "embedded"
    assert blob["lemmas"] == [{"name": "h1", "status": "proved", "attempts_used": 1, "winner": 0}]
    assert blob["stages"]["audit"] == "passed"
    assert blob["plan_stats"] == result.plan_stats


def test_long_details_are_cut_and_those_of_leaf_proofs_left_out() -> None:
    result = EpisodeResult(
        "g",
        Status.LEAF_FAILED,
        "x" * 10_000,
        stages=(StageReport("leaves", StageStatus.FAILED, "y" * 10_000),),
        lemma_outcomes=(LemmaOutcome("h", "True", LemmaStatus.FAILED, 1, None, "z" * 10_000),),
    )
    blob = report.info(result, 0.0)
    assert blob["detail"] == "x" * (report.INFO_DETAIL_CHARS - 1) + "…"
    assert len(json.dumps(blob)) < 2 * report.INFO_DETAIL_CHARS + 500
