"""The loop of `rlmath repl`: requests in, replies out, one at a time, and the tree of environments behind it.

Every environment stays usable for as long as the server runs, but only the last ones keep their process: an older one
is made again from its text, on the environment it was built on, when it is asked for. So memory stays bounded however
many commands there are.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TextIO

import rlmath
from rlmath.errors import KernelUnavailable
from rlmath.header import EMBEDDED_MODULES, split_header
from rlmath.kernel.embedded.build import Prelude
from rlmath.kernel.embedded.limits import Limits
from rlmath.repl.environment import ANSWER, ASK, Ask, Job, receive
from rlmath.repl.protocol import BadRequest, Command, command_reply, encode_reply, parse_request, requests

LIVE: Final = 64
"""Environments that keep their process."""
START_TIMEOUT_S: Final = 60.0
"""For the first process to import the prelude: 0.15 s on an idle machine."""
LONGEST_REPORT: Final = 64 << 20
"""Bytes that a command may report."""


class CommandDied(Exception):
    """The process of a new environment came to its end before it was one. Its argument says how."""


@dataclass(eq=False)
class Process:
    """An environment's process and our end of its socket."""

    link: socket.socket
    pid: int


@dataclass(frozen=True, eq=False)
class Environment:
    """How an environment comes to be."""

    base: Environment | None
    """What it was built on; None: a new session."""
    job: Job


class Session:
    """A running REPL: use as a context manager. Not thread-safe."""

    def __init__(self, prelude: Prelude, *, memory_bytes: int, live: int = LIVE) -> None:
        """`memory_bytes`: address space that a command may add to the prelude's. `live`: environments that keep their
        process. Raises `KernelUnavailable` when the prelude cannot be imported."""
        self._live = live
        self._known: list[Environment] = []
        self._processes: OrderedDict[Environment, Process] = OrderedDict()
        """Those that have one, the least recently used first."""
        self._first, self._child = _start(prelude, memory_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in (*self._processes.values(), self._first):
            process.link.close()
        self._child.kill()
        self._child.wait()

    @property
    def pid(self) -> int:
        """Of the first process, from which all others descend."""
        return self._child.pid

    def answer(self, request: str) -> dict[str, Any]:
        """The reply to one request. Raises `KernelUnavailable` when the first process has died."""
        try:
            command = parse_request(request)
            base = self._base(command)
            text = command.text if command.text is not None else _read(command.path or "")
            environment = Environment(base, Job(_body(text) if base is None else text, command.options))
            report = json.loads(self._run(environment))
        except (BadRequest, CommandDied) as problem:
            return {"message": str(problem)}
        self._known.append(environment)
        return command_reply(len(self._known) - 1, report["messages"], report["sorries"])

    def _base(self, command: Command) -> Environment | None:
        if command.environment is None:
            return None
        if not 0 <= command.environment < len(self._known):
            raise BadRequest("Unknown environment.")
        return self._known[command.environment]

    def _run(self, environment: Environment) -> bytes:
        """Make an environment's process, and those it needs; its report."""
        base = self._first if environment.base is None else self._process(environment.base)
        ours, theirs = socket.socketpair()
        job = environment.job.encode()
        try:
            socket.send_fds(base.link, [ASK.pack(Ask.RUN, len(job))], [theirs.fileno()])
            base.link.sendall(job)
            pid = _number(base.link)
        except (EOFError, OSError) as error:
            ours.close()
            raise KernelUnavailable(f"an environment's process has died: {error}") from None
        finally:
            theirs.close()
        try:
            length = _number(ours)
            if length > LONGEST_REPORT:
                raise CommandDied(f"The command reported {length} bytes; the most is {LONGEST_REPORT}.")
            report = receive(ours, length)
        except (EOFError, OSError, CommandDied) as error:
            ours.close()
            if not isinstance(error, CommandDied):
                base.link.sendall(ASK.pack(Ask.STATUS, pid))
                error = CommandDied(f"The command's process died: {_how(_number(base.link))}.")
            raise error from None
        self._processes[environment] = Process(ours, pid)
        while len(self._processes) > self._live:
            self._processes.popitem(last=False)[1].link.close()
        return report

    def _process(self, environment: Environment) -> Process:
        missing = [environment]
        while (base := missing[-1].base) is not None and missing[-1] not in self._processes:
            missing.append(base)
        for each in reversed(missing):
            if each not in self._processes:
                self._run(each)
            self._processes.move_to_end(each)
        return self._processes[environment]


def serve(session: Session, lines: Iterable[str], out: TextIO) -> None:
    """Answer the requests in a stream of lines until it ends."""
    for request in requests(lines):
        out.write(encode_reply(session.answer(request)))
        out.flush()


def _start(prelude: Prelude, memory_bytes: int) -> tuple[Process, subprocess.Popen[bytes]]:
    ours, theirs = socket.socketpair()
    arguments = {
        "fd": theirs.fileno(),
        "library": str(prelude.shared_library),
        "modules": sorted(EMBEDDED_MODULES),
        "memory_bytes": memory_bytes,
        "stack_bytes": Limits().stack_bytes,
    }
    environment = {
        "LEAN_PATH": str(prelude.path),
        "LEAN_ABORT_ON_PANIC": "1",
        "LEAN_NUM_THREADS": "2",
        "UV_USE_IO_URING": "0",
        "PYTHONPATH": str(Path(rlmath.__file__).parents[1]),
        "PYTHONHASHSEED": "0",
        "LC_ALL": "C.UTF-8",
    }
    options = ("-S", "-s", "-P", "-W", "ignore::DeprecationWarning")
    child = subprocess.Popen(
        [sys.executable, *options, "-m", "rlmath.repl.environment", json.dumps(arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=environment,
        pass_fds=[theirs.fileno()],
    )
    theirs.close()
    try:
        ours.settimeout(START_TIMEOUT_S)
        refusal = receive(ours, _number(ours)).decode("utf-8", "replace")
        ours.settimeout(None)
    except (EOFError, OSError) as error:
        child.kill()
        raise KernelUnavailable(f"the prelude could not be imported: its process ended ({error!r})") from None
    if refusal:
        child.wait()
        raise KernelUnavailable(refusal)
    return Process(ours, child.pid), child


def _number(link: socket.socket) -> int:
    number: int = ANSWER.unpack(receive(link, ANSWER.size))[0]
    return number


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _read(path: str) -> str:
    try:
        return Path(path).read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        raise BadRequest(f"{path}: {error}") from None


def _body(text: str) -> str:
    """A text for a new session, its header turned into spaces. Raises `BadRequest` for a module that is not there."""
    header = split_header(text)
    for wanted in header.imports:
        if wanted.module not in EMBEDDED_MODULES:
            known = ", ".join(sorted(EMBEDDED_MODULES))
            raise BadRequest(f"unknown module prefix '{wanted.module}'\n\nThe embedded kernel has only: {known}")
    return header.body
