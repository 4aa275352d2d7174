"""The wire format: a policy's completion in, a `Plan` or a `PlanFormatError` out, and back.

    #lemma <name> : <prop>      zero or more, one per line, before #assembly
    #assembly                   exactly once, after all #lemma lines
    <tactic lines>              verbatim, at least one that is not blank
    #end                        required

Anything may stand before the first marker and after `#end`; between them nothing but the above. Decided here, where the
format is silent:
- Lines end at `\\n` (the CR of a CRLF is dropped) and at no other character, whatever Python thinks of it.
- A marker may be indented and followed by blanks (spaces, tabs). A line that begins with a marker word but is no such
  line (`#end.`, `#lemma` and a no-break space, an invisible character in front) is an error up to `#end`: taken as
  chatter it would silently change the plan. `#lemmas` is another word. Blank lines between lemmas are ignored.
- The first marker line starts the plan, `<think>` or not; a later plan in the same completion is ignored.
- One byte order mark in front of the completion is dropped.
- Inside the plan there are no control, format, separator or surrogate code points. That includes the tab, which Lean
  refuses too, except between the words of a marker line. Bytes that are no UTF-8 become surrogates, so in chatter they
  do no harm.
- An assembly without a tactic proves nothing whatever the goal: it is no plan.
- Sizes are capped before any Lean is run (`PlanLimits`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rlmath.errors import InputError
from rlmath.lexer import FORBIDDEN, RESERVED_WORDS, components
from rlmath.types import GoalSpec, Lemma, Plan

RESERVED_NAMES = frozenset({"_plan", "_stmt_check", "_proof_check", "goal", "this"})
"""Lemma names that the format keeps for itself."""

Rule = Literal["no-plan", "marker", "lemma", "name", "duplicate", "stray", "order", "character", "empty", "end", "size"]
"""The rule of the format that was broken: no marker line at all; a spoilt marker line; a lemma line's form; a lemma's
name; a name used twice; text that belongs nowhere; markers out of order; a code point; an empty assembly; no `#end`; a
size cap."""


@dataclass(frozen=True)
class PlanLimits:
    """Caps in code points on what is handed to Lean. The completion around the plan may be of any length."""

    max_plan_chars: int = 262_144
    """From the first marker to the end of `#end`. The lexical gate reads all of it, at some 10^6 tokens a second."""
    max_prop_chars: int = 16_384
    """One lemma's proposition."""
    max_assembly_chars: int = 65_536
    max_lemmas: int = 10_000
    """Only keeps parsing cheap: `Budgets.max_lemmas` is the cap on a plan, and another status."""


class PlanFormatError(InputError):
    """A completion is not a plan. `str()` names the line and the rule in words, without unprintable characters."""

    line: int | None
    """1-based line of the completion; None when the completion as a whole is meant."""
    rule: Rule

    def __init__(self, line: int | None, rule: Rule, problem: str) -> None:
        super().__init__("completion" if line is None else f"completion line {line}", problem)
        self.line = line
        self.rule = rule

    def __reduce__(self) -> tuple[type[PlanFormatError], tuple[int | None, Rule, str]]:
        return PlanFormatError, (self.line, self.rule, self.problem)


_FORBIDDEN_OR_TAB = re.compile(f"[\t{FORBIDDEN}]")

