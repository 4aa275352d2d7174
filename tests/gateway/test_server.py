"""The gateway on a real socket: connections that go away, streams, shutdown, TLS."""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from gateway_helpers import ENDLESS, FALSE, GOAL, TRUE, KernelBackend, until

from cluster.gateway.server import GatewayServer
from cluster.gateway.settings import GatewaySettings
from rlmath.errors import InputError
from rlmath.kernel.embedded import EmbeddedKernel


@asynccontextmanager
async def listening(
    kernel: EmbeddedKernel, **settings: object
) -> AsyncIterator[tuple[KernelBackend, GatewayServer, httpx.AsyncClient]]:
    """A server on a free port of loopback, and a client of it."""
    backend = KernelBackend(kernel)
    server = GatewayServer(backend, GatewaySettings(port=0, **settings))  # type: ignore[arg-type]
    async with httpx.AsyncClient(base_url=await server.start(), timeout=60) as client:
        try:
            yield backend, server, client
        finally:
            await server.stop()


def body(completion: str = TRUE, **fields: object) -> dict[str, object]:
    return {"goal": GOAL, "completion": completion, **fields}


async def hang_up(url: str, payload: bytes, when: Callable[[], bool]) -> None:
    """Send a request, and close the connection once something is so."""
    host, port = url.removeprefix("http://").split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    lines = ["POST /v1/score HTTP/1.1", "host: localhost", "content-type: application/json"]
    head = "\r\n".join([*lines, f"content-length: {len(payload)}", "", ""])
    writer.write(head.encode() + payload)
    await writer.drain()
    await until(when)
    writer.close()
    await writer.wait_closed()


async def test_a_caller_that_goes_away_ends_what_nobody_else_waits_for(kernel: EmbeddedKernel) -> None:
    async with listening(kernel) as (backend, server, client):
        payload = json.dumps(body(ENDLESS, request_id="left")).encode()
        await hang_up(server.url, payload, lambda: backend.running == 1)
        await until(lambda: not backend.running)
        assert (await client.get("/v1/requests/left")).status_code == 404

        # Somebody else waits: it goes on.
        other = asyncio.create_task(
            client.post("/v1/score", json=body(ENDLESS, request_id="shared", budgets={"verify_timeout_s": 3.0}))
        )
        await until(lambda: backend.running)
        same = json.dumps(body(ENDLESS, request_id="shared", budgets={"verify_timeout_s": 3.0})).encode()
        (tenant,) = server.gateway.keys.tenants
        entry = server.gateway.book.get(tenant, "shared")
        await hang_up(server.url, same, lambda: entry.waiters == 2)
        await until(lambda: entry.waiters == 1)
        assert (await other).json()["result"]["status"] == "plan_invalid"
        assert backend.judged == 2


async def test_a_batch_streams_verdicts_as_they_come_and_one_bad_item_fails_alone(kernel: EmbeddedKernel) -> None:
    async with listening(kernel) as (_, _, client):
        items = [
            body(ENDLESS, budgets={"verify_timeout_s": 3.0}),
            body(TRUE, request_id="b-1"),
            {"goal": GOAL},
            body(FALSE),
            body("no plan"),
            body(TRUE, goal={"prop": "∀ n : Foo, n = n"}),
            5,
        ]
        lines = []
        async with client.stream("POST", "/v1/score/batch", json={"items": items}) as response:
            assert response.headers["content-type"] == "application/x-ndjson"
            async for line in response.aiter_lines():
                lines.append(json.loads(line))
    assert lines[-1] == {"end": {"items": 7, "verdicts": 4, "problems": 3}}
    by_index = {line["index"]: line for line in lines[:-1]}
    assert len(by_index) == 7
    assert [by_index[i]["result"]["status"] for i in (0, 1, 3, 4)] == [
        "plan_invalid", "verified", "plan_invalid", "format_error",
    ]  # fmt: skip
    assert by_index[1]["request_id"] == "b-1"
    assert "completion" in by_index[2]["problem"]["detail"]
    assert [by_index[i]["problem"]["status"] for i in (5, 6)] == [422, 422]
    assert by_index[6]["problem"]["field"] == by_index[2]["problem"]["field"] == "body"
    assert lines[0]["index"] != 0, "the slowest one keeps nobody waiting, though it was asked first"


