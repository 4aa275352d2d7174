"""The audit on a live kernel: what it accepts, what it refuses and why, and whose fault an end is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.audit import attacks
from rlmath.kernel.audit.attacks import BYTE_ATTACKS, TEXT_ATTACKS, Forger, run_attacks
from rlmath.kernel.audit.certify import ALLOWED, Auditor, References
from rlmath.kernel.audit.constants import CONSTRUCTOR, DEFINITION, INDUCTIVE, OPAQUE, THEOREM, Constant
from rlmath.kernel.audit.forge import Writer
from rlmath.kernel.audit.tables import APP, BVAR, FORALL, LAMBDA, LITERAL, PARAM, SORT, SUCC
from rlmath.kernel.embedded import EmbeddedKernel, Limits
from rlmath.kernel.embedded.outcome import export_of
from rlmath.kernel.embedded.wire import End, JobKind, Outcome, Piece, Trial, encode_source, part
from rlmath.kernel.protocol import AuditRule, AuditVerdict, Certificate, CheckResult, Source
from rlmath.source import compose, goal_check
from rlmath.types import GoalSpec, Plan

SWAP = GoalSpec("swap", "∀ p q : Prop, p ∧ q → q ∧ p", "swap")
SWAPPED = "exact fun _ _ h => ⟨h.2, h.1⟩"
FALSE = GoalSpec("false", "1 = 2", "goal")


async def certify(
    kernel: EmbeddedKernel, goal: GoalSpec, command: str, *, own_context: str | None = None, as_text: bool = False
) -> Certificate:
    """Certify a command, ungated, as if all gates had been passed."""
    source = Source(command, goal.context if own_context is None else own_context)
    return await kernel.certify(source, goal_check(goal), timeout_s=30, as_text=as_text)


async def verdict(kernel: EmbeddedKernel, goal: GoalSpec, command: str, **options: str) -> AuditVerdict:
    certificate = await certify(kernel, goal, command, own_context=options.get("own_context"))
    assert certificate.audit is not None, certificate.check
    return certificate.audit


async def judge(kernel: EmbeddedKernel, goal: GoalSpec, export: bytes) -> AuditVerdict:
    """Have an export of our own making judged."""
    auditor = await kernel.auditor()
    reference = goal_check(goal)
    check, wanted = await auditor.reference(reference, encode_source(reference), 30)
    assert wanted is not None, check
    return await auditor.judge(Trial(goal.name, ALLOWED, export, wanted), CheckResult())


# --- what is accepted -------------------------------------------------------------------------------------------------


async def test_an_honest_theorem(kernel: EmbeddedKernel) -> None:
    source = compose(SWAP, Plan((), SWAPPED), {})
    certificate = await kernel.certify(source, goal_check(SWAP), timeout_s=30)
    assert certificate.check.errors == ()
    audit = certificate.audit
    assert audit is not None
    assert (audit.accepted, audit.rule, audit.reason, audit.axioms, audit.constants) == (True, None, "", (), 1)
    assert audit.exported is None
    assert {"a", "b", "c", "decode", "replay"} <= audit.timings.keys()


async def test_a_goal_is_elaborated_once(kernel: EmbeddedKernel) -> None:
    goal = GoalSpec("once", "∀ n : Nat, n + 0 = n ∧ True", "once")
    source = compose(goal, Plan((), "exact fun n => ⟨rfl, trivial⟩"), {})
    before = await kernel.check(goal_check(goal), timeout_s=30)
    assert before.elapsed_s > 0
    certificate = await kernel.certify(source, goal_check(goal), timeout_s=30)
    assert certificate.audit is not None
    assert certificate.audit.accepted
    assert certificate.audit.timings["c"] == 0
    again = await kernel.check(goal_check(goal), timeout_s=30)
    assert replace(again, elapsed_s=0.0) == replace(before, elapsed_s=0.0)


async def test_axioms_are_told_by_name(kernel: EmbeddedKernel) -> None:
    goal = GoalSpec("em", "∀ p : Prop, p ∨ ¬p", "em_again")
    audit = await verdict(kernel, goal, "theorem em_again : ∀ p : Prop, p ∨ ¬p := Classical.em")
    assert audit.accepted
    assert audit.axioms == ("Classical.choice", "Quot.sound", "propext")


HONEST: dict[str, tuple[str, str, str]] = {
    "structural recursion": (
        "def fact : Nat → Nat\n| 0 => 1\n| n + 1 => (n + 1) * fact n",
        "fact 3 = 6",
        "rfl",
    ),
    "recursion by a measure": (
        "def half : Nat → Nat\n| 0 => 0\n| n + 1 => half (n / 2)\ntermination_by n => n\ndecreasing_by omega",
        "half 0 = 0",
        "by rw [half]",
    ),
    "mutual recursion": (
        "mutual\ndef even : Nat → Bool\n| 0 => true\n| n + 1 => odd n\n"
        "def odd : Nat → Bool\n| 0 => false\n| n + 1 => even n\nend",
        "even 4 = true",
        "rfl",
    ),
    "an inductive type": (
        "inductive Tree | leaf | node (l r : Tree)\n"
        "def Tree.size : Tree → Nat\n| .leaf => 1\n| .node l r => l.size + r.size",
        "Tree.size (.node .leaf .leaf) = 2",
        "rfl",
    ),
    "a nested inductive type": (
        "inductive Rose | mk (children : List Rose)",
        "∀ r : Rose, ∃ l, r = .mk l",
        "fun | .mk l => ⟨l, rfl⟩",
    ),
    "mutual inductive predicates": (
        "mutual\ninductive Ev : Nat → Prop\n| z : Ev 0\n| s (n) : Od n → Ev (n + 1)\n"
        "inductive Od : Nat → Prop\n| s (n) : Ev n → Od (n + 1)\nend",
        "Ev 2",
        ".s _ (.s _ .z)",
    ),
    "an indexed family": (
        "inductive Vec (α : Type) : Nat → Type\n| nil : Vec α 0\n| cons {n} (a : α) (t : Vec α n) : Vec α (n + 1)\n"
        "def Vec.head {α n} : Vec α (n + 1) → α\n| .cons a _ => a",
        "∀ (α : Type) (a : α), (Vec.cons a .nil).head = a",
        "fun _ _ => rfl",
    ),
    "structures, one in another": (
        "structure P where\n  x : Nat\n  y : Nat := 3\nstructure Q extends P where\n  z : x = y",
        "∀ q : Q, q.x = q.y",
        "fun q => q.z",
    ),
    "a class and its instances": (
        "class Foo (α : Type) where\n  foo : α\ninstance : Foo Nat := ⟨3⟩\n"
        "instance {α : Type} [Foo α] : Foo (List α) := ⟨[Foo.foo]⟩",
        "(Foo.foo : List Nat) = [3]",
        "rfl",
    ),
    "derived instances": (
        "inductive C | a | b\nderiving DecidableEq",
        "C.a ≠ C.b",
        "by decide",
    ),
    "an opaque constant": ("opaque secret : Nat", "secret = secret", "rfl"),
    "a partial function, which nothing uses": ("partial def loop (n : Nat) : Nat := loop n", "1 = 1", "rfl"),
    "unsafe code, which nothing uses": ("unsafe def loop : Nat := loop", "1 = 1", "rfl"),
    "a sorry in the context, which nothing uses": ("theorem bad : 1 = 2 := sorry", "1 = 1", "rfl"),
    "choice in the context": ("noncomputable def chosen : Nat := Classical.choice ⟨0⟩", "chosen = chosen", "rfl"),
    "universes": (
        "universe u v\ninductive L (α : Type u) | nil | cons (a : α) (t : L α)",
        "∀ (α : Type u) (β : Sort v) (a : α) (b : β), L.cons a .nil = L.cons a .nil ∧ b = b",
        "fun _ _ _ _ => ⟨rfl, rfl⟩",
    ),
    "a universe that only the proof needs": (
        "universe u",
        "True",
        "(fun _ => trivial) (show ∀ (α : Type u) (a : α), a = a from fun _ _ => rfl)",
    ),
    "variables of the context": (
        "variable (n : Nat) {α : Type} [Inhabited α]",
        "n = n ∧ (default : α) = default",
        "⟨rfl, rfl⟩",
    ),
    "an open namespace": ("namespace A.B\ndef k := 4\nend A.B\nopen A.B", "k = 4", "rfl"),
    "texts and characters": ("def s := \"hé\\nllo\"\ndef c := 'x'", "s = \"hé\\nllo\" ∧ c = 'x'", "⟨rfl, rfl⟩"),
    "numerals of any size": (f"def b := {1 << 70}", f"b = {1 << 70} ∧ b + {(1 << 63) - 1} ≠ {1 << 63}", "by decide"),
    "matches inside a proof": (
        "",
        "∀ n : Nat, n = 0 ∨ 0 < n",
        "fun n => match n with\n| 0 => Or.inl rfl\n| n + 1 => Or.inr (Nat.succ_pos n)",
    ),
    "recursion inside a proof": (
        "",
        "∀ n : Nat, 0 ≤ n",
        "by\n  let rec f (n : Nat) : 0 ≤ n := match n with\n"
        "    | 0 => Nat.le_refl 0\n    | n + 1 => Nat.le_step (f n)\n  exact f",
    ),
}


@pytest.mark.parametrize("goal_name", ["goal", "Deep.er.«a goal»"])
@pytest.mark.parametrize("name", HONEST)
async def test_honest_work_is_accepted(kernel: EmbeddedKernel, name: str, goal_name: str) -> None:
    context, prop, proof = HONEST[name]
    goal = GoalSpec(name, prop, goal_name, context)
    audit = await verdict(kernel, goal, f"theorem {goal_name} : {prop} :=\n  {proof}")
    assert audit.accepted, audit.reason


# --- what is refused --------------------------------------------------------------------------------------------------


async def test_a_check_that_is_not_clean_is_not_audited(kernel: EmbeddedKernel) -> None:
    for command in ("theorem goal : 1 = 2 := rfl", "theorem goal : 1 = 2 := sorry", "theorem goal : 1 = "):
        assert (await certify(kernel, FALSE, command)).audit is None
    refused_by_the_gate = compose(FALSE, Plan((), "exact sorry"), {})
    assert (await kernel.certify(refused_by_the_gate, goal_check(FALSE), timeout_s=30)).audit is None
    endless = compose(FALSE, Plan((), "repeat (have h : True := trivial)"), {})
    certificate = await kernel.certify(endless, goal_check(FALSE), timeout_s=0.2)
    assert certificate.check.timed_out
    assert certificate.audit is None


BAD = "Bad"


def inductive(*constructors: str, name: str = BAD, **changes: object) -> list[Constant]:
    """`inductive NAME : Type` with constant constructors, in a forger's tables."""
    f = FORGER
    number = f.tables.name(name)
    made = tuple(f.tables.name(c) for c in constructors)
    type_ = f.tables.expr((SORT, f.tables.levels.number((SUCC, 0))))
    first = Constant(INDUCTIVE, number, (), type_, block=(number,), constructors=made)
    return [
        Constant(**{**vars(first), **changes}),
        *(Constant(CONSTRUCTOR, c, (), f.const(name), belongs_to=number) for c in dict.fromkeys(made)),
    ]


