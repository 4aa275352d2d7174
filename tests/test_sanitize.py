"""The lexical gate: what no plan may hold is found by Lean's own lexical rules, and what only looks like it passes.

The readings in this file were checked against Lean 4.35's tokenizer and parser.
"""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from corpus import DATA, load_cases
from cost import grows_linearly
from hypothesis import example, given
from hypothesis import strategies as st

from rlmath.lexer import Kind, components, position, tokens, word_set
from rlmath.plan import PlanFormatError, parse_plan
from rlmath.sanitize import (
    AXIOM_WHITELIST,
    BANNED_NAMES,
    BANNED_WORDS,
    PLAN_FORMAT_WORDS,
    Banned,
    parse_axioms,
    scan,
    scan_plan,
)
from rlmath.types import Lemma, Plan

CASES = load_cases()
VECTORS = [json.loads(line) for line in (DATA / "audit_vectors.jsonl").read_text(encoding="utf-8").splitlines()]
ALL_TEXT = st.text(st.characters(codec=None), max_size=80)

# --- the corpus


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.expect == {"verified"}])
def test_honest_plans_and_proofs_pass(name: str) -> None:
    case = CASES[name]
    assert scan_plan(parse_plan(case.completion)) is None
    assert {lemma: scan(proof) for lemma, proof in case.leaf.items()} == dict.fromkeys(case.leaf)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.expect == {"sanitizer_rejected"}])
def test_what_must_be_rejected_by_the_sanitizer_is_caught_without_a_kernel(name: str) -> None:
    assert scan_plan(parse_plan(CASES[name].completion)) is not None


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.word_list and "verified" not in case.expect]
)
def test_what_a_word_list_catches_is_caught_here_or_before(name: str) -> None:
    case = CASES[name]
    try:
        found = scan_plan(parse_plan(case.completion)) or [p for p in case.leaf.values() if scan(p) is not None]
    except PlanFormatError:
        assert "format_error" in case.expect
    else:
        assert found


MISSED_BY_A_WORD_LIST = word_set(
    """
    breakout-end breakout-instance breakout-second-theorem breakout-where code-by-elab code-elab-rules code-eval
    code-include-str code-run-cmd code-simproc forge-exit-glued forge-guardmsgs forge-trace prop-instance-pollution
    sorry-ax-quoted comment-unclosed-tail prop-string-pair
    """
)


@pytest.mark.parametrize("name", sorted(MISSED_BY_A_WORD_LIST))
def test_breakouts_that_a_word_list_misses(name: str) -> None:
    assert scan_plan(parse_plan(CASES[name].completion)) is not None


# --- words and names


@pytest.mark.parametrize(
    "text", ["exact {}", "skip;{}", "(({}))", "⟨1, {} ⟩", "x\n  {}", "/- c -/{}/- c -/", "1{}", '"a"{}', ".{}", "..{}"]
)
def test_each_banned_token_is_found_wherever_a_token_may_stand(text: str) -> None:
    for word in sorted(BANNED_WORDS | BANNED_NAMES | {"#exit", "#eval!", "@[simp]", "eval% x", "+native"}):
        found = scan(text.format(word))
        assert found is not None, word
        assert found.why == "banned"
        assert word.lstrip("+").startswith(found.token)


def test_the_list_of_the_format_is_complete() -> None:
    listed = """
    sorry admit axiom native_decide set_option macro macro_rules elab notation notation3 syntax unsafe partial opaque
    implemented_by extern initialize
    """
    assert word_set(listed) == PLAN_FORMAT_WORDS


