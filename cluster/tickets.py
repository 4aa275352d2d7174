"""For whom a check is made: what the scheduler knows of a request and each of its checks carries along."""

from __future__ import annotations

from dataclasses import dataclass

from cluster.api import Caller
from cluster.caps import AccountKey
from cluster.kinds import WorkerKind


@dataclass(frozen=True)
class Ticket:
    """One request that is being judged."""

    number: int
    """Unique in the scheduler's life; earlier requests have lower ones."""
    caller: Caller
    kind: WorkerKind
    """Who is to make its checks."""
    larger: WorkerKind | None = None
    """Who is to try once more what died of memory there."""
    accounts: tuple[AccountKey, ...] = ()
    """Whose caps its work counts against."""
    request_id: str = ""

    @property
    def scope(self) -> str:
        """Checks are shared within it. No client's name can be another's scope."""
        return "shared" if self.caller.shared_cache else f"client {self.caller.client}"
