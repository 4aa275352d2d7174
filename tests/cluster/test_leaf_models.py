"""Leaf models behind a `LeafWorker` actor; the model's server is a stand-in at the far side of a real connection."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from cluster_helpers import GOAL, TRUE, descendants, kill_scheduler, renamed

from cluster.api import ScoreRequest
from cluster.caps import Caps
from cluster.local import LocalCluster
from rlmath.errors import CapReached
from rlmath.leaf.config import OpenAILeaf
from rlmath.types import Budgets, Status

sys.path.insert(0, str(Path(__file__).parents[1]))

from openai_stub import OpenAIStub, Step

pytestmark = pytest.mark.cluster


def leaf(base_url: str) -> OpenAILeaf:
    return OpenAILeaf(base_url=base_url, model="stub", max_retries=0)


def leaf_workers() -> list[int]:
    """Pids of the leaf actors on this session's Ray."""
    found = []
    for pid in descendants(os.getpid()):
        try:
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::LeafWorker"):
                found.append(pid)
        except OSError:
            continue
    return found


def fenced(script: str) -> str:
    return f"```lean4\n{script}\n```"


def test_attempts_of_a_model_are_counted_as_a_sequential_run_would(cluster: LocalCluster) -> None:
    replies = ["exact 0", "omega", "exact 1", "exact 2"]
    with OpenAIStub(lambda request, number: fenced(replies[min(number, 3)])) as stub:
        budgets = Budgets(leaf_attempts_per_lemma=4)
        result = cluster.score(GOAL, TRUE, leaf=leaf(stub.base_url), budgets=budgets)
    assert (result.status, result.leaf_attempts_used) == (Status.VERIFIED, 2)


def test_a_leaf_actor_that_is_killed_is_asked_again(cluster: LocalCluster) -> None:
    killed: list[int] = []

    def reply(request: dict[str, Any], number: int) -> str:
        if not killed:
            killed.extend(leaf_workers())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        return fenced("omega")

    with OpenAIStub(reply) as stub:
        result = cluster.score(GOAL, TRUE, leaf=leaf(stub.base_url))
    assert killed
    assert (result.status, result.leaf_attempts_used) == (Status.VERIFIED, 1)


def test_a_server_that_fails_is_no_evidence(cluster: LocalCluster) -> None:
    with OpenAIStub(script=[Step(status=500)] * 50) as stub:
        result = cluster.score(GOAL, TRUE, leaf=leaf(stub.base_url))
    assert (result.status, result.reward) == (Status.ERROR, None)
    down = cluster.score(GOAL, TRUE, leaf=leaf("http://127.0.0.1:9/v1"))
    assert (down.status, down.reward) == (Status.ERROR, None)


def token_requests(prefix: str, server: OpenAILeaf, count: int) -> list[ScoreRequest]:
    """Each asks for one attempt, with names of its own: no prompt is another's."""
    return [
        ScoreRequest(f"{prefix}-{n}", GOAL, renamed(TRUE, f"n{n}"), Budgets(leaf_attempts_per_lemma=1), server)
        for n in range(count)
    ]


def test_tokens_are_held_before_they_are_asked_for_and_charged_as_the_server_counts_them(cluster: LocalCluster) -> None:
    with OpenAIStub(lambda request, number: fenced("omega"), [Step(delay_s=0.2)] * 6) as stub:
        server = OpenAILeaf(base_url=stub.base_url, model="stub", max_tokens=100)
        # An attempt may use its prompt's bytes and 100 tokens: two fit at a time.
        run = cluster.open_run(caps=Caps(model_tokens=20_000), client="tokens")
        results = [result for _, result in cluster.score_many(token_requests("tokens", server, 6), run=run)]
        assert [result.status for result in results] == [Status.VERIFIED] * 6
        account = run.account()
        assert account.spent.model_tokens == stub.prompt_tokens + stub.completion_tokens > 0
        assert account.held.model_tokens == 0
        assert (len(stub.requests), stub.max_in_flight) == (6, 2)
        # One that might need more than what is left is refused before the server hears of it.
        poor = cluster.open_run(caps=Caps(model_tokens=1_000), client="tokens")
        with pytest.raises(CapReached, match="model_tokens of run"):
            cluster.score(GOAL, TRUE, leaf=server, budgets=Budgets(leaf_attempts_per_lemma=1), run=poor)
        assert len(stub.requests) == 6
        assert poor.account().spent.model_tokens == poor.account().held.model_tokens == 0


