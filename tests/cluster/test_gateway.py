"""HTTP on a real cluster: the same verdicts as in process, through disconnects, faults and a graceful stop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cluster_helpers import ENDLESS, FALSE, GOAL, TRUE, expected, requests, until
from test_faults import kill_image, kill_scheduler

from cluster.caps import Caps
from cluster.client import AsyncClusterClient, ClusterClient
from cluster.local import LocalCluster
from rlmath.errors import CapReached, InputError
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Status

pytestmark = pytest.mark.cluster


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[ClusterClient]:
    with ClusterClient(cluster.url) as client:
        yield client


def test_a_verdict_over_http_is_the_same_object(cluster: LocalCluster, client: ClusterClient) -> None:
    for completion in (TRUE, FALSE, "no plan"):
        assert client.score(GOAL, completion) == cluster.score(GOAL, completion)
    assert str(client.kernels()[0]) == cluster.status()["kernel"]
    assert client.check("example : 1 = 2 := rfl").errors
    assert client.check_proof("True", "trivial").reward == 1.0


def test_what_is_no_verdict_is_an_exception(client: ClusterClient) -> None:
    with pytest.raises(InputError) as caught:
        client.score(GoalSpec("broken", "∀ n : Foo, n = n"), "#assembly\nrfl\n#end")
    assert caught.value.field == "goal.prop"
    with pytest.raises(InputError, match=r"goal\.context"):
        client.score(GoalSpec("broken", "True", context="def one : Nat := true"), "#assembly\nrfl\n#end")


async def test_a_caller_that_goes_away_frees_the_kernel(cluster: LocalCluster) -> None:
    async with AsyncClusterClient(cluster.url) as client:
        endless = [ENDLESS.replace("skip", f"skip -- {number}") for number in range(4)]  # or they would be one check
        budgets = Budgets(verify_timeout_s=600.0)
        tasks = [asyncio.create_task(client.score(GOAL, text, budgets=budgets)) for text in endless]
        async with asyncio.timeout(60):
            while (await cluster.client.status()).in_flight < 2:
                await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        async with asyncio.timeout(60):
            while (status := await cluster.client.status()).in_flight or status.requests_running:
                await asyncio.sleep(0.05)
        assert (await client.score(GOAL, TRUE)).status is Status.VERIFIED


@pytest.mark.parametrize("fault", [kill_image, kill_scheduler])
def test_a_fault_loses_no_verdict(cluster: LocalCluster, client: ClusterClient, fault: object) -> None:
    url, done = cluster.url, 0
    for request, result in client.score_many(requests(f"http-{fault.__name__}", 30), max_in_flight=8):  # type: ignore[attr-defined]
        assert result.status is expected(request), str(result)
        done += 1
        if done == 5:
            fault(cluster)  # type: ignore[operator]
    assert done == 30
    assert cluster.url == url


def test_a_run_is_charged_exactly_and_refused_when_spent(client: ClusterClient) -> None:
    one = Budgets(leaf_attempts_per_lemma=1)
    with client.run(Caps(leaf_attempts=2)) as run:
        for number in range(2):
            goal = GoalSpec(f"capped-{number}", GOAL.prop)
            assert client.score(goal, TRUE, budgets=one, run=run.name).leaf_attempts_used == 1
        with pytest.raises(CapReached) as caught:
            client.score(GoalSpec("capped-2", GOAL.prop), TRUE, budgets=one, run=run.name)
        assert (caught.value.cap, caught.value.limit, caught.value.spent) == ("leaf_attempts", 2.0, 2.0)
        account = run.account()
        assert (account.spent.leaf_attempts, account.held.leaf_attempts) == (2, 0)
        assert account.spent.kernel_us > 0
        # What needs none of it still runs.
        assert client.score(GOAL, FALSE, run=run.name).status is Status.PLAN_INVALID
    with pytest.raises(InputError, match="run"):
        client.score(GOAL, TRUE, run=run.name)


def test_a_verdict_outlives_the_scheduler(cluster: LocalCluster, client: ClusterClient) -> None:
    result = client.score(GOAL, TRUE, request_id="outlives")
    kill_scheduler(cluster)
    with httpx.Client(base_url=cluster.url) as http:

        def told() -> int:
            with contextlib.suppress(httpx.TransportError):
                return http.get("/v1/requests/outlives", params={"wait_s": 10}).status_code
            return 0

        assert until(lambda: told() == 200, 60)
        assert EpisodeResult.from_json(http.get("/v1/requests/outlives").json()["result"]) == result
    assert client.score(GOAL, TRUE, request_id="outlives") == result


def test_probes_and_metrics(cluster: LocalCluster, client: ClusterClient) -> None:
    client.score(GOAL, TRUE)
    with httpx.Client(base_url=cluster.url) as http:
        assert until(lambda: http.get("/readyz").status_code == 200, 30)
        assert http.get("/healthz").json() == {"status": "ok"}
        text = http.get("/metrics").text
    assert 'rlmath_workers{state="ready"} 1.0' in text
    assert 'rlmath_verdicts_total{status="verified"}' in text
    assert 'rlmath_http_requests_total{code="200",route="/v1/score"}' in text


def test_a_cluster_that_does_not_serve_says_so() -> None:
    with pytest.raises(InputError, match="serve=True"):
        _ = LocalCluster().url


class Served:
    """`rlmath serve` as a process on the Ray of this session."""

    def __init__(self, cluster: LocalCluster, *arguments: str | Path) -> None:
        address = cluster.status()["address"]
        command = ["serve", "--port", "0", "--slots", "1", "--cluster", address, *map(str, arguments)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rlmath.cli", *command], stderr=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        self.said: list[str] = []
        self.url = self.next(r"serving at (http://\S+)")

    def next(self, pattern: str) -> str:
        """Read stderr up to a line with this in it."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if (match := re.search(pattern, line)) is not None:
                return match[1] if match.groups() else match[0]
        raise AssertionError(f"no {pattern!r} in {self.said}")

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()


