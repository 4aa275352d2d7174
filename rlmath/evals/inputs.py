"""Reads goals and completions: JSON Lines, UTF-8, one object a line, blank lines ignored. Everything wrong is an
`InputError` with file and line."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlmath.errors import InputError
from rlmath.types import GoalSpec

GOAL_KEYS = ("prop", "name", "context")
COMPLETION_KEYS = ("id", "goal_id", "completion", "leaf")
"""Keys whose misspelling is looked for."""
Recorded = Mapping[str, tuple[str, ...]]
"""Proof texts by lemma name, attempt `i` being the i-th; for the recorded leaf."""


@dataclass(frozen=True)
class Completion:
    """One completion to be judged."""

    id: str
    """Unique in its file; names the row of the results."""
    goal_id: str
    text: str
    leaf: Recorded | None = None
    """What the recorded leaf answers. The other leaf provers do not look at it."""


def load_goals(path: Path, field: str = "goals") -> dict[str, GoalSpec]:
    """Goals by id, in the file's order. `field`: what named the file, for errors about it.

    A row has `prop`, and may have `id` (else `source_id`, else `statement_key`, else the row's 0-based number),
    `name` (else `goal`) and `context`. Other keys are left alone, as banks carry notes of their own, unless they look
    like one of these misspelt.
    """
    goals: dict[str, GoalSpec] = {}
    seen: dict[str, int] = {}
    for number, (line, row) in enumerate(_rows(path, field)):
        where = f"{path} line {line}"
        goal = goal_from_row(row, where=where, fallback_id=str(number))
        if goal.id in seen:
            raise InputError(where, f"id {goal.id!r} is already the id of line {seen[goal.id]}: ids must be unique")
        seen[goal.id] = line
        goals[goal.id] = goal
    if not goals:
        raise InputError(field, f"{path} has no goals")
    return goals


def goal_from_row(row: Mapping[str, Any], *, where: str, fallback_id: str) -> GoalSpec:
    """One goal of a bank. `where` names the row in errors."""
    _check_spelling(row, GOAL_KEYS, where)
    prop = _text(row, "prop", where)
    if prop is None or not prop.strip():
        raise InputError(where, 'prop is missing: every goal needs {"prop": "<a Lean proposition>"}')
    ids = (_identifier(row, key, where) for key in ("id", "source_id", "statement_key"))
    return GoalSpec(
        id=next((found for found in ids if found is not None), fallback_id),
        prop=prop,
        name=_text(row, "name", where) or "goal",
        context=_text(row, "context", where) or "",
    )


def load_completions(path: Path, goals: Mapping[str, GoalSpec]) -> list[Completion]:
    """Completions in the file's order. A row has `id`, `goal_id` (of one of `goals`) and `completion`, and may have
    `leaf`, which gives a proof text or a list of them for lemma names. Other keys: as in `load_goals`."""
    completions: list[Completion] = []
    seen: dict[str, int] = {}
    for line, row in _rows(path, "completions"):
        where = f"{path} line {line}"
        completion = _completion_from_row(row, where)
        if completion.id in seen:
            raise InputError(
                where, f"id {completion.id!r} is already the id of line {seen[completion.id]}: ids must be unique"
            )
        if completion.goal_id not in goals:
            raise InputError(where, f"goal_id {completion.goal_id!r} is not the id of any goal")
        seen[completion.id] = line
        completions.append(completion)
    if not completions:
        raise InputError("completions", f"{path} has no completions")
    return completions


def load_recorded(path: Path) -> Recorded:
    """A leaf file: one JSON object that gives a proof text or a list of them for lemma names."""
    return _recorded(parse_object(_read(path, "--leaf-file"), where=str(path)), str(path))


def load_goal_file(path: Path, goal_id: str | None) -> GoalSpec:
    """The one goal of a JSON or JSONL file, or the one with this id."""
    if _is_json_lines(path):
        goals = load_goals(path, "--goal-file")
    else:
        goal = goal_from_row(
            parse_object(_read(path, "--goal-file"), where=str(path)), where=str(path), fallback_id="0"
        )
        goals = {goal.id: goal}
    if goal_id is not None:
        if goal_id not in goals:
            raise InputError("--goal-id", f"{goal_id!r} is not the id of any goal of {path}")
        return goals[goal_id]
    if len(goals) > 1:
        raise InputError("--goal-id", f"{path} has {len(goals)} goals: say which one")
    return next(iter(goals.values()))


def parse_object(text: bytes, *, where: str) -> dict[str, Any]:
    """`text` as one JSON object: UTF-8, no key twice, no NaN or Infinity."""
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise InputError(where, f"is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise InputError(where, f"is not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise InputError(where, "is nested too deeply") from None
    except ValueError as error:
        raise InputError(where, f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(where, f"must be a JSON object, got {type(value).__name__}")
    return value


def _rows(path: Path, field: str) -> Iterator[tuple[int, dict[str, Any]]]:
    # Split at \n alone: JSON strings may hold U+2028 and its like, which `splitlines` would cut at.
    for line, text in enumerate(_read(path, field).split(b"\n"), start=1):
        if text.strip():
            yield line, parse_object(text, where=f"{path} line {line}")


def _is_json_lines(path: Path) -> bool:
    first_line = _read(path, "--goal-file").lstrip().partition(b"\n")[0]
    try:
        parse_object(first_line, where=str(path))
    except InputError:
        return False  # one object over several lines, or nothing readable: for the reader of the whole to say
    return True


def _read(path: Path, field: str) -> bytes:
    try:
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise InputError(field, f"cannot read {path}: {error.strerror}") from None


def _completion_from_row(row: Mapping[str, Any], where: str) -> Completion:
    _check_spelling(row, COMPLETION_KEYS, where)
    completion_id, goal_id = _identifier(row, "id", where), _identifier(row, "goal_id", where)
    text = _text(row, "completion", where)
    for key, value in (("id", completion_id), ("goal_id", goal_id), ("completion", text)):
        if value is None:
            raise InputError(where, f"{key} is missing: a completion has id, goal_id and completion")
    assert completion_id is not None
    assert goal_id is not None
    assert text is not None
    leaf = row.get("leaf")
    return Completion(completion_id, goal_id, text, None if leaf is None else _recorded(leaf, f"{where}: leaf"))


def _recorded(value: object, where: str) -> Recorded:
    if not isinstance(value, dict):
        raise InputError(where, "must be an object {lemma name: proof text or list of proof texts}")
    recorded: dict[str, tuple[str, ...]] = {}
    for name, proofs in value.items():
        texts = (proofs,) if isinstance(proofs, str) else proofs
        if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
            raise InputError(where, f"{name!r} must be a proof text or a list of proof texts")
        recorded[name] = tuple(texts)
    return recorded


def _check_spelling(row: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """A `contxt` that went unnoticed would cost a whole run."""
    for key in row:
        missing = [name for name in known if name not in row]
        if key not in known and (close := difflib.get_close_matches(key, missing, n=1, cutoff=0.8)):
            raise InputError(where, f"unknown key {key!r}; did you mean {close[0]!r}?")


def _text(row: Mapping[str, Any], key: str, where: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(where, f"{key} must be a string, got {type(value).__name__}")
    return value


def _identifier(row: Mapping[str, Any], key: str, where: str) -> str | None:
    value = row.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    text = _text(row, key, where)
    if text == "":
        raise InputError(where, f"{key} is empty")
    return text


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in keys if keys.count(key) > 1)!r} stands there twice")
    return row


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")