@pytest.mark.parametrize(
    "text",
    [
        "exact mysorry",
        "exact sorry'",
        "exact sorry!",
        "exact sorry?",
        "exact sorry₁",
        "exact unsafe'",
        "intro axiom_free partialOrder elab1 admitted syntaxTree",
        "exact Deriv.axiom h",
        "exact h.end",
        "exact (f x).end",
        "exact xs[0].end",
        "exact ⟨a, b⟩.end",
        "exact sorry.elim",
        "exact «axiom»",
        "exact «end of it»",
        "rfl -- closes without sorry",
        "rfl /- sorry /- sorry -/ sorry -/",
        'exact (rfl : "sorry" = "sorry")',
        'exact (rfl : ")" = ")")',
        "exact (rfl : ')' = ')')",
        'exact (rfl : r"\\" = r#"\\"#)',
        'exact (rfl : r#"" sorry "# = "")',
        "open Nat in exact h",
        "open scoped Nat in exact h",
        "decide +kernel",
        "exact native + 1",
        "exact x + native",
        "exact (stop - start) + trace",
        "intro ε hε δ h₁ x' x'' 𝓝",
        "exact s!\"{a} and \\{sorry} {b.c}\"",
        "rw [← Nat.add_comm] at h ⊢",
        "exact f '' s ⊆ t",
        "exact f ⁻¹' s",
        "exact ∑' n, f n",
        "exact xs[i]'(by simp)",
        "exact #s + #A₁ + #s.card",
        "exact #[1, 2]",
        "exact #v[1, 2]",
        "exact 1e5 + 0x1F + 1_000 + 1.5",
        "let rec f (n : Nat) : Nat := n",
        "exact fun x => x",
        "",
    ],
)  # fmt: skip
def test_what_only_looks_banned_passes(text: str) -> None:
    assert scan(text) is None


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("constructor\n.sorry\n.sorry", "sorry"),
        ("first | skip |.sorry", "sorry"),
        ("exact .sorry", "sorry"),
        ("exact [1...sorry]", "sorry"),
        ("exact 1.sorry", "sorry"),
        ("exact 1e5sorry", "sorry"),
        ("exact 1.1_0sorry", "sorry"),
        ("exact 0b1sorry", "sorry"),
        ("exact `sorry", "sorry"),
        ("exact «sorryAx» _ false", "«sorryAx»"),
        ("exact _root_.sorryAx _", "_root_.sorryAx"),
        ("exact sorryAx.comp", "sorryAx.comp"),
        ("exact Lean.«ofReduceBool»", "Lean.«ofReduceBool»"),
        ("decide +native", "native"),
        ("decide (native := true)", "native"),
        ("decide (config := { native := true })", "native"),
        ("/-/- -/ sorry -/ trivial", "sorry"),
        ("/- /-/ -/ -/ sorry", "sorry"),
        ('have s := r"\\"; exact sorry -- "', "sorry"),
        ("have c := '\"'; exact sorry; have d := '\"'", "sorry"),
        ("have c := '\\\"'; exact sorry", "sorry"),
        ("have c := '\\''; exact sorry", "sorry"),
        ('exact (fun (_ : "--" = "--") => sorry) rfl', "sorry"),
        ('exact (fun (_ : "/-" = "-/") => sorry) rfl', "sorry"),
        ("rw [<--sorry]", "sorry"),
        ("exact a \\/-sorry", "sorry"),
        ("exact {x //-sorry}", "sorry"),
        ("exact #r\"\\\"; exact sorry -- \"", "sorry"),
        ("exact xs[0]'\"a\" sorry", "sorry"),
        ('exact s!"{sorry}"', "sorry"),
        ('exact s! /- c -/ "a {b} {(sorry : String)}"', "sorry"),
        ("set_option/- -/\n  debug.«skipKernelTC»/- -/true in decide", "set_option"),
        ("exact trivial;#exit", "#exit"),
        ("#print axioms x", "#print"),
        ("let rec @[extern \"f\"] g := 1", "@["),
        ("/-- a doc comment -/ trivial", "/--"),
        ("/-! a module's doc comment -/ trivial", "/-!"),
    ],
)  # fmt: skip
def test_what_hides_is_found(text: str, token: str) -> None:
    found = scan(text)
    assert found is not None
    assert (found.token, found.why) == (token, "banned")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rfl /-", Banned("/-", 1, 4, "unterminated")),
        ("rfl /-/", Banned("/-", 1, 4, "unterminated")),
        ("rfl\n /- /- -/", Banned("/-", 2, 1, "unterminated")),
        ('exact "a\\"', Banned('"', 1, 6, "unterminated")),
        ('exact r#"a"', Banned('r#"', 1, 6, "unterminated")),
        ("exact «a", Banned("«", 1, 6, "unterminated")),
        ('exact s!"{f "a"}"', Banned("{", 1, 9, "unterminated")),
        ("skip |-- a", Banned("|--", 1, 5, "ambiguous")),
        ("f ⁻¹'\"'", Banned("'\"'", 1, 4, "ambiguous")),
        ("a\n  b\u200bc", Banned("\u200b", 2, 3, "character")),
        ("-- a\rsorry", Banned("\r", 1, 4, "character")),
        ("-- a\u2028b", Banned("\u2028", 1, 4, "character")),
        ("skip\n\n  exact sorry", Banned("sorry", 3, 8)),
        ("ε sorry", Banned("sorry", 1, 2)),
        ("a\r\nb", None),
    ],
)
def test_what_does_not_close_or_can_be_read_twice(text: str, expected: Banned | None) -> None:
    assert scan(text) == expected


def test_the_part_at_fault_is_named() -> None:
    good = Lemma("h1", "True")
    assert scan_plan(Plan((good,), "skip")) is None
    assert scan_plan(Plan((good, Lemma("h2", "(sorry : Prop)")), "skip")) == ("lemma h2", Banned("sorry", 1, 1))
    assert scan_plan(Plan((good, Lemma("admit", "True")), "skip")) == ("lemma admit", Banned("admit", 1, 0))
    assert scan_plan(Plan((good,), "skip\nstop; sorry")) == ("assembly", Banned("sorry", 2, 6))


# --- tokens

