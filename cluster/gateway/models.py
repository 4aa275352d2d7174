"""The wire of API v1: every body that comes in and every reply that goes out, with an example of each.

Bodies are strict: unknown fields are errors and values are not coerced. Replies are described here for the OpenAPI
document; what is sent is written by the library's own types (`EpisodeResult.to_json`).
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from cluster.caps import Caps
from rlmath.leaf.config import RecordedLeaf, TacticsLeaf
from rlmath.types import Budgets, LemmaStatus, StageStatus, Status

BUDGETS = Budgets()
RequestId = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[!-~]+$")]
"""Printable ASCII without blanks, so that it can stand in a path and in a log line."""
Count = Annotated[int, Field(ge=0, le=1_000_000)]
ProofTexts = Annotated[dict[str, str | list[str]], Field(max_length=10_000)]

GOAL_EXAMPLE: JsonDict = {"id": "half", "prop": "∀ n : Nat, n / 2 ≤ n"}
PLAN_EXAMPLE = "#lemma bound : ∀ n : Nat, n / 2 ≤ n\n#assembly\nexact bound\n#end\n"
RUN_EXAMPLE = "grpo-7"
ID_EXAMPLE = "0b5c8f3e-1"


class Body(BaseModel):
    """Base of what comes in."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class GoalBody(Body):
    """What is to be proved. It comes from the task's author: its context is elaborated as it stands."""

    model_config = ConfigDict(json_schema_extra={"examples": [GOAL_EXAMPLE]})

    prop: str = Field(min_length=1, description="A closed Lean proposition.")
    id: str = Field(default="goal", min_length=1, max_length=1_000, description="Comes back as `goal_id`.")
    name: str = Field(
        default="goal", min_length=1, max_length=1_000, description="The declaration name the proof carries."
    )
    context: str = Field(default="", description="Lean declarations that `prop` speaks of; elaborated before it.")


class BudgetsBody(Body):
    """Hard caps on one completion: reaching one is the verdict `budget_exhausted`."""

    max_lemmas: Count = Field(default=BUDGETS.max_lemmas, description="Most lemmas a plan may have.")
    leaf_attempts_per_lemma: Count = Field(
        default=BUDGETS.leaf_attempts_per_lemma, description="Attempts that one lemma may use."
    )
    max_total_leaf_attempts: Count = Field(
        default=BUDGETS.max_total_leaf_attempts, description="Attempts that all lemmas may use together."
    )
    verify_timeout_s: float = Field(
        default=BUDGETS.verify_timeout_s, gt=0, le=86_400, description="Wall clock of one kernel check, in seconds."
    )

    def budgets(self) -> Budgets:
        """The library's own."""
        return Budgets(**self.model_dump())


class ServedLeaf(Body):
    """A leaf prover that the server's operator has set up, by its name."""

    type: Literal["served"]
    name: str = Field(min_length=1, max_length=200)


LeafBody = Annotated[TacticsLeaf | RecordedLeaf | ServedLeaf, Field(discriminator="type")]


class _Asked(Body):
    """What all work has: an id, an order, and how long the caller waits."""

    request_id: RequestId | None = Field(
        default=None,
        description="Makes the call safe to repeat: the same id and body again get the same answer and run nothing. "
        "None: the server makes one.",
    )
    run: RequestId | None = Field(default=None, description="The run whose caps this is charged to.")
    kernel: str = Field(default="", max_length=200, description="Which of the server's kernels; empty: its first.")
    memory: str = Field(
        default="", max_length=200, description="Memory class of the checks; empty: the smallest that there is."
    )
    priority: int = Field(
        default=0,
        ge=-1_000,
        le=1_000,
        description="Among your own requests, higher goes first; your key has a ceiling.",
    )
    wait_s: float = Field(
        default=60.0,
        ge=0,
        le=3_600,
        description="How long to wait for the answer. After that the reply is 202, the work goes on, and "
        "`GET /v1/requests/{request_id}` has the answer.",
    )


class ScoreBody(_Asked):
    """One completion to be judged for one goal."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"goal": GOAL_EXAMPLE, "completion": PLAN_EXAMPLE},
                {
                    "goal": GOAL_EXAMPLE,
                    "completion": PLAN_EXAMPLE,
                    "leaf": {"type": "recorded"},
                    "recorded": {"bound": ["intro n\nomega"]},
                    "budgets": {"max_lemmas": 4, "verify_timeout_s": 30.0},
                    "request_id": ID_EXAMPLE,
                },
            ]
        }
    )

    goal: GoalBody
    completion: str | None = Field(default=None, description="The policy's reply, verbatim.")
    completion_base64: str | None = Field(
        default=None, description="The same as bytes, for a reply that is no valid Unicode (such a one is no plan)."
    )
    budgets: BudgetsBody = BudgetsBody()
    leaf: LeafBody = TacticsLeaf()
    recorded: ProofTexts | None = Field(
        default=None, description="With the leaf `recorded`: lemma name to proof text, or texts, one an attempt."
    )

    @model_validator(mode="after")
    def _one_completion(self) -> Self:
        if (self.completion is None) == (self.completion_base64 is None):
            raise ValueError("give exactly one of completion and completion_base64")
        if self.recorded is not None and not isinstance(self.leaf, RecordedLeaf):
            raise ValueError('recorded goes with leaf {"type": "recorded"}')
        if self.completion_base64 is not None:
            try:
                base64.b64decode(self.completion_base64, validate=True)
            except (binascii.Error, ValueError):
                raise ValueError("completion_base64 is not base64") from None
        return self

    def text(self) -> str | bytes:
        """The completion."""
        if self.completion is not None:
            return self.completion
        assert self.completion_base64 is not None, "one of the two is set"
        return base64.b64decode(self.completion_base64)


class BatchBody(Body):
    """Many completions. Each item is a body of `/v1/score` (its `wait_s` has no effect) and fails alone."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"items": [{"goal": GOAL_EXAMPLE, "completion": PLAN_EXAMPLE}]}]}
    )

    items: list[Any] = Field(min_length=1)


