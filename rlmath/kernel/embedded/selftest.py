"""Known-good and known-bad snippets that a freshly started image must judge rightly before it may score anything.

Object layouts and argument lists of the C interface belong to one Lean version, and a prelude with a hole in it would
prove anything without an axiom. So nothing is taken for granted: each probe goes the whole way through the live
image.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from rlmath.errors import KernelUnavailable
from rlmath.kernel.protocol import CheckResult, GateRule, Part, Source

NAT_FUNCTIONS: Final = (
    *("add", "sub", "mul", "div", "mod", "gcd", "beq", "ble"),
    *("land", "lor", "xor", "shiftLeft", "shiftRight", "pow", "log2"),
)
"""Functions on Nat that Lean's kernel computes by itself, whatever their definition says: one that the prelude left
out could be defined wrongly by a submission, which proves False without an axiom."""

PROBE_TIMEOUT_S = 30.0
"""Generous: a loaded machine must not look like a broken kernel."""
ENDLESS_TIMEOUT_S = 0.2
"""For the probe that must run out of time."""

Check = Callable[[Source, float], Awaitable[CheckResult]]
"""Runs one source for so many seconds."""


@dataclass(frozen=True)
class Probe:
    """One snippet, and what is wrong with a result (None: nothing)."""

    name: str
    source: Source
    problem: Callable[[CheckResult], str | None]
    timeout_s: float = PROBE_TIMEOUT_S


async def run_self_test(check: Check) -> None:
    """Raise `KernelUnavailable`, naming the probe, unless every one is judged as it must be."""
    probes = PROBES
    results = await asyncio.gather(*(check(probe.source, probe.timeout_s) for probe in probes))
    for probe, result in zip(probes, results, strict=True):
        if (problem := probe.problem(result)) is not None:
            raise KernelUnavailable(f"the kernel failed its self-test `{probe.name}` and will not score: {problem}")


def theorem(prop: str, script: str, *, context: str = "") -> Source:
    """`theorem probe : PROP := by SCRIPT`, gated, with its axioms asked for."""
    block = "by\n" + "\n".join("  " + line for line in script.split("\n"))
    parts = (
        Part("probe_prop", prop, "goal", 1, len("theorem probe : "), prop.count("\n") + 1),
        Part("probe_proof", block, "proof", 2, 2, script.count("\n") + 1, declares=True),
    )
    return Source(
        f"theorem probe : {prop} := {block}",
        context,
        "theorem probe : probe_prop := probe_proof",
        parts,
        "probe",
        axioms=True,
    )


def _proved(axioms: str) -> Callable[[CheckResult], str | None]:
    line = f"'probe' depends on axioms: [{axioms}]" if axioms else "'probe' does not depend on any axioms"

    def problem(result: CheckResult) -> str | None:
        good = result.gate is not None and result.gate.ok and not result.messages and result.axioms_line == line
        return None if good and _ended_well(result) else f"a proof was not accepted: {result}"

    return problem


def _refuted(result: CheckResult) -> str | None:
    return None if result.errors and _ended_well(result) else f"what is false was not refused: {result}"


def _sorry(result: CheckResult) -> str | None:
    good = result.sorries == 1 and not result.errors and result.axioms_line == "'probe' depends on axioms: [sorryAx]"
    return None if good and _ended_well(result) else f"a sorry was not reported: {result}"


def _all_declared(result: CheckResult) -> str | None:
    refused = {m.line for m in result.errors if "has already been declared" in m.text}
    left = [f"Nat.{name}" for line, name in enumerate(NAT_FUNCTIONS, start=1) if line not in refused]
    return f"can be declared anew: {', '.join(left)}" if left else None


def _error_at(line: int, column: int) -> Callable[[CheckResult], str | None]:
    def problem(result: CheckResult) -> str | None:
        places = [(m.line, m.column) for m in result.errors]
        return None if places == [(line, column)] else f"errors at {places} instead of {line}:{column}"

    return problem


def _gated(rule: GateRule) -> Callable[[CheckResult], str | None]:
    def problem(result: CheckResult) -> str | None:
        good = result.gate is not None and not result.gate.ok and result.gate.rule == rule and not result.messages
        return None if good and _ended_well(result) else f"the gate should have said `{rule}`: {result}"

    return problem


def _timed_out(result: CheckResult) -> str | None:
    return None if result.timed_out else f"an endless tactic ended: {result}"


def _ended_well(result: CheckResult) -> bool:
    return not result.timed_out and result.crashed is None and result.context_error is None


PROBES: Final = (
    Probe("proof by simp", theorem("∀ n : Nat, 0 + n = n", "intro n\nsimp"), _proved("propext")),
    Probe("proof by a term", theorem("∀ p q : Prop, p ∧ q → q ∧ p", "exact fun _ _ h => ⟨h.2, h.1⟩"), _proved("")),
    Probe("proof by omega", theorem("∀ a b : Nat, a < b → a + 1 ≤ b", "intro a b h\nomega"), _proved("propext")),
    Probe(
        "names and variables of the context",
        theorem(
            "five = n + 0 → n = 5", "exact fun h => h.symm", context="namespace A\ndef five := 5\nvariable (n : Nat)"
        ),
        lambda result: (
            None
            if not result.messages and result.axioms_line == "'A.probe' does not depend on any axioms"
            else f"the command was not elaborated in the context's scope: {result}"
        ),
    ),
    Probe("1 = 2", theorem("1 = 2", "decide"), _refuted),
    Probe("False", theorem("False", "trivial"), _refuted),
    Probe("a sum computed wrongly", theorem("Nat.add 2 2 = 5", "rfl"), _refuted),
    Probe("an unbound name", theorem("x = x", "rfl"), _refuted),
    Probe(
        "sorry",
        Source("theorem probe : 1 = 2 := sorry", declaration="probe", axioms=True),
        _sorry,
    ),
    Probe(
        "the kernel's own functions",
        Source("\n".join(f"def Nat.{name} : Nat := 0" for name in NAT_FUNCTIONS)),
        _all_declared,
    ),
    Probe("position of an error", theorem("1 = 1", "have h : 1 = 1 := by\n  rfl\nexact nowhere"), _error_at(4, 8)),
    Probe("a second declaration", theorem("True", "trivial\ntheorem other : True := trivial"), _gated("part")),
    Probe("an open comment", theorem("True", "trivial\n/-"), _gated("part")),
    Probe("a proof inside the statement", theorem("True := by trivial --", "stop"), _gated("part")),
    Probe("the statement captured", theorem("True) (h : False", "exact h"), _gated("part")),
    Probe("an option", theorem("1 = 2", "set_option debug.skipKernelTC true in decide +kernel"), _gated("denied")),
    Probe("an attribute", theorem("True", 'let rec @[extern "f"] f (n : Nat) : Nat := n\ntrivial'), _gated("denied")),
    Probe("a hole", theorem("1 = 2", "exact sorry"), _gated("denied")),
    Probe("compiled code", theorem("1 = 2", "native_decide"), _gated("denied")),
    Probe(
        "text that the template does not have",
        Source(
            "theorem probe : True ∧ True := ⟨trivial, trivial⟩",
            template="theorem probe : True ∧ True := ⟨trivial, hole⟩",
            parts=(Part("hole", "id trivial", "proof", 1, 0),),
        ),
        _gated("tree"),
    ),
    Probe(
        "an endless tactic",
        theorem("1 = 2", "repeat (have h : True := trivial)"),
        _timed_out,
        ENDLESS_TIMEOUT_S,
    ),
)
