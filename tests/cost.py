"""What an action costs, for tests that compare two costs with one another."""

from __future__ import annotations

import time
from collections.abc import Callable

NOISE_S = 2e-3
"""CPU seconds below which a measurement says nothing."""


def cpu_seconds(action: Callable[[], object], repeat: int = 3) -> float:
    """The least CPU time of this process that the action took in `repeat` runs: other load hardly counts."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return best


def grows_linearly(small: Callable[[], object], tenfold: Callable[[], object]) -> bool:
    """Whether ten times the input costs at most twenty times as much (a quadratic algorithm: a hundred times)."""
    return cpu_seconds(tenfold, 2) <= 20 * max(cpu_seconds(small), NOISE_S)