def test_tokens_are_charged_once_though_the_scheduler_was_killed(cluster: LocalCluster) -> None:
    spent = {}
    for client in ("calm", "killed"):
        delays = [Step(delay_s=0.5)] * 60
        with OpenAIStub(lambda request, number: fenced("omega"), delays) as stub:
            server = OpenAILeaf(base_url=stub.base_url, model="stub", max_tokens=100)
            run = cluster.open_run(caps=Caps(model_tokens=1_000_000), client=f"tokens {client}")
            results = []
            for _, result in cluster.score_many(token_requests(client, server, 8), max_in_flight=4, run=run):
                results.append(result)
                if client == "killed" and len(results) == 1:
                    kill_scheduler(cluster)
            assert [result.status for result in results] == [Status.VERIFIED] * 8
            spent[client] = run.account().spent
            assert run.account().held.model_tokens == 0
    assert spent["killed"].model_tokens == spent["calm"].model_tokens > 0
    assert spent["killed"].leaf_attempts == spent["calm"].leaf_attempts == 8


GARBAGE = Step(raw=b'data: {"choices": [\xff\xfe\n\nnonsense', content_type="text/event-stream")


@pytest.mark.parametrize(
    "faults",
    [
        [Step(status=429, headers=(("retry-after-ms", "5"),))] * 2,
        [Step(status=500)] * 2,
        [Step(drop=True)] * 2,
        [Step(hang=True)] * 2,
    ],
    ids=["429", "500", "lost connection", "hangs"],
)
def test_a_server_that_recovers_changes_no_verdict_and_no_charge(cluster: LocalCluster, faults: list[Step]) -> None:
    found = {}
    for kind, script in (("well", []), ("ill", faults)):
        with OpenAIStub(lambda request, number: fenced("omega"), script) as stub:
            server = OpenAILeaf(base_url=stub.base_url, model="stub", max_tokens=100, timeout_s=2.0, max_retries=4)
            run = cluster.open_run(caps=Caps(model_tokens=1_000_000), client=f"{kind} {stub.port}")
            asked = token_requests(f"{kind}-{stub.port}", server, 4)
            verdicts = {r.request_id.rsplit("-", 1)[1]: v for r, v in cluster.score_many(asked, run=run)}
            found[kind] = verdicts, run.account().spent.leaf_attempts, run.account().spent.model_tokens
    assert found["ill"] == found["well"]


def test_a_server_that_talks_garbage_is_no_evidence_and_asked_again_it_is_as_if_it_never_had(
    cluster: LocalCluster,
) -> None:
    with OpenAIStub(lambda request, number: fenced("omega"), [GARBAGE] * 2) as stub:
        server = OpenAILeaf(base_url=stub.base_url, model="stub", max_tokens=100)
        run = cluster.open_run(caps=Caps(model_tokens=1_000_000), client="garbage")
        asked = token_requests("garbage", server, 4)
        first = {request.request_id: result for request, result in cluster.score_many(asked, run=run)}
        assert sorted(result.status for result in first.values()) == [Status.ERROR] * 2 + [Status.VERIFIED] * 2
        assert {result.reward for result in first.values()} == {None, 1.0}
        again = {request.request_id: result for request, result in cluster.score_many(asked, run=run)}
        assert {result.status for result in again.values()} == {Status.VERIFIED}
        assert all(again[name] == result for name, result in first.items() if result.reward is not None)
        assert run.account().spent.leaf_attempts == 4
        assert run.account().spent.model_tokens == stub.prompt_tokens + stub.completion_tokens


async def test_cancelling_a_request_stops_the_generation(cluster: LocalCluster) -> None:
    import asyncio

    with OpenAIStub(script=[Step(hang=True)] * 50) as stub:
        task = asyncio.create_task(cluster.client.score(ScoreRequest("hang", GOAL, TRUE, leaf=leaf(stub.base_url))))
        async with asyncio.timeout(20):
            while not stub.in_flight:
                await asyncio.sleep(0.02)
            task.cancel()
            while stub.in_flight:
                await asyncio.sleep(0.02)
    assert stub.disconnects >= 1
