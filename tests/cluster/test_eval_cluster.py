"""`rlmath eval` on a real cluster: killed, interrupted, resumed; its results are those of an undisturbed run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import ray
from cluster_helpers import FALSE, GOAL, ILL_FORMED, TRUE, UNPROVABLE, descendants, gone, until
from ray.util import list_named_actors

from cluster.local import LocalCluster
from rlmath.types import Status

pytestmark = pytest.mark.cluster

KINDS: list[tuple[str, dict[str, Any], Status]] = [
    (TRUE, {"h1": ["exact 0", "intro n\nrfl"]}, Status.VERIFIED),
    (FALSE, {}, Status.PLAN_INVALID),
    (ILL_FORMED, {}, Status.STATEMENT_ILL_FORMED),
    (UNPROVABLE, {"h1": "intro n\nrfl"}, Status.LEAF_FAILED),
    ("No.", {}, Status.FORMAT_ERROR),
]
COUNT = 200


def written(folder: Path, address: str, count: int = COUNT) -> Path:
    goal = {"id": GOAL.id, "prop": GOAL.prop}
    (folder / "goals.jsonl").write_text(json.dumps(goal) + "\n")
    with (folder / "completions.jsonl").open("w") as file:
        for number in range(count):
            completion, leaf, _ = KINDS[number % len(KINDS)]
            row = {"id": f"c{number}", "goal_id": GOAL.id, "completion": completion, "leaf": leaf}
            file.write(json.dumps(row) + "\n")
    config = folder / "eval.toml"
    config.write_text(
        'goals = "goals.jsonl"\ncompletions = "completions.jsonl"\nout = "r.jsonl"\n[leaf]\ntype = "recorded"\n'
        f'[cluster]\naddress = "{address}"\nslots = 2\nmax_in_flight = 8\n'
    )
    return config


def begin(config: Path, *flags: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "rlmath.cli", "eval", str(config), *flags]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a run that must come to its end by itself."""
    try:
        stdout, stderr = process.communicate(timeout=180)
    finally:
        process.kill()
    return process.returncode, stdout, stderr


def has_rows(out: Path, more_than: int) -> bool:
    return out.exists() and out.read_bytes().count(b"\n") > more_than


def table(stdout: str) -> str:
    """What is said of the file, without what is said of the session."""
    return stdout[: stdout.index("this session")]


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "r.jsonl").read_text().splitlines()]


def verdicts(folder: Path) -> dict[str, tuple[Any, ...]]:
    found = {
        row["id"]: (row["status"], row["reward"], row["detail"], row["leaf_attempts_used"]) for row in rows(folder)
    }
    assert len(found) == len(rows(folder))
    return found


