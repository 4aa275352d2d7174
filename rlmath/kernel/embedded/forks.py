"""Forking and reaping on request: the image has the memory that children are made of, and the warden says when.

The two are apart for speed and for secrecy. A fork makes every page of its process copy-on-write, so a process that
forks for each check and has an event loop between two forks copies two hundred pages each time; and what a process has
read of the checks' texts, its forks would inherit. So the image does nothing but fork and reap, and the warden has the
texts.

One request and one answer at a time, over a socket that keeps packets apart: `REQUEST` with the three descriptors of
the child to be forked, or without any; then `FORKED` (the child's process number, or 0) and a `DEATH` for each child
that was reaped, which every request does. The warden goes on while it waits: the image takes its turn among the checks,
and has none while it is stopped.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct
from typing import Final, NoReturn

from rlmath.kernel.embedded.system import Step, take

REQUEST: Final = b"?"
FORKED: Final = Struct("<I")
DEATH: Final = Struct("<IidQ")
MOST_DEATHS: Final = 256
"""In one answer; the others are in the next."""
_ANSWER: Final = FORKED.size + MOST_DEATHS * DEATH.size
_FDS: Final = Struct("@3i")


@dataclass(frozen=True)
class Death:
    """A child that was reaped."""

    pid: int
    wait_status: int
    """As from waitpid."""
    cpu_s: float
    """CPU time of the process and its children."""
    most_bytes: int
    """Most memory it had in use."""


class Forks:
    """The warden's side. Never blocks."""

    def __init__(self, image: socket.socket) -> None:
        image.setblocking(False)
        self._image = image
        self.waiting = False
        """For an answer: no request may be made."""

    def fileno(self) -> int:
        """Of what can be read when there is an answer."""
        return self._image.fileno()

    def ask(self, descriptors: tuple[int, ...] = ()) -> None:
        """Have a child forked that serves these (job, result, standard error), or only be told who has died. Raises
        EOFError when the image is gone."""
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, _FDS.pack(*descriptors))] if descriptors else []
        try:
            self._image.sendmsg([REQUEST], ancillary)
        except ConnectionError:
            raise EOFError from None
        self.waiting = True

    def answer(self) -> tuple[int, list[Death]]:
        """The answer that is there: the child's number (0: none was asked for), and who has died since the last one.
        Raises EOFError when the image is gone."""
        try:
            answer = self._image.recv(_ANSWER)
        except ConnectionError:
            answer = b""
        if not answer:
            raise EOFError
        self.waiting = False
        return FORKED.unpack_from(answer)[0], [Death(*death) for death in DEATH.iter_unpack(answer[FORKED.size :])]


def fork_on_request(
    warden: socket.socket, owner_pid: int, before: tuple[Step, ...], serve: Callable[[int, int, int], NoReturn]
) -> NoReturn:
    """The image's side: until the warden or the owner is gone. `before`: what comes before each fork. `serve`: what a
    child does with its descriptors."""
    while True:
        request, ancillary, _, _ = warden.recvmsg(len(REQUEST), socket.CMSG_SPACE(_FDS.size))
        if not request or os.getppid() != owner_pid:
            os._exit(0)
        pid = 0
        for _, _, descriptors in ancillary:
            job, result, stderr = _FDS.unpack(descriptors)
            take(before)
            if (pid := os.fork()) == 0:
                serve(job, result, stderr)
            for fd in (job, result, stderr):
                os.close(fd)
        answer = FORKED.pack(pid)
        for _ in range(MOST_DEATHS):
            if (death := _reap()) is None:
                break
            answer += death
        warden.send(answer)


def _reap() -> bytes | None:
    """One `DEATH`, if anybody has died."""
    try:
        dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    if dead is None:
        return None
    kill_group(dead.si_pid)  # while the dead process still holds the number of its group
    pid, status, usage = os.wait4(dead.si_pid, 0)
    return DEATH.pack(pid, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def kill_group(pid: int) -> None:
    """Kill a child that is not reaped yet, and its group (which may not exist yet)."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)
