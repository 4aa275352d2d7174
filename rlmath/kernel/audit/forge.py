"""Exports made by hand: the writer that `blob.py` reads, with no Lean behind it.

For attacks that no source text leads to. What is written is well formed as far as its parts go: a writer of attacks
gives false parts, or changes the bytes afterwards.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final

from rlmath.kernel.audit.blob import ARRAY, NUMERAL, STRING
from rlmath.kernel.audit.constants import AXIOM, CONSTRUCTOR, DEFINITION, INDUCTIVE, OPAQUE, RECURSOR, THEOREM, Constant
from rlmath.kernel.audit.tables import (
    APP,
    BVAR,
    CONST,
    EXPRESSIONS_IN,
    FORALL,
    LAMBDA,
    LET,
    LITERAL,
    PARAM,
    PROJECTION,
    SORT,
    Tables,
)

NIL: Final = 1
"""The empty list, and whatever else is constructor 0 without fields."""
_DEFAULT_BINDER: Final = b"\0" * 9
"""Scalars of a binder: the expression's cached data, which nobody believes, and its kind."""


class Writer:
    """Bytes in Lean's compacted form, one object after the other. Every method returns what points to its object."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.data = bytearray(8)
        self._names: dict[int, int] = {0: 1}
        self._levels: dict[int, int] = {0: 1}
        self._exprs: dict[int, int] = {}

    def module(self, constants: Iterable[Constant]) -> bytes:
        """A whole export."""
        pairs = [self.constructor(0, [self.name(c.name), self.constant(c)]) for c in constants]
        return self.finish(pairs)

    def finish(self, pairs: Sequence[int]) -> bytes:
        """The array of pairs (name, constant), and the pointer to it in front."""
        root = self._put(ARRAY, 0, struct.pack(f"<QQ{len(pairs)}Q", len(pairs), len(pairs), *pairs))
        struct.pack_into("<Q", self.data, 0, root)
        return bytes(self.data)

    def constructor(self, tag: int, fields: Sequence[int], scalars: bytes = b"") -> int:
        """A constructor object."""
        return self._put(tag, len(fields), struct.pack(f"<{len(fields)}Q", *fields) + scalars)

    def text(self, value: str) -> int:
        """A string."""
        raw = value.encode("utf-8") + b"\0"
        return self._put(STRING, 0, struct.pack("<QQQ", len(raw), len(raw), len(value)) + raw)

    def natural(self, value: int) -> int:
        """A natural number, in its normal form."""
        return value << 1 | 1 if value < 1 << 63 else self.big(value)

    def big(self, value: int) -> int:
        """A natural number as a big one, whether it is or not."""
        limbs = max(1, (value.bit_length() + 63) // 64)
        here = len(self.data)
        raw = struct.pack("<iiQ", limbs, limbs, here + 24) + value.to_bytes(8 * limbs, "little")
        return self._put(NUMERAL, 0, raw)

    def list(self, items: Sequence[int]) -> int:
        """A List."""
        cell = NIL
        for item in reversed(items):
            cell = self.constructor(1, [item, cell])
        return cell

    def name(self, number: int) -> int:
        """A name."""
        if number not in self._names:
            prefix, part = self._tables.names.keys[number]
            before = self.name(prefix)
            if isinstance(part, str):
                self._names[number] = self.constructor(1, [before, self.text(part)], b"\0" * 8)
            else:
                self._names[number] = self.constructor(2, [before, self.natural(part)], b"\0" * 8)
        return self._names[number]

    def level(self, number: int) -> int:
        """A universe level."""
        if number not in self._levels:
            tag, *parts = self._tables.levels.keys[number]
            fields = [self.name(parts[0])] if tag == PARAM else [self.level(part) for part in parts]
            self._levels[number] = self.constructor(tag, fields, b"\0" * 8)
        return self._levels[number]

    def expr(self, root: int) -> int:
        """An expression."""
        for number in sorted(self._tables.reach(root)):
            if number not in self._exprs:
                self._exprs[number] = self._expr(number)
        return self._exprs[root]

    def _expr(self, number: int) -> int:
        key = self._tables.exprs.keys[number]
        tag = key[0]
        inside = [self._exprs[part] for part in key[EXPRESSIONS_IN[tag]]] if tag in EXPRESSIONS_IN else []
        cached = b"\0" * 8
        if tag == APP:
            return self.constructor(tag, inside, cached)
        if tag in (LAMBDA, FORALL, LET):
            return self.constructor(tag, [self.name(0), *inside], _DEFAULT_BINDER)
        if tag == BVAR:
            return self.constructor(tag, [self.natural(key[1])], cached)
        if tag == SORT:
            return self.constructor(tag, [self.level(key[1])], cached)
        if tag == CONST:
            return self.constructor(tag, [self.name(key[1]), self.list([self.level(lv) for lv in key[2:]])], cached)
        if tag == LITERAL:
            if isinstance(key[1], str):
                return self.constructor(tag, [self.constructor(1, [self.text(key[1])])], cached)
            return self.constructor(tag, [self.constructor(0, [self.natural(key[1])])], cached)
        assert tag == PROJECTION
        return self.constructor(tag, [self.name(key[1]), self.natural(key[2]), *inside], cached)

    def constant(self, c: Constant) -> int:
        """A `ConstantInfo`."""
        levels = self.list([self.name(level) for level in c.levels])
        signature = self.constructor(0, [self.name(c.name), levels, self.expr(c.type) if c.type else NIL])
        alone = self.list([self.name(c.name)])
        fields, scalars = [signature], b""
        if c.kind == AXIOM:
            scalars = b"\0"
        elif c.kind == DEFINITION:
            hint = self.natural(c.hint + 2) if c.hint < 0 else self.constructor(2, [], c.hint.to_bytes(8, "little"))
            fields += [self.expr(c.value), hint, alone]
            scalars = b"\1"
        elif c.kind in (THEOREM, OPAQUE):
            fields += [self.expr(c.value), alone]
            scalars = b"\0" if c.kind == OPAQUE else b""
        elif c.kind == INDUCTIVE:
            block, made = ([self.name(name) for name in names] for names in (c.block, c.constructors))
            fields += [self.natural(c.parameters), NIL, self.list(block), self.list(made), NIL]
            scalars = b"\0\0\0"
        elif c.kind == CONSTRUCTOR:
            fields += [self.name(c.belongs_to), NIL, NIL, NIL]
            scalars = b"\0"
        else:
            assert c.kind == RECURSOR
            fields += [self.list([self.name(c.belongs_to)]), NIL, NIL, NIL, NIL, NIL]
            scalars = b"\0\0"
        return self.constructor(c.kind, [self.constructor(0, fields, scalars)])

    def _put(self, tag: int, fields: int, body: bytes) -> int:
        here = len(self.data)
        self.data += struct.pack("<iHBB", 0, 8 + len(body) & 0xFFFF, fields, tag) + body
        self.data += b"\0" * (-len(self.data) % 8)
        return here