FORGER = Forger()
"""One set of tables for all exports below, so that they can be built anywhere."""


def export(*constants: Constant) -> bytes:
    return Writer(FORGER.tables).module([*constants, FORGER.proved()])


def with_changed_level() -> bytes:
    f = FORGER
    u = f.tables.name("u")
    sort = f.tables.expr((SORT, f.tables.levels.number((PARAM, u))))
    return export(Constant(DEFINITION, f.tables.name("d"), (), f.tables.expr((FORALL, sort, sort)), f.const("id")))


def literal_of(value: int | str, type_: str) -> bytes:
    f = FORGER
    return export(Constant(DEFINITION, f.tables.name("d"), (), f.const(type_), f.tables.expr((LITERAL, value))))


F = FORGER
FORGED: dict[str, tuple[bytes, AuditRule | None]] = {
    "nothing but the goal": (export(), None),
    "an inductive type with nothing amiss": (export(*inductive("Bad.a", "Bad.b")), None),
    "a constructor with the recursor's name": (export(*inductive("Bad.rec")), "declarations"),
    "a constructor with an auxiliary recursor's name": (export(*inductive("Bad.rec_1")), "declarations"),
    "a definition with the recursor's name": (
        export(*inductive("Bad.a"), F.theorem("Bad.rec", F.const("True"), F.const("True.intro"))),
        "declarations",
    ),
    "a constructor twice": (export(*inductive("Bad.a", "Bad.a")), "declarations"),
    "a constructor that is not there": (export(inductive("Bad.a")[0]), "declarations"),
    "a constructor of no type": (export(inductive("Bad.a")[1]), "declarations"),
    "a constructor of what is no type": (
        export(Constant(CONSTRUCTOR, F.tables.name("x"), (), F.const("True"), belongs_to=F.tables.name("goal"))),
        "declarations",
    ),
    "two types that do not agree on their block": (
        export(
            *inductive("Bad.a", block=(F.tables.name(BAD), F.tables.name("Other"))),
            *inductive("Other.a", name="Other"),
        ),
        "declarations",
    ),
    "two types of one block": (
        export(
            *inductive("Bad.a", block=(F.tables.name(BAD), F.tables.name("Other"))),
            *inductive("Other.a", name="Other", block=(F.tables.name(BAD), F.tables.name("Other"))),
        ),
        None,
    ),
    "a block without its types": (export(*inductive("Bad.a", block=())), "declarations"),
    "a block of another type": (export(*inductive("Bad.a", block=(F.tables.name("Nat"),))), "declarations"),
    "a block that has the type twice": (
        export(*inductive("Bad.a", block=(F.tables.name(BAD), F.tables.name(BAD)))),
        "declarations",
    ),
    "more parameters than there are": (export(*inductive("Bad.a", parameters=3)), "kernel"),
    "other universes for a constructor": (
        export(replace(inductive("Bad.a")[0], levels=(F.tables.name("u"),)), inductive("Bad.a")[1]),
        "declarations",
    ),
    "a recursor of our own": (
        export(*inductive("Bad.a"), Constant(7, F.tables.name("Bad.rec"), (), belongs_to=F.tables.name(BAD))),
        None,
    ),
    "a recursor of another name, and its use": (
        export(
            *inductive("Bad.a"),
            Constant(7, F.tables.name("Bad.fake"), (), belongs_to=F.tables.name(BAD)),
            F.theorem("t", F.const("True"), F.const("Bad.fake")),
        ),
        "kernel",
    ),
    "a name that the environment has": (
        export(F.theorem("And.intro", F.const("True"), F.const("True.intro"))),
        "declarations",
    ),
    "a name that the kernel knows": (
        export(F.theorem("Lean.reduceBool", F.const("True"), F.const("True.intro"))),
        "declarations",
    ),
    "a constant that nobody has": (export(F.theorem("t", F.const("True"), F.const("nobody"))), "declarations"),
    "a theorem that uses itself": (export(F.theorem("t", F.const("False"), F.const("t"))), "kernel"),
    "a theorem that is no proposition": (export(F.theorem("t", F.const("Nat"), F.const("Nat.zero"))), "kernel"),
    "a universe that is not declared": (with_changed_level(), "kernel"),
    "too few universes for a constant": (
        export(F.theorem("t", F.const("True"), F.app(F.const("id"), F.const("True"), F.const("True.intro")))),
        "kernel",
    ),
    "a projection out of bounds": (
        export(F.theorem("t", F.const("True"), F.tables.expr((11, F.tables.name("And"), 7, F.const("True.intro"))))),
        "kernel",
    ),
    "a numeral of the right type": (literal_of(1 << 80, "Nat"), None),
    "a numeral of the wrong type": (literal_of(3, "Bool"), "kernel"),
    "a text of the right type": (literal_of("a\0é", "String"), None),
    "an axiom": (export(Constant(0, F.tables.name("ax"), (), F.const("False"))), "axioms"),
    "an opaque constant of no type": (
        export(Constant(OPAQUE, F.tables.name("o"), (), F.const("False"), F.const("True.intro"))),
        "kernel",
    ),
    "an endless reduction": (
        export(
            F.theorem(
                "t",
                F.app(
                    F.const("Eq", F.tables.levels.number((SUCC, 0))),
                    F.const("Nat"),
                    F.app(F.const("Nat.pow"), F.tables.expr((LITERAL, 2)), F.tables.expr((LITERAL, 1 << 60))),
                    F.const("Nat.zero"),
                ),
                F.app(F.const("rfl", F.tables.levels.number((SUCC, 0))), F.const("Nat"), F.const("Nat.zero")),
            )
        ),
        "kernel",
    ),
}


