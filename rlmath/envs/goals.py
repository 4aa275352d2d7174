"""Which goals an environment has: read from a file or given as objects, else what the process registered, else a demo
set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from rlmath.envs.resources import get_resources
from rlmath.errors import InputError
from rlmath.evals import inputs
from rlmath.types import GoalSpec

GoalSource = str | Path | Iterable[GoalSpec | Mapping[str, Any]]
"""A JSONL file of goals, or goals as objects or rows of such a file."""


def load_goals(source: GoalSource) -> list[GoalSpec]:
    """The goals of `source`, in its order.

    Rows are those of `rlmath.evals.inputs.load_goals`: `prop` is required, `id` falls back to `source_id`, then
    `statement_key`, then the row's number, `name` to `goal`. Raises `InputError` for a row without `prop`, an id that
    stands there twice, and a source without goals: a set that is silently shorter makes two runs incomparable.
    """
    if isinstance(source, str | Path):
        return list(inputs.load_goals(Path(source)).values())
    goals: dict[str, GoalSpec] = {}
    for number, row in enumerate(source):
        where = f"goals[{number}]"
        goal = _goal(row, where, number)
        if goal.id in goals:
            raise InputError(where, f"id {goal.id!r} stands there twice: ids must be unique")
        goals[goal.id] = goal
    if not goals:
        raise InputError("goals", "has no goals")
    return list(goals.values())


def resolve_goals(source: GoalSource | None = None) -> list[GoalSpec]:
    """The goals of an environment: `source`, else those of the registered resources, else `demo_goals`.

    A source that is named and empty raises `InputError`: the demo set stands in for nothing that was meant to be there.
    """
    if source is not None:
        return load_goals(source)
    registered = get_resources()
    if registered is not None and registered.goals is not None:
        return load_goals(registered.goals)
    return demo_goals()


def demo_goals() -> list[GoalSpec]:
    """Four small true goals, `demo-00` to `demo-03`: enough to load an environment where there is no Lean, and too few
    and too plainly named for a report on them to pass for one on a bank."""
    with as_file(files("rlmath.data").joinpath("demo_goals.jsonl")) as path:
        return load_goals(path)


def _goal(row: object, where: str, number: int) -> GoalSpec:
    match row:
        case GoalSpec():
            return row
        case Mapping():
            return inputs.goal_from_row(row, where=where, fallback_id=str(number))
        case _:
            raise InputError(where, f"must be a GoalSpec or a mapping, got {type(row).__name__}")
