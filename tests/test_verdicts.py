"""What a check's outcome means at each stage, from reports such as a kernel gives."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from rlmath.errors import KernelUnavailable
from rlmath.kernel.protocol import AuditRule, AuditVerdict, Certificate, CheckResult, GateVerdict, Message
from rlmath.source import compose, goal_check, leaf_check, plan_check, statement_check
from rlmath.types import GoalSpec, Lemma, Plan, StageStatus, Status
from rlmath.verdicts import (
    STAGES,
    Accepted,
    Failure,
    final_verdict,
    goal_problem,
    leaf_problem,
    plan_failure,
    stage_reports,
    statement_failure,
)

GOAL = GoalSpec("g", "True", "my_goal")
LEMMA = Lemma("h1", "True")
PLAN = Plan((LEMMA,), "exact h1")
COMPOSED = compose(GOAL, PLAN, {"h1": ("trivial", "tactics")})
ALONE = compose(GOAL, Plan((), "trivial"), {})
SORRY = Message("warning", "declaration uses `sorry`", 1, 8, "hasSorry")
ERROR = Message("error", "no", 1, 8)
LINT = Message("warning", "unused variable", 3, 4, "linter.unusedVariables")
GOOD = CheckResult(
    messages=(LINT,),
    gate=GateVerdict(True),
    axioms_line="'my_goal' depends on axioms: [propext, Quot.sound]",
)
PART = GateVerdict(False, "part", "assembly", "expected end of input", 4, 4)
DENIED = GateVerdict(False, "denied", "assembly", "Lean.Parser.Tactic.runTac: runs a program", 4, 4)
TREE = GateVerdict(False, "tree", "assembly", "not what it is alone")


ACCEPTED = AuditVerdict(True, axioms=("Quot.sound", "propext"), constants=3)


def test_a_clean_report_of_the_composed_theorem_is_accepted_on_the_audits_word() -> None:
    certificate = Certificate(replace(GOOD, axioms_line=None), ACCEPTED)
    assert final_verdict(GOAL, COMPOSED, certificate, lemmas=True) == Accepted(("Quot.sound", "propext"), 3)
    assert final_verdict(GOAL, ALONE, certificate, lemmas=False) == Accepted(("Quot.sound", "propext"), 3)


@pytest.mark.parametrize("lemmas", [True, False])
@pytest.mark.parametrize("rule", get_args(AuditRule))
def test_what_the_audit_refuses_is_never_accepted(rule: AuditRule, lemmas: bool) -> None:
    certificate = Certificate(GOOD, AuditVerdict(False, rule, "no\nway"))
    source = COMPOSED if lemmas else ALONE
    if rule == "reference":
        with pytest.raises(KernelUnavailable):
            final_verdict(GOAL, source, certificate, lemmas=lemmas)
        return
    failure = final_verdict(GOAL, source, certificate, lemmas=lemmas)
    assert isinstance(failure, Failure)
    kernels = rule in ("artifact", "kernel", "resources")
    assert failure.stage == ("kernel" if kernels else "audit")
    assert failure.status is (Status.COMPOSE_FAILED if kernels else Status.SANITIZER_REJECTED)
    assert failure.detail.endswith("the audit refused it: no way")


def test_without_an_audit_there_is_no_verdict() -> None:
    with pytest.raises(KernelUnavailable):
        final_verdict(GOAL, COMPOSED, Certificate(GOOD, None), lemmas=True)
    with pytest.raises(KernelUnavailable):
        final_verdict(GOAL, ALONE, Certificate(GOOD, None), lemmas=False)
    refused = final_verdict(GOAL, ALONE, Certificate(GOOD, AuditVerdict(False)), lemmas=False)
    assert isinstance(refused, Failure)


@pytest.mark.parametrize(
    ("spoilt", "stage", "status", "alone"),
    [
        (replace(GOOD, gate=PART), "compose", Status.COMPOSE_FAILED, ("plan", Status.PLAN_INVALID)),
        (replace(GOOD, gate=DENIED), "sanitize", Status.SANITIZER_REJECTED, None),
        (replace(GOOD, gate=TREE), "sanitize", Status.SANITIZER_REJECTED, None),
        (replace(GOOD, messages=(LINT, ERROR)), "kernel", Status.COMPOSE_FAILED, ("plan", Status.PLAN_INVALID)),
        (replace(GOOD, messages=(SORRY,)), "kernel", Status.COMPOSE_FAILED, ("plan", Status.PLAN_INVALID)),
        (replace(GOOD, timed_out=True), "kernel", Status.COMPOSE_FAILED, ("plan", Status.PLAN_INVALID)),
        (replace(GOOD, timed_out=True, gate=None), "kernel", Status.COMPOSE_FAILED, ("plan", Status.PLAN_INVALID)),
        (replace(GOOD, crashed="PANIC"), "kernel", Status.COMPOSE_FAILED, ("plan", Status.PLAN_INVALID)),
        (replace(GOOD, crashed="memory", gate=None), "kernel", Status.COMPOSE_FAILED, ("plan", Status.PLAN_INVALID)),
    ],
)
def test_anything_amiss_is_never_accepted(
    spoilt: CheckResult, stage: str, status: Status, alone: tuple[str, Status] | None
) -> None:
    composed = final_verdict(GOAL, COMPOSED, Certificate(spoilt, ACCEPTED), lemmas=True)
    assert isinstance(composed, Failure)
    assert (composed.stage, composed.status) == (stage, status)
    assert composed.detail
    whole = final_verdict(GOAL, ALONE, Certificate(spoilt, ACCEPTED), lemmas=False)
    assert isinstance(whole, Failure)
    assert (whole.stage, whole.status) == (alone or (stage, status))


def test_a_kernel_without_a_gate_gives_no_verdict_at_all() -> None:
    ungated = replace(GOOD, gate=None)
    with pytest.raises(KernelUnavailable):
        final_verdict(GOAL, COMPOSED, Certificate(ungated, ACCEPTED), lemmas=True)
    with pytest.raises(KernelUnavailable):
        statement_failure(LEMMA, statement_check(GOAL, LEMMA, "t"), ungated)
    with pytest.raises(KernelUnavailable):
        leaf_problem(LEMMA, leaf_check(GOAL, LEMMA, "trivial", "t"), ungated)


@pytest.mark.parametrize(
    ("result", "failure"),
    [
        (CheckResult(messages=(SORRY,), gate=GateVerdict(True)), None),
        (
            CheckResult(messages=(), gate=GateVerdict(True)),
            Failure("statements", Status.STATEMENT_ILL_FORMED, "lemma h1: is not one closed proposition"),
        ),
        (
            CheckResult(messages=(SORRY, SORRY), gate=GateVerdict(True)),
            Failure("statements", Status.STATEMENT_ILL_FORMED, "lemma h1: is not one closed proposition"),
        ),
        (
            CheckResult(messages=(Message("error", "Unknown identifier `x`", 2, 6), SORRY), gate=GateVerdict(True)),
            Failure("statements", Status.STATEMENT_ILL_FORMED, "lemma h1 1:3: Unknown identifier `x`"),
        ),
        (
            CheckResult(crashed="stack overflow"),
            Failure("statements", Status.STATEMENT_ILL_FORMED, "lemma h1: brought its check down: stack overflow"),
        ),
        (
            CheckResult(timed_out=True, gate=GateVerdict(True)),
            Failure(
                "statements", Status.STATEMENT_ILL_FORMED, "lemma h1: its check ran out of time (verify_timeout_s)"
            ),
        ),
        (
            CheckResult(gate=GateVerdict(False, "part", "lemma h1", "expected end of input", 2, 9)),
            Failure("statements", Status.STATEMENT_ILL_FORMED, "lemma h1 1:6: does not parse: expected end of input"),
        ),
        (
            CheckResult(gate=GateVerdict(False, "denied", "lemma h1", "Lean.byElab: runs a program", 2, 4)),
            Failure(
                "sanitize",
                Status.SANITIZER_REJECTED,
                "lemma h1 1:1: not allowed in a plan: Lean.byElab: runs a program",
            ),
        ),
    ],
)
def test_statements(result: CheckResult, failure: Failure | None) -> None:
    assert statement_failure(LEMMA, statement_check(GOAL, LEMMA, "t"), result) == failure


def test_plans() -> None:
    source = plan_check(GOAL, PLAN, "t")
    good = CheckResult(gate=GateVerdict(True), axioms_line="'check_t' does not depend on any axioms")
    assert plan_failure(GOAL, source, good) is None
    for spoilt, status in [
        (replace(good, messages=(SORRY,)), Status.PLAN_INVALID),
        (replace(good, messages=(ERROR,)), Status.PLAN_INVALID),
        (replace(good, timed_out=True), Status.PLAN_INVALID),
        (replace(good, crashed="signal 11"), Status.PLAN_INVALID),
        (replace(good, gate=PART), Status.PLAN_INVALID),
        (replace(good, gate=DENIED), Status.SANITIZER_REJECTED),
        (replace(good, axioms_line="'check_t' depends on axioms: [sorryAx]"), Status.SANITIZER_REJECTED),
        (replace(good, axioms_line=None), Status.SANITIZER_REJECTED),
    ]:
        failure = plan_failure(GOAL, source, spoilt)
        assert failure is not None
        assert failure.status is status
        assert failure.detail.startswith("assembly")


def test_leaves() -> None:
    source = leaf_check(GOAL, LEMMA, "trivial", "t")
    good = CheckResult(gate=GateVerdict(True), axioms_line="'check_t' depends on axioms: [Classical.choice]")
    assert leaf_problem(LEMMA, source, good) is None
    part = GateVerdict(False, "part", "proof of h1", "expected end of input", 4, 4)
    for spoilt in [
        replace(good, messages=(SORRY,)),
        replace(good, messages=(ERROR,)),
        replace(good, timed_out=True),
        replace(good, crashed="output limit"),
        replace(good, gate=part),
        replace(good, axioms_line="'check_t' depends on axioms: [sorryAx]"),
        replace(good, axioms_line=None),
    ]:
        problem = leaf_problem(LEMMA, source, spoilt)
        assert problem is not None
        assert problem.startswith("proof of h1")


def test_goals() -> None:
    source = goal_check(GOAL)
    good = CheckResult((SORRY,), GateVerdict(True), "'my_goal' depends on axioms: [sorryAx]")
    assert goal_problem(GOAL, source, good) is None
    for spoilt, field in [
        (replace(good, messages=(ERROR, SORRY)), "goal g: prop"),
        (replace(good, messages=()), "goal g: prop"),
        (replace(good, timed_out=True), "goal g: prop"),
        (replace(good, gate=GateVerdict(False, "part", "goal", "expected end of input")), "goal g: prop"),
        (replace(good, axioms_line="'Open.my_goal' depends on axioms: [sorryAx]"), "goal g: name"),
    ]:
        problem = goal_problem(GOAL, source, spoilt)
        assert problem is not None
        assert problem.field == field


def test_stages_are_passed_up_to_the_failure_and_skipped_after_it() -> None:
    failure = Failure("plan", Status.PLAN_INVALID, "assembly 1:1: no")
    reports = stage_reports(failure, {"budget": "1 of 8 lemmas", "audit": "not reached"}, lemmas=True)
    assert [report.stage for report in reports] == list(STAGES)
    assert [report.status for report in reports] == [StageStatus.PASSED] * 5 + [StageStatus.FAILED] + [
        StageStatus.SKIPPED
    ] * 4
    assert [report.detail for report in reports] == ["", "", "", "1 of 8 lemmas", "", "assembly 1:1: no", *[""] * 4]


def test_without_lemmas_their_stages_fall_away() -> None:
    reports = stage_reports(None, {}, lemmas=False)
    skipped = {report.stage for report in reports if report.status is StageStatus.SKIPPED}
    assert skipped == {"statements", "leaves"}
