"""How often a failure of infrastructure is tried again, and after what pause. (Which failures those are:
`cluster.failures`.)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RetryPolicy:
    """At most `attempts` tries in all, with pauses that double from `first_pause_s` up to `longest_pause_s`."""

    attempts: int = 4
    first_pause_s: float = 0.1
    longest_pause_s: float = 5.0

    def pause_s(self, failures: int) -> float:
        """Seconds to wait after the `failures`-th failure (1-based)."""
        return min(self.longest_pause_s, self.first_pause_s * 2.0 ** min(failures - 1, 30))
