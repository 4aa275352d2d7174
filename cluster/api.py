"""What travels between a client and the scheduler: plain frozen data, importable without ray."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import TypeAdapter

from rlmath.errors import InputError
from rlmath.leaf.config import LeafConfig, OpenAILeaf, RecordedLeaf, TacticsLeaf
from rlmath.types import Budgets, EpisodeResult, GoalSpec, KernelIdentity, Status

_LEAF: TypeAdapter[LeafConfig] = TypeAdapter(LeafConfig)
_PARTS: dict[str, tuple[tuple[type, ...], str]] = {
    "request_id": ((str,), "a string"),
    "goal": ((GoalSpec,), "a GoalSpec, as GoalSpec(id='g', prop='∀ n : Nat, n = n')"),
    "completion": ((str, bytes), "the policy's text"),
    "budgets": ((Budgets,), "a Budgets, as Budgets(max_lemmas=4)"),
    "leaf": ((TacticsLeaf, OpenAILeaf, RecordedLeaf), "a TacticsLeaf, OpenAILeaf or RecordedLeaf"),
    "recorded": ((Mapping, type(None)), "a mapping of lemma names to proof texts"),
    "kernel": ((str,), "the name of a kernel"),
    "memory": ((str,), "the name of a memory class"),
}


def check_parts(parts: Mapping[str, object]) -> None:
    """Raises `InputError` for a part of a request that has the wrong type: here, where its author is, and not from
    inside an actor or a server.
    """
    for name, value in parts.items():
        kinds, wanted = _PARTS[name]
        if not isinstance(value, kinds):
            raise InputError(name, f"must be {wanted}, got {type(value).__name__}")
    if parts["request_id"] == "":
        raise InputError("request_id", "must not be empty")
    recorded = parts["recorded"]
    for lemma, proofs in recorded.items() if isinstance(recorded, Mapping) else ():
        texts = (proofs,) if isinstance(proofs, str) else proofs
        if not (
            isinstance(lemma, str) and isinstance(texts, Sequence) and all(isinstance(text, str) for text in texts)
        ):
            raise InputError("recorded", f"{lemma!r} must be a lemma's name with a proof text or a list of them")


@dataclass(frozen=True)
class ScoreRequest:
    """One completion to be judged."""

    request_id: str
    """Makes the call idempotent: the same id asked again gets the same verdict and runs nothing."""
    goal: GoalSpec
    completion: str | bytes
    """The policy's reply, verbatim. Bytes that are not UTF-8 are no plan."""
    budgets: Budgets = field(default_factory=Budgets)
    leaf: LeafConfig = field(default_factory=TacticsLeaf)
    """Which leaf prover attempts the lemmas."""
    recorded: Mapping[str, str | Sequence[str]] | None = None
    """Lemma name to proof text (or texts, one an attempt); for the recorded leaf only."""
    kernel: str = ""
    """Name of the kernel that is to judge; empty: the cluster's first."""
    memory: str = ""
    """Memory class of its checks; empty: the smallest. What dies of memory is tried once in the next class up."""

    def __post_init__(self) -> None:
        check_parts(vars(self))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types; the inverse of `from_json`."""
        text = self.completion
        return {
            "request_id": self.request_id,
            "goal": asdict(self.goal),
            "completion": text if isinstance(text, str) else {"base64": base64.b64encode(text).decode()},
            "budgets": asdict(self.budgets),
            "leaf": self.leaf.model_dump(mode="json"),
            "recorded": None if self.recorded is None else dict(self.recorded),
            "kernel": self.kernel,
            "memory": self.memory,
        }

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> ScoreRequest:
        """Rebuild a request from `to_json()`'s output."""
        text = row["completion"]
        return cls(
            request_id=row["request_id"],
            goal=GoalSpec(**row["goal"]),
            completion=text if isinstance(text, str) else base64.b64decode(text["base64"]),
            budgets=Budgets(**row["budgets"]),
            leaf=_LEAF.validate_json(json.dumps(row["leaf"])),
            recorded=row["recorded"],
            kernel=row.get("kernel", ""),
            memory=row.get("memory", ""),
        )

    def fingerprint(self) -> str:
        """Digest of everything but the id: two requests with one id must agree in it."""
        body: dict[str, Any] = {
            "goal": asdict(self.goal),
            "completion": [type(self.completion).__name__, _digest(self.completion)],
            "budgets": asdict(self.budgets),
            "leaf": self.leaf.model_dump(mode="json"),
            "recorded": None if self.recorded is None else {k: _texts(v) for k, v in self.recorded.items()},
        }
        # Left out where they are the default: journals know fingerprints from before there was a choice.
        body |= {name: value for name, value in (("kernel", self.kernel), ("memory", self.memory)) if value}
        return _digest(json.dumps(body, sort_keys=True))


@dataclass(frozen=True)
class Caller:
    """On whose behalf work is done."""

    client: str = ""
    """Name of the tenant: no work, verdict or cache entry is shared with another one."""
    weight: float = 1.0
    """Share of the kernel beside other clients that have work waiting."""
    priority: int = 0
    """Among this client's own requests; higher goes first."""
    run: str | None = None
    """The run whose caps the work is charged to."""
    shared_cache: bool = False
    """Verdicts that others with the same setting have paid for may be used, and the other way round."""

    def __post_init__(self) -> None:
        if not 0 < self.weight < math.inf:
            raise InputError("weight", f"must be a number above 0, got {self.weight}")


def _digest(text: str | bytes) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text).hexdigest()


def _texts(proofs: str | Sequence[str]) -> list[str]:
    return [proofs] if isinstance(proofs, str) else list(proofs)


