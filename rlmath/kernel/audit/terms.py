"""Building terms and declarations anew through Lean's own constructors, so that every hash, flag and numeral the kernel
sees was computed here.

Objects made here are never freed: a judge builds each term once, uses it many times, and ends soon.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rlmath.kernel.audit.constants import DEFINITION, OPAQUE, THEOREM, Constant
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
    PARAM,
    PROJECTION,
    SORT,
    SUCC,
    Key,
    Tables,
)
from rlmath.kernel.embedded.ffi import WORDS, Lean, Obj, box

SMALL: Final = 1 << 63
"""Natural numbers below this are boxed."""
CHUNK_BITS: Final = 62
"""Big numbers are put together from so many bits at a time."""

LASTS: Final = ~0xFFFFFFFF & (1 << 64) - 1
"""Mask of an object's header that makes its reference count 0: never to be freed."""

_DECLARATION: Final = {DEFINITION: 1, THEOREM: 2, OPAQUE: 3}
"""By kind of constant, the tag of `Lean.Declaration`; 6 is a block of inductive types."""
_BLOCK: Final = 6


def lasting(obj: Obj) -> Obj:
    """`obj` marked as never to be freed; its parts must be so already."""
    if not obj & 1:
        WORDS[obj >> 3] &= LASTS
    return obj


