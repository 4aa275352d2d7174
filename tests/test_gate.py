"""The parser gate on a live Lean: what it refuses, where, and what honest text it lets through."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.embedded.build import ensure_prelude
from rlmath.kernel.embedded.denied import DENIED
from rlmath.kernel.embedded.gate import position_in_command
from rlmath.kernel.embedded.selftest import theorem
from rlmath.kernel.protocol import GateRule, GateVerdict, Part, Source

OF_OTHER_LIBRARIES = {"plausibleSyntax", "Mathlib.Meta.eval_expr", "Mathlib.Util.includeStr"}


async def verdict(kernel: EmbeddedKernel, source: Source) -> GateVerdict:
    result = await kernel.check(source, timeout_s=30)
    assert result.crashed is None
    assert result.gate is not None
    if not result.gate.ok:
        assert result.messages == (), "something was elaborated although the gate was shut"
        assert result.axioms_line is None
    return result.gate


REFUSED: list[tuple[str, str, str, GateRule]] = [
    ("a second theorem", "True", "trivial\ntheorem other : True := trivial", "part"),
    ("a second theorem in the same line", "True", "exact trivial theorem other : True := trivial", "part"),
    ("where", "True", "exact helper\nwhere helper : True := trivial", "part"),
    ("termination_by", "True", "exact trivial\ntermination_by 0", "part"),
    ("deriving", "True", "trivial\nderiving instance DecidableEq for Nat", "part"),
    ("an attribute command", "True", "trivial\nattribute [simp] Nat.add_comm", "part"),
    ("a local instance", "True", "trivial\nlocal instance x : LE Nat := ⟨fun _ _ => True⟩", "part"),
    ("end", "True", "trivial\nend", "part"),
    ("a hash command", "True", "trivial\n#eval 1", "part"),
    ("an exit", "True", "trivial\n#exit", "part"),
    ("an open comment", "True", "trivial\n/-", "part"),
    ("a stray end of comment", "True", "trivial\n-/", "part"),
    ("a closed and reopened parenthesis", "True", "trivial) (by trivial", "part"),
    ("an open string", "True", 'have s := "', "part"),
    ("a statement with its proof", "True := trivial", "stop", "part"),
    ("a statement with its proof and a comment", "True := by trivial --", "stop", "part"),
    ("a statement that opens a binder", "True) (h : False", "exact h", "part"),
    ("a statement that ends in a comment's start", "True /-", "-/ trivial", "part"),
    ("no statement", "", "trivial", "part"),
    ("a misspelt tactic", "True", "trivia l(", "part"),
    ("sorry", "True", "sorry", "denied"),
    ("sorry as a term", "True", "exact sorry", "denied"),
    ("sorry deep inside", "True", "first | done | (repeat (have : 1 = 2 := by sorry))", "denied"),
    ("sorry in a statement", "(sorry : Prop)", "trivial", "denied"),
    ("admit", "True", "admit", "denied"),
    ("stop", "True", "stop\nrfl", "denied"),
    ("set_option tactic", "1 = 2", "set_option debug.skipKernelTC true in decide +kernel", "denied"),
    ("set_option term", "1 = 2", "exact set_option debug.skipKernelTC true in by decide +kernel", "denied"),
    ("set_option with comments as spaces", "1 = 2", "set_option/-x-/debug.«skipKernelTC»/-y-/true in rfl", "denied"),
    ("set_option in a statement", "set_option autoImplicit true in x = x", "rfl", "denied"),
    ("an attribute", "True", 'let rec @[extern "system"] f (k : Nat) : Nat := k\ntrivial', "denied"),
    ("an attribute in a term", "True", "exact let rec @[simp] f (k : Nat) : Nat := k; trivial", "denied"),
    ("native_decide", "1 = 1", "native_decide", "denied"),
    ("decide with an option", "1 = 1", "decide +native", "denied"),
    ("decide with a named option", "1 = 1", "decide (native := true)", "denied"),
    ("decide with a record", "1 = 1", "decide (config := { native := true })", "denied"),
    ("bv_decide", "1 = 1", "bv_decide", "denied"),
    ("run_tac", "True", "run_tac Lean.Elab.Tactic.done", "denied"),
    ("unsafe", "True", "exact unsafe trivial", "denied"),
    ("dbg_trace", "True", 'exact dbg_trace "x"; trivial', "denied"),
    ("trace", "True", 'trace "x"\ntrivial', "denied"),
    ("trace_state", "True", "trace_state\ntrivial", "denied"),
    ("sleep", "True", "sleep 10\ntrivial", "denied"),
    ("as_aux_lemma", "True", "as_aux_lemma => trivial", "denied"),
]


@pytest.mark.parametrize(("prop", "script", "rule"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
async def test_refused(kernel: EmbeddedKernel, prop: str, script: str, rule: GateRule) -> None:
    gate = await verdict(kernel, theorem(prop, script))
    assert not gate.ok
    assert gate.rule == rule, gate
    assert gate.label
    assert gate.detail


HONEST = {
    "parentheses in a string": ('")" = ")"', "rfl"),
    "a parenthesis as a character": ("')' = ')'", "rfl"),
    "quotes and dashes in strings": ('"--" = "--" ∧ "\\"/-" = "\\"/-"', "exact ⟨rfl, rfl⟩"),
    "a raw string": ('r"\\" = r"\\"', "rfl"),
    "comments, nested": ("True", "/- a /- b -/ c -/\ntrivial -- )\n/- theorem -/"),
    "banned words inside names": ("True", "have mysorry : True := trivial\nhave unsafe' := mysorry\nexact unsafe'"),
    "a banned word in quotes": ("True", "have «set_option» : True := trivial\nexact «set_option»"),
    "bullets": ("True ∧ True", "constructor\n· trivial\n· have : True := by\n    trivial\n  exact this"),
    "calc": ("∀ a b c : Nat, a = b → b = c → a = c", "intro a b c h k\ncalc a\n  _ = b := h\n  _ = c := k"),
    "match": ("∀ n : Nat, n = n", "intro n\nmatch n with\n| 0 => rfl\n| k + 1 => rfl"),
    "induction": ("∀ n : Nat, 0 + n = n", "intro n\ninduction n with\n| zero => rfl\n| succ n ih => simp"),
    "cases with a structured proof": (
        "∀ p q : Prop, p ∨ q → q ∨ p",
        "intro p q h\ncases h with\n| inl a => exact .inr a\n| inr b =>\n  left\n  exact b",
    ),
    "a multi-line statement": ("∀ n : Nat,\n    n + 0 =\n    n", "intro n\nrfl"),
    "let and if in a statement": ("let n := 2; (if n = 2 then n else 0) = 2", "rfl"),
    "open in": ("∀ n : Nat, n + 0 = n", "open Nat in\nintro n\nrfl"),
    "let rec": ("True", "let rec f (n : Nat) : Nat := n\ntrivial"),
    "decide on the kernel": ("10 * 10 = 100", "decide +kernel"),
    "semicolons and combinators": ("True ∧ True", "constructor <;> (first | trivial | rfl)"),
    "Greek and subscripts": ("∀ ε₁ : Nat, ε₁ = ε₁", "intro ε₁\nrfl"),
    "a term": ("∀ p q : Prop, p ∧ q → q ∧ p", "exact fun _ _ ⟨a, b⟩ => ⟨b, a⟩"),
    "the statement's own name as a variable": ("∀ probe : Nat, probe = probe", "intro probe\nrfl"),
}


@pytest.mark.parametrize("name", HONEST)
async def test_honest_text_passes_and_proves(kernel: EmbeddedKernel, name: str) -> None:
    result = await kernel.check(theorem(*HONEST[name]), timeout_s=30)
    assert result.gate is not None
    assert result.gate.ok, result.gate
    assert result.messages == ()


async def test_an_empty_proof_is_an_unsolved_goal_and_captures_nothing(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(theorem("True", ""), timeout_s=30)
    assert result.gate is None or not result.gate.ok or result.errors


async def test_a_pair_of_props_that_share_a_comment(kernel: EmbeddedKernel) -> None:
    parts = (
        Part("hole0", "True /-", "lemma h1", 1, 20),
        Part("hole1", "-/ ", "lemma h2", 1, 35),
        Part("hole2", "by\n  trivial", "assembly", 2, 2),
    )
    command = "theorem t : True /- → -/ := by\n  trivial"
    gate = await verdict(kernel, Source(command, template="theorem t : hole0 → hole1 := hole2", parts=parts))
    assert (gate.ok, gate.rule, gate.label) == (False, "part", "lemma h1")


async def test_a_part_may_end_in_a_comment_where_the_template_gives_it_lines_of_its_own(kernel: EmbeddedKernel) -> None:
    parts = (Part("hole", "\n    True -- by sorry", "lemma h1", 2, 4),)
    source = Source(
        "theorem t : (\n    True -- by sorry\n  ) := trivial", template="theorem t : (hole\n  ) := trivial", parts=parts
    )
    assert (await verdict(kernel, source)).ok


async def test_a_pair_of_props_that_share_a_string(kernel: EmbeddedKernel) -> None:
    parts = (Part("hole0", 'True ∨ "', "lemma h1", 1, 12), Part("hole1", '" = ""', "lemma h2", 1, 20))
    source = Source(
        'theorem t : True ∨ " → " = "" := sorry', template="theorem t : hole0 → hole1 := sorry", parts=parts
    )
    gate = await verdict(kernel, source)
    assert (gate.ok, gate.rule, gate.label) == (False, "part", "lemma h1")


# -- what a part is alone and what it is in its place


@pytest.mark.parametrize(
    ("command", "template", "text", "at_fault"),
    [
        ("theorem t : True := id trivial", "theorem t : True := hole", "trivial", "proof"),
        ("theorem t : 1 + 2 * 3 = 7 := rfl", "theorem t : hole * 3 = 7 := rfl", "1 + 2", ""),
        ("theorem t : True := trivial", "theorem u : True := hole", "trivial", ""),
        ("theorem t : True := trivial", "lemma_ t : True := hole", "trivial", ""),
        ("theorem t : True := trivial", "theorem t : True := trivial", "trivial", ""),
        ("def t : True := trivial", "theorem t : True := hole", "trivial", ""),
        ("theorem t (n : Nat) : True := trivial", "theorem t : True := hole", "trivial", ""),
        ('theorem t : "a" = "b" := rfl', 'theorem t : "a" = "a" := hole', "rfl", ""),
        ("theorem t : True := trivial theorem u : True := trivial", "theorem t : True := hole", "trivial", ""),
    ],
)
async def test_a_command_that_is_not_the_filled_template(
    kernel: EmbeddedKernel, command: str, template: str, text: str, at_fault: str
) -> None:
    parts = (Part("hole", text, "proof", 1, 0),)
    gate = await verdict(kernel, Source(command, template=template, parts=parts))
    assert (gate.ok, gate.rule, gate.label) == (False, "tree", at_fault)


async def test_positions_and_comments_do_not_count(kernel: EmbeddedKernel) -> None:
    source = Source(
        "theorem t  :\n True /- c -/ := id   trivial",
        template="theorem t : True := hole",
        parts=(Part("hole", "id trivial -- c", "proof", 1, 0),),
    )
    assert (await verdict(kernel, source)).ok


async def test_a_hole_may_stand_more_than_once(kernel: EmbeddedKernel) -> None:
    parts = (Part("hole", "1 = 1", "goal", 1, 12),)
    good = Source(
        "theorem t : (1 = 1) ∧ (1 = 1) := ⟨rfl, rfl⟩", template="theorem t : (hole) ∧ (hole) := ⟨rfl, rfl⟩", parts=parts
    )
    assert (await verdict(kernel, good)).ok
    bad = Source(
        "theorem t : (1 = 1) ∧ (2 = 2) := ⟨rfl, rfl⟩", template="theorem t : (hole) ∧ (hole) := ⟨rfl, rfl⟩", parts=parts
    )
    assert (await verdict(kernel, bad)).label == "goal"


async def test_the_scope_of_the_context_counts_for_parsing(kernel: EmbeddedKernel) -> None:
    source = theorem("True", "trivial", context="namespace A\nopen Nat")
    assert (await verdict(kernel, source)).ok


# -- where the fault lies


async def test_a_fault_is_found_where_it_stands_in_the_command(kernel: EmbeddedKernel) -> None:
    source = theorem("∀ n : Nat, n = n", "intro n\nhave h : n = n := by\n  set_option x.y true in rfl\nrfl")
    gate = await verdict(kernel, source)
    line = source.command.split("\n")[gate.line - 1]
    assert line[gate.column :].startswith("set_option")


async def test_a_fault_in_a_one_line_statement(kernel: EmbeddedKernel) -> None:
    source = theorem("True ∧ (sorry : Prop)", "trivial")
    gate = await verdict(kernel, source)
    assert gate.label == "goal"
    assert source.command[gate.column :].startswith("sorry")
    assert gate.line == 1


async def test_the_parsers_message_and_place_reach_the_verdict(kernel: EmbeddedKernel) -> None:
    source = theorem("True", "have h : True := (\ntrivial")
    gate = await verdict(kernel, source)
    assert "expected" in gate.detail
    assert gate.line == 3


def test_position_in_command() -> None:
    block = Part("hole", "by\n    rfl\n    rfl", "assembly", line=7, column=4, lines=2)
    assert position_in_command(block, 1, 0) == (6, 0)
    assert position_in_command(block, 2, 4) == (7, 4)
    assert position_in_command(block, 3, 6) == (8, 6)
    inline = Part("hole", "a = b\n  ∧ c", "goal", line=2, column=10, lines=2)
    assert position_in_command(inline, 1, 4) == (2, 14)
    assert position_in_command(inline, 2, 2) == (3, 2)


# -- the table

KINDS = """
import os, sys
from rlmath.kernel.embedded.denied import DENIED
from rlmath.kernel.embedded.ffi import Lean, list_items, name_text
lean = Lean(sys.argv[1], 64 << 20)
environment = lean.import_modules(["Init"])
kinds = {name_text(n) for n in list_items(lean.function("l_Lean_Parser_getSyntaxNodeKinds", 1)(environment))}
for kind in DENIED:
    try:
        kind in kinds or lean.constant("l_" + kind.replace("_", "__").replace(".", "_"))
    except Exception:
        print(kind)
sys.stdout.flush()
os._exit(0)
"""


def test_every_denied_kind_is_one_of_leans() -> None:
    prelude = ensure_prelude()
    done = subprocess.run(
        [sys.executable, "-c", KINDS, str(prelude.shared_library)],
        env={**os.environ, "LEAN_PATH": str(prelude.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == OF_OTHER_LIBRARIES
    assert DENIED.keys() >= OF_OTHER_LIBRARIES
