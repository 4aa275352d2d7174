"""Every exception that rlmath raises on purpose.

    RlmathError
    ├── InputError            something the caller wrote is wrong: names the field and the fix (CLI exit 2, HTTP 4xx)
    │   └── PlanFormatError   a completion is not a plan: names the line and the rule (raised by `rlmath.plan`)
    ├── Refused               there is no room for the work as things are: no verdict, never a reward
    │   ├── QueueFull         too much waits already: ask again later (HTTP 429)
    │   └── CapReached        a run or a client has bought no more (HTTP 402)
    └── Unavailable           infrastructure trouble: never evidence about a policy, never a reward
        ├── KernelUnavailable a kernel died, refused to score or could not be reached
        │   └── ClusterLost   the whole cluster is gone: asking it for anything else is in vain
        └── LeafUnavailable   a leaf prover's server failed after its retries

What an `Unavailable` interrupts has no verdict: retry it elsewhere or report `Status.ERROR`, whose reward is None.
"""


class RlmathError(Exception):
    """Base of all exceptions raised on purpose by this project."""


class InputError(RlmathError):
    """Bad input. `field` names what is wrong (e.g. `budgets.max_lemmas`, `goals.jsonl line 3`), `problem` says why
    and how to fix it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}"


class Refused(RlmathError):
    """Work that was not begun, or not finished, because its caller may have no more of it now."""


class QueueFull(Refused):
    """Too many requests wait already. Nothing was begun and nothing is charged."""

    def __init__(self, queue_length: int, retry_after_s: float) -> None:
        """`queue_length`: requests that wait. `retry_after_s`: when there should be room again."""
        super().__init__(queue_length, retry_after_s)
        self.queue_length = queue_length
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return f"{self.queue_length} requests wait already; ask again in {self.retry_after_s:.1f} s"


class CapReached(Refused):
    """A hard cap of a run or a client leaves no room for the work. It is a refusal, not a score.

    Work is begun only when the most it may use fits under the cap, so a cap can be reached a little before it is spent.
    """

    def __init__(self, account: str, cap: str, limit: float, spent: float) -> None:
        """`account`: whose cap, e.g. `run r1 of client a`. `cap`: its name in `Caps`, e.g. `leaf_attempts`. `limit` and
        `spent` are in its unit.
        """
        super().__init__(account, cap, limit, spent)
        self.account = account
        self.cap = cap
        self.limit = limit
        self.spent = spent

    def __str__(self) -> str:
        return (
            f"{self.cap} of {self.account}: {self.spent:g} of {self.limit:g} are spent, which leaves too little "
            "for the most that this may use: raise the cap, or lower the request's budgets"
        )


class Unavailable(RlmathError):
    """Infrastructure trouble; the interrupted work has no verdict."""


class KernelUnavailable(Unavailable):
    """The kernel died, failed its self-test, answered out of turn or could not be reached."""


class ClusterLost(KernelUnavailable):
    """The scheduler does not answer any more, whatever it is asked. A batch should end here and go on with another."""


class LeafUnavailable(Unavailable):
    """The leaf prover could not produce attempts (server down, retries spent); no attempt is charged."""