def error_result(goal: GoalSpec, detail: str) -> EpisodeResult:
    """The result of a request that infrastructure (or a broken goal) kept from a verdict: `Status.ERROR`, no reward."""
    return EpisodeResult(goal_id=goal.id, status=Status.ERROR, detail=detail)


@dataclass(frozen=True)
class WorkerStatus:
    """One `LeanWorker` as the scheduler sees it."""

    node: str
    """Ray's node id, shortened."""
    state: str
    """`starting`, `ready`, `lost` (a new one is on its way), `refused` (it could not start; see `detail`) or `draining`
    (it ends what it runs, and goes).
    """
    slots: int
    in_flight: int
    pid: int | None = None
    """Of the actor's process."""
    image_pid: int | None = None
    """Of the warm image it owns."""
    checks: int = 0
    """Results that its kernel gave, as of its last pulse."""
    starts: int = 0
    """How often it became ready."""
    detail: str = ""
    """Why it is lost or refused."""
    environment: str = ""
    """Its kernel's name and its memory class (`cluster.kinds`)."""
    renewals: int = 0
    """Fresh kernels that took over without a pause."""
    image_bytes: int = 0
    """Resident memory of the image, as of its last pulse."""
    number: int = 0
    """Its own as long as the scheduler lives, over all its starts."""


@dataclass(frozen=True)
class ClusterStatus:
    """A snapshot of the scheduler."""

    workers: tuple[WorkerStatus, ...]
    kernel: KernelIdentity | None
    """None until a worker is ready."""
    queued: int
    """Checks that wait for a worker."""
    in_flight: int
    """Checks that a worker has."""
    requests_running: int
    requests_waiting: int
    """Accepted, but not begun: the bound on running requests is reached."""
    requests_done: int
    checks_done: int
    retries: int
    """Checks sent once more after an infrastructure failure."""
    cache_hits: int = 0
    """Checks whose result was known."""
    checks_shared: int = 0
    """Checks that joined an identical one under way."""
    checks_poisoned: int = 0
    """Checks given up because workers died under them."""
    checks_moved: int = 0
    """Checks that died of memory and were tried again with more of it."""
    kernels: Mapping[str, KernelIdentity] = field(default_factory=dict)
    """By name, those of which a worker was ready; `kernel` is the default one."""
    oldest_request_s: float = 0.0
    """Age of the oldest request that is not answered."""
    scaled: bool = False
    """Workers come and go with demand: that there are none is no fault."""

    @property
    def ready(self) -> int:
        """How many workers take checks."""
        return sum(w.state == "ready" for w in self.workers)

    @property
    def settled(self) -> bool:
        """True when no worker is starting: each is ready or has refused."""
        return all(w.state in ("ready", "refused") for w in self.workers)


@dataclass(frozen=True)
class WarmUp:
    """What a `progress` callback of `LocalCluster` is told while the cluster comes up."""

    stage: str
    """`ray`, `workers` or `ready`."""
    elapsed_s: float
    ready: int = 0
    total: int = 0
    detail: str = ""

    def __str__(self) -> str:
        of = f" {self.ready}/{self.total}" if self.total else ""
        return f"[{self.elapsed_s:5.1f}s] {self.stage}{of}{': ' if self.detail else ''}{self.detail}"


@dataclass(frozen=True)
class ClusterSettings:
    """Limits of the scheduler. The defaults suit one machine as well as a hundred."""

    max_running: int = 256
    """Requests judged at the same time; further ones wait their turn (`cluster.admission`)."""
    max_waiting: int = 100_000
    """Requests that may wait beside those; one more is refused with `QueueFull`."""
    check_deadline_s: float | None = 3_600.0
    """Within so many seconds of being asked for, a check is answered or counts as lost to infrastructure."""
    cached_checks: int = 50_000
    """Results of checks kept for identical ones; 0: none."""
    attempts: int = 4
    """How often a check is tried before infrastructure trouble becomes `Status.ERROR`."""
    start_attempts: int = 3
    """How often in a row a worker's kernel may fail to start, once it did start, before the worker counts as refused.
    """
    absence_s: float = 60.0
    """How long checks wait for a worker whose process is gone and does not come back, when there is no other."""
    start_timeout_s: float = 900.0
    """For one start of a worker; the first on a machine may have to build the kernel's library."""
    ping_period_s: float = 2.0
    ping_timeout_s: float = 15.0
    """A worker that has not answered a ping for so long is killed and replaced."""
    kernel_grace_s: float = 30.0
    """How far beyond its deadline a check may be answered before the kernel counts as stuck and is replaced."""
    renew_checks: int = 100_000
    """After so many results a worker's kernel is replaced by a fresh one, without a pause."""
    renew_growth_bytes: int = 1 << 30
    """And when its image has grown by so much resident memory."""
    direct_line: bool = True
    """Whether the scheduler opens a TCP connection of its own to each worker (`cluster.line`): to a port that the
    worker's system chooses, on the address that Ray has for its node. Off, where that port cannot be reached, and with
    `RAY_USE_TLS`, checks go by calls of Ray, which cost more CPU.
    """
    require_isolation: bool = False
    """Whether a worker refuses to start on a machine that cannot isolate checks fully (`EmbeddedKernel`)."""
    remembered: int = 20_000
    """Verdicts kept in memory for requests that are asked again; the journal keeps more."""
    ledger_rows: int = 1_000_000
    """Verdicts that the journal keeps, besides those of open runs."""
    ledger_age_s: float = 30 * 86_400.0
    """How long it keeps them."""

    def __post_init__(self) -> None:
        for name in (
            "max_running",
            "max_waiting",
            "attempts",
            "start_attempts",
            "remembered",
            "ledger_rows",
            "renew_checks",
        ):
            if getattr(self, name) < 1:
                raise InputError(f"settings.{name}", f"must be at least 1, got {getattr(self, name)}")
