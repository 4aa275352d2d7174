"""The gateway's figures, each beside a reference in the same run.

    python benchmarks/gateway.py [--slots 2] [--only cached,latency,batch,load] [--scores 10000] [--clients 200]
    python benchmarks/gateway.py --only kimina          (starts the published Kimina server; or --kimina URL of one)

    cached    a verdict that is known, at 64 connections, beside a bare uvicorn that answers `{}` (requests/s)
    latency   the p50 of a score at 16 in flight over HTTP, beside the same through the cluster's own client
    batch     1,000 tiny proofs in one NDJSON batch, beside the same through the cluster's own client (ratio of rates)
    load      many clients, scores of mixed kinds: how many were lost, doubled or wrong, and the server's memory
    kimina    `/api/check` at 32 in flight and with one client, beside a Kimina server over the same kernel

Every check is another text, so that no cache helps, but where a cached verdict is what is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import multiprocessing
import os
import shutil
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ray
import uvicorn
from peer_contestants import environment, kimina_server

from cluster.api import ScoreRequest
from cluster.local import LocalCluster
from rlmath.kernel.embedded.build import cache_directory
from rlmath.types import Budgets, GoalSpec, Status

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "kernels"))
from kernel_kit import make_workspace

NUMBERS = itertools.count(1_000)
KINDS: tuple[tuple[str, Status], ...] = (
    ("#assembly\nintro n\nexact Nat.add_comm n {i}\n#end\n", Status.VERIFIED),
    ("#lemma h1 : ∀ n : Nat, n + {i} = {i} + n\n#assembly\nexact h1\n#end\n", Status.VERIFIED),
    ("I would say {i}.\n", Status.FORMAT_ERROR),
    ("#assembly\nintro n\nexact absurd n {i}\n#end\n", Status.PLAN_INVALID),
    ("#lemma h1 : ∀ n : Nat, n + zero = {i}\n#assembly\nexact h1\n#end\n", Status.STATEMENT_ILL_FORMED),
    ("#assembly\nsorry -- {i}\n#end\n", Status.SANITIZER_REJECTED),
)
"""Completion and its verdict, for the goal `∀ n : Nat, n + i = i + n`."""


def work(kind: int | None = None) -> tuple[dict[str, Any], Status]:
    """A body of `/v1/score` that nothing has asked before, and its verdict."""
    i = next(NUMBERS)
    completion, status = KINDS[i % len(KINDS) if kind is None else kind]
    goal = {"id": f"comm-{i}", "prop": f"∀ n : Nat, n + {i} = {i} + n"}
    return {"goal": goal, "completion": completion.replace("{i}", str(i)), "request_id": f"bench-{i}"}, status


def as_request(body: dict[str, Any]) -> ScoreRequest:
    """The same for the cluster's own client."""
    goal = GoalSpec(body["goal"]["id"], body["goal"]["prop"])
    return ScoreRequest(body["request_id"], goal, body["completion"], Budgets())


class Connection:
    """One keep-alive connection: the least that a client can cost."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, url: str) -> Connection:
        host, port = url.removeprefix("http://").split(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def post(self, path: str, body: bytes, kind: str = "application/json") -> tuple[int, bytes]:
        lines = [f"POST {path} HTTP/1.1", "host: localhost", f"content-type: {kind}", f"content-length: {len(body)}"]
        self._writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        reply = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        if b"transfer-encoding: chunked" not in reply:
            length = int(reply.split(b"content-length:")[1].split(b"\r\n")[0])
            return int(reply[9:12]), await self._reader.readexactly(length)
        whole = b""
        while size := int(await self._reader.readline(), 16):
            whole += await self._reader.readexactly(size)
            await self._reader.readline()
        await self._reader.readline()
        return int(reply[9:12]), whole

    def close(self) -> None:
        self._writer.close()


async def drive(url: str, path: str, bodies: Sequence[bytes], in_flight: int) -> tuple[float, list[float]]:
    """Post every body over so many connections; posts a second, and each one's seconds."""
    connections = [await Connection.open(url) for _ in range(in_flight)]
    left, took = iter(bodies), list[float]()

    async def use(connection: Connection) -> None:
        for body in left:
            began = time.perf_counter()
            status, reply = await connection.post(path, body)
            took.append(time.perf_counter() - began)
            assert status == 200, reply[:300]

    began = time.perf_counter()
    await asyncio.gather(*map(use, connections))
    elapsed = time.perf_counter() - began
    for connection in connections:
        connection.close()
    return len(bodies) / elapsed, took


