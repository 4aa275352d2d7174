"""Scoring through a gateway: verdicts are those of direct scoring, and whatever goes wrong between the two leaves the
rollout without a reward, on whichever release of verifiers is installed (CI runs both)."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from env_kit import GOAL, REWARD, assert_unscored, env_config, one_trace, rollouts, scores
from gateway_kit import ENDLESS, FALSE, TRUE, KernelBackend, keyed, listening, reply_with_verdict
from openai_stub import OpenAIStub
from waiting import until

from cluster.gateway.server import GatewayServer
from cluster.gateway.settings import GatewaySettings
from rlmath import envs
from rlmath.envs import remote
from rlmath.envs.resources import EpisodeResources, LocalScorer, set_resources
from rlmath.errors import CapReached, QueueFull
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.config import TacticsLeaf
from rlmath.leaf.tactics import TacticsProver
from rlmath.types import Budgets, GoalSpec

pytestmark = pytest.mark.slow  # importing verifiers.v1 alone takes 6 to 9 s

Gate = tuple[KernelBackend, GatewayServer]
Meddle = Callable[[Gate], Awaitable[None]]


@pytest.fixture(autouse=True)
def _only_goals_registered() -> Iterator[None]:
    set_resources(EpisodeResources(goals=[GOAL]))
    yield
    set_resources(None)
    assert not remote._SHARED, "every call has closed what it used"


@pytest_asyncio.fixture(loop_scope="session")
async def gate(kernel: EmbeddedKernel) -> AsyncIterator[Gate]:
    async with listening(kernel) as gate:
        yield gate


def through(gate: Gate, **task: Any) -> dict[str, Any]:
    """The task section of a config that scores through this gateway."""
    return {"cluster_url": gate[1].url, **task}


# --- verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("completion", [TRUE, FALSE, "no plan", "#assembly\nsorry\n#end\n"])
async def test_a_verdict_is_that_of_direct_scoring(gate: Gate, kernel: EmbeddedKernel, completion: str) -> None:
    direct = await LocalScorer(kernel, TacticsProver()).score(GOAL, completion, Budgets(), "r")
    with OpenAIStub(completion) as stub:
        trace = await one_trace(stub, env_config(task=through(gate)))
    assert trace.ok
    assert scores(trace) == {REWARD: direct.reward}
    blob = json.loads(json.dumps(trace.to_record()))["info"]["rlmath"]
    assert (blob["status"], blob["detail"], blob["leaf_attempts_used"]) == (
        direct.status,
        direct.detail,
        direct.leaf_attempts_used,
    )
    assert blob["plan_stats"] == direct.plan_stats


async def test_the_configs_caps_and_leaf_prover_travel(kernel: EmbeddedKernel) -> None:
    settings = GatewaySettings(port=0, grace_s=0.0, leaves={"weak": TacticsLeaf(scripts=("exact absurd",))})
    async with listening(kernel, settings) as gate:
        for task, status in [
            ({}, "verified"),
            ({"max_lemmas": 0}, "budget_exhausted"),
            ({"leaf_attempts_per_lemma": 0}, "budget_exhausted"),
            ({"cluster_leaf": "weak"}, "leaf_failed"),
        ]:
            with OpenAIStub(TRUE) as stub:
                trace = await one_trace(stub, env_config(task=through(gate, **task)))
            assert trace.info["rlmath"]["status"] == status, task


async def test_the_gateway_goes_before_what_is_registered(gate: Gate, kernel: EmbeddedKernel) -> None:
    registered = EpisodeResources(kernel, TacticsProver(), Budgets(max_lemmas=0), goals=[GOAL])
    set_resources(registered)
    with OpenAIStub(TRUE) as stub:
        trace = await one_trace(stub, env_config(task=through(gate)))
    assert gate[0].judged == 1
    assert trace.info["rlmath"]["status"] == "budget_exhausted", "registered budgets fill what the config leaves open"


async def test_a_key_is_read_from_its_variable(
    kernel: EmbeddedKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, headers = keyed(tmp_path / "keys.json", "trainer")
    async with listening(kernel, GatewaySettings(port=0, api_keys=settings.api_keys)) as gate:
        config = env_config(task=through(gate, cluster_api_key_env="RLMATH_TEST_GATEWAY", score_timeout_s=20.0))
        for value, said in [(None, "RLMATH_TEST_GATEWAY is not set"), ("rlm_wrong", "api_key")]:
            if value is not None:
                monkeypatch.setenv("RLMATH_TEST_GATEWAY", value)
            with OpenAIStub(TRUE) as stub:
                trace = await one_trace(stub, config)
            assert_unscored(trace)
            assert said in trace.errors[-1].message
        key = headers["trainer"]["authorization"].removeprefix("Bearer ")
        monkeypatch.setenv("RLMATH_TEST_GATEWAY", key)
        with OpenAIStub(TRUE) as stub:
            trace = await one_trace(stub, config)
        assert scores(trace) == {REWARD: 1.0}
        assert key not in json.dumps(trace.to_record())
        assert [caller.client for caller in gate[0].callers] == ["trainer"]


async def test_many_rollouts_share_connections_and_get_their_own_verdicts(gate: Gate) -> None:
    goals = [GoalSpec(f"g-{i}", f"∀ n : Nat, n + {i} = {i} + n") for i in range(24)]
    set_resources(EpisodeResources(goals=goals))

    def reply(body: dict[str, Any], number: int) -> str:
        even = int(body["messages"][1]["content"].split("n + ")[1].split()[0]) % 2 == 0
        return "#assembly\nintro n\nomega\n#end\n" if even else "#assembly\nrfl\n#end\n"

    with OpenAIStub(reply) as stub:
        episodes = await rollouts(stub, env_config(task=through(gate)))
    found = {episode.traces[0].task.key: scores(episode.traces[0])[REWARD] for episode in episodes}
    assert found == {f"g-{i}": 1.0 if i % 2 == 0 else 0.0 for i in range(24)}


def test_a_config_that_cannot_work_is_refused() -> None:
    from pydantic import ValidationError

    for wrong, said in [
        ({"cluster_url": "localhost:8000"}, "must be http://host:port"),
        ({"cluster_url": "http://me:secret@host"}, "no credentials"),
        ({"cluster_url": "http://[::1"}, "must be http://host:port"),
        ({"cluster_leaf": "big"}, "cluster_leaf goes with cluster_url"),
        ({"cluster_api_key_env": "KEY"}, "cluster_api_key_env goes with cluster_url"),
    ]:
        with pytest.raises(ValidationError, match=said):
            env_config(task=wrong)
    assert env_config(task={"cluster_url": "https://[::1]:8000/"}).taskset.task.cluster() == envs.ClusterAddress(
        "https://[::1]:8000/"
    )


async def test_with_neither_gateway_nor_kernel_both_remedies_are_named() -> None:
    with OpenAIStub(TRUE) as stub:
        trace = await one_trace(stub, env_config())
    assert_unscored(trace)
    assert "cluster_url" in trace.errors[-1].message
    assert "set_resources" in trace.errors[-1].message


# --- no verdict, no reward -------------------------------------------------------------------------------------------


async def _nothing(gate: Gate) -> None:
    pass


async def _judged_by(gate: Gate, error: Exception) -> None:
    async def judge(*_: object) -> Any:
        raise error

    gate[0].judge = judge  # type: ignore[method-assign]


async def _down(gate: Gate) -> None:
    gate[0].down = "every node is gone"


async def _bug(gate: Gate) -> None:
    await _judged_by(gate, ZeroDivisionError("a bug of the server's"))


async def _cap(gate: Gate) -> None:
    await _judged_by(gate, CapReached("client a", "kernel_s", 10.0, 9.5))


async def _full(gate: Gate) -> None:
    await _judged_by(gate, QueueFull(4_096, 5.0))


async def _draining(gate: Gate) -> None:
    gate[1].gateway.draining = True


async def _cancelled_at_the_server(gate: Gate) -> None:
    await until(lambda: gate[0].running)
    book = gate[1].gateway.book
    for entry in list(book._open.values()):
        book.cancel(entry)


async def _dies_meanwhile(gate: Gate) -> None:
    await until(lambda: gate[0].running)
    await gate[1].stop()


FAILURES: dict[str, tuple[str, Meddle, dict[str, Any], str]] = {
    "503: its kernels are gone": (TRUE, _down, {"score_timeout_s": 1.5}, "every node is gone"),
    "500: it has a bug": (TRUE, _bug, {"score_timeout_s": 1.5}, "gateway"),
    "402: a cap is spent": (TRUE, _cap, {}, "kernel_s"),
    "429: its queue stays full": (TRUE, _full, {"score_timeout_s": 1.5}, "wait already"),
    "503: it is shutting down": (TRUE, _draining, {"score_timeout_s": 1.5}, "nothing new is begun"),
    "422: a leaf prover it does not have": (TRUE, _nothing, {"cluster_leaf": "huge"}, "huge"),
    "no verdict within the deadline": (ENDLESS, _nothing, {"score_timeout_s": 1.5}, "no "),
    "the request is cancelled there": (ENDLESS, _cancelled_at_the_server, {}, "cancelled"),
    "it dies in the middle": (ENDLESS, _dies_meanwhile, {"score_timeout_s": 4.0}, "gateway"),
}
"""The completion, what happens at the gateway, the config, and what the error says."""


@pytest.mark.parametrize("case", FAILURES)
async def test_a_failure_of_the_gateways_is_no_reward(gate: Gate, case: str) -> None:
    completion, meddle, task, said = FAILURES[case]
    meddling = asyncio.create_task(meddle(gate))
    if completion != ENDLESS:
        await meddling
    with OpenAIStub(completion) as stub:
        trace = await one_trace(stub, env_config(task=through(gate, **task)))
    await meddling
    assert_unscored(trace)
    # The call under way when the time is up is cancelled, and then that is all there is to say.
    assert any(words in trace.errors[-1].message for words in (said, "no verdict within"))
    await until(lambda: not gate[0].running)


async def test_a_gateway_that_is_dead_is_no_reward(kernel: EmbeddedKernel) -> None:
    async with listening(kernel) as gate:
        pass
    with OpenAIStub(TRUE) as stub:
        trace = await one_trace(stub, env_config(task=through(gate, score_timeout_s=1.5)))
    assert_unscored(trace)
    assert any(words in trace.errors[-1].message for words in ("gateway", "no verdict within"))


async def test_a_server_that_speaks_as_a_gateway_is_believed() -> None:
    """So that the servers below are known to be disbelieved for what they say."""
    async with _impostor(_ok(_verdict())) as url:
        with OpenAIStub(TRUE) as stub:
            trace = await one_trace(stub, env_config(task={"cluster_url": url, "score_timeout_s": 5.0}))
    assert scores(trace) == {REWARD: 1.0}


@asynccontextmanager
async def _impostor(reply: bytes | None) -> AsyncIterator[str]:
    """A server that is no gateway; None: it never answers. `$ID` stands for the request's id."""
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        asked = await reader.readexactly(int(length[1])) if length else b"{}"
        if reply is None:
            await done.wait()
        else:
            writer.write(reply.replace(b"$ID", json.loads(asked).get("request_id", "").encode()))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        done.set()


