"""The shape of a plan in numbers: restatement is seen through renaming and notation, and the numbers cost little."""

from __future__ import annotations

import pytest
from corpus import load_cases
from cost import grows_linearly
from hypothesis import given
from hypothesis import strategies as st

from rlmath.detectors import COMPARED_LEMMAS, COMPARED_TOKENS, RESTATED, normal_form, plan_stats, similarity
from rlmath.plan import parse_plan
from rlmath.types import GoalSpec, Lemma, Plan

CASES = load_cases()
KEYS = {
    "plan_n_lemmas",
    "plan_assembly_lines",
    "plan_assembly_chars",
    "plan_lemma_chars_mean",
    "plan_lemma_chars_max",
    "plan_restatement_max",
    "plan_restatement_mean",
    "plan_restates_goal",
    "plan_lemmas_unused",
    "plan_duplicate_lemmas",
}


def plan(*props: str, assembly: str = "skip") -> Plan:
    return Plan(tuple(Lemma(f"h{i}", prop) for i, prop in enumerate(props)), assembly)


def stats(goal: str, *props: str, assembly: str = "skip") -> dict[str, float]:
    return plan_stats(plan(*props, assembly=assembly), GoalSpec("g", goal))


def likeness(a: str, b: str) -> float:
    return similarity(normal_form(a), normal_form(b))


def test_shape() -> None:
    found = stats("True", "True ∧ True", "a = b", assembly="exact foo\n\n  (h0.1 -- h1\n   )")
    assert found == {
        "plan_n_lemmas": 2,
        "plan_assembly_lines": 3,
        "plan_assembly_chars": 29,
        "plan_lemma_chars_mean": 8,
        "plan_lemma_chars_max": 11,
        "plan_restatement_max": pytest.approx(2 / 4),
        "plan_restatement_mean": pytest.approx(1 / 4),
        "plan_restates_goal": 0,
        "plan_lemmas_unused": 1,
        "plan_duplicate_lemmas": 0,
    }


def test_a_direct_close_has_no_restatement() -> None:
    found = stats("True")
    assert found.keys() == KEYS
    assert all(found[key] == 0 for key in KEYS - {"plan_assembly_lines", "plan_assembly_chars"})


@pytest.mark.parametrize(
    ("goal", "lemma"),
    [
        ("∀ n : Nat, n + 0 = n", "∀ n : Nat, n + 0 = n"),
        ("∀ n : Nat, n + 0 = n", "(∀  m:ℕ ,m + 0 = m /- the same -/)"),
        ("∀ a b : Nat, a < b → a + 1 ≤ b", "∀ (x y : ℕ), x < y -> x + 1 <= y"),
        ("∀ a b : Nat, a < b → a + 1 ≤ b", "∀ (a : Nat) {b : Nat} (h : a < b), a + 1 ≤ b"),
        ("∀ a : Int, ∀ b : Int, a = b", "forall (c d : ℤ), c = d"),
        ("∃ n : Nat, n = 0 ∧ ∀ m, m = n", "∃ k : ℕ, k = 0 /\\ ∀ i, i = k"),
        ("∀ f : Nat → Nat, (∀ x, f x = x) → f 1 = 1", "∀ (g : ℕ → ℕ) (h : ∀ y, g y = y), g 1 = 1"),
        ("∀ x ∈ s, x < 3", "∀ y ∈ s, y < 3"),
        ("(fun x : Nat => x) = fun (x) => x", "(λ y : ℕ ↦ y) = λ z ↦ z"),
        ("∀ h : p ∧ q, h.1 = h.left", "∀ k : p ∧ q, k.1 = k.left"),
        ("∀ _ : p, q", "p → q"),
        ("∀ (G : Type) [Group G], P G", "∀ {H : Type} [h : Group H], P H"),
    ],
)
def test_restating_the_goal_is_seen_through_notation(goal: str, lemma: str) -> None:
    assert likeness(goal, lemma) == 1
    found = stats(goal, "True", lemma)
    assert (found["plan_restatement_max"], found["plan_restates_goal"]) == (1, 1)


@pytest.mark.parametrize(
    ("goal", "lemma"),
    [
        ("∀ n : Nat, n + 0 = n", "∀ n : Nat, 0 + n = n"),
        ("∀ n : Nat, n + 0 = n", "∀ n : Int, n + 0 = n"),
        ("∀ a b : Nat, a < b → a + 1 ≤ b", "∀ a b : Nat, b < a → a + 1 ≤ b"),
        ("∀ p q : Prop, p ∧ q → q ∧ p", "∀ p q : Prop, p ∧ q → p"),
        ("(∀ n : Nat, n + 0 = n) ∧ ∀ a b : Nat, a < b → a ≤ b", "∀ n : Nat, n + 0 = n"),
        ("x = y", "y = z"),
    ],
)
def test_another_statement_is_none(goal: str, lemma: str) -> None:
    assert 0 < likeness(goal, lemma) < RESTATED
    assert stats(goal, lemma)["plan_restates_goal"] == 0


