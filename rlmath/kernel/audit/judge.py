"""The judgement: is the submission's theorem the one that was asked for, and does the kernel accept all it rests on?

Both exports are decoded into one set of tables. The statement, and everything new that it rests on, must be the same
in both. Then every new constant of the submission goes through the kernel of a clean environment, dependencies first;
the kernel makes its own recursors. Last, the axioms that the theorem rests on are walked by identity, not by printed
name. Whatever else the submission's process said is no evidence, and is not here.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from ctypes import c_size_t, c_void_p
from typing import Final

from rlmath.kernel.audit.base import Base
from rlmath.kernel.audit.blob import MAX_STEPS, decode
from rlmath.kernel.audit.constants import AXIOM, CONSTRUCTOR, INDUCTIVE, RECURSOR, THEOREM, Constant, Module
from rlmath.kernel.audit.tables import Refused, Tables
from rlmath.kernel.audit.text import write_text
from rlmath.kernel.embedded.ffi import Lean, box, tag
from rlmath.kernel.embedded.ffi import field as field_of
from rlmath.kernel.embedded.wire import Trial
from rlmath.kernel.protocol import AuditRule, AuditVerdict

MAX_HEARTBEATS: Final = 4_000_000_000
"""Of the kernel, for one constant: twenty times what Lean gives a whole declaration by default."""
MAX_RECURSION: Final = 1 << 20
"""The kernel's own limit on depth; its stack comes first."""

KERNEL_NAMES: Final = (
    *(
        "Nat",
        "Nat.zero",
        "Nat.succ",
        "String",
        "String.ofList",
        "String.mk",
        "String.ofByteArray",
        "Char",
        "Char.ofNat",
    ),
    *("List", "List.nil", "List.cons", "Bool", "Bool.true", "Bool.false", "Eq", "Eq.refl"),
    *("Quot", "Quot.mk", "Quot.lift", "Quot.ind", "eagerReduce", "Lean.reduceBool", "Lean.reduceNat"),
    *("Nat.add", "Nat.sub", "Nat.mul", "Nat.div", "Nat.mod", "Nat.gcd", "Nat.beq", "Nat.ble", "Nat.pow", "Nat.log2"),
    *("Nat.land", "Nat.lor", "Nat.xor", "Nat.shiftLeft", "Nat.shiftRight"),
)
"""What the kernel computes with by name, whether the environment has it or not: no submission may declare one."""

COMPILERS_COPY: Final = "_unsafe_rec"
"""Last part of the name of the unsafe twin that a recursive function has."""


RECURSOR_NAME: Final = re.compile(r"rec(_[0-9]+)?")
"""Last part of the names of the recursors that the kernel makes of an inductive type."""

REJECTIONS: Final = (
    *("unknown constant", "already declared", "type mismatch of the declaration", "metavariables", "free variables"),
    *("function expected", "type expected", "type mismatch in a let", "type mismatch of an expression"),
    *("type mismatch of an application", "invalid projection", "not a proposition", "other"),
    *("deterministic timeout", "excessive memory", "deep recursion", "interrupted"),
)
"""What `Lean.KernelException` says, by its tag."""
OUT_OF_RESOURCES: Final = range(13, 17)


def judge(lean: Lean, base: Base, trial: Trial) -> AuditVerdict:
    """The judgement on a submission's theorem. Total in `trial.submission`: whatever it holds, a judgement comes, or
    this process ends at its limits."""
    tables = base.tables
    timings: dict[str, float] = {}
    started = time.perf_counter()
    name = tables.name(trial.goal)
    try:
        wanted = read_reference(tables, name, trial.reference)
    except Refused as refusal:
        return AuditVerdict(False, refusal.rule, refusal.reason)
    try:
        found = decode(trial.submission, tables)
        timings["decode"] = time.perf_counter() - started
        compare(tables, name, wanted, found)
        started = time.perf_counter()
        replay = Replay(lean, base, found)
        rests_on = base.axioms | replay.run()
        timings["replay"] = time.perf_counter() - started
        allowed = {tables.name(axiom) for axiom in trial.allowed}
        stated = tables.constants_in(tables.reach(found.constants[name].type))
        if foreign := _show(tables, frozenset().union(*(rests_on[constant] for constant in stated)) - allowed):
            raise Refused("reference", f"its statement itself rests on the axiom {foreign[0]}")
        if foreign := _show(tables, rests_on[name] - allowed):
            raise Refused("axioms", f"the theorem rests on the axiom {foreign[0]}")
    except Refused as refusal:
        return AuditVerdict(False, refusal.rule, refusal.reason, timings=timings)
    except MemoryError:
        return AuditVerdict(False, "resources", "judging it takes too much memory", timings=timings)
    except Exception as fault:
        # Nothing should come here. What does was brought about by the submission's bytes: no acceptance, and no fault
        # of the machine's that would have them judged again and again.
        return AuditVerdict(False, "artifact", f"judging it failed ({type(fault).__name__}: {fault})", timings=timings)
    axioms = _show(tables, rests_on[name])
    exported = write_text(lean, replay.environment, base.terms.name(name)) if trial.as_text else None
    return AuditVerdict(True, axioms=axioms, constants=len(found.constants), exported=exported, timings=timings)


