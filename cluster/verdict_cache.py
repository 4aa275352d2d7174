"""Which results of the kernel stand for checks asked again.

A check is the same as another when everything that decides its result is the same: the kernel and its environment,
whether it is to be certified and against what, every field of its sources, and whom it is done for (`scope`). Its time
limit decides only whether it came to an end: a result that did not run into a limit stands for every limit it would
have kept; one that did stands for that very limit alone. Trouble of infrastructure is no result and never kept.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field

from rlmath.kernel.protocol import Certificate, CheckResult, Source

Outcome = CheckResult | Certificate
"""What a check comes to, without or with an audit."""

MEMORY = "memory"
"""What `CheckResult.crashed` says of a check that ran out of it."""
LONGEST_RESULT = 64 << 10
"""Characters of messages in a result; longer ones are not kept."""


def check_key(environment: str, source: Source, reference: Source | None, scope: str) -> bytes:
    """Equal for equal checks, and for no others. `environment`: the kernel's identity. `scope`: who may share it."""
    digest = hashlib.sha256()
    for text in (scope, environment):
        _add(digest, text)
    # A dataclass's own repr has every field, so that none that is added later can be forgotten.
    _add(digest, repr(source))
    _add(digest, "check" if reference is None else f"certify {reference!r}")
    return digest.digest()


def kernel_seconds(outcome: Outcome) -> float:
    """What a result has cost: of a certificate, its check, its judge and its reference."""
    return check_of(outcome).elapsed_s + (audit_seconds(outcome) or 0.0)


def audit_seconds(outcome: Outcome) -> float | None:
    """What the judge of a certificate and its reference have cost; None when it was not audited."""
    if isinstance(outcome, CheckResult) or outcome.audit is None:
        return None
    timings = outcome.audit.timings
    return timings.get("b", 0.0) + timings.get("c", 0.0)


@dataclass
class _Entry:
    ended: Outcome | None = None
    """Came to its end by itself."""
    cut: dict[float, Outcome] = field(default_factory=dict)
    """By time limit: results that a limit has decided."""


class VerdictCache:
    """A bounded memory of results by `check_key`; the one not used for longest is forgotten first."""

    def __init__(self, capacity: int) -> None:
        """`capacity`: checks remembered; 0 switches it off."""
        self._capacity = capacity
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: bytes, timeout_s: float) -> Outcome | None:
        """The result that stands for this check under this limit."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        if timeout_s in entry.cut:
            return entry.cut[timeout_s]
        if entry.ended is not None and check_of(entry.ended).elapsed_s <= timeout_s:
            return entry.ended
        return None

    def put(self, key: bytes, timeout_s: float, outcome: Outcome) -> None:
        """Remember what a check under this limit came to."""
        if not self._capacity or sum(len(m.text) for m in check_of(outcome).messages) > LONGEST_RESULT:
            return
        entry = self._entries.setdefault(key, _Entry())
        self._entries.move_to_end(key)
        if decided_by_limit(outcome):
            entry.cut[timeout_s] = outcome
        else:
            entry.ended = outcome
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)


def decided_by_limit(outcome: Outcome) -> bool:
    """Whether another limit could have led to another result: it ran out of time, brought its process down, or its
    judge ran out of anything.
    """
    check = check_of(outcome)
    if check.timed_out or check.crashed is not None:
        return True
    audit = outcome.audit if isinstance(outcome, Certificate) else None
    return audit is not None and audit.rule == "resources"


def died_of_memory(outcome: Outcome) -> bool:
    """Whether more memory could have led to another result."""
    return check_of(outcome).crashed == MEMORY


def check_of(outcome: Outcome) -> CheckResult:
    """The check, with or without an audit."""
    return outcome if isinstance(outcome, CheckResult) else outcome.check


def _add(digest: hashlib._Hash, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    digest.update(len(data).to_bytes(8, "big"))
    digest.update(data)
