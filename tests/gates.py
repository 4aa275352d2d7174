"""Each gate by itself: what it says of a case when no other gate has looked at it.

The cases are those of `data/attacks.jsonl` and of the soundness corpus. A case is a completion with recorded proofs,
or, where no completion gets that far, the text of a command (`command`, after `own_context` in place of the author's).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rlmath.errors import InputError
from rlmath.kernel.audit.certify import ALLOWED
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.embedded.outcome import export_of, result_of
from rlmath.kernel.embedded.wire import JobKind, Trial, encode_source
from rlmath.kernel.protocol import AuditVerdict, CheckResult, Source
from rlmath.plan import check_names, parse_plan
from rlmath.sanitize import scan, scan_plan
from rlmath.source import ProofForm, compose, goal_check, leaf_check, plan_check, statement_check
from rlmath.types import GoalSpec, Plan

DATA = Path(__file__).parent / "data"
GATES = ("format", "lexical", "parser", "kernel", "audit")
FORMS: tuple[ProofForm, ...] = ("tactics", "term")
TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Case:
    """One attack, or an honest completion."""

    id: str
    goal: GoalSpec
    gate: str | None
    """Which gate must stop it. None: the file does not say."""
    completion: str | None = None
    leaf: Mapping[str, str] = field(default_factory=dict)
    command: str | None = None
    own_context: str | None = None
    rule: str | None = None
    """Of the audit."""
    honest: bool = False
    forms: Mapping[str, ProofForm] = field(default_factory=dict)
    """How the recorded proofs are to be read, where it is not as tactics: see `with_forms`."""


def attacks() -> dict[str, Case]:
    """The cases of `data/attacks.jsonl`, by id."""
    rows = [json.loads(line) for line in (DATA / "attacks.jsonl").read_text(encoding="utf-8").splitlines()]
    return {
        row["id"]: Case(
            row["id"],
            GoalSpec(**row["goal"]),
            row["gate"],
            row.get("completion"),
            row.get("leaf", {}),
            row.get("command"),
            row.get("own_context"),
            row.get("rule"),
        )
        for row in rows
    }


def corpus() -> dict[str, Case]:
    """The cases of the soundness corpus, by id."""
    found = {}
    for line in (DATA / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        completion = row["completion"]
        if expand := row.get("expand"):
            filling = "".join(expand["unit"].replace("{i}", str(i)) for i in range(expand["count"]))
            completion = completion.replace(expand["marker"], filling)
        honest = row["must_not_be"] is None
        found[row["id"]] = Case(row["id"], GoalSpec(**row["goal"]), None, completion, row["leaf"], honest=honest)
    return found


def plan_of(case: Case) -> Plan | None:
    """The case's plan, if it is one."""
    if case.completion is None:
        return None
    try:
        return parse_plan(case.completion)
    except InputError:
        return None


def by_format(case: Case) -> str | None:
    """What the parser of plans, or the rules for names, have against the case."""
    if case.completion is None:
        return None
    try:
        return check_names(parse_plan(case.completion), case.goal)
    except InputError as error:
        return str(error)


def by_lexical(case: Case) -> str | None:
    """What the list of words has against the plan or one of its recorded proofs."""
    if case.command is not None:
        banned = scan(case.command)
    else:
        plan = plan_of(case)
        if plan is None:
            return None
        found = scan_plan(plan)
        banned = found[1] if found else next(filter(None, map(scan, texts(case, plan))), None)
    return None if banned is None else f"{banned.why} {banned.token!r}"


def texts(case: Case, plan: Plan) -> list[str]:
    """The recorded proof of each lemma: the last, if there are several."""
    proofs = [case.leaf.get(lemma.name, "rfl") for lemma in plan.lemmas]
    return [proof if isinstance(proof, str) else proof[-1] for proof in proofs]


async def with_forms(kernel: EmbeddedKernel, case: Case) -> Case:
    """The case, with the proofs found out that are no tactics but terms: the pipeline takes both."""
    plan = plan_of(case)
    forms: dict[str, ProofForm] = {}
    for lemma, proof in zip(plan.lemmas, texts(case, plan), strict=True) if plan else ():
        gates = [
            (await kernel.check(leaf_check(case.goal, lemma, proof, "form", form), timeout_s=TIMEOUT_S)).gate
            for form in FORMS
        ]
        if gates[0] is not None and gates[0].rule == "part" and gates[1] is not None and gates[1].ok:
            forms[lemma.name] = "term"
    return replace(case, forms=forms)


