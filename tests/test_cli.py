"""The command `rlmath`, as a process: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rlmath

PROVES = "#assembly\nintro n\nrfl\n#end\n"
WITH_LEMMA = "#lemma h1 : ∀ n : Nat, n = n\n#assembly\nintro n\nexact h1 n\n#end\n"
PROP = "∀ n : Nat, n = n"
SLOW = "theorem slow : True := by\n  repeat (have h : True := trivial)\n  trivial\n"


def rlmath_command(
    *arguments: str | Path, stdin: str | bytes = "", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "rlmath.cli", *map(str, arguments)],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(rlmath.__file__).parents[1]), **environment},
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def refused(*arguments: str | Path, **options: Any) -> str:
    """The one line that a command says about bad input."""
    done = rlmath_command(*arguments, **options)
    assert done.returncode == 2, done
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    return line


def test_version() -> None:
    assert rlmath_command("--version").stdout == f"rlmath {rlmath.__version__}\n"


@pytest.mark.parametrize("command", ["eval", "score", "check", "doctor"])
def test_every_command_has_help(command: str) -> None:
    done = rlmath_command(command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: rlmath {command}")
    assert command in rlmath_command("--help").stdout


def test_the_help_of_eval_shows_a_config_that_loads(tmp_path: Path) -> None:
    from rlmath.evals.config import load_config

    text = rlmath_command("eval", "--help").stdout
    files, policy = re.findall(r"(?m)(?:^  [\[a-z].*\n|^\n(?=  ))+", text[text.index("example of a config") :])[:2]
    for number, section in enumerate((files, re.sub(r"(?m)^ *completions.*\n", "", files) + policy)):
        path = tmp_path / f"{number}.toml"
        path.write_text(section)
        config = load_config(path)
        assert (config.policy is None) == (number == 0)
    assert config.policy is not None
    assert config.policy.samples == 4


def test_help_waits_for_neither_ray_nor_the_other_heavy_libraries() -> None:
    code = (
        "import sys, contextlib, io, rlmath.cli\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): rlmath.cli.main(['--help'])\n"
        "print(sorted({'ray', 'openai', 'verifiers', 'pydantic', 'rich', 'cluster'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "arguments: the following arguments are required: COMMAND (see rlmath --help)"),
        (["evil"], "arguments: argument COMMAND: invalid choice: 'evil'"),
        (["eval"], "arguments: the following arguments are required: CONFIG.toml (see rlmath eval --help)"),
        (["eval", "no.toml"], "no.toml: cannot read the config file: No such file or directory"),
        (["score", "-"], "arguments: one of the arguments --prop --goal-file is required"),
        (["score", "-", "--prop", " "], "--prop: is empty"),
        (["score", "-", "--prop", "P", "--goal-id", "x"], "--goal-id: goes with --goal-file"),
        (["score", "-", "--goal-file", "g", "--name", "x"], "--name: goes with --prop"),
        (["score", "no.txt", "--prop", "P"], "PLAN: cannot read no.txt: No such file or directory"),
        (
            ["score", "-", "--prop", "P", "--leaf-file", "no.json"],
            "--leaf-file: cannot read no.json",
        ),
        (["score", "-", "--prop", "P", "--context-file", "no.lean"], "--context-file: cannot read no.lean"),
        (["score", "-", "--prop", "P", "--max-lemmas", "-1"], "budgets.max_lemmas: must be a whole number"),
        (["score", "-", "--prop", "P", "--verify-timeout-s", "0"], "budgets.verify_timeout_s: must be seconds"),
        (["score", "-", "--prop", "P", "--max-lemmas", "x"], "arguments: argument --max-lemmas: invalid int value"),
        (["check", "no.lean"], "FILE.lean: cannot read no.lean: No such file or directory"),
        (["check", "no.lean", "--timeout", "0"], "--timeout: must be a number of seconds above 0"),
        (["doctor", "--checks", "0"], "--checks: must be at least 1, got 0"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    assert refused(*arguments, cwd=tmp_path).startswith(f"rlmath: error: {said}")


def test_eval_checks_everything_before_it_starts_or_writes(tmp_path: Path) -> None:
    config = tmp_path / "eval.toml"
    config.write_text('goals = "g.jsonl"\ncompletions = "c.jsonl"\nout = "out/r.jsonl"\n')
    goals, completions = tmp_path / "g.jsonl", tmp_path / "c.jsonl"
    goals.write_text('{"id": "a", "prop": "True"}\n{"id": "b"}\n')
    assert "g.jsonl line 2: prop is missing" in refused("eval", config)
    goals.write_text('{"id": "a", "prop": "True", "contxt": "def x : Nat := 1"}\n')
    assert "g.jsonl line 1: unknown key 'contxt'; did you mean 'context'?" in refused("eval", config)
    goals.unlink()
    assert f"goals: cannot read {goals}: No such file" in refused("eval", config)
    goals.write_text('{"id": "a", "prop": "True"}\n')
    completions.write_text('{"id": "1", "goal_id": "b", "completion": ""}\n')
    assert "c.jsonl line 1: goal_id 'b' is not the id of any goal" in refused("eval", config)
    completions.write_text('{"id": "1", "goal_id": "a", "completion": ""}\n')
    config.write_text(config.read_text() + "[budgets]\nmax_lemma = 3\n")
    assert refused("eval", config).endswith("budgets.max_lemma: unknown key; did you mean 'max_lemmas'?")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.jsonl", "eval.toml", "g.jsonl"]


def test_score_explains_stage_by_stage(tmp_path: Path) -> None:
    plan = tmp_path / "plan.txt"
    plan.write_text(WITH_LEMMA)
    done = rlmath_command("score", plan, "--prop", PROP)
    assert done.returncode == 0, done.stderr
    for word in ("verified", "parse", "statements", "plan", "leaves", "compose", "kernel", "h1", "prelude@"):
        assert word in done.stdout


def test_score_gives_one_json_object(tmp_path: Path) -> None:
    leaf = tmp_path / "leaf.json"
    leaf.write_text(json.dumps({"h1": ["nonsense", "intro n\nrfl"]}))
    goal = tmp_path / "goals.jsonl"
    goal.write_text(f'{{"id": "a", "prop": "False"}}\n{{"id": "b", "prop": {json.dumps(PROP)}, "name": "thm"}}\n')
    arguments: list[str | Path] = ["score", "-", "--goal-file", goal, "--goal-id", "b", "--leaf-file", leaf, "--json"]
    done = rlmath_command(*arguments, stdin=WITH_LEMMA)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["goal_id"], result["status"], result["reward"], result["leaf_attempts_used"]) == (
        "b",
        "verified",
        1.0,
        2,
    )
    assert "theorem thm" in result["artifact"]
    done = rlmath_command(*arguments, "--leaf-attempts-per-lemma", "1", stdin=WITH_LEMMA)
    result = json.loads(done.stdout)
    assert (done.returncode, result["status"], result["reward"]) == (0, "leaf_failed", 0.0)


def test_score_with_a_context_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    context = tmp_path / "context.lean"
    context.write_text("def Big (n : Nat) : Prop := n = n\n")
    goal: list[str | Path] = ["--prop", "∀ n, Big n", "--name", "big", "--context-file", context, "--json"]
    done = rlmath_command("score", "-", *goal, stdin="#assembly\nintro n\nexact rfl\n#end\n")
    assert json.loads(done.stdout)["status"] == "verified"
    done = rlmath_command("score", "-", *goal, stdin=b"#assembly\n\xff\n#end\n")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "format_error")


def test_a_goal_that_does_not_elaborate_is_bad_input() -> None:
    assert "nowhere" in refused("score", "-", "--prop", "nowhere = 1", stdin=PROVES)


def test_without_a_kernel_there_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = str(tmp_path / "file")
    done = rlmath_command("score", "-", "--prop", PROP, "--json", stdin=PROVES, RLMATH_CACHE=cache)
    result = json.loads(done.stdout)
    assert (done.returncode, result["status"], result["reward"]) == (1, "error", None)
    done = rlmath_command("doctor", "--json", RLMATH_CACHE=cache)
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (1, False)
    [finding] = [finding for finding in report["findings"] if finding["state"] == "failed"]
    assert finding["name"] == "prelude"
    assert "RLMATH_CACHE" in finding["fix"]


def test_check_prints_leans_messages_at_their_places_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file.lean"
    path.write_text(
        "/- header -/ prelude\nimport Init\n\ntheorem a : 1 + 1 = 2 := rfl\n"
        "  theorem b : nowhere := a\n#check a\nexample : True := sorry\n"
    )
    done = rlmath_command("check", path)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith(f"{path}:5:14: error: ") and "nowhere" in line for line in lines)
    assert any(line.startswith(f"{path}:6:0: information: ") for line in lines)
    assert any(line.startswith(f"{path}:7:0: warning: ") for line in lines)
    path.write_text("theorem a : 1 + 1 = 2 := rfl\ntheorem b : 2 = 1 + 1 := a.symm\n")
    assert rlmath_command("check", path).returncode == 0


def test_check_reads_standard_input_and_files_with_windows_line_ends(tmp_path: Path) -> None:
    text = "theorem a : 1 + 1 = 2 := by\r\n  rfl\r\n#check nowhere\r\n"
    path = tmp_path / "file.lean"
    path.write_bytes(text.encode())
    for name, done in ((str(path), rlmath_command("check", path)), ("-", rlmath_command("check", "-", stdin=text))):
        assert done.returncode == 1, done.stderr
        [line] = done.stdout.splitlines()
        assert line.startswith(f"{name}:3:7: error: ")


def test_a_closed_standard_input_is_bad_input_and_an_ascii_terminal_is_no_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rlmath.cli"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command, "score", "-", "--prop", "True"], capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (
        2,
        b"rlmath: error: PLAN: standard input is closed: name a file, or pipe something in\n",
    )
    done = subprocess.run(
        [*command, "score", "-", "--prop", "∀ n : Nat, n = 0", "--json"],
        input=b"#assembly\nintro n\nrfl\n#end\n",
        capture_output=True,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "plan_invalid"
    done = rlmath_command("score", "-", "--prop", "∀ n : Nat, n = 0", stdin=PROVES, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")


def test_check_says_which_kernel_has_mathlib(tmp_path: Path) -> None:
    path = tmp_path / "file.lean"
    path.write_text("-- c\nimport Mathlib\n")
    line = refused("check", path)
    assert f"{path} line 2: import Mathlib: " in line
    assert "embedded kernel has only its own prelude" in line
    path.write_bytes(b"\xff")
    assert "is not UTF-8" in refused("check", path)


def test_an_export_never_overwrites_what_is_read(tmp_path: Path) -> None:
    source, other = tmp_path / "g.lean", tmp_path / "other.lean"
    text = "theorem goal : 2 + 2 = 4 := rfl\n"
    source.write_text(text)
    other.write_text("-- mine")
    (tmp_path / "link").symlink_to(source)
    for out in (source, tmp_path / "link"):
        assert "--export: " in (line := refused("audit", "--prop", "2 + 2 = 4", "--export", out, source))
        assert "is the file that is read" in line
    assert "is a Lean file" in refused("audit", "--prop", "2 + 2 = 4", "--export", other, source)
    assert (source.read_text(), other.read_text()) == (text, "-- mine")


def test_keys_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    assert "cannot write it: No such file" in refused("keys", "add", tmp_path / "no" / "k.json", "--client", "x")
    (tmp_path / "file").write_text("")
    line = refused("keys", "add", tmp_path / "file" / "k.json", "--client", "x")
    assert "Not a directory" in line


def test_serve_finds_out_what_cannot_work_before_it_starts_anything(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        [line] = rlmath_command("serve", "--port", port).stderr.splitlines()  # and not a word of Ray
    assert line.startswith(f"rlmath: error: port: cannot listen on 127.0.0.1:{port}")
    keys = tmp_path / "keys.json"
    keys.write_text("{")
    assert str(keys) in refused("serve", "--port", "0", "--api-keys", keys)


def test_an_interrupt_ends_the_prelude_s_compilation_at_once(tmp_path: Path) -> None:
    plan = tmp_path / "plan.txt"
    plan.write_text(PROVES)
    command = [sys.executable, "-m", "rlmath.cli", "score", "--prop", PROP, str(plan)]
    environment = {**os.environ, "RLMATH_CACHE": str(tmp_path / "cache")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "compiling the Lean prelude" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert process.stderr.read() == "rlmath: interrupted\n"
    builds = list((tmp_path / "cache" / "prelude").iterdir())
    assert [path.name for path in builds if path.is_dir()] == []


def test_check_that_runs_out_of_time_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.lean"
    path.write_text(SLOW)
    done = rlmath_command("check", path, "--timeout", "0.5")
    assert done.returncode == 1
    assert "not done after 0.5 s" in done.stdout


def test_doctor_is_green_and_says_what_it_found() -> None:
    done = rlmath_command("doctor", "--checks", "3")
    assert done.returncode == 0, done
    found = {line.split()[1]: line for line in done.stdout.splitlines() if line.startswith("ok ")}
    assert set(found) >= {"python", "machine", "lean", "prelude", "kernel", "check", "ray", "openai", "lean-interact"}
    assert "prelude@" in found["kernel"]
    assert re.search(r"[0-9.]+ ms .*median of 3", found["check"])
    assert done.stdout.splitlines()[-1] == "fit to score"


def test_a_reader_that_goes_away_is_no_error() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as gone:
        command = [sys.executable, "-m", "rlmath.cli", "score", "--help"]
        done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, timeout=60)
    assert done.stderr == b""
