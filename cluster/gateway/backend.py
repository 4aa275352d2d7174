"""What the gateway needs of a scheduler. Implemented by the scheduler actor, in its own process, and in tests by a
kernel without any Ray.
"""

from __future__ import annotations

from typing import Protocol

from cluster.api import Caller, ClusterStatus, ScoreRequest
from cluster.caps import AccountStatus, Caps
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.types import EpisodeResult

__all__ = ["Backend", "Caller"]


class Backend(Protocol):
    """Judges completions and checks sources. Cancelling a call ends its work."""

    async def judge(self, request: ScoreRequest, caller: Caller) -> EpisodeResult:
        """A verdict; never `Status.ERROR`. The same request id and request again: the same verdict, at no charge.

        Raises `InputError` for a request (or a goal) that cannot be judged as it is, `Refused` when a queue is full or
        a cap is spent, `Unavailable` for infrastructure trouble.
        """
        ...

    async def recall(self, request_id: str, client: str) -> EpisodeResult | None:
        """The verdict of a request that a client made before, in an earlier life of the gateway too, waited for if it
        is under way; None when there was none. Raises as `judge` does.
        """
        ...

    async def check(
        self, source: Source, *, timeout_s: float, caller: Caller, kernel: str = "", memory: str = ""
    ) -> CheckResult:
        """What Lean says of a source. `kernel`, `memory`: see `ScoreRequest`. Raises as `judge` does."""
        ...

    def lean(self, text: str, where: str, kernel: str = "") -> str:
        """A Lean file's text for that kernel: without its header, every position kept. Raises `InputError` (field
        `where`) for an import that the kernel lacks.
        """
        ...

    async def open_run(self, run: str, caps: Caps, client: str) -> AccountStatus:
        """Open a client's run, or give an open one other caps."""
        ...

    async def close_run(self, run: str, client: str) -> AccountStatus:
        """Let nothing further begin in it. Raises `InputError` when it is unknown."""
        ...

    async def account(self, client: str, run: str | None) -> AccountStatus:
        """What a run, or a client as a whole, has spent. Raises `InputError` when it is unknown."""
        ...

    async def set_client_caps(self, client: str, caps: Caps | None) -> None:
        """Caps on all that a client does, None: none; what it has spent stays."""
        ...

    async def status(self) -> ClusterStatus:
        """A snapshot; asked often."""
        ...
