"""What a check's outcome means at each stage. Pure: kernel reports in, failures out; the one place that judges them.

In all of them: an error, a sorry beyond the one that is meant, a timeout, a crash, a refusal of the parser gate, or an
axioms line that is missing, not believable or names an axiom outside the whitelist is a failure; a warning is not. What
the submission's own process says is good enough to refuse it, and to try leaves with; `verified` takes the audit's
word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rlmath.errors import InputError, KernelUnavailable
from rlmath.explain import explain_gate, explain_message, one_line
from rlmath.kernel.protocol import AuditRule, Certificate, CheckResult, Source
from rlmath.sanitize import AXIOM_WHITELIST, parse_axioms
from rlmath.source import ASSEMBLY, GOAL, lemma_label, proof_label
from rlmath.types import GoalSpec, Lemma, StageReport, StageStatus, Status

STAGES = ("parse", "names", "sanitize", "budget", "statements", "plan", "leaves", "compose", "kernel", "audit")
"""All stages, in the order that decides which failure names the status."""
FOR_LEMMAS_ONLY = ("statements", "leaves")
"""Stages that a plan without lemmas has not."""


@dataclass(frozen=True)
class Failure:
    """Why a completion is not verified: the stage it failed in, the status it gets, and one line that names the
    offender."""

    stage: str
    status: Status
    detail: str


@dataclass(frozen=True)
class Accepted:
    """The composed theorem stands, and rests on these axioms."""

    axioms: tuple[str, ...]
    constants: int | None
    """How many constants the audit sent through the kernel again. None: the kernel has no audit, and is configured to
    score without one."""


AUDIT_STATUS: Final[dict[AuditRule, tuple[str, Status]]] = {
    "statement": ("audit", Status.SANITIZER_REJECTED),
    "declarations": ("audit", Status.SANITIZER_REJECTED),
    "axioms": ("audit", Status.SANITIZER_REJECTED),
    "artifact": ("kernel", Status.COMPOSE_FAILED),
    "kernel": ("kernel", Status.COMPOSE_FAILED),
    "resources": ("kernel", Status.COMPOSE_FAILED),
}
"""Stage and status of a refusal by the audit. Another theorem, a declaration or an axiom too many is what the sanitizer
is there for. A theorem that Lean took and the clean kernel does not take is `compose_failed`, rare and always worth a
look, whether the plan has lemmas or not."""


def context_problem(goal: GoalSpec, said: str) -> InputError:
    """The goal's context is at fault, whatever was checked after it."""
    return InputError(f"goal {goal.id}: context", one_line(said))


def goal_problem(goal: GoalSpec, source: Source, result: CheckResult) -> InputError | None:
    """What is wrong with the goal itself. Its author is trusted, so this is an error of theirs and nobody's score."""
    field = f"goal {goal.id}"
    if result.context_error is not None:
        return context_problem(goal, result.context_error)
    if refused := _refused(source, result, name=goal.name):
        return InputError(f"{field}: prop", refused[1])
    if trouble := _trouble(source, result, name=goal.name, label=GOAL):
        return InputError(f"{field}: prop", trouble)
    if result.sorries != 1:
        return InputError(f"{field}: prop", "must be one closed proposition")
    if result.axioms_line is None or parse_axioms(goal.name, result.axioms_line) is None:
        return InputError(
            f"{field}: name",
            f"{goal.name!r} is not the full name of the theorem that comes of it; close the context's namespaces",
        )
    return None


def statement_failure(lemma: Lemma, source: Source, result: CheckResult) -> Failure | None:
    """A lemma's proposition has to elaborate, with exactly the one sorry that stands for its proof."""
    label = lemma_label(lemma.name)
    if refused := _refused(source, result, name=lemma.name):
        return _gate_failure(refused, "statements", Status.STATEMENT_ILL_FORMED)
    if trouble := _trouble(source, result, name=lemma.name, label=label):
        return Failure("statements", Status.STATEMENT_ILL_FORMED, trouble)
    if result.sorries != 1:
        return Failure("statements", Status.STATEMENT_ILL_FORMED, f"{label}: is not one closed proposition")
    return None


def plan_failure(goal: GoalSpec, source: Source, result: CheckResult) -> Failure | None:
    """The assembly has to prove the goal, all lemmas granted."""
    if refused := _refused(source, result, name=goal.name):
        return _gate_failure(refused, "plan", Status.PLAN_INVALID)
    if trouble := _trouble(source, result, name=goal.name, label=ASSEMBLY) or _sorry(result, ASSEMBLY):
        return Failure("plan", Status.PLAN_INVALID, trouble)
    verdict = _axioms(source, result)
    if isinstance(verdict, str):
        return Failure("plan", Status.SANITIZER_REJECTED, f"{ASSEMBLY}: {verdict}")
    return None


