"""One client of the gateway: what it may do, how fast, and how much of it at once."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from cluster.caps import Caps
from cluster.gateway.backend import Caller
from cluster.gateway.problems import FORBIDDEN, QUEUE_FULL, RATE, RETRY_AFTER_S, Problem

RECENT = 50
"""Verdicts that the status page shows."""


@dataclass(frozen=True)
class TenantLimits:
    """What one client is allowed."""

    rate_per_s: float | None = None
    """Requests (items of a batch, snippets) a second; None: no limit."""
    burst: int = 100
    """Requests that may come at once before the rate tells."""
    max_open: int | None = None
    """Requests accepted and not answered; None: the server's own limit only."""
    weight: float = 1.0
    """See `Caller.weight`."""
    max_priority: int = 0
    """Highest priority that its requests may ask for."""
    shared_cache: bool = False
    """See `Caller.shared_cache`."""
    caps: Caps | None = None
    """Caps on all it does; None: none."""
    sources: bool = True
    """May check Lean sources of its own, not only completions and proofs: those run what they like inside a check's
    confinement."""


@dataclass(frozen=True)
class Recent:
    """One verdict, as the status page shows it."""

    request_id: str
    what: str
    """The goal's id, or `check`."""
    status: str
    seconds: float
    at: float
    """Unix time."""


@dataclass
class Tenant:
    """A client while the gateway lives. Its limits may be replaced when the key file changes."""

    name: str
    limits: TenantLimits = field(default_factory=TenantLimits)
    clock: Callable[[], float] = time.monotonic
    open: int = 0
    """Requests accepted and not answered."""
    caps_told: tuple[Caps | None] | None = None
    """What the scheduler was told of its caps last; None: nothing yet, and its journal may know others."""
    recent: deque[Recent] = field(default_factory=lambda: deque(maxlen=RECENT))
    _tokens: float | None = field(default=None, init=False)
    _filled_at: float = field(default=0.0, init=False)

    def caller(self, *, priority: int = 0, run: str | None = None) -> Caller:
        """For the scheduler. Raises `Problem` for a priority that the key does not allow."""
        if priority > self.limits.max_priority:
            raise Problem(
                FORBIDDEN,
                f"priority: {priority} is above this key's ceiling of {self.limits.max_priority}",
                members={"field": "priority"},
            )
        return Caller(self.name, self.limits.weight, priority, run, self.limits.shared_cache)

    def delay_s(self) -> float:
        """Seconds until the rate allows one more request."""
        rate = self.limits.rate_per_s
        return 0.0 if rate is None else max(0.0, (1.0 - self._fill(rate)) / rate)

    def take(self) -> None:
        """Count one request against the rate. Raises `Problem` with the time to wait."""
        rate = self.limits.rate_per_s
        if rate is None:
            return
        delay = self.delay_s()
        if delay > 0:
            raise Problem(RATE, f"this key allows {rate:g} requests a second", delay, {"rate_per_s": rate})
        self._tokens = self._fill(rate) - 1.0

    def check_room(self) -> None:
        """Raises `Problem` when the client has as many open requests as it may."""
        most = self.limits.max_open
        if most is not None and self.open >= most:
            raise Problem(
                QUEUE_FULL,
                f"{self.open} requests of this key are open, and at most {most} may be",
                RETRY_AFTER_S,
                {"queue_length": self.open},
            )

    def _fill(self, rate: float) -> float:
        """The tokens there are now, at most `burst`."""
        now, most = self.clock(), float(self.limits.burst)
        had = most if self._tokens is None else self._tokens + (now - self._filled_at) * rate
        self._tokens, self._filled_at = min(most, had), now
        return self._tokens
