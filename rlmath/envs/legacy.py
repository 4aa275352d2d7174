"""The verifiers v0 environment: `SingleTurnEnv` and a rubric over the same `score_plan` as the v1 taskset.

For tools that only know v0 (verifiers before 0.4). Its rubric makes 0.0 of a reward that raises, which nothing here can
change; so a rollout without a verdict is marked with an error as well: it counts in the error rate, and `max_retries`
runs it again if infrastructure was at fault. Train with v1, where such a rollout has no reward.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import verifiers.legacy as vf
from datasets import Dataset  # type: ignore[import-untyped]

from rlmath.detectors import plan_stats
from rlmath.envs import report
from rlmath.envs.resources import EpisodeResources, live_resources
from rlmath.envs.scoring import SCORE_TIMEOUT_S, Unscored, score_plan, window_exceeded
from rlmath.prompt import user_message
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Plan

State = dict[str, Any]
"""verifiers' `State`, as far as it is used here."""

METRICS_KEY = "rlmath_metrics"
"""Where in the state the metric columns find their values."""
COLUMNS = (
    *report.STATUS_METRICS.values(),
    "leaf_attempts_used",
    "elapsed_s",
    *plan_stats(Plan((), ""), GoalSpec("any", "True")),
)
"""The metric columns. v0 wants a number in each for every row, so `plan_*` is 0 where nothing parsed."""


def build(
    goals: Sequence[GoalSpec], resources: EpisodeResources | None, budgets: Budgets | None, system_prompt: str
) -> vf.Environment:
    """The environment of `rlmath.envs.load_environment`. `resources` None: the registered ones, at scoring time."""
    rows = [{"question": user_message(goal), "answer": "", "info": asdict(goal)} for goal in goals]
    dataset = Dataset.from_list(rows)
    return vf.SingleTurnEnv(  # type: ignore[no-untyped-call]
        dataset=dataset, eval_dataset=dataset, system_prompt=system_prompt, rubric=_rubric(resources, budgets)
    )


def _rubric(resources: EpisodeResources | None, budgets: Budgets | None) -> vf.Rubric:
    async def kernel_verdict(state: State) -> float:
        started = time.perf_counter()
        goal = GoalSpec(**state["info"])
        try:
            result = await _judge(goal, state, resources, budgets)
        except Exception as error:
            _record(state, report.no_verdict(goal.id, error), time.perf_counter() - started)
            state["error"] = state.get("error") or vf.InfraError(str(error) or type(error).__name__)
            raise
        _record(state, result, time.perf_counter() - started)
        if result.reward is None:
            state["error"] = state.get("error") or vf.OverlongPromptError(result.detail)
        return report.recorded_reward(state)

    columns = [_column(name) for name in COLUMNS]
    return vf.Rubric(funcs=[kernel_verdict, *columns], weights=[1.0, *(0.0 for _ in columns)])


async def _judge(
    goal: GoalSpec, state: State, resources: EpisodeResources | None, budgets: Budgets | None
) -> EpisodeResult:
    completion = _completion(state)
    cut = bool(state.get("prompt_too_long") or state.get("is_truncated"))
    if completion is None and not cut:
        raise Unscored("the rollout holds no reply to judge")
    overflow = window_exceeded(goal, completion, cut=cut)
    if overflow is not None:
        return overflow
    return await score_plan(
        goal,
        completion or "",
        resources=resources if resources is not None else live_resources(),
        budgets=budgets,
        request_id=state["trajectory_id"],
        timeout_s=SCORE_TIMEOUT_S,
    )


def _column(name: str) -> Callable[[State], float]:
    """A rubric function of weight 0. The rubric calls them in order, after the reward."""

    def column(state: State) -> float:
        return float(state[METRICS_KEY].get(name, 0.0))

    column.__name__ = name
    return column


def _record(state: State, result: EpisodeResult, elapsed_s: float) -> None:
    state[METRICS_KEY] = report.metrics(result, elapsed_s)
    state[report.INFO_KEY] = report.info(result, elapsed_s)


def _completion(state: State) -> str | None:
    """The policy's reply, verbatim; None when there is none."""
    replies = [message for message in state.get("completion") or [] if message["role"] == "assistant"]
    return (replies[-1]["content"] or "") if replies else None
