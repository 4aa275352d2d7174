"""The gate of kernels whose Lean has no parser gate of ours: what can be told of a source without Lean's grammar.

It stands in for rules 1 and 2 of `rlmath.kernel.embedded.gate`, and not for rule 3. Each part's words are those that a
plan may hold, and its parentheses close within it, so that it cannot close the one that the template puts around it;
but that the text is one term, and reads in its place as it does alone, only Lean's parser can say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rlmath.kernel.protocol import GateVerdict, Message, Part, Source
from rlmath.lexer import Kind, position, tokens
from rlmath.sanitize import scan
from rlmath.source import GOAL

OPENERS: Final = ("(", ".(")
CLOSER: Final = ")"
_OF_THE_PARSER: Final = re.compile(
    r"unexpected (?:token|identifier|end of input|character)|expected (?:command|term|end of input|')|unterminated "
)


def judge(source: Source) -> GateVerdict:
    """The verdict on a source that has a template."""
    for part in source.parts:
        # The goal is its author's, who is trusted with any word.
        if part.label != GOAL and (banned := scan(part.text)) is not None:
            where = _place(part, banned.line, banned.column)
            return GateVerdict(False, "denied", part.label, f"{banned.token}: no plan may hold it", *where)
        if (found := _unbalanced(part.text)) is not None:
            token, at = found
            where = _place(part, *position(part.text, at))
            return GateVerdict(False, "part", part.label, f"{token} has no partner in this text", *where)
    return GateVerdict(True)


def parse_error(source: Source, messages: Sequence[Message]) -> GateVerdict | None:
    """What Lean's first message says when it is of its parser: a part is not one term."""
    if not source.parts or not messages or not _OF_THE_PARSER.match(messages[0].text):
        return None
    first = messages[0]
    # Lean may notice only at what follows the part.
    part = next((p for p in reversed(source.parts) if p.line <= first.line), source.parts[0])
    return GateVerdict(False, "part", part.label, first.text, first.line, first.column)


def _unbalanced(text: str) -> tuple[str, int] | None:
    """The first parenthesis without a partner (or what opens and is never closed), and where it stands."""
    opened: list[tuple[str, int]] = []
    for token in tokens(text):
        if token.kind is Kind.UNTERMINATED:
            return token.text, token.start
        if token.text in OPENERS:
            opened.append((token.text, token.start))
        elif token.text == CLOSER:
            if not opened:
                return token.text, token.start
            opened.pop()
    return opened[0] if opened else None


def _place(part: Part, line: int, column: int) -> tuple[int, int]:
    """A place of the part's text in the command."""
    ours = part.text.count("\n") + 1 - part.lines
    return part.line - ours + line - 1, column
