"""How an evaluation has completions judged. `run` takes any `Score`; the product's one is a cluster's client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from rlmath.concurrency import together
from rlmath.errors import ClusterLost, InputError, KernelUnavailable
from rlmath.evals.inputs import Completion
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.leaf.config import LeafConfig
from rlmath.source import goal_check
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Status
from rlmath.verdicts import goal_problem

if TYPE_CHECKING:
    from cluster.ray_client import Client

Score = Callable[[str, GoalSpec, Completion], Awaitable[EpisodeResult]]
"""Request id, goal and completion to a verdict, or to a result of status `error`. Raises `InputError` when the run as
such cannot work (the leaf prover's config), and `ClusterLost` when nothing further can be judged. Cancelling the call
ends the work."""

GOAL_TIMEOUT_S = 300.0
"""For a goal to elaborate on its own: far beyond what a statement needs, since its author is trusted."""

SHOWN_GOALS = 10
"""Broken goals that are named beside the first."""


def cluster_score(client: Client, budgets: Budgets, leaf: LeafConfig) -> Score:
    """Judging through a cluster's client, with the budgets and the leaf prover of one run."""
    from cluster.api import ScoreRequest

    async def score(request_id: str, goal: GoalSpec, completion: Completion) -> EpisodeResult:
        request = ScoreRequest(request_id, goal, completion.text, budgets, leaf, completion.leaf)
        try:
            return await client.judge(request)
        except ClusterLost:
            raise
        except KernelUnavailable as error:
            return no_evidence(goal.id, Status.ERROR, str(error))

    return score


class Checker(Protocol):
    """A cluster's client, or a kernel."""

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        """See `Kernel.check`."""
        ...


async def check_goals(kernel: Checker, goals: Iterable[GoalSpec], *, in_flight: int) -> None:
    """Have every goal elaborated on its own, before anything is scored or sampled for it. The episodes ask for the same
    checks again, and find them done.

    Raises `InputError` about the first goal that does not stand, with the number of the others, and
    `KernelUnavailable`.
    """
    broken: list[InputError] = []
    waiting = iter(goals)

    async def work() -> None:
        for goal in waiting:
            source = goal_check(goal)
            result = await kernel.check(source, timeout_s=GOAL_TIMEOUT_S)
            if (problem := goal_problem(goal, source, result)) is not None:
                broken.append(problem)

    await together([work() for _ in range(in_flight)])
    if broken:
        first, others = broken[0], [problem.field for problem in broken[1:]]
        shown = ", ".join(others[:SHOWN_GOALS]) + (", …" if len(others) > SHOWN_GOALS else "")
        more = f" ({len(others)} more do not elaborate either: {shown})" if others else ""
        raise InputError(f"goals: {first.field}", f"{first.problem}{more}")


def no_evidence(goal_id: str, status: Status, detail: str) -> EpisodeResult:
    """A result without a verdict: `error` or `context_window_exceeded`."""
    return EpisodeResult(goal_id=goal_id, status=status, detail=detail)