class CheckBody(_Asked):
    """Lean to be checked: a `source`, or a `prop` with its `proof`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"source": "example : 2 + 2 = 4 := rfl"},
                {"prop": "∀ n : Nat, n < n + 1", "proof": "intro n\nomega"},
            ]
        }
    )

    source: str | None = Field(
        default=None,
        description="Lean text. The reply has what Lean says of it, and is no judgement: it may hold axioms.",
    )
    prop: str | None = Field(default=None, description="A closed Lean proposition.")
    proof: str | None = Field(
        default=None,
        description="A tactic block (without `by`). It passes all gates and the audit, or is not verified.",
    )
    context: str = Field(default="", description="Lean declarations elaborated before the source or the proposition.")
    name: str = Field(default="goal", min_length=1, max_length=1_000, description="The theorem's name.")
    timeout_s: float = Field(default=60.0, gt=0, le=86_400, description="Wall clock of the check, in seconds.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.source is None) == (self.prop is None and self.proof is None):
            raise ValueError("give either source, or prop and proof")
        if self.source is None and (self.prop is None or self.proof is None):
            raise ValueError(f"{'prop' if self.prop is None else 'proof'} is missing: a statement goes with its proof")
        return self


class CapsBody(Body):
    """Most that may be used; null: no cap. Work begins only when the most it may use fits."""

    leaf_attempts: int | None = Field(default=None, ge=0, le=1 << 53)
    kernel_s: float | None = Field(default=None, ge=0, le=1e12, description="Seconds of kernel time.")
    model_tokens: int | None = Field(default=None, ge=0, le=1 << 53, description="Of leaf models.")
    wall_s: float | None = Field(default=None, ge=0, le=1e12, description="Seconds from the opening.")

    def caps(self) -> Caps:
        """The scheduler's own."""
        return Caps(**self.model_dump())


class RunBody(Body):
    """A run to be opened."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"run": RUN_EXAMPLE, "caps": {"leaf_attempts": 10_000, "kernel_s": 3600.0}}]}
    )

    run: RequestId | None = Field(default=None, description="Its name; null: the server makes one.")
    caps: CapsBody = CapsBody()


# Replies


class Reply(BaseModel):
    """Base of what goes out."""


class KernelReply(Reply):
    """Which kernel gave a verdict."""

    kernel: str
    lean_version: str
    environment: str


class StageReply(Reply):
    """One stage of the pipeline."""

    stage: str
    status: StageStatus
    detail: str


class LemmaReply(Reply):
    """One lemma's account."""

    name: str
    prop: str
    status: LemmaStatus
    attempts_used: int
    winner: int | None
    detail: str


class ResultReply(Reply):
    """A verdict: `EpisodeResult.to_json()` of the library."""

    goal_id: str
    status: Status
    reward: float | None
    detail: str
    stages: list[StageReply]
    lemma_outcomes: list[LemmaReply]
    leaf_attempts_used: int
    plan_stats: dict[str, float]
    axioms: list[str] | None
    audit_constants: int | None
    artifact: str | None
    kernel: KernelReply | None
    attempts_speculated: int
    timings: dict[str, float]


class MessageReply(Reply):
    """A message of Lean; lines from 1, columns from 0."""

    severity: Literal["error", "warning", "information"]
    text: str
    line: int
    column: int
    kind: str
    end_line: int | None
    end_column: int | None


class CheckResultReply(Reply):
    """What Lean said of a source."""

    ok: bool
    """No errors, not out of time, not crashed. Sorries are counted beside it."""
    messages: list[MessageReply]
    sorries: int
    context_error: str | None
    """Lean's first error about the context: then the source was not looked at."""
    timed_out: bool
    crashed: str | None
    elapsed_s: float
    timings: dict[str, float]
    kernel: KernelReply


class DoneReply(Reply):
    """An answer."""

    request_id: str
    state: Literal["done"]
    result: ResultReply | None = None
    """Of a completion, or of a statement with its proof."""
    check: CheckResultReply | None = None
    """Of a source."""


class PendingReply(Reply):
    """No answer yet: ask again under `/v1/requests/{request_id}`."""

    request_id: str
    state: Literal["pending", "cancelled"]


class CapsReply(Reply):
    """Caps, or what is left of them; null: no cap."""

    leaf_attempts: int | None
    kernel_s: float | None
    model_tokens: int | None
    wall_s: float | None


class SpendReply(Reply):
    """What was used."""

    leaf_attempts: int
    kernel_s: float
    model_tokens: int


class RunReply(Reply):
    """A run's account."""

    run: str
    caps: CapsReply
    spent: SpendReply
    held: SpendReply
    """The most that work under way may use."""
    left: CapsReply
    opened_at: float
    """Unix time."""
    closed: bool


class KernelsReply(Reply):
    """The kernels that verdicts come from."""

    kernels: list[KernelReply]


class ProblemReply(Reply):
    """RFC 9457."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    field: str | None = None
    retry_after_s: float | None = None


class BatchLine(Reply):
    """One line of a batch's stream. The last line has `end` and no `index`: a stream without it was cut off."""

    index: int | None = None
    request_id: str | None = None
    result: ResultReply | None = None
    problem: ProblemReply | None = None
    end: dict[str, int] | None = None