def test_restatements_of_the_corpus() -> None:
    restating = {
        name
        for name, case in CASES.items()
        if case.expect == {"verified"} and plan_stats(parse_plan(case.completion), case.goal)["plan_restates_goal"]
    }
    assert restating == {"ok-crlf", "ok-multiline-leaf", "ok-spaces"}


@pytest.mark.parametrize(
    ("assembly", "unused"),
    [
        ("exact h0 h1", 0),
        ("exact h0.trans (h1.2 x)", 0),
        ("rw [h0, ←h1]", 0),
        ("exact h0 -- h1", 1),
        ('exact f "h0" h1', 1),
        ("exact h0' h10", 2),
        ("assumption", 2),
        ("exact x.h0", 2),
        ("exact h1 /- open", 1),
    ],
)
def test_unused_lemmas(assembly: str, unused: int) -> None:
    assert stats("True", "a", "b", assembly=assembly)["plan_lemmas_unused"] == unused


def test_duplicate_lemmas() -> None:
    found = stats("True", "∀ n : Nat, n = n", "∀ m : ℕ, m = m", "(∀ k : Nat, k = k)", "True")
    assert found["plan_duplicate_lemmas"] == 2


def reference_lcs(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        previous = row
        row = [0]
        for j, y in enumerate(b):
            row.append(previous[j] + 1 if x == y else max(previous[j + 1], row[j]))
    return row[-1]


WORDS = st.lists(st.sampled_from("abcd"), max_size=12).map(tuple)
PIECES = [
    "∀",
    "∃",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "a",
    "b",
    "h.1",
    ":",
    ",",
    "→",
    "fun",
    "=>",
    "Nat",
    "_",
    '"',
    "/-",
    "∈",
]
STATEMENTS = st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)


@given(WORDS, WORDS)
def test_similarity_is_the_longest_common_subsequence(a: tuple[str, ...], b: tuple[str, ...]) -> None:
    expected = 2 * reference_lcs(a, b) / (len(a) + len(b)) if a and b else float(a == b)
    assert similarity(a, b) == pytest.approx(expected)
    assert (similarity(a, b) == 1) == (a == b)


ANY_TEXT = (st.text(max_size=60) | STATEMENTS).filter(str.strip)


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_all_numbers_are_there_for_any_text(goal: str, prop: str, assembly: str) -> None:
    found = stats(goal, prop, "True", assembly=assembly)
    assert found.keys() == KEYS
    assert all(isinstance(value, float) for value in found.values())
    assert 0 <= found["plan_restatement_mean"] <= found["plan_restatement_max"] <= 1
    assert stats(prop, prop)["plan_restatement_max"] == 1


@given(st.lists(st.sampled_from([piece for piece in PIECES if piece not in ('"', "/-", "fun")]), max_size=25))
def test_renaming_bound_names_does_not_count(pieces: list[str]) -> None:
    new = {"a": "x'", "b": "y", "h.1": "k.1"}
    statement = "∀ (a b : Nat) (h : p h), " + " ".join(pieces)
    renamed = "∀ (x' y : Nat) (k : p k), " + " ".join(new.get(piece, piece) for piece in pieces)
    assert likeness(statement, renamed) == 1


def hard_statement(tokens: int) -> str:
    """As many names as tokens in their type, in just under `tokens` tokens."""
    half = tokens // 2 - 5
    return f"∀ ({' '.join(f'a{i}' for i in range(half))} : {'b ' * half}), True"


@pytest.mark.parametrize(
    "unit", ["(", "∀ (x : ", "∀ x : ", "∀ a ", "((a)) ", "h = ", "∀ (x : T) ", "∀ (a a : ∀ (b b : c), "]
)
def test_long_statements_and_plans_cost_no_more_than_their_cap(unit: str) -> None:
    def cost_of(statements: int, tokens: int) -> object:
        prop = unit * tokens
        return stats(prop + "x", *[prop] * statements)

    at_cap = (COMPARED_LEMMAS // 8, COMPARED_TOKENS // 4)
    far_beyond = (COMPARED_LEMMAS // 8, COMPARED_TOKENS * 10)
    assert grows_linearly(lambda: cost_of(*at_cap), lambda: cost_of(*far_beyond))


def test_many_names_of_a_long_type_do_not_multiply() -> None:
    assert len(normal_form(hard_statement(COMPARED_TOKENS))) <= 2 * COMPARED_TOKENS
    assert grows_linearly(
        lambda: normal_form(hard_statement(COMPARED_TOKENS // 10)), lambda: normal_form(hard_statement(COMPARED_TOKENS))
    )


def test_lemmas_beyond_the_cap_are_counted_and_not_compared() -> None:
    found = stats("a = b", *["True"] * COMPARED_LEMMAS, "a = b")
    assert found["plan_n_lemmas"] == COMPARED_LEMMAS + 1
    assert found["plan_restatement_max"] == 0
