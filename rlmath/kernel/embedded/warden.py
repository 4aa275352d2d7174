"""The warden: the process beside the image that has the checks' texts and their children's reports, and the clock.

Its owner talks to it over a stream socket in the frames of `wire.py`. A job goes to an idle child through that child's
own pipe; the child reports through another and serves nothing else. The warden watches deadlines, kills whole process
groups, and has the image fork the next child ahead of need. It ends when the owner closes the socket or the image is
gone.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import resource
import select
import signal
import socket
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import NoReturn

from rlmath.kernel.embedded.confine import Enclosure, come_first
from rlmath.kernel.embedded.ffi import LEAN_VERSION
from rlmath.kernel.embedded.forks import Death, Forks, kill_group
from rlmath.kernel.embedded.system import PR_SET_PDEATHSIG, name_process, prctl
from rlmath.kernel.embedded.wire import JOB, PART, End, FromImage, Piece, ToImage, frame, result_head, take_frames

NAME = "rlmath-warden"
"""Of the process, as `ps` and `top` show it."""
READ = 1 << 16
"""Most bytes to read at once: what a pipe holds."""
MOST_PIECES = 64
"""Most pieces to write to the owner at once."""
STDERR_KEPT = 1 << 14
"""Bytes of a dead child's standard error that are reported."""
LONGEST_NAP_S = 1.0
"""How often the image is asked for news at least, which looks then whether the owner still lives: a copy of the owner's
end of the socket may outlive it."""
FIRST_PAUSE_S, LAST_PAUSE_S = 0.001, 0.064
"""Until the image is asked whether a child has died that seems to; doubled each time. Those that are killed and done
with can wait for the last: as a rule they are reaped with the next fork."""
REAP_PAUSE_S = 0.008
"""Until a dead child is reaped that nobody waits for, if there is no fork before."""
STILLBORN_LIMIT = 20
"""So many children in a row dying before they are ready mean that this machine cannot make any."""


@dataclass(frozen=True)
class Job:
    """A check that waits for a child."""

    check: int
    timeout_s: float
    payload: bytes
    arrived: float


@dataclass(eq=False)
class Child:
    """One forked process, from its fork to its reaping."""

    pid: int
    job_fd: int
    result_fd: int
    stderr_fd: int
    ready: bool = False
    job: Job | None = None
    unsent: memoryview = field(default_factory=lambda: memoryview(b""))
    """What the job's pipe has not taken yet; while there is any, it is watched."""
    started: float = 0.0
    deadline: float = 0.0
    report: bytearray = field(default_factory=bytearray)
    parsed: int = 0
    """How much of the report's part headers has been read."""
    whole: bool = False
    dead: bool = False
    """It is about to be reaped, and its number free for others: it must not be killed any more."""
    closed: bool = False


