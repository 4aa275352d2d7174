"""An accepted theorem as text, for an external checker: everything it rests on, from the kernel's own environment.

The format is lean4export's, version 3.1.0 (one JSON object a line; docs/audit-export.md has the grammar). What is
written are the objects that the kernel accepted or made itself, inductive types with the recursors it derived, not
what the submission's process exported. It is whole: the prelude's constants that the theorem rests on are in it, so a
checker needs nothing else and believes nothing of ours. Metadata is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from rlmath import __version__
from rlmath.kernel.audit.constants import AXIOM, CONSTRUCTOR, DEFINITION, INDUCTIVE, OPAQUE, RECURSOR, THEOREM
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
)
from rlmath.kernel.embedded.ffi import (
    LEAN_VERSION,
    WORDS,
    Lean,
    Obj,
    field,
    fields,
    list_items,
    retain,
    tag,
    text,
    unbox,
)

Name = tuple[str | int, ...]
"""The parts of a name."""

FORMAT_VERSION: Final = "3.1.0"
LEVELS: Final = {SUCC: "succ", MAX: "max", IMAX: "imax", PARAM: "param"}
BINDER_KINDS: Final = ("default", "implicit", "strictImplicit", "instImplicit")
SAFETY: Final = ("unsafe", "safe", "partial")
QUOTIENT: Final = 4
"""Tag of `Lean.ConstantInfo` for the four constants of the quotient."""
QUOTIENTS: Final = (("Quot",), ("Quot", "mk"), ("Quot", "lift"), ("Quot", "ind"))
EQUALITY: Final = ("Eq",)
"""What the quotient's constants speak of."""
QUOTIENT_KINDS: Final = ("type", "ctor", "lift", "ind")
EXPRESSIONS: Final = {APP: (0, 1), LAMBDA: (1, 2), FORALL: (1, 2), LET: (1, 2, 3), METADATA: (1,), PROJECTION: (2,)}
"""Which fields of an expression object are expressions."""
OF_NUMERALS: Final = (("Nat",),)
OF_STRINGS: Final = (*OF_NUMERALS, ("String",), ("String", "ofList"), ("Char",), ("Char", "ofNat"), ("List",))
"""What literals stand for, as far as an environment has it."""


def write_text(lean: Lean, environment: Obj, theorem: Obj) -> str:
    """The constant named `theorem` of a kernel environment and all it rests on."""
    writer = _Writer(lean, environment)
    writer.constant(theorem)
    return "\n".join(writer.lines) + "\n"


