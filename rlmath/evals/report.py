"""What a results file says: counts by status, the mean reward over evidence only, and rates with their denominators."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlmath.types import Status

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_ERRORS = 3
"""Kinds of `error` that are told below the table."""


@dataclass(frozen=True)
class Summary:
    """Totals of a results file; the same rows in any order give the same summary."""

    counts: Mapping[Status, int]
    """Every status is a key."""
    goals: int
    """Goals with at least one result that is evidence."""
    goals_solved: int
    """Of those, goals with at least one `verified`."""
    leaf_attempts: int
    """Charged attempts of all results."""
    kernels: tuple[str, ...]
    """Every kernel that gave a verdict; more than one means that the run was moved."""
    errors: tuple[tuple[str, int], ...] = ()
    """What the results of status `error` say, and how many say it; the most frequent first."""

    @property
    def total(self) -> int:
        """Number of results."""
        return sum(self.counts.values())

    @property
    def evidence(self) -> int:
        """Number of results that say something about the policy: the denominator of `mean_reward` and of the policy
        statuses' rates."""
        return sum(count for status, count in self.counts.items() if status.is_evidence)

    @property
    def mean_reward(self) -> float | None:
        """Mean over evidence; None when there is none."""
        return self.counts[Status.VERIFIED] / self.evidence if self.evidence else None

    def denominator(self, status: Status) -> int:
        """Evidence for the policy's statuses; all results for the two that are none."""
        return self.evidence if status.is_evidence else self.total

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "counts": {status.value: self.counts[status] for status in Status},
            "total": self.total,
            "evidence": self.evidence,
            "mean_reward": self.mean_reward,
            "goals": self.goals,
            "goals_solved": self.goals_solved,
            "leaf_attempts": self.leaf_attempts,
            "kernels": list(self.kernels),
            "errors": [{"detail": detail, "count": count} for detail, count in self.errors],
        }


def summarise(rows: Iterable[Mapping[str, Any]]) -> Summary:
    """The summary of rows of a results file."""
    counts: Counter[Status] = Counter()
    tried: set[str] = set()
    solved: set[str] = set()
    kernels: set[str] = set()
    errors: Counter[str] = Counter()
    attempts = 0
    for row in rows:
        status = Status(row["status"])
        counts[status] += 1
        attempts += row["leaf_attempts_used"]
        if status.is_evidence:
            tried.add(row["goal_id"])
        if status is Status.VERIFIED:
            solved.add(row["goal_id"])
        if status is Status.ERROR:
            errors[row["detail"]] += 1
        if row["kernel"] is not None:
            kernels.add("{kernel} Lean {lean_version} {environment}".format(**row["kernel"]))
    return Summary(
        counts={status: counts[status] for status in Status},
        goals=len(tried),
        goals_solved=len(solved),
        leaf_attempts=attempts,
        kernels=tuple(sorted(kernels)),
        errors=tuple(sorted(errors.items(), key=lambda item: (-item[1], item[0]))),
    )


def print_summary(summary: Summary, console: Console) -> None:
    """The final table, and below it the figures that belong to no status."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    table.add_column("status")
    table.add_column("results", justify="right")
    table.add_column("rate", justify="right")
    table.add_column("of")
    for status in Status:
        count, denominator = summary.counts[status], summary.denominator(status)
        rate = f"{count / denominator:.1%}" if denominator else "-"
        of = f"{denominator} {'evidence' if status.is_evidence else 'results'}"
        style = "green" if status is Status.VERIFIED else "red" if status is Status.ERROR and count else None
        table.add_row(status.value, str(count), rate, of, style=style)
    console.print(table)
    for line in figures(summary):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def figures(summary: Summary) -> list[str]:
    """The lines below the table."""
    mean = "-" if summary.mean_reward is None else f"{summary.mean_reward:.4f}"
    excluded = summary.total - summary.evidence
    lines = [
        f"mean reward    {mean} over {summary.evidence} results that are evidence ({excluded} of {summary.total} not)",
        f"goals solved   {summary.goals_solved} of the {summary.goals} that have such results",
        f"leaf attempts  {summary.leaf_attempts} charged in {summary.total} results",
    ]
    lines += [f"kernel         {kernel}" for kernel in summary.kernels]
    lines += [f"errors say     {count} × {detail}" for detail, count in summary.errors[:SHOWN_ERRORS]]
    if len(summary.errors) > SHOWN_ERRORS:
        lines.append(f"errors say     and {len(summary.errors) - SHOWN_ERRORS} other kinds")
    if len(summary.kernels) > 1:
        lines.append("warning: the results come from more than one kernel; their rates should not be mixed")
    return lines


def dumps(summary: Summary) -> str:
    """The summary as one line of JSON."""
    return json.dumps(summary.to_json())
