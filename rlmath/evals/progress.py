"""Live progress of a run on stderr: a bar on a terminal, a line every few seconds off it."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from rlmath.types import Status

if TYPE_CHECKING:
    from rich.progress import Progress as RichBar

EVERY_S = 5.0
"""Seconds between two plain lines."""


class Progress(Protocol):
    """Where a run tells how far it is."""

    def start(self, total: int, done: Counter[Status]) -> None:
        """`total` results are wanted; `done` were there before this session."""
        ...

    def advance(self, statuses: list[Status]) -> None:
        """Results with these statuses are on disk."""
        ...

    def close(self) -> None:
        """The run is over, or interrupted."""
        ...


def make_progress() -> Progress:
    """The one that fits stderr."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()


def _short_tally(counts: Counter[Status]) -> str:
    """What fits beside a bar."""
    evidence = sum(count for status, count in counts.items() if status.is_evidence)
    told = f"verified {counts[Status.VERIFIED]} of {evidence}"
    return told + "".join(f"  {s.value} {counts[s]}" for s in Status if not s.is_evidence and counts[s])


def _tally(counts: Counter[Status]) -> str:
    return "  ".join(f"{status.value} {counts[status]}" for status in Status if counts[status])


class LineProgress:
    """Plain lines, at most one in `every_s` seconds, and one at the end."""

    def __init__(self, every_s: float = EVERY_S) -> None:
        self._every_s = every_s
        self._counts: Counter[Status] = Counter()
        self._total = self._before = 0
        self._started = self._printed = time.monotonic()

    def start(self, total: int, done: Counter[Status]) -> None:
        self._counts, self._total, self._before = done.copy(), total, done.total()
        self._started = self._printed = time.monotonic()

    def advance(self, statuses: list[Status]) -> None:
        self._counts.update(statuses)
        if time.monotonic() - self._printed >= self._every_s:
            self._print()

    def close(self) -> None:
        self._print()

    def _print(self) -> None:
        self._printed = time.monotonic()
        done, elapsed = self._counts.total(), self._printed - self._started
        rate = (done - self._before) / elapsed if elapsed > 0 else 0.0
        left = f", {(self._total - done) / rate:.0f} s left" if rate > 0 and done < self._total else ""
        print(f"{done}/{self._total} results, {rate:.1f}/s{left}: {_tally(self._counts)}", file=sys.stderr, flush=True)


class BarProgress:
    """A rich progress bar with the verdicts beside it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._bar: RichBar = Progress(
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[tally]}"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task("results", total=None, tally="")
        self._counts: Counter[Status] = Counter()

    def start(self, total: int, done: Counter[Status]) -> None:
        self._counts = done.copy()
        self._bar.start()
        self._bar.update(self._task, total=total, completed=done.total(), tally=_short_tally(done))

    def advance(self, statuses: list[Status]) -> None:
        self._counts.update(statuses)
        self._bar.update(self._task, advance=len(statuses), tally=_short_tally(self._counts))

    def close(self) -> None:
        self._bar.stop()