@pytest.mark.parametrize("name", FORGED)
async def test_exports_made_by_hand(kernel: EmbeddedKernel, name: str) -> None:
    data, rule = FORGED[name]
    audit = await judge(kernel, GoalSpec("true", "True", "goal"), data)
    assert (audit.accepted, audit.rule) == (rule is None, rule), audit.reason
    assert (audit.constants > 0) == audit.accepted


@pytest.mark.parametrize(
    ("levels", "rule"), [(["u"], None), (["v", "u"], None), ([], "statement"), (["v"], "statement")]
)
async def test_a_theorem_has_the_universes_that_it_mentions(
    kernel: EmbeddedKernel, levels: list[str], rule: AuditRule | None
) -> None:
    """`∀ (α : Type u) (a : α), a = a`, with more universe parameters than the reference, or fewer."""
    f = Forger()
    t = f.tables
    up = t.levels.number((SUCC, t.levels.number((PARAM, t.name("u")))))
    sort, zero, one = t.expr((SORT, up)), t.expr((BVAR, 0)), t.expr((BVAR, 1))
    equal = f.app(f.const("Eq", up), one, zero, zero)
    type_ = t.expr((FORALL, sort, t.expr((FORALL, zero, equal))))
    proof = t.expr((LAMBDA, sort, t.expr((LAMBDA, zero, f.app(f.const("Eq.refl", up), one, zero)))))
    data = f.export(Constant(THEOREM, t.name("goal"), tuple(map(t.name, levels)), type_, proof))
    audit = await judge(kernel, GoalSpec("g", "∀ (α : Type u) (a : α), a = a", "goal", "universe u"), data)
    assert (audit.accepted, audit.rule) == (rule is None, rule), audit.reason