def _ok(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n" + body


def _verdict(request_id: str = "$ID", **parts: Any) -> bytes:
    return reply_with_verdict(GOAL.id, request_id, **parts)


@pytest.mark.parametrize(
    "reply",
    [
        None,
        b"",
        _ok(b"<login>"),
        b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 4\r\n\r\nsorr",
        _ok(_verdict())[:-9],
        _ok(b'{"request_id": "$ID", "state": "done"}'),
        _ok(_verdict(status="error", reward=None)),
        _ok(_verdict(status="context_window_exceeded", reward=None)),
        _ok(_verdict(request_id="another")),
        _ok(_verdict(goal_id="another")),
    ],
    ids=[
        "silence",
        "nothing",
        "a login page",
        "a proxy's 502",
        "half a verdict",
        "no verdict",
        "an error",
        "no evidence",
        "another request's verdict",
        "another goal's verdict",
    ],
)
async def test_a_server_that_is_no_gateway_is_no_reward(reply: bytes | None) -> None:
    async with _impostor(reply) as url:
        with OpenAIStub(TRUE) as stub:
            config = env_config(task={"cluster_url": url, "score_timeout_s": 1.5})
            trace = await one_trace(stub, config)
    assert_unscored(trace, trace.info["rlmath"]["status"])


@pytest.mark.parametrize("stage", ["finalize", "scoring", "episode"])
async def test_the_frameworks_deadlines_end_the_work_and_make_no_reward(gate: Gate, stage: str) -> None:
    slow = {"verify_timeout_s": 3.0}
    limits: dict[str, Any] = {"agent": {"timeout": {stage: 1.5}}} if stage != "episode" else {"timeout": {"episode": 3}}
    if stage == "episode":
        slow = {}
    with OpenAIStub(ENDLESS) as stub:
        [episode] = await rollouts(stub, env_config(task=through(gate, **slow), **limits))
    if stage == "scoring":  # the gateway's verdict was there before the stage began
        [trace] = episode.traces
        assert trace.ok
        assert (scores(trace), trace.info["rlmath"]["status"]) == ({REWARD: 0.0}, "plan_invalid")
    elif stage == "finalize":
        [trace] = episode.traces
        assert_unscored(trace, None)
    else:
        assert not episode.ok
        assert [scores(trace) for trace in episode.traces] in ([], [{REWARD: None}])
    await until(lambda: not gate[0].running)


async def test_a_cancelled_rollout_ends_its_work_at_the_gateway(gate: Gate) -> None:
    with OpenAIStub(ENDLESS) as stub:
        run = asyncio.create_task(rollouts(stub, env_config(task=through(gate))))
        await until(lambda: gate[0].running, 30.0)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    await until(lambda: not gate[0].running)


async def test_trouble_that_passes_is_waited_for(gate: Gate) -> None:
    gate[0].down = "the node is being started"

    async def comes_up() -> None:
        await until(lambda: gate[0].refused)
        gate[0].down = None

    with OpenAIStub(TRUE) as stub:
        trace, _ = await asyncio.gather(one_trace(stub, env_config(task=through(gate))), comes_up())
    assert scores(trace) == {REWARD: 1.0}
    assert len(stub.requests) == 1, "the policy is not asked again for the gateway's trouble"


async def test_a_retried_rollout_is_another_request(gate: Gate) -> None:
    await _cap(gate)

    def reply(body: dict[str, Any], number: int) -> str:
        if number:
            del gate[0].judge
        return TRUE

    agent = {"retries": {"max_retries": 2}}
    with OpenAIStub(reply) as stub:
        trace = await one_trace(stub, env_config(task=through(gate), agent=agent))
    assert scores(trace) == {REWARD: 1.0}
    assert len(stub.requests) == 2


async def test_calls_share_clients_and_the_last_one_closes_each(gate: Gate) -> None:
    address = envs.ClusterAddress(gate[1].url)
    scorer = envs.ClusterScorer(address, 60.0)
    count = remote.CALLS_A_CLIENT + 3
    judge, go = gate[0].judge, asyncio.Event()

    async def held(*request: Any) -> Any:
        await go.wait()
        return await judge(*request)

    gate[0].judge = held  # type: ignore[method-assign]
    tasks = [asyncio.create_task(scorer.score(GOAL, FALSE, Budgets(), f"r-{i}")) for i in range(count)]
    await until(lambda: sum(client.users for shared in remote._SHARED.values() for client in shared) == count)
    [shared] = remote._SHARED.values()
    assert [client.users for client in shared] == [remote.CALLS_A_CLIENT, 3]
    go.set()
    assert {result.status for result in await asyncio.gather(*tasks)} == {"plan_invalid"}
    assert not remote._SHARED
    async with remote._connected(address) as first, remote._connected(address) as second:
        assert first is second
    assert not remote._SHARED
