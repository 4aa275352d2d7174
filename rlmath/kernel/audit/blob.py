"""Decoding the bytes in which a child exported its new constants. Pure Python, no Lean, and total: whatever the bytes,
`decode` returns constants or raises `Refused`, in time and memory bounded by `MAX_*` here.

The format is Lean's own compacted form (see `export.py`), little-endian 64-bit words: the first is the root pointer,
the rest are objects {reference count: i32, size: u16, fields: u8, tag: u8} with fields and scalars. A pointer is an
offset into the bytes, an odd word 2v+1 the small value v. An object points only to objects before it.

Nothing of the writer's survives but names, numbers and shape: no hash, flag, count or length is believed. Lean's own
reader is not used because it believes all of them, and maps the bytes as live objects: a forged one (the value 1 in a
big number's clothes) makes the kernel itself accept `1 = 2`, with no axiom.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final, NoReturn

from rlmath.kernel.audit.constants import (
    AXIOM,
    CONSTRUCTOR,
    DEFINITION,
    INDUCTIVE,
    OPAQUE,
    RECURSOR,
    THEOREM,
    Constant,
    Module,
)
from rlmath.kernel.audit.tables import (
    APP,
    BVAR,
    CONST,
    FORALL,
    IMAX,
    LAMBDA,
    LET,
    LITERAL,
    MAX,
    METADATA,
    PARAM,
    PROJECTION,
    SORT,
    SUCC,
    Key,
    Refused,
    Tables,
)

MAX_BYTES: Final = 16 << 20
"""A hundred times what 35 theorems take."""
MAX_CONSTANTS: Final = 1 << 14
MAX_INDEX: Final = 1 << 16
"""Of a bound variable, a projection, a count of parameters. (Lean's own limit for variables is 2^20.)"""
MAX_LIMBS: Final = 1 << 12
"""Words of a numeral: numbers below 2^262144."""
MAX_STEPS: Final = 1 << 24
"""Objects, characters of names and list cells looked at, over all."""

STRING: Final = 249
NUMERAL: Final = 250
ARRAY: Final = 246
"""Tags of objects that are not constructors."""

_INFO: Final[dict[int, tuple[int, int]]] = {
    AXIOM: (1, 1),
    DEFINITION: (4, 1),
    THEOREM: (3, 0),
    OPAQUE: (3, 1),
    INDUCTIVE: (6, 3),
    CONSTRUCTOR: (5, 1),
    RECURSOR: (7, 2),
}
"""By kind: fields and bytes of scalars of the value inside."""

_SAFE: Final = 1
"""`DefinitionSafety.safe`; 0 is unsafe and 2 partial."""

_EXPR: Final[dict[int, tuple[int, tuple[int, ...]]]] = {
    BVAR: (1, ()),
    SORT: (1, ()),
    CONST: (2, ()),
    LAMBDA: (3, (1, 2)),
    FORALL: (3, (1, 2)),
    LET: (4, (1, 2, 3)),
    LITERAL: (1, ()),
    METADATA: (2, (1,)),
    PROJECTION: (3, (2,)),
}
"""By tag, but for applications: number of fields, and which of them are expressions."""

APP_HEADER: Final = APP << 8 | 2
"""Tag and number of fields of an application, as the upper half of its header's upper half."""

NOT_BACKWARD: Final = "a pointer that does not point backward"

_LEVEL_FIELDS: Final = {SUCC: 1, MAX: 2, IMAX: 2, PARAM: 1}


def decode(data: bytes, tables: Tables) -> Module:
    """The constants in `data`, their names and terms entered into `tables`. Raises `Refused`, and nothing else."""
    try:
        return _Decoder(data, tables).module()
    except (IndexError, UnicodeDecodeError):
        _refuse("points outside of itself, or holds what is no text")


def _refuse(what: str) -> NoReturn:
    raise Refused("artifact", f"the exported constants cannot be read: {what}")


class _Decoder:
    """One run over one string of bytes. What was decoded is remembered by offset, so shared terms are decoded once."""

    def __init__(self, data: bytes, tables: Tables) -> None:
        if sys.byteorder != "little":
            _refuse("this machine is not little-endian")
        if not 16 <= len(data) <= MAX_BYTES or len(data) % 8:
            _refuse(f"{len(data)} bytes")
        self._data = data
        self._size = len(data)
        # A list, because reading one word costs half of what it does in a memoryview.
        self._words: list[int] = memoryview(data).cast("Q").tolist()
        self._tables = tables
        self._steps = MAX_STEPS
        self._names: dict[int, int] = {1: 0}
        self._levels: dict[int, int] = {1: 0}
        self._exprs: dict[int, int] = {}

    def module(self) -> Module:
        constants: dict[int, Constant] = {}
        left_out: set[int] = set()
        root = self._pointer(self._words[0], self._size)
        pairs = self._array(root)
        if len(pairs) > MAX_CONSTANTS:
            _refuse(f"{len(pairs)} constants")
        for pair in pairs:
            key, info = self._constructor(pair, 0, 2)
            constant = self._constant(info)
            name = constant if isinstance(constant, int) else constant.name
            if name != self._name(key) or name in constants or name in left_out or name == 0:
                _refuse("a constant stands twice or under another name")
            if isinstance(constant, int):
                left_out.add(name)
            else:
                constants[name] = constant
        return Module(constants, frozenset(left_out))

    # -- objects

    def _step(self, count: int = 1) -> None:
        self._steps -= count
        if self._steps < 0:
            _refuse("it is too large")

    def _pointer(self, word: int, below: int) -> int:
        """`word` if it is a small value, or points to an object wholly before `below`."""
        if not word & 1 and (word & 7 or not 8 <= word <= below - 8):
            _refuse(NOT_BACKWARD)
        return word

    def _tag(self, at: int) -> int:
        return at >> 1 if at & 1 else self._data[at + 7]

    def _constructor(self, at: int, tag: int, fields: int, scalars: int = 0) -> list[int]:
        """The fields of the constructor object at `at`."""
        if at & 1 or at + 8 + 8 * fields + scalars > self._size:
            _refuse("a constructor is missing")
        word = self._words[at >> 3]
        if word >> 56 != tag or word >> 48 & 0xFF != fields:
            _refuse("a constructor is another than it should be")
        self._step()
        first = (at >> 3) + 1
        found = self._words[first : first + fields]
        for value in found:
            # As in _pointer, which would be called for every field.
            if not value & 1 and (value & 7 or not 8 <= value <= at - 8):
                _refuse(NOT_BACKWARD)
        return found

    def _array(self, at: int) -> list[int]:
        if at & 1 or self._tag(at) != ARRAY:
            _refuse("no array of constants")
        count = self._words[(at >> 3) + 1]
        if count > (self._size - at - 24) // 8:
            _refuse("an array longer than it is")
        self._step(count)
        first = (at >> 3) + 3
        return [self._pointer(word, at) for word in self._words[first : first + count]]

    def _list(self, at: int) -> list[int]:
        found = []
        while not at & 1:
            item, at = self._constructor(at, 1, 2)
            found.append(item)
        if at != 1:
            _refuse("a list without an end")
        return found

    def _text(self, at: int) -> str:
        if at & 1 or self._tag(at) != STRING:
            _refuse("no text where one belongs")
        count = self._words[(at >> 3) + 1]  # with the final NUL
        if not 1 <= count <= self._size - at - 32:
            _refuse("a text longer than it is")
        self._step(count >> 3)
        return self._data[at + 32 : at + 31 + count].decode("utf-8", "strict")

    def _natural(self, at: int) -> int:
        """A natural number, in the one form that Lean gives it."""
        if at & 1:
            return at >> 1
        if self._tag(at) != NUMERAL or at + 24 > self._size:
            _refuse("no number where one belongs")
        # An mpz: words allocated and used (i32 each, the sign is that of the latter), then the pointer to them.
        limbs = self._words[(at >> 3) + 1] >> 32
        if not 1 <= limbs <= MAX_LIMBS or self._words[(at >> 3) + 2] != at + 24 or at + 24 + 8 * limbs > self._size:
            _refuse("a number that is none")
        self._step(limbs)
        value = int.from_bytes(self._data[at + 24 : at + 24 + 8 * limbs], "little")
        if value < 1 << 63 or value.bit_length() <= 64 * (limbs - 1):
            _refuse("a number that is not in its normal form")
        return value

    def _index(self, at: int) -> int:
        if not at & 1 or at >> 1 >= MAX_INDEX:
            _refuse("a count or an index that is too large")
        return at >> 1

    # -- names, levels, expressions

    def _name(self, at: int) -> int:
        names = self._names
        chain = []
        while at not in names:
            tag = self._tag(at)
            if tag not in (1, 2):
                _refuse("no name where one belongs")
            prefix, part = self._constructor(at, tag, 2)
            chain.append((at, tag, part))
            at = prefix
        number = names[at]
        for at, tag, part in reversed(chain):
            value: str | int = self._text(part) if tag == 1 else self._natural(part)
            number = names[at] = self._tables.names.number((number, value))
        return number

    def _level(self, root: int) -> int:
        levels = self._levels
        if root in levels:
            return levels[root]
        parts: dict[int, list[int]] = {}
        stack = [root]
        while stack:
            at = stack.pop()
            if at in parts or at in levels:
                continue
            tag = self._tag(at)
            if tag not in _LEVEL_FIELDS:
                _refuse("no universe level where one belongs, or one that is not determined")
            parts[at] = self._constructor(at, tag, _LEVEL_FIELDS[tag])
            if tag != PARAM:
                stack += parts[at]
        for at in sorted(parts):
            tag = self._tag(at)
            if tag == PARAM:
                key: Key = (PARAM, self._name(parts[at][0]))
            else:
                key = (tag, *(levels[part] for part in parts[at]))
            levels[at] = self._tables.levels.number(key)
        return levels[root]

    def _expr(self, root: int) -> int:
        """The number of the closed expression at `root`."""
        done, words = self._exprs, self._words
        found: dict[int, Sequence[int]] = {}
        stack = [root]
        while stack:
            at = stack.pop()
            if at in found or at in done:
                continue
            if at & 1:
                _refuse("no expression where one belongs")
            here = at >> 3
            if words[here] >> 48 == APP_HEADER:
                # Most expressions are applications: as below, but quicker.
                function, argument = words[here + 1], words[here + 2]
                if (function | argument) & 7 or not (8 <= function < at and 8 <= argument < at):
                    _refuse(NOT_BACKWARD)
                found[at] = function, argument
                stack.append(function)
                stack.append(argument)
                continue
            tag = words[here] >> 56
            shape = _EXPR.get(tag)
            if shape is None:
                _refuse("no expression where one belongs, or one with a free variable or a metavariable")
            fields = self._constructor(at, tag, shape[0])
            found[at] = fields
            for position in shape[1]:
                stack.append(fields[position])
        self._step(len(found))
        expr, find = self._tables.expr, self._tables.exprs.find
        # Pointers point backward, so what an expression is made of comes before it.
        for at in sorted(found):
            parts = found[at]
            if words[at >> 3] >> 48 == APP_HEADER:
                key = APP, done[parts[0]], done[parts[1]]
                done[at] = find(key) or expr(key)
            else:
                done[at] = self._finish(words[at >> 3] >> 56, parts)
        number = done[root]
        if self._tables.loose[number]:
            _refuse("an expression with a variable that nothing binds")
        return number

    def _finish(self, tag: int, fields: Sequence[int]) -> int:
        done = self._exprs
        if tag == METADATA:
            return done[fields[1]]
        if tag in (LAMBDA, FORALL):
            key: Key = (tag, done[fields[1]], done[fields[2]])
        elif tag == LET:
            key = (LET, done[fields[1]], done[fields[2]], done[fields[3]])
        elif tag == BVAR:
            key = (BVAR, self._index(fields[0]))
        elif tag == CONST:
            key = (CONST, self._name(fields[0]), *(self._level(level) for level in self._list(fields[1])))
        elif tag == SORT:
            key = (SORT, self._level(fields[0]))
        elif tag == LITERAL:
            key = (LITERAL, self._literal(fields[0]))
        else:
            key = (PROJECTION, self._name(fields[0]), self._index(fields[1]), done[fields[2]])
        return self._tables.expr(key)

    def _literal(self, at: int) -> int | str:
        if self._tag(at) == 0:
            return self._natural(self._constructor(at, 0, 1)[0])
        return self._text(self._constructor(at, 1, 1)[0])

    # -- constants

    def _constant(self, info: int) -> Constant | int:
        """A constant, or just its name if it is unsafe or partial."""
        kind = self._tag(info)
        if kind not in _INFO:
            _refuse("a constant of a kind that nobody may declare")
        count, scalars = _INFO[kind]
        (value,) = self._constructor(info, kind, 1)
        fields = self._constructor(value, 0, count, scalars)
        own, parameters, type_ = self._constructor(fields[0], 0, 3)
        name = self._name(own)
        levels = tuple(self._name(level) for level in self._list(parameters))
        if len(set(levels)) != len(levels):
            _refuse("a universe parameter stands twice")
        if scalars:
            flag = self._data[value + 8 + 8 * count + (kind in (INDUCTIVE, RECURSOR))]
            if flag != (_SAFE if kind == DEFINITION else 0):
                return name
        if kind == RECURSOR:
            block = self._list(fields[1])
            return Constant(kind, name, levels, belongs_to=self._name(block[0] if block else 1))
        constant_type = self._expr(type_)
        if kind == AXIOM:
            return Constant(kind, name, levels, constant_type)
        if kind == CONSTRUCTOR:
            return Constant(kind, name, levels, constant_type, belongs_to=self._name(fields[1]))
        if kind == INDUCTIVE:
            return Constant(
                kind,
                name,
                levels,
                constant_type,
                parameters=self._index(fields[1]),
                block=tuple(self._name(item) for item in self._list(fields[3])),
                constructors=tuple(self._name(item) for item in self._list(fields[4])),
            )
        hint = self._hint(fields[2]) if kind == DEFINITION else 0
        return Constant(kind, name, levels, constant_type, self._expr(fields[1]), hint)

    def _hint(self, at: int) -> int:
        """`ReducibilityHints`: 0 opaque, 1 abbreviation, 2 regular, with a height."""
        if at & 1:
            if at >> 1 > 1:
                _refuse("a definition without a hint")
            return (at >> 1) - 2
        self._constructor(at, 2, 0, 4)
        return int.from_bytes(self._data[at + 8 : at + 12], "little")
