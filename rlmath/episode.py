"""The pipeline: one completion in, one `EpisodeResult` out.

parse → names → sanitize → budget → statements → plan → leaves → compose → kernel → audit. The earliest stage that
fails names the status, whatever finished first, so a parallel and a sequential run of the same inputs give the same
result.

What the parser gate finds (a node that no plan may hold, text that reaches out of its place) belongs to `sanitize`,
though it shows itself in the first check that holds the text. Without lemmas the one check of the composed theorem
is the plan's check too.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from rlmath import source as lean
from rlmath.accounting import LeafAccount
from rlmath.concurrency import first_answer
from rlmath.detectors import plan_stats
from rlmath.errors import InputError
from rlmath.explain import explain_banned, one_line
from rlmath.goals import GoalsSeen
from rlmath.kernel.protocol import Certificate, CheckResult, Kernel, Source
from rlmath.leaf.protocol import LeafProver
from rlmath.leaves import LeafRun
from rlmath.plan import PlanFormatError, check_names, parse_plan
from rlmath.sanitize import scan_plan
from rlmath.source import ProofForm
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Lemma, Plan, Status
from rlmath.verdicts import (
    Accepted,
    Failure,
    context_problem,
    final_verdict,
    goal_problem,
    plan_failure,
    stage_reports,
    statement_failure,
)

DEFAULT_BUDGETS = Budgets()
NOT_AUDITED = "NOT AUDITED: on the word of the process that ran the submission"
"""What a verdict says that a kernel without an audit gave."""
AUDIT_PROCESSES = ("a", "b", "c")
"""See `AuditVerdict.timings`."""
DEFAULT_SPECULATION = 8
"""Leaf attempts that may be begun ahead of need: enough to try all lemmas of a default budget at once."""


async def run_episode(
    goal: GoalSpec,
    completion: str | bytes,
    *,
    kernel: Kernel,
    leaf: LeafProver,
    budgets: Budgets = DEFAULT_BUDGETS,
    parallel: bool = True,
    speculation: int = DEFAULT_SPECULATION,
    abreast: int = 1,
    goals_seen: GoalsSeen | None = None,
    tag_key: bytes | None = None,
) -> EpisodeResult:
    """Judge one completion for one goal.

    `parallel=False` runs one check at a time; the result is the same. `speculation` bounds the leaf attempts begun
    ahead of need and `abreast` those of one lemma at once (see `rlmath.accounting`). `goals_seen` saves the check
    of a goal that it knows. `tag_key` is the secret from which the names of the check theorems are derived
    (default: a fresh one); a caller that caches verdicts passes the same one to all its episodes, so that equal
    checks are equal texts.

    Raises KernelUnavailable or LeafUnavailable (infrastructure: no verdict, nothing charged) and InputError (the
    goal's own context, name or proposition does not elaborate). Nothing is left running when it returns, raises or
    is cancelled.
    """
    episode = _Episode(
        goal=goal,
        kernel=kernel,
        leaf=leaf,
        budgets=budgets,
        parallel=parallel,
        speculation=speculation if parallel else 0,
        abreast=abreast if parallel else 1,
        goals_seen=goals_seen if goals_seen is not None else GoalsSeen(),
        tag_key=tag_key if tag_key is not None else secrets.token_bytes(16),
    )
    return await episode.run(completion)


@dataclass
class _Episode:
    """One run: its inputs, and what it has found out so far."""

    goal: GoalSpec
    kernel: Kernel
    leaf: LeafProver
    budgets: Budgets
    parallel: bool
    speculation: int
    abreast: int
    goals_seen: GoalsSeen
    tag_key: bytes
    plan: Plan | None = None
    account: LeafAccount | None = None
    """None until the leaves were tried."""
    artifact: str | None = None
    notes: dict[str, str] = field(default_factory=dict)
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)
    """When the first check of a stage began and its last one ended; statements and plan overlap."""
    check_seconds: dict[str, float] = field(default_factory=dict)
    """What the kernel said of its time, summed over all checks."""

    async def run(self, completion: str | bytes) -> EpisodeResult:
        started = time.perf_counter()
        verdict: Plan | Failure | Accepted = self._read(completion)
        if isinstance(verdict, Plan):
            verdict = await (self._judge(verdict) if verdict.lemmas else self._judge_alone(verdict))
        failure = verdict if isinstance(verdict, Failure) else None
        timings = {f"{stage}_s": end - begin for stage, (begin, end) in self.spans.items()}
        return EpisodeResult(
            goal_id=self.goal.id,
            status=failure.status if failure else Status.VERIFIED,
            detail=failure.detail if failure else NOT_AUDITED if _is_unaudited(verdict) else "",
            stages=stage_reports(failure, self.notes, lemmas=self.plan is None or bool(self.plan.lemmas)),
            lemma_outcomes=self.account.outcomes if self.account else (),
            leaf_attempts_used=self.account.attempts_used if self.account else 0,
            plan_stats=plan_stats(self.plan, self.goal) if self.plan else {},
            axioms=verdict.axioms if isinstance(verdict, Accepted) else None,
            audit_constants=verdict.constants if isinstance(verdict, Accepted) else None,
            artifact=self.artifact,
            kernel=self.kernel.identity,
            attempts_speculated=self.account.attempts_speculated if self.account else 0,
            timings={**timings, **self.check_seconds, "total_s": time.perf_counter() - started},
        )

    def _read(self, completion: str | bytes) -> Plan | Failure:
        """The stages that need no kernel: parse, names, sanitize, budget."""
        with self._timed("parse"):
            try:
                plan = self.plan = parse_plan(completion)
            except PlanFormatError as error:
                return Failure("parse", Status.FORMAT_ERROR, one_line(str(error)))
        with self._timed("names"):
            problem = check_names(plan, self.goal)
        if problem is not None:
            return Failure("names", Status.FORMAT_ERROR, one_line(problem))
        with self._timed("sanitize"):
            found = scan_plan(plan)
        if found is not None:
            return Failure("sanitize", Status.SANITIZER_REJECTED, explain_banned(*found))
        count, most = len(plan.lemmas), self.budgets.max_lemmas
        if count > most:
            detail = f"{count} lemmas, and at most {most} are allowed (max_lemmas)"
            return Failure("budget", Status.BUDGET_EXHAUSTED, detail)
        self.notes["budget"] = f"{count} of {most} lemmas"
        return plan

    async def _judge(self, plan: Plan) -> Failure | Accepted:
        """A plan with lemmas: statements, plan, leaves, compose, kernel, audit."""
        checks: list[Callable[[], Awaitable[Failure | None]]] = [
            self._goal_check,
            *(partial(self._statement_check, lemma) for lemma in plan.lemmas),
            partial(self._plan_check, plan),
        ]
        failure = await first_answer(checks, parallel=self.parallel)
        if failure is not None:
            return failure
        proofs = await self._prove_lemmas(plan)
        if isinstance(proofs, Failure):
            return proofs
        return await self._final(lean.compose(self.goal, plan, proofs), lemmas=True)

    async def _judge_alone(self, plan: Plan) -> Failure | Accepted:
        """A plan without lemmas: the assembly is the whole proof, and one check decides."""
        whole_proof = partial(self._final, lean.compose(self.goal, plan, {}), lemmas=False)
        checks: list[Callable[[], Awaitable[Failure | Accepted | None]]] = [self._goal_check, whole_proof]
        verdict: Failure | Accepted | None = await first_answer(checks, parallel=self.parallel)
        assert verdict is not None, "the check of the whole proof always answers"
        return verdict

    async def _goal_check(self) -> None:
        """Raises InputError when the goal itself is at fault."""
        if self.goals_seen.has(self.kernel.identity, self.goal):
            return
        source = lean.goal_check(self.goal)
        if (problem := goal_problem(self.goal, source, await self._check(source))) is not None:
            raise problem
        self.goals_seen.add(self.kernel.identity, self.goal)

    async def _statement_check(self, lemma: Lemma) -> Failure | None:
        source = lean.statement_check(self.goal, lemma, self._tag("statement", lemma.prop))
        with self._timed("statements"):
            return statement_failure(lemma, source, await self._check(source))

    async def _plan_check(self, plan: Plan) -> Failure | None:
        texts = [text for lemma in plan.lemmas for text in (lemma.name, lemma.prop)]
        source = lean.plan_check(self.goal, plan, self._tag("plan", *texts, plan.assembly))
        with self._timed("plan"):
            return plan_failure(self.goal, source, await self._check(source))

    async def _prove_lemmas(self, plan: Plan) -> Failure | dict[str, tuple[str, ProofForm]]:
        run = LeafRun(goal=self.goal, prover=self.leaf, check=self._check, tag=self._tag)
        with self._timed("leaves"):
            proofs = await run.prove(plan.lemmas, self.budgets, speculation=self.speculation, abreast=self.abreast)
        account = self.account = proofs.account
        self.notes["leaves"] = f"{account.attempts_used} attempt{'' if account.attempts_used == 1 else 's'}"
        return proofs.texts if account.status is None else Failure("leaves", account.status, account.detail)

    async def _final(self, source: Source, *, lemmas: bool) -> Failure | Accepted:
        """The composed theorem's check and audit. Only this function's `Accepted` becomes `verified`."""
        self.artifact = source.command
        with self._timed("kernel"):
            certificate = await self._certify(source)
        verdict = final_verdict(self.goal, source, certificate, lemmas=lemmas)
        if isinstance(verdict, Accepted):
            axioms = f"axioms: {', '.join(verdict.axioms)}" if verdict.axioms else "no axioms"
            self.notes["audit"] = axioms if verdict.constants is not None else f"{NOT_AUDITED}; {axioms}"
        return verdict

    async def _check(self, source: Source) -> CheckResult:
        """Ask the kernel. Raises InputError when the goal's context is at fault, whatever the check was about."""
        result = await self.kernel.check(source, timeout_s=self.budgets.verify_timeout_s)
        self._take_note(result)
        return result

    async def _certify(self, source: Source) -> Certificate:
        """Ask the kernel for the last word. Raises InputError when the goal is at fault."""
        reference = lean.goal_check(self.goal)
        try:
            certificate = await self.kernel.certify(source, reference, timeout_s=self.budgets.verify_timeout_s)
        except InputError as error:
            raise InputError(f"goal {self.goal.id}: {error.field}", one_line(error.problem)) from None
        self._take_note(certificate.check)
        if certificate.audit is not None:
            for process in AUDIT_PROCESSES:
                self.check_seconds[f"audit_{process}_s"] = certificate.audit.timings.get(process, 0.0)
        return certificate

    def _take_note(self, result: CheckResult) -> None:
        """Raises InputError when the goal's context is at fault."""
        if result.context_error is not None:
            raise context_problem(self.goal, result.context_error)
        for part, seconds in result.timings.items():
            key = f"checks_{part}_s"
            self.check_seconds[key] = self.check_seconds.get(key, 0.0) + seconds

    def _tag(self, kind: str, *texts: str) -> str:
        """Nothing that the policy can guess, and equal for equal checks under one key."""
        message = "\0".join((kind, self.goal.name, self.goal.prop, self.goal.context, *texts))
        return hmac.digest(self.tag_key, message.encode(errors="surrogatepass"), "sha256").hex()[:16]

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            first, _ = self.spans.get(stage, (begin, begin))
            self.spans[stage] = first, time.perf_counter()


def _is_unaudited(verdict: Plan | Failure | Accepted) -> bool:
    return isinstance(verdict, Accepted) and verdict.constants is None
