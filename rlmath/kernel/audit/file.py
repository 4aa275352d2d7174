"""The audit of a whole Lean file, for people: is this really a proof of that?"""

from __future__ import annotations

from rlmath.errors import InputError
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import AuditVerdict, CheckResult, Source
from rlmath.source import goal_check
from rlmath.types import GoalSpec
from rlmath.verdicts import goal_problem

DEFAULT_TIMEOUT_S = 120.0


async def audit_file(
    kernel: EmbeddedKernel,
    text: str,
    prop: str,
    name: str = "goal",
    context: str = "",
    *,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    as_text: bool = False,
) -> AuditVerdict:
    """Whether the Lean file `text` has a theorem `name` of exactly the proposition `prop`, proved.

    `text` is not trusted and may hold anything; `prop` and `context`, the declarations that it speaks of, are the
    reader's own. The file may declare what is in the context again, or begin where the context ends. With `as_text` an
    acceptance has the theorem's constants in `AuditVerdict.exported`. A file that Lean itself does not take is refused
    with the rule `artifact` and Lean's first message.

    Raises `InputError` when `prop`, `name` or `context` are at fault, `KernelUnavailable` when there is no verdict.
    """
    goal = GoalSpec("audit", prop, name, context)
    reference = goal_check(goal)
    stated = await kernel.check(reference, timeout_s=timeout_s)
    if stated.context_error is not None:
        raise InputError("context", stated.context_error)
    if (problem := goal_problem(goal, reference, stated)) is not None:
        raise InputError(problem.field.rpartition(": ")[2], problem.problem)
    alone = await kernel.certify(Source(text), reference, timeout_s=timeout_s, as_text=as_text)
    if alone.audit is not None or not context:
        return alone.audit or _not_clean(alone.check)
    after = await kernel.certify(Source(text, context), reference, timeout_s=timeout_s, as_text=as_text)
    return after.audit or _not_clean(after.check)


def _not_clean(check: CheckResult) -> AuditVerdict:
    if check.timed_out:
        reason = "the file was not elaborated in time"
    elif check.crashed is not None:
        reason = f"the file brought its check down: {check.crashed}"
    elif check.errors:
        first = check.errors[0]
        reason = f"Lean does not take it: {first.line}:{first.column}: {first.text}"
    else:
        reason = "something in the file is left unproved (sorry)"
    return AuditVerdict(False, "artifact", reason, timings={"a": check.elapsed_s})
