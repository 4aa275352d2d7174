"""One running image and the owner's end of its socket, for asyncio."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import rlmath
from rlmath.errors import KernelUnavailable
from rlmath.kernel.embedded import cgroup
from rlmath.kernel.embedded.isolation import Isolation
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.embedded.wire import JOB, FromImage, JobKind, Outcome, ToImage, frame, take_frames

START_TIMEOUT_S = 60.0
"""For the image to import the environment: 0.15 s on an idle machine."""
END_TIMEOUT_S = 5.0
"""For the image to end after its socket was closed, before it is killed."""

PYTHON_OPTIONS = ("-S", "-s", "-P", "-W", "ignore::DeprecationWarning")
"""No site packages and nothing from the working directory: the image needs the standard library and this package.
Python 3.12 warns of a fork beside other threads; Lean's event loop is one, idle, and the child does without it."""


IMAGE: tuple[str, ...] = ("-m", "rlmath.kernel.embedded.image")
"""What Python is to run as the image."""


class ImageLink(asyncio.Protocol):
    """The life of one image: `await start(...)`, any number of `submit`, `await close()`.

    The image ends when this end of the socket is closed, so also when this process dies. It is not tied to the thread
    that started it (PDEATHSIG would be): a link may be made in a thread that does not last.
    """

    def __init__(self, process: subprocess.Popen[bytes], on_lost: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        self.process = process
        self.alive = True
        self.isolation: Isolation | None = None
        self.warden_pid: int | None = None
        """Both are known once started."""
        self._on_lost = on_lost
        self._hello: asyncio.Future[None] = loop.create_future()
        self._pending: dict[int, asyncio.Future[Outcome]] = {}
        self._numbers = itertools.count(1)
        self._inbox = bytearray()
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def start(
        cls,
        *,
        library: Path,
        lean_path: Path,
        modules: tuple[str, ...],
        slots: int,
        limits: Limits,
        on_lost: Callable[[], None],
    ) -> ImageLink:
        """Start an image and wait until it has imported `modules`. Raises `KernelUnavailable`."""
        ours, theirs = socket.socketpair()
        try:
            process = _spawn(theirs, library, lean_path, modules, slots, limits)
        except OSError as error:
            ours.close()
            raise KernelUnavailable(f"cannot start the warm image: {error}") from error
        finally:
            theirs.close()
        link = cls(process, on_lost)
        try:
            await asyncio.get_running_loop().create_connection(lambda: link, sock=ours)
            async with asyncio.timeout(START_TIMEOUT_S):
                await link._hello
        except TimeoutError:
            await link.close()
            raise KernelUnavailable(f"the warm image was not ready after {START_TIMEOUT_S:.0f} s") from None
        except BaseException:
            await link.close()
            raise
        return link

    @property
    def in_flight(self) -> int:
        """Checks submitted and not answered."""
        return len(self._pending)

    async def submit(self, kind: JobKind, job: bytes, timeout_s: float) -> Outcome:
        """Have one job (see `JobKind`) done. Cancelling ends the check. Raises `KernelUnavailable` when the
        image dies."""
        if not self.alive or self._transport is None:
            raise KernelUnavailable("the warm image has died")
        number = next(self._numbers)
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._pending[number] = future
        self._transport.write(frame(ToImage.CHECK, number, JOB.pack(len(job), timeout_s, kind) + job))
        try:
            return await future
        except asyncio.CancelledError:
            if self.alive:
                self._transport.write(frame(ToImage.CANCEL, number))
            raise
        finally:
            self._pending.pop(number, None)

    async def close(self) -> None:
        """End the image and wait until it is gone; what is in flight raises `KernelUnavailable`."""
        if self._transport is not None:
            self._transport.abort()
        self._lost("the kernel was closed")
        await asyncio.to_thread(self._end_process)

    def _end_process(self) -> None:
        try:
            self.process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        cgroup.remove_left(self.process.pid)

    # -- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own kind is not a subclass

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._inbox += data
        try:
            for kind, check, payload in take_frames(self._inbox):
                self._receive(kind, check, payload)
        except (ValueError, KeyError, ArithmeticError) as error:
            self._lost(f"the warm image sent something unreadable: {error}")
            if self._transport is not None:
                self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        status = self.process.poll()
        self._lost("the warm image has died" + (f" (exit code {status})" if status is not None else ""))

    def _receive(self, kind: int, check: int, payload: bytes) -> None:
        if kind == FromImage.RESULT:
            future = self._pending.get(check)
            if future is not None and not future.done():
                future.set_result(Outcome.decode(payload))
        elif kind == FromImage.HELLO:
            said = json.loads(payload)
            self.isolation, self.warden_pid = Isolation.of(said["isolation"]), int(said["warden"])
            if not self._hello.done():
                self._hello.set_result(None)
        elif kind == FromImage.REFUSED:
            self._lost(payload.decode("utf-8", "replace"))

    def _lost(self, why: str) -> None:
        if not self.alive:
            return
        self.alive = False
        error = KernelUnavailable(why)
        waiting: list[asyncio.Future[Any]] = [self._hello, *self._pending.values()]
        for future in waiting:
            _fail(future, error)
        self._on_lost()


def _fail(future: asyncio.Future[Any], error: KernelUnavailable) -> None:
    """Let whoever waits for `future` have `error`; nobody may, when they are being cancelled, and that is no bug."""
    if not future.done():
        future.set_exception(error)
        future.exception()


def _spawn(
    theirs: socket.socket, library: Path, lean_path: Path, modules: tuple[str, ...], slots: int, limits: Limits
) -> subprocess.Popen[bytes]:
    fd = theirs.fileno()
    arguments = {
        "fd": fd,
        "owner": os.getpid(),
        "library": str(library),
        "modules": modules,
        "slots": slots,
        "limits": asdict(limits),
    }
    # Nothing of our own environment: what runs in a check's process could read it.
    environment = {
        "LEAN_PATH": str(lean_path),
        "LEAN_ABORT_ON_PANIC": "1",
        "LEAN_NUM_THREADS": "2",
        "UV_USE_IO_URING": "0",
        "LD_BIND_NOW": "1",  # else each child looks up anew every function that it calls first
        "PYTHONPATH": str(Path(rlmath.__file__).parents[1]),
        "PYTHONHASHSEED": "0",
        "LC_ALL": "C.UTF-8",
    }
    return subprocess.Popen(
        [sys.executable, *PYTHON_OPTIONS, *IMAGE, json.dumps(arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=environment,
        pass_fds=[fd],
        start_new_session=True,
    )
