"""The clients, against a real gateway on a real socket, and against servers that misbehave."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from gateway_helpers import ENDLESS, FALSE, TRUE, KernelBackend, keyed, until
from gateway_kit import reply_with_verdict

from cluster.api import ScoreRequest
from cluster.client import AsyncClusterClient, ClusterClient
from cluster.gateway.server import GatewayServer
from cluster.gateway.settings import GatewaySettings
from cluster.http_wire import pause_s, trouble_of
from cluster.retry import RetryPolicy
from rlmath.episode import run_episode
from rlmath.errors import CapReached, InputError, KernelUnavailable, QueueFull
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Source
from rlmath.leaf.config import OpenAILeaf, RecordedLeaf, TacticsLeaf, make_prover
from rlmath.types import Budgets, GoalSpec, Status

GOAL = GoalSpec("add_zero", "∀ n : Nat, n + 0 = n")
QUICK = RetryPolicy(attempts=4, first_pause_s=0.02, longest_pause_s=0.1)


class Running:
    """A gateway, its backend, and a client of it."""

    def __init__(self, backend: KernelBackend, server: GatewayServer, client: AsyncClusterClient) -> None:
        self.backend, self.server, self.client = backend, server, client


@asynccontextmanager
async def running(
    kernel: EmbeddedKernel, settings: GatewaySettings | None = None, key: str | None = None
) -> AsyncIterator[Running]:
    backend = KernelBackend(kernel)
    server = GatewayServer(backend, settings or GatewaySettings(port=0))
    async with AsyncClusterClient(await server.start(), api_key=key, patience=QUICK) as client:
        yield Running(backend, server, client)
    await server.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def gate(kernel: EmbeddedKernel) -> AsyncIterator[Running]:
    async with running(kernel) as gate:
        yield gate


async def test_results_are_the_librarys_own(gate: Running, kernel: EmbeddedKernel) -> None:
    result = await gate.client.score(GOAL, TRUE)
    assert result == await run_episode(GOAL, TRUE, kernel=kernel, leaf=make_prover(TacticsLeaf()))
    assert "verified (reward 1.0)" in str(result)
    false = await gate.client.score(
        GOAL, FALSE, budgets=Budgets(max_lemmas=1), leaf=RecordedLeaf(), recorded={"h": "rfl"}
    )
    assert false == await run_episode(
        GOAL, FALSE, kernel=kernel, leaf=make_prover(RecordedLeaf()), budgets=Budgets(max_lemmas=1)
    )
    text = "#check Nat\nexample : 1 = 2 := rfl"
    there, here = await gate.client.check(text), await kernel.check(Source(text), timeout_s=60)
    assert replace(there, elapsed_s=here.elapsed_s) == here
    proof = await gate.client.check_proof("∀ n : Nat, n < n + 1", "intro n\nomega")
    assert (proof.status, proof.axioms) == (Status.VERIFIED, ("propext",))
    assert await gate.client.kernels() == (kernel.identity,)
    assert (await gate.client.status())["client"] == "anonymous"


@pytest.mark.parametrize(
    "completion", [b"\xff\xfe#assembly", "\ud800 #assembly\nrfl\n#end", "#assembly\nrfl \udcff\n#end"]
)
async def test_a_completion_that_is_no_text_is_judged_as_one(gate: Running, completion: str | bytes) -> None:
    result = await gate.client.score(GOAL, completion)
    assert (result.status, result.reward) == (Status.FORMAT_ERROR, 0.0)


async def test_many_come_as_they_are_done_or_in_order(gate: Running) -> None:
    slow = Budgets(verify_timeout_s=5.0)
    requests = [
        ScoreRequest("m-0", GOAL, ENDLESS, slow),
        *(ScoreRequest(f"m-{i}", GOAL, "no plan") for i in range(1, 12)),
    ]
    told: list[tuple[int, int | None]] = []
    as_done = [
        r.request_id
        async for r, _ in gate.client.score_many(requests, max_in_flight=4, progress=lambda *done: told.append(done))
    ]
    assert sorted(as_done) == sorted(r.request_id for r in requests)
    assert as_done[-1] == "m-0"
    assert told == [(i, 12) for i in range(1, 13)]
    before = gate.backend.judged
    in_order = [
        (r.request_id, result.status)
        async for r, result in gate.client.score_many(iter(requests), max_in_flight=4, ordered=True)
    ]
    assert [request_id for request_id, _ in in_order] == [r.request_id for r in requests]
    assert [status for _, status in in_order] == [Status.PLAN_INVALID, *[Status.FORMAT_ERROR] * 11]
    assert gate.backend.judged == before, "asked again under the same ids, nothing runs"


async def test_closing_many_ends_what_is_under_way(gate: Running) -> None:
    requests = [ScoreRequest("q", GOAL, "no plan"), *(ScoreRequest(f"c-{i}", GOAL, ENDLESS) for i in range(9))]
    results = gate.client.score_many(requests, max_in_flight=3)
    request, _ = await anext(results)
    assert request.request_id == "q"
    await until(lambda: gate.backend.running == 2)
    await results.aclose()  # type: ignore[attr-defined]
    await until(lambda: not gate.backend.running)
    assert gate.backend.judged == 3


async def test_a_cancelled_call_ends_its_work(gate: Running) -> None:
    task = asyncio.create_task(gate.client.score(GOAL, ENDLESS))
    await until(lambda: gate.backend.running)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not gate.backend.running)


async def test_a_deadline_is_kept_and_leaves_nothing_running(gate: Running) -> None:
    began = time.monotonic()
    with pytest.raises(KernelUnavailable, match="deadline"):
        await gate.client.score(GOAL, ENDLESS, deadline_s=1.5)
    assert time.monotonic() - began < 30, "the check itself may take 60 s"
    await until(lambda: not gate.backend.running)


async def test_what_the_caller_got_wrong_is_an_input_error(gate: Running) -> None:
    async def field(call: Awaitable[object]) -> str:
        with pytest.raises(InputError) as caught:
            await call
        return caught.value.field

    score = gate.client.score
    assert await field(score(GoalSpec("g", "∀ n : Foo, n = n"), "#assembly\nrfl\n#end")) == "goal.prop"
    assert await field(score(GOAL, TRUE, leaf=OpenAILeaf(base_url="http://x", model="m"))) == "leaf"
    assert await field(score(GOAL, TRUE, request_id="a b")) == "request_id"
    await score(GOAL, TRUE, request_id="twice")
    assert await field(score(GOAL, FALSE, request_id="twice")) == "request_id"
    assert await field(gate.client.check("import Mathlib")) == "source line 1"
    for url in ("localhost:8000", "ftp://x", "http://"):
        with pytest.raises(InputError, match="url"):
            AsyncClusterClient(url)


async def test_a_key_that_is_not_known(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    settings, headers = keyed(tmp_path / "keys.json", "a")
    settings = GatewaySettings(port=0, api_keys=settings.api_keys)
    async with running(kernel, settings, headers["a"]["authorization"].removeprefix("Bearer ")) as gate:
        assert (await gate.client.score(GOAL, TRUE)).reward == 1.0
        async with AsyncClusterClient(gate.server.url) as stranger:
            with pytest.raises(InputError, match="api_key"):
                await stranger.score(GOAL, TRUE)


async def test_a_spent_cap_is_a_refusal(gate: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    async def spent(*_: object) -> object:
        raise CapReached("run r of client a", "kernel_s", 10.0, 9.5)

    monkeypatch.setattr(gate.backend, "judge", spent)
    with pytest.raises(CapReached) as caught:
        await gate.client.score(GOAL, TRUE)
    assert (caught.value.account, caught.value.cap, caught.value.limit, caught.value.spent) == (
        "run r of client a",
        "kernel_s",
        10.0,
        9.5,
    )


async def test_a_full_queue_is_waited_for_until_the_deadline(kernel: EmbeddedKernel) -> None:
    async with running(kernel, GatewaySettings(port=0, max_open=1)) as gate:
        slow = asyncio.create_task(gate.client.score(GOAL, ENDLESS, budgets=Budgets(verify_timeout_s=4.0)))
        await until(lambda: gate.backend.running)
        with pytest.raises(QueueFull) as caught:
            await gate.client.score(GOAL, TRUE, deadline_s=0.5)
        assert caught.value.queue_length == 1
        assert (await gate.client.score(GOAL, TRUE)).reward == 1.0
        assert (await slow).status is Status.PLAN_INVALID


async def test_trouble_passes_or_is_told_as_trouble(gate: Running) -> None:
    gate.backend.down = "the node is gone"
    task = asyncio.create_task(gate.client.score(GOAL, TRUE))
    await until(lambda: gate.backend.refused)
    gate.backend.down = None
    assert (await task).reward == 1.0
    gate.backend.down = "the node is gone"
    impatient = AsyncClusterClient(gate.server.url, patience=RetryPolicy(attempts=1))
    with pytest.raises(KernelUnavailable, match="the node is gone"):
        await impatient.score(GOAL, TRUE)
    await impatient.aclose()


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def misbehaving(handle: Handler) -> AsyncIterator[str]:
    """A TCP server whose connections `handle` serves; it closes each afterwards."""

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handle(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def _exchange(url: str, reader: asyncio.StreamReader) -> bytes:
    """One request read from a client and passed on; the whole reply."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
    )
    upstream, sink = await asyncio.open_connection("127.0.0.1", int(url.rsplit(":", 1)[1]))
    sink.write(head + await reader.readexactly(length))
    reply = await upstream.readuntil(b"\r\n\r\n")
    size = next(int(line.split(b":")[1]) for line in reply.lower().split(b"\r\n") if line.startswith(b"content-length"))
    reply += await upstream.readexactly(size)
    sink.close()
    return reply


