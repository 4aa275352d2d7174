"""A Lean of the tests' own, in a process of its own: `python audit_lab.py recheck FILE.ndjson | fuzz COUNT SEED`.

`recheck` builds all constants of a text export anew, in an environment that has nothing in it, and prints a JSON list
of their names. `fuzz` has a judge look at mutated exports for goals that are not provable, and for one that is.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from ctypes import c_size_t, c_void_p
from pathlib import Path
from typing import Any

from test_audit_blob import mutant

from rlmath.kernel.audit.base import Base, read_base
from rlmath.kernel.audit.certify import ALLOWED
from rlmath.kernel.audit.constants import CONSTRUCTOR, DEFINITION, INDUCTIVE, OPAQUE, THEOREM, Constant
from rlmath.kernel.audit.export import Exporter
from rlmath.kernel.audit.judge import judge
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
    Tables,
)
from rlmath.kernel.audit.terms import Terms
from rlmath.kernel.embedded.build import ensure_prelude
from rlmath.kernel.embedded.confine import set_stack
from rlmath.kernel.embedded.elaborator import Elaborator
from rlmath.kernel.embedded.ffi import Lean, Obj, box, field, tag
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.embedded.wire import Trial


def start() -> Lean:
    prelude = ensure_prelude()
    os.environ["LEAN_PATH"] = str(prelude.path)
    os.environ["LEAN_ABORT_ON_PANIC"] = "1"
    set_stack(Limits())
    return Lean(str(prelude.shared_library), Limits().stack_bytes)


# --- the second opinion -----------------------------------------------------------------------------------------------


class Recheck:
    """Reads an export and declares what it declares, line by line."""

    def __init__(self, lean: Lean) -> None:
        empty = lean.value(lean.function("l_Lean_mkEmptyEnvironment", 2)(box(0), box(0)))
        self.environment: Obj = lean.function("lean_elab_environment_to_kernel_env", 1)(empty)
        self.add = lean.bind("lean_add_decl", c_void_p, c_size_t, c_size_t, c_void_p, c_void_p)
        self.tables = Tables()
        self.terms = Terms(lean, self.tables)
        self.names, self.levels, self.exprs = [0], [0], list[int]()
        self.declared: list[str] = []
        self.quotients = 0

    def line(self, row: dict[str, Any]) -> None:
        if "in" in row:
            kind, what = ("str", "str") if "str" in row else ("num", "i")
            self.names.append(self.tables.names.number((self.names[row[kind]["pre"]], row[kind][what])))
            assert row["in"] == len(self.names) - 1
        elif "il" in row:
            self.levels.append(self.tables.levels.number(self.level(row)))
            assert row["il"] == len(self.levels) - 1
        elif "ie" in row:
            self.exprs.append(self.tables.expr(self.expr(row)))
            self.terms.build({self.exprs[-1]})
            assert row["ie"] == len(self.exprs) - 1
        elif "meta" not in row:
            self.declare(row)

    def level(self, row: dict[str, Any]) -> tuple[int, ...]:
        if "param" in row:
            return PARAM, self.names[row["param"]]
        if "succ" in row:
            return SUCC, self.levels[row["succ"]]
        kind = "max" if "max" in row else "imax"
        return {"max": MAX, "imax": IMAX}[kind], *(self.levels[part] for part in row[kind])

    def expr(self, row: dict[str, Any]) -> tuple[Any, ...]:
        e = self.exprs
        match row:
            case {"bvar": index}:
                return BVAR, index
            case {"sort": level}:
                return SORT, self.levels[level]
            case {"const": {"name": name, "us": levels}}:
                return CONST, self.names[name], *(self.levels[level] for level in levels)
            case {"app": {"fn": function, "arg": argument}}:
                return APP, e[function], e[argument]
            case {"lam": {"type": type_, "body": body}}:
                return LAMBDA, e[type_], e[body]
            case {"forallE": {"type": type_, "body": body}}:
                return FORALL, e[type_], e[body]
            case {"letE": {"type": type_, "value": value, "body": body}}:
                return LET, e[type_], e[value], e[body]
            case {"natVal": digits}:
                return LITERAL, int(digits)
            case {"strVal": value}:
                return LITERAL, value
            case {"proj": {"typeName": name, "idx": index, "struct": of}}:
                return PROJECTION, self.names[name], index, e[of]
        raise AssertionError(row)

    def declare(self, row: dict[str, Any]) -> None:
        ((kind, body),) = row.items()
        if kind == "quot":
            self.quotients += 1
            if self.quotients == 1:
                self.accept(box(4), "Quot")
        elif kind == "inductive":
            self.inductive(body)
        elif kind == "axiom":
            constant = self.constant(0, body)
            signature = self.terms._signature(constant)
            value = self.terms.constructor(0, [signature], b"\0")
            self.accept(self.terms.constructor(0, [value]), self.tables.show_name(constant.name))
        else:
            constant = self.constant({"def": DEFINITION, "thm": THEOREM, "opaque": OPAQUE}[kind], body)
            self.accept(self.terms.declaration(constant), self.tables.show_name(constant.name))

    def constant(self, kind: int, body: dict[str, Any]) -> Constant:
        hints = body.get("hints")
        return Constant(
            kind,
            self.names[body["name"]],
            tuple(self.names[level] for level in body["levelParams"]),
            self.exprs[body["type"]],
            self.exprs[body["value"]] if "value" in body else 0,
            {"opaque": -2, "abbrev": -1}[hints] if isinstance(hints, str) else hints["regular"] if hints else 0,
        )

    def inductive(self, body: dict[str, Any]) -> None:
        constructors = {row["name"]: self.constant(CONSTRUCTOR, row) for row in body["ctors"]}
        block = []
        for row in body["types"]:
            made = self.constant(INDUCTIVE, row)
            type_ = Constant(**{**vars(made), "parameters": row["numParams"]})
            block.append((type_, [constructors[name] for name in row["ctors"]]))
        self.accept(self.terms.inductive_block(block), self.tables.show_name(block[0][0].name))

    def accept(self, declaration: Obj, name: str) -> None:
        result = self.add(self.environment, 0, 1 << 20, declaration, box(0))
        assert tag(result) == 1, f"the kernel rejects {name}"
        self.environment = field(result, 0)
        self.declared.append(name)


def recheck(path: str) -> None:
    reader = Recheck(start())
    for line in Path(path).read_text(encoding="utf-8").rstrip("\n").split("\n"):
        reader.line(json.loads(line))
    print(json.dumps(reader.declared))


# --- mutants before a live judge --------------------------------------------------------------------------------------

BATCH = 500
"""Mutants that one judge looks at."""
PAIRS = (
    ("theorem goal : 1 = 2 := by set_option debug.skipKernelTC true in decide +kernel", "1 = 2"),
    ("set_option warn.sorry false in theorem goal : 1 = 2 := sorry", "1 = 2"),
    ("axiom cheat : 1 = 2\ntheorem goal : 1 = 2 := cheat", "1 = 2"),
    (
        "theorem one : 1 = 1 := rfl\nset_option debug.skipKernelTC true in\ntheorem goal : 2 = 1 := by decide +kernel",
        "2 = 1",
    ),
    (
        "inductive T | leaf | node (l r : T)\ndef T.size : T → Nat\n| leaf => 1\n| node l r => l.size + r.size\n"
        "set_option debug.skipKernelTC true in\ntheorem goal : (2 : Nat) = 3 := by decide +kernel",
        "(2 : Nat) = 3",
    ),
    ("theorem goal : 1 = 1 := rfl", "1 = 2"),
    ("theorem goal : ∀ a b : Nat, a + b = b + a := by intro a b; omega", "∀ a b : Nat, a + b = b"),
    ("def small := 3\ntheorem goal : small + 340282366920938463463374607431768211456 ≠ 5 := by decide", "False"),
)
"""Submissions, and goals that nothing proves."""


def in_a_fork(work: Callable[[], Iterable[bytes]]) -> list[bytes]:
    """What `work` returns in a child; what it printed by then, if the child died."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            with os.fdopen(writer, "wb") as out:
                for line in work():
                    out.write(line + b"\n")
                    out.flush()
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        lines = said.read().splitlines()
    os.waitpid(pid, 0)
    return lines


