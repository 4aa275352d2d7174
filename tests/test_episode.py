"""The pipeline on a real kernel, stage by stage."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from isolation_kit import busy_children_of
from waiting import until

from rlmath.episode import run_episode
from rlmath.errors import InputError, KernelUnavailable, LeafUnavailable
from rlmath.goals import GoalsSeen
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.leaf.protocol import LeafAttempt, LeafTask
from rlmath.leaf.recorded import RecordedProver
from rlmath.types import (
    Budgets,
    EpisodeResult,
    GoalSpec,
    KernelIdentity,
    LemmaOutcome,
    LemmaStatus,
    StageStatus,
    Status,
)

ADD_ZERO = GoalSpec("add-zero", "∀ n : Nat, n + 0 = n", "my_add_zero")
BOTH = GoalSpec("both", "(∀ n : Nat, n + 0 = n) ∧ (2 + 2 = 4)", "both")
PLAN = """\
#lemma h1 : ∀ n : Nat, n + 0 = n
#lemma h2 : 2 + 2 = 4
#assembly
constructor
· exact h1
· exact h2
#end
"""
LEAVES: dict[str, str | Sequence[str]] = {"h1": "intro n\nrfl", "h2": "rfl"}
QUICK = Budgets(verify_timeout_s=20)


def plan(assembly: str, *lemmas: str) -> str:
    return "\n".join([*(f"#lemma {lemma}" for lemma in lemmas), "#assembly", assembly, "#end"])


class Watched:
    """The real kernel, with a count of what passes through. `fail` says on which calls it is not there."""

    def __init__(self, kernel: EmbeddedKernel, *, fail: Sequence[int] = ()) -> None:
        self.kernel = kernel
        self.fail = fail
        self.sources: list[Source] = []
        self.running = 0

    @property
    def identity(self) -> KernelIdentity:
        return self.kernel.identity

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        self.sources.append(source)
        self.running += 1
        try:
            if len(self.sources) in self.fail:
                await asyncio.sleep(0.002)
                raise KernelUnavailable("lost")
            return await self.kernel.check(source, timeout_s=timeout_s)
        finally:
            self.running -= 1

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        self.sources.append(source)
        self.running += 1
        try:
            if len(self.sources) in self.fail:
                await asyncio.sleep(0.002)
                raise KernelUnavailable("lost")
            return await self.kernel.certify(source, reference, timeout_s=timeout_s)
        finally:
            self.running -= 1

    def commands(self, label: str) -> list[str]:
        return [source.command for source in self.sources if any(part.label == label for part in source.parts)]


async def episode(
    kernel: EmbeddedKernel | Watched,
    goal: GoalSpec,
    completion: str,
    leaves: dict[str, str | Sequence[str]] | None = None,
    **options: Any,
) -> EpisodeResult:
    options.setdefault("budgets", QUICK)
    return await run_episode(goal, completion, kernel=kernel, leaf=RecordedProver(leaves or {}), **options)


def stage(result: EpisodeResult, name: str) -> tuple[StageStatus, str]:
    return next((report.status, report.detail) for report in result.stages if report.stage == name)


# --- the whole way ---------------------------------------------------------------------------------------------------


async def test_a_verified_plan(kernel: EmbeddedKernel) -> None:
    result = await episode(kernel, BOTH, PLAN, {"h1": ["skip", "intro n\nrfl"], "h2": "rfl"})
    assert result.status is Status.VERIFIED
    assert (result.detail, result.reward, result.axioms) == ("", 1.0, ())
    assert result.lemma_outcomes == (
        LemmaOutcome("h1", "∀ n : Nat, n + 0 = n", LemmaStatus.PROVED, 2, winner=1),
        LemmaOutcome("h2", "2 + 2 = 4", LemmaStatus.PROVED, 1, winner=0),
    )
    assert result.leaf_attempts_used == 3
    assert result.attempts_speculated <= 8
    assert all(report.status is StageStatus.PASSED for report in result.stages)
    assert stage(result, "audit") == (StageStatus.PASSED, "no axioms")
    assert stage(result, "budget")[1] == "2 of 8 lemmas"
    assert result.artifact is not None
    assert result.artifact.startswith("theorem both :\n")
    assert result.kernel == kernel.identity
    assert result.plan_stats["plan_n_lemmas"] == 2
    assert {"parse_s", "statements_s", "plan_s", "leaves_s", "kernel_s", "total_s", "checks_elaborate_s"} <= set(
        result.timings
    )
    assert EpisodeResult.from_json(result.to_json()) == result


async def test_the_artifact_is_a_theorem_that_lean_takes_as_it_stands(kernel: EmbeddedKernel) -> None:
    result = await episode(kernel, BOTH, PLAN, LEAVES)
    assert result.artifact is not None
    again = await kernel.check(Source(command=result.artifact), timeout_s=20)
    assert again.errors == ()
    assert again.sorries == 0


async def test_axioms_of_the_whitelist_are_reported(kernel: EmbeddedKernel) -> None:
    goal = GoalSpec("em", "∀ p : Prop, p ∨ ¬p", "em_again")
    result = await episode(kernel, goal, plan("intro p\nexact Classical.em p"))
    assert result.status is Status.VERIFIED
    assert result.axioms is not None
    assert set(result.axioms) == {"propext", "Classical.choice", "Quot.sound"}


async def test_without_lemmas_the_assembly_is_judged_alone(kernel: EmbeddedKernel) -> None:
    watched = Watched(kernel)
    result = await episode(watched, ADD_ZERO, plan("intro n\nrfl"))
    assert result.status is Status.VERIFIED
    assert {report.stage for report in result.stages if report.status is StageStatus.SKIPPED} == {
        "statements",
        "leaves",
    }
    assert len(watched.sources) == 2
    assert result.lemma_outcomes == ()


# --- each failure names its stage and the offender -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("completion", "status", "failed", "detail"),
    [
        ("no plan here", Status.FORMAT_ERROR, "parse", "completion"),
        (plan("exact my_add_zero", "my_add_zero : True"), Status.FORMAT_ERROR, "names", "my_add_zero"),
        (plan("skip\n  sorry"), Status.SANITIZER_REJECTED, "sanitize", "assembly 2:3: `sorry` is not allowed"),
        (
            plan("stop\nskip", "h : True"),
            Status.SANITIZER_REJECTED,
            "sanitize",
            "assembly 1:1: not allowed in a plan: ",
        ),
        (
            plan("skip", *(f"h{i} : True" for i in range(9))),
            Status.BUDGET_EXHAUSTED,
            "budget",
            "9 lemmas, and at most 8 are allowed (max_lemmas)",
        ),
        (
            plan("exact nonsense", "h1 : True", "h2 : True ∧ y"),
            Status.STATEMENT_ILL_FORMED,
            "statements",
            "lemma h2 1:8: Unknown identifier `y`",
        ),
        (plan("skip", "h1 : True)"), Status.STATEMENT_ILL_FORMED, "statements", "lemma h1 1:5: does not parse: "),
        (plan("skip", "h1 : Nat"), Status.STATEMENT_ILL_FORMED, "statements", "lemma h1: type of theorem `h1` is "),
        (
            plan("intro n\n\n  -- why\nexact h2 n", "h1 : True"),
            Status.PLAN_INVALID,
            "plan",
            "assembly 4:7: Unknown identifier `h2`",
        ),
        (plan("intro n", "h1 : True"), Status.PLAN_INVALID, "plan", "assembly 1:1: unsolved goals"),
        (plan("intro n\n) : True", "h1 : True"), Status.PLAN_INVALID, "plan", "assembly 2:1: does not parse: "),
        (plan("intro n\nexact nonsense"), Status.PLAN_INVALID, "plan", "assembly 2:7: Unknown identifier `nonsense`"),
        (plan("intro n\nrfl\nend_)"), Status.PLAN_INVALID, "plan", "assembly 3:"),
        (plan("exact my_add_zero"), Status.PLAN_INVALID, "plan", "assembly: fail to show termination"),
    ],
)
async def test_a_flawed_plan(kernel: EmbeddedKernel, completion: str, status: Status, failed: str, detail: str) -> None:
    result = await episode(kernel, ADD_ZERO, completion)
    assert (result.status, result.reward) == (status, 0.0)
    assert result.detail.startswith(detail) or (failed in ("parse", "names") and detail in result.detail)
    assert "\n" not in result.detail
    assert stage(result, failed) == (StageStatus.FAILED, result.detail)
    statuses = [report.status for report in result.stages]
    assert statuses.count(StageStatus.FAILED) == 1
    assert set(statuses[statuses.index(StageStatus.FAILED) + 1 :]) <= {StageStatus.SKIPPED}
    assert (result.leaf_attempts_used, result.axioms) == (0, None)


async def test_a_statement_that_fails_goes_before_a_plan_that_fails(kernel: EmbeddedKernel) -> None:
    completion = plan("exact nonsense", "h1 : True", "h2 : y", "h3 : z")
    for parallel in (True, False):
        result = await episode(kernel, ADD_ZERO, completion, parallel=parallel)
        assert result.status is Status.STATEMENT_ILL_FORMED
        assert result.detail.startswith("lemma h2 1:1: Unknown identifier `y`")


async def test_a_leaf_that_fails(kernel: EmbeddedKernel) -> None:
    leaves: dict[str, str | Sequence[str]] = {"h1": ["intro n\nrfl"], "h2": ["skip", "exact nonsense"]}
    result = await episode(kernel, BOTH, PLAN, leaves)
    assert result.status is Status.LEAF_FAILED
    assert result.detail == ("lemma h2: 2 attempts failed, the last: proof of h2 1:7: Unknown identifier `nonsense`")
    assert [outcome.status for outcome in result.lemma_outcomes] == [LemmaStatus.PROVED, LemmaStatus.FAILED]
    assert result.lemma_outcomes[1].detail == "proof of h2 1:7: Unknown identifier `nonsense`"
    assert result.leaf_attempts_used == 3
    assert stage(result, "leaves") == (StageStatus.FAILED, result.detail)


@pytest.mark.parametrize(
    ("budgets", "detail", "used"),
    [
        (replace(QUICK, max_total_leaf_attempts=1), "lemma h2: the plan's 1 leaf attempts are used up", 1),
        (replace(QUICK, max_total_leaf_attempts=0), "lemma h1: the plan's 0 leaf attempts are used up", 0),
        (replace(QUICK, leaf_attempts_per_lemma=0), "lemma h1: leaf_attempts_per_lemma is 0", 0),
    ],
)
async def test_attempts_that_run_out(kernel: EmbeddedKernel, budgets: Budgets, detail: str, used: int) -> None:
    result = await episode(kernel, BOTH, PLAN, LEAVES, budgets=budgets)
    assert result.status is Status.BUDGET_EXHAUSTED
    assert result.detail.startswith(detail)
    assert result.leaf_attempts_used == used


async def test_attempts_allowed_to_the_last_one(kernel: EmbeddedKernel) -> None:
    budgets = replace(QUICK, max_total_leaf_attempts=2, leaf_attempts_per_lemma=1, max_lemmas=2)
    assert (await episode(kernel, BOTH, PLAN, LEAVES, budgets=budgets)).status is Status.VERIFIED


async def test_a_composed_theorem_that_fails_where_its_pieces_passed(kernel: EmbeddedKernel) -> None:
    # In the composed theorem, and only there, the first alternative names something: the theorem itself.
    completion = plan("first | exact my_add_zero | exact h1", "h1 : ∀ n : Nat, n + 0 = n")
    result = await episode(kernel, ADD_ZERO, completion, LEAVES)
    assert result.status is Status.COMPOSE_FAILED
    assert result.detail.startswith("composed theorem: fail to show termination")
    assert stage(result, "kernel")[0] is StageStatus.FAILED
    assert result.artifact is not None


async def test_a_check_that_takes_too_long_is_the_plans_failure(kernel: EmbeddedKernel) -> None:
    completion = plan("repeat (have h : True := trivial)", "h1 : True")
    result = await episode(kernel, ADD_ZERO, completion, budgets=Budgets(verify_timeout_s=2.0))
    assert (result.status, result.detail) == (
        Status.PLAN_INVALID,
        "assembly: its check ran out of time (verify_timeout_s)",
    )


async def test_a_check_that_overflows_the_stack_is_the_plans_failure(kernel: EmbeddedKernel) -> None:
    result = await episode(kernel, ADD_ZERO, plan("exact " + "(" * 60_000))
    assert (result.status, result.detail) == (
        Status.PLAN_INVALID,
        "assembly: brought its check down: stack overflow",
    )


# --- what leaves may be ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "proof",
    [
        "intro p q h\nexact ⟨h.2, h.1⟩",
        "by\n  intro p q h\n  exact ⟨h.2, h.1⟩",
        "fun _ _ h => ⟨h.2, h.1⟩",
        "intro p q h\r\nexact ⟨h.2, h.1⟩\r\n",
        "intro p q h\n-- a comment\n\nconstructor\n· exact h.2\n· exact h.1 -- done",
        "intro p q h; exact And.intro (match h with\n  | ⟨_, b⟩ => b) h.1",
        "flip_again",
    ],
)
async def test_leaf_proofs_in_all_their_shapes(kernel: EmbeddedKernel, proof: str) -> None:
    context = "theorem flip_again (p q : Prop) (h : p ∧ q) : q ∧ p := ⟨h.2, h.1⟩"
    goal = GoalSpec("swap", "∀ p q : Prop, p ∧ q → q ∧ p", "swap", context)
    result = await episode(kernel, goal, plan("exact h", f"h : {goal.prop}"), {"h": proof})
    assert (result.status, result.detail) == (Status.VERIFIED, "")


@pytest.mark.parametrize(
    ("proof", "detail"),
    [
        ("sorry", "proof of h1 1:1: `sorry` is not allowed"),
        ("intro n\nset_option maxRecDepth 10 in rfl", "proof of h1 2:1: `set_option` is not allowed"),
        ("intro n\nstop\nskip", "proof of h1 2:1: not allowed in a plan: "),
        ("intro n\nrfl\n)", "proof of h1 3:1: does not parse: "),
        ("intro n\nrfl\n/-", "proof of h1 3:1: `/-` is not closed"),
        ("intro n\nrfl\u200b", "proof of h1 2:4: U+200B is not allowed"),
        ("intro n\nrfl\ud800", "proof of h1 2:4: U+D800 is not allowed"),
        ("intro n\nrfl \x00", "proof of h1 2:5: U+0000 is not allowed"),
        ("intro n\nexact my_add_zero n", "proof of h1 2:7: Unknown identifier `my_add_zero`"),
    ],
)
async def test_what_a_leaf_does_wrong_is_that_attempts_failure(kernel: EmbeddedKernel, proof: str, detail: str) -> None:
    completion = plan("exact h1", "h1 : ∀ n : Nat, n + 0 = n")
    alone = await run_episode(ADD_ZERO, completion, kernel=kernel, leaf=Verbatim(proof), budgets=QUICK)
    assert alone.status is Status.LEAF_FAILED
    assert alone.lemma_outcomes[0].detail.startswith(detail)
    both = Verbatim(proof, "intro n\nrfl")
    followed = await run_episode(ADD_ZERO, completion, kernel=kernel, leaf=both, budgets=QUICK)
    assert followed.status is Status.VERIFIED
    assert followed.leaf_attempts_used == 2


async def test_equal_proofs_of_a_lemma_are_checked_once_and_charged_each_time(kernel: EmbeddedKernel) -> None:
    watched = Watched(kernel)
    completion = plan("exact h1", "h1 : ∀ n : Nat, n + 0 = n")
    result = await episode(watched, ADD_ZERO, completion, {"h1": ["skip", "skip", "skip", "intro n\nrfl"]})
    assert (result.status, result.leaf_attempts_used) == (Status.VERIFIED, 4)
    proofs = [source for source in watched.sources if source.declaration != ADD_ZERO.name]
    assert len([source for source in proofs if any(part.label == "proof of h1" for part in source.parts)]) == 2


async def test_equal_lemmas_are_told_apart(kernel: EmbeddedKernel) -> None:
    leaves: dict[str, str | Sequence[str]] = {"h1": ["exact nonsense", "trivial"], "h2": ["exact nonsense"] * 2}
    completion = plan("intro n\nrfl", "h1 : True", "h2 : True")
    result = await episode(kernel, ADD_ZERO, completion, leaves, parallel=False)
    assert result.lemma_outcomes[1].detail == "proof of h2 1:7: Unknown identifier `nonsense`"


# --- names, scopes, universes ----------------------------------------------------------------------------------------


async def test_a_lemma_name_does_not_change_what_a_statement_says(kernel: EmbeddedKernel) -> None:
    completion = plan("exact h2", "Nat : True", "h2 : ∀ n : Nat, n + 0 = n")
    leaves: dict[str, str | Sequence[str]] = {"Nat": "trivial", "h2": "intro n\nrfl"}
    assert (await episode(kernel, ADD_ZERO, completion, leaves)).status is Status.VERIFIED


async def test_comments_at_the_end_of_every_part(kernel: EmbeddedKernel) -> None:
    completion = plan("exact h1 -- by h1\n-- done", "h1 : ∀ n : Nat, n + 0 = n -- clear")
    result = await episode(kernel, ADD_ZERO, completion, {"h1": "intro n\nrfl -- done"})
    assert (result.status, result.detail) == (Status.VERIFIED, "")


async def test_a_lemma_in_any_universe_is_granted_as_it_will_be_proved(kernel: EmbeddedKernel) -> None:
    goal = GoalSpec("refl", "∀ (α : Type) (a : α), a = a", "my_refl")
    completion = plan("exact h", "h : ∀ (α : Type _) (a : α), a = a")
    result = await episode(kernel, goal, completion, {"h": "intro α a\nrfl"})
    assert (result.status, result.detail) == (Status.VERIFIED, "")


async def test_names_resolve_in_the_goals_namespace_at_every_stage(kernel: EmbeddedKernel) -> None:
    context = "def Deep.two : Nat := 2\ntheorem Deep.two_eq : Deep.two = 2 := rfl"
    goal = GoalSpec("ns", "two = 2", "Deep.down.goal", context)
    result = await episode(kernel, goal, plan("exact h", "h : two = 2"), {"h": "exact two_eq"})
    assert (result.status, result.detail) == (Status.VERIFIED, "")


# --- the goal's author's mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize(
    ("goal", "field"),
    [
        (GoalSpec("g", "∀ n : Nat, n + 0 =", "g1"), "goal g: prop"),
        (GoalSpec("g", "True) : True", "g1"), "goal g: prop"),
        (GoalSpec("g", "Nat", "g1"), "goal g: prop"),
        (GoalSpec("g", "x = x", "g1"), "goal g: prop"),
        (GoalSpec("g", "True", "g1", "def two : Nat := true"), "goal g: context"),
        (GoalSpec("g", "True", "g1", "namespace Open"), "goal g: name"),
        (GoalSpec("g", "True", "g1", "theorem g1 : True := trivial"), "goal g: prop"),
    ],
)
@pytest.mark.parametrize("completion", [plan("trivial"), plan("trivial", "h : True")])
async def test_a_goal_that_does_not_elaborate_is_nobodys_score(
    kernel: EmbeddedKernel, goal: GoalSpec, field: str, completion: str, parallel: bool
) -> None:
    with pytest.raises(InputError) as caught:
        await episode(kernel, goal, completion, {"h": "trivial"}, parallel=parallel)
    assert caught.value.field == field


async def test_a_goal_is_checked_once_by_a_scorer_that_remembers(kernel: EmbeddedKernel) -> None:
    watched = Watched(kernel)
    seen = GoalsSeen()
    for _ in range(3):
        await episode(watched, ADD_ZERO, plan("intro n\nrfl"), goals_seen=seen)
    assert len(watched.commands("goal")) == 1
    await episode(watched, replace(ADD_ZERO, context="def other : Nat := 0"), plan("intro n\nrfl"), goals_seen=seen)
    assert len(watched.commands("goal")) == 2


def test_the_memory_of_goals_is_bounded() -> None:
    seen = GoalsSeen(capacity=2)
    kernels = [KernelIdentity("embedded", "4.35.0", f"prelude@{i}") for i in range(3)]
    for identity in kernels:
        seen.add(identity, ADD_ZERO)
    assert [seen.has(identity, ADD_ZERO) for identity in kernels] == [False, True, True]


# --- names of check theorems -----------------------------------------------------------------------------------------


async def test_check_theorems_have_names_that_differ_from_run_to_run_unless_one_key_is_given(
    kernel: EmbeddedKernel,
) -> None:
    runs = [Watched(kernel) for _ in range(4)]
    for watched, key in zip(runs, (None, None, b"k", b"k"), strict=True):
        await episode(watched, BOTH, PLAN, LEAVES, tag_key=key, parallel=False)
    names = [{str(source.declaration) for source in watched.sources} - {"both"} for watched in runs]
    assert len(names[0]) == 5
    assert names[0].isdisjoint(names[1])
    assert names[2] == names[3]
    assert [source.command for source in runs[2].sources] == [source.command for source in runs[3].sources]


# --- infrastructure --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("call", [1, 2, 3, 4, 5, 6, 7])
async def test_a_kernel_that_is_lost_is_never_a_verdict(kernel: EmbeddedKernel, call: int, parallel: bool) -> None:
    before = asyncio.all_tasks()
    watched = Watched(kernel, fail=[call])
    with pytest.raises(KernelUnavailable, match="lost"):
        await episode(watched, BOTH, PLAN, LEAVES, parallel=parallel)
    assert watched.running == 0
    assert asyncio.all_tasks() <= before


class Verbatim:
    """A prover that gives these texts for every statement, as they are."""

    identity = "verbatim"

    def __init__(self, *proofs: str) -> None:
        self.proofs = proofs
        self.max_attempts = len(proofs)

    async def attempts(self, task: LeafTask, indices: Sequence[int]) -> Sequence[LeafAttempt]:
        return [LeafAttempt(index, self.proofs[index]) for index in indices]


class Absent:
    """A prover whose server does not answer, or gives what it was not asked for."""

    identity = "absent"
    max_attempts = None

    def __init__(self, answers: Sequence[LeafAttempt] | None) -> None:
        self.answers = answers

    async def attempts(self, task: LeafTask, indices: Sequence[int]) -> Sequence[LeafAttempt]:
        if self.answers is None:
            raise LeafUnavailable("server down")
        return self.answers


@pytest.mark.parametrize("answers", [None, [], [LeafAttempt(7, "rfl")]])
async def test_a_prover_that_is_lost_is_never_a_verdict(
    kernel: EmbeddedKernel, answers: Sequence[LeafAttempt] | None
) -> None:
    watched = Watched(kernel)
    with pytest.raises(LeafUnavailable):
        await run_episode(BOTH, PLAN, kernel=watched, leaf=Absent(answers), budgets=QUICK)
    assert watched.running == 0


async def test_a_cancelled_episode_leaves_nothing_running(kernel: EmbeddedKernel) -> None:
    before = asyncio.all_tasks()
    watched = Watched(kernel)
    slow = plan("repeat (have h : True := trivial)", "h1 : True", "h2 : True")
    running = asyncio.create_task(episode(watched, ADD_ZERO, slow))
    image = kernel.stats().image_pid
    assert image is not None
    await until(lambda: watched.running and busy_children_of(image))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert watched.running == 0
    assert asyncio.all_tasks() <= before
    assert kernel.stats().in_flight == 0


@pytest.mark.parametrize("completion", [plan("exact cheat.elim"), plan("exact h", "h : False")])
async def test_an_axiom_in_the_goals_context_is_its_authors_to_mend(kernel: EmbeddedKernel, completion: str) -> None:
    goal = GoalSpec("g", "1 = 2", "g1", "axiom cheat : False")
    with pytest.raises(InputError, match="axiom cheat") as caught:
        await episode(kernel, goal, completion, {"h": "exact cheat"})
    assert caught.value.field == "goal g: context"


async def test_the_last_word_is_the_audits(kernel: EmbeddedKernel) -> None:
    result = await episode(kernel, BOTH, PLAN, LEAVES)
    assert result.audit_constants is not None
    assert result.audit_constants >= 1
    assert result.timings["audit_a_s"] > 0
    assert result.timings["audit_b_s"] > 0
    assert "audit_c_s" in result.timings
