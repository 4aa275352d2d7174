"""What the book of checks has counted since it was made. Nothing here decides anything."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """Counts that only grow."""

    done: int = 0
    """Results that workers gave."""
    retries: int = 0
    """Attempts made after a failure."""
    cache_hits: int = 0
    """Jobs settled by a result known before."""
    shared: int = 0
    """Jobs that joined a run under way."""
    poisoned: int = 0
    """Runs given up because workers died under them."""
    moved: int = 0
    """Runs that died of memory and were tried again where there is more."""
    caps_hit: int = 0
    """Jobs refused because an account has too little kernel time left."""
