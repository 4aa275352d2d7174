"""Lean's lexical rules, as far as a text can be cut into tokens without knowing its grammar.

`tokens(text)` leaves out white space and comments and yields everything else: words (identifiers and keywords, dotted
and quoted ones whole), numbers, string and character literals, symbols. It is total and runs in linear time.

The rules are those of Lean 4.35's own tokenizer, read off the running library: its token table, and its functions
`isIdFirst`, `isIdRest` and `runParserCategory`. Three of them are easy to get wrong, and each can hide a word:

- `--` and `/-` open a comment only where a token may begin: `<--x` is `<-` and `-x`, `a //-b` is `a`, `//`, `-b`.
- The character after an outermost `/-` is skipped unseen: `/-/- -/` is one whole comment, not two half-open ones.
- `'` belongs to what precedes it where a token says so (`h'`, `×'`), and only the environment knows all tokens.

Where two readings are possible and the difference could hide something, the token's kind is `AMBIGUOUS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

LETTERS = (
    "A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f\u0391-\u039f\u03a1\u03a2\u03a4-\u03a9\u03b1-\u03ba\u03bc-\u03fb"
    "\u1f00-\u1ffe\u2100-\u214f\U0001d49c-\U0001d59f"
)
"""What can begin a word, as a regular expression's set: ASCII, Latin, Greek without λ Π Σ, letter-like symbols."""
REST = LETTERS + "0-9'!?\u1d62-\u1d6a\u2080-\u2089\u2090-\u209c\u2c7c"
"""What can continue a word: also digits, primes, `!`, `?`, subscripts."""

FORBIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
"""Unicode's categories Cc without tab and line feed, Cf, Zl, Zp and Cs, as a regular expression's set: written out so
that every Python, whatever its Unicode version, judges alike."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text, to write long sets legibly."""
    return frozenset(text.split())


RESERVED_WORDS = word_set(
    """
    abbrev add_decl_doc alias assert_not_exists assert_not_imported at attribute axiom bif binder_predicate
    break builtin_initialize by calc catch cbv_eval class coinductive coinductive_fixpoint continue dbg_trace
    declare_bitwise_int_theorems declare_bitwise_uint_theorems declare_int_theorems declare_syntax_cat
    declare_uint_theorems decreasing_by def deprecated_module deprecated_syntax deriving do docs_to_verso elab
    elab_rules else end example exists export extends finally for forall from fun generalizing grind_pattern
    have haveI hiding idbg if import in include inductive inductive_fixpoint inferInstanceAs infix infixl infixr
    init_grind_norm init_quot initialize instance leading_parser lemma let let_delayed let_expr let_fun let_tmp
    letI local logNamedError logNamedErrorAt logNamedWarning logNamedWarningAt macro macro_rules match
    match_expr matches max_prec meta monotonicity_by mut mutual namespace nat_lit no_index nofun nomatch
    noncomputable nonrec norm_cast_add_elim notation notation3 omit opaque open partial partial_fixpoint postfix
    prefix private proof_wanted Prop protected public recall recommended_spelling register_error_explanation
    register_tactic_tag renaming repeat return run_cmd run_elab run_meta scoped seal section set_option show
    show_term show_term_elab simproc sorry Sort StateRefT structure suffices syntax tactic_alt tactic_extension
    tactic_name tactic_tag termination_by then theorem throwNamedError throwNamedErrorAt trailing_parser try
    Type universe unless unlock_limits unsafe unseal until using variable where while with with_weak_namespace
    without_expected_type
    """
)
"""Words that Lean never reads as a name. From the token table of Lean 4.35 with its own syntax loaded; `alias lemma
notation3 proof_wanted run_* simproc` come with Mathlib. Tactic names (`exact`, `rfl`) are no reserved words."""


SYMBOLS = word_set(
    """
    != #' #[ %[ && &&& '' *> ++ +1] ,* ,*,? ,+ ,+,? -> -[ .( .. .{ // /\\ :: := :=~ :=ₐ :=ₛ :~ :ₐ :ₛ ;* <$> <&&>
    <&> <* <*> <+ <+: <- <-> <:+ <:+: <;> <<< <= <=< <| <|> <||> =/= =<< == => =?= =~ =ₐ =ₛ >= >=> >> >>= >>> @&
    @[ \\/ ]' ^^ ^^^ |* |> |>. || ||| ~~~ ×' Σ' ⁻¹ ⊕'
    """
)
"""The tokens of more than one character that are no words, from the same table, and Mathlib's `''`. Lean takes the
longest, and where it ends decides whether `--`, `/-` or `'` begins anything there: in `<<<--x`, but not in `<--x`."""


class Kind(Enum):
    """What a token is."""

    WORD = "word"
    """An identifier or keyword; dotted parts and «quotes» included."""
    NUMBER = "number"
    STRING = "string"
    """A whole literal, raw or not. After an interpolating word (`s!`) the tokens in its braces follow it."""
    CHAR = "character"
    HASH = "#word"
    """`#` and the word glued to it."""
    SYMBOL = "symbol"
    """One of `SYMBOLS`, or else one character."""
    DOC = "doc comment"
    """`/--` or `/-!`, which begin a command or document a declaration; `end` is the comment's end."""
    UNTERMINATED = "unterminated"
    """A comment, literal, quoted name or interpolation that the text does not close. Always the last token."""
    AMBIGUOUS = "ambiguous"
    """Lean versions or environments differ on whether a comment or literal begins here."""