def sources(case: Case) -> list[Source]:
    """Every check that the pipeline would make of the case, as if all had gone well before it."""
    if case.command is not None:
        return [final_source(case)]
    plan = plan_of(case)
    if plan is None:
        return []
    made = [statement_check(case.goal, lemma, f"s{i}") for i, lemma in enumerate(plan.lemmas)]
    made += [plan_check(case.goal, plan, "plan")] if plan.lemmas else []
    for lemma, proof in zip(plan.lemmas, texts(case, plan), strict=True):
        made.append(leaf_check(case.goal, lemma, proof, f"leaf{len(made)}", case.forms.get(lemma.name, "tactics")))
    return [*made, final_source(case)]


def final_source(case: Case) -> Source:
    """The composed theorem, or the case's own command."""
    if case.command is not None:
        context = case.goal.context if case.own_context is None else case.own_context
        return Source(case.command, context, declaration=case.goal.name)
    plan = plan_of(case)
    assert plan is not None
    proofs: dict[str, tuple[str, ProofForm]] = {
        lemma.name: (proof, case.forms.get(lemma.name, "tactics"))
        for lemma, proof in zip(plan.lemmas, texts(case, plan), strict=True)
    }
    return compose(case.goal, plan, proofs)


async def by_parser(kernel: EmbeddedKernel, case: Case) -> str | None:
    """What Lean's parser has against the text of any check."""
    for source in sources(case) if case.completion is not None else ():
        gate = (await kernel.check(source, timeout_s=TIMEOUT_S)).gate
        if gate is not None and not gate.ok:
            return f"{gate.rule} {gate.label}: {gate.detail}"
    return None


async def by_kernel(kernel: EmbeddedKernel, case: Case) -> str | None:
    """What Lean itself, asked as a naive harness would ask it, has against the composed theorem: an error, a sorry, its
    own end. For a case of one command, that command."""
    if case.completion is not None and plan_of(case) is None:
        return None
    source = replace(final_source(case), template=None, parts=())
    return complaint(await kernel.check(source, timeout_s=TIMEOUT_S))


def complaint(result: CheckResult) -> str | None:
    """What a check's result has against its text."""
    if result.timed_out or result.crashed:
        return result.crashed or "time"
    if result.context_error or result.errors:
        return result.context_error or result.errors[0].text
    return "sorry" if result.sorries else None


async def by_audit(kernel: EmbeddedKernel, case: Case) -> AuditVerdict | None:
    """What the audit says of whatever the composed theorem's text leads to, ungated. None: it is no plan at all."""
    if case.completion is not None and plan_of(case) is None:
        return None
    auditor = await kernel.auditor()
    reference = goal_check(case.goal)
    source = replace(final_source(case), template=None, parts=(), axioms=False)
    outcome = await auditor.submit(JobKind.EXPORT, encode_source(source), TIMEOUT_S)
    export = export_of(outcome)
    if export is None:
        return AuditVerdict(False, "artifact", "the check exported nothing")
    _, wanted = await auditor.reference(reference, encode_source(reference), TIMEOUT_S)
    assert wanted is not None, case.id
    trial = Trial(case.goal.name, ALLOWED, export, wanted)
    return await auditor.judge(trial, result_of(outcome, Limits(), TIMEOUT_S, gated=False))


async def caught_by(kernel: EmbeddedKernel, case: Case, gate: str) -> str | None:
    """What a gate alone has against a case."""
    if gate == "format":
        return by_format(case)
    if gate == "lexical":
        return by_lexical(case)
    if gate == "parser":
        return await by_parser(kernel, case)
    if gate == "kernel":
        return await by_kernel(kernel, case)
    verdict = await by_audit(kernel, case)
    return None if verdict is None or verdict.accepted else f"{verdict.rule}: {verdict.reason}"


def of_gate(cases: Iterable[Case], gate: str) -> list[Case]:
    """The cases that a gate must stop."""
    return [case for case in cases if case.gate == gate]