async def test_a_reply_that_is_lost_is_asked_for_again_and_nothing_runs_twice(gate: Running) -> None:
    connections = 0

    async def lossy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        mine = connections
        reply = await _exchange(gate.server.url, reader)
        # Nothing at all, half of the head, half of the body, all of it.
        writer.write(reply[: (0, 20, len(reply) - 10, len(reply))[mine - 1]])
        await writer.drain()

    async with misbehaving(lossy) as url, AsyncClusterClient(url, patience=QUICK) as client:
        assert (await client.score(GOAL, TRUE)).reward == 1.0
    assert (connections, gate.backend.judged) == (4, 1)


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nsorr",
        b"HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 7\r\n\r\n<login>",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]",
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ],
)
async def test_a_server_that_is_none_brings_no_verdict(reply: bytes) -> None:
    asked = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()

    async with misbehaving(serve) as url, AsyncClusterClient(url, patience=QUICK) as client:
        with pytest.raises(KernelUnavailable, match="gateway"):
            await client.score(GOAL, TRUE)
    assert asked == QUICK.attempts


NO_VERDICTS: dict[str, dict[str, Any]] = {
    "another goal's": {"goal_id": "another"},
    "a reward of another status": {"status": "plan_invalid"},
    "verified by no kernel": {"kernel": None},
    "verified from unknown axioms": {"axioms": None},
    "numbers that are none": {"plan_stats": {"plan_x": "1"}},
    "numbers that no float holds": {"plan_stats": {"plan_x": 10**400}},
    "attempts below zero": {"leaf_attempts_used": -1},
    "no stages": {"stages": None},
    "an unknown status": {"status": "fine"},
    "a field of another version": {"confidence": 0.9},
}