def ms(seconds: Sequence[float], share: float = 0.5) -> float:
    """A quantile in milliseconds."""
    return sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))] * 1e3


def _bare(port: int) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})

    uvicorn.run(app, port=port, log_level="error", access_log=False, http="httptools", lifespan="off")


async def cached(cluster: LocalCluster, rounds: int) -> None:
    """A verdict that is known."""
    port = 18_231
    bare = multiprocessing.get_context("spawn").Process(target=_bare, args=(port,), daemon=True)
    bare.start()
    body = json.dumps(work(1)[0]).encode()
    await drive(cluster.url, "/v1/score", [body], 1)
    for _ in range(300):
        try:
            await drive(f"http://127.0.0.1:{port}", "/", [body], 1)
            break
        except OSError:
            await asyncio.sleep(0.1)
    try:
        for _ in range(rounds):
            reference, _ = await drive(f"http://127.0.0.1:{port}", "/", [body] * 6_000, 64)
            rate, took = await drive(cluster.url, "/v1/score", [body] * 6_000, 64)
            print(
                f"cached: {rate:.0f}/s at 64 connections (p50 {ms(took):.1f} ms, p99 {ms(took, 0.99):.1f} ms); "
                f"bare uvicorn {reference:.0f}/s; ratio {rate / reference:.2f}",
                flush=True,
            )
    finally:
        bare.kill()
        bare.join()


async def in_process(
    cluster: LocalCluster, bodies: Sequence[dict[str, Any]], in_flight: int
) -> tuple[float, list[float]]:
    """The same through the cluster's own client."""
    left, took = iter(bodies), list[float]()

    async def use() -> None:
        for body in left:
            began = time.perf_counter()
            result = await cluster.client.score(as_request(body))
            took.append(time.perf_counter() - began)
            assert result.status is Status.VERIFIED, str(result)

    began = time.perf_counter()
    await asyncio.gather(*(use() for _ in range(in_flight)))
    return len(bodies) / (time.perf_counter() - began), took


async def latency(cluster: LocalCluster, rounds: int) -> None:
    """What HTTP adds at 16 in flight, and with one caller."""
    for in_flight, count in ((16, 200), (1, 60)):
        added = []
        for _ in range(rounds):
            _, here = await in_process(cluster, [work(0)[0] for _ in range(count)], in_flight)
            bodies = [json.dumps(work(0)[0]).encode() for _ in range(count)]
            _, there = await drive(cluster.url, "/v1/score", bodies, in_flight)
            added.append(ms(there) - ms(here))
            print(f"latency at {in_flight}: p50 {ms(there):.1f} ms over HTTP, {ms(here):.1f} ms in process", flush=True)
        print(f"latency at {in_flight}: HTTP adds {statistics.median(added):+.1f} ms to the p50 (median)", flush=True)


async def batch(cluster: LocalCluster, rounds: int) -> None:
    """1,000 tiny proofs in one call."""
    ratios = []
    for _ in range(rounds):
        here, _ = await in_process(cluster, [work(0)[0] for _ in range(1_000)], 64)
        lines = b"\n".join(json.dumps(work(0)[0]).encode() for _ in range(1_000))
        connection = await Connection.open(cluster.url)
        began = time.perf_counter()
        status, reply = await connection.post("/v1/score/batch", lines, "application/x-ndjson")
        there = 1_000 / (time.perf_counter() - began)
        connection.close()
        end = json.loads(reply.splitlines()[-1])["end"]
        assert (status, end) == (200, {"items": 1_000, "verdicts": 1_000, "problems": 0}), end
        ratios.append(there / here)
        print(f"batch of 1,000: {there:.1f}/s over HTTP, {here:.1f}/s in process; ratio {there / here:.2f}", flush=True)
    print(f"batch of 1,000: ratio {statistics.median(ratios):.2f} (median of {rounds})", flush=True)


