"""The header of a Lean file (`prelude`, `import …`): which modules it asks for, and the file without it, every
position kept."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rlmath.errors import InputError

EMBEDDED_MODULES = frozenset({"Init"})
"""What a file for the embedded kernel may import: its environment is always there, under the name a Lean file
expects."""

_BLANK = re.compile(r"\s+|--[^\n]*")
_COMMENT_EDGE = re.compile(r"/-|-/")
_PART = r"(?:«[^»\n]*»|[\w'!?]+)"
_WORD = re.compile(
    rf"(module|prelude)(?![\w.'!?])|(?:public\s+)?(?:meta\s+)?import\s+(?:all\s+)?({_PART}(?:\.{_PART})*)"
)


@dataclass(frozen=True)
class Import:
    """One `import`, with the 1-based line it stands on."""

    module: str
    line: int


@dataclass(frozen=True)
class Header:
    """What stood before the first command."""

    imports: tuple[Import, ...]
    body: str
    """The file with its header turned into spaces: lines and columns are those of the file."""


def split_header(text: str) -> Header:
    """Read a Lean file's header. Anything that is none ends it, for Lean's own parser to judge."""
    imports: list[Import] = []
    position = _skip_blank(text, 0)
    end = 0
    while (match := _WORD.match(text, position)) is not None:
        if match[2] is not None:
            imports.append(Import(match[2], text.count("\n", 0, match.start(2)) + 1))
        end = match.end()
        position = _skip_blank(text, end)
    return Header(tuple(imports), re.sub(r"[^\n]", " ", text[:end]) + text[end:])


def embedded_body(text: str, where: str) -> str:
    """A file for the embedded kernel, without its header. Raises `InputError` (field `where`, with the line) for an
    import of what that kernel lacks.
    """
    header = split_header(text)
    for wanted in header.imports:
        if wanted.module not in EMBEDDED_MODULES:
            raise InputError(
                f"{where} line {wanted.line}",
                f"import {wanted.module}: the embedded kernel has only its own prelude, as Init, and no other module. "
                f"{wanted.module} needs an installed Lean toolchain and a Lake project that has it: "
                "run `lake env lean FILE` there",
            )
    return header.body


def _skip_blank(text: str, position: int) -> int:
    """The position after whitespace and comments, which nest. A documentation comment belongs to what follows it."""
    while position < len(text):
        if (match := _BLANK.match(text, position)) is not None:
            position = match.end()
        elif text.startswith("/-", position) and not text.startswith(("/--", "/-!"), position):
            position = _skip_comment(text, position)
        else:
            break
    return position


def _skip_comment(text: str, position: int) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, position):
        depth += 1 if edge[0] == "/-" else -1
        if depth == 0:
            return edge.end()
    return len(text)
