"""What the book of checks (state.py) is told, and what it answers: plain data, no ray, no clock, no I/O."""

from __future__ import annotations

from dataclasses import dataclass

from cluster.caps import AccountKey
from cluster.verdict_cache import Outcome
from rlmath.errors import RlmathError
from rlmath.kernel.protocol import Source


@dataclass(frozen=True, slots=True)
class CheckJob:
    """One check that a request wants."""

    id: int
    """Unique in the scheduler's life, ascending."""
    source: Source
    timeout_s: float
    reference: Source | None = None
    """Set: the check is to be certified against it, and its result is a `Certificate`."""
    environment: str = ""
    """The kind of worker that has to make it (kinds.py): only workers of this environment do."""
    larger: str | None = None
    """The environment in which it is tried once more when it died of memory; None: then that is its result."""
    key: bytes | None = None
    """`verdict_cache.check_key`; None: shared with no other check."""
    client: str = ""
    weight: float = 1.0
    """The client's share of the kernel beside others."""
    priority: int = 0
    """Among the client's own checks; higher goes first."""
    order: int = 0
    """Then lower goes first: the number of the request that asked."""
    accounts: tuple[AccountKey, ...] = ()
    """Whose kernel time it is."""
    most_us: int = 0
    """Microseconds of kernel time that it can cost at most."""
    deadline_s: float | None = None
    """Seconds from now within which it has to be answered."""
    request: str = ""
    """Id of the request that wants it, for the logs."""


# Events


@dataclass(frozen=True, slots=True)
class Submitted:
    """A request wants a check."""

    job: CheckJob


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Whoever wanted the check does not want it any more: it is never settled."""

    job_id: int


@dataclass(frozen=True, slots=True)
class Expired:
    """The time within which a check had to be answered is over."""

    job_id: int


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """A worker takes checks. Each life of a worker has an id of its own: late news of an earlier life is told apart."""

    worker: str
    slots: int
    environment: str = ""


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker is gone and whatever it had may or may not have run."""

    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class WorkerDraining:
    """A worker is to take no more checks: it ends what it runs, then comes `Drained`."""

    worker: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A worker answered a check: with a result, with an error, or (both None) with word that it was stopped as told."""

    worker: str
    job_id: int
    result: Outcome | None = None
    error: RlmathError | None = None
    killed: bool = False
    """The worker's kernel died while the check ran there."""


@dataclass(frozen=True, slots=True)
class PauseOver:
    """The pause before a check's next attempt is over."""

    job_id: int


@dataclass(frozen=True, slots=True)
class NoWorkers:
    """No worker of an environment is ready and none is coming."""

    reason: str
    environment: str = ""


@dataclass(frozen=True, slots=True)
class CapsChanged:
    """Accounts were given other caps: what waits for room there may have it now."""


Event = (
    Submitted
    | Cancelled
    | Expired
    | WorkerReady
    | WorkerLost
    | WorkerDraining
    | Answered
    | PauseOver
    | NoWorkers
    | CapsChanged
)


# Instructions


@dataclass(frozen=True, slots=True)
class Send:
    """Give the check to the worker."""

    worker: str
    job: CheckJob


@dataclass(frozen=True, slots=True)
class Stop:
    """Tell the worker to end the check; it still answers it."""

    worker: str
    job_id: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Report `PauseOver` after so many seconds."""

    job_id: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Alarm:
    """Report `Expired` after so many seconds, unless the check is settled or cancelled by then."""

    job_id: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Settle:
    """The check is done: exactly one of `result` and `error` is set."""

    job_id: int
    result: Outcome | None = None
    error: RlmathError | None = None


@dataclass(frozen=True, slots=True)
class Charge:
    """The accounts of a request were charged for a check that gave a result."""

    order: int
    """Of the request's job whose turn it was: `CheckJob.order`."""
    accounts: tuple[AccountKey, ...]
    kernel_us: int
    """Microseconds."""


@dataclass(frozen=True, slots=True)
class Drained:
    """The draining worker has nothing left and is forgotten."""

    worker: str


Instruction = Send | Stop | Pause | Alarm | Settle | Charge | Drained