class _Writer:
    """Lines so far, and the numbers of what they define. Every line speaks only of what lines before it define."""

    def __init__(self, lean: Lean, environment: Obj) -> None:
        self._lean = lean
        self._show_natural = lean.function("l_Nat_reprFast", 1)
        pairs = lean.function("l_Lean_SMap_toList___redArg", 1)(retain(field(environment, 0)))
        self._infos = {self._key(field(pair, 0)): field(pair, 1) for pair in list_items(pairs)}
        self._recursors: dict[Name, list[Name]] = {}
        for name, info in self._infos.items():
            if tag(info) == RECURSOR:
                self._recursors.setdefault(self._key(list_items(field(field(info, 0), 1))[0]), []).append(name)
        self._written: set[Name] = set()
        self._names: dict[Obj, int] = {}
        self._levels: dict[Obj, int] = {}
        self._exprs: dict[Obj, int] = {}
        self._numbers: dict[str, dict[str, int]] = {"in": {}, "il": {}, "ie": {}}
        version = {"exporter": {"name": "rlmath", "version": __version__}, "format": {"version": FORMAT_VERSION}}
        self.lines = [_json({"meta": {**version, "lean": {"githash": "", "version": LEAN_VERSION}}})]

    def constant(self, name: Obj) -> None:
        """Write a constant, after all that it speaks of."""
        stack = [(self._unit(self._key(name)), False)]
        while stack:
            unit, ready = stack.pop()
            if unit in self._written:
                continue
            if not ready:
                stack.append((unit, True))
                stack += ((other, False) for other in self._needs(unit) if other not in self._written)
                continue
            self._written.add(unit)
            self._declare(unit)

    # -- constants

    @staticmethod
    def _key(name: Obj) -> Name:
        parts: list[str | int] = []
        while not name & 1:
            parts.append(text(field(name, 1)) if tag(name) == 1 else unbox(field(name, 1)))
            name = field(name, 0)
        return tuple(reversed(parts))

    def _unit(self, name: Name) -> Name:
        """What is declared together with a constant: the first type of its inductive block, or the quotient."""
        value = field(self._infos[name], 0)
        kind = tag(self._infos[name])
        if kind == CONSTRUCTOR:
            name = self._key(field(value, 1))
            value, kind = field(self._infos[name], 0), INDUCTIVE
        if kind == INDUCTIVE:
            return self._key(list_items(field(value, 3))[0])
        if kind == RECURSOR:
            return self._key(list_items(field(value, 1))[0])
        return QUOTIENTS[0] if kind == QUOTIENT else name

    def _members(self, unit: Name) -> list[Name]:
        kind = tag(self._infos[unit])
        if kind == QUOTIENT:
            return list(QUOTIENTS)
        if kind != INDUCTIVE:
            return [unit]
        types = [self._key(name) for name in list_items(field(field(self._infos[unit], 0), 3))]
        made = [self._key(c) for name in types for c in list_items(field(field(self._infos[name], 0), 4))]
        return types + made + self._recursors.get(unit, [])

    def _needs(self, unit: Name) -> list[Name]:
        """Units that must come before this one, in a fixed order."""
        found: dict[Name, None] = {}
        for name in self._members(unit):
            for constant in self._constants_of(self._infos[name]):
                found[self._unit(constant)] = None
        if unit == QUOTIENTS[0]:
            found[EQUALITY] = None
        found.pop(unit, None)
        return list(found)

    def _constants_of(self, info: Obj) -> Iterable[Name]:
        found: dict[Name, None] = {}
        seen: set[Obj] = set()
        stack = list(self._roots(info))
        while stack:
            expr = stack.pop()
            if expr in seen:
                continue
            seen.add(expr)
            kind = tag(expr)
            if kind in (CONST, PROJECTION):
                found[self._key(field(expr, 0))] = None
            elif kind == LITERAL:
                of = OF_STRINGS if tag(field(expr, 0)) else OF_NUMERALS
                found.update(dict.fromkeys(name for name in of if name in self._infos))
            stack += (field(expr, position) for position in EXPRESSIONS.get(kind, ()))
        return found

    def _roots(self, info: Obj) -> Iterable[Obj]:
        value, kind = field(info, 0), tag(info)
        yield field(field(value, 0), 2)
        if kind in (DEFINITION, THEOREM, OPAQUE):
            yield field(value, 1)
        elif kind == RECURSOR:
            for rule in list_items(field(value, 6)):
                yield field(rule, 2)

    def _declare(self, unit: Name) -> None:
        info = self._infos[unit]
        value, kind = field(info, 0), tag(info)
        if kind == QUOTIENT:
            for name in QUOTIENTS:
                quotient = field(self._infos[name], 0)
                self._put({"quot": {**self._signature(quotient), "kind": QUOTIENT_KINDS[_scalar(quotient, 0)]}})
        elif kind == INDUCTIVE:
            self._inductive(unit)
        elif kind == AXIOM:
            self._put({"axiom": {**self._signature(value), "isUnsafe": _flag(value, 0)}})
        else:
            body = {**self._signature(value), "value": self._expr(field(value, 1))}
            if kind == THEOREM:
                self._put({"thm": {**body, "all": self._name_list(field(value, 2))}})
            elif kind == OPAQUE:
                self._put({"opaque": {**body, "isUnsafe": _flag(value, 0), "all": self._name_list(field(value, 2))}})
            else:
                about = {"hints": self._hints(field(value, 2)), "safety": SAFETY[_scalar(value, 0)]}
                self._put({"def": {**body, **about, "all": self._name_list(field(value, 3))}})

    def _inductive(self, unit: Name) -> None:
        types, constructors, recursors = [], [], []
        for name in self._members(unit):
            info = self._infos[name]
            value = field(info, 0)
            made = self._signature(value)
            if tag(info) == INDUCTIVE:
                made |= {"numParams": unbox(field(value, 1)), "numIndices": unbox(field(value, 2))}
                made |= {"all": self._name_list(field(value, 3)), "ctors": self._name_list(field(value, 4))}
                made |= {"numNested": unbox(field(value, 5)), "isRec": _flag(value, 0)}
                types.append({**made, "isUnsafe": _flag(value, 1), "isReflexive": _flag(value, 2)})
            elif tag(info) == CONSTRUCTOR:
                counts = zip(("cidx", "numParams", "numFields"), fields(value)[2:], strict=True)
                made |= {"induct": self._name(field(value, 1)), **{key: unbox(count) for key, count in counts}}
                constructors.append({**made, "isUnsafe": _flag(value, 0)})
            else:
                keys = ("numParams", "numIndices", "numMotives", "numMinors")
                counts = zip(keys, fields(value)[2:6], strict=True)
                made |= {"all": self._name_list(field(value, 1)), **{key: unbox(count) for key, count in counts}}
                made |= {"rules": [self._rule(rule) for rule in list_items(field(value, 6))]}
                recursors.append({**made, "k": _flag(value, 0), "isUnsafe": _flag(value, 1)})
        self._put({"inductive": {"types": types, "ctors": constructors, "recs": recursors}})

    def _rule(self, rule: Obj) -> dict[str, int]:
        constructor, count, right = fields(rule)
        return {"ctor": self._name(constructor), "nfields": unbox(count), "rhs": self._expr(right)}

    def _signature(self, value: Obj) -> dict[str, Any]:
        name, levels, type_ = fields(field(value, 0))
        return {"name": self._name(name), "levelParams": self._name_list(levels), "type": self._expr(type_)}

    def _hints(self, hints: Obj) -> str | dict[str, int]:
        if hints & 1:
            return ("opaque", "abbrev")[unbox(hints)]
        return {"regular": WORDS[(hints >> 3) + 1] & 0xFFFFFFFF}

    def _name_list(self, names: Obj) -> list[int]:
        return [self._name(name) for name in list_items(names)]

    # -- names, levels, expressions: by address, and by what they are

    def _put(self, line: dict[str, Any]) -> None:
        self.lines.append(_json(line))

    def _number(self, table: str, what: dict[str, Any]) -> int:
        """The number of a term in its table; writes a line when it is new."""
        numbers, key = self._numbers[table], _json(what)
        if key not in numbers:
            # 0 is the anonymous name, and the level zero.
            numbers[key] = len(numbers) + (table != "ie")
            self._put({table: numbers[key], **what})
        return numbers[key]

    def _name(self, name: Obj) -> int:
        chain = []
        while not name & 1 and name not in self._names:
            chain.append(name)
            name = field(name, 0)
        number = 0 if name & 1 else self._names[name]
        for name in reversed(chain):
            part = field(name, 1)
            if tag(name) == 1:
                number = self._number("in", {"str": {"pre": number, "str": text(part)}})
            else:
                number = self._number("in", {"num": {"pre": number, "i": int(self._natural(part))}})
            self._names[name] = number
        return number

    def _level(self, root: Obj) -> int:
        if root & 1:
            return 0
        for level in _inside_out(root, self._levels, lambda o: () if tag(o) == PARAM else _pointers(fields(o))):
            parts = fields(level)
            kind = LEVELS[tag(level)]
            if kind == "param":
                value: int | list[int] = self._name(parts[0])
            else:
                inside = [0 if part & 1 else self._levels[part] for part in parts]
                value = inside[0] if kind == "succ" else inside
            self._levels[level] = self._number("il", {kind: value})
        return self._levels[root]

    def _expr(self, root: Obj) -> int:
        for expr in _inside_out(root, self._exprs, lambda o: [field(o, at) for at in EXPRESSIONS.get(tag(o), ())]):
            if tag(expr) == METADATA:
                self._exprs[expr] = self._exprs[field(expr, 1)]
            else:
                self._exprs[expr] = self._number("ie", self._shape(expr))
        return self._exprs[root]

    def _shape(self, expr: Obj) -> dict[str, Any]:
        kind, parts = tag(expr), fields(expr)
        inside = [self._exprs[parts[at]] for at in EXPRESSIONS.get(kind, ())]
        if kind == APP:
            return {"app": {"fn": inside[0], "arg": inside[1]}}
        if kind in (LAMBDA, FORALL):
            binder = {"name": self._name(parts[0]), "type": inside[0], "body": inside[1]}
            # After the fields come eight bytes of cached data, then the binder's kind.
            return {"lam" if kind == LAMBDA else "forallE": {**binder, "binderInfo": BINDER_KINDS[_scalar(expr, 8)]}}
        if kind == LET:
            binder = {"name": self._name(parts[0]), "type": inside[0], "value": inside[1], "body": inside[2]}
            return {"letE": {**binder, "nondep": _flag(expr, 8)}}
        if kind == BVAR:
            return {"bvar": unbox(parts[0])}
        if kind == SORT:
            return {"sort": self._level(parts[0])}
        if kind == CONST:
            levels = [self._level(level) for level in list_items(parts[1])]
            return {"const": {"name": self._name(parts[0]), "us": levels}}
        if kind == LITERAL:
            value = field(parts[0], 0)
            return {"strVal": text(value)} if tag(parts[0]) else {"natVal": self._natural(value)}
        return {"proj": {"typeName": self._name(parts[0]), "idx": unbox(parts[1]), "struct": inside[0]}}

    def _natural(self, value: Obj) -> str:
        return str(unbox(value)) if value & 1 else text(self._show_natural(retain(value)))


def _inside_out(root: Obj, done: dict[Obj, int], parts: Callable[[Obj], Iterable[Obj]]) -> Iterable[Obj]:
    """What is inside `root` and not done yet, each after its parts, `root` last."""
    stack = [(root, False)]
    while stack:
        obj, ready = stack.pop()
        if obj in done:
            continue
        if ready:
            yield obj
        else:
            stack.append((obj, True))
            stack += ((part, False) for part in parts(obj))


def _pointers(values: Iterable[Obj]) -> Iterable[Obj]:
    return [value for value in values if not value & 1]


def _scalar(obj: Obj, offset: int) -> int:
    """A byte of a constructor object's scalars."""
    at = obj + 8 + 8 * (WORDS[obj >> 3] >> 48 & 0xFF) + offset
    return WORDS[at >> 3] >> 8 * (at & 7) & 0xFF


def _flag(obj: Obj, offset: int) -> bool:
    return bool(_scalar(obj, offset))


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