class Token(NamedTuple):
    """One token. `text` lies between `start` and `end`, but of a comment and of what is not closed it is the opener."""

    kind: Kind
    text: str
    start: int
    end: int


def _digits(digit: str) -> str:
    return rf"[{digit}]++(?:_++[{digit}]++)*+"


_PART = rf"(?:[{LETTERS}][{REST}]*+|«[^»]*+»)"
_TOKEN = re.compile(
    rf"""
      (?P<space> \s++ | --[^\n]*+ )
    | (?P<comment> /-[-!]? )
    | (?P<raw> r\#*+" )
    | (?P<special> eval% )
    | (?P<word> {_PART}(?:\.{_PART})*+ )
    | (?P<hash> \#(?!r\#*+"){_PART}(?:\.{_PART})*+ )
    | (?P<number> 0[xX]{_digits("0-9a-fA-F")} | 0[bB]{_digits("01")} | 0[oO]{_digits("0-7")}
                | {_digits("0-9")} (?:\.(?!\.)(?:{_digits("0-9")})?+)?+ (?:[eE][+-]?+{_digits("0-9")})?+ )
    | (?P<string> "[^"\\]*+(?:\\.[^"\\]*+)*+" )
    | (?P<doubtful> (?<= [^\x00-\x7f⟨] | ' ) '(?: \\. | [^\\'{LETTERS}] )' | \|-- )
    | (?P<char> '(?: \\(?: x[0-9a-fA-F]{{2}} | u[0-9a-fA-F]{{4}} | . ) | [^\\'] )' )
    | (?P<open> ["«] )
    | (?P<symbol> {"|".join(re.escape(s) for s in sorted(SYMBOLS, key=len, reverse=True))} | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = {
    "special": Kind.SYMBOL,
    "word": Kind.WORD,
    "hash": Kind.HASH,
    "number": Kind.NUMBER,
    "string": Kind.STRING,
    "doubtful": Kind.AMBIGUOUS,
    "char": Kind.CHAR,
    "symbol": Kind.SYMBOL,
}
_COMMENT_EDGE = re.compile(r"/-|-/")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_NAME_PART = re.compile(r"«([^»]*)»|([^.«»]+)")


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a Lean text, in order. Any string is accepted; see `Kind.UNTERMINATED` for what does not close."""
    return _tokens(text, 0, len(text))


def components(word: str) -> list[str]:
    """The parts of a dotted name without their quotes: `Nat.«a b»` gives `Nat` and `a b`."""
    return [quoted or plain for quoted, plain in _NAME_PART.findall(word)]


def position(text: str, offset: int) -> tuple[int, int]:
    """Line (1-based) and column (0-based, in code points) of an offset; lines end at `\\n` only, as in Lean."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1)


def _tokens(text: str, at: int, stop: int) -> Iterator[Token]:
    interpolates = False
    while at < stop:
        match = _TOKEN.match(text, at, stop)
        assert match is not None  # the last alternative takes any character
        group, begin, at = match.lastgroup or "", at, match.end()
        found = match.group()
        if group == "space":
            continue
        if group == "comment":
            at = _comment_end(text, begin, stop)
            if at < 0:
                yield Token(Kind.UNTERMINATED, found, begin, begin + len(found))
                return
            if len(found) == 3:
                yield Token(Kind.DOC, found, begin, at)
            continue
        if group == "raw":
            closer = '"' + "#" * (len(found) - 2)
            at = text.find(closer, at, stop) + len(closer)
            if at < len(closer):
                yield Token(Kind.UNTERMINATED, found, begin, begin + len(found))
                return
            yield Token(Kind.STRING, text[begin:at], begin, at)
        elif group == "open":
            yield Token(Kind.UNTERMINATED, found, begin, at)
            return
        else:
            yield Token(_KINDS[group], found, begin, at)
            if group == "string" and interpolates and "{" in found:
                for token in _interpolations(text, begin + 1, at - 1):
                    yield token
                    if token.kind is Kind.UNTERMINATED:
                        return
        interpolates = group == "word" and found.endswith("!")


def _comment_end(text: str, at: int, stop: int) -> int:
    """Offset after the block comment that opens at `at`, or -1. Nested ones count, but not in the next character."""
    depth, at = 1, at + 3
    while edge := _COMMENT_EDGE.search(text, at, stop):
        at = edge.end()
        depth += 1 if edge.group() == "/-" else -1
        if depth == 0:
            return at
    return -1


def _interpolations(text: str, at: int, stop: int) -> Iterator[Token]:
    """The tokens in the braces of an interpolated string's content.

    A brace that the content does not close is UNTERMINATED: there is a literal inside, and whether its quote ends the
    outer literal depends on whether the environment knows the interpolating token.
    """
    depth, opened = 0, at
    for brace in _BRACE.finditer(text, at, stop):
        if brace.group() == "{":
            if depth == 0:
                opened = brace.start()
            depth += 1
        elif brace.group() == "}" and depth > 0:
            depth -= 1
            if depth == 0:
                yield from _tokens(text, opened + 1, brace.start())
    if depth > 0:
        yield Token(Kind.UNTERMINATED, "{", opened, opened + 1)
