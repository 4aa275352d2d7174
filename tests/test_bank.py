"""The goal bank keeps its promises: every goal has an oracle plan that the kernel accepts, every recorded completion
its status."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from rlmath.episode import run_episode
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.recorded import RecordedProver
from rlmath.plan import parse_plan
from rlmath.types import Budgets, GoalSpec, Status

EXPECT: dict[str, str] = json.loads(Path(__file__).with_name("data").joinpath("bank_expect.json").read_text())


def rows(name: str) -> list[dict[str, Any]]:
    text = files("rlmath.data").joinpath(name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


GOALS = {row["id"]: GoalSpec(**row) for row in rows("goals.jsonl")}
ORACLES = rows("oracles.jsonl")
COMPLETIONS = rows("completions.jsonl")


def test_sizes() -> None:
    assert len(GOALS) >= 60
    assert len(COMPLETIONS) >= 60
    assert [row["goal_id"] for row in ORACLES] == list(GOALS)
    lemmas = {len(parse_plan(row["completion"]).lemmas) for row in ORACLES}
    assert {0, 1, 2, 3, 8} <= lemmas
    assert max(lemmas) <= Budgets().max_lemmas
    assert [row["id"] for row in rows("demo_goals.jsonl")] == [f"demo-{i:02}" for i in range(4)]


def test_completions_show_every_policy_status() -> None:
    assert set(EXPECT) == {row["id"] for row in COMPLETIONS}
    assert set(EXPECT.values()) == {status.value for status in Status if status.is_evidence}


async def statuses(kernel: EmbeddedKernel, completions: list[dict[str, Any]]) -> dict[str, str]:
    gate = asyncio.Semaphore(4)

    async def one(row: dict[str, Any]) -> tuple[str, str]:
        async with gate:
            leaf = RecordedProver(row.get("leaf", {}))
            result = await run_episode(GOALS[row["goal_id"]], row["completion"], kernel=kernel, leaf=leaf)
        return row["id"], result.status.value

    return dict(await asyncio.gather(*(one(row) for row in completions)))


async def test_every_goal_has_an_oracle_plan(kernel: EmbeddedKernel) -> None:
    found = await statuses(kernel, ORACLES)
    assert {name: status for name, status in found.items() if status != "verified"} == {}


async def test_every_recorded_completion_gets_its_status(kernel: EmbeddedKernel) -> None:
    assert await statuses(kernel, COMPLETIONS) == EXPECT


async def test_demo_goals_are_true(kernel: EmbeddedKernel) -> None:
    proofs = {
        "demo-00": "intro n\nrfl",
        "demo-01": "intro p q h\nexact ⟨h.2, h.1⟩",
        "demo-02": "intro a b h\nomega",
        "demo-03": "exact ⟨3, rfl⟩",
    }
    for row in rows("demo_goals.jsonl"):
        plan = f"#assembly\n{proofs[row['id']]}\n#end\n"
        result = await run_episode(GoalSpec(**row), plan, kernel=kernel, leaf=RecordedProver({}))
        assert result.status is Status.VERIFIED, result.detail
