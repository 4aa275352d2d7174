"""The published Kimina client, unchanged, against the gateway."""

from __future__ import annotations

import asyncio
import json
import typing
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import httpx
import pytest
import pytest_asyncio
import typing_extensions
from gateway_helpers import KernelBackend, keyed, served, until

from cluster.gateway.kimina import without_header
from cluster.gateway.server import GatewayServer
from cluster.gateway.settings import GatewaySettings
from rlmath.errors import InputError
from rlmath.header import embedded_body
from rlmath.kernel.embedded import EmbeddedKernel

ENDLESS = "example : True := by\n  repeat skip"


@pytest.fixture(scope="module")
def kimina() -> ModuleType:
    """The package. Below Python 3.12 pydantic refuses the `typing.TypedDict` that it imports."""
    with mock.patch.object(typing, "TypedDict", typing_extensions.TypedDict):
        import kimina_client

    return kimina_client


@pytest_asyncio.fixture(loop_scope="session")
async def server(kernel: EmbeddedKernel) -> AsyncIterator[GatewayServer]:
    """A gateway on a free port."""
    server = GatewayServer(KernelBackend(kernel), GatewaySettings(port=0))
    await server.start()
    yield server
    await server.stop()


async def test_the_async_client(server: GatewayServer, kimina: ModuleType) -> None:
    client = kimina.AsyncKiminaClient(api_url=server.url)
    try:
        await client.test()
        assert await client.health() == {"status": "ok"}
        snippets = [
            kimina.Snippet(id="valid", code="theorem a : 2 + 2 = 4 := rfl"),
            kimina.Snippet(id="sorry", code="theorem a : 2 + 2 = 5 := sorry"),
            kimina.Snippet(id="error", code="import Init\n\ntheorem a : 2 + 2 = 5 := rfl"),
            kimina.Snippet(id="mathlib", code="import Mathlib\nexample : True := trivial"),
        ]
        response = await client.check(snippets, timeout=60, debug=True, infotree="original", show_progress=False)
        slow = await client.check(kimina.Snippet(id="time", code=ENDLESS), timeout=1, show_progress=False)
    finally:
        await client.close()
    by_id = {result.id: result for result in (*response.results, *slow.results)}
    assert {key: result.analyze().status.value for key, result in by_id.items()} == {
        "valid": "valid", "sorry": "sorry", "error": "lean_error", "time": "timeout_error", "mathlib": "server_error",
    }  # fmt: skip
    assert by_id["error"].response["messages"][0]["pos"]["line"] == 1, "positions count from after the imports"
    assert by_id["time"].time == 1.0
    assert by_id["valid"].response == {}
    assert len(by_id["valid"].diagnostics["repl_uuid"]) == 36


async def test_the_sync_client_and_the_inside_of_its_benchmark(server: GatewayServer, kimina: ModuleType) -> None:
    def run() -> Any:
        client = kimina.KiminaClient(api_url=server.url)
        client.test()
        assert client.health() == {"status": "ok"}
        snippets = [kimina.Snippet(id=str(i), code=f"example : {i} + 0 = {i} := rfl") for i in range(20)]
        response = client.check(
            snips=snippets, timeout=60, reuse=True, batch_size=8, max_workers=5, show_progress=False
        )
        response.analyze(1.0)
        return response

    response = await asyncio.to_thread(run)
    assert sorted(int(result.id) for result in response.results) == list(range(20))
    assert {result.analyze().status.value for result in response.results} == {"valid"}


async def test_its_key_is_ours(kernel: EmbeddedKernel, kimina: ModuleType, tmp_path: Path) -> None:
    settings, headers = keyed(tmp_path / "keys.json", "a")
    server = GatewayServer(KernelBackend(kernel), GatewaySettings(port=0, api_keys=settings.api_keys))
    await server.start()
    client = kimina.AsyncKiminaClient(api_url=server.url, api_key=headers["a"]["authorization"].removeprefix("Bearer "))
    stranger = kimina.AsyncKiminaClient(api_url=server.url, api_key="rlm_00000000_" + "A" * 43, n_retries=1)
    try:
        await client.test()
        with pytest.raises(RuntimeError, match="failed after 1"):
            await stranger.api_check([kimina.Snippet(id="x", code="#check Nat")])
    finally:
        await client.close()
        await stranger.close()
        await server.stop()


