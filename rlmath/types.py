"""The frozen contracts: goals, plans, budgets, statuses and results. No logic beyond properties; no I/O.

Wire half: everything here is plain data with `to_json()` where it travels. Behaviour lives in `plan`, `source`,
`sanitize` and `episode`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from rlmath.errors import InputError


class Status(StrEnum):
    """The verdict of one completion. The first failing stage names it; buckets are never shared."""

    VERIFIED = "verified"
    """Kernel-checked and axiom-audited."""
    FORMAT_ERROR = "format_error"
    """The completion is not a plan, or a lemma name is not allowed (it collides with the goal, is reserved, …)."""
    SANITIZER_REJECTED = "sanitizer_rejected"
    """A banned token or construct, more than one declaration, or an axiom outside the whitelist."""
    STATEMENT_ILL_FORMED = "statement_ill_formed"
    """A lemma statement does not elaborate."""
    PLAN_INVALID = "plan_invalid"
    """The assembly fails even when all lemmas are granted."""
    LEAF_FAILED = "leaf_failed"
    """The plan is valid but a lemma resisted the leaf prover."""
    COMPOSE_FAILED = "compose_failed"
    """Plan and leaves passed, the spliced theorem did not. Rare; always worth a look."""
    BUDGET_EXHAUSTED = "budget_exhausted"
    """A hard cap was hit: too many lemmas, or no leaf attempts left."""
    CONTEXT_WINDOW_EXCEEDED = "context_window_exceeded"
    """The policy's prompt or completion did not fit its window: feasibility, excluded from means."""
    ERROR = "error"
    """Infrastructure: not evidence, re-run the sample."""

    @property
    def is_evidence(self) -> bool:
        """True iff the status says something about the policy and so has a reward."""
        return self not in (Status.CONTEXT_WINDOW_EXCEEDED, Status.ERROR)

    @property
    def reward(self) -> float | None:
        """1.0 iff verified, 0.0 for every other policy status, None where there is no evidence."""
        if not self.is_evidence:
            return None
        return 1.0 if self is Status.VERIFIED else 0.0