def test_the_command_serves_reloads_keys_and_stops_in_good_order(cluster: LocalCluster, tmp_path: Path) -> None:
    def keys(*arguments: str) -> str:
        command = [sys.executable, "-m", "rlmath.cli", "keys", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    file = str(tmp_path / "keys.json")
    first = keys("add", file, "--client", "a")
    with Served(cluster, "--api-keys", file) as served:
        with ClusterClient(served.url, api_key=first) as client:
            assert client.score(GOAL, TRUE).reward == 1.0
        second = keys("add", file, "--client", "b", "--max-open", "2")
        served.process.send_signal(signal.SIGHUP)
        bearer = {"authorization": f"Bearer {second}"}
        with httpx.Client(base_url=served.url, headers=bearer, timeout=60) as http:
            assert until(lambda: http.get("/v1/kernels").status_code == 200, 20)
            Path(file).write_text("{")
            served.process.send_signal(signal.SIGHUP)
            served.next("the API keys stay as they were")
            assert http.get("/v1/kernels").status_code == 200

            body = {"goal": {"prop": GOAL.prop}, "completion": ENDLESS, "budgets": {"verify_timeout_s": 10.0}}
            head = "POST /v1/score HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            host, port = served.url.removeprefix("http://").split(":")
            with socket.create_connection((host, int(port))) as connection:
                text = json.dumps(body).encode()
                head += f"authorization: Bearer {second}\r\ncontent-length: {len(text)}\r\n\r\n"
                connection.sendall(head.encode() + text)
                assert until(lambda: http.get("/v1/status").json()["open"] == 1, 60)
                served.process.send_signal(signal.SIGTERM)
                served.next("stopping")
                assert until(lambda: http.get("/readyz").status_code == 503, 10)
                refused = http.post("/v1/score", json={"goal": {"prop": "True"}, "completion": "x"})
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
                connection.settimeout(60)
                reply = b""
                while chunk := connection.recv(65_536):
                    reply += chunk
                    if b'"plan_invalid"' in reply:
                        break
                assert b'"reward": 0.0' in reply
        assert served.process.wait(60) == 0
    began = time.monotonic()
    with pytest.raises(httpx.ConnectError):
        httpx.get(served.url)
    assert time.monotonic() - began < 5