class Terms:
    """Lean's objects for the numbers of one set of tables, made when they are first needed."""

    def __init__(self, lean: Lean, tables: Tables) -> None:
        self._lean = lean
        self._tables = tables
        self._names: dict[int, Obj] = {0: box(0)}
        self._levels: dict[int, Obj] = {0: box(0)}
        self._exprs: dict[int, Obj] = {}
        call = lean.function
        self._name_str = call("l_Lean_Name_str___override", 2)
        self._name_num = call("l_Lean_Name_num___override", 2)
        self._level = {
            SUCC: call("l_Lean_Level_succ___override", 1),
            MAX: call("l_Lean_Level_max___override", 2),
            IMAX: call("l_Lean_Level_imax___override", 2),
            PARAM: call("l_Lean_Level_param___override", 1),
        }
        self._bvar = call("l_Lean_Expr_bvar___override", 1)
        self._sort = call("l_Lean_Expr_sort___override", 1)
        self._const = call("l_Lean_Expr_const___override", 2)
        self._app = call("l_Lean_Expr_app___override", 2)
        self._binders = {
            LAMBDA: call("l_Lean_Expr_lam___override", 4),
            FORALL: call("l_Lean_Expr_forallE___override", 4),
        }
        self._let = call("l_Lean_Expr_letE___override", 5)
        self._literal = call("l_Lean_Expr_lit___override", 1)
        self._projection = call("l_Lean_Expr_proj___override", 3)
        self._shift = call("l_Nat_shiftLeft", 2)
        self._add = call("l_Nat_add", 2)
        self._binder = lasting(lean.name("x"))

    def adopt_name(self, number: int, obj: Obj) -> None:
        """Take `obj`, which lasts, for this name."""
        self._names[number] = obj

    def name(self, number: int) -> Obj:
        """A name."""
        chain = []
        while number not in self._names:
            chain.append(number)
            number = self._tables.names.keys[number][0]
        obj = self._names[number]
        for number in reversed(chain):
            part = self._tables.names.keys[number][1]
            if isinstance(part, str):
                obj = self._name_str(obj, lasting(self._lean.string(part)))
            else:
                obj = self._name_num(obj, self.natural(part))
            self._names[number] = lasting(obj)
        return obj

    def level(self, root: int) -> Obj:
        """A universe level."""
        stack = [root]
        while stack:
            number = stack[-1]
            if number in self._levels:
                stack.pop()
                continue
            tag, *parts = self._tables.levels.keys[number]
            missing = [] if tag == PARAM else [part for part in parts if part not in self._levels]
            if missing:
                stack += missing
                continue
            made = self.name if tag == PARAM else self._levels.__getitem__
            self._levels[number] = lasting(self._level[tag](*(made(part) for part in parts)))
        return self._levels[root]

    def build(self, numbers: set[int]) -> None:
        """Make these expressions, whose parts are among them or made already."""
        done, keys, make_app = self._exprs, self._tables.exprs.keys, self._app
        for number in sorted(numbers - done.keys()):
            key = keys[number]
            obj = make_app(done[key[1]], done[key[2]]) if key[0] == APP else self._expr(key)
            # As `lasting`, which would be called for every expression.
            WORDS[obj >> 3] &= LASTS
            done[number] = obj

    def expr(self, number: int) -> Obj:
        """An expression that was made."""
        return self._exprs[number]

    def _expr(self, key: Key) -> Obj:
        """An expression that is no application."""
        tag, *parts = key
        done = self._exprs
        if tag in (LAMBDA, FORALL):
            return self._binders[tag](self._binder, done[parts[0]], done[parts[1]], box(0))
        if tag == BVAR:
            return self._bvar(box(parts[0]))
        if tag == CONST:
            return self._const(self.name(parts[0]), self.list([self.level(level) for level in parts[1:]]))
        if tag == SORT:
            return self._sort(self.level(parts[0]))
        if tag == LET:
            return self._let(self._binder, *(done[part] for part in parts), box(0))
        if tag == LITERAL:
            value = parts[0]
            if isinstance(value, str):
                return self._literal(self.constructor(1, [lasting(self._lean.string(value))]))
            return self._literal(self.constructor(0, [self.natural(value)]))
        assert tag == PROJECTION
        return self._projection(self.name(parts[0]), box(parts[1]), done[parts[2]])

    def natural(self, value: int) -> Obj:
        """A natural number."""
        if value < SMALL:
            return box(value)
        obj = box(0)
        for at in reversed(range(0, value.bit_length(), CHUNK_BITS)):
            chunk = value >> at & (1 << CHUNK_BITS) - 1
            obj = lasting(self._add(lasting(self._shift(obj, box(CHUNK_BITS))), box(chunk)))
        return obj

    def list(self, elements: Sequence[Obj]) -> Obj:
        """A List of objects that last."""
        cell = box(0)
        for element in reversed(elements):
            cell = self.constructor(1, [element, cell])
        return cell

    def constructor(self, tag: int, fields: Sequence[Obj], scalars: bytes = b"") -> Obj:
        """A constructor object that lasts, of parts that do."""
        return lasting(self._lean.constructor(tag, list(fields), scalars))

    # -- declarations

    def declaration(self, constant: Constant) -> Obj:
        """A definition, theorem or opaque constant, for the kernel. Its type and value must have been made."""
        name = self.name(constant.name)
        parts = [self._signature(constant), self._exprs[constant.value]]
        if constant.kind == DEFINITION:
            parts.append(self._hint(constant.hint))
        parts.append(self.list([name]))
        # A definition is `safe` (1); an opaque constant is not unsafe (0).
        scalars = {DEFINITION: b"\1", THEOREM: b"", OPAQUE: b"\0"}[constant.kind]
        return self.constructor(_DECLARATION[constant.kind], [self.constructor(0, parts, scalars)])

    def inductive_block(self, types: Sequence[tuple[Constant, Sequence[Constant]]]) -> Obj:
        """A mutual block: each type with its constructors. Their types must have been made."""
        first = types[0][0]
        block = []
        for type_, constructors in types:
            made = [self.constructor(0, [self.name(c.name), self._exprs[c.type]]) for c in constructors]
            block.append(self.constructor(0, [self.name(type_.name), self._exprs[type_.type], self.list(made)]))
        levels = self._level_names(first)
        return self.constructor(_BLOCK, [levels, self.natural(first.parameters), self.list(block)], b"\0")

    def _signature(self, constant: Constant) -> Obj:
        return self.constructor(0, [self.name(constant.name), self._level_names(constant), self._exprs[constant.type]])

    def _level_names(self, constant: Constant) -> Obj:
        return self.list([self.name(level) for level in constant.levels])

    def _hint(self, hint: int) -> Obj:
        return box(hint + 2) if hint < 0 else self.constructor(2, [], hint.to_bytes(4, "little"))
