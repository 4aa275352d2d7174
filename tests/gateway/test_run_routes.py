"""/v1/runs: opening, asking, closing; one client's runs are nobody else's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gateway_helpers import TRUE, KernelBackend, keyed, served

from cluster.caps import AccountKey, Caps, Resource
from cluster.client import AsyncClusterClient
from cluster.gateway import keys
from cluster.gateway.server import GatewayServer
from cluster.gateway.settings import GatewaySettings
from rlmath.errors import InputError
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.types import GoalSpec


async def test_a_run_is_opened_asked_about_and_closed(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        opened = await gate.client.post("/v1/runs", json={"run": "r", "caps": {"leaf_attempts": 10, "kernel_s": 2.5}})
        assert (opened.status_code, opened.headers["location"]) == (201, "/v1/runs/r")
        caps = {"leaf_attempts": 10, "kernel_s": 2.5, "model_tokens": None, "wall_s": None}
        nothing = {"leaf_attempts": 0, "kernel_s": 0.0, "model_tokens": 0}
        account = opened.json()
        assert account.pop("opened_at") > 1e9
        assert account == {"run": "r", "caps": caps, "spent": nothing, "held": nothing, "left": caps, "closed": False}

        key = AccountKey("anonymous", "r")
        hold = gate.backend.accounts.hold((key,), Resource.LEAF_ATTEMPTS, 4)
        shown = (await gate.client.get("/v1/runs/r")).json()
        assert (shown["held"]["leaf_attempts"], shown["left"]["leaf_attempts"]) == (4, 6)
        gate.backend.accounts.settle(hold, 3)  # type: ignore[arg-type]
        shown = (await gate.client.get("/v1/runs/r")).json()
        assert (shown["spent"]["leaf_attempts"], shown["left"]["leaf_attempts"]) == (3, 7)

        assert (await gate.score(TRUE, run="r")).json()["result"]["status"] == "verified"
        assert gate.backend.callers[-1].run == "r"
        assert (await gate.client.delete("/v1/runs/r")).json()["closed"] is True
        refused = await gate.score(TRUE, run="r")
        assert (refused.status_code, refused.json()["field"]) == (422, "run")
        assert (await gate.client.post("/v1/runs", json={})).json()["run"]


@pytest.mark.parametrize(
    "body", [{"caps": {"leaf_attempts": -1}}, {"caps": {"kernels": 1}}, {"run": ""}, {"caps": {"wall_s": "1"}}]
)
async def test_caps_that_make_no_sense(kernel: EmbeddedKernel, body: dict[str, object]) -> None:
    async with served(kernel) as gate:
        assert (await gate.client.post("/v1/runs", json=body)).status_code == 422


async def test_another_clients_run_is_not_there(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    settings, headers = keyed(tmp_path / "keys.json", "a", "b")
    async with served(kernel, settings) as gate:
        await gate.client.post("/v1/runs", json={"run": "r"}, headers=headers["a"])
        for method in ("GET", "DELETE"):
            assert (await gate.client.request(method, "/v1/runs/r", headers=headers["b"])).status_code == 404
        assert (await gate.score(TRUE, run="r", headers=headers["b"])).status_code == 422
        assert (await gate.client.get("/v1/runs/r", headers=headers["a"])).json()["closed"] is False


async def test_a_keys_own_caps_reach_the_scheduler_and_follow_the_file(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    settings, headers = keyed(path, "a", cap_leaf_attempts=7, cap_kernel_s=60.0)
    async with served(kernel, settings) as gate:
        await gate.score("x", headers=headers["a"])
        assert gate.backend.accounts.status(AccountKey("a")).caps == Caps(leaf_attempts=7, kernel_s=60.0)
        text = json.loads(path.read_text())
        text["keys"][0]["cap_leaf_attempts"] = None
        text["keys"][0]["cap_kernel_s"] = None
        path.write_text(json.dumps(text))
        gate.gateway.keys.reload()
        await gate.score("x", headers=headers["a"])
        assert gate.backend.accounts.status(AccountKey("a")).caps == Caps()
    assert keys.load(path).keys[0].limits().caps is None


async def test_the_clients_run(kernel: EmbeddedKernel) -> None:
    backend = KernelBackend(kernel)
    server = GatewayServer(backend, GatewaySettings(port=0))
    goal = GoalSpec("add_zero", "∀ n : Nat, n + 0 = n")
    async with AsyncClusterClient(await server.start()) as client:
        async with client.run(Caps(leaf_attempts=5), name="a/b?c#d%2e") as run:
            account = await run.account()
            assert (account.run, account.caps, account.closed) == (run.name, Caps(leaf_attempts=5), False)
            assert account == await client.account(run.name)
            assert (await client.score(goal, TRUE, run=run.name)).reward == 1.0
            assert backend.callers[-1].run == run.name
            assert (await client.check("#check Nat", run=run.name)).messages
        assert (await client.account(run.name)).closed
        with pytest.raises(InputError):
            await client.account("never")
    await server.stop()