@pytest.mark.parametrize("route", ["/verify", "/one_pass_verify_batch"])
async def test_the_older_routes(kernel: EmbeddedKernel, kimina: ModuleType, route: str) -> None:
    codes = [
        kimina.Code(custom_id=1, proof="#check Nat"),
        kimina.Code(custom_id="two", code="theorem a : 2 + 2 = 5 := sorry"),
    ]
    slow = [kimina.Code(custom_id="slow", proof=ENDLESS)]
    async with served(kernel) as gate:
        results = []
        for body in (kimina.VerifyRequestBody(codes=codes), kimina.VerifyRequestBody(codes=slow, timeout=1)):
            response = await gate.client.post(route, json=body.model_dump())
            results += kimina.VerifyResponse.model_validate(response.json()).results
    first, second, third = results
    assert (first["custom_id"], first["response"]["messages"][0]["data"]) == ("1", "Nat : Type")
    assert first["response"]["time"] > 0
    assert second["response"]["sorries"][0]["pos"] == {"line": 1, "column": 8}
    assert "timed out" in third["error"]


async def test_trouble_is_no_result_and_its_client_asks_again(kernel: EmbeddedKernel, kimina: ModuleType) -> None:
    backend = KernelBackend(kernel)
    server = GatewayServer(backend, GatewaySettings(port=0))
    client = kimina.AsyncKiminaClient(api_url=await server.start())
    try:
        backend.down = "the node is gone"
        async with httpx.AsyncClient(base_url=server.url) as plain:
            body = {"snippets": [{"id": "a", "code": "#check Nat"}]}
            assert (await plain.post("/api/check", json=body)).status_code == 503
        task = asyncio.create_task(client.check("#check Nat", show_progress=False))
        await until(lambda: backend.refused == 2)
        backend.down = None
        assert (await task).results[0].analyze().status.value == "valid"
    finally:
        await client.close()
        await server.stop()


async def test_a_client_that_goes_away_ends_its_snippets(server: GatewayServer, kimina: ModuleType) -> None:
    client = kimina.AsyncKiminaClient(api_url=server.url)
    try:
        snippets = [kimina.Snippet(id=str(i), code=ENDLESS) for i in range(3)]
        task = asyncio.create_task(client.api_check(snippets, timeout=60))
        await until(lambda: server.gateway.book.open == 3)
        task.cancel()
        await until(lambda: server.gateway.book.open == 0)
    finally:
        await client.close()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"snippets": []}, "at least 1"),
        ({"snippets": [{"id": "a", "code": ""}, {"id": "a", "code": ""}]}, "unique ids"),
        ({"snippets": [{"id": "a"}]}, "missing"),
        ({"snippets": [{"id": "a", "code": ""}], "timeout": -1}, "greater than or equal"),
        ({"snippets": [{"id": "a", "code": ""}], "infotree": "all"}, "original"),
    ],
)
async def test_what_a_kimina_server_refuses_is_refused(kernel: EmbeddedKernel, body: dict[str, Any], says: str) -> None:
    async with served(kernel) as gate:
        response = await gate.client.post("/api/check", json=body)
    assert response.status_code == 422
    assert says in response.json()["detail"]


async def test_fields_that_are_not_known_are_ignored_here(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        body = {"snippets": [{"id": "a", "code": "", "lang": "lean"}], "timeout": "20", "later": 1}
        assert (await gate.client.post("/api/check/", json=body)).json()["results"][0]["response"] == {}
        zero = {"snippets": [{"id": "a", "code": "#check Nat"}], "timeout": 0}
        assert "timed out" in json.dumps((await gate.client.post("/api/check", json=zero)).json())


def test_a_header_is_blank_and_import_lines() -> None:
    assert without_header("import Init\n\n  import Init\ndef a := 1\n", embedded_body) == "def a := 1\n"
    assert without_header("-- first\nimport Init", embedded_body) == "-- first\nimport Init"
    assert without_header("\n\n", embedded_body) == ""
    with pytest.raises(InputError, match="import Mathlib"):
        without_header("import Init\nimport Mathlib.Tactic\n#check 1", embedded_body)
