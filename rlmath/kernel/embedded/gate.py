"""The parser gate: is the command our template with the policy's parts in it, and nothing else?

Decided by Lean's own parser, after the trusted context and before anything of the command is elaborated:

1. each part, alone, is one `term` up to its end (`part`);
2. no part holds a denied node (`denied`, see `denied.py`);
3. command and template are one `command` each, up to their ends, and the command's tree is the template's with each
   hole replaced by the part's own tree (`tree`). Positions do not count; kinds, identifiers, atoms and literals do.

Rule 3 is the single-theorem rule, and rules out every way in which a part could capture text of ours or of another
part.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from rlmath.kernel.embedded.denied import DECIDE, DENIED, DENIED_ELSEWHERE, NATIVE, NATIVE_OPTION
from rlmath.kernel.embedded.elaborator import Elaborator, Parsed, ParseError, State, line_and_column
from rlmath.kernel.embedded.ffi import WORDS, Obj, field, items, name_text, raw_text, tag, unbox
from rlmath.kernel.protocol import GateVerdict, Part, Source

NODE: Final = 1
ATOM: Final = 2
IDENT: Final = 3
"""Tags of `Lean.Syntax`; 0 is `missing`, which a parse without errors does not hold."""

ORIGINAL: Final = 0
"""Tag of the `SourceInfo` of parsed text."""


def judge(elaborator: Elaborator, state: State, source: Source) -> tuple[GateVerdict, Parsed | None]:
    """The verdict, and the parsed command when it is good. `source.template` must be set."""
    if source.template is None or len({part.hole for part in source.parts}) != len(source.parts):
        raise ValueError("a gated source needs a template, and a hole of its own for each part")
    trees: dict[str, Obj] = {}
    for part in source.parts:
        parsed = elaborator.parse(state, "term", part.text)
        if isinstance(parsed, ParseError):
            line, column = position_in_command(part, parsed.line, parsed.column)
            return GateVerdict(False, "part", part.label, parsed.message, line, column), None
        trees[part.hole] = parsed.tree
        denied = DENIED if part.declares else DENIED | DENIED_ELSEWHERE
        if (found := find_denied(parsed.tree, denied)) is not None:
            kind, reason, at = found
            line, column = position_in_command(part, *line_and_column(part.text, at or 0))
            return GateVerdict(False, "denied", part.label, f"{kind}: {reason}", line, column), None
    command = elaborator.parse(state, "command", source.command)
    if isinstance(command, ParseError):
        return GateVerdict(False, "tree", "", command.message, command.line, command.column), None
    template = elaborator.parse(state, "command", source.template)
    if isinstance(template, ParseError):
        return GateVerdict(False, "tree", "", f"the template itself does not parse: {template.message}"), None
    at_fault = compare(command.tree, template.tree, trees, elaborator.same_tree)
    if at_fault is not None:
        labels = {part.hole: part.label for part in source.parts}
        detail = "what was parsed in its place is not what it is alone"
        return GateVerdict(False, "tree", labels.get(at_fault, ""), detail), None
    return GateVerdict(True), command


def find_denied(tree: Obj, denied: Mapping[str, str] = DENIED) -> tuple[str, str, int | None] | None:
    """The first denied node in reading order: its kind, the reason, and its byte position in the parsed text if it
    has one."""
    kinds: dict[Obj, str] = {}
    stack = [tree]
    while stack:
        at = (node := stack.pop()) >> 3
        if node & 1 or WORDS[at] >> 56 != NODE:
            continue
        kind_name = WORDS[at + 2]
        kind = kinds.get(kind_name)
        if kind is None:
            kind = kinds[kind_name] = name_text(kind_name)
        if kind in denied:
            return kind, denied[kind], first_position(node)
        if kind == DECIDE and (option := _find_identifier(node, NATIVE_OPTION)) is not None:
            return f"{DECIDE} +{NATIVE_OPTION}", NATIVE, first_position(option)
        children = items(WORDS[at + 3])
        children.reverse()
        stack += children
    return None


def compare(command: Obj, template: Obj, parts: dict[str, Obj], same: Callable[[Obj, Obj], bool]) -> str | None:
    """None when `command` is `template` with each identifier that names a hole replaced by its part; else the hole at
    fault, or the empty string when it is not one hole's fault. Only the template, which is ours, is walked here;
    `same` compares the rest."""
    seen: set[str] = set()
    stack = [(command, template)]
    while stack:
        ours, wanted = stack.pop()
        kind = tag(wanted)
        if kind == IDENT and (hole := _identifier(wanted)) in parts:
            seen.add(hole)
            if not same(ours, parts[hole]):
                return hole
        elif kind == NODE and tag(ours) == NODE:
            if not same_name(field(ours, 1), field(wanted, 1)):
                return ""
            left, right = items(field(ours, 2)), items(field(wanted, 2))
            if len(left) != len(right):
                return ""
            stack += zip(left, right, strict=True)
        elif not same(ours, wanted):
            return ""
    return None if seen == parts.keys() else ""


def same_name(left: Obj, right: Obj) -> bool:
    """Whether two Names are equal, part by part."""
    while left != right:
        if left & 1 or right & 1 or tag(left) != tag(right):
            return False
        a, b = field(left, 1), field(right, 1)
        if a != b and (tag(left) != 1 or raw_text(a) != raw_text(b)):
            return False
        left, right = field(left, 0), field(right, 0)
    return True


def first_position(tree: Obj) -> int | None:
    """Byte position of the first token under `tree` in the text it was parsed from."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if tag(node) == NODE:
            stack += reversed(items(field(node, 2)))
        elif tag(node) in (ATOM, IDENT):
            info = field(node, 0)
            if not info & 1 and tag(info) == ORIGINAL:
                return unbox(field(info, 1))
    return None


def position_in_command(part: Part, line: int, column: int) -> tuple[int, int]:
    """Where a position of `part.text` lies in the command (lines 1-based).

    The text's last `part.lines` lines are the policy's; lines before them (`by`) are ours. A line that begins inside
    the text stands in the command as it is; only a first line may stand further right there.
    """
    ours = part.text.count("\n") + 1 - part.lines
    if line == 1 and ours == 0:
        column += part.column
    return part.line - ours + line - 1, column


def encode(verdict: GateVerdict) -> bytes:
    """A verdict as JSON, for the wire."""
    return json.dumps(vars(verdict)).encode()


def _identifier(ident: Obj) -> str:
    return name_text(field(ident, 2))


def _find_identifier(tree: Obj, name: str) -> Obj | None:
    stack = [tree]
    while stack:
        node = stack.pop()
        kind = tag(node)
        if kind == NODE:
            stack += reversed(items(field(node, 2)))
        elif kind == IDENT and _identifier(node).rpartition(".")[2] == name:
            return node
    return None
