"""Proof text out of what a model wrote: a reply, a code block, a restated theorem, a term or bare tactics.

Every function is total and linear in its input, and judges nothing: what comes out is untrusted text that the kernel
will check. Comments and strings are told from code by Lean's lexical rules, so that a `theorem` in a comment starts
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rlmath.lexer import Kind, tokens

EXTRACTION_VERSION = 1
"""Part of the attempt cache's key: raise it with every change that can give a different proof for the same reply."""


@dataclass(frozen=True)
class Extraction:
    """What a reply held. `proof` is tactic text as `LeafAttempt.proof` wants it; None with the reason in `detail`."""

    proof: str | None
    detail: str = ""


def extract_proof(reply: str, *, name: str) -> Extraction:
    """The proof in a model's reply to a prompt that asked for a proof of theorem `name`.

    Taken from the last Lean code block that either is bare tactics or states `name`; failing that from the last that
    states any theorem; a reply with no code block is read as a block itself. Reasoning up to `</think>` is dropped.
    """
    if not is_unicode(reply):
        return Extraction(None, "the reply is not valid Unicode")
    text = reply.replace("\r\n", "\n")
    text = text[text.rfind("</think>") + len("</think>") :] if "</think>" in text else text
    if "<think>" in text:
        text = text[: text.index("<think>")]
        if not text.strip():
            return Extraction(None, "the reply ended inside <think>")
    if not text.strip():
        return Extraction(None, "the reply is empty")
    blocks = list(_code_blocks(text))
    if not blocks:
        return _from_raw(text, name)
    lean = [block.text for block in blocks if block.tag in _LEAN_TAGS] or [b.text for b in blocks if not b.tag]
    if not lean:
        return Extraction(None, "the reply has code blocks, but none of Lean")
    return _from_blocks(lean, name)


def as_tactics(text: str) -> str | None:
    """Proof text in any of its usual shapes (`by …`, a term, bare tactics) as tactics to stand after `by`; None when it
    has no code or is no Unicode.

    A term becomes `exact …`. Lines keep their columns relative to one another; the first token stands in column 0.
    """
    if not is_unicode(text):
        return None
    code = _blank(text)
    start, is_block = _skip_by(code, 0)
    if start == len(code):
        return None
    return _layout(text, code, start, term=not is_block and _is_term(code, start))