def _show(tables: Tables, names: Iterable[int]) -> tuple[str, ...]:
    return tuple(sorted(tables.show_name(name) for name in names))


def read_reference(tables: Tables, goal: int, reference: bytes) -> Module:
    """The constants of the reference. Raises `Refused` with the rule `reference`, its author's to mend."""
    try:
        module = decode(reference, tables)
    except Refused as refusal:
        raise Refused("reference", refusal.reason) from None
    if (axiom := new_axiom(module)) is not None:
        raise Refused("reference", f"its context declares the axiom {tables.show_name(axiom)}")
    if (taken := taken_name(tables, module)) is not None:
        raise Refused("reference", f"its context declares {tables.show_name(taken)}, a name that is taken")
    theorem = module.constants.get(goal)
    if theorem is None or theorem.kind != THEOREM:
        raise Refused("reference", f"it declares no theorem {tables.show_name(goal)}")
    return module


def new_axiom(module: Module) -> int | None:
    """The name of an axiom among the constants. None may be there: those that a theorem may rest on are imported."""
    return next((name for name, constant in module.constants.items() if constant.kind == AXIOM), None)


def taken_name(tables: Tables, module: Module) -> int | None:
    """The name of a constant that only the kernel may give: one that it computes with, or that of a recursor. It makes
    the recursors of an inductive type itself, and may not look whether their names are free.
    """
    reserved = {tables.name(name) for name in KERNEL_NAMES}
    for name, constant in module.constants.items():
        if name in reserved:
            return name
        prefix, part = tables.names.keys[name]
        owner = module.constants.get(prefix)
        if (
            constant.kind != RECURSOR
            and owner is not None
            and owner.kind == INDUCTIVE
            and isinstance(part, str)
            and RECURSOR_NAME.fullmatch(part) is not None
        ):
            return name
    return None


def compare(tables: Tables, goal: int, wanted: Module, found: Module) -> None:
    """Raise `Refused` unless the theorem states the same in both, and all that it speaks of means the same."""
    theirs, ours = found.constants.get(goal), wanted.constants[goal]
    shown = tables.show_name(goal)
    if theirs is None or theirs.kind != THEOREM:
        raise Refused("statement", f"the submission has no theorem {shown}")
    if theirs.type != ours.type or not _same_levels(tables, theirs, ours):
        raise Refused("statement", f"{shown} states something else than what was asked for")
    for name in sorted(_rests_on(tables, wanted, ours.type)):
        if found.constants.get(name) != wanted.constants[name]:
            raise Refused("statement", f"{tables.show_name(name)} is not what the statement means by it")
    for name in found.left_out - wanted.left_out:
        if tables.last_part(name) != COMPILERS_COPY:
            raise Refused("declarations", f"declares the unsafe or partial {tables.show_name(name)}")


def _same_levels(tables: Tables, theirs: Constant, ours: Constant) -> bool:
    """Universe parameters are names, and equal types name equal ones. A proof may bring in more, which the statement
    does not mention: any level put in their place gives the theorem that was asked for."""
    mentioned = set(ours.levels)
    return mentioned <= set(theirs.levels)


def _rests_on(tables: Tables, module: Module, type_: int) -> set[int]:
    """The new constants that a statement rests on, however far away."""
    found: set[int] = set()
    todo = list(tables.constants_in(tables.reach(type_)))
    while todo:
        name = todo.pop()
        constant = module.constants.get(name)
        if constant is None or name in found:
            continue
        found.add(name)
        todo += constant.block + constant.constructors
        if constant.belongs_to:
            todo.append(constant.belongs_to)
        roots = [number for number in (constant.type, constant.value) if number]
        todo += tables.constants_in(tables.reach(*roots))
    return found