def fuzz(count: int, seed: int) -> None:
    lean = start()
    environment = lean.import_modules(["Init"])
    elaborator, exporter, base = Elaborator(lean, environment), Exporter(lean), read_base(lean, environment)

    def exported(text: str) -> bytes:
        def work() -> list[bytes]:
            lean.start_tasks()
            state, _ = elaborator.run(elaborator.fresh(), text)
            return [exporter.new_constants(field(state, 0)).hex().encode()]

        return bytes.fromhex(in_a_fork(work)[0].decode())

    pairs = [(exported(text), exported(f"theorem goal : {prop} := sorry")) for text, prop in PAIRS]
    honest = Trial("goal", ALLOWED, pairs[5][0], exported("theorem goal : 1 = 1 := sorry"))
    chance = random.Random(seed)
    trials = []
    for _ in range(count):
        submission, reference = chance.choice(pairs)
        trials.append(Trial("goal", ALLOWED, mutant(submission, chance), reference))
    ends: Counter[str] = Counter()
    at = 0
    while at < count:
        lines = in_a_fork(lambda first=at: judgements(lean, base, honest, trials[first : first + BATCH]))  # type: ignore[misc]
        ends.update(line.decode() for line in lines)
        whole = len(lines) == min(BATCH, count - at) + 1
        # A judge that died took one mutant with it.
        ends["died"] += not whole
        at += len(lines) + (-1 if whole else 1)
    print(json.dumps(ends))


def judgements(lean: Lean, base: Base, honest: Trial, trials: list[Trial]) -> Iterator[bytes]:
    """One word for each trial, as soon as it is there: the rule that stopped it, or `accepted`. In the end, whether the
    judge that has seen all this still knows an honest theorem: `sane` or `insane`."""
    lean.start_tasks()
    for trial in trials:
        verdict = judge(lean, base, trial)
        yield ("accepted" if verdict.accepted else str(verdict.rule)).encode()
    yield b"sane" if judge(lean, base, honest).accepted else b"insane"


if __name__ == "__main__":
    if sys.argv[1] == "recheck":
        recheck(sys.argv[2])
    else:
        fuzz(int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.flush()
    os._exit(0)
