"""The lexical gate over untrusted Lean text, and the strict reading of an axiom report.

`scan` is the first of four gates and the cheapest: it knows Lean's tokens (`rlmath.lexer`) and no grammar. What needs
the grammar is left to the kernel's parser gate: that a part is one term, that `open … in` is not `open …`, that `stop`
or `trace` is a tactic and not somebody's name. A word is refused here only where it is no name in an honest plan.

Decided here, where the wire format says only "banned anywhere":
- No part holds a code point of `FORBIDDEN`, comments and strings included (a CR before a line feed is none).
- Comments and strings may hold any word; the braces of an interpolated string are code.
- A banned *word* is a whole token: `mysorry`, `unsafe'`, `Deriv.axiom`, `h.end`, `(f x).end` and `«axiom»` are names.
  But a `.` that is not glued to what precedes it makes no field: `.sorry` is a bullet and an admission.
- A banned *name* counts as any part of a dotted name, quoted or not: `_root_.«sorryAx»`.
- `#word` is refused, `#s` and `#A₁` are not: no command has one letter, and Mathlib writes cardinalities so.
- `open` and `scoped` are legal, for `open Nat in exact h` is honest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rlmath.lexer import FORBIDDEN, LETTERS, Kind, Token, components, position, tokens, word_set
from rlmath.types import Plan

AXIOM_WHITELIST = frozenset({"propext", "Classical.choice", "Quot.sound"})
"""The axioms of Lean's standard logic; a proof may rest on these and on nothing else."""

PLAN_FORMAT_WORDS = word_set(
    """
    sorry admit axiom native_decide set_option macro macro_rules elab notation notation3 syntax unsafe partial
    opaque implemented_by extern initialize
    """
)
"""The wire format's own list; its `#exit` is one of the `#word`s."""
COMMAND_WORDS = word_set(
    """
    abbrev add_decl_doc alias attribute binder_predicate builtin_initialize class coinductive
    coinductive_fixpoint declare_syntax_cat decreasing_by def deprecated_module deprecated_syntax deriving
    docs_to_verso dsimproc elab_rules end example export extends grind_pattern import include inductive
    inductive_fixpoint infix infixl infixr init_grind_norm init_quot instance irreducible_def lemma local meta
    mutual namespace noncomputable nonrec omit partial_fixpoint postfix prefix private proof_wanted protected
    public recall recommended_spelling register_builtin_option register_error_explanation register_option
    register_simp_attr register_tactic_tag seal section simproc structure suppress_compilation tactic_alt
    tactic_extension tactic_tag termination_by theorem unif_hint universe unlock_limits unseal variable where
    with_weak_namespace
    """
)
"""Words that begin or belong to a command, or that give a declaration a second one (`where`, `termination_by`)."""
METACODE_WORDS = word_set(
    """
    bv_check bv_decide bv_decide? by_elab dbg_trace idbg include_str leading_parser plausible polyrith
    run_cmd run_elab run_meta run_tac slim_check trailing_parser
    """
)
"""Words that run code of the submission's or a process, read a file, or trust a compiled evaluation."""
BANNED_SYMBOLS = frozenset({"@[", "eval%"})
"""Refused as a token: the start of an attribute, and evaluation at elaboration time. A doc comment is refused too: it
belongs to a declaration, or is a command itself."""
BANNED_WORDS = PLAN_FORMAT_WORDS | COMMAND_WORDS | METACODE_WORDS
"""Refused as a whole token."""
BANNED_NAMES = word_set("sorryAx lcProof ofReduceBool ofReduceNat reduceBool reduceNat trustCompiler")
"""Refused as any part of a name: axioms outside the whitelist, and what makes the kernel run compiled code."""


@dataclass(frozen=True)
class Banned:
    """What `scan` refused and where."""

    token: str
    """The token as it stands in the text."""
    line: int
    """1-based, in the text that was scanned."""
    column: int
    """0-based, in code points."""
    why: Literal["banned", "character", "unterminated", "ambiguous"] = "banned"
    """`banned`: the token itself. `character`: a code point that no plan may hold. `unterminated`: it opens a comment,
    string or quoted name that the text does not close, so it would swallow what follows. `ambiguous`: Lean's versions
    or environments read it differently."""


def scan(text: str) -> Banned | None:
    """The first thing in a Lean text (a proposition, an assembly, a leaf's proof) that no plan may hold, or None.

    Total, and linear in the text's length.
    """
    if found := _BAD_CHARACTER.search(text):
        return Banned(found[0], *position(text, found.start()), "character")
    token = _first_banned(tokens(text))
    if token is None:
        return None
    line, column = position(text, token.start)
    if token.kind is Kind.UNTERMINATED:
        return Banned(token.text, line, column, "unterminated")
    if token.kind is Kind.AMBIGUOUS:
        return Banned(token.text, line, column, "ambiguous")
    return Banned(token.text, line, column)


def scan_plan(plan: Plan) -> tuple[str, Banned] | None:
    """The first banned thing of a plan and its part: `lemma h1` (its name or its proposition) or `assembly`."""
    for lemma in plan.lemmas:
        if found := scan(lemma.name) or scan(lemma.prop):
            return f"lemma {lemma.name}", found
    if found := scan(plan.assembly):
        return "assembly", found
    return None


def parse_axioms(name: str, text: str) -> tuple[str, ...] | None:
    """The axioms that the `#print axioms` message `text` reports for the theorem of exactly the full name `name`.

    None when the text is not, character for character, such a message of Lean's about that theorem, or when an axiom's
    name is quoted, for quotes can hold commas: not believable, so no verdict. Compare the names with `AXIOM_WHITELIST`.
    """
    head = f"'{name}' "
    if not text.startswith(head):
        return None
    report = text[len(head) :]
    if report == "does not depend on any axioms":
        return ()
    listed = _AXIOMS.fullmatch(report)
    return tuple(re.split(r",\s+", listed[1])) if listed else None


_LETTER = re.compile(f"[{LETTERS}]")
_BAD_CHARACTER = re.compile(rf"(?!\r\n)[{FORBIDDEN}]")
_AXIOM = r"[^\s,'\[\]«»]+"
_AXIOMS = re.compile(rf"depends on axioms: \[({_AXIOM}(?:,(?: |\n ){_AXIOM})*)\]")


def _first_banned(stream: Iterable[Token]) -> Token | None:
    before = Token(Kind.SYMBOL, "", -1, -1)
    before_that = before
    for token in stream:
        if before.text == "native" and token.text == ":=":  # (native := true), which `decide` takes
            return before
        if _is_banned(token, before, before_that):
            return token
        before, before_that = token, before
    return None


def _is_banned(token: Token, before: Token, before_that: Token) -> bool:
    kind, text = token.kind, token.text
    if kind is Kind.WORD:
        if text in BANNED_WORDS:
            return not _is_field(token, before, before_that)
        if text == "native":  # decide +native
            return before.text == "+" and before.end == token.start
        return any(part in BANNED_NAMES for part in components(text))
    if kind is Kind.HASH:
        return len(_LETTER.findall(components(text[1:])[0])) > 1
    return kind in (Kind.DOC, Kind.UNTERMINATED, Kind.AMBIGUOUS) or text in BANNED_SYMBOLS


def _is_field(token: Token, before: Token, before_that: Token) -> bool:
    """Whether the word is a field of what precedes it: `(f x).end`, with nothing between."""
    return before.text == "." and before_that.text in (")", "]", "}", "⟩") and before_that.end + 1 == token.start
