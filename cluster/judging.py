"""From a request to what the scheduler needs to know of it before it is judged."""

from __future__ import annotations

from cluster.api import ScoreRequest
from rlmath.errors import InputError
from rlmath.plan import PlanFormatError, parse_plan


class BrokenGoal(InputError):
    """A goal's own context, name or proposition does not elaborate: its author's fault, whatever the completion."""


def most_attempts(request: ScoreRequest) -> int:
    """Leaf attempts that the request can be charged at most."""
    budgets = request.budgets
    try:
        lemmas = len(parse_plan(request.completion).lemmas)
    except PlanFormatError:
        return 0
    if lemmas > budgets.max_lemmas:
        return 0
    return min(lemmas * budgets.leaf_attempts_per_lemma, budgets.max_total_leaf_attempts)
