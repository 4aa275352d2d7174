"""From a completion to a verdict: the one way, whatever framework asked.

A verdict is evidence. Everything else raises, so that no framework can make a number of it.
"""

from __future__ import annotations

import asyncio
import uuid

from rlmath.envs.resources import EpisodeResources, live_resources
from rlmath.errors import RlmathError, Unavailable
from rlmath.plan import PlanFormatError, parse_plan
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Status

SCORE_TIMEOUT_S = 3600.0
"""For the scoring of one rollout, unless a config says otherwise: far above what the caps of an episode leave it, and
an end to waiting for a service that never answers."""


class Unscored(RlmathError):
    """A rollout that says nothing about the policy, for a reason other than infrastructure: it did not fit the model's
    window, or it holds no reply."""


async def score_plan(
    goal: GoalSpec,
    completion: str,
    *,
    resources: EpisodeResources | None = None,
    budgets: Budgets | None = None,
    request_id: str | None = None,
    timeout_s: float | None = None,
) -> EpisodeResult:
    """Judge one completion and return a verdict, never `Status.ERROR`.

    `resources`: to judge with (default: the registered ones). `budgets`: default those of the resources, then those of
    `Budgets`. `request_id`: names the call to a scoring service (default: a fresh one). `timeout_s`: seconds for the
    whole call (default: none).

    Raises `Unavailable` when the scorer has no verdict, gives up, is too slow or is cancelled by something other than
    the caller, `InputError` when the goal is at fault, and `RuntimeError` when there is nothing to score with.
    """
    resources = resources if resources is not None else live_resources()
    scorer = resources.live_scorer()
    if scorer is None:
        raise RuntimeError("resources have neither a scorer nor a backend and a leaf")
    try:
        async with asyncio.timeout(timeout_s) as deadline:
            result = await scorer.score(
                goal, completion, budgets or resources.budgets or Budgets(), request_id or uuid.uuid4().hex
            )
    except TimeoutError as error:
        late = f"within {timeout_s:g} s" if deadline.expired() and timeout_s else "in the scorer's own time"
        raise Unavailable(f"goal {goal.id}: no verdict {late}") from error
    except asyncio.CancelledError:
        # A lost connection may end as a cancelled future. Passed on, it would cancel the rollouts beside this one.
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise Unavailable(f"goal {goal.id}: the scoring call was cancelled") from None
    if result.status is Status.ERROR:
        raise Unavailable(f"goal {goal.id}: {result.detail or 'the scorer has no verdict'}")
    return result


def window_exceeded(goal: GoalSpec, completion: str | None, *, cut: bool) -> EpisodeResult | None:
    """The result of a rollout that ended at its window (`cut`) before its plan did, else None. `completion` None: there
    is no reply at all.

    The same rule as `rlmath eval`'s: a plan that ended before the cut is a plan, since what follows `#end` is ignored.
    """
    if not cut or (completion is not None and _holds_plan(completion)):
        return None
    detail = (
        "the prompt does not fit the model's window"
        if completion is None
        else "the completion was cut off before its plan ended: the model's window, or the limit on its tokens"
    )
    return EpisodeResult(goal_id=goal.id, status=Status.CONTEXT_WINDOW_EXCEEDED, detail=detail)


def _holds_plan(completion: str) -> bool:
    try:
        parse_plan(completion)
    except PlanFormatError:
        return False
    return True
