"""The language of the embedded kernel: what an introductory proof may write, and what must fail.

`tests/prelude/*.lean` hold one theorem or more for each tactic and lemma that the prelude promises. A line that ends
in `-- error: TEXT` (or `-- warning: TEXT`) says that the declaration it stands in must draw a message of that severity
that holds TEXT; every other declaration must draw none, and every theorem without one must rest on the three standard
axioms at most. The files run on the compiled prelude, through Lean's own command line.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from rlmath.kernel.embedded import build
from rlmath.kernel.embedded.build import Prelude, ensure_prelude

FILES = sorted((Path(__file__).parent / "prelude").glob("*.lean"))
EMBEDDED = Path(build.__file__).parent
MODULES = sorted((EMBEDDED / "prelude" / "Prelude").glob("*.lean"))

STANDARD_AXIOMS = {"propext", "Classical.choice", "Quot.sound"}

PROMISED = """
intro exact apply refine constructor cases induction match rcases rintro obtain rw simp simpa simp_all calc conv split
by_cases subst injection contradiction exfalso funext ext unfold specialize show have let suffices omega decide first
try repeat all_goals exists
"""
"""The tactics that a submission may count on."""

ATTRIBUTES = r"(?:@\[[^\]]*\] *)?(?:(?:protected|noncomputable|private|unsafe) +)*"
DECLARATION = re.compile(
    rf"{ATTRIBUTES}(?:theorem|example|def|abbrev|inductive|structure|class|instance|mutual|namespace|end)\b"
)
THEOREM = re.compile(rf"{ATTRIBUTES}theorem (?P<name>[^\s({{\[:]+)")
NAMESPACE = re.compile(r"namespace (\S+)$")
END = re.compile(r"end (\S+)$")
EXPECTED = re.compile(r"-- (?P<severity>error|warning): (?P<text>.+)$")


@dataclass(frozen=True)
class Said:
    """One message of Lean's."""

    severity: str
    kind: str
    line: int
    text: str


@dataclass(frozen=True)
class Declaration:
    """A declaration of a test file: where it starts, the theorem's full name, and what Lean must say about it."""

    line: int
    theorem: str | None
    expected: tuple[str, str] | None


@pytest.fixture(scope="module")
def prelude() -> Prelude:
    return ensure_prelude()


def run_lean(prelude: Prelude, text: str, directory: Path) -> list[Said]:
    """What the `lean` command says about a file, in a process of its own."""
    file = directory / "file.lean"
    file.write_text(text, encoding="utf-8")
    script = str(EMBEDDED / "lean_command.py")
    command = [sys.executable, "-I", "-S", script, str(prelude.shared_library), "--json", str(file)]
    environment = {"LEAN_PATH": str(prelude.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.stderr == ""
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    return [Said(m["severity"], m.get("kind", ""), m["pos"]["line"], m["data"]) for m in messages]


def declarations(text: str) -> list[Declaration]:
    """The declarations of a file that start at the left margin, in order."""
    found: list[Declaration] = []
    namespaces: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if opened := NAMESPACE.match(line):
            namespaces.append(opened[1])
        elif (closed := END.match(line)) and namespaces and closed[1] == namespaces[-1]:
            namespaces.pop()
        if DECLARATION.match(line):
            theorem = THEOREM.match(line)
            name = None
            if theorem:
                own = theorem["name"]
                name = own.removeprefix("_root_.") if own.startswith("_root_.") else ".".join([*namespaces, own])
            found.append(Declaration(number, name, None))
        if marked := EXPECTED.search(line):
            last = found[-1]
            assert last.expected is None, f"line {number}: two expectations for one declaration"
            found[-1] = Declaration(last.line, last.theorem, (marked["severity"], marked["text"]))
    return found


def owner(found: list[Declaration], line: int) -> Declaration:
    return [d for d in found if d.line <= line][-1]


def axioms(said: list[Said]) -> dict[str, set[str]]:
    """What `#print axioms` printed, by theorem."""
    result: dict[str, set[str]] = {}
    for message in said:
        if used := re.fullmatch(r"'(\S+)' depends on axioms: \[(.*)\]", message.text, re.DOTALL):
            result[used[1]] = set(re.split(r",\s+", used[2]))
        elif free := re.fullmatch(r"'(\S+)' does not depend on any axioms", message.text):
            result[free[1]] = set()
    return result


def print_axioms(names: list[str]) -> str:
    return "".join(f"#print axioms {name}\n" for name in names)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_every_declaration_says_what_it_is_to_say(file: Path, prelude: Prelude, tmp_path: Path) -> None:
    text = file.read_text(encoding="utf-8")
    found = declarations(text)
    proved = [d.theorem for d in found if d.theorem and d.expected is None]
    said = run_lean(prelude, f"{text}\n{print_axioms(proved)}", tmp_path)

    wrong: list[str] = []
    answered: set[int] = set()
    for message in said:
        if message.severity == "information" or message.kind.startswith("linter."):
            continue
        declaration = owner(found, message.line)
        if declaration.expected is None or declaration.expected[0] != message.severity:
            wrong.append(f"{file.name}:{message.line}: {message.severity}: {message.text}")
        elif declaration.expected[1] in message.text:
            answered.add(declaration.line)
    wrong += [f"{file.name}:{d.line}: not said: {d.expected}" for d in found if d.expected and d.line not in answered]
    assert wrong == []

    used = axioms(said)
    assert set(used) == set(proved)
    assert {name: a for name, a in used.items() if not a <= STANDARD_AXIOMS} == {}


def test_the_files_cover_the_language() -> None:
    texts = {f.stem: f.read_text(encoding="utf-8") for f in FILES}
    found = [d for text in texts.values() for d in declarations(text)]
    assert sum(d.theorem is not None and d.expected is None for d in found) >= 400
    assert sum(d.expected is not None for d in found) >= 30
    code = "\n".join(texts.values())
    assert [word for word in PROMISED.split() if not re.search(rf"(?<![\w.]){word}(?![\w'])", code)] == []


def test_every_theorem_of_the_prelude_rests_on_the_standard_axioms(prelude: Prelude, tmp_path: Path) -> None:
    names = [d.theorem for module in MODULES for d in declarations(module.read_text(encoding="utf-8")) if d.theorem]
    assert len(names) > 1000
    said = run_lean(prelude, print_axioms(names), tmp_path)
    assert [m for m in said if m.severity != "information"] == []
    used = axioms(said)
    assert set(used) == set(names)
    assert {name: a for name, a in used.items() if not a <= STANDARD_AXIOMS} == {}


def test_the_prelude_declares_no_other_axiom_and_leaves_no_hole() -> None:
    declared = {
        line.split()[1]
        for module in MODULES
        for line in module.read_text(encoding="utf-8").splitlines()
        if re.match(rf"{ATTRIBUTES}axiom ", line) and "unsafe" not in line
    }
    assert declared == STANDARD_AXIOMS | {"sorryAx"}
