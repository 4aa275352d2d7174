"""Every exception that rlmath raises on purpose.

    RlmathError
    ├── InputError            something the caller wrote is wrong: names the field and the fix (CLI exit 2, HTTP 4xx)
    │   └── PlanFormatError   a completion is not a plan: names the line and the rule (raised by `rlmath.plan`)
    └── Unavailable           infrastructure trouble: never evidence about a policy, never a reward
        ├── KernelUnavailable a kernel died, refused to score or could not be reached
        └── LeafUnavailable   a leaf prover's server failed after its retries

What an `Unavailable` interrupts has no verdict: retry it elsewhere or report `Status.ERROR`, whose reward is None.
"""


class RlmathError(Exception):
    """Base of all exceptions raised on purpose by this project."""


class InputError(RlmathError):
    """Bad input. `field` names what is wrong (e.g. `budgets.max_lemmas`, `goals.jsonl line 3`), `problem` says why and how to fix it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}"


class Unavailable(RlmathError):
    """Infrastructure trouble; the interrupted work has no verdict."""


class KernelUnavailable(Unavailable):
    """The kernel died, failed its self-test, answered out of turn or could not be reached."""


class LeafUnavailable(Unavailable):
    """The leaf prover could not produce attempts (server down, retries spent); no attempt is charged."""
