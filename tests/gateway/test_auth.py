"""API keys and what they keep apart."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import stat
from pathlib import Path

import pytest
from gateway_helpers import ENDLESS, TRUE, keyed, served, until

from cluster.gateway import keys
from cluster.gateway.auth import Gatekeeper
from cluster.gateway.keys import KeyFile
from cluster.gateway.problems import Problem
from cluster.gateway.settings import GatewaySettings
from rlmath.errors import InputError
from rlmath.kernel.embedded import EmbeddedKernel


def test_a_key_is_told_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key = keys.add(path, "trainer", rate_per_s=5.0)
    key_id, secret = keys.split_key(key) or ("", "")
    text = path.read_text()
    assert secret not in text
    assert key_id in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["keys.json"]
    with pytest.raises(InputError, match="has a key already"):
        keys.add(path, "trainer")
    keys.remove(path, "trainer")
    assert keys.load(path) == KeyFile()
    with pytest.raises(InputError, match="no key"):
        keys.remove(path, "trainer")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "JSON"),
        ('{"keys": [{"id": "00000000", "client": "a"}]}', "sha256"),
        ('{"keys": [], "kyes": 1}', "did you mean 'keys'"),
        (
            json.dumps({"keys": [{"id": f"0000000{i}", "client": "a", "sha256": "0" * 64} for i in range(2)]}),
            "two keys",
        ),
        (json.dumps({"keys": [{"id": "00000000", "client": "anonymous", "sha256": "0" * 64}]}), "has no key"),
    ],
)
def test_a_broken_key_file_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        Gatekeeper(path)


@pytest.mark.parametrize(
    "bad", [{"client": "a b"}, {"client": ""}, {"client": "x", "rate_per_s": 0.0}, {"client": "x", "burst": 0}]
)
def test_a_key_that_makes_no_sense_is_refused(tmp_path: Path, bad: dict[str, object]) -> None:
    with pytest.raises(InputError):
        keys.add(tmp_path / "keys.json", str(bad.pop("client")), **bad)
    assert not list(tmp_path.iterdir())


def test_without_keys_only_this_machine_can_call(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.7", "example.org"):
        with pytest.raises(InputError, match="no API keys"):
            GatewaySettings(host=host)
    for host in ("127.0.0.1", "localhost", "::1", "127.8.8.8"):
        GatewaySettings(host=host)
    keys.add(tmp_path / "keys.json", "a")
    GatewaySettings(host="0.0.0.0", api_keys=tmp_path / "keys.json")


async def test_every_route_with_anything_to_tell_wants_a_key(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    settings, headers = keyed(tmp_path / "keys.json", "a")
    good = headers["a"]["authorization"]
    async with served(kernel, settings) as gate:
        document = (await gate.client.get("/openapi.json")).json()
        open_routes = set()
        for path, methods in document["paths"].items():
            for method in methods:
                response = await gate.client.request(method, path.replace("{request_id}", "x"))
                if response.status_code != 401:
                    open_routes.add(path)
                else:
                    assert response.headers["www-authenticate"] == "Bearer"
        assert open_routes == {"/healthz", "/readyz", "/health"}
        other = good[:-1] + ("A" if good[-1] != "A" else "B")
        for value in (other, good.replace("rlm_", "rlm_0"), "Bearer ", "Basic " + good, "Bearer ü"):
            response = await gate.client.get("/v1/kernels", headers={"authorization": value.encode()})
            assert response.status_code == 401, value
        assert (await gate.client.get("/v1/kernels", headers={"authorization": good})).status_code == 200


async def test_no_key_sees_another_ones_requests(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    settings, headers = keyed(tmp_path / "keys.json", "a", "b")
    async with served(kernel, settings) as gate:
        assert (await gate.score(TRUE, request_id="mine", headers=headers["a"])).status_code == 200
        running = asyncio.create_task(gate.score(ENDLESS, request_id="run", headers=headers["a"]))
        await until(lambda: gate.backend.running)
        for request_id in ("mine", "run", "never"):
            answers = [
                await gate.client.get(f"/v1/requests/{request_id}", headers=headers["b"]),
                await gate.client.delete(f"/v1/requests/{request_id}", headers=headers["b"]),
            ]
            assert [answer.status_code for answer in answers] == [404, 404]
            assert answers[0].json()["detail"].replace(request_id, "") == answers[1].json()["detail"].replace(
                request_id, ""
            )
        # The same id is another request: it runs, and for its own client.
        before = gate.backend.judged
        assert (await gate.score(TRUE, request_id="mine", headers=headers["b"])).status_code == 200
        assert gate.backend.judged == before + 1
        assert {caller.client for caller in gate.backend.callers} == {"a", "b"}
        assert not any(caller.shared_cache for caller in gate.backend.callers)
        status = (await gate.client.get("/v1/status", headers=headers["b"])).json()
        assert [recent["request_id"] for recent in status["recent"]] == ["mine"]
        assert status["open"] == 0
        metrics = (await gate.client.get("/metrics", headers=headers["b"])).text
        assert 'rlmath_verdicts_total{status="verified"} 2.0' in metrics
        assert 'client="' not in metrics
        await gate.client.delete("/v1/requests/run", headers=headers["a"])
        await running


async def test_a_key_has_a_rate_a_share_and_a_ceiling(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    settings, headers = keyed(tmp_path / "keys.json", "slow", rate_per_s=0.5, burst=2, max_open=1, max_priority=3)
    _, other = keyed(tmp_path / "keys.json", "other")
    async with served(kernel, settings) as gate:
        assert [(await gate.score("x", headers=headers["slow"])).status_code for _ in range(2)] == [200, 200]
        response = await gate.score("x", headers=headers["slow"])
        assert response.status_code == 429
        assert response.json()["type"].endswith("rate-limited")
        assert 0 < response.json()["retry_after_s"] <= 2.0
        assert response.headers["retry-after"] in ("1", "2")
        assert (await gate.score("x", headers=other["other"])).status_code == 200

        tenant = gate.gateway.keys.tenant(headers["slow"]["authorization"])
        tenant.clock = lambda: 1e9  # long after: the bucket is full, and holds no more than its burst
        high = await gate.score("x", headers=headers["slow"], priority=4)
        assert (high.status_code, high.json()["field"]) == (403, "priority")
        running = asyncio.create_task(gate.score(ENDLESS, headers=headers["slow"], priority=3, request_id="r"))
        await until(lambda: gate.backend.running)
        assert gate.backend.callers[-1].priority == 3
        tenant.clock = lambda: 2e9
        full = await gate.score("x", headers=headers["slow"])
        assert (full.status_code, full.json()["queue_length"]) == (429, 1)
        await gate.client.delete("/v1/requests/r", headers=headers["slow"])
        await running


async def test_a_key_without_sources_judges_plans_only(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    settings, headers = keyed(tmp_path / "keys.json", "a", sources=False)
    async with served(kernel, settings) as gate:
        post = gate.client.post
        refused = await post("/v1/check", json={"source": "#eval 1"}, headers=headers["a"])
        assert (refused.status_code, refused.json()["type"]) == (403, "urn:rlmath:problem:forbidden")
        proof = await post("/v1/check", json={"prop": "True", "proof": "trivial"}, headers=headers["a"])
        assert proof.json()["result"]["status"] == "verified"


def test_the_file_is_read_again_when_it_changes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "keys.json"
    first = keys.add(path, "a")
    now = [0.0]
    gatekeeper = Gatekeeper(path, clock=lambda: now[0])
    tenant = gatekeeper.tenant(f"Bearer {first}")
    second = keys.add(path, "b")
    with pytest.raises(Problem):
        gatekeeper.tenant(f"Bearer {second}")
    now[0] += 2
    assert gatekeeper.tenant(f"Bearer {second}").name == "b"
    assert gatekeeper.tenant(first) is tenant, "a client keeps what it has open"

    path.write_text("{")
    now[0] += 2
    with caplog.at_level(logging.ERROR):
        assert gatekeeper.tenant(first) is tenant, "a broken file changes nothing"
    assert "stay as they were" in caplog.text
    with pytest.raises(InputError):
        gatekeeper.reload()
    os.unlink(path)
    now[0] += 2
    assert gatekeeper.tenant(first) is tenant

    keys.add(path, "b")
    gatekeeper.reload()
    with pytest.raises(Problem):
        gatekeeper.tenant(first)


async def test_names_guard_a_server_without_keys(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    async with served(kernel) as gate:
        for host, status in (
            ("localhost:8000", 200),
            ("127.0.0.1", 200),
            ("[::1]:1", 200),
            ("evil.example", 421),
            ("", 421),
        ):
            assert (await gate.client.get("/v1/kernels", headers={"host": host})).status_code == status, host
        assert (await gate.client.get("/healthz", headers={"host": "10.0.0.3"})).status_code == 200
    settings, headers = keyed(tmp_path / "keys.json", "a")
    async with served(kernel, settings) as gate:
        sent = {**headers["a"], "host": "any.example"}
        assert (await gate.client.get("/v1/kernels", headers=sent)).status_code == 200


async def test_logs_hold_no_text_unless_asked(kernel: EmbeddedKernel, caplog: pytest.LogCaptureFixture) -> None:
    secret = "xyzzy_lemma"
    plan = f"#lemma {secret} : True\n#assembly\nintro n\nrfl\n#end\n"
    with caplog.at_level(logging.DEBUG, "cluster.gateway"):
        async with served(kernel) as gate:
            await gate.score(plan, request_id="quiet")
            await gate.client.post("/v1/check", json={"source": f"example : True := {secret}"})
            await gate.score(plan, goal={"prop": f"{secret} = 1"})
        assert "quiet: verified" in caplog.text
        assert secret not in caplog.text
        async with served(kernel, GatewaySettings(log_texts=True)) as gate:
            await gate.score(plan)
        assert secret in caplog.text