def resident(pid: int) -> float:
    """MiB of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


async def load(cluster: LocalCluster, scores: int, clients: int) -> None:
    """Many clients at once, scores of all kinds; a tenth of them are asked twice."""
    scheduler = ray.get_actor("scheduler", namespace=cluster.namespace)
    pid = await scheduler.__ray_call__.remote(lambda _: os.getpid())
    asked = [work() for _ in range(scores)]
    expected = {body["request_id"]: status for body, status in asked}
    doubled = [pair for number, pair in enumerate(asked) if number % 10 == 0]
    left = iter([*asked, *doubled])
    got: dict[str, set[str]] = {}
    sizes = [resident(pid)]
    done_before = (await cluster.client.status()).requests_done

    async def use() -> None:
        connection = await Connection.open(cluster.url)
        for body, _ in left:
            status, reply = await connection.post("/v1/score", json.dumps({**body, "wait_s": 600.0}).encode())
            assert status == 200, reply[:300]
            got.setdefault(body["request_id"], set()).add(json.loads(reply)["result"]["status"])
        connection.close()

    async def watch() -> None:
        while True:
            await asyncio.sleep(1)
            sizes.append(resident(pid))

    watching = asyncio.create_task(watch())
    began = time.perf_counter()
    await asyncio.gather(*(use() for _ in range(clients)))
    elapsed = time.perf_counter() - began
    watching.cancel()
    lost = expected.keys() - got.keys()
    wrong = [request_id for request_id, statuses in got.items() if statuses != {expected[request_id].value}]
    ran = (await cluster.client.status()).requests_done - done_before
    kinds = Counter(status.value for status in expected.values())
    print(
        f"load: {scores} scores ({len(doubled)} asked twice) of {clients} clients in {elapsed:.0f} s "
        f"({scores / elapsed:.0f}/s): {len(lost)} lost, {ran - scores} doubled, {len(wrong)} wrong; {dict(kinds)}",
        f"load: the server's memory {sizes[0]:.0f} MiB before, {max(sizes):.0f} at most, {sizes[-1]:.0f} after",
        sep="\n",
        flush=True,
    )


async def kimina(cluster: LocalCluster, peer: str, rounds: int) -> None:
    """`/api/check`, one snippet a call, on both servers by turns."""

    def bodies(count: int) -> list[bytes]:
        texts = [
            f"import Init\ntheorem t : {i} + 0 = {i} := rfl\n#print axioms t" for i in itertools.islice(NUMBERS, count)
        ]
        return [json.dumps({"snippets": [{"id": "s", "code": text}]}).encode() for text in texts]

    for url in (peer, cluster.url):
        await drive(url, "/api/check", bodies(8), 2)
    for in_flight, count in ((32, 300), (1, 60)):
        for _ in range(rounds):
            theirs, slow = await drive(peer, "/api/check", bodies(count), in_flight)
            ours, quick = await drive(cluster.url, "/api/check", bodies(count), in_flight)
            print(
                f"kimina at {in_flight}: rlmath {ours:.1f}/s p50 {ms(quick):.1f} ms, "
                f"Kimina {theirs:.1f}/s p50 {ms(slow):.1f} ms; {ours / theirs:.2f} times the rate, "
                f"{ms(quick) / ms(slow):.2f} of the latency",
                flush=True,
            )


async def beside_kimina(cluster: LocalCluster, arguments: argparse.Namespace) -> None:
    """Against a server that runs, or one that is started on the same kernel."""
    if arguments.kimina:
        await kimina(cluster, arguments.kimina, arguments.rounds)
        return
    cache = cache_directory() / "peers"
    root = cache / f"workspace-{os.getpid()}"
    try:
        with kimina_server(environment(cache, "kimina"), make_workspace(root), arguments.slots) as (url, _):
            await kimina(cluster, url, arguments.rounds)
    finally:
        shutil.rmtree(root, ignore_errors=True)


async def run(arguments: argparse.Namespace, cluster: LocalCluster) -> None:
    """Every measure that is wanted."""
    measures: dict[str, Callable[[], Any]] = {
        "cached": lambda: cached(cluster, arguments.rounds),
        "latency": lambda: latency(cluster, arguments.rounds),
        "batch": lambda: batch(cluster, arguments.rounds),
        "load": lambda: load(cluster, arguments.scores, arguments.clients),
        "kimina": lambda: beside_kimina(cluster, arguments),
    }
    wanted = arguments.only.split(",") if arguments.only else list(measures)
    await drive(cluster.url, "/v1/score", [json.dumps(work(0)[0]).encode() for _ in range(20)], 2)
    for name in wanted:
        await measures[name]()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", metavar="NAMES")
    parser.add_argument("--scores", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--kimina", metavar="URL")
    given = parser.parse_args()
    with LocalCluster(slots=given.slots, serve=True) as started:
        asyncio.run(run(given, started))
