"""The shape of a plan in numbers, for training logs: does it decompose the goal, or hand it on?

They are diagnostics. Restating the goal is legal and no number here touches a reward or a verdict; they are there from
the first run so that a drift towards plans that decompose nothing shows in the logs (the wire format's `plan_*`
statistics, `plan_restatement_max` above all).

Statements are compared as token sequences, normalised so that notation does not count: comments and spacing are
dropped, `ℕ` is `Nat` (and its like), ASCII operators are their symbols, `∀ (a b : T),` is `∀ a : T, ∀ b : T,`, a
hypothesis `∀ (h : P),` that nothing mentions is `P →`, and bound names are numbers. It is an approximation: it knows no
scopes, and takes a name to mean the last binder of that name before it.
"""

from __future__ import annotations

from collections import Counter
from itertools import count, islice
from statistics import fmean

from rlmath.lexer import RESERVED_WORDS, Kind, components, tokens
from rlmath.types import GoalSpec, Lemma, Plan

COMPARED_TOKENS = 2048
"""Of a statement, only so many tokens are compared: with `COMPARED_LEMMAS` it bounds the time."""
COMPARED_LEMMAS = 64
"""Only so many lemmas of a plan are compared, the first ones; a budget refuses longer plans anyway."""
NESTING = 2
"""How deep binders within the types of binders are normalised: each level reads a token once more."""
RESTATED = 0.95
"""From this similarity on a lemma counts as the goal restated. Chosen by us: one token in twenty may differ."""

SYNONYMS = {
    "ℕ": "Nat",
    "ℤ": "Int",
    "ℚ": "Rat",
    "ℝ": "Real",
    "ℂ": "Complex",
    "forall": "∀",
    "exists": "∃",
    "fun": "λ",
    "↦": "=>",
    "->": "→",
    "<->": "↔",
    "/\\": "∧",
    "\\/": "∨",
    "<=": "≤",
    ">=": "≥",
    "!=": "≠",
}
"""Spellings that count as the same."""
BINDERS = {"∀": ",", "∃": ",", "λ": "=>"}
"""What binds names, and what stands between the names and the body."""
BRACKETS = {"(": ")", "{": "}", "[": "]", "⦃": "⦄"}
LOOSER_THAN_ARROW = {"→", "↔", ",", "=>"}
"""Tokens for whose sake a hypothesis is written in parentheses before `→`."""


def plan_stats(plan: Plan, goal: GoalSpec) -> dict[str, float]:
    """Numbers about a plan, all of them always present, in bounded time.

    - `plan_n_lemmas`; `plan_assembly_lines` (not blank), `plan_assembly_chars`;
      `plan_lemma_chars_mean`, `plan_lemma_chars_max` (code points of the propositions; 0 without lemmas).
    - `plan_restatement_max`, `plan_restatement_mean`: `similarity` of the lemmas to the goal, 0 to 1.
      0 without lemmas; near 1: the goal was restated and handed on.
    - `plan_restates_goal`: 1 iff the maximum is at least `RESTATED`.
    - `plan_lemmas_unused`: lemmas whose name the assembly never mentions. `assumption`, `simp [*]` and the like use
      lemmas without naming them, so this is an upper bound.
    - `plan_duplicate_lemmas`: lemmas that state the same as an earlier one.
    """
    lengths = [len(lemma.prop) for lemma in plan.lemmas]
    goal_form = normal_form(goal.prop)
    forms = [normal_form(lemma.prop) for lemma in plan.lemmas[:COMPARED_LEMMAS]]
    likeness = [similarity(form, goal_form) for form in forms]
    restatement = max(likeness, default=0.0)
    return {
        "plan_n_lemmas": float(len(plan.lemmas)),
        "plan_assembly_lines": float(sum(bool(line.strip()) for line in plan.assembly.split("\n"))),
        "plan_assembly_chars": float(len(plan.assembly)),
        "plan_lemma_chars_mean": fmean(lengths) if lengths else 0.0,
        "plan_lemma_chars_max": float(max(lengths, default=0)),
        "plan_restatement_max": restatement,
        "plan_restatement_mean": fmean(likeness) if likeness else 0.0,
        "plan_restates_goal": float(restatement >= RESTATED),
        "plan_lemmas_unused": float(_unused(plan.lemmas, plan.assembly)),
        "plan_duplicate_lemmas": float(len(forms) - len(set(forms))),
    }


