"""The owner's side of the audit: has the three processes run, and keeps references."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakValueDictionary

from rlmath.errors import InputError
from rlmath.kernel.audit.blob import decode
from rlmath.kernel.audit.judge import new_axiom, taken_name
from rlmath.kernel.audit.tables import Refused, Tables
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.embedded.outcome import export_of, result_of, verdict_of
from rlmath.kernel.embedded.wire import JobKind, Outcome, Trial, encode_source, encode_trial
from rlmath.kernel.protocol import AuditVerdict, Certificate, CheckResult, Source
from rlmath.sanitize import AXIOM_WHITELIST

ALLOWED: Final = tuple(sorted(AXIOM_WHITELIST))

REFERENCE_BYTES: Final = 64 << 20
"""How much of references is kept: some ten thousand of them."""

Submit = Callable[[JobKind, bytes, float], Awaitable[Outcome]]
"""Has a child do a job within so many seconds."""


class References:
    """Exports of references, by source; the one not used for longest is forgotten first."""

    def __init__(self, capacity_bytes: int = REFERENCE_BYTES) -> None:
        self._capacity = capacity_bytes
        self._size = 0
        self._kept: OrderedDict[Source, tuple[CheckResult, bytes]] = OrderedDict()
        self._locks: WeakValueDictionary[Source, asyncio.Lock] = WeakValueDictionary()

    def lock(self, source: Source) -> asyncio.Lock:
        """Held while a reference is being elaborated, so that nobody does it twice."""
        return self._locks.setdefault(source, asyncio.Lock())

    def find(self, source: Source) -> tuple[CheckResult, bytes] | None:
        """The reference's check and its export."""
        found = self._kept.get(source)
        if found is not None:
            self._kept.move_to_end(source)
        return found

    def keep(self, source: Source, result: CheckResult, export: bytes) -> None:
        """Remember a reference."""
        self._kept[source] = result, export
        self._size += len(export)
        while self._size > self._capacity and len(self._kept) > 1:
            _, (_, forgotten) = self._kept.popitem(last=False)
            self._size -= len(forgotten)


@dataclass(frozen=True)
class Auditor:
    """Certifies theorems on one running image."""

    submit: Submit
    limits: Limits
    references: References

    async def reference(self, source: Source, job: bytes, timeout_s: float) -> tuple[CheckResult, bytes | None]:
        """A reference's check and, if it stands, its export; from memory if it was asked for before.

        An axiom that the context declares, or a name that is the kernel's own, is the result's `context_error`.
        """
        if (known := self.references.find(source)) is not None:
            return known
        lock = self.references.lock(source)
        async with lock:
            if (known := self.references.find(source)) is not None:
                return known
            outcome = await self.submit(JobKind.EXPORT, job, timeout_s)
            result = result_of(outcome, self.limits, timeout_s, gated=source.template is not None)
            export = export_of(outcome)
            if not stands(result) or export is None:
                return result, None
            if (problem := _fault(export)) is not None:
                return replace(result, context_error=problem), None
            # Whoever asks again waits for nothing.
            self.references.keep(source, replace(result, elapsed_s=0.0, timings={}), export)
            return result, export

    async def certify(
        self, source: Source, job: bytes, reference: Source, timeout_s: float, *, as_text: bool = False
    ) -> Certificate:
        """See `Kernel.certify`; `job` is the encoded source."""
        outcome = await self.submit(JobKind.EXPORT, job, timeout_s)
        check = result_of(outcome, self.limits, timeout_s, gated=source.template is not None)
        export = export_of(outcome)
        if not stands(check) or check.sorries:
            return Certificate(check, None)
        known = self.references.find(reference)
        seconds_c = 0.0
        if known is None:
            result, wanted = await self.reference(reference, encode_source(reference), timeout_s)
            seconds_c = result.elapsed_s
            if wanted is None:
                raise InputError("reference", complaint(result))
        else:
            wanted = known[1]
        timings = {"a": check.elapsed_s, "c": seconds_c}
        if export is None:
            verdict = AuditVerdict(False, "artifact", "the check's process exported no constants")
        else:
            verdict = await self.judge(Trial(reference.declaration or "", ALLOWED, export, wanted, as_text), check)
        return Certificate(check, replace(verdict, timings=timings | verdict.timings))

    async def judge(self, trial: Trial, check: CheckResult) -> AuditVerdict:
        """Have a judge look at an export, which came with `check`. Raises `InputError` when the reference is at
        fault."""
        # The kernel did all that it has to do again within the check's own time.
        seconds = self.limits.judge_seconds + check.elapsed_s
        outcome = await self.submit(JobKind.JUDGE, encode_trial(trial), seconds)
        verdict = verdict_of(outcome, self.limits, seconds)
        if verdict.rule == "reference":
            raise InputError("reference", verdict.reason)
        return replace(verdict, timings={"b": outcome.elapsed_s, **verdict.timings})


def stands(result: CheckResult) -> bool:
    """The kernel took the text, and nothing is wrong with it but what it may leave unproved."""
    gate_passed = result.gate is None or result.gate.ok
    return gate_passed and not (result.errors or result.context_error or result.timed_out or result.crashed)


def _fault(export: bytes) -> str | None:
    """What a reference's own process says it declares and must not. What it does not say, the judge will."""
    tables = Tables()
    try:
        module = decode(export, tables)
    except Refused:
        return None
    if (axiom := new_axiom(module)) is not None:
        allowed = ", ".join(ALLOWED)
        return f"declares the axiom {tables.show_name(axiom)}; a verdict may rest on none but {allowed}"
    if (taken := taken_name(tables, module)) is not None:
        return f"declares {tables.show_name(taken)}, a name that is the kernel's own: choose another"
    return None


def complaint(result: CheckResult) -> str:
    """Why a reference does not stand, in its author's terms."""
    if result.context_error is not None:
        return result.context_error
    if result.gate is not None and not result.gate.ok:
        return result.gate.detail
    if result.errors:
        return result.errors[0].text
    if result.timed_out:
        return "it ran out of its time"
    return f"its check died: {result.crashed}" if result.crashed else "it declares no theorem of that name"
