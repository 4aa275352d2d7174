"""Forking and reaping on request: the image has the memory that children are made of, and the warden says when.

The two are apart for speed and for secrecy. A fork makes every page of its process copy-on-write, so a process that
forks for each check and has an event loop between two forks copies two hundred pages each time; and what a process has
read of the checks' texts, its forks would inherit. So the image does nothing but fork and reap, and the warden has the
texts.

One request and one answer at a time, over a socket that keeps packets apart: `REQUEST` with the three descriptors of
the child to be forked, or without any; then an `ANSWER`. A child that has died is first named, and reaped with the next
request: until then its number is its own, and after it has read the name the warden kills it no more. The warden goes
on while it waits: the image takes its turn among the checks, and has none while it is stopped.
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
ANSWER: Final = Struct("<IIIidQ")
"""The number of the child that was forked (0: none was asked for), of one that is dead (0: none is), and the `Death` of
the one that was reaped (its number 0: none was)."""
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


@dataclass(frozen=True)
class News:
    """What the image answers."""

    forked: int
    """Process number of the child that was asked for; 0: none was."""
    dead: int
    """Number of a child that has died and is reaped with the next request; 0: none has."""
    reaped: Death | None
    """The one that was named last time."""


class Forks:
    """The warden's side. Never blocks."""

    def __init__(self, image: socket.socket) -> None:
        image.setblocking(False)
        self._image = image
        self._wanted = False
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
        self.waiting, self._wanted = True, bool(descriptors)

    def answer(self) -> News:
        """The answer that is there. Raises EOFError when the image is gone, or has not forked as it was asked to."""
        try:
            answer = self._image.recv(ANSWER.size)
        except ConnectionError:
            answer = b""
        if not answer:
            raise EOFError
        self.waiting = False
        forked, dead, *death = ANSWER.unpack(answer)
        if bool(forked) != self._wanted:
            raise EOFError
        return News(forked, dead, Death(*death) if death[0] else None)


def fork_on_request(
    warden: socket.socket, owner_pid: int, before: tuple[Step, ...], serve: Callable[[int, int, int], NoReturn]
) -> NoReturn:
    """The image's side: until the warden or the owner is gone. `before`: what comes before each fork. `serve`: what a
    child does with its descriptors."""
    dead = 0
    while True:
        request, ancillary, _, _ = warden.recvmsg(len(REQUEST), socket.CMSG_SPACE(_FDS.size))
        if not request or os.getppid() != owner_pid:
            os._exit(0)
        forked = 0
        for _, _, descriptors in ancillary:
            job, result, stderr = _FDS.unpack(descriptors)
            take(before)
            if (forked := os.fork()) == 0:
                serve(job, result, stderr)
            for fd in (job, result, stderr):
                os.close(fd)
        reaped = _reap(dead) if dead else _NOBODY
        dead = _next_dead()
        warden.send(ANSWER.pack(forked, dead, *reaped))


_NOBODY = (0, 0, 0.0, 0)


def _next_dead() -> int:
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return 0
    return found.si_pid if found is not None else 0


def _reap(dead: int) -> tuple[int, int, float, int]:
    kill_group(dead)  # while the dead process still holds the number of its group
    pid, status, usage = os.wait4(dead, 0)
    return pid, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def kill_group(pid: int) -> None:
    """Kill a child that is not reaped yet, and its group (which may not exist yet)."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)