async def test_a_statement_resting_on_the_contexts_own_sorry_is_its_authors_fault(kernel: EmbeddedKernel) -> None:
    goal = GoalSpec("g", "q = q", "goal", "noncomputable def q : Nat := sorry")
    with pytest.raises(InputError, match="sorryAx"):
        await verdict(kernel, goal, "theorem goal : q = q := rfl")


async def test_a_reference_that_does_not_stand_is_its_authors_fault(kernel: EmbeddedKernel) -> None:
    for goal, said in (
        (GoalSpec("g", "nowhere", "goal"), "nowhere"),
        (GoalSpec("g", "True", "goal", "axiom a : False"), "axiom a"),
        (GoalSpec("g", "True", "goal", "namespace Open"), "no theorem goal"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            await verdict(kernel, goal, "theorem goal : True := trivial", own_context="")
        assert caught.value.field == "reference"


# --- resources --------------------------------------------------------------------------------------------------------


def deep_term(depth: int) -> bytes:
    """A proof that is `id (id (… trivial))`, `depth` deep."""
    f = Forger()
    true, level = f.const("True"), 0
    wrap = f.tables.expr((APP, f.const("id", level), true))
    term = f.const("True.intro")
    for _ in range(depth):
        term = f.tables.expr((APP, wrap, term))
    return f.export(f.theorem("goal", true, term))


def exponential_level(depth: int) -> bytes:
    """`True` proved with a type in a universe that is a shared tree of 2^depth levels."""
    f = Forger()
    level, other = 0, f.tables.levels.number((SUCC, 0))
    u = f.tables.levels.number((PARAM, f.tables.name("u")))
    for _ in range(depth):
        level, other = f.tables.levels.number((2, u, other)), f.tables.levels.number((3, other, level))
    sort = f.tables.expr((SORT, other))
    proof = f.tables.expr((APP, f.tables.expr((LAMBDA, sort, f.const("True.intro"))), f.const("Nat")))
    return f.export(Constant(THEOREM, f.tables.name("goal"), (f.tables.name("u"),), f.const("True"), proof))


@pytest.fixture(scope="module")
async def tight() -> AsyncIterator[EmbeddedKernel]:
    limits = Limits(judge_seconds=2, judge_memory_bytes=1 << 29)
    async with EmbeddedKernel(slots=1, limits=limits) as kernel:
        yield kernel


async def test_a_term_too_deep_for_the_kernel_is_refused(tight: EmbeddedKernel) -> None:
    true = GoalSpec("true", "True", "goal")
    assert (await judge(tight, true, deep_term(100))).accepted
    audit = await judge(tight, true, deep_term(200_000))
    assert not audit.accepted
    assert audit.rule in ("resources", "kernel")


async def test_a_judge_that_runs_out_of_time_is_a_refusal(tight: EmbeddedKernel) -> None:
    audit = await judge(tight, GoalSpec("true", "True", "goal"), exponential_level(200))
    assert not audit.accepted
    assert audit.rule in ("resources", "kernel")


async def test_a_kernel_that_has_judged_such_things_goes_on(tight: EmbeddedKernel) -> None:
    assert (await verdict(tight, SWAP, f"theorem swap : {SWAP.prop} := by {SWAPPED}")).accepted


async def test_an_export_beyond_the_limits_is_the_submissions_fault() -> None:
    async with EmbeddedKernel(slots=1, limits=Limits(export_bytes=100_000)) as kernel:
        goal = GoalSpec("g", "True", "goal")
        many = "\n".join(f"theorem t{i} : {i} + {i} = {i + i} := rfl" for i in range(400))
        certificate = await certify(kernel, goal, f"{many}\ntheorem goal : True := trivial")
        assert certificate.check.crashed == "output limit"
        assert certificate.audit is None


# --- whose fault an end is --------------------------------------------------------------------------------------------


def ended(end: End, report: bytes = b"", status: int = 0, stderr: bytes = b"") -> Outcome:
    return Outcome(end, status, 0.5, 0.0, 0.1, 1 << 20, stderr, report)


def saying(*pieces: tuple[Piece, bytes]) -> Outcome:
    return ended(End.REPORTED, b"".join(part(kind, payload) for kind, payload in pieces))


def auditor_whose_judge(ends: Outcome, *, export: bytes = b"x") -> Auditor:
    """An auditor whose image is at the far side of a wire that says what it is told to."""

    async def submit(kind: JobKind, job: bytes, seconds: float) -> Outcome:
        return ends if kind is JobKind.JUDGE else saying((Piece.EXPORT, export), (Piece.END, b""))

    return Auditor(submit, Limits(), References())


TRIAL = Trial("goal", ALLOWED, b"a", b"c")
ACCEPTED = json.dumps({**vars(AuditVerdict(True, constants=1)), "axioms": []}).encode()


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (ended(End.TIMED_OUT), "time"),
        (ended(End.FLOODED), "output limit"),
        (ended(End.DIED, status=11), "signal 11"),
        (ended(End.DIED, status=6, stderr=b"Stack overflow detected. Aborting."), "stack overflow"),
        (ended(End.DIED, status=6, stderr=b"std::bad_alloc"), "memory"),
        (ended(End.DIED, part(Piece.VERDICT, ACCEPTED), status=11), "signal 11"),
        (ended(End.TIMED_OUT, part(Piece.VERDICT, ACCEPTED)), "time"),
    ],
)
async def test_a_judge_that_dies_refuses_whatever_it_said_before(end: Outcome, said: str) -> None:
    audit = await auditor_whose_judge(end).judge(TRIAL, CheckResult())
    assert (audit.accepted, audit.rule) == (False, "resources")
    assert said in audit.reason


