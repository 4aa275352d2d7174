"""verifiers' own eval command, as a process: our taskset and harness, a model server that says what was recorded, and a
gateway. The rewards it writes are those of `rlmath eval` on the same completions."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from env_eval_kit import recorded, rlmath_eval_config, verifiers_eval
from gateway_kit import listening

from rlmath.episode import run_episode
from rlmath.evals.config import load_config
from rlmath.evals.inputs import Completion
from rlmath.evals.progress import make_progress
from rlmath.evals.run import plan_eval, run
from rlmath.evals.store import ResultsStore
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.tactics import TacticsProver
from rlmath.types import EpisodeResult, GoalSpec, Status

pytestmark = pytest.mark.slow


async def test_the_eval_commands_rewards_are_those_of_rlmath_eval(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    """`rlmath eval` in this process, with the one kernel as its cluster. (On a real one: tests/cluster.)"""
    written = recorded(honest=9)
    async with listening(kernel) as (backend, server):
        judged = await verifiers_eval(tmp_path, server.url, written)
        assert backend.judged == len(written)
    plan = plan_eval(load_config(rlmath_eval_config(tmp_path, judged)))

    async def score(request_id: str, goal: GoalSpec, completion: Completion) -> EpisodeResult:
        budgets = plan.config.budgets
        return await run_episode(goal, completion.text, kernel=kernel, leaf=TacticsProver(), budgets=budgets)

    with ResultsStore(plan.config.out, plan.identity) as store:
        await run(plan, score, store, make_progress(), asyncio.Event())
        ours = {name: (row["reward"], row["status"]) for name, row in store.rows.items()}
    assert {name: (found.reward, found.status) for name, found in judged.items()} == ours
    evidence = {status for status in Status if status.is_evidence}
    assert evidence - {Status.COMPOSE_FAILED} <= {status for _, status in ours.values()}