class Warden:
    """The event loop and its state."""

    def __init__(
        self, owner: socket.socket, image: socket.socket, enclosure: Enclosure, slots: int, handed_on: int
    ) -> None:
        """`image`: see `Forks`. `handed_on`: bytes of memory that every child begins with."""
        self._owner, self._forks, self._image_pid = owner, Forks(image), os.getppid()
        self._enclosure, self._limits = enclosure, enclosure.limits
        self._slots, self._handed_on = slots, handed_on
        self._poll = select.epoll()
        self._children: dict[int, Child] = {}
        """By pid, all that are not reaped."""
        self._by_fd: dict[int, Child] = {}
        self._idle: deque[Child] = deque()
        self._unready = 0
        self._unborn: tuple[int, int, int] | None = None
        """Our ends of the pipes of the child that is being forked."""
        self._running: dict[int, Child] = {}
        """By check."""
        self._queue: dict[int, Job] = {}
        """By check, in order of arrival."""
        self._inbox = bytearray()
        self._outbox: deque[memoryview] = deque()
        self._writing = False
        self._stillborn = 0
        self._last_words = b""
        self._dying: set[int] = set()
        """Those that are not reaped though they were killed, or have closed their reports, as a rule because they are
        dying."""
        self._ask_at = 0.0
        self._pause_s = LONGEST_NAP_S
        owner.setblocking(False)
        for side in (owner.fileno(), self._forks.fileno()):
            self._poll.register(side, select.EPOLLIN)

    def run(self) -> NoReturn:
        """Serve until the owner or the image is gone, then kill what is left and end."""
        try:
            isolation = asdict(self._enclosure.isolation)
            hello = {"warden": os.getpid(), "lean_version": LEAN_VERSION, "isolation": isolation}
            self._send(frame(FromImage.HELLO, 0, json.dumps(hello).encode()))
            while True:
                self._dispatch()
                self._flush()
                self._fork_ahead()
                for fd, event in self._poll.poll(self._patience()):
                    self._handle(fd, event)
                self._look_at_the_clock()
        except (EOFError, ConnectionError):
            pass
        finally:
            for child in self._children.values():
                _kill(child)
            if self._enclosure.group is not None:
                self._enclosure.group.remove()
            if os.getppid() == self._image_pid:
                os.kill(self._image_pid, signal.SIGKILL)  # which would end by itself, unless it is stopped
        os._exit(0)

    # -- the owner

    def _handle(self, fd: int, event: int) -> None:
        if fd == self._owner.fileno():
            if event & ~select.EPOLLOUT:
                self._read_owner()
        elif fd == self._forks.fileno():
            self._read_image()
        elif (child := self._by_fd.get(fd)) is not None:
            if fd == child.result_fd:
                self._read_report(child)
            else:
                self._feed(child)

    def _read_owner(self) -> None:
        data = _read(self._owner.fileno())
        if data == b"":
            raise EOFError
        self._inbox += data or b""
        now = time.monotonic()
        for kind, check, payload in take_frames(self._inbox):
            if kind == ToImage.CHECK:
                self._queue[check] = Job(check, JOB.unpack_from(payload)[1], payload, now)
            elif kind == ToImage.CANCEL:
                self._queue.pop(check, None)
                if (child := self._running.pop(check, None)) is not None:
                    self._discard(child)

    def _send(self, *pieces: bytes | bytearray) -> None:
        self._outbox += [memoryview(piece) for piece in pieces if piece]

    def _flush(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._outbox:
                sent = os.writev(self._owner.fileno(), list(itertools.islice(self._outbox, MOST_PIECES)))
                while self._outbox and sent >= len(self._outbox[0]):
                    sent -= len(self._outbox.popleft())
                if sent:
                    self._outbox[0] = self._outbox[0][sent:]
        if bool(self._outbox) != self._writing:
            self._writing = bool(self._outbox)
            self._poll.modify(self._owner.fileno(), select.EPOLLIN | (select.EPOLLOUT if self._writing else 0))

    # -- children

    def _fork_ahead(self) -> None:
        """Have a child forked if there are fewer ahead of need than slots."""
        if self._stillborn >= STILLBORN_LIMIT:
            why = b"no child of the image lives to take a job: " + self._last_words
            self._send(frame(FromImage.REFUSED, 0, why))
            self._flush()
            raise EOFError
        if self._forks.waiting or len(self._idle) + self._unready >= self._slots:
            return
        job_reader, job_writer = os.pipe2(os.O_CLOEXEC)
        result_reader, result_writer = os.pipe2(os.O_CLOEXEC)
        stderr_reader, stderr_writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        for fd in (job_writer, result_reader):
            os.set_blocking(fd, False)
        self._unborn = (job_writer, result_reader, stderr_reader)
        self._forks.ask((job_reader, result_writer, stderr_writer))
        for fd in (job_reader, result_writer, stderr_writer):
            os.close(fd)

    def _read_image(self) -> None:
        news = self._forks.answer()
        if news.forked and self._unborn is not None:
            job_fd, result_fd, stderr_fd = self._unborn
            self._unborn = None
            self._children[news.forked] = child = Child(news.forked, job_fd, result_fd, stderr_fd)
            self._by_fd[result_fd] = self._by_fd[job_fd] = child
            self._poll.register(result_fd, select.EPOLLIN)
            self._unready += 1
        if news.reaped is not None:
            self._bury(news.reaped)
        self._pause_s = min(2 * self._pause_s, LAST_PAUSE_S) if self._dying else LONGEST_NAP_S
        self._ask_at = time.monotonic() + self._pause_s
        if (dead := self._children.get(news.dead)) is not None:
            dead.dead = True
            if dead.ready and dead.job is None:
                self._discard(dead)
            self._ask_at = time.monotonic() + (REAP_PAUSE_S if dead.closed else 0.0)

    def _dispatch(self) -> None:
        while self._queue and self._idle and len(self._running) < self._slots:
            job = self._queue.pop(next(iter(self._queue)))
            child = self._idle.popleft()
            child.job, child.unsent = job, memoryview(job.payload)
            child.started = time.monotonic()
            child.deadline = child.started + job.timeout_s
            self._running[job.check] = child
            self._feed(child, first=True)

    def _feed(self, child: Child, *, first: bool = False) -> None:
        """Write as much of the job as the pipe takes; a child that has died is dealt with when it is reaped."""
        try:
            child.unsent = child.unsent[os.write(child.job_fd, child.unsent) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            child.unsent = child.unsent[:0]
        if first and child.unsent:
            self._poll.register(child.job_fd, select.EPOLLOUT)
        elif not first and not child.unsent:
            self._poll.unregister(child.job_fd)

    def _read_report(self, child: Child) -> None:
        if self._read_more(child) == b"":
            self._poll.unregister(child.result_fd)
            if child.ready and child.job is None:
                self._discard(child)
            else:
                self._expect_death(child, FIRST_PAUSE_S)
        elif child.whole:
            self._finish(child, End.REPORTED)
        elif len(child.report) > 2 * self._limits.result_bytes + self._limits.export_bytes + READ:
            self._finish(child, End.FLOODED)

    def _read_more(self, child: Child) -> bytes | None:
        """See `_read`: some more of a report."""
        data = _read(child.result_fd)
        child.report += data or b""
        while child.parsed + PART.size <= len(child.report):
            kind, length = PART.unpack_from(child.report, child.parsed)
            if child.parsed + PART.size + length > len(child.report):
                break
            child.parsed += PART.size + length
            if kind == Piece.READY and not child.ready:
                child.ready = True
                self._unready -= 1
                self._stillborn = 0
                self._idle.append(child)
            elif kind == Piece.END:
                child.whole = True
        return data

    def _finish(self, child: Child, end: End, death: Death | None = None) -> None:
        """Report a running child's outcome to the owner, and be rid of the child."""
        if child.job is not None and self._running.pop(child.job.check, None) is not None:
            stderr = b"" if end is End.REPORTED else _tail(child.stderr_fd)
            report = b"" if end is End.FLOODED else child.report
            head = result_head(
                child.job.check,
                end,
                wait_status=death.wait_status if death else 0,
                elapsed_s=time.monotonic() - child.started,
                queued_s=child.started - child.job.arrived,
                cpu_s=death.cpu_s if death else 0.0,
                grown_bytes=max(death.most_bytes - self._handed_on, 0) if death else 0,
                stderr_length=len(stderr),
                report_length=len(report),
            )
            self._send(head, stderr, report)
        self._discard(child)

    def _discard(self, child: Child) -> None:
        """Kill a child's whole group and close our ends; it is reaped when it has gone."""
        if child.closed:
            return
        child.closed = True
        if not child.ready:
            self._unready -= 1
        elif child.job is None and child in self._idle:
            self._idle.remove(child)
        if child.pid in self._children:
            _kill(child)
            self._expect_death(child, LAST_PAUSE_S)
        for fd in (child.job_fd, child.result_fd, child.stderr_fd):
            self._by_fd.pop(fd, None)
            os.close(fd)

    def _expect_death(self, child: Child, pause_s: float) -> None:
        self._dying.add(child.pid)
        self._pause_s = min(self._pause_s, pause_s)
        self._ask_at = min(self._ask_at, time.monotonic() + self._pause_s)

    def _bury(self, death: Death) -> None:
        self._dying.discard(death.pid)
        child = self._children.pop(death.pid)
        if child.closed:
            return
        if not child.ready:
            self._stillborn += 1
            self._last_words = _tail(child.stderr_fd)
        while not child.whole and self._read_more(child):
            pass
        self._finish(child, End.REPORTED if child.whole else End.DIED, death)

    # -- time

    def _patience(self) -> float:
        ask_at = math.inf if self._forks.waiting else self._ask_at
        nearest = min((child.deadline for child in self._running.values()), default=math.inf)
        return min(max(min(nearest, ask_at) - time.monotonic(), 0.0), LONGEST_NAP_S)

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        for child in [c for c in self._running.values() if c.deadline <= now]:
            _kill(child)
            self._finish(child, End.TIMED_OUT)
        if now >= self._ask_at and not self._forks.waiting:
            self._forks.ask()


def _kill(child: Child) -> None:
    if not child.dead:
        kill_group(child.pid)


def _read(fd: int) -> bytes | None:
    """What a pipe has, up to `READ` bytes: none (b"") when it has ended, and None when it is empty for now."""
    try:
        return os.read(fd, READ)
    except BlockingIOError:
        return None


def _tail(fd: int) -> bytes:
    """The end of what a pipe holds: it takes less than one read."""
    return (_read(fd) or b"")[-STDERR_KEPT:]


def guard(owner: socket.socket, image: socket.socket, enclosure: Enclosure, slots: int, handed_on: int) -> NoReturn:
    """Be the warden, in a process that the image has forked. The arguments: see `Warden`."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    name_process(NAME)
    come_first()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a slot may take six descriptors, and more while it ends
    Warden(owner, image, enclosure, slots, handed_on).run()
