"""How an evaluation has completions judged. `run` takes any `Score`; the product's one is a cluster's client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from rlmath.evals.inputs import Completion
from rlmath.leaf.config import LeafConfig
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Status

if TYPE_CHECKING:
    from cluster.ray_client import Client

Score = Callable[[str, GoalSpec, Completion], Awaitable[EpisodeResult]]
"""Request id, goal and completion to a verdict, or to a result of status `error`. Raises `InputError` when the run as
such cannot work (the leaf prover's config). Cancelling the call ends the work."""


def cluster_score(client: Client, budgets: Budgets, leaf: LeafConfig) -> Score:
    """Judging through a cluster's client, with the budgets and the leaf prover of one run."""
    from cluster.api import ScoreRequest

    async def score(request_id: str, goal: GoalSpec, completion: Completion) -> EpisodeResult:
        return await client.score(ScoreRequest(request_id, goal, completion.text, budgets, leaf, completion.leaf))

    return score


def no_evidence(goal_id: str, status: Status, detail: str) -> EpisodeResult:
    """A result without a verdict: `error` or `context_window_exceeded`."""
    return EpisodeResult(goal_id=goal_id, status=status, detail=detail)
