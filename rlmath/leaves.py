"""Proving a plan's lemmas: a prover's texts, judged one by one by the kernel, counted by `rlmath.accounting`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from rlmath import source as lean
from rlmath.accounting import Attempt, LeafAccount, LeafAccounting
from rlmath.concurrency import Tried, run_attempts
from rlmath.errors import LeafUnavailable
from rlmath.explain import explain_banned, one_line
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.leaf.protocol import LeafAttempt, LeafProver, LeafTask
from rlmath.plan import PlanLimits
from rlmath.sanitize import scan
from rlmath.source import ProofForm, proof_label
from rlmath.types import Budgets, GoalSpec, Lemma
from rlmath.verdicts import leaf_problem, unparsed

MAX_PROOF_CHARS = PlanLimits().max_assembly_chars
"""A leaf proof may be as long as an assembly. Longer ones are not even scanned."""


@dataclass(frozen=True)
class Proofs:
    """What came of a plan's lemmas."""

    account: LeafAccount
    texts: dict[str, tuple[str, ProofForm]]
    """The winning proof of each proved lemma, and how its text was read."""


@dataclass
class LeafRun:
    """The leaves stage of one episode."""

    goal: GoalSpec
    prover: LeafProver
    check: Callable[[Source], Awaitable[CheckResult]]
    tag: Callable[..., str]
    """From a kind of check and its texts, the tag of the check theorem's name."""
    accepted: dict[Attempt, tuple[str, ProofForm]] = field(default_factory=dict)
    """Proofs that passed, some of them ahead of need."""
    verdicts: dict[tuple[Lemma, str], tuple[ProofForm, str | None]] = field(default_factory=dict)
    """By lemma and proof text: how the text was read, and why it was refused. Equal texts are checked once."""

    async def prove(self, lemmas: tuple[Lemma, ...], budgets: Budgets, *, speculation: int, abreast: int) -> Proofs:
        """Prove the lemmas in order, within the budgets. For `speculation` and `abreast` see `rlmath.accounting`."""
        accounting = LeafAccounting(
            lemmas,
            attempts_per_lemma=budgets.leaf_attempts_per_lemma,
            total=budgets.max_total_leaf_attempts,
            available=self.prover.max_attempts,
            speculation=speculation,
            abreast=abreast,
        )
        account = await run_attempts(accounting, partial(self._attempt, lemmas))
        winners = {o.name: Attempt(i, o.winner) for i, o in enumerate(account.outcomes) if o.winner is not None}
        return Proofs(account, {name: self.accepted[attempt] for name, attempt in winners.items()})

    async def _attempt(self, lemmas: tuple[Lemma, ...], number: Attempt) -> Tried:
        lemma = lemmas[number.lemma]
        label = proof_label(lemma.name)
        attempt = await self._ask_prover(lemma, number.index)
        if attempt.proof is None:
            return Tried(False, one_line(f"{label}: none came: {attempt.detail}"))
        if len(attempt.proof) > MAX_PROOF_CHARS:
            return Tried(False, f"{label}: has more than {MAX_PROOF_CHARS} characters")
        # A proof is as untrusted as a plan.
        if (banned := scan(attempt.proof)) is not None:
            return Tried(False, explain_banned(label, banned))
        form, problem = await self._verdict(lemma, attempt.proof)
        if problem is not None:
            return Tried(False, problem)
        self.accepted[number] = attempt.proof, form
        return Tried(True, "")

    async def _ask_prover(self, lemma: Lemma, index: int) -> LeafAttempt:
        task = LeafTask(prop=lemma.prop, context=self.goal.context, name=lemma.name)
        answers = await self.prover.attempts(task, [index])
        if len(answers) != 1 or answers[0].index != index:
            raise LeafUnavailable(f"{self.prover.identity} was asked for attempt {index} and gave something else")
        return answers[0]

    async def _verdict(self, lemma: Lemma, proof: str) -> tuple[ProofForm, str | None]:
        """Check a proof as a tactic block; one that is none still passes if it is a term that proves the lemma."""
        key = lemma, proof
        if key not in self.verdicts:
            result, problem = await self._check(lemma, proof, "tactics")
            form: ProofForm = "tactics"
            if unparsed(result) and (await self._check(lemma, proof, "term"))[1] is None:
                form, problem = "term", None
            self.verdicts[key] = form, problem
        return self.verdicts[key]

    async def _check(self, lemma: Lemma, proof: str, form: ProofForm) -> tuple[CheckResult, str | None]:
        source = lean.leaf_check(self.goal, lemma, proof, self.tag("leaf", form, lemma.prop, proof), form)
        result = await self.check(source)
        return result, leaf_problem(lemma, source, result)
