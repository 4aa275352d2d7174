"""The verifiers environment on a real cluster: verifiers' eval command beside `rlmath eval`, and an environment server
that joins the cluster's Ray."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cluster_helpers import FALSE, GOAL, TRUE
from env_eval_kit import recorded, rlmath_eval_config, verifiers_eval
from env_kit import REWARD, scores
from env_server_kit import ask, config_text, env_client, env_server
from openai_stub import OpenAIStub
from ray.util import list_named_actors

from cluster.local import LocalCluster

pytestmark = pytest.mark.cluster


async def test_the_eval_commands_rewards_are_those_of_rlmath_eval(cluster: LocalCluster, tmp_path: Path) -> None:
    judged = await verifiers_eval(tmp_path, cluster.url, recorded(honest=2))
    address = cluster.status()["address"]
    config = rlmath_eval_config(tmp_path, judged, f'[cluster]\naddress = "{address}"\nslots = 2\n')
    command = [sys.executable, "-m", "rlmath.cli", "eval", str(config)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    ours = {row["id"]: (row["reward"], row["status"]) for row in rows if "id" in row}
    assert {name: (found.reward, found.status) for name, found in judged.items()} == ours
    assert len({status for _, status in ours.values()}) >= 5


async def test_an_env_server_joins_a_ray_cluster_and_leaves_nothing_there(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    address = cluster.status()["address"]
    text = re.sub("cluster_url.*", "", config_text(""))
    before = list_named_actors(all_namespaces=True)
    async with env_server(tmp_path, f'{text}\n[cluster]\naddress = "{address}"\nslots = 1\n') as server:
        assert "embedded" in await server.says("rewards come from")
        await server.says("serving at")
        async with env_client(server.address) as client:
            for completion in (TRUE, FALSE):
                with OpenAIStub(completion) as stub:
                    [trace] = (await ask(client, stub, GOAL)).traces
                assert scores(trace) == {REWARD: cluster.score(GOAL, completion).reward}
        assert len(list_named_actors(all_namespaces=True)) == len(before) + 1
        server.process.send_signal(signal.SIGTERM)
        assert await server.ended() == 0
    assert list_named_actors(all_namespaces=True) == before
    assert cluster.score(GOAL, TRUE).reward == 1.0, "the cluster it had joined goes on"