@pytest.fixture(scope="module")
def undisturbed(
    cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, tuple[Any, ...]]]:
    """The table and the verdicts of a run that nobody disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    code, stdout, stderr = ended(begin(written(folder, cluster.status()["address"])))
    assert code == 0, stderr
    return table(stdout), verdicts(folder)


def test_an_undisturbed_run(undisturbed: tuple[str, dict[str, tuple[Any, ...]]]) -> None:
    text, found = undisturbed
    assert {row_id: verdict[0] for row_id, verdict in found.items()} == {
        f"c{number}": KINDS[number % len(KINDS)][2] for number in range(COUNT)
    }
    assert [line.split()[0] for line in text.splitlines() if line.split()[:1] and line.split()[0] in set(Status)] == [
        status.value for status in Status
    ]
    assert f"mean reward    0.2000 over {COUNT} results that are evidence (0 of {COUNT} not)" in text


def test_killed_half_way_and_run_again_it_ends_the_same(
    cluster: LocalCluster, undisturbed: tuple[str, dict[str, tuple[Any, ...]]], tmp_path: Path
) -> None:
    config = written(tmp_path, cluster.status()["address"])
    out = tmp_path / "r.jsonl"
    for enough in (COUNT // 8, COUNT // 3):
        process = begin(config)
        assert until(partial(has_rows, out, enough), 120)
        process.kill()
        process.communicate()
        assert enough < len(out.read_bytes().splitlines()) < COUNT
    survivors = [line for line in out.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    code, stdout, stderr = ended(begin(config))
    assert code == 0, stderr
    assert (table(stdout), verdicts(tmp_path)) == undisturbed
    assert f"{len(survivors)} were there already" in stdout
    # What was there is still there, byte for byte: nothing with a verdict was judged again.
    assert out.read_bytes().startswith(b"".join(survivors))


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_it_keeps_what_is_done_and_says_how_to_go_on(
    cluster: LocalCluster, tmp_path: Path, number: signal.Signals, expected: int
) -> None:
    config, out = written(tmp_path, cluster.status()["address"]), tmp_path / "r.jsonl"
    process = begin(config)
    assert until(partial(has_rows, out, COUNT // 8), 120)
    process.send_signal(number)
    code, stdout, stderr = ended(process)
    assert (code, stdout) == (expected, ""), stderr
    done = len(verdicts(tmp_path))
    assert COUNT // 8 < done < COUNT
    assert f"interrupted: {done} of {COUNT} results are in {out}; the same command goes on from there" in stderr
    assert "Traceback" not in stderr


def test_nothing_left_to_do_needs_no_cluster_and_other_inputs_need_fresh(cluster: LocalCluster, tmp_path: Path) -> None:
    address = cluster.status()["address"]
    config = written(tmp_path, address, count=10)
    assert begin(config).wait(120) == 0
    config.write_text(config.read_text().replace(address, "nowhere:1"))
    code, stdout, _ = ended(begin(config, "--json"))
    summary = json.loads(stdout)
    assert (code, summary["total"], summary["mean_reward"], summary["goals_solved"]) == (0, 10, 0.2, 1)
    config.write_text(config.read_text().replace("nowhere:1", address) + "[budgets]\nmax_lemmas = 0\n")
    code, stdout, stderr = ended(begin(config))
    assert (code, stdout) == (2, "")
    assert "belongs to another run (changed since: budgets)" in stderr
    code, stdout, stderr = ended(begin(config, "--fresh"))
    assert code == 0, stderr
    assert {status for status, *_ in verdicts(tmp_path).values()} == {
        "budget_exhausted",
        "plan_invalid",
        "format_error",
    }


def test_broken_goals_are_told_before_anything_is_scored_or_discarded(cluster: LocalCluster, tmp_path: Path) -> None:
    config = written(tmp_path, cluster.status()["address"], count=10)
    assert begin(config).wait(120) == 0
    before = verdicts(tmp_path)
    rows = [
        {"id": GOAL.id, "prop": GOAL.prop},
        {"id": "bad", "prop": "∀ n : Foo, n = n"},
        {"id": "worse", "prop": "P", "context": "def one : Nat := true"},
    ]
    (tmp_path / "goals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with (tmp_path / "completions.jsonl").open("a") as file:
        for goal in ("bad", "worse"):
            file.write(json.dumps({"id": goal, "goal_id": goal, "completion": FALSE}) + "\n")
    code, stdout, stderr = ended(begin(config, "--fresh"))
    assert (code, stdout) == (2, ""), stderr
    [line] = [line for line in stderr.splitlines() if "error" in line]
    assert line.startswith("rlmath: error: goals: goal "), stderr
    assert "(1 more do not elaborate either: goal " in line
    assert verdicts(tmp_path) == before


def test_a_cluster_that_is_lost_half_way_leaves_the_rest_unscored(cluster: LocalCluster, tmp_path: Path) -> None:
    def schedulers() -> set[str]:
        return {actor["namespace"] for actor in list_named_actors(all_namespaces=True)}

    known = schedulers()
    config, out = written(tmp_path, cluster.status()["address"]), tmp_path / "r.jsonl"
    process = begin(config)
    assert until(partial(has_rows, out, COUNT // 8), 120)
    [namespace] = schedulers() - known
    ray.kill(ray.get_actor("scheduler", namespace=namespace), no_restart=True)
    code, stdout, stderr = ended(process)
    assert code == 1, stderr
    found = verdicts(tmp_path)
    assert COUNT // 8 < len(found) < COUNT
    assert "error" not in {status for status, *_ in found.values()}
    assert f"results        {out}" in stdout
    assert "scheduler is gone" in stderr
    assert f"{len(found)} of {COUNT} results are in {out}, and the same command goes on from there" in stderr
    assert "Traceback" not in stderr


@pytest.mark.slow
def test_a_cluster_of_its_own_ends_with_the_run_even_when_that_is_killed(tmp_path: Path) -> None:
    config, out = written(tmp_path, "local"), tmp_path / "r.jsonl"
    process = begin(config)
    scoring = until(lambda: process.poll() is not None or has_rows(out, 10), 180)
    started = descendants(process.pid)
    process.kill()
    _, stderr = process.communicate(timeout=60)
    assert scoring, stderr
    assert process.returncode == -signal.SIGKILL, stderr
    assert started
    assert gone(started, 60) == []
