"""The audit with a Lean of the tests' own (`audit_lab.py`): mutants before live judges, and exports read back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rlmath.errors import InputError
from rlmath.kernel.audit.file import audit_file
from rlmath.kernel.embedded import EmbeddedKernel

HERE = Path(__file__).parent


def lab(*arguments: str) -> Any:
    command = [sys.executable, str(HERE / "audit_lab.py"), *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True, timeout=600).stdout)


def none_accepted(ends: dict[str, int], count: int, batches: int) -> bool:
    assert set(ends) <= {"artifact", "statement", "declarations", "kernel", "axioms", "resources", "died", "sane"}
    assert ends["sane"] + ends["died"] >= batches
    # Most die early, but enough get as far as the kernel for that to mean something.
    assert ends["kernel"] >= count // 50
    return sum(ends.values()) - ends["sane"] == count


def test_no_mutant_proves_what_is_not_true() -> None:
    assert none_accepted(lab("fuzz", "1500", "1"), 1_500, 3)


@pytest.mark.slow
def test_no_mutant_of_many_proves_what_is_not_true() -> None:
    assert none_accepted(lab("fuzz", "20000", "2"), 20_000, 40)


EXPORTED = {
    "a theorem of logic": ("", "∀ p q : Prop, p ∧ q → q ∧ p", "fun _ _ h => ⟨h.2, h.1⟩", 0),
    "simp": ("", "∀ n : Nat, 0 + n = n", "by intro n; simp", 1),
    "omega": ("", "∀ a b : Nat, a < b → a + 1 ≤ b", "by intro a b h; omega", 1),
    "choice and quotients": ("", "∀ p : Prop, p ∨ ¬p", "Classical.em", 3),
    "types of the context": (
        "mutual\ninductive A | a (l : List B)\ninductive B | b (x : A) | c\nend\n"
        "structure P where\n  x : Nat\n  s : String",
        "∀ p : P, p.s = \"é\" → A.a [.c] = A.a [.c] ∧ p.x + 340282366920938463463374607431768211456 ≠ 0",
        "by intro p h; exact ⟨rfl, by omega⟩",
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPORTED)
async def test_an_export_is_whole_and_right(kernel: EmbeddedKernel, name: str, tmp_path: Path) -> None:
    """All of it goes through the kernel again, in an environment that has nothing in it."""
    context, prop, proof, axioms = EXPORTED[name]
    theorems = f"theorem helper : {prop} := {proof}\ntheorem goal : {prop} := helper\ntheorem spare : True := trivial"
    text = f"{context}\n{theorems}"
    verdict = await audit_file(kernel, text, prop, context=context, as_text=True)
    assert verdict.accepted, verdict.reason
    assert verdict.exported is not None
    rows = [json.loads(line) for line in verdict.exported.splitlines()]
    assert rows[0]["meta"]["format"]["version"] == "3.1.0"
    assert sum("axiom" in row for row in rows) == len(verdict.axioms) == axioms
    path = tmp_path / "out.ndjson"
    path.write_text(verdict.exported, encoding="utf-8")
    declared = lab("recheck", str(path))
    assert declared[-2:] == ["helper", "goal"]
    assert len(set(declared)) == len(declared)
    assert "spare" not in declared


async def test_an_export_is_of_the_theorem_alone(kernel: EmbeddedKernel) -> None:
    verdict = await audit_file(kernel, "theorem goal : True := trivial", "True", as_text=True)
    assert verdict.exported is not None
    assert len(verdict.exported.splitlines()) < 40
    assert (await audit_file(kernel, "theorem goal : True := trivial", "True")).exported is None


# --- audit_file -------------------------------------------------------------------------------------------------------

CONTEXT = "def two : Nat := 2"


async def test_a_file_may_have_the_context_or_leave_it_out(kernel: EmbeddedKernel) -> None:
    for text in (f"{CONTEXT}\ntheorem goal : two = 2 := rfl", "theorem goal : two = 2 := rfl"):
        assert (await audit_file(kernel, text, "two = 2", context=CONTEXT)).accepted
    other = await audit_file(kernel, "def two : Nat := 3\ntheorem goal : two = 3 := rfl", "two = 3", context=CONTEXT)
    assert (other.accepted, other.rule) == (False, "statement")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("theorem goal : 1 = 2 := rfl", "Lean does not take it: 1:"),
        ("theorem goal : 1 = 2 := sorry", "left unproved"),
        ("theorem goal : 1 = 2 := by repeat (have h : True := trivial)", "in time"),
        ("", "no theorem goal"),
        ("set_option debug.skipKernelTC true in theorem goal : 1 = 2 := by decide +kernel", "the kernel rejects"),
    ],
)
async def test_a_file_that_proves_nothing_is_refused_with_a_reason(
    kernel: EmbeddedKernel, text: str, said: str
) -> None:
    verdict = await audit_file(kernel, text, "1 = 2", timeout_s=2)
    assert not verdict.accepted
    assert verdict.rule is not None
    assert said in verdict.reason


@pytest.mark.parametrize(
    ("prop", "name", "context", "field"),
    [
        ("nowhere", "goal", "", "prop"),
        ("Nat", "goal", "", "prop"),
        ("True := trivial --", "goal", "", "prop"),
        ("True", "goal", "namespace Open", "name"),
        ("True", "goal", "def x : Nat := true", "context"),
        ("True", "goal", "axiom a : False", "context"),
    ],
)
async def test_what_is_asked_for_must_stand(
    kernel: EmbeddedKernel, prop: str, name: str, context: str, field: str
) -> None:
    with pytest.raises(InputError) as caught:
        await audit_file(kernel, "theorem goal : True := trivial", prop, name, context)
    assert caught.value.field == field


# --- the command ------------------------------------------------------------------------------------------------------


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rlmath.cli", "audit", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_command_tells_by_its_exit_code(tmp_path: Path) -> None:
    (tmp_path / "good.lean").write_text("import Init\ntheorem goal : two = 2 := rfl\n")
    (tmp_path / "context.lean").write_text(CONTEXT)
    context = ("--context-file", str(tmp_path / "context.lean"))
    good = command(str(tmp_path / "good.lean"), "--prop", "two = 2", *context, "--export", str(tmp_path / "out.ndjson"))
    assert (good.returncode, good.stderr) == (0, "")
    assert "accepted" in good.stdout
    assert lab("recheck", str(tmp_path / "out.ndjson"))[-2:] == ["two", "goal"]
    refused = command(str(tmp_path / "good.lean"), "--prop", "two = 3", *context, "--json")
    assert refused.returncode == 1
    said = json.loads(refused.stdout)
    assert (said["accepted"], said["rule"], said["kernel"]["kernel"]) == (False, "statement", "embedded")
    bad = command(str(tmp_path / "good.lean"), "--prop", "two = 2")
    assert bad.returncode == 2
    assert bad.stderr.startswith("rlmath: error: --prop: ")
    assert len(bad.stderr.splitlines()) == 1
    missing = command(str(tmp_path / "none.lean"), "--prop", "True")
    assert missing.returncode == 2
    assert "none.lean" in missing.stderr
