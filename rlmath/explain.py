"""From Lean's messages to what people read: one line, in the policy's own terms.

Lines and columns that people see are 1-based, as editors count them, and relative to the policy's own text (the
assembly, a lemma's proposition, a leaf's proof). Lean's own columns are 0-based.
"""

from __future__ import annotations

from rlmath.kernel.protocol import GateVerdict, Message, Source
from rlmath.sanitize import Banned
from rlmath.source import THEOREM, locate, place_of, split_name

DETAIL_CHARS = 600
"""Most characters of one detail; a longer one ends in `…`."""


def explain_message(source: Source, message: Message, *, name: str, label: str) -> str:
    """`assembly 2:5: unknown identifier …`: one line.

    `name` stands for the check theorem's own, which is random; `label` is who is to blame for what Lean says of the
    theorem as a whole.
    """
    place = locate(source, message)
    where = label if place.label == THEOREM else str(place)
    return one_line(f"{where}: {_without_check_name(source, message.text, name)}")


def explain_gate(source: Source, gate: GateVerdict, *, name: str) -> str:
    """What the parser gate refused, and where: one line."""
    found = _without_check_name(source, gate.detail, name)
    if gate.line > 0:
        place = place_of(source, gate.line, gate.column)
        where = str(place) if place.label == gate.label or not gate.label else gate.label
    else:
        where = gate.label or THEOREM
    match gate.rule:
        case "part":
            return one_line(f"{where}: does not parse: {found}")
        case "denied":
            return one_line(f"{where}: not allowed in a plan: {found}")
        case _:
            return one_line(f"{where}: reaches out of its place in the theorem: {found}")


def explain_banned(label: str, banned: Banned) -> str:
    """What the lexical gate refused, and where: one line."""
    match banned.why:
        case "character":
            problem = f"U+{ord(banned.token):04X} is not allowed"
        case "unterminated":
            problem = f"`{banned.token}` is not closed"
        case "ambiguous":
            problem = f"`{banned.token}` can be read in two ways: put a space before it"
        case "banned":
            problem = f"`{banned.token}` is not allowed"
    return one_line(f"{label} {banned.line}:{banned.column + 1}: {problem}")


def one_line(text: str) -> str:
    """White space collapsed, cut at `DETAIL_CHARS`."""
    joined = " ".join(text.split())
    return joined if len(joined) <= DETAIL_CHARS else joined[: DETAIL_CHARS - 1] + "…"


def _without_check_name(source: Source, text: str, name: str) -> str:
    if source.declaration is None or source.declaration == name:
        return text
    _, last = split_name(source.declaration)
    return text.replace(source.declaration, name).replace(last, name)