async def test_a_batch_may_be_lines_and_a_broken_line_fails_alone(kernel: EmbeddedKernel) -> None:
    async with listening(kernel) as (backend, _, client):
        lines = [
            json.dumps(body(TRUE, request_id="n-0")).encode(),
            b'{"goal": "\\ud800"}',
            b"{",
            b'{"request_id": "n-3"}',
            b"[" * 100_000,
        ]
        headers = {"content-type": "application/x-ndjson"}
        response = await client.post("/v1/score/batch", content=b"\n".join(lines), headers=headers)
        got = {line["index"]: line for line in map(json.loads, response.text.splitlines()[:-1])}
        assert got[0]["result"]["status"] == "verified"
        assert [got[i]["problem"]["status"] for i in (1, 2, 3, 4)] == [400, 400, 422, 400]
        assert got[3]["request_id"] == "n-3"
        assert (await client.post("/v1/score", json=body(TRUE, request_id="n-0"))).json()["result"] == got[0]["result"]
        assert backend.judged == 1


async def test_a_batch_whose_caller_goes_away_ends(kernel: EmbeddedKernel) -> None:
    async with listening(kernel, batch_in_flight=2) as (backend, server, client):
        items = [body("no plan"), *(body(ENDLESS) for _ in range(5))]
        async with client.stream("POST", "/v1/score/batch", json={"items": items}) as response:
            async for line in response.aiter_lines():
                assert json.loads(line)["index"] == 0
                break
            await until(lambda: backend.running == 2)
        await until(lambda: not backend.running)
        assert server.gateway.book.open == 0
        assert backend.judged == 3


async def test_a_batch_waits_for_room_instead_of_being_refused(kernel: EmbeddedKernel) -> None:
    async with listening(kernel, max_open=2) as (_, server, client):
        items = [body("no plan") for _ in range(50)]
        slow = asyncio.create_task(client.post("/v1/score", json=body(ENDLESS, budgets={"verify_timeout_s": 1.0})))
        await until(lambda: server.gateway.book.open == 1)
        response = await client.post("/v1/score/batch", json={"items": items})
        assert json.loads(response.text.splitlines()[-1])["end"] == {"items": 50, "verdicts": 50, "problems": 0}
        assert (await slow).status_code == 200


async def test_a_shutdown_finishes_what_runs_and_refuses_the_rest(kernel: EmbeddedKernel) -> None:
    backend = KernelBackend(kernel)
    server = GatewayServer(backend, GatewaySettings(port=0))
    url = await server.start()
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        running = asyncio.create_task(client.post("/v1/score", json=body(ENDLESS, budgets={"verify_timeout_s": 4.0})))
        await until(lambda: backend.running)
        stopping = asyncio.create_task(server.stop())
        await until(lambda: server.gateway.draining)
        refused = await client.post("/v1/score", json=body(TRUE))
        assert refused.status_code == 503
        assert refused.json()["type"].endswith("shutting-down")
        assert "retry-after" in refused.headers
        assert (await client.post("/v1/score/batch", json={"items": [body()]})).status_code == 503
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/healthz")).status_code == 200
        assert (await running).json()["result"]["status"] == "plan_invalid"
        await stopping
        with pytest.raises(httpx.ConnectError):
            await client.get("/healthz")


async def test_a_shutdown_does_not_wait_for_ever(kernel: EmbeddedKernel) -> None:
    backend = KernelBackend(kernel)
    server = GatewayServer(backend, GatewaySettings(port=0, grace_s=0.1))
    async with httpx.AsyncClient(base_url=await server.start(), timeout=60) as client:
        running = asyncio.create_task(client.post("/v1/score", json=body(ENDLESS)))
        await until(lambda: backend.running)
        await server.stop()
        # No caller called it off: asked again, a server that is started anew may answer it.
        assert ((await running).status_code, (await running).headers["retry-after"]) == (503, "2")
        await until(lambda: not backend.running)


async def test_a_port_that_is_taken_and_a_host_that_is_none(kernel: EmbeddedKernel) -> None:
    async with listening(kernel) as (backend, server, _):
        port = int(server.url.rsplit(":", 1)[1])
        with pytest.raises(InputError, match="cannot listen"):
            await GatewayServer(backend, GatewaySettings(port=port)).start()


def self_signed(folder: Path) -> tuple[Path, Path]:
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key


async def test_tls(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    cert, key = self_signed(tmp_path)
    backend = KernelBackend(kernel)
    server = GatewayServer(backend, GatewaySettings(port=0, tls_cert=cert, tls_key=key))
    url = await server.start()
    try:
        assert url.startswith("https://127.0.0.1:")
        async with httpx.AsyncClient(base_url=url, verify=ssl.create_default_context(cafile=cert)) as client:
            assert (await client.post("/v1/score", json=body(TRUE))).json()["result"]["reward"] == 1.0
    finally:
        await server.stop()
    with pytest.raises(InputError, match="certificate"):
        await GatewayServer(backend, GatewaySettings(port=0, tls_cert=key, tls_key=cert)).start()