def is_unicode(text: str) -> bool:
    """Whether `text` can be written as UTF-8: JSON may bring lone surrogates, which Lean can never be shown."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


# --- replies ----------------------------------------------------------------------------------------------------------

_LEAN_TAGS = frozenset({"lean", "lean4", "lean 4", "tactic", "tactics"})
_FENCE = re.compile(r"`{3,}")
_TAG = re.compile(r"[ \t]*([A-Za-z][\w+#.-]*(?: 4)?)?[ \t]*")


@dataclass(frozen=True)
class _Block:
    tag: str
    text: str


def _code_blocks(text: str) -> Iterator[_Block]:
    """Fenced blocks in their order. A fence opens at a line's start or before a Lean tag, and closes at a line's start
    or end; the last may stay open."""
    opened: tuple[str, int] | None = None
    line_end, at_start = -1, False
    for fence in _FENCE.finditer(text):
        if fence.start() > line_end:
            line_start = text.rfind("\n", line_end + 1, fence.start()) + 1 or line_end + 1
            line_end = text.find("\n", fence.end())
            line_end = len(text) if line_end < 0 else line_end
            at_start = not text[line_start : fence.start()].strip()
        else:
            at_start = False
        tag_match = _TAG.fullmatch(text, fence.end(), line_end)
        tag = (tag_match.group(1) or "").lower() if tag_match else ""
        if opened is not None:
            if not at_start and (tag or not tag_match):
                continue
            yield _Block(opened[0], text[opened[1] : fence.start()])
            opened = (tag, line_end) if tag else None
        elif tag_match and (at_start or tag in _LEAN_TAGS):
            opened = (tag, line_end)
    if opened is not None:
        yield _Block(opened[0], text[opened[1] :])


def _from_blocks(blocks: list[str], name: str) -> Extraction:
    parsed = [(block, code, _theorems(code)) for block, code in ((block, _blank(block)) for block in blocks)]
    ours = [entry for entry in parsed if not entry[2] or any(theorem.name == name for theorem in entry[2])]
    detail = "the code block is empty"
    for block, code, theorems in [*reversed(ours), *reversed(parsed)]:
        proof = _proof_of(block, code, theorems, name) if theorems else as_tactics(block)
        if proof is not None:
            return Extraction(proof)
        if theorems:
            detail = "the theorem in the reply has no proof after `:=`"
    return Extraction(None, detail)


def _from_raw(text: str, name: str) -> Extraction:
    code = _blank(text)
    theorems = _theorems(code)
    if theorems:
        return _from_blocks([text], name)
    start, is_block = _skip_by(code, 0)
    first = _WORD.match(code, start)
    # No tactic is named with a capital or starts with a digit or a mark of Markdown; prose often does. (`Nat.le_refl n`
    # is dotted.)
    prose = not is_block and (
        (first is not None and "." not in first.group().rstrip(".") and first.group()[0].isupper())
        or code[start : start + 1].isdigit()
        or code[start : start + 1] in tuple("*#>|!")
    )
    proof = None if prose else as_tactics(text)
    return Extraction(proof) if proof is not None else Extraction(None, "the reply has no Lean proof")


# --- restated theorems ------------------------------------------------------------------------------------------------

_THEOREM = re.compile(
    r"^(?P<indent>[ ]*)(?:@\[[^\]\n]*\]\s*)?(?:(?:private|protected|nonrec)[ ]+)*(?:theorem|lemma|example)\b[ ]*"
    r"(?P<name>[^\s:(){}\[\]⦃⦄⟨⟩]*)",
    re.MULTILINE,
)
_COMMAND = re.compile(
    r"^(?P<indent>[ ]*)(?:@\[|#\w|(?:theorem|lemma|example|def|abbrev|instance|structure|inductive|class|namespace|"
    r"section|end|open|variable|universe|private|protected|noncomputable|axiom|attribute|macro|syntax|notation|elab|"
    r"import|set_option)\b)",
    re.MULTILINE,
)
_STRUCTURE = re.compile(r"[(){}\[\]⦃⦄⟨⟩]|:=|:")
_OPEN, _CLOSE = frozenset("({[⦃⟨"), frozenset(")}]⦄⟩")
_BINDER_NAME = re.compile(r"[^\W\d][\w'!?]*")


@dataclass(frozen=True)
class _Theorem:
    name: str
    signature: int
    """Where the text after the name begins."""
    end: int
    """Where the next command begins."""


def _theorems(code: str) -> list[_Theorem]:
    starts = list(_THEOREM.finditer(code))
    commands = [(match.start(), len(match.group("indent"))) for match in _COMMAND.finditer(code)]
    found: list[_Theorem] = []
    at = 0
    for match in starts:
        while at < len(commands) and commands[at][0] < match.end():
            at += 1
        indent = len(match.group("indent"))
        # A command word further right than the theorem is part of its proof (`open … in`, `set_option … in`). At most
        # as many theorems look at a command as it has columns of indent, so this is linear in the text.
        following = at
        while following < len(commands) and commands[following][1] > indent:
            following += 1
        end = commands[following][0] if following < len(commands) else len(code)
        found.append(_Theorem(match.group("name").rstrip("."), match.end(), end))
    return found


def _proof_of(text: str, code: str, theorems: list[_Theorem], name: str) -> str | None:
    theorem = next((t for t in reversed(theorems) if t.name == name), theorems[-1])
    code = code[: theorem.end]
    depth, colon, assign = 0, -1, -1
    for match in _STRUCTURE.finditer(code, theorem.signature):
        token = match.group()
        if token in _OPEN:
            depth += 1
        elif token in _CLOSE:
            depth = max(0, depth - 1)
        elif depth == 0 and token == ":" and colon < 0:
            colon = match.start()
        elif depth == 0 and token == ":=":
            by = _skip_by(code, match.end())
            if by[1]:
                assign = match.end()
                break
            # `let x := e; …` in the statement also has one: prefer the first that `by` follows.
            assign = match.end() if assign < 0 else assign
    if assign < 0:
        return None
    start, is_block = _skip_by(code, assign)
    if start == len(code):
        return None
    proof = _layout(text, code, start, term=not is_block)
    binders = _binder_names(code[theorem.signature : colon]) if colon >= 0 else []
    return f"intro {' '.join(binders)}\n{proof}" if binders else proof


def _binder_names(signature: str) -> list[str]:
    """Names that the binders before a statement's colon bring in, in order: the closed statement must `intro` them."""
    names: list[str] = []
    depth, group_start, bare_start = 0, 0, 0
    for match in re.finditer(r"[(){}\[\]⦃⦄⟨⟩]", signature):
        token = match.group()
        if token in _OPEN:
            if depth == 0:
                names += signature[bare_start : match.start()].split()
                group_start = match.end()
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == 0:
                inner, colon, _ = signature[group_start : match.start()].partition(":")
                names += inner.split() if colon or token not in "]" else ["_"]
                bare_start = match.end()
    names += signature[bare_start:].split() if depth == 0 else []
    return [name if _BINDER_NAME.fullmatch(name) else "_" for name in names]


