"""Proofs out of replies: the shapes that models write, totality, canonical form and linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmath.leaf.extract import as_tactics, extract_proof

NAME = "leaf_goal"


def proof(reply: str) -> str | None:
    return extract_proof(reply, name=NAME).proof


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param("```lean4\ntheorem leaf_goal : P := by\n  intro n\n  omega\n```", "intro n\nomega", id="restated"),
        pytest.param("```lean\nomega\n```", "omega", id="bare-tactics-in-lean-fence"),
        pytest.param("```\nby simp\n```", "simp", id="untagged-fence"),
        pytest.param("```tactics\nsimp\n```", "simp", id="tactics-fence"),
        pytest.param("Use ```lean4\nomega\n``` here", "omega", id="fence-opened-inside-a-line"),
        pytest.param("```lean4\nomega\n```lean4\nrfl\n```", "rfl", id="fence-opened-before-the-last-was-closed"),
        pytest.param(
            "```lean4\ntheorem leaf_goal : P := by\n  omega```\n", "omega", id="fence-closed-on-the-code-line"
        ),
        pytest.param("```lean4\ntheorem leaf_goal : P := by\n  omega", "omega", id="fence-never-closed"),
        pytest.param("by\n  intro n\n  omega", "intro n\nomega", id="raw-by"),
        pytest.param("  intro n\n  omega\n", "intro n\nomega", id="raw-tactics"),
        pytest.param("omega", "omega", id="raw-word"),
        pytest.param("fun n => rfl", "exact fun n => rfl", id="raw-term"),
        pytest.param("Nat.le_refl _", "exact Nat.le_refl _", id="raw-dotted-name-is-a-term"),
        pytest.param("theorem leaf_goal : P := by\n  omega", "omega", id="raw-theorem"),
        pytest.param("theorem leaf_goal : P := h.elim", "exact h.elim", id="term-mode"),
        pytest.param("theorem leaf_goal : P :=\n  fun n =>\n    rfl", "exact fun n =>\n  rfl", id="term-mode-lines"),
        pytest.param("```lean4\nexample : P := by simp\n```", "simp", id="example"),
        pytest.param("```lean4\n@[simp] theorem leaf_goal : P := by simp\n```", "simp", id="attribute"),
        pytest.param("```lean4\n@[simp]\nprivate lemma leaf_goal : P := by simp\n```", "simp", id="modifiers"),
        pytest.param("```lean4\ntheorem leaf_goal : P :=\n  by simp\n```", "simp", id="by-on-the-next-line"),
        pytest.param("<think>\n```lean4\nrfl\n```\n</think>\n```lean4\nomega\n```", "omega", id="think-stripped"),
        pytest.param("thoughts that the template opened\n</think>\nomega", "omega", id="think-opened-by-the-template"),
        pytest.param("omega\n<think> afterthought", "omega", id="think-at-the-end"),
        pytest.param("```lean4\nomega\r\nrfl\r\n```", "omega\nrfl", id="crlf"),
        pytest.param("```python\nprint()\n```\n```lean4\nomega\n```\n```text\nok\n```", "omega", id="other-languages"),
    ],
)
def test_shapes_that_models_write(reply: str, expected: str) -> None:
    assert proof(reply) == expected


def test_the_last_block_that_states_the_lemma_wins_over_a_sketch_and_an_aside() -> None:
    sketch = "```lean4\ntheorem leaf_goal : P := by\n  have h : Q := by sorry\n  exact f h\n```"
    final = "```lean4\nlemma helper : Q := by\n  rfl\n\ntheorem leaf_goal : P := by\n  omega\n```"
    aside = "```lean4\nexample : 1 = 1 := by\n  decide\n```"
    assert proof(f"Plan:\n{sketch}\nNow the proof.\n{final}\nFor instance:\n{aside}") == "omega"
    assert proof(f"{sketch}\nso:\n```lean4\nomega\n```") == "omega", "bare tactics after a sketch are the proof"


def test_a_theorem_of_another_name_is_taken_when_none_has_ours() -> None:
    assert proof("```lean4\ntheorem my_version : P := by\n  omega\n```") == "omega"


def test_a_restatement_with_binders_gets_its_intro() -> None:
    binders = "(a b : Nat) {c : Nat} [inst : Foo a] [Bar b] (h : a < b)"
    assert proof(f"```lean4\ntheorem leaf_goal {binders} : a ≤ b := by\n  omega\n```") == "intro a b c inst _ h\nomega"
    assert proof("theorem leaf_goal (n : Nat) (_ : 0 < n := by simp) : n = n := rfl") == "intro n _\nexact rfl"


def test_a_let_in_the_statement_is_not_taken_for_the_proof() -> None:
    assert proof("theorem leaf_goal : let a := 5; a = 5 := by\n  intro a\n  rfl") == "intro a\nrfl"


def test_comments_and_strings_start_nothing_and_end_nothing() -> None:
    reply = (
        "```lean4\n/- theorem leaf_goal : P := by\n  sorry -/\n-- theorem leaf_goal : P := by sorry\n"
        "theorem leaf_goal : f \"(:= by\" = '(' := by\n  omega\n```"
    )
    assert proof(reply) == "omega"


def test_what_follows_the_theorem_is_left_out_and_deeper_commands_are_not() -> None:
    reply = (
        "```lean4\ntheorem leaf_goal : P := by\n  set_option maxRecDepth 1 in\n  open Nat in\n  omega -- done\n\n"
        "/-- next -/\ntheorem other : Q := by rfl\n#print axioms leaf_goal\n```"
    )
    assert proof(reply) == "set_option maxRecDepth 1 in\nopen Nat in\nomega"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("by omega", "omega", id="by"),
        pytest.param("by\n  intro a b\n  intro h\n  omega", "intro a b\nintro h\nomega", id="by-block"),
        pytest.param("by by simp", "simp", id="by-twice"),
        pytest.param(":= by simp", "simp", id="assign-by"),
        pytest.param("by_cases h : p", "by_cases h : p", id="by-prefix-of-a-name"),
        pytest.param("by -- first\n  simp", "simp", id="comment-after-by"),
        pytest.param("-- first\nsimp -- why\n-- last", "simp", id="comments-around"),
        pytest.param("-- obvious", None, id="comment-only"),
        pytest.param("  \n ", None, id="blank"),
        pytest.param("trivial; exact x", "trivial; exact x", id="semicolon"),
        pytest.param("fun b => by cases b <;> rfl", "exact fun b => by cases b <;> rfl", id="fun"),
        pytest.param(".inl trivial", "exact .inl trivial", id="dot-constructor"),
        pytest.param(". simp", ". simp", id="cdot"),
        pytest.param("⟨a,\nb⟩", "exact ⟨a,\n  b⟩", id="anonymous-constructor"),
        pytest.param("(by simp)", "exact (by simp)", id="parenthesised-by"),
        pytest.param("(simp; rfl)", "(simp; rfl)", id="parenthesised-tactics"),
        pytest.param("5", "exact 5", id="numeral"),
        pytest.param("rfl", "rfl", id="both-a-term-and-a-tactic"),
        pytest.param("by simp [a,\n      b]", "simp [a,\n   b]", id="continuation-right-of-the-first-token"),
        pytest.param("by simp [a,\n b]", "simp [a,\n  b]", id="continuation-left-of-the-first-token"),
        pytest.param("by simp\n   rfl", "simp\nrfl", id="block-aligned-to-the-first-token"),
        pytest.param(
            "cases n with\n| zero => rfl\n| succ n => omega",
            "cases n with\n| zero => rfl\n| succ n => omega",
            id="alternatives",
        ),
        pytest.param(
            "have h : a := by\n  simp\n\nexact h",
            "have h : a := by\n  simp\n\nexact h",
            id="inner-blocks-keep-their-shape",
        ),
        pytest.param("x\ud800", None, id="lone-surrogate"),
    ],
)
def test_as_tactics(text: str, expected: str | None) -> None:
    assert as_tactics(text) == expected


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("<think>hmm", "inside <think>"),
        ("<think>hmm</think>\n ", "empty"),
        ("The statement is false.", "no Lean proof"),
        ("1. First we note", "no Lean proof"),
        ("**Proof.**", "no Lean proof"),
        ("```python\nprint(1)\n```", "none of Lean"),
        ("```lean4\n\n```", "empty"),
        ("```lean4\ntheorem leaf_goal : P\n```", "no proof after"),
        ("```lean4\ntheorem leaf_goal : P := by\n```", "no proof after"),
        ("a\udfff", "Unicode"),
    ],
)
def test_a_reply_without_a_proof_says_why(reply: str, detail: str) -> None:
    extraction = extract_proof(reply, name=NAME)
    assert extraction.proof is None
    assert detail in extraction.detail


PIECES = """```lean4⏎|```|⏎|⏎  |theorem leaf_goal |lemma x |: P |:= |by |by⏎|-- c⏎|/-|-/|"|\\|'|«|»|<think>|</think>
simp|⊢|intro h⏎|(|)|{|}|⟨|fun |@[|]|open A in⏎|#eval|α'|5|.|\t|\r⏎|s!|×'""".replace("\n", "|").replace("⏎", "\n")
LEANISH = st.lists(st.sampled_from(PIECES.split("|"))).map("".join)