@pytest.mark.parametrize("case", [None, *NO_VERDICTS])
async def test_a_reply_is_a_verdict_only_if_a_gateway_could_have_said_it(case: str | None) -> None:
    parts = {} if case is None else NO_VERDICTS[case]

    def replies(request: httpx.Request) -> httpx.Response:
        request_id = json.loads(request.content)["request_id"]
        text = reply_with_verdict(GOAL.id, request_id, **parts)
        return httpx.Response(200, content=text, headers={"content-type": "application/json"})

    async with AsyncClusterClient("http://x", patience=QUICK, transport=httpx.MockTransport(replies)) as client:
        if case is None:
            assert (await client.score(GOAL, TRUE)).reward == 1.0
        else:
            with pytest.raises(KernelUnavailable, match="not a gateway's"):
                await client.score(GOAL, TRUE)


@pytest.mark.parametrize(
    ("status", "media_type", "text"),
    [
        (200, "application/json", reply_with_verdict(GOAL.id, "another request's")),
        (206, "application/json", None),
        (200, "text/html", None),
        (302, "text/html", None),
        (200, "application/json", b"[" * 100_000),
        (200, "application/json", b'{"a":' * 100_000),
        (429, "application/json", b'{"queue_length": "long"}'),
        (429, "application/json", b'{"queue_length": 1' + b"0" * 400 + b"}"),
    ],
)
async def test_a_reply_that_is_not_to_the_request_is_asked_for_again(
    status: int, media_type: str, text: bytes | None
) -> None:
    asked = 0

    def replies(request: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        good = reply_with_verdict(GOAL.id, json.loads(request.content)["request_id"])
        if asked == 1:
            return httpx.Response(status, content=text or good, headers={"content-type": media_type})
        return httpx.Response(200, content=good, headers={"content-type": "application/json"})

    async with AsyncClusterClient("http://x", patience=QUICK, transport=httpx.MockTransport(replies)) as client:
        assert (await client.score(GOAL, TRUE)).reward == 1.0
    assert asked == 2


async def test_a_completion_of_control_characters_fits_the_body(gate: Running) -> None:
    result = await gate.client.score(GOAL, "\0" * 3_000_000)
    assert result.status is Status.FORMAT_ERROR


async def test_no_server_at_all() -> None:
    async with AsyncClusterClient("http://127.0.0.1:9", patience=QUICK) as client:
        with pytest.raises(KernelUnavailable, match="ConnectError"):
            await client.score(GOAL, TRUE)


async def test_the_blocking_client(gate: Running) -> None:
    def use() -> None:
        with ClusterClient(gate.server.url, patience=QUICK) as client:
            assert client.score(GOAL, TRUE).reward == 1.0
            assert client.check("#check Nat").messages[0].text == "Nat : Type"
            assert client.check_proof("True", "trivial").status is Status.VERIFIED
            requests = [ScoreRequest(f"s-{i}", GOAL, "no plan") for i in range(9)]
            got = {r.request_id: result.status for r, result in client.score_many(requests, max_in_flight=3)}
            assert got == dict.fromkeys((r.request_id for r in requests), Status.FORMAT_ERROR)
            results = client.score_many([ScoreRequest(f"e-{i}", GOAL, ENDLESS if i else "x") for i in range(4)])
            next(results)
            results.close()  # type: ignore[attr-defined]
            assert len(client.kernels()) == 1
            assert client.status()["client"] == "anonymous"
            with pytest.raises(InputError, match="max_in_flight"):
                next(client.score_many(requests, max_in_flight=0))

    await asyncio.to_thread(use)
    await until(lambda: not gate.backend.running)


def test_retry_after_is_kept_and_spread() -> None:
    policy = RetryPolicy(first_pause_s=1.0, longest_pause_s=8.0)
    assert all(0.5 <= pause_s(policy, 1, None) <= 1.0 for _ in range(50))
    assert all(4.0 <= pause_s(policy, 9, None) <= 8.0 for _ in range(50))
    pauses = [pause_s(policy, 1, 3.0) for _ in range(50)]
    assert all(3.0 <= pause <= 3.75 for pause in pauses)
    assert len(set(pauses)) > 10


def test_what_a_status_means() -> None:
    assert trouble_of(503, {}, "7").after_s == 7.0
    assert trouble_of(429, {"queue_length": 5, "retry_after_s": 2.5}, "3").after_s == 2.5
    assert not trouble_of(429, {}, None).counts
    assert not trouble_of(422, {"field": "goal.prop", "detail": "goal.prop: missing"}, None).again
    assert (
        str(trouble_of(422, {"field": "goal.prop", "detail": "goal.prop: missing"}, None).error) == "goal.prop: missing"
    )
    assert isinstance(trouble_of(418, {}, None).error, InputError)


def test_importing_the_clients_is_cheap() -> None:
    code = (
        "import sys, time; t = time.process_time(); from cluster.client import AsyncClusterClient, ClusterClient; "
        "print(time.process_time() - t, *(m for m in ('ray', 'verifiers', 'fastapi', 'pydantic') if m in sys.modules))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    assert min(float(run.stdout) for run in runs) < 0.3
