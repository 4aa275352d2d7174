"""The final table: all ten statuses, means over evidence only, denominators."""

from __future__ import annotations

import io
import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from rlmath.evals.report import print_summary, summarise
from rlmath.types import KernelIdentity, Status

KERNEL = KernelIdentity("embedded", "4.35.0", "prelude@1")


def row(status: Status, goal_id: str = "g", attempts: int = 0, environment: str = "prelude@1") -> dict[str, Any]:
    kernel = {"kernel": "embedded", "lean_version": "4.35.0", "environment": environment}
    return {
        "id": "x",
        "goal_id": goal_id,
        "detail": "",
        "status": status.value,
        "reward": status.reward,
        "leaf_attempts_used": attempts,
        "kernel": kernel if status.is_evidence else None,
    }


def printed(rows: list[dict[str, Any]]) -> str:
    console = Console(file=io.StringIO(), width=80)
    print_summary(summarise(rows), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_mean_is_over_evidence_only() -> None:
    rows = [row(Status.VERIFIED), row(Status.LEAF_FAILED), row(Status.LEAF_FAILED), row(Status.ERROR)]
    rows += [row(Status.CONTEXT_WINDOW_EXCEEDED)] * 6
    summary = summarise(rows)
    assert (summary.total, summary.evidence, summary.mean_reward) == (10, 3, 1 / 3)
    text = printed(rows)
    assert "0.3333 over 3 results that are evidence (7 of 10 not)" in text
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert lines["verified"][1:] == ["1", "33.3%", "3", "evidence"]
    assert lines["context_window_exceeded"][1:] == ["6", "60.0%", "10", "results"]
    assert lines["error"][1:] == ["1", "10.0%", "10", "results"]


def test_all_ten_statuses_have_a_row_whatever_there_is() -> None:
    for rows in ([], [row(Status.VERIFIED)]):
        first_words = [line.split()[0] for line in printed(rows).splitlines() if line.strip()]
        assert [word for word in first_words if word in set(Status)] == [status.value for status in Status]
        assert len(Status) == 10


def test_without_evidence_there_is_no_mean() -> None:
    assert summarise([row(Status.ERROR)]).mean_reward is None
    assert "mean reward    - over 0 results" in printed([row(Status.ERROR)])


def test_what_the_errors_say_is_told_with_their_numbers() -> None:
    rows = [{**row(Status.ERROR), "detail": detail} for detail in ("c", "b", "a", "b", "d", "e")]
    text = printed([*rows, row(Status.VERIFIED)])
    assert [line for line in text.splitlines() if line.startswith("errors say")] == [
        "errors say     2 × b",
        "errors say     1 × a",
        "errors say     1 × c",
        "errors say     and 2 other kinds",
    ]


def test_goals_attempts_and_kernels() -> None:
    rows = [
        row(Status.VERIFIED, "a", 3),
        row(Status.LEAF_FAILED, "a", 4),
        row(Status.PLAN_INVALID, "b"),
        row(Status.ERROR, "c"),
        row(Status.VERIFIED, "d", environment="prelude@2"),
    ]
    summary = summarise(rows)
    assert (summary.goals, summary.goals_solved, summary.leaf_attempts) == (3, 2, 7)
    assert summary.kernels == (str(KERNEL), "embedded Lean 4.35.0 prelude@2")
    assert "more than one kernel" in printed(rows)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(Status), st.sampled_from("abc"), st.integers(0, 9)), max_size=6), st.randoms()
)
def test_the_order_of_rows_does_not_matter(facts: list[tuple[Status, str, int]], random: Any) -> None:
    rows = list(itertools.starmap(row, facts))
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert printed(rows) == printed(shuffled)
