"""`rlmath env-server` as processes: rewards, restarts, stops and refusals, with verifiers' own client."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from env_kit import GOAL, REWARD, assert_unscored, scores
from env_server_kit import START_S, ServerProcess, ask, ask_all, config_text, env_client, env_server, is_running
from gateway_kit import ENDLESS, TRUE, KernelBackend, listening
from openai_stub import OpenAIStub, Step
from waiting import until

from cluster.gateway.server import GatewayServer
from rlmath.envs.resources import LocalScorer
from rlmath.errors import CapReached
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.tactics import TacticsProver
from rlmath.types import Budgets, EpisodeResult, GoalSpec

pytestmark = pytest.mark.slow

LOAD = 256
"""Rollouts at the same time."""
SHORT = "verify_timeout_s = 2.5"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gate(kernel: EmbeddedKernel) -> AsyncIterator[tuple[KernelBackend, GatewayServer]]:
    async with listening(kernel) as gate:
        yield gate


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(
    gate: tuple[KernelBackend, GatewayServer], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ServerProcess]:
    async with env_server(tmp_path_factory.mktemp("served"), config_text(gate[1].url)) as server:
        await server.says("serving at")
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def client(server: ServerProcess) -> AsyncIterator[Any]:
    async with env_client(server.address) as client:
        await client.wait_for_server_startup(timeout=60)
        yield client


KINDS = (
    "#assembly\nintro n\nomega\n#end\n",
    "#lemma h1 : ∀ n : Nat, n + {i} = {i} + n\n#assembly\nexact h1\n#end\n",
    "I would say {i}.\n",
    "#assembly\nintro n\nexact absurd n {i}\n#end\n",
    "#lemma h1 : ∀ n : Nat, n + zero = {i}\n#assembly\nexact h1\n#end\n",
    "#assembly\nsorry -- {i}\n#end\n",
    "#lemma h1 : ∀ n : Nat, n = {i}\n#assembly\nintro n\nomega\n#end\n",
)
"""Completions for `∀ n : Nat, n + i = i + n`; verdicts of six kinds."""


@pytest.mark.long
async def test_256_rollouts_at_once_get_the_rewards_of_direct_scoring(
    server: ServerProcess, client: Any, kernel: EmbeddedKernel
) -> None:
    goals = [GoalSpec(f"g-{i}", f"∀ n : Nat, n + {i} = {i} + n") for i in range(LOAD)]
    written = {goal.prop: KINDS[i % len(KINDS)].replace("{i}", str(i)) for i, goal in enumerate(goals)}

    def reply(body: dict[str, Any], number: int) -> str:
        prompt = body["messages"][1]["content"]
        return next(text for prop, text in written.items() if prop in prompt)

    # The model answers nobody before all are under way.
    with OpenAIStub(reply, hold_until=LOAD) as stub:
        traces = await ask_all(client, stub, goals)
        assert stub.max_in_flight == LOAD
    assert all(trace.ok for trace in traces), [trace.errors for trace in traces if not trace.ok][:3]
    scorer = LocalScorer(kernel, TacticsProver())
    direct: list[EpisodeResult] = await asyncio.gather(
        *(scorer.score(goal, written[goal.prop], Budgets(), goal.id) for goal in goals)
    )
    found = {trace.task.key: (scores(trace)[REWARD], trace.info["rlmath"]["status"]) for trace in traces}
    assert found == {result.goal_id: (result.reward, result.status) for result in direct}
    assert len({status for _, status in found.values()}) == 6


async def test_a_refusal_of_the_gateways_is_no_reward(
    server: ServerProcess, client: Any, gate: tuple[KernelBackend, GatewayServer]
) -> None:
    async def judge(*_: object) -> Any:
        raise CapReached("client a", "kernel_s", 10.0, 9.5)

    gate[0].judge, judging = judge, gate[0].judge  # type: ignore[method-assign]
    try:
        with OpenAIStub(TRUE) as stub:
            [trace] = (await ask(client, stub, GOAL)).traces
    finally:
        gate[0].judge = judging  # type: ignore[method-assign]
    assert_unscored(trace)
    assert "kernel_s" in trace.errors[-1].message


async def test_a_cancelled_run_ends_its_work_at_the_gateway(
    server: ServerProcess, client: Any, gate: tuple[KernelBackend, GatewayServer]
) -> None:
    with OpenAIStub(ENDLESS) as stub:
        run = asyncio.create_task(ask(client, stub, GOAL))
        await until(lambda: gate[0].running, 30.0)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        await until(lambda: not gate[0].running)


async def test_a_worker_that_is_killed_is_replaced_and_its_runs_are_answered(
    server: ServerProcess, client: Any
) -> None:
    [worker] = server.workers()
    with OpenAIStub(TRUE, script=[Step(hang=True)] * 3) as stub:
        runs = [asyncio.create_task(ask(client, stub, GOAL)) for _ in range(3)]
        await until(lambda: stub.in_flight == 3, 30.0)
        os.kill(worker, signal.SIGKILL)
        for error in await asyncio.gather(*runs, return_exceptions=True):
            assert isinstance(error, RuntimeError)
            assert "was killed by SIGKILL" in str(error)
        # Asked while there is no worker: it waits for the next one.
        [trace] = (await ask(client, stub, GOAL)).traces
    assert scores(trace) == {REWARD: 1.0}
    assert server.workers() != [worker]
    await server.says("a worker was killed by SIGKILL; it is started again")


async def test_a_stop_finishes_what_runs_and_refuses_the_rest(
    gate: tuple[KernelBackend, GatewayServer], tmp_path: Path
) -> None:
    async with env_server(tmp_path, config_text(gate[1].url, task=SHORT)) as server:
        await server.says("serving at")
        workers = server.workers()
        async with env_client(server.address) as client:
            with OpenAIStub(ENDLESS, script=[Step(), Step(hang=True)]) as stub:
                judged = asyncio.create_task(ask(client, stub, GOAL))
                await until(lambda: gate[0].running, 60.0)
                hangs = asyncio.create_task(ask(client, stub, GOAL))
                await until(lambda: stub.in_flight == 1, 60.0)
                server.process.send_signal(signal.SIGTERM)
                await server.says("stopping")
                with pytest.raises(RuntimeError, match="shutting down"):
                    await ask(client, stub, GOAL)
                assert not await client.health(timeout=0.5)
                [trace] = (await judged).traces
                assert (scores(trace), trace.info["rlmath"]["status"]) == ({REWARD: 0.0}, "plan_invalid")
                server.process.send_signal(signal.SIGTERM)
                with pytest.raises(RuntimeError, match="has stopped: the rollout was not finished"):
                    await hangs
        assert await server.ended() == 0
        assert not [line for line in server.lines if "Traceback" in line or "Fatal" in line]
    assert not any(map(is_running, workers))


async def test_a_pool_grows_with_its_rollouts_and_does_not_outlive_the_server(
    gate: tuple[KernelBackend, GatewayServer], tmp_path: Path
) -> None:
    pool = 'type = "elastic"\nmax_workers = 2\nmultiplex = 2'
    async with env_server(tmp_path, config_text(gate[1].url, pool=pool)) as server:
        await server.says("1 worker")
        async with env_client(server.address) as client:
            with OpenAIStub(TRUE, hold_until=2) as stub:
                traces = await ask_all(client, stub, [GOAL] * 2)
                assert [scores(trace) for trace in traces] == [{REWARD: 1.0}] * 2
        await server.says("starting worker 2")
        workers = server.workers()
        assert len(workers) == 2
        server.process.kill()
        await until(lambda: not any(map(is_running, workers)), START_S)