_MARKER_WORD = re.compile("#(?:lemma|assembly|end)")
_MARKER = re.compile(
    rf"^((?:[^\S\n]|[{FORBIDDEN}])*+)({_MARKER_WORD.pattern})(?![A-Za-z0-9_'])",
    re.MULTILINE,
)
"""A line that begins with a marker word, whatever blank or invisible characters stand before it."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_']*")
_LEMMA = re.compile(r"#lemma[ \t]+(?P<name>[^ \t:]+)[ \t]*:(?![:=])[ \t]*(?P<prop>.*)", re.DOTALL)


def parse_plan(completion: str | bytes, *, limits: PlanLimits = PlanLimits()) -> Plan:
    """The plan that a completion holds.

    Total: any text or bytes give a plan or raise `PlanFormatError`, in time linear in the length.
    """
    text = completion.decode("utf-8", "surrogateescape") if isinstance(completion, bytes) else completion
    text = text.removeprefix("\ufeff")
    start = _first_marker(text)
    first_line = text.count("\n", 0, start) + 1
    excerpt = text[start : start + limits.max_plan_chars]
    lines = excerpt.split("\n")
    cut = start + len(excerpt) < len(text)
    if cut:
        lines.pop()

    lemmas: dict[str, Lemma] = {}
    assembly: list[str] | None = None
    number = first_line
    for number, raw in enumerate(lines, first_line):
        line = raw.removesuffix("\r")
        marker = _marker(line, number)
        if marker is None:
            if assembly is not None:
                assembly.append(line)
            elif line.strip(" \t"):
                raise PlanFormatError(
                    number, "stray", f"only #lemma lines and #assembly may stand here, not {_show(line)}"
                )
        elif marker == "#lemma":
            if assembly is not None:
                raise PlanFormatError(number, "order", "a #lemma line must come before #assembly")
            lemma = _lemma(line.strip(" \t"), number, limits)
            if lemma.name in lemmas:
                raise PlanFormatError(number, "duplicate", f"the plan has a lemma `{lemma.name}` already")
            if len(lemmas) == limits.max_lemmas:
                raise PlanFormatError(number, "size", f"more than {limits.max_lemmas} #lemma lines")
            lemmas[lemma.name] = lemma
        elif line.strip(" \t") != marker:
            raise PlanFormatError(number, "marker", f"nothing but {marker} may stand on its line, found {_show(line)}")
        elif marker == "#assembly":
            if assembly is not None:
                raise PlanFormatError(number, "order", "#assembly must come once; an #end is missing before the second")
            assembly = []
        elif assembly is None:
            raise PlanFormatError(number, "order", "#end without an #assembly before it")
        else:
            return Plan(tuple(lemmas.values()), _assembly(assembly, number - len(assembly), limits))
    if cut:
        raise PlanFormatError(number, "size", f"no #end within {limits.max_plan_chars} characters of the first marker")
    if assembly is None:
        raise PlanFormatError(number, "end", "the completion ends before #assembly and #end")
    raise PlanFormatError(number, "end", "the completion ends before #end")


def render_plan(plan: Plan, *, limits: PlanLimits = PlanLimits()) -> str:
    """The text of a plan in the wire format, ending in a newline; `parse_plan` gives the same plan back.

    Raises `PlanFormatError` for a plan that has no such text, e.g. one with a proposition of two lines.
    """
    lines = [f"#lemma {lemma.name} : {lemma.prop}" for lemma in plan.lemmas]
    text = "\n".join([*lines, "#assembly", plan.assembly, "#end", ""])
    if parse_plan(text, limits=limits) != plan:
        raise PlanFormatError(
            None, "stray", "the plan does not survive rendering: a part has outer blanks or markers of its own"
        )
    return text


def check_names(plan: Plan, goal: GoalSpec) -> str | None:
    """Why the plan's lemma names do not fit this goal (status `format_error`), or None.

    A lemma may not bear the name of the goal's declaration, nor that name's last part, by which the goal's own proof
    could call it. The rules that need no goal are `parse_plan`'s.
    """
    taken = {goal.name, *components(goal.name)[-1:]}
    for lemma in plan.lemmas:
        if lemma.name in taken:
            return f"lemma `{lemma.name}` has the name of the goal's own declaration `{goal.name}`"
    return None


def _first_marker(text: str) -> int:
    """Offset of the line that the plan begins with."""
    # Chatter seldom holds a marker word, and that is found many times faster than a line that begins with one.
    word = _MARKER_WORD.search(text)
    if word and (found := _MARKER.search(text, text.rfind("\n", 0, word.start()) + 1)):
        return found.start()
    raise PlanFormatError(None, "no-plan", "no line begins with #lemma, #assembly or #end")


def _marker(line: str, number: int) -> str | None:
    """The marker word that a line begins with, or None. Raises when something stands before it or is glued to it."""
    if "#" not in line or not (found := _MARKER.match(line)):
        return None
    if before := found[1].strip(" \t"):
        raise PlanFormatError(
            number, "marker", f"only spaces may stand before {found[2]}, found {_code_points(before)}"
        )
    return found[2]


def _lemma(line: str, number: int, limits: PlanLimits) -> Lemma:
    """Read a #lemma line that has no outer blanks."""
    parts = _LEMMA.fullmatch(line)
    if not parts or not parts["prop"]:
        raise PlanFormatError(number, "lemma", f"a lemma line is `#lemma <name> : <prop>`, not {_show(line)}")
    name, prop = parts["name"], parts["prop"]
    if not _NAME.fullmatch(name):
        raise PlanFormatError(
            number, "name", f"a lemma's name is an ASCII letter, then letters, digits, _ or ', not {_show(name)}"
        )
    if name in RESERVED_NAMES or name in RESERVED_WORDS:
        raise PlanFormatError(number, "name", f"`{name}` is reserved: choose another name for the lemma")
    if len(prop) > limits.max_prop_chars:
        raise PlanFormatError(number, "size", f"the proposition has more than {limits.max_prop_chars} characters")
    _check_characters(prop, number)
    return Lemma(name, prop)


def _assembly(lines: list[str], first_line: int, limits: PlanLimits) -> str:
    """Join the assembly's lines; `first_line` is the completion's line of the first one."""
    text = "\n".join(lines)
    if len(text) > limits.max_assembly_chars:
        raise PlanFormatError(first_line, "size", f"the assembly has more than {limits.max_assembly_chars} characters")
    if not text.strip():
        raise PlanFormatError(first_line, "empty", "the assembly is empty: at least one tactic must stand before #end")
    _check_characters(text, first_line)
    return text


def _check_characters(text: str, first_line: int) -> None:
    if found := _FORBIDDEN_OR_TAB.search(text):
        line = first_line + text.count("\n", 0, found.start())
        hint = " (a tab: indent with spaces)" if found[0] == "\t" else ""
        raise PlanFormatError(line, "character", f"{_code_points(found[0])} must not stand inside a plan{hint}")


def _code_points(text: str) -> str:
    return " ".join(f"U+{ord(c):04X}" for c in text[:4])


def _show(text: str) -> str:
    """A short, printable quotation."""
    # `repr` escapes what is not printable and keeps mathematics readable; lone surrogates are not printable.
    return repr(text[:60]) + ("…" if len(text) > 60 else "")
