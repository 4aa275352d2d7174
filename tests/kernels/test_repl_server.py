"""`rlmath repl`: its protocol over pipes, and LeanInteract, unchanged, as its client."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernel_kit import REPL, Workspace
from lean_interact import AutoLeanServer, Command, LeanREPLConfig, LeanServerPool, LocalProject
from lean_interact.interface import CommandResponse, LeanError
from waiting import wait_until

from rlmath.kernel.embedded.build import Prelude
from rlmath.kernel.process_tree import tree
from rlmath.repl.protocol import BadRequest, parse_request, requests
from rlmath.repl.server import Session

MEMORY = 2 << 30


@pytest.fixture(scope="module")
def session(prelude: Prelude) -> Iterator[Session]:
    with Session(prelude, memory_bytes=MEMORY) as session:
        yield session


def ask(session: Session, cmd: str, env: int | None = None, **more: Any) -> dict[str, Any]:
    return session.answer(json.dumps({"cmd": cmd, **({} if env is None else {"env": env}), **more}))


def test_environments_build_on_one_another(session: Session) -> None:
    first = ask(session, "def f (n : Nat) := n + 1")
    second = ask(session, "namespace A\ntheorem t : f 1 = 2 := rfl", first["env"])
    assert first.keys() == second.keys() == {"env"}
    # The scope goes along, other branches do not see it.
    [axioms] = ask(session, "#print axioms t", second["env"])["messages"]
    assert axioms["data"] == "'A.t' does not depend on any axioms"
    assert axioms["severity"] == "info"
    [unknown] = ask(session, "#print axioms A.t", first["env"])["messages"]
    assert unknown["severity"] == "error"
    assert "messages" in ask(session, "theorem t : f 1 = 2 := rfl")  # no f in a new session


def test_positions_and_severities(session: Session) -> None:
    reply = ask(session, "import Init\n\ntheorem t (p : Prop) : p := nowhere\ntheorem u : 1 = 2 := sorry")
    error, warning = reply["messages"]
    assert error == {
        "severity": "error",
        "pos": {"line": 3, "column": 28},
        "endPos": {"line": 3, "column": 35},
        "data": "Unknown identifier `nowhere`",
    }
    assert (warning["severity"], warning["data"]) == ("warning", "declaration uses `sorry`")


def test_sorries_come_with_their_goals(session: Session) -> None:
    text = (
        "theorem é (p q : Prop) (h : p) : p ∧ q := by\n  constructor\n  · exact h\n  · sorry\nexample : 2 = 3 := sorry"
    )
    sorries = ask(session, text)["sorries"]
    assert [(s["pos"], s["endPos"], s["goal"]) for s in sorries] == [
        ({"line": 4, "column": 4}, {"line": 4, "column": 9}, "case right\np q : Prop\nh : p\n⊢ q"),
        ({"line": 5, "column": 19}, {"line": 5, "column": 24}, "⊢ 2 = 3"),
    ]
    assert all(s["proofState"] is None for s in sorries)


@pytest.mark.parametrize("text", ["import Init", "import Init\n\n", "-- c\n", "/- c -/", " \n "])
def test_a_text_without_a_command_is_no_error(session: Session, text: str) -> None:
    reply = ask(session, text)
    assert reply.keys() == {"env"}
    assert ask(session, "theorem t : 2 + 2 = 4 := rfl", reply["env"]).keys() == {"env"}


def test_a_word_sorry_that_is_none_has_no_goal(session: Session) -> None:
    reply = ask(session, 'theorem mysorry : True := trivial\n-- sorry\ndef s := "sorry"\ntheorem t : 1 = 2 := sorry')
    assert [s["pos"]["line"] for s in reply["sorries"]] == [4]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ("no json", "Could not parse JSON:"),
        ("[]", "Could not parse as a valid JSON command:"),
        ("{}", "Could not parse as a valid JSON command:"),
        ('{"cmd": 1}', "Could not parse as a valid JSON command:"),
        ('{"cmd": "x", "env": true}', "Could not parse as a valid JSON command:"),
        ('{"cmd": "\\ud800"}', "Could not parse as a valid JSON command:"),
        ('{"cmd": "x", "setOptions": [["a", 1]]}', "Could not parse as a valid JSON command:"),
        ('{"cmd": "x", "setOptions": [[["a; axiom b"], 1]]}', "Could not parse as a valid JSON command:"),
        ('{"cmd": "x", "env": 10000}', "Unknown environment."),
        ('{"cmd": "x", "env": -1}', "Unknown environment."),
        ('{"tactic": "rfl", "proofState": 0}', "Unknown proof state."),
        ('{"pickleTo": "/tmp/x", "env": 0}', "Pickling is not served"),
        ('{"unpickleEnvFrom": "/tmp/x"}', "Pickling is not served"),
        ('{"cmd": "x", "allTactics": true}', "The option allTactics is not served."),
        ('{"cmd": "import Mathlib\\nx"}', "unknown module prefix 'Mathlib'"),
        ('{"path": "/nowhere.lean"}', "/nowhere.lean: "),
    ],
)
def test_what_is_not_served_gets_a_message(session: Session, request_: str, message: str) -> None:
    before = ask(session, "def a := 1")["env"]
    reply = session.answer(request_)
    assert list(reply) == ["message"]
    assert reply["message"].startswith(message)
    assert ask(session, "def a := 1")["env"] == before + 1  # nothing became of it


def test_options_and_files(session: Session, tmp_path: Path) -> None:
    [message] = ask(session, "#check (rfl : 1 = 1)", setOptions=[[["pp", "all"], True], [["Elab", "async"], True]])[
        "messages"
    ]
    assert "@rfl" in message["data"]
    file = tmp_path / "a.lean"
    file.write_text("theorem t : 1 = 2 := rfl\n")
    reply = session.answer(json.dumps({"path": str(file)}))
    assert reply["messages"][0]["pos"]["line"] == 1


def test_a_crash_loses_no_environment(session: Session) -> None:
    base = ask(session, "def f (n : Nat) := n + 1")["env"]
    died = ask(session, "theorem t : True := by\n  " + "(" * 200_000, base)
    assert died["message"].startswith("The command's process died: signal ")
    assert ask(session, "theorem t : f 1 = 2 := rfl", base).keys() == {"env"}


def test_old_environments_are_made_again(prelude: Prelude) -> None:
    with Session(prelude, memory_bytes=MEMORY, live=3) as session:
        last = ask(session, "def f0 : Nat := 0")["env"]
        for n in range(1, 9):
            last = ask(session, f"def f{n} : Nat := f{n - 1} + 1", last)["env"]
            assert len(tree(session.pid)) <= 1 + 3 + 1  # the first, three alive, one that is just ending
        for env in (4, 0, 8, 2):
            assert ask(session, f"theorem t : f{env} = {env} := rfl", env).keys() == {"env"}
            assert "messages" in ask(session, f"#print axioms f{env + 1}", env)


def test_framing() -> None:
    lines = [
        "\n",
        '{"cmd":\n',
        '  "x"}  \n',
        "\n",
        "\n",
        "# a comment\n",
        "{}\n",
        "\n",
        "-- another\n",
        "\n",
        '{"a":1}\n',
    ]
    assert list(requests(lines)) == ['{"cmd":  "x"}', '{"a":1}']
    with pytest.raises(BadRequest):
        parse_request("{")


def test_the_command_over_pipes(prelude: Prelude) -> None:
    """Replies end with a blank line and nothing is left running when the input ends."""
    requests_ = ['{"cmd": "def f := ∀ p : Prop, p"}', "x", '{"cmd": "theorem t : f := sorry",\n"env": 0}']
    process = subprocess.Popen(REPL, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n\n".join(requests_[:2]).encode() + b"\n\n")
    process.stdin.flush()
    begun = b""
    while begun.count(b"\n\n") < 2:
        begun += process.stdout.readline()
    family = tree(process.pid)
    assert len(family) >= 3
    out, _ = process.communicate(requests_[2].encode() + b"\n\n", timeout=60)
    replies = (begun + out).decode().split("\n\n")
    assert replies.pop() == ""
    assert [sorted(json.loads(reply)) for reply in replies] == [["env"], ["message"], ["env", "messages", "sorries"]]
    assert process.returncode == 0
    wait_until(lambda: not present(family), shows=lambda: present(family))


def present(pids: list[int]) -> list[int]:
    """Those that are there, be it as zombies."""
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_a_killed_server_leaves_nothing(prelude: Prelude) -> None:
    """Not even a check that would never end."""
    process = subprocess.Popen(REPL, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"cmd": "def a := 1"}\n\n')
    process.stdin.flush()
    process.stdout.readline()
    endless = '{"cmd": "theorem t : 1 = 2 := by repeat (have h : True := trivial)", "env": 0}\n\n'
    process.stdin.write(endless.encode())
    process.stdin.flush()
    wait_until(lambda: len(tree(process.pid)) >= 4, shows=lambda: tree(process.pid))
    family = tree(process.pid)
    process.kill()
    process.wait()
    wait_until(lambda: not present(family), shows=lambda: present(family))


@pytest.fixture(scope="module")
def interact(workspace: Workspace) -> LeanREPLConfig:
    """LeanInteract's own configuration: it takes the workspace's project, `lake` and REPL for the real ones."""
    project = LocalProject(directory=workspace.project, lake_path=workspace.lake, auto_build=True)
    return LeanREPLConfig(project=project, local_repl_path=workspace.repl, lake_path=workspace.lake)


def test_lean_interact(interact: LeanREPLConfig) -> None:
    assert interact.lean_version == "v4.35.0"
    with AutoLeanServer(interact) as server:
        header = server.run(Command(cmd="import Init"), add_to_session_cache=True)
        assert isinstance(header, CommandResponse)
        good = server.run(Command(cmd="theorem t : 2 + 2 = 4 := rfl\n#print axioms t", env=header.env))
        assert isinstance(good, CommandResponse)
        assert good.lean_code_is_valid()
        assert [m.data for m in good.messages] == ["'t' does not depend on any axioms"]
        open_ = server.run(Command(cmd="theorem t (p : Prop) : p := by sorry", env=header.env))
        assert isinstance(open_, CommandResponse)
        assert [s.goal for s in open_.sorries] == ["p : Prop\n⊢ p"]
        bad = server.run(Command(cmd="theorem t : 2 + 2 = 5 := rfl", env=header.env))
        assert isinstance(bad, CommandResponse)
        assert bad.has_errors()
        assert isinstance(server.run(Command(cmd="x", env=999)), LeanError)
        with pytest.raises(TimeoutError):
            server.run(
                Command(cmd="theorem t : 1 = 2 := by repeat (have h : True := trivial)", env=header.env), timeout=1
            )
        again = server.run(Command(cmd="theorem t : 2 + 2 = 4 := rfl", env=header.env))
        assert isinstance(again, CommandResponse)
        assert again.lean_code_is_valid()


def test_lean_interacts_pool(interact: LeanREPLConfig) -> None:
    commands = [Command(cmd=f"theorem t : {n} + 1 = {n + 1 + (n % 3 == 0)} := rfl") for n in range(12)]
    with LeanServerPool(interact, num_workers=2) as pool:
        replies = pool.run_batch(list(commands))
    valid = [isinstance(reply, CommandResponse) and reply.lean_code_is_valid() for reply in replies]
    assert valid == [n % 3 != 0 for n in range(12)]