@given(st.one_of(st.text(), LEANISH))
def test_extraction_is_total_and_its_result_is_canonical(reply: str) -> None:
    for result in (extract_proof(reply, name=NAME).proof, as_tactics(reply)):
        if result is None:
            continue
        assert result.strip() == result
        assert not result.startswith(("by ", "by\n", "--"))
        assert result != "by"
        assert as_tactics(f"by\n{result}") == result
        result.encode("utf-8")


@given(
    st.lists(
        st.sampled_from(["simp", "intro h", "  omega", "· rfl", "    exact h", "cases h with", "| inl a => simp"]),
        min_size=1,
    ),
    st.integers(0, 9),
)
def test_a_well_formed_block_comes_out_as_it_stood(lines: list[str], indent: int) -> None:
    block = "\n".join(["skip", *lines])
    indented = "\n".join(" " * (indent + 1) + line for line in block.split("\n"))
    for reply in (
        block,
        f"by\n{indented}",
        f"```lean4\ntheorem leaf_goal : P := by\n{indented}\n```",
        f"```lean\n{block}\n```",
    ):
        assert proof(reply) == block


HOSTILE = {
    "fences": "```\n",
    "fences-in-one-line": "``` a ",
    "theorems": "theorem a : p := by\n   open\n",
    "nested-theorems": "  theorem a : p := by\n",
    "assigns": ":= ",
    "open-strings": '"\\',
    "open-comments": "/-",
    "quotes": "«",
    "brackets": "(((((:=",
    "bys": "by ",
    "binders": "(a b : c) ",
    "thinks": "<think></think>",
    "lines": "  simp\n",
    "parens": "(",
    "blanks": " \n",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_is_linear(unit: str) -> None:
    def seconds(length: int) -> float:
        text = "theorem leaf_goal " + unit * (length // len(unit))
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            extract_proof(text, name=NAME)
            as_tactics(text[len("theorem leaf_goal ") :])
            best = min(best, time.process_time() - started)
        return best

    # Eight times the text: 8 when linear, 64 when quadratic.
    assert seconds(32_000) < 24 * max(seconds(4_000), 1e-4)
