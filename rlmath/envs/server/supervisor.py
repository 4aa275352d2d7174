"""The environment server's processes and sockets, around `broker.Broker`.

One process listens for clients and passes messages on; workers run the rollouts, each `serve_env` of verifiers in a
process of its own. A worker that dies is replaced, and what it had is answered with an error.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import zmq
import zmq.asyncio

from cluster.retry import RetryPolicy
from rlmath.envs.server.broker import Broker, Output, ToClient, ToWorker
from rlmath.envs.server.config import ElasticPool, EnvServerConfig
from rlmath.envs.server.wire import Wire, pack, spoken_wire
from rlmath.envs.server.worker import BAD_JOB, Job
from rlmath.errors import InputError, Unavailable

RESTART = RetryPolicy(attempts=3, first_pause_s=0.5, longest_pause_s=30.0)
"""Pauses between a worker's deaths, and how many of them before the first worker was ever ready mean that none can
be."""
STOP_S = 10.0
"""For a worker to end by itself."""
LAST_BYTES_S = 2.0
"""For replies that are on their way to clients when the server ends."""
LAST_REPLIES_MS = 200
"""For replies that a worker sent before it died."""
READY = b"ready"
"""Id of the request whose answer says that a worker serves."""


class Supervisor:
    """One environment server. Belongs to the event loop that runs it."""

    def __init__(self, config: EnvServerConfig, wire: Wire, *, grace_s: float, tell: Callable[[str], None]) -> None:
        """`config`: one without `[cluster]`. `grace_s`: for rollouts to end at a stop. `tell`: lines for the
        operator."""
        self._config = config
        self._wire = wire
        self._grace_s = grace_s
        self._tell = tell
        self._broker = Broker(wire)
        self._context = zmq.asyncio.Context()
        self._clients: zmq.asyncio.Socket = self._socket(zmq.ROUTER)
        self._workers: dict[int, zmq.asyncio.Socket] = {}
        self._keeping: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count()
        self._ever_ready = asyncio.Event()
        self._changed = asyncio.Event()
        self._folder = ""

    async def run(self, stop: asyncio.Event, at_once: asyncio.Event) -> None:
        """Serve until `stop`; then let rollouts end for `grace_s`, or until `at_once`.

        Raises `InputError` for an address that cannot be listened at and for an environment that verifiers refuses,
        `Unavailable` when no worker could start.
        """
        address = self._listen()
        with tempfile.TemporaryDirectory(prefix="rlmath-env-", ignore_cleanup_errors=True) as self._folder:
            stopped = asyncio.create_task(stop.wait())
            receiving = asyncio.create_task(self._receive())
            announcing = asyncio.create_task(self._announce(address))
            pool = self._config.serve.pool
            for _ in range(1 if isinstance(pool, ElasticPool) else pool.num_workers):
                self._add_worker()
            try:
                while not stopped.done():
                    watched = {stopped, receiving, *self._keeping}
                    done, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED, timeout=1.0)
                    for task in done - {stopped}:
                        task.result()  # such a task ends only by its failure
                await self._finish(at_once)
            finally:
                await self._do(self._broker.end("the env server has stopped: the rollout was not finished"))
                tasks = [stopped, announcing, receiving, *self._keeping]
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                self._clients.close(linger=int(LAST_BYTES_S * 1e3))
                await asyncio.to_thread(self._context.term)

    def _listen(self) -> str:
        self._clients.setsockopt(zmq.ROUTER_MANDATORY, 1)
        address = self._config.serve.address
        try:
            self._clients.bind(address)
        except zmq.ZMQError as error:
            self._clients.close(linger=0)
            self._context.term()
            raise InputError("serve.address", f"cannot listen at {address}: {os.strerror(error.errno or 0)}") from None
        return self._clients.getsockopt_string(zmq.LAST_ENDPOINT)

    async def _announce(self, address: str) -> None:
        await self._ever_ready.wait()
        workers = len(self._keeping)
        self._tell(f"serving at {address}: verifiers {self._wire.release}, {workers} worker{'s' * (workers != 1)}")

    async def _finish(self, at_once: asyncio.Event) -> None:
        """Let what runs come to its end."""
        await self._do(self._broker.drain("the env server is shutting down: nothing was run"))
        self._tell(f"stopping; rollouts under way are finished first: {self._broker.open}")
        hurried = asyncio.create_task(at_once.wait())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._grace_s):
                while self._broker.open and not hurried.done():
                    self._changed.clear()
                    changed = asyncio.create_task(self._changed.wait())
                    await asyncio.wait({hurried, changed}, return_when=asyncio.FIRST_COMPLETED)
                    changed.cancel()
        hurried.cancel()

    async def _receive(self) -> None:
        while True:
            frames = await self._clients.recv_multipart()
            await self._do(self._broker.received(frames))
            pool = self._config.serve.pool
            if isinstance(pool, ElasticPool):
                count = len(self._keeping)
                room = pool.max_workers is None or count < pool.max_workers
                if room and self._broker.wants_worker(count, pool.multiplex):
                    self._tell(f"{self._broker.open} rollouts under way: starting worker {count + 1}")
                    self._add_worker()

    async def _do(self, outputs: Sequence[Output]) -> None:
        for output in outputs:
            match output:
                case ToClient(client, frames):
                    with contextlib.suppress(zmq.ZMQError):  # a client that is gone
                        await self._clients.send_multipart([client, *frames], copy=False)
                case ToWorker(worker, frames):
                    await self._workers[worker].send_multipart(frames, copy=False)
                case _:
                    self._tell(output.text)
        self._changed.set()

    def _add_worker(self) -> None:
        self._keeping.add(asyncio.create_task(self._keep()))

    async def _keep(self) -> None:
        """One worker, again and again."""
        deaths = 0
        while True:
            number = next(self._numbers)
            address = f"ipc://{Path(self._folder) / str(number)}"
            process = await _spawn(self._config, address)
            dealer = self._workers[number] = self._socket(zmq.DEALER)
            dealer.connect(address)
            try:
                if await self._becomes_ready(process, dealer):
                    deaths = 0
                    self._ever_ready.set()
                    await self._do(self._broker.worker_ready(number))
                    await self._relay(number, process, dealer)
                deaths += 1
                how = _how_ended(await process.wait())
                if not self._ever_ready.is_set() and deaths >= RESTART.attempts:
                    raise Unavailable(f"no worker could start: {deaths} times in a row one {how}")
                self._tell(f"a worker {how}; it is started again")
                await self._do(self._broker.worker_lost(number, f"the env server's worker {how}: run it again"))
            finally:
                del self._workers[number]
                dealer.close(linger=0)
                await _end(process)
            await asyncio.sleep(RESTART.pause_s(deaths))

    async def _becomes_ready(self, process: asyncio.subprocess.Process, dealer: zmq.asyncio.Socket) -> bool:
        """Wait until a worker answers; False when it ended instead. Raises `InputError` for what it cannot serve."""
        await dealer.send_multipart([READY, b"health", pack({})])
        ended = asyncio.create_task(process.wait())
        while not ended.done():
            if not await dealer.poll(100):
                continue
            frames = await dealer.recv_multipart()
            if spoken_wire(frames) != self._wire:
                raise Unavailable(
                    f"the worker does not speak the wire of verifiers {self._wire.release}, which is installed here"
                )
            ended.cancel()
            return True
        if (refused := await _refusal(process)) is not None:
            if not self._ever_ready.is_set():
                raise refused
            self._tell(str(refused))  # of what was served before: somebody is changing the installation
        return False

    async def _relay(self, number: int, process: asyncio.subprocess.Process, dealer: zmq.asyncio.Socket) -> None:
        """Pass on what a worker says, until its end."""

        async def relay() -> None:
            while True:
                await self._do(self._broker.replied(number, await dealer.recv_multipart()))

        relaying, ended = asyncio.create_task(relay()), asyncio.create_task(process.wait())
        try:
            await asyncio.wait({relaying, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            relaying.cancel()
            ended.cancel()
            await asyncio.gather(relaying, return_exceptions=True)
        while await dealer.poll(LAST_REPLIES_MS):
            await self._do(self._broker.replied(number, await dealer.recv_multipart()))

    def _socket(self, kind: int) -> zmq.asyncio.Socket:
        socket = self._context.socket(kind)
        for queue in (zmq.SNDHWM, zmq.RCVHWM):
            socket.setsockopt(queue, 0)  # a message that is dropped would be a request that is never answered
        return socket


async def check_environment(config: EnvServerConfig) -> None:
    """Have a process of its own see whether verifiers takes the environment: importing verifiers takes seconds. Raises
    `InputError` when it does not. What else fails shows again when it is to be served.
    """
    process = await _spawn(config, None)
    try:
        await process.wait()
        if (refused := await _refusal(process)) is not None:
            raise refused
    finally:
        await _end(process)


async def _spawn(config: EnvServerConfig, address: str | None) -> asyncio.subprocess.Process:
    job = Job(config.env, address, config.serve.max_concurrent, config.log.level)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "rlmath.envs.server.worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # the terminal's interrupt is for the supervisor alone
    )
    assert process.stdin is not None
    with contextlib.suppress(ConnectionError):  # its end is seen by whoever waits for it
        process.stdin.write(job.line())
        await process.stdin.drain()
    return process


async def _refusal(process: asyncio.subprocess.Process) -> InputError | None:
    """What a worker that has ended says against its job."""
    if process.returncode == BAD_JOB and process.stdout is not None and (line := await process.stdout.readline()):
        return InputError(**json.loads(line))
    return None


def _how_ended(code: int) -> str:
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a worker and all that it started."""
    if process.returncode is None:
        process.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_S):
                await process.wait()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