def similarity(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    """Likeness of two normal forms: twice the longest common subsequence over both lengths. 1.0 iff they are equal."""
    if not a or not b:
        return float(a == b)
    return 2 * _common(a, b) / (len(a) + len(b))


def normal_form(prop: str) -> tuple[str, ...]:
    """A statement as a token sequence in which notation does not count; at most `COMPARED_TOKENS` tokens are read."""
    words = [SYNONYMS.get(token.text, token.text) for token in islice(tokens(prop), COMPARED_TOKENS)]
    numbers: dict[str, str] = {}
    number = count()
    form: list[str] = []
    for binder, word in _spread(words, Counter(map(_head, words)), NESTING):
        head = _head(word)
        if binder:
            numbers[head] = f"#{next(number)}"
        form.append(binder + numbers.get(head, head) + word[len(head) :])
    return tuple(form)


def _spread(words: list[str], uses: Counter[str], nesting: int) -> list[tuple[str, str]]:
    """The words without parentheses around the whole, and one binder a name, as pairs (binder or "", word).

    `uses` counts each name in the whole statement; binders in the types of binders are spread `nesting` levels deep. At
    most about `COMPARED_TOKENS` words come back.
    """
    closer = _closers(words)
    at, stop = 0, len(words)
    while at < stop and words[at] == "(" and closer.get(at) == stop - 1:
        at, stop = at + 1, stop - 1
    form: list[tuple[str, str]] = []
    while at < stop and len(form) < COMPARED_TOKENS:
        binder = words[at]
        group = _binder_group(words, at, stop, closer)
        if group is None:
            binds = binder in BINDERS and at + 1 < stop and _is_name(words[at + 1])
            form.append((binder, words[at + 1]) if binds else ("", binder))
            at += 2 if binds else 1
            continue
        typed_names, at = group
        for names, kind in typed_names:
            spread = _spread(kind, uses, nesting - 1) if nesting else [("", word) for word in kind]
            hypothesis = [("", "("), *spread, ("", ")")] if LOOSER_THAN_ARROW.intersection(kind) else spread
            for name in names[: COMPARED_TOKENS // (1 + len(spread))]:
                if binder == "∀" and kind and (name == "_" or uses[name] == 1):
                    form += (*hypothesis, ("", "→"))
                else:
                    form += ((binder, name), *spread)
    return form


def _binder_group(
    words: list[str], at: int, stop: int, closer: dict[int, int]
) -> tuple[list[tuple[list[str], list[str]]], int] | None:
    """The names that the binder at `at` binds, by type, with the type's tokens (maybe none), and where the body begins.

    None when there is no binder at `at`, or one of another form (`∀ x ∈ s,`).
    """
    separator = BINDERS.get(words[at])
    if separator is None:
        return None
    at += 1
    typed_names: list[tuple[list[str], list[str]]] = []
    while at < stop and words[at] != separator:
        end = closer.get(at)
        if end is not None:
            inner = words[at + 1 : end]
            if ":" in inner:
                colon = inner.index(":")
                names, kind = inner[:colon], inner[colon + 1 :]
            else:
                names, kind = (["_"], inner) if words[at] == "[" else (inner, [])
            if not names or not all(map(_is_name, names)):
                return None
            typed_names.append((names, kind))
            at = end + 1
            continue
        first = at
        while at < stop and _is_name(words[at]):
            at += 1
        names, kind = words[first:at], []
        if not names:
            return None
        if at < stop and words[at] == ":":
            first = at = at + 1
            while at < stop and words[at] != separator:
                if words[at] in BINDERS:
                    return None
                at = closer.get(at, at) + 1
            kind = words[first:at]
        typed_names.append((names, kind))
    return (typed_names, at + 1) if typed_names and at < stop else None


def _closers(words: list[str]) -> dict[int, int]:
    """Index of the closing bracket for that of each opening one that has one."""
    closer: dict[int, int] = {}
    opened: list[int] = []
    for at, word in enumerate(words):
        if word in BRACKETS:
            opened.append(at)
        elif opened and word == BRACKETS[words[opened[-1]]]:
            closer[opened.pop()] = at
    return closer


def _head(word: str) -> str:
    """The first part of a dotted name: `h` of `h.left`."""
    return word.partition(".")[0]


def _is_name(word: str) -> bool:
    return (word[0].isalpha() or word[0] in "_«") and word not in RESERVED_WORDS and word not in BINDERS


def _common(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """Length of the longest common subsequence, in `len(a)` steps on integers of `len(b)` bits (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for at, word in enumerate(b):
        places[word] = places.get(word, 0) | 1 << at
    full = (1 << len(b)) - 1
    rest = full
    for word in a:
        hit = rest & places.get(word, 0)
        rest = ((rest + hit) | (rest - hit)) & full
    return len(b) - rest.bit_count()


def _unused(lemmas: tuple[Lemma, ...], assembly: str) -> int:
    mentioned = {components(token.text)[0] for token in tokens(assembly) if token.kind is Kind.WORD}
    return sum(lemma.name not in mentioned for lemma in lemmas)
