"""What the gateway needs of a scheduler. Implemented by the scheduler actor, in its own process, and in tests by a
kernel without any Ray.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cluster.api import ClusterStatus, ScoreRequest
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.types import EpisodeResult


@dataclass(frozen=True)
class Caller:
    """On whose behalf work is done."""

    client: str
    """Name of the tenant: no work, verdict or cache entry is shared with another one."""
    weight: float = 1.0
    """Share of the kernel beside other clients that have work waiting."""
    priority: int = 0
    """Among this client's own requests; higher goes first."""
    run: str | None = None
    """The run whose caps the work is charged to."""
    shared_cache: bool = False
    """Verdicts that others with the same setting have paid for may be used, and the other way round."""


class Backend(Protocol):
    """Judges completions and checks sources. Cancelling a call ends its work."""

    async def judge(self, request: ScoreRequest, caller: Caller) -> EpisodeResult:
        """A verdict; never `Status.ERROR`. The same request id and request again: the same verdict, at no charge.

        Raises `InputError` for a request (or a goal) that cannot be judged as it is, `Unavailable` for infrastructure
        trouble.
        """
        ...

    async def check(self, source: Source, *, timeout_s: float, caller: Caller) -> CheckResult:
        """What Lean says of a source. Raises as `judge` does."""
        ...

    async def status(self) -> ClusterStatus:
        """A snapshot; asked often."""
        ...
