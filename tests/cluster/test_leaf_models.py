"""Leaf models behind a `LeafWorker` actor; the model's server is a stand-in at the far side of a real connection."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from cluster_helpers import GOAL, TRUE, descendants

from cluster.api import ScoreRequest
from cluster.local import LocalCluster
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
