"""Goals and completions: what rows may look like, and that every fault names file, line and key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmath.errors import InputError
from rlmath.evals.inputs import load_completions, load_goal_file, load_goals, load_recorded
from rlmath.types import GoalSpec

GOALS = {"g": GoalSpec("g", "True")}


def lines(path: Path, *rows: Any) -> Path:
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def test_goals_with_all_keys_and_with_the_fallbacks(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "goals.jsonl",
        {"id": "a", "prop": "P", "name": "thm", "context": "def P := True", "source": "somewhere"},
        "",
        {"source_id": "b", "statement_key": "no", "prop": "Q"},
        {"statement_key": "c", "prop": "R", "name": None},
        {"prop": "S"},
        {"id": 7, "prop": "T"},
    )
    assert list(load_goals(path).values()) == [
        GoalSpec("a", "P", "thm", "def P := True"),
        GoalSpec("b", "Q"),
        GoalSpec("c", "R"),
        GoalSpec("3", "S"),
        GoalSpec("7", "T"),
    ]


def test_a_byte_order_mark_windows_line_ends_and_a_missing_last_line_break_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "goals.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "prop": "P"}\r\n{"id": "b", "prop": "Q"}')
    assert list(load_goals(path)) == ["a", "b"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"id": "x"}, "prop is missing"),
        ({"id": "x", "prop": "  "}, "prop is missing"),
        ({"id": "x", "prop": 3}, "prop must be a string, got int"),
        ({"id": "x", "prop": "P", "name": []}, "name must be a string, got list"),
        ({"id": "x", "prop": "P", "context": {}}, "context must be a string, got dict"),
        ({"id": True, "prop": "P"}, "id must be a string, got bool"),
        ({"id": "", "prop": "P"}, "id is empty"),
        ({"id": "ok", "prop": "P"}, "id 'ok' is already the id of line 1: ids must be unique"),
        ("[1]", "must be a JSON object, got list"),
        ('{"id": "x", "prop": ', "is not JSON: "),
        ('{"id": "x", "prop": "P", "id": "y"}', "is not JSON: key 'id' stands there twice"),
        ('{"id": "x", "prop": "P", "weight": NaN}', "is not JSON: NaN is no JSON number"),
        ('{"id": "x", "prop": ' + "[" * 100_000, "is nested too deeply"),
    ],
)
def test_a_bad_goal_names_its_line(tmp_path: Path, row: Any, problem: str) -> None:
    path = lines(tmp_path / "goals.jsonl", {"id": "ok", "prop": "P"}, "", row)
    with pytest.raises(InputError) as caught:
        load_goals(path)
    assert str(caught.value).startswith(f"{path} line 3: {problem}")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"goal_id": "g", "completion": "x"}, "id is missing"),
        ({"id": "c", "completion": "x"}, "goal_id is missing"),
        ({"id": "c", "goal_id": "g"}, "completion is missing"),
        ({"id": "c", "goal_id": "g", "completion": None}, "completion is missing"),
        ({"id": "c", "goal_id": "h", "completion": "x"}, "goal_id 'h' is not the id of any goal"),
        ({"id": "ok", "goal_id": "g", "completion": "x"}, "id 'ok' is already the id of line 1"),
        ({"id": "c", "goal_id": "g", "completion": ["x"]}, "completion must be a string, got list"),
        ({"id": "c", "goal_id": "g", "completion": "x", "leaf": "rfl"}, "leaf: must be an object"),
        ({"id": "c", "goal_id": "g", "completion": "x", "leaf": {"h": 1}}, "leaf: 'h' must be a proof text or a list"),
        ({"id": "c", "goal_id": "g", "completion": "x", "leaf": {"h": ["rfl", 1]}}, "leaf: 'h' must be a proof text"),
    ],
)
def test_a_bad_completion_names_its_line(tmp_path: Path, row: Any, problem: str) -> None:
    path = lines(tmp_path / "completions.jsonl", {"id": "ok", "goal_id": "g", "completion": ""}, row)
    with pytest.raises(InputError) as caught:
        load_completions(path, GOALS)
    assert str(caught.value).startswith(f"{path} line 2: {problem}")


def test_completions_keep_their_text_and_recorded_proofs(tmp_path: Path) -> None:
    odd = "#assembly\r\n\u2028\ud800 \x00#end"
    path = lines(
        tmp_path / "completions.jsonl",
        {"id": "a", "goal_id": "g", "completion": odd, "leaf": {"h1": "rfl", "h2": ["x", "y"]}, "note": 1},
        {"id": "b", "goal_id": "g", "completion": ""},
    )
    first, second = load_completions(path, GOALS)
    assert first.text == odd
    assert first.leaf == {"h1": ("rfl",), "h2": ("x", "y")}
    assert second.leaf is None


@settings(deadline=None)
@given(text=st.text())
def test_any_text_that_json_can_carry_comes_back_whole(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("inputs") / "completions.jsonl"
    row = json.dumps({"id": "a", "goal_id": "g", "completion": text}, ensure_ascii=False)
    path.write_bytes(row.encode() + b"\n")
    assert load_completions(path, GOALS)[0].text == text


@pytest.mark.parametrize("load", [load_goals, lambda path: load_completions(path, GOALS), load_recorded])
def test_a_file_that_is_not_there(tmp_path: Path, load: Callable[[Path], Any]) -> None:
    with pytest.raises(InputError, match=r"cannot read .*: No such file or directory"):
        load(tmp_path / "no.jsonl")


def test_an_empty_file_is_no_empty_run(tmp_path: Path) -> None:
    path = lines(tmp_path / "empty.jsonl", "", "")
    with pytest.raises(InputError, match="has no goals"):
        load_goals(path)
    with pytest.raises(InputError, match="has no completions"):
        load_completions(path, GOALS)


def test_text_that_is_not_utf8_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "goals.jsonl"
    path.write_bytes(b'{"prop": "P"}\n{"prop": "\xff"}\n')
    with pytest.raises(InputError, match=r"line 2: is not UTF-8 \(byte 10\)"):
        load_goals(path)


def test_the_goal_file_of_one_goal(tmp_path: Path) -> None:
    pretty = tmp_path / "goal.json"
    pretty.write_text(json.dumps({"id": "a", "prop": "P"}, indent=2))
    assert load_goal_file(pretty, None) == GoalSpec("a", "P")
    bank = lines(tmp_path / "bank.jsonl", {"id": "a", "prop": "P"}, {"id": "b", "prop": "Q"})
    assert load_goal_file(bank, "b") == GoalSpec("b", "Q")
    with pytest.raises(InputError, match=r"--goal-id: .* has 2 goals: say which one"):
        load_goal_file(bank, None)
    with pytest.raises(InputError, match="--goal-id: 'c' is not the id of any goal"):
        load_goal_file(bank, "c")
    with pytest.raises(InputError, match=r"bad\.json: is not JSON"):
        load_goal_file(lines(tmp_path / "bad.json", "{", '"id"'), None)
