"""The header of a Lean file (`prelude`, `import …`): which modules it asks for, and the file without it, every
position kept. And the one form of a header that all equal ones have."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from rlmath.blank import skip_blank
from rlmath.errors import InputError
from rlmath.lexer import Kind, tokens

EMBEDDED_MODULES = frozenset({"Init"})
"""What a file for the embedded kernel may import: its environment is always there, under the name a Lean file
expects."""

NEWLINE = "\n"

_REPEATABLE = ("open ", "set_option ")
"""Commands that say no more the second time."""

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
    position = skip_blank(text, 0)
    end = 0
    while (match := _WORD.match(text, position)) is not None:
        if match[2] is not None:
            imports.append(Import(match[2], text.count("\n", 0, match.start(2)) + 1))
        end = match.end()
        position = skip_blank(text, end)
    return Header(tuple(imports), re.sub(r"[^\n]", " ", text[:end]) + text[end:])


@dataclass(frozen=True)
class Preamble:
    """What stands before every check of a kernel, in canonical form: equal preambles share an environment."""

    imports: tuple[str, ...]
    """Modules, sorted, each once."""
    commands: str
    """What follows the imports (`open …`, `set_option …`), without comments and blank lines."""

    @property
    def text(self) -> str:
        """As a Lean file."""
        lines = [f"import {module}" for module in self.imports]
        return "\n".join([*lines, self.commands] if self.commands else lines)

    @property
    def digest(self) -> str:
        """Short hex that names it."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def canonical(text: str) -> Preamble:
    """The canonical form of a kernel's header: comments, white space, the order of imports, and repeated imports,
    `open`s and options do not count.

    `prelude`, `module` and modifiers of an import are not kept: the file that a check stands in has them not. Raises
    `InputError` when the text ends within a comment or a literal.
    """
    header = split_header(text)
    modules = sorted({wanted.module for wanted in header.imports})
    lines = _code_lines(header.body)
    if all(line.startswith(_REPEATABLE) for line in lines):
        # Only the last of equal ones has a say.
        lines = [line for at, line in enumerate(lines) if line not in lines[at + 1 :]]
    return Preamble(tuple(modules), "\n".join(lines))


def for_checks(text: str) -> Preamble:
    """The canonical form of a kernel's header, with automatic bound variables off unless the header decides: where they
    are on, `x = x` is a proposition."""
    preamble = canonical(text)
    if "autoImplicit" in preamble.commands:
        return preamble
    return Preamble(preamble.imports, "\n".join(filter(None, ["set_option autoImplicit false", preamble.commands])))


def _code_lines(text: str) -> list[str]:
    """The lines of a text without comments, blank lines, and runs of spaces within; the depth of a line stays, but
    that of a command which may stand anywhere."""
    lines: list[str] = []
    end = 0
    for token in tokens(text):
        if token.kind is Kind.UNTERMINATED:
            raise InputError(
                "header", f"{token.text} in line {text.count(NEWLINE, 0, token.start) + 1} is never closed"
            )
        if token.start < end:  # the code in the braces of a string comes after the string
            continue
        gap = text[end : token.start]
        if NEWLINE in gap or not lines:
            depth = token.start - (text.rfind(NEWLINE, 0, token.start) + 1)
            lines.append(("" if token.text in ("open", "set_option") else " " * depth) + text[token.start : token.end])
        else:
            lines[-1] += (" " if gap else "") + text[token.start : token.end]
        end = token.end
    return lines


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


def body_under(preamble: Preamble, text: str, where: str) -> str:
    """A file for a kernel with this preamble, without its own header. Raises `InputError` (field `where`, with the
    line) for an import that is neither one of the preamble's nor below one."""
    header = split_header(text)
    known = {*preamble.imports, *EMBEDDED_MODULES}
    for wanted in header.imports:
        if wanted.module not in known and not wanted.module.startswith(tuple(f"{module}." for module in known)):
            raise InputError(
                f"{where} line {wanted.line}",
                f"import {wanted.module}: the kernel's header imports {', '.join(sorted(known))}; put it there",
            )
    return header.body