FRAGMENTS = sorted(
    word_set(
        """
        sorry a h' 1 1e5 . .. " ' '' '"' \\ -- - /- -/ / // < <- | ( ) [ ] ]' { } « » r r#" r" # "# @ ×' ⁻¹ λ ℕ ₁ ! s!
        := + eval% ` foo.sorry x.«y» \\/ /\\ <<< ∑'
        """
    )
)
SOUP = st.lists(st.sampled_from([*FRAGMENTS, " ", "\n", "/--", "{a}"]), max_size=12).map("".join)


@given(ALL_TEXT | SOUP)
def test_tokens_are_total_and_in_order(text: str) -> None:
    found = list(tokens(text))
    assert all(text.startswith(t.text, t.start) and t.start < t.end <= len(text) for t in found)
    outer = [t for t in found if not any(s.start < t.start < s.end for s in found if s.kind is Kind.STRING)]
    assert all(a.end <= b.start for a, b in pairwise(outer))
    assert all(t.kind is not Kind.UNTERMINATED for t in found[:-1])


@given(ALL_TEXT | SOUP)
@example('exact s!"{')
@example("a '")
@example("x.")
def test_a_text_that_passes_cannot_swallow_what_follows(text: str) -> None:
    if scan(text) is None:
        line = text.count("\n") + 2
        assert scan(f"{text}\nsorry") == Banned("sorry", line, 0)


@given(SOUP, SOUP)
def test_what_passes_on_two_lines_passes_on_each(first: str, second: str) -> None:
    if scan(f"{first}\n{second}") is None and scan(first) is None:
        assert scan(second) is None


@given(ALL_TEXT, st.integers(0, 80))
def test_positions_are_lines_and_columns(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    line, column = position(text, offset)
    assert text[:offset].split("\n")[line - 1 :] == [text[:offset].split("\n")[-1]]
    assert len(text[:offset].split("\n")[-1]) == column


def test_components_of_names() -> None:
    assert components("a.b'.c") == ["a", "b'", "c"]
    assert components("Nat.«a b.c».d") == ["Nat", "a b.c", "d"]


@pytest.mark.parametrize(
    "unit",
    [
        "exact foo (h1 n) <;> simp [h2]\n",
        "(",
        '"a" ',
        "/-",
        "/- -/ ",
        "'a' ",
        "'",
        's!"{a}" ',
        's!"{{{{" ',
        "a.«",
        "«a»",
        "r#",
        "1_",
        "--\n",
    ],
)
def test_time_is_linear_in_the_length(unit: str) -> None:
    small, large = (unit * (size // len(unit)) for size in (10_000, 100_000))
    assert grows_linearly(lambda: scan(small), lambda: scan(large))


# --- the axiom report


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["why"][:40])
def test_axiom_reports(vector: dict[str, str | bool]) -> None:
    axioms = parse_axioms(str(vector["name"]), str(vector["data"]))
    assert (axioms is not None and set(axioms) <= AXIOM_WHITELIST) == vector["clean"]


@pytest.mark.parametrize(
    ("text", "axioms"),
    [
        ("'My.g' does not depend on any axioms", ()),
        ("'My.g' depends on axioms: [propext]", ("propext",)),
        ("'My.g' depends on axioms: [a, Lean.b, g._native.x.ax_1]", ("a", "Lean.b", "g._native.x.ax_1")),
        ("'My.g' depends on axioms: [propext,\n Quot.sound]", ("propext", "Quot.sound")),
        ("'My.g' depends on axioms: []", None),
        ("'My.g' depends on axioms: [propext,Quot.sound]", None),
        ("'My.g' depends on axioms: [propext,\n\n Quot.sound]", None),
        ("'My.g' depends on axioms: [propext], [a]", None),
        ("'My.g' depends on axioms: [propext\n]", None),
        ("'My.g' depends on axioms: [«propext»]", None),
        ("'My.g' depends on axioms: [propext]\n", None),
        ("'My.g' does not depend on any axioms\n'My.g' depends on axioms: [sorryAx]", None),
        ("'My.g' does not depend on any axioms.", None),
        (" 'My.g' does not depend on any axioms", None),
        ("'g' does not depend on any axioms", None),
        ("'My.g'' does not depend on any axioms", None),
    ],
)  # fmt: skip
def test_only_lean_s_own_words_about_this_theorem_count(text: str, axioms: tuple[str, ...] | None) -> None:
    assert parse_axioms("My.g", text) == axioms


@given(ALL_TEXT, ALL_TEXT)
def test_reading_a_report_is_total(name: str, text: str) -> None:
    parse_axioms(name, text)
    parse_axioms(name, f"'{name}' depends on axioms: [{text}]")


@given(st.lists(st.from_regex(r"[A-Za-z]{1,5}(\.[a-z_]{1,5})?", fullmatch=True), min_size=1, max_size=5), st.data())
def test_reported_axioms_come_back(names: list[str], data: st.DataObject) -> None:
    listed = names[0] + "".join(data.draw(st.sampled_from([", ", ",\n "])) + name for name in names[1:])
    assert parse_axioms("t", f"'t' depends on axioms: [{listed}]") == tuple(names)
