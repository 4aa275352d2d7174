"""One process that speaks the JSON protocol of leanprover-community/repl, and a wire that is believed only as long as
nothing about it is odd.

Whatever is odd ends the process: bytes when none were asked for, a reply that is not one JSON object up to its blank
line, bytes after it, a closed pipe. Standard error is read all the time, so that a process which fills it does not
stall. Nobody waits for a pipe to be closed, so that a descendant which holds it open costs nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rlmath.errors import KernelUnavailable
from rlmath.kernel.process_tree import kill_tree, resident_bytes

LONGEST_REPLY: Final = 64 << 20
"""Bytes of one reply; a longer one is odd."""
STDERR_KEPT: Final = 1 << 14
"""Bytes of standard error that are kept to tell why a process died."""
REAP_TIMEOUT_S: Final = 5.0
"""For a killed process to be gone."""
LAST_WORDS_S: Final = 1.0
"""For a process that closed its pipe to end, so that its exit code can be told."""
END: Final = b"\n\n"


class WireDoubt(Exception):
    """Something about the wire was odd: nothing that came over it counts."""


class ProcessEnded(Exception):
    """The process ended while a reply was waited for."""

    def __init__(self, code: int | None, stderr: str) -> None:
        """`code`: its exit code, negative for a signal, None when it is not known. `stderr`: the end of what it
        wrote."""
        super().__init__(code, stderr)
        self.code = code
        self.stderr = stderr


class ReplProcess:
    """A running process. `await request(…)` any number of times, one at a time; `await kill()` at the end."""

    def __init__(self, argv: Sequence[str], *, cwd: str, environment: Mapping[str, str], memory_bytes: int) -> None:
        """Start it, in a session of its own. `memory_bytes`: limit of its address space, 0 for none. Raises
        `KernelUnavailable` when it cannot be started. Belongs to the running event loop."""
        self._loop = asyncio.get_running_loop()
        limited = ["/bin/sh", "-c", 'ulimit -v "$0" && exec "$@"', str(memory_bytes >> 10)] if memory_bytes else []
        try:
            self._process = subprocess.Popen(
                [*limited, *argv],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=dict(environment),
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise KernelUnavailable(f"cannot start {argv[0]}: {error}") from None
        process = self._process
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise KernelUnavailable(f"{argv[0]} was started without pipes")
        self._stdin, self._stdout, self._stderr = (
            pipe.fileno() for pipe in (process.stdin, process.stdout, process.stderr)
        )
        for fd in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(fd, False)
        self._said = bytearray()
        self._inbox = bytearray()
        self._outbox = memoryview(b"")
        self._waiting: asyncio.Future[bytes] | None = None
        self._failure: WireDoubt | ProcessEnded | None = None
        self._killed = False
        self._loop.add_reader(self._stdout, self._on_stdout)
        self._loop.add_reader(self._stderr, self._on_stderr)

    @property
    def pid(self) -> int:
        """Of the process that was started; what speaks may be a child of it."""
        return self._process.pid

    @property
    def usable(self) -> bool:
        """Whether it may be asked once more: it runs, and nothing odd happened."""
        return not self._killed and self._failure is None and self._process.poll() is None

    def resident_bytes(self) -> int:
        """Resident memory of it and its descendants; 0 when it is gone."""
        return resident_bytes(self.pid)

    async def request(self, message: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send a request and return its reply. Raises TimeoutError, `WireDoubt` or `ProcessEnded`; after any of them,
        or a cancellation, the process must be killed."""
        if self._waiting is not None:
            raise RuntimeError("one request at a time")
        if self._failure is not None:
            raise self._failure
        if self._killed:
            raise WireDoubt("the process was killed")
        self._waiting = self._loop.create_future()
        try:
            self._outbox = memoryview(json.dumps(message, ensure_ascii=False).encode("utf-8") + END)
            self._write()
            async with asyncio.timeout(timeout_s):
                raw = await self._waiting
        finally:
            self._waiting = None
        try:
            reply = json.loads(raw)
        except ValueError:
            raise self._doubt(f"it wrote something that is no reply: {raw[:200]!r}") from None
        if not isinstance(reply, dict):
            raise self._doubt(f"it wrote something that is no reply: {raw[:200]!r}")
        return reply

    async def kill(self) -> None:
        """Kill it and all its descendants, and wait until it is reaped. May be called again."""
        if self._killed:
            return
        self._killed = True
        self._stop_watching()
        kill_tree(self.pid)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, REAP_TIMEOUT_S)

    # -- the pipes

    def _write(self) -> None:
        try:
            self._outbox = self._outbox[os.write(self._stdin, self._outbox) :]
        except BlockingIOError:
            pass
        except OSError:
            self._outbox = memoryview(b"")  # it has ended: the end of its standard output says so
        if self._outbox:
            self._loop.add_writer(self._stdin, self._write)
        else:
            self._loop.remove_writer(self._stdin)

    def _on_stdout(self) -> None:
        try:
            data = os.read(self._stdout, 1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._stdout)
            self._loop.create_task(self._tell_end())
            return
        self._inbox += data
        if self._waiting is None or self._waiting.done():
            self._doubt(f"it wrote without being asked: {bytes(self._inbox[:200])!r}")
        elif len(self._inbox) > LONGEST_REPLY:
            self._doubt(f"its reply is longer than {LONGEST_REPLY} bytes")
        elif (end := self._inbox.find(END, max(len(self._inbox) - len(data) - 1, 0))) >= 0:
            if len(self._inbox) > end + len(END):
                self._doubt(f"it wrote more than one reply: {bytes(self._inbox[end : end + 200])!r}")
            else:
                self._waiting.set_result(bytes(self._inbox))
                self._inbox.clear()

    def _on_stderr(self) -> None:
        try:
            data = os.read(self._stderr, 1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._stderr)
        self._said += data
        del self._said[:-STDERR_KEPT]

    async def _tell_end(self) -> None:
        """Its standard output is closed: once it has ended, or has not for a while, tell whoever waits."""
        try:
            code = await asyncio.to_thread(self._process.wait, LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            code = None
        if not self._killed:
            self._on_stderr()
        self._fail(ProcessEnded(code, self._said.decode("utf-8", "replace")))

    def _doubt(self, why: str) -> WireDoubt:
        doubt = WireDoubt(why)
        self._fail(doubt)
        return doubt

    def _fail(self, failure: WireDoubt | ProcessEnded) -> None:
        self._failure = self._failure or failure
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(failure)

    def _stop_watching(self) -> None:
        self._loop.remove_reader(self._stdout)
        self._loop.remove_reader(self._stderr)
        self._loop.remove_writer(self._stdin)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(WireDoubt("the process was killed"))
