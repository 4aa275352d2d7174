"""What the tests of the environments share. The Hub package is found where it stands, without being installed.

Works on verifiers 0.3.1 and 0.4.0. Importing `rollouts` and its like from here imports verifiers.v1, which takes
seconds: only slow tests do.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openai_stub import OpenAIStub

from rlmath.types import Budgets, EpisodeResult, GoalSpec

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "environments" / "rlmath_decomp"
if str(PACKAGE) not in sys.path:
    sys.path.insert(0, str(PACKAGE))

REWARD = "kernel_verdict"
GOAL = GoalSpec("adds", "∀ n : Nat, n + 0 = n", "adds")
PLAN = "Well.\n#lemma h1 : ∀ n : Nat, n + 0 = n\n#assembly\nexact h1\n#end\n"


@dataclass
class Faulty:
    """A scorer that does what a test says: the far side of the scoring service's wire, gone wrong."""

    act: Callable[[GoalSpec, str], Awaitable[EpisodeResult]]
    calls: list[tuple[GoalSpec, str, Budgets, str]] = field(default_factory=list)
    cancelled: int = 0

    async def score(self, goal: GoalSpec, completion: str, budgets: Budgets, request_id: str) -> EpisodeResult:
        self.calls.append((goal, completion, budgets, request_id))
        try:
            return await self.act(goal, completion)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


def env_config(task: dict[str, Any] | None = None, agent: dict[str, Any] | None = None, **env: Any) -> Any:
    """A single-agent environment of our taskset, with the package's own harness unless `agent` names one."""
    import verifiers.v1 as vf

    return vf.resolve_env_config(
        {
            "taskset": {"id": "rlmath-decomp", "task": task or {}},
            "agent": {"runtime": {"type": "subprocess"}, **(agent or {})},
            **env,
        }
    )


async def rollouts(stub: OpenAIStub, config: Any) -> list[Any]:
    """One episode of each task, run by verifiers against the stub model."""
    import verifiers.v1 as vf

    context = vf.ModelContext(
        model="stub",
        client=vf.EvalClientConfig(base_url=stub.base_url, api_key_var="RLMATH_TEST_KEY"),
        sampling=vf.SamplingConfig(max_tokens=64),
    )
    environment = vf.load_environment(config)
    async with environment.serving():
        slots = [slot for task in environment.taskset for slot in environment.slots(task, 1)]
        return list(await asyncio.gather(*(environment.run_slot(slot, context) for slot in slots)))


def scores(trace: Any) -> dict[str, float | None]:
    """The trace's rewards, None where there is none."""
    return {name: reward.score if reward is not None else None for name, reward in trace.rewards.items()}


async def one_trace(stub: OpenAIStub, config: Any) -> Any:
    """The trace of the one rollout of an environment that has one task."""
    [episode] = await rollouts(stub, config)
    [trace] = episode.traces
    assert episode.ok is trace.ok
    return trace


def assert_unscored(trace: Any, status: str | None = "error") -> None:
    """No reward, and nothing that a trainer could take for one. `status`: what is recorded of it; None: nothing."""
    assert not trace.ok
    assert [error.type for error in trace.errors] == ["TaskError"]
    assert scores(trace) == {REWARD: None}
    assert trace.info.get("rlmath", {}).get("status") == status
    indicators = {name for name, value in trace.metrics.items() if name.startswith("status_") and value}
    assert indicators == (set() if status is None else {f"status_{status}"})


async def slow_metric(trace: Any) -> float:
    """A metric that a config plugs in, and that takes longer than any scoring stage here may."""
    await asyncio.sleep(60)
    return 0.0
