"""Four ways to have many small calls made by an actor: one call each, one streamed call a batch, an exchange, a line.

    python benchmarks/cluster_wire.py [--calls 3000] [--sleep-s 0]

An exchange is what `cluster.ways.CallWay` does: a call takes what is new there and brings back whatever is done. A line
is `cluster.line`, as `cluster.ways.LineWay` uses it. The work itself is nothing (or a sleep, two at a time), so that
what is measured is the way there and back: calls a second, the caller's CPU time a call, and the median latency.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import pickle
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import ray
import ray.util

from cluster.line import SECRET_BYTES, Address, Line, Listener, connect
from cluster.ray_session import open_session

TEXT = "x" * 800
WAYS = ("one by one", "streamed", "exchange", "line")


class Server:
    """Answers calls, in each of the four ways; it is the worker's end of the line."""

    def __init__(self, sleep_s: float) -> None:
        self._sleep_s = sleep_s
        self._slots = asyncio.Semaphore(2)
        self._answers: list[tuple[int, str]] = []
        self._running = 0
        self._news = asyncio.Event()
        self._listener = Listener()
        self._line: Line | None = None
        self._done: list[tuple[int, str]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, secret: bytes) -> Address:
        util: Any = ray.util
        address = await self._listener.start(util.get_node_ip_address())
        self._listener.expect("", secret, self)
        return address

    def opened(self, line: Line) -> None:
        self._line = line

    def took(self, frame: bytes | bytearray) -> None:
        for number, text in pickle.loads(frame):
            task = asyncio.create_task(self._on_line(number, text))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def broke(self, reason: str) -> None: ...

    async def _on_line(self, number: int, text: str) -> None:
        answer = await self.call(text)
        if not self._done:
            asyncio.get_running_loop().call_soon(self._push)
        self._done.append((number, answer))

    def _push(self) -> None:
        assert self._line is not None
        done, self._done = self._done, []
        self._line.send(pickle.dumps(done, pickle.HIGHEST_PROTOCOL))

    async def call(self, text: str) -> str:
        if self._sleep_s:
            async with self._slots:
                await asyncio.sleep(self._sleep_s)
        return text[:200]

    async def stream(self, batch: Sequence[tuple[int, str]]) -> AsyncIterator[list[tuple[int, str]]]:
        done: asyncio.Queue[tuple[int, str]] = asyncio.Queue()

        async def one(number: int, text: str) -> None:
            done.put_nowait((number, await self.call(text)))

        tasks = [asyncio.create_task(one(*item)) for item in batch]
        left = len(tasks)
        while left:
            ready = [await done.get()]
            while not done.empty():
                ready.append(done.get_nowait())
            left -= len(ready)
            yield ready

    async def exchange(self, batch: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
        async def one(number: int, text: str) -> None:
            self._answers.append((number, await self.call(text)))
            self._running -= 1
            self._news.set()

        self._running += len(batch)
        tasks = [asyncio.create_task(one(*item)) for item in batch]
        while not self._answers and self._running:
            self._news.clear()
            await self._news.wait()
        await asyncio.sleep(0)
        answers, self._answers = self._answers, []
        del tasks
        return answers


class Caller:
    """Makes calls with so many in flight, and counts; it is the scheduler's end of the line."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._numbers = itertools.count()
        self._futures: dict[int, asyncio.Future[str]] = {}
        self._outbox: list[tuple[int, str]] = []
        self._open = 0
        self._line: Line | None = None

    def opened(self, line: Line) -> None:
        self._line = line

    def took(self, frame: bytes | bytearray) -> None:
        self._settle(pickle.loads(frame))

    def broke(self, reason: str) -> None: ...

    async def measure(self, way: str, calls: int, in_flight: int) -> tuple[float, float, float]:
        """Calls a second, CPU microseconds a call, median milliseconds."""
        ways: dict[str, Callable[[], Awaitable[Any]]] = {
            "one by one": lambda: self._server.call.remote(TEXT),
            "streamed": lambda: self._batched(self._stream),
            "exchange": lambda: self._batched(self._exchange),
            "line": lambda: self._batched(self._by_line),
        }
        if way == "line" and self._line is None:
            secret = secrets.token_bytes(SECRET_BYTES)
            await connect(await self._server.listen.remote(secret), "", secret, self)
        room, latencies = asyncio.Semaphore(in_flight), []

        async def one() -> None:
            async with room:
                began = time.perf_counter()
                await ways[way]()
                latencies.append(time.perf_counter() - began)

        cpu, began = time.process_time(), time.perf_counter()
        await asyncio.gather(*(one() for _ in range(calls)))
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        return calls / wall, cpu / calls * 1e6, sorted(latencies)[calls // 2] * 1e3

    async def _batched(self, send: Callable[[list[tuple[int, str]]], Awaitable[None]]) -> str:
        number = next(self._numbers)
        future = self._futures[number] = asyncio.get_running_loop().create_future()
        if not self._outbox:
            asyncio.get_running_loop().call_soon(self._flush, send)
        self._outbox.append((number, TEXT))
        return await future

    def _flush(self, send: Callable[[list[tuple[int, str]]], Awaitable[None]]) -> None:
        batch, self._outbox = self._outbox, []
        future = asyncio.ensure_future(send(batch))
        future.add_done_callback(lambda done: done.result())

    async def _stream(self, batch: list[tuple[int, str]]) -> None:
        async for ref in self._server.stream.options(num_returns="streaming").remote(batch):
            self._settle(await ref)

    async def _exchange(self, batch: list[tuple[int, str]]) -> None:
        self._open += 1
        answers = await self._server.exchange.remote(batch)
        self._open -= 1
        self._settle(answers)
        if not self._open and self._futures and not self._outbox:
            await self._exchange([])

    async def _by_line(self, batch: list[tuple[int, str]]) -> None:
        assert self._line is not None
        self._line.send(pickle.dumps(batch, pickle.HIGHEST_PROTOCOL))

    def _settle(self, answers: list[tuple[int, str]]) -> None:
        for number, answer in answers:
            self._futures.pop(number).set_result(answer)


def main(calls: int, sleep_s: float) -> None:
    session = open_session(None, log_to_driver=False)
    try:
        server_class: Any = ray.remote(num_cpus=0, max_concurrency=2000)(Server)
        caller_class: Any = ray.remote(num_cpus=0)(Caller)
        print(f"{'in flight':>9}  {'way':10}  {'calls/s':>8}  {'CPU us':>7}  {'p50 ms':>7}")
        for in_flight in (1, 2, 4, 16, 64, 256):
            for way in WAYS:
                caller = caller_class.remote(server_class.remote(sleep_s))
                ray.get(caller.measure.remote(way, 20, 2))
                count = calls if in_flight > 1 else calls // 5
                rate, cpu, p50 = ray.get(caller.measure.remote(way, count, in_flight))
                print(f"{in_flight:9}  {way:10}  {rate:8.0f}  {cpu:7.0f}  {p50:7.2f}", flush=True)
    finally:
        session.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--sleep-s", type=float, default=0.0)
    arguments = parser.parse_args()
    main(arguments.calls, arguments.sleep_s)
