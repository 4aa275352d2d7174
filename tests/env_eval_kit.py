"""verifiers' own eval command as a process, and the same completions for `rlmath eval`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from env_kit import PACKAGE, REWARD, ROOT
from openai_stub import OpenAIStub

from rlmath.envs.server.wire import WIRE_03, installed_wire
from rlmath.evals import inputs
from rlmath.prompt import user_message
from rlmath.types import GoalSpec

DATA = Path(inputs.__file__).parents[1] / "data"

EVAL = """
model = "recorded"
output_dir = "{folder}"
[env.taskset]
id = "rlmath-decomp"
goals = "{folder}/goals.jsonl"
[env.taskset.task]
cluster_url = "{gateway}"
leaf_attempts_per_lemma = 12
max_total_leaf_attempts = 100
[env.agent.runtime]
type = "subprocess"
[client]
base_url = "{model}"
api_key_var = "RLMATH_TEST_KEY"
[run]
name = "run"
"""
OURS = """
goals = "goals.jsonl"
completions = "completions.jsonl"
out = "results.jsonl"
[budgets]
leaf_attempts_per_lemma = 12
max_total_leaf_attempts = 100
"""


@dataclass(frozen=True)
class Judged:
    """One rollout of the command's."""

    completion: str
    reward: float | None
    status: str


async def verifiers_eval(folder: Path, gateway: str, written: Mapping[GoalSpec, str]) -> dict[str, Judged]:
    """Run the command on these goals, with a model that says what was written for each, and this gateway; what
    `traces.jsonl` has of each goal, by its id. Where two goals read the same, either may get what is written for
    either."""
    write_rows(folder / "goals.jsonl", map(asdict, written))
    queues: dict[str, list[str]] = {}
    for goal, text in written.items():
        queues.setdefault(user_message(goal), []).append(text)

    def reply(body: dict[str, Any], number: int) -> str:
        return queues[body["messages"][1]["content"]].pop()

    with OpenAIStub(reply) as stub:
        config = folder / "eval.toml"
        config.write_text(EVAL.format(folder=folder, gateway=gateway, model=stub.base_url), encoding="utf-8")
        said = await _command(config)
    assert not any(queues.values()), said
    found: dict[str, Judged] = {}
    for line in (folder / "run" / "traces.jsonl").read_text(encoding="utf-8").splitlines():
        [trace] = json.loads(line)["traces"]
        assert trace["ok"], trace["errors"]
        [text] = [node["message"]["content"] for node in trace["nodes"] if node["message"]["role"] == "assistant"]
        score, status = trace["rewards"][REWARD]["score"], trace["info"]["rlmath"]["status"]
        found[trace["task"]["key"]] = Judged(text, score, status)
    assert set(found) == {goal.id for goal in written}, said
    return found


def rlmath_eval_config(folder: Path, judged: Mapping[str, Judged], more: str = "") -> Path:
    """A config of `rlmath eval` for the completions that the command got, under the same ids."""
    rows = ({"id": name, "goal_id": name, "completion": found.completion} for name, found in judged.items())
    write_rows(folder / "completions.jsonl", rows)
    config = folder / "ours.toml"
    config.write_text(OURS + more, encoding="utf-8")
    return config


def recorded(honest: int) -> dict[GoalSpec, str]:
    """All flawed completions of the bank and some honest ones, each with its goal under the completion's own id."""
    bank = inputs.load_goals(DATA / "goals.jsonl")
    rows = inputs.load_completions(DATA / "completions.jsonl", bank)
    rows = [row for row in rows if row.id.startswith("flaw-")] + [row for row in rows if row.id.startswith("plan-")][
        :honest
    ]
    return {replace(bank[row.goal_id], id=row.id): row.text for row in rows}


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """A JSONL file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


async def _command(config: Path) -> str:
    """Run it to its end; what it said. Its exit code is 0 even when every rollout fails."""
    name = "eval" if installed_wire() == WIRE_03 else "vf-eval"
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).parent / name,
        "@",
        str(config),
        "--no-push",
        "--no-rich",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=config.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, PACKAGE))), "RLMATH_TEST_KEY": "k"},
    )
    try:
        async with asyncio.timeout(180):
            said = (await process.communicate())[0].decode()[-3_000:]
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, said
    return said