@pytest.mark.parametrize(
    "end",
    [
        ended(End.DIED, status=9),
        ended(End.DIED, status=15),
        ended(End.DIED, status=70 << 8, stderr=b"Traceback"),
        ended(End.REPORTED),
        saying((Piece.END, b"")),
    ],
)
async def test_a_judge_that_others_killed_or_that_says_nothing_gives_no_verdict(end: Outcome) -> None:
    with pytest.raises(KernelUnavailable):
        await auditor_whose_judge(end).judge(TRIAL, CheckResult())


UNGATED = replace(goal_check(FALSE), template=None, parts=())
REFUSED = json.dumps({**vars(AuditVerdict(False, "kernel", "no")), "axioms": []}).encode()


async def test_what_the_submissions_process_says_of_a_judgement_is_not_heard() -> None:
    async def submit(kind: JobKind, job: bytes, seconds: float) -> Outcome:
        if kind is JobKind.JUDGE:
            return saying((Piece.VERDICT, REFUSED))
        return saying((Piece.VERDICT, ACCEPTED), (Piece.EXPORT, b"x"), (Piece.TIMINGS, b"{}"))

    auditor = Auditor(submit, Limits(), References())
    certificate = await auditor.certify(Source("theorem goal : True := trivial"), b"", UNGATED, 5)
    assert certificate.audit is not None
    assert not certificate.audit.accepted


