"""How many workers follow demand: a pure rule. No ray, no I/O; who asks says what time it is.

Workers that are asked for wait at Ray until a node has room for them, and it is they that make Ray's autoscaler start
one; a node whose last worker was drained and killed idles, and is stopped by it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from rlmath.errors import InputError


@dataclass(frozen=True)
class Autoscale:
    """Bounds of the workers of one kind."""

    worker_slots: int
    """Checks at the same time at one worker; it takes up as many of a node's `lean`."""
    max_workers: int
    min_workers: int = 0
    """Kept warm even when there is nothing to do."""
    idle_s: float = 300.0
    """So long fewer workers have to be enough, before the surplus is drained. Well above what it takes to warm one."""

    def __post_init__(self) -> None:
        if self.worker_slots < 1:
            raise InputError("autoscale.worker_slots", f"must be at least 1, got {self.worker_slots}")
        if not 0 <= self.min_workers <= self.max_workers or not self.max_workers:
            told = f"{self.min_workers} and {self.max_workers}"
            raise InputError("autoscale.max_workers", f"must be at least 1, and at least min_workers; got {told}")
        if not 0 <= self.idle_s < math.inf:
            raise InputError("autoscale.idle_s", f"must be seconds of at least 0, got {self.idle_s}")


def demand_driven(slots: int | None, max_workers: int | None, idle_s: float) -> Autoscale | None:
    """What a command line or a config asks for; None: no such thing. Raises `InputError`."""
    if max_workers is None:
        return None
    if slots is None:
        raise InputError("slots", "must be given with max_workers: how many checks a worker makes at once")
    return Autoscale(slots, max_workers, idle_s=idle_s)


@dataclass(frozen=True)
class Seat:
    """One worker that is not leaving, as the rule sees it."""

    index: int
    ready: bool
    load: int
    """Checks that it has."""


@dataclass(frozen=True)
class Decision:
    """What is to be done now."""

    start: int = 0
    """Workers to be asked for."""
    drain: tuple[int, ...] = ()
    """Indices of workers that are to go: those that never came first, then those with the least to do."""


class Scaler:
    """The rule for one kind of worker, with its memory of what was needed lately."""

    def __init__(self, policy: Autoscale) -> None:
        self._policy = policy
        self._needed: deque[tuple[float, int]] = deque()
        """When, and how many: those that none later exceeds, so the first is the most of the last `idle_s`."""
        self._since: float | None = None
        """When the memory begins."""

    def decide(self, now: float, demand: int, seats: Sequence[Seat]) -> Decision:
        """`now`: seconds, of a clock that never goes back. `demand`: checks that wait or run. `seats`: all workers but
        those that leave.
        """
        policy = self._policy
        needed = min(max(math.ceil(demand / policy.worker_slots), policy.min_workers), policy.max_workers)
        self._since = now if self._since is None else self._since
        while self._needed and self._needed[-1][1] <= needed:
            self._needed.pop()
        self._needed.append((now, needed))
        while self._needed[0][0] < now - policy.idle_s:
            self._needed.popleft()
        if needed > len(seats):
            return Decision(start=needed - len(seats))
        surplus = len(seats) - self._needed[0][1]
        if surplus <= 0 or now - self._since < policy.idle_s:
            return Decision()
        first = sorted(seats, key=lambda seat: (seat.ready, seat.load, -seat.index))
        return Decision(drain=tuple(seat.index for seat in first[:surplus]))
