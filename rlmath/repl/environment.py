"""The processes that hold Lean: one for each environment, forked from the environment it builds on.

    python -m rlmath.repl.environment ARGUMENTS-AS-JSON

The first one imports the prelude and waits, single-threaded, on its socket. To run a command on an environment, its
process is sent the text together with the new environment's own socket; it forks, and the child elaborates, reports
on that socket, ends Lean's threads again, and is the new environment. So nothing that a command does reaches the
environment it was run on, and a crash loses no more than what it ran.

All end when the server does: an idle one reads the end of its socket, a busy one dies with the process it was forked
from.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import signal
import socket
import struct
import sys
import traceback
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NoReturn

from rlmath.blank import is_blank
from rlmath.errors import KernelUnavailable
from rlmath.kernel.embedded.elaborator import Elaborator, State
from rlmath.kernel.embedded.ffi import Lean, LeanError, raw_text
from rlmath.kernel.embedded.namespaces import enter_mount_namespace, enter_user_namespace, leave_files
from rlmath.kernel.embedded.system import NEW_NETWORK, PR_SET_PDEATHSIG, prctl, unshare
from rlmath.repl.goals import goals

ASK = struct.Struct("<BQ")
"""Kind of what the server asks, and a number: the length of the text that follows, or a process id."""
ANSWER = struct.Struct("<Q")
"""Length of the report that follows, or the number that was asked for."""


PR_SET_CHILD_SUBREAPER: Final = 36
STATUSES_KEPT: Final = 1024


class Ask(IntEnum):
    """What the server may ask of an environment's process."""

    RUN = 1
    """Fork, and run what follows (JSON) in the child, which gets the descriptor sent along. Answer: its process id."""
    STATUS = 2
    """Wait for that child's end. Answer: the status, as waitpid gives it."""


@dataclass(frozen=True)
class Job:
    """A text to run, and Lean options (name, value as Lean writes it) to set first."""

    text: str
    options: tuple[tuple[str, str], ...] = ()

    def encode(self) -> bytes:
        """For the wire."""
        return json.dumps([self.text, self.options], ensure_ascii=False).encode("utf-8")

    @classmethod
    def decode(cls, data: bytes) -> Job:
        """The inverse of `encode`."""
        text, options = json.loads(data)
        return cls(text, tuple((name, value) for name, value in options))


def receive(link: socket.socket, length: int) -> bytes:
    """Exactly `length` bytes. Raises EOFError when there are none any more."""
    data = bytearray()
    while len(data) < length:
        piece = link.recv(min(length - len(data), 1 << 20))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def serve(lean: Lean, elaborator: Elaborator, state: State, link: socket.socket) -> NoReturn:
    """Be the environment `state`, and each child in turn the one that comes of its job."""
    finish_tasks = lean.bind("lean_finalize_task_manager", result=None)
    ended = reap_children()
    while True:
        try:
            head, descriptors, _, _ = socket.recv_fds(link, ASK.size, 1)
            kind, number = ASK.unpack(head + receive(link, ASK.size - len(head)) if head else receive(link, ASK.size))
            job = Job.decode(receive(link, number)) if kind == Ask.RUN else None
        except (EOFError, ConnectionError):
            os._exit(0)
        if job is None:
            link.sendall(ANSWER.pack(_status(number, ended)))
            continue
        parent = os.getpid()
        pid = os.fork()
        if pid:
            for descriptor in descriptors:
                os.close(descriptor)
            link.sendall(ANSWER.pack(pid))
            continue
        link.close()
        link = socket.socket(fileno=descriptors[0])
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)
        lean.start_tasks()
        state, report = run(elaborator, state, job)
        link.sendall(ANSWER.pack(len(report)) + report)
        finish_tasks()
        prctl(PR_SET_PDEATHSIG, 0)


def reap_children() -> dict[int, int]:
    """From now on reap every child at once, environments that were given up among them. Returns where the statuses of
    the last ones will be, by process id."""
    ended: dict[int, int] = {}

    def reap(*_: object) -> None:
        with contextlib.suppress(ChildProcessError):
            while (child := os.waitpid(-1, os.WNOHANG))[0]:
                ended[child[0]] = child[1]
        while len(ended) > STATUSES_KEPT:
            del ended[next(iter(ended))]

    signal.signal(signal.SIGCHLD, reap)
    return ended


def _status(pid: int, ended: dict[int, int]) -> int:
    try:
        return ended.pop(pid) if pid in ended else os.waitpid(pid, 0)[1]
    except ChildProcessError:  # it was reaped meanwhile
        return ended.pop(pid)


def run(elaborator: Elaborator, state: State, job: Job) -> tuple[State, bytes]:
    """The state that comes of a job, and its report: JSON with `messages` (as `lean --json` prints them) and
    `sorries`."""
    for name, value in job.options:
        state, _ = elaborator.run(state, f"set_option {name} {value}")
    before, trees, said = state, [], []
    if is_blank(job.text):  # a header and no more: Lean's parser would miss a command
        return state, json.dumps({"messages": [], "sorries": []}).encode()
    try:
        for tree, after, messages in elaborator.commands(state, job.text):
            state = after
            trees.append(tree)
            said += [json.loads(raw_text(elaborator.message_json(message))) for message in messages]
        found = goals(elaborator, before, job.text, trees) if any(m["kind"] == "hasSorry" for m in said) else []
    except LeanError as failure:
        position = {"line": 1, "column": 0}
        said.append({"severity": "error", "data": str(failure), "pos": position, "endPos": None, "kind": ""})
        found = []
    return state, json.dumps({"messages": said, "sorries": found}, ensure_ascii=False).encode("utf-8")


def shut_in(memory_bytes: int) -> None:
    """Leave this machine's files and network behind, as far as it allows, and bound what a command may use. When
    everything is loaded that will be needed."""
    with open("/proc/self/statm", encoding="ascii") as file:
        own = int(file.read().split()[0]) * resource.getpagesize()
    with contextlib.suppress(OSError):
        if os.geteuid() != 0:
            enter_user_namespace()
        enter_mount_namespace()
        unshare(NEW_NETWORK)
        leave_files()
    for limit, value in (
        (resource.RLIMIT_AS, own + memory_bytes),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))


def main(arguments: dict[str, Any]) -> NoReturn:
    """Import the prelude and serve. `arguments`: fd, library, modules, memory_bytes, stack_bytes."""
    link = socket.socket(fileno=arguments["fd"])
    resource.setrlimit(resource.RLIMIT_STACK, (arguments["stack_bytes"],) * 2)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    try:
        lean = Lean(arguments["library"], arguments["stack_bytes"])
        elaborator = Elaborator(lean, lean.import_modules(arguments["modules"]))
        shut_in(arguments["memory_bytes"])
    except (KernelUnavailable, LeanError) as error:
        refusal = str(error).encode()
        link.sendall(ANSWER.pack(len(refusal)) + refusal)
        os._exit(1)
    # An environment whose own parent was given up is a child of this process then.
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    link.sendall(ANSWER.pack(0))
    gc.collect()
    gc.freeze()
    try:
        serve(lean, elaborator, elaborator.fresh(), link)
    finally:
        # A plain exit would run the destructors of Lean's runtime, which may wait for threads.
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
