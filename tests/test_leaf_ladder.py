"""The tactics ladder on a real kernel: every rung earns its place, and the first four do most of the work."""

from __future__ import annotations

import pytest

from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.tactics import LADDER
from rlmath.source import leaf_check
from rlmath.types import GoalSpec, Lemma
from rlmath.verdicts import leaf_problem

REACH = "inductive Reach : Nat → Prop where\n  | start : Reach 0\n  | step : ∀ n, Reach n → Reach (n + 1)"
COLOUR = """\
inductive Colour where
  | red : Colour
  | blue : Colour
def mix : Colour → Colour → Colour
  | .red, .red => .red
  | .red, .blue => .blue
  | .blue, .red => .blue
  | .blue, .blue => .red"""
INJECTIVE = "(∀ x y, f x = f y → x = y) → (∀ x y, g x = g y → x = y) → ∀ x y, g (f x) = g (f y) → x = y"

FIRST_PROVED_BY = [
    ("direct", "∀ a b : Nat, a < b → a + 1 ≤ b", ""),
    ("direct", "2 ^ 10 = 1024", ""),
    ("direct", "∀ x < 6, x * x < 30", ""),
    ("direct", "∀ p q : Prop, p ∧ q → q ∧ p", ""),
    ("direct", "∀ xs : List Nat, xs ++ [] = xs", ""),
    ("algebra", "∀ a x y : Nat, a * (x + y) = a * x + a * y", ""),
    ("algebra", "∀ n : Nat, (n + 1) * (n + 1 + 1) = n * (n + 1) + 2 * (n + 1)", ""),
    ("induction", "∀ n : Nat, 0 < 2 ^ n", ""),
    ("induction", "∀ n : Nat, n < 2 ^ n", ""),
    ("logic", "∀ p q : Prop, ((p → q) → p) → p", ""),
    ("logic", "∀ p q r : Prop, p ∧ (q ∨ r) ↔ (p ∧ q) ∨ (p ∧ r)", ""),
    ("witness", "∃ n : Nat, n * n = 9", ""),
    ("chain", f"∀ (α β γ : Type) (f : α → β) (g : β → γ), {INJECTIVE}", ""),
    ("structure", "∀ n : Nat, Reach n", REACH),
    ("cases", "∀ a b : Colour, mix a b = mix b a", COLOUR),
]


@pytest.mark.parametrize(("rung", "prop", "context"), FIRST_PROVED_BY, ids=[row[1] for row in FIRST_PROVED_BY])
async def test_the_first_rung_that_proves_it(kernel: EmbeddedKernel, rung: str, prop: str, context: str) -> None:
    goal, lemma = GoalSpec("ladder", "True", context=context), Lemma("h1", prop)
    problems: dict[str, str] = {}
    for each in LADDER:
        source = leaf_check(goal, lemma, each.script, "ladder")
        problem = leaf_problem(lemma, source, await kernel.check(source, timeout_s=30))
        if problem is None:
            assert each.name == rung
            return
        problems[each.name] = problem
    pytest.fail(f"no rung proves it: {problems}")


def test_every_rung_is_shown_to_earn_its_place() -> None:
    assert list(dict.fromkeys(rung for rung, _, _ in FIRST_PROVED_BY)) == [each.name for each in LADDER]
    assert all(each.reason for each in LADDER)


async def test_no_rung_proves_what_is_false(kernel: EmbeddedKernel) -> None:
    goal, lemma = GoalSpec("ladder", "True"), Lemma("h1", "∀ n : Nat, ∃ m : Nat, n + m = 2 * m + 1")
    for each in LADDER:
        source = leaf_check(goal, lemma, each.script, "ladder")
        result = await kernel.check(source, timeout_s=30)
        # Not for a slip of ours: a script that does not parse would also prove nothing.
        assert result.gate is not None
        assert result.gate.ok, each.name
        assert leaf_problem(lemma, source, result) is not None
