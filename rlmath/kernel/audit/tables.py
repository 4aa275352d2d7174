"""Names, universe levels and expressions as numbers: equal terms have equal numbers.

One set of tables takes in the submission's and the reference's constants, so that comparing two statements is
comparing two numbers. A term is a *key*, a tuple whose parts are smaller numbers or plain values; so there are no
cycles, and ascending order is an order to build in. Binder names, binder kinds and metadata are no part of a key: they
say nothing to the kernel.

Keys, by table (number 0 is the anonymous name, the level zero, and no expression):

- name: `(prefix, part)`, part a str or an int
- level: `(SUCC, level)`, `(MAX, a, b)`, `(IMAX, a, b)`, `(PARAM, name)`
- expression: `(BVAR, index)`, `(SORT, level)`, `(CONST, name, *levels)`, `(APP, function, argument)`,
  `(LAMBDA, type, body)`, `(FORALL, type, body)`, `(LET, type, value, body)`, `(LITERAL, int or str)`,
  `(PROJECTION, structure's name, index, expression)`
"""

from __future__ import annotations

from typing import Any, Final

from rlmath.kernel.protocol import AuditRule

SUCC: Final = 1
MAX: Final = 2
IMAX: Final = 3
PARAM: Final = 4
"""Tags of `Lean.Level`; 0 is zero and 5 a metavariable, which no constant may hold."""

BVAR: Final = 0
SORT: Final = 3
CONST: Final = 4
APP: Final = 5
LAMBDA: Final = 6
FORALL: Final = 7
LET: Final = 8
LITERAL: Final = 9
METADATA: Final = 10
PROJECTION: Final = 11
"""Tags of `Lean.Expr`; 1 is a free variable and 2 a metavariable, which no constant may hold."""

EXPRESSIONS_IN: Final[dict[int, slice]] = {
    APP: slice(1, 3),
    LAMBDA: slice(1, 3),
    FORALL: slice(1, 3),
    LET: slice(1, 4),
    PROJECTION: slice(3, 4),
}
"""Which parts of an expression's key are expressions, where any is."""

BODIES: Final = frozenset({LAMBDA, FORALL, LET})
"""Expressions whose last part is under one more binder than the rest."""

SHOWN: Final = 200
"""Characters of a name that a message shows."""

Key = tuple[Any, ...]


class Refused(Exception):
    """Untrusted constants are not accepted; the text says why."""

    def __init__(self, rule: AuditRule, reason: str) -> None:
        super().__init__(reason)
        self.rule = rule
        self.reason = reason


class Table:
    """Keys in the order of their first appearance."""

    def __init__(self) -> None:
        self.keys: list[Key] = [()]
        self._numbers: dict[Key, int] = {}
        self.find = self._numbers.get
        """The key's number if it has one."""

    def __len__(self) -> int:
        return len(self.keys)

    def number(self, key: Key) -> int:
        """The key's number, a new one if it has none."""
        found = self.find(key)
        return self.add(key) if found is None else found

    def add(self, key: Key) -> int:
        """The number of a key that has none yet."""
        number = self._numbers[key] = len(self.keys)
        self.keys.append(key)
        return number


class Tables:
    """The three tables."""

    def __init__(self) -> None:
        self.names = Table()
        self.levels = Table()
        self.exprs = Table()
        self.loose: list[int] = [0]
        """By expression: one more than the highest index of a variable that no binder inside it binds; 0 is closed."""

    def expr(self, key: Key) -> int:
        """The number of an expression."""
        found = self.exprs.find(key)
        if found is not None:
            return found
        loose = self.loose
        tag = key[0]
        if tag == APP:
            function, argument = loose[key[1]], loose[key[2]]
            loose.append(function if function > argument else argument)
        elif tag in BODIES:
            loose.append(max(0, loose[key[-1]] - 1, *(loose[part] for part in key[1:-1])))
        elif tag == BVAR:
            loose.append(key[1] + 1)
        else:
            loose.append(loose[key[3]] if tag == PROJECTION else 0)
        return self.exprs.add(key)

    def name(self, dotted: str) -> int:
        """The number of a name that is written with dots and, where a part needs it, «»."""
        number = 0
        for part in name_parts(dotted):
            number = self.names.number((number, part))
        return number

    def show_name(self, number: int) -> str:
        """A name for people to read: with dots, its parts as they are (no «»), of a long one the end."""
        shown = ""
        while number and len(shown) <= SHOWN:
            number, part = self.names.keys[number]
            text = part if isinstance(part, str) else f"{part:#x}" if part >= 1 << 64 else str(part)
            shown = f"{text[-SHOWN - 1 :]}.{shown}" if shown else text[-SHOWN - 1 :]
        return shown if len(shown) <= SHOWN else f"…{shown[-SHOWN:]}"

    def last_part(self, number: int) -> str | int:
        """The last part of a name; of the anonymous one, the empty string."""
        return self.names.keys[number][1] if number else ""

    def reach(self, *roots: int) -> set[int]:
        """All expressions inside these, themselves included."""
        keys = self.exprs.keys
        seen: set[int] = set()
        stack = list(roots)
        while stack:
            number = stack.pop()
            if number in seen:
                continue
            seen.add(number)
            key = keys[number]
            tag = key[0]
            if tag == APP:
                stack.append(key[1])
                stack.append(key[2])
            elif tag in EXPRESSIONS_IN:
                stack += key[EXPRESSIONS_IN[tag]]
        return seen

    def constants_in(self, expressions: set[int]) -> set[int]:
        """Names of the constants that these expressions (not those inside them) speak of."""
        keys = self.exprs.keys
        return {keys[number][1] for number in expressions if keys[number][0] in (CONST, PROJECTION)}


def name_parts(dotted: str) -> list[str]:
    """The parts of a name that is written with dots; dots within «» separate nothing."""
    parts = [""]
    quoted = False
    for character in dotted:
        if character == "«" and not quoted:
            quoted = True
        elif character == "»" and quoted:
            quoted = False
        elif character == "." and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return parts