@dataclass(frozen=True)
class Budgets:
    """Hard caps on one episode. They are caps, not penalties: reaching one is `budget_exhausted`."""

    max_lemmas: int = 8
    """Most lemmas a plan may have."""
    leaf_attempts_per_lemma: int = 4
    """Attempts numbered 0..k-1 that a lemma may use."""
    max_total_leaf_attempts: int = 64
    """Attempts that all lemmas of the plan may use together."""
    verify_timeout_s: float = 120.0
    """Wall-clock seconds of one kernel check."""

    def __post_init__(self) -> None:
        for name in ("max_lemmas", "leaf_attempts_per_lemma", "max_total_leaf_attempts"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(f"budgets.{name}", f"must be a whole number of at least 0, got {value!r}")
        timeout = self.verify_timeout_s
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= 86_400:
            raise InputError("budgets.verify_timeout_s", f"must be seconds between 0 and 86400, got {timeout!r}")


@dataclass(frozen=True)
class GoalSpec:
    """What is to be proved. Everything in it comes from the task's author and is trusted."""

    id: str
    """Unique in its bank."""
    prop: str
    """A closed Lean proposition."""
    name: str = "goal"
    """The declaration name that the proof must carry."""
    context: str = ""
    """Lean declarations that `prop` speaks of; elaborated before it."""

    def __post_init__(self) -> None:
        for name in ("id", "prop", "name", "context"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise InputError(f"goal.{name}", f"must be a string, got {type(value).__name__}")
            if name != "context" and not value.strip():
                raise InputError(f"goal.{name}", "must not be empty")


@dataclass(frozen=True)
class Lemma:
    """One `#lemma` line of a plan."""

    name: str
    prop: str


@dataclass(frozen=True)
class Plan:
    """A parsed completion: lemmas in their order and the assembly's text, verbatim, lines joined by `\\n`, no final
    newline."""

    lemmas: tuple[Lemma, ...]
    assembly: str


@dataclass(frozen=True)
class KernelIdentity:
    """Which kernel gave a verdict: enough to tell two verdicts' environments apart."""

    kernel: str
    """`embedded`, `repl`, `kimina` or `toolchain`; with ` (unaudited)` when no audit stands behind its verdicts."""
    lean_version: str
    """E.g. `4.35.0`."""
    environment: str
    """E.g. `prelude@1f2e3d` or `mathlib@<rev>`."""

    def __str__(self) -> str:
        return f"{self.kernel} Lean {self.lean_version} {self.environment}"


class LemmaStatus(StrEnum):
    """What became of one lemma, as a sequential run would have seen it."""

    PROVED = "proved"
    FAILED = "failed"
    """All its attempts were used and none was accepted."""
    EXHAUSTED = "exhausted"
    """The plan's total of leaf attempts ran out on it."""
    UNTRIED = "untried"
    """An earlier lemma failed, so a sequential run never came here."""


@dataclass(frozen=True)
class LemmaOutcome:
    """One lemma's account. `attempts_used` is what is charged: winner + 1, or all that were tried."""

    name: str
    prop: str
    status: LemmaStatus
    attempts_used: int = 0
    winner: int | None = None
    """Index of the lowest accepted attempt."""
    detail: str = ""
    """Why the last charged attempt failed; empty when proved or untried."""


class StageStatus(StrEnum):
    """What became of one stage."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not reached, or not needed (zero lemmas)."""


@dataclass(frozen=True)
class StageReport:
    """One row of the stage-by-stage explanation, in pipeline order."""

    stage: str
    """`parse`, `names`, `sanitize`, `budget`, `statements`, `plan`, `leaves`, `compose`, `kernel` or `audit`."""
    status: StageStatus
    detail: str = ""
    """One line: the offender and Lean's own message, positions relative to the policy's text."""


@dataclass(frozen=True)
class EpisodeResult:
    """One completion judged. Two results of the same inputs are equal whatever ran in parallel: times and
    speculation do not compare."""

    goal_id: str
    status: Status
    detail: str = ""
    """Names the offending lemma, token or Lean message; empty when verified, but where no audit stands behind it."""
    stages: tuple[StageReport, ...] = ()
    lemma_outcomes: tuple[LemmaOutcome, ...] = ()
    leaf_attempts_used: int = 0
    plan_stats: dict[str, float] = field(default_factory=dict)
    """Shape of the plan (`rlmath.detectors`): keys start with `plan_`. Empty when nothing parsed."""
    axioms: tuple[str, ...] | None = None
    """Axioms the accepted theorem rests on; None unless verified."""
    audit_constants: int | None = None
    """How many constants of the accepted theorem a clean process sent through the kernel again; None unless verified
    by a kernel that has an audit."""
    artifact: str | None = None
    """The composed theorem that was judged last. Holds proof text: never to be shown to a policy."""
    kernel: KernelIdentity | None = None
    attempts_speculated: int = field(default=0, compare=False)
    """Leaf attempts begun ahead of need and not charged."""
    timings: dict[str, float] = field(default_factory=dict, compare=False)
    """Seconds by stage, and `total_s`. Of the audit: `audit_a_s` the submission's process, `audit_b_s` the judge's,
    `audit_c_s` the reference's (0 when it was known)."""

    @property
    def reward(self) -> float | None:
        """See `Status.reward`."""
        return self.status.reward

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types, with `reward`; the inverse of `from_json`."""
        return {**asdict(self), "reward": self.reward}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> EpisodeResult:
        """Rebuild a result from `to_json()`'s output (extra `reward` ignored)."""
        row = {k: v for k, v in row.items() if k != "reward"}
        row["status"] = Status(row["status"])
        row["stages"] = tuple(StageReport(**{**s, "status": StageStatus(s["status"])}) for s in row["stages"])
        row["lemma_outcomes"] = tuple(
            LemmaOutcome(**{**o, "status": LemmaStatus(o["status"])}) for o in row["lemma_outcomes"]
        )
        row["axioms"] = None if row["axioms"] is None else tuple(row["axioms"])
        row["kernel"] = None if row["kernel"] is None else KernelIdentity(**row["kernel"])
        return cls(**row)