# --- text -------------------------------------------------------------------------------------------------------------

_LITERALS = frozenset({Kind.STRING, Kind.CHAR})
_WORD = re.compile(r"[^\W\d][\w'!?]*(?:\.[\w'!?]+)*")
_BY = re.compile(r"by(?![\w'!?.])")


def _blank(text: str) -> str:
    """`text` with comments as spaces and what stands in literals and «» as `_`: same length, same lines, only code."""
    out: list[str] = []
    done = 0
    for token in tokens(text):
        if token.start < done:
            # Part of an interpolated string that is blanked already.
            continue
        out.append(_fill(" ", text[done : token.start]))
        done = token.start
        if token.kind is Kind.UNTERMINATED:
            # Left as it stands: an odd quotation mark in prose hides nothing, and an open comment must not be mended.
            return "".join([*out, text[done:]])
        done = token.end
        piece = text[token.start : token.end]
        if token.kind is Kind.DOC:
            piece = _fill(" ", piece)
        elif token.kind in _LITERALS or "«" in token.text:
            piece = _fill("_", piece)
        out.append(piece)
    return "".join([*out, _fill(" ", text[done:])])


def _fill(filler: str, text: str) -> str:
    return "\n".join(filler * len(line) for line in text.split("\n"))


_SPACE = re.compile(r"\s*")


def _skip_space(code: str, at: int) -> int:
    match = _SPACE.match(code, at)
    return match.end() if match else at


def _skip_by(code: str, at: int) -> tuple[int, bool]:
    """Where the code from `at` begins, a leading `:=` and any `by` left out, and whether there was a `by`."""
    at, seen = _skip_space(code, at), False
    if code.startswith(":=", at):
        at = _skip_space(code, at + 2)
    while by := _BY.match(code, at):
        at, seen = _skip_space(code, by.end()), True
    return at, seen


def _is_term(code: str, at: int) -> bool:
    """Whether proof text that begins here is a term. Where both could be meant (`rfl`, `have`, `match`) it is
    tactics."""
    while code.startswith("(", at):
        at = _skip_space(code, at + 1)
        if _BY.match(code, at):
            return True
    head = code[at : at + 1]
    if head in tuple("⟨@λ") or head.isdigit() or re.match(r"\.[^\W\d]", code[at : at + 2]):
        return True
    word = _WORD.match(code, at)
    return word is not None and (word.group() == "fun" or "." in word.group() or word.group()[0].isupper())


def _layout(text: str, code: str, start: int, *, term: bool) -> str:
    """The code of `text` from `start` on, without what trails it, moved left so that its first token is in column 0."""
    end = len(code.rstrip())
    column = start - (text.rfind("\n", 0, start) + 1)
    first, *rest = text[start:end].split("\n")
    indents = [len(line) - len(line.lstrip(" ")) for line in rest if line.strip()]
    # Lines left of the first token cannot be further tactics: they continue one, and must stay right of column 0.
    low = min((indent for indent in indents if indent < column or term), default=0)
    lines = [f"exact {first}" if term else first]
    for line in rest:
        bare = line.lstrip(" ")
        indent = len(line) - len(bare)
        shifted = indent - low + 2 if indent < column or term else indent - column
        lines.append(" " * shifted + bare if line.strip() else "")
    return "\n".join(lines)