class Replay:
    """One run of all new constants of a submission through the kernel."""

    def __init__(self, lean: Lean, base: Base, module: Module) -> None:
        self._base = base
        self._module = module
        self._constants = module.constants
        self._tables = base.tables
        self._add = lean.bind("lean_add_decl", c_void_p, c_size_t, c_size_t, c_void_p, c_void_p)
        self.environment = base.environment
        """The clean environment, and what the kernel has accepted so far."""
        self._steps = MAX_STEPS

    def run(self) -> dict[int, frozenset[int]]:
        """By constant, the axioms it rests on. Raises `Refused`."""
        taken = taken_name(self._tables, self._module)
        members: dict[int, list[int]] = {}
        for name, constant in self._constants.items():
            if constant.kind == AXIOM:
                raise Refused("axioms", f"declares the axiom {self._show(name)}")
            if name in self._base.axioms or name == taken:
                raise Refused("declarations", f"declares {self._show(name)}, a name that is taken")
            members.setdefault(self._unit(name), []).append(name)
        inside = {unit: self._expressions(names) for unit, names in members.items()}
        uses = {unit: self._tables.constants_in(numbers) for unit, numbers in inside.items()}
        axioms: dict[int, frozenset[int]] = {}
        opened: set[int] = set()
        stack = [(unit, False) for unit in sorted(members, reverse=True)]
        while stack:
            unit, ready = stack.pop()
            if unit in axioms:
                continue
            below = {self._unit(name) for name in uses[unit] if name in self._constants} - {unit}
            if not ready:
                if unit in opened:
                    raise Refused("declarations", f"{self._show(unit)} rests on itself")
                opened.add(unit)
                stack.append((unit, True))
                stack += ((other, False) for other in sorted(below, reverse=True) if other not in axioms)
                continue
            outside = [name for name in uses[unit] if name not in self._constants]
            unknown = next((name for name in outside if name not in self._base.axioms), None)
            if unknown is not None:
                raise Refused("declarations", f"{self._show(unit)} uses {self._show(unknown)}, which is not there")
            self._base.terms.build(inside[unit])
            self._check(unit)
            axioms[unit] = frozenset().union(
                *(axioms[other] for other in below), *(self._base.axioms[name] for name in outside)
            )
        return {name: axioms[unit] for unit, names in members.items() for name in names}

    def _show(self, name: int) -> str:
        return self._tables.show_name(name)

    def _unit(self, name: int) -> int:
        """What goes through the kernel with `name`: itself, or the first type of its inductive block."""
        constant = self._constants[name]
        if constant.belongs_to:
            owner = self._constants.get(constant.belongs_to)
            if owner is None or owner.kind != INDUCTIVE:
                raise Refused("declarations", f"{self._show(name)} belongs to no inductive type")
            constant = owner
        if constant.kind != INDUCTIVE:
            return constant.name
        first = self._constants.get(constant.block[0]) if constant.block else None
        if first is None or first.kind != INDUCTIVE:
            raise Refused("declarations", f"the inductive type {self._show(constant.name)} is not whole")
        return first.name

    def _expressions(self, names: Iterable[int]) -> set[int]:
        roots = [n for name in names for n in (self._constants[name].type, self._constants[name].value) if n]
        found = self._tables.reach(*roots)
        self._steps -= len(found)
        if self._steps < 0:
            raise Refused("artifact", "the constants are too large")
        return found

    def _check(self, unit: int) -> None:
        constant = self._constants[unit]
        terms = self._base.terms
        if constant.kind == INDUCTIVE:
            declaration = terms.inductive_block(self._block(constant))
        else:
            declaration = terms.declaration(constant)
        result = self._add(self.environment, MAX_HEARTBEATS, MAX_RECURSION, declaration, box(0))
        if tag(result) != 1:
            why = tag(field_of(result, 0))
            rule: AuditRule = "resources" if why in OUT_OF_RESOURCES else "kernel"
            said = REJECTIONS[why] if why < len(REJECTIONS) else "other"
            raise Refused(rule, f"the kernel rejects {self._show(unit)} ({said})")
        self.environment = field_of(result, 0)

    def _block(self, first: Constant) -> list[tuple[Constant, list[Constant]]]:
        block: list[tuple[Constant, list[Constant]]] = []
        names: list[int] = []
        for name in first.block:
            type_ = self._constants.get(name)
            constructors = [self._constants.get(c) for c in type_.constructors] if type_ else []
            if type_ is None or type_.kind != INDUCTIVE or type_.block != first.block:
                raise Refused("declarations", f"the inductive type {self._show(first.name)} is not whole")
            whole = [c for c in constructors if c is not None and c.kind == CONSTRUCTOR and c.belongs_to == name]
            same = {(c.levels, type_.parameters) for c in (type_, *whole)}
            if len(whole) != len(constructors) or same != {(first.levels, first.parameters)}:
                raise Refused("declarations", f"the inductive type {self._show(name)} is not whole")
            names += [name, *type_.constructors]
            block.append((type_, whole))
        if len(set(names)) != len(names):
            raise Refused("declarations", f"names of the inductive type {self._show(first.name)} collide")
        return block
