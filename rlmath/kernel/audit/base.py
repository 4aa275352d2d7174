"""What the clean environment has: each constant's name, and the axioms that it rests on. Read off once, in the image,
before anything untrusted runs; the judges it forks inherit it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from rlmath.errors import KernelUnavailable
from rlmath.kernel.audit.tables import Tables
from rlmath.kernel.audit.terms import Terms
from rlmath.kernel.embedded.ffi import Lean, Obj, field, fields, list_items, retain, tag, text, unbox

AXIOM_INFO = 0
"""Tag of an axiom among `Lean.ConstantInfo`."""
NEEDED = ("Quot", "Quot.mk", "Quot.lift", "Quot.ind", "Nat", "Nat.zero", "Nat.succ")
"""Constants that the kernel knows by name: an environment without them would let a submission make its own."""


@dataclass(frozen=True)
class Base:
    """The clean environment, as a judge needs it."""

    environment: Obj
    """Lean's kernel environment; lasts."""
    tables: Tables
    """Holds all names of the environment."""
    terms: Terms
    axioms: dict[int, frozenset[int]]
    """By constant (its number in `tables.names`): the axioms it rests on."""


def read_base(lean: Lean, environment: Obj) -> Base:
    """Read an imported environment. Raises `KernelUnavailable` when it lacks what the kernel takes for granted."""
    kernel_environment = lean.persistent(lean.function("lean_elab_environment_to_kernel_env", 1)(retain(environment)))
    tables = Tables()
    terms = Terms(lean, tables)
    numbers: dict[Obj, int] = {}

    def number(name: Obj) -> int:
        if name & 1:
            return 0
        known = numbers.get(name)
        if known is None:
            part: str | int = text(field(name, 1)) if tag(name) == 1 else unbox(field(name, 1))
            known = numbers[name] = tables.names.number((number(field(name, 0)), part))
            terms.adopt_name(known, name)
        return known

    used_by = lean.function("l_Lean_ConstantInfo_getUsedConstantsAsSet", 1)
    names: list[int] = []
    axioms: list[int] = []
    rests_on: defaultdict[int, set[int]] = defaultdict(set)
    users: defaultdict[int, list[int]] = defaultdict(list)
    for pair in list_items(lean.function("l_Lean_SMap_toList___redArg", 1)(retain(field(kernel_environment, 0)))):
        name, info = number(field(pair, 0)), field(pair, 1)
        names.append(name)
        if tag(info) == AXIOM_INFO:
            axioms.append(name)
        stack = [used_by(retain(info))]
        while stack:
            if not (tree := stack.pop()) & 1:
                parts = fields(tree)
                users[number(parts[1])].append(name)
                stack += parts[3:5]
    for axiom in axioms:
        stack = [axiom]
        while stack:
            name = stack.pop()
            if axiom not in rests_on[name]:
                rests_on[name].add(axiom)
                stack += users[name]
    # Hardly any two differ: every process that is forked would have to take over each copy.
    same: dict[frozenset[int], frozenset[int]] = {}
    found = {name: same.setdefault(found, found) for name in names for found in [frozenset(rests_on.get(name, ()))]}
    missing = [name for name in NEEDED if tables.name(name) not in found]
    if missing:
        raise KernelUnavailable(f"the prelude lacks {', '.join(missing)}; no theorem can be audited on it")
    return Base(kernel_environment, tables, terms, found)
