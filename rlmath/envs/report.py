"""What a verdict leaves in a framework's logs: numbers for the metrics, one JSON object for the details.

Both are for people who read a run. Neither holds proof text, and neither is ever part of a message to a policy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from rlmath.envs.scoring import Unscored
from rlmath.types import EpisodeResult, Status

INFO_KEY = "rlmath"
"""Where the JSON object stands: `trace.info["rlmath"]` on verifiers v1, `state["rlmath"]` on v0."""
INFO_DETAIL_CHARS = 500
"""Longest `detail` in it, in code points. Lean's messages can be pages; their beginning names the fault."""
STATUS_METRICS = {status: f"status_{status.value}" for status in Status}
"""Metric that is 1 for exactly this status, so that its mean over a group is the status's rate."""


def metrics(result: EpisodeResult, elapsed_s: float) -> dict[str, float]:
    """The numbers: a 0/1 indicator for each status, `leaf_attempts_used`, `elapsed_s` (seconds of wall clock that the
    scoring took), and the `plan_*` statistics of `rlmath.detectors`, which are absent when nothing parsed."""
    return {
        **result.plan_stats,  # first: none of them may stand in for one of these
        **{name: float(result.status is status) for status, name in STATUS_METRICS.items()},
        "leaf_attempts_used": float(result.leaf_attempts_used),
        "elapsed_s": elapsed_s,
    }


def info(result: EpisodeResult, elapsed_s: float) -> dict[str, Any]:
    """The JSON object. Of a lemma it has what became of it, not its proof; `detail` may quote Lean's message."""
    return {
        "goal_id": result.goal_id,
        "status": result.status.value,
        "reward": result.reward,
        "detail": _cut(result.detail),
        "stages": {stage.stage: stage.status.value for stage in result.stages},
        "lemmas": [
            {
                "name": lemma.name,
                "status": lemma.status.value,
                "attempts_used": lemma.attempts_used,
                "winner": lemma.winner,
            }
            for lemma in result.lemma_outcomes
        ],
        "leaf_attempts_used": result.leaf_attempts_used,
        "attempts_speculated": result.attempts_speculated,
        "plan_stats": dict(result.plan_stats),
        "axioms": None if result.axioms is None else list(result.axioms),
        "audit_constants": result.audit_constants,
        "kernel": None if result.kernel is None else dataclasses.asdict(result.kernel),
        "timings": dict(result.timings),
        "elapsed_s": elapsed_s,
    }


def recorded_reward(holder: Mapping[str, Any]) -> float:
    """The reward of the verdict recorded in a trace's info or a rollout's state. Raises `Unscored` when there is
    none."""
    recorded = holder.get(INFO_KEY)
    if not isinstance(recorded, Mapping):
        raise Unscored("no verdict was recorded: the scoring was cut short")
    reward = recorded.get("reward")
    if reward is None:
        raise Unscored(f"no reward for status {recorded.get('status')}: {recorded.get('detail')}")
    return float(reward)


def no_verdict(goal_id: str, error: Exception) -> EpisodeResult:
    """What is recorded of an episode that ended without a verdict."""
    words = str(error) or "no details"
    return EpisodeResult(goal_id=goal_id, status=Status.ERROR, detail=f"{type(error).__name__}: {words}")


def _cut(text: str) -> str:
    return text if len(text) <= INFO_DETAIL_CHARS else text[: INFO_DETAIL_CHARS - 1] + "…"