async def test_a_check_that_exports_nothing_is_refused() -> None:
    async def submit(kind: JobKind, job: bytes, seconds: float) -> Outcome:
        return saying((Piece.EXPORT, b"x")) if json.loads(job)[5] else saying((Piece.TIMINGS, b"{}"))

    auditor = Auditor(submit, Limits(), References())
    source = Source("theorem goal : True := trivial")
    certificate = await auditor.certify(source, encode_source(source), UNGATED, 5)
    assert certificate.audit is not None
    assert (certificate.audit.accepted, certificate.audit.rule) == (False, "artifact")


# --- the start-up gate ------------------------------------------------------------------------------------------------


async def test_a_live_kernel_stops_the_built_in_attacks(kernel: EmbeddedKernel) -> None:
    await run_attacks(await kernel.auditor())
    assert len(TEXT_ATTACKS) + len(BYTE_ATTACKS) >= 20


@pytest.mark.parametrize("attack", [*TEXT_ATTACKS, *BYTE_ATTACKS], ids=lambda a: a.name)
async def test_a_kernel_that_judges_one_attack_wrongly_will_not_score(
    kernel: EmbeddedKernel, attack: attacks.TextAttack | attacks.ByteAttack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every attack in turn is expected to end otherwise than it does: as if its rule had stopped working."""
    live = await kernel.auditor()
    otherwise: AuditRule | None = "kernel" if attack.rule is None else None
    changed = replace(attack, rule=otherwise)
    monkeypatch.setattr(attacks, "TEXT_ATTACKS", [changed] if isinstance(changed, attacks.TextAttack) else [])
    monkeypatch.setattr(attacks, "BYTE_ATTACKS", [changed] if isinstance(changed, attacks.ByteAttack) else [])
    with pytest.raises(KernelUnavailable, match="will not score") as caught:
        await run_attacks(live)
    assert attack.name in str(caught.value)


async def test_a_judge_that_accepts_everything_will_not_score() -> None:
    with pytest.raises(KernelUnavailable, match="will not score"):
        await run_attacks(auditor_whose_judge(saying((Piece.VERDICT, ACCEPTED))))


async def test_a_judge_that_refuses_everything_will_not_score() -> None:
    with pytest.raises(KernelUnavailable, match="an honest theorem"):
        await run_attacks(auditor_whose_judge(saying((Piece.VERDICT, REFUSED))))


# --- references -------------------------------------------------------------------------------------------------------


def test_references_are_forgotten_when_they_grow_too_many() -> None:
    references = References(capacity_bytes=250)
    sources = [Source(f"theorem goal : {n} = {n} := sorry", reference=True) for n in range(4)]
    for source in sources[:2]:
        references.keep(source, CheckResult(), bytes(100))
    assert references.find(sources[0]) is not None
    references.keep(sources[2], CheckResult(), bytes(100))
    assert [references.find(source) is not None for source in sources[:3]] == [True, False, True]
    references.keep(sources[3], CheckResult(), bytes(1_000))
    assert [references.find(source) is not None for source in sources] == [False, False, False, True]


async def test_a_reference_is_elaborated_once_for_all_who_wait() -> None:
    asked = 0

    async def submit(kind: JobKind, job: bytes, seconds: float) -> Outcome:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0.01)
        return saying((Piece.EXPORT, attacks.honest()), (Piece.TIMINGS, b"{}"))

    auditor = Auditor(submit, Limits(), References())
    source = Source("theorem goal : True := sorry", declaration="goal", reference=True)
    found = await asyncio.gather(*(auditor.reference(source, b"", 5) for _ in range(5)))
    assert asked == 1
    assert {wanted for _, wanted in found} == {attacks.honest()}


async def test_a_reference_outlives_whoever_asked_first() -> None:
    async def submit(kind: JobKind, job: bytes, seconds: float) -> Outcome:
        await asyncio.sleep(0.01)
        return saying((Piece.EXPORT, attacks.honest()), (Piece.TIMINGS, b"{}"))

    auditor = Auditor(submit, Limits(), References())
    source = Source("theorem goal : True := sorry", declaration="goal", reference=True)
    first = asyncio.ensure_future(auditor.reference(source, b"", 5))
    second = asyncio.ensure_future(auditor.reference(source, b"", 5))
    await asyncio.sleep(0)
    first.cancel()
    _, wanted = await second
    assert wanted == attacks.honest()


async def test_an_export_is_not_sent_unless_asked_for(kernel: EmbeddedKernel) -> None:
    source = Source("theorem goal : True := trivial")
    auditor = await kernel.auditor()
    assert export_of(await auditor.submit(JobKind.CHECK, encode_source(source), 20)) is None
    assert export_of(await auditor.submit(JobKind.EXPORT, encode_source(source), 20)) is not None