def leaf_problem(lemma: Lemma, source: Source, result: CheckResult) -> str | None:
    """Why this attempt is refused. Whatever a leaf does is that attempt's failure and nothing worse."""
    label = proof_label(lemma.name)
    if refused := _refused(source, result, name=lemma.name):
        return refused[1]
    if trouble := _trouble(source, result, name=lemma.name, label=label) or _sorry(result, label):
        return trouble
    verdict = _axioms(source, result)
    return f"{label}: {verdict}" if isinstance(verdict, str) else None


def unparsed(result: CheckResult) -> bool:
    """The parser gate refused a part because it is not one term; nothing was elaborated."""
    return result.gate is not None and not result.gate.ok and result.gate.rule == "part"


def final_verdict(goal: GoalSpec, source: Source, certificate: Certificate, *, lemmas: bool) -> Failure | Accepted:
    """The judgement of the composed theorem. This alone makes a completion `verified`.

    Without lemmas it is also the plan's check: what the assembly gets wrong is `plan_invalid`.
    """
    label = "composed theorem" if lemmas else ASSEMBLY
    result = certificate.check
    if refused := _refused(source, result, name=goal.name):
        if lemmas:
            return _gate_failure(refused, "compose", Status.COMPOSE_FAILED)
        return _gate_failure(refused, "plan", Status.PLAN_INVALID)
    if trouble := _trouble(source, result, name=goal.name, label=label) or _sorry(result, label):
        if lemmas:
            return Failure("kernel", Status.COMPOSE_FAILED, trouble)
        return Failure("plan", Status.PLAN_INVALID, trouble)
    audit = certificate.audit
    if audit is None and certificate.unaudited is not None:
        if foreign := sorted(set(certificate.unaudited) - AXIOM_WHITELIST):
            return Failure("audit", Status.SANITIZER_REJECTED, f"{label}: rests on the axiom {foreign[0]}")
        return Accepted(certificate.unaudited, None)
    if audit is None or audit.rule == "reference":
        raise KernelUnavailable("the kernel gave no audit of a theorem; it cannot score plans")
    if audit.rule is not None or not audit.accepted:
        stage, status = AUDIT_STATUS[audit.rule or "artifact"]
        return Failure(stage, status, one_line(f"{label}: the audit refused it: {audit.reason}"))
    return Accepted(audit.axioms, audit.constants)


def stage_reports(failure: Failure | None, notes: dict[str, str], *, lemmas: bool) -> tuple[StageReport, ...]:
    """The stage-by-stage explanation. `notes` has what there is to say of stages that passed."""
    failed_at = len(STAGES) if failure is None else STAGES.index(failure.stage)
    reports: list[StageReport] = []
    for position, stage in enumerate(STAGES):
        if failure is not None and position == failed_at:
            reports.append(StageReport(stage, StageStatus.FAILED, failure.detail))
        elif position > failed_at:
            reports.append(StageReport(stage, StageStatus.SKIPPED))
        elif not lemmas and stage in FOR_LEMMAS_ONLY:
            reports.append(StageReport(stage, StageStatus.SKIPPED, "no lemmas"))
        else:
            reports.append(StageReport(stage, StageStatus.PASSED, notes.get(stage, "")))
    return tuple(reports)


def _refused(source: Source, result: CheckResult, *, name: str) -> tuple[bool, str] | None:
    """The parser gate's refusal: is it a plain parse error of one part, and what to say. None when it let all pass."""
    gate = result.gate
    if gate is None:
        if result.timed_out or result.crashed is not None:
            return None
        # Without the gate a plan could hold a second declaration and nobody would know: no verdict, and no blame.
        raise KernelUnavailable("the kernel answered without a parser gate; it cannot score plans")
    return None if gate.ok else (gate.rule == "part", explain_gate(source, gate, name=name))


def _gate_failure(refused: tuple[bool, str], stage: str, status: Status) -> Failure:
    parse_error, detail = refused
    if parse_error:
        return Failure(stage, status, detail)
    return Failure("sanitize", Status.SANITIZER_REJECTED, detail)


def _trouble(source: Source, result: CheckResult, *, name: str, label: str) -> str | None:
    if result.crashed is not None:
        return one_line(f"{label}: brought its check down: {result.crashed}")
    if result.timed_out:
        return f"{label}: its check ran out of time (verify_timeout_s)"
    if result.errors:
        return explain_message(source, result.errors[0], name=name, label=label)
    return None


def _sorry(result: CheckResult, label: str) -> str | None:
    return f"{label}: leaves something unproved (sorry)" if result.sorries else None


def _axioms(source: Source, result: CheckResult) -> tuple[str, ...] | str:
    """The axioms that the declaration rests on, or what is wrong with them."""
    if source.declaration is None or result.axioms_line is None:
        return "the axiom audit gave no answer"
    axioms = parse_axioms(source.declaration, result.axioms_line)
    if axioms is None:
        return "the axiom audit's answer is not believable"
    foreign = sorted(set(axioms) - AXIOM_WHITELIST)
    return f"rests on the axiom {foreign[0]}" if foreign else axioms
