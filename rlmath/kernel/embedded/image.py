"""The warm image: a single-threaded process that imports once, never elaborates, and keeps children forked ahead of
need.

    python -m rlmath.kernel.embedded.image ARGUMENTS-AS-JSON

Its owner talks to it over an inherited stream socket in the frames of `wire.py`. A job goes to an idle child through
that child's own pipe; the child reports through another and serves nothing else. The image watches deadlines, kills
whole process groups, reaps, and forks the next child ahead. It ends when the owner closes the socket or dies.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import time
import traceback
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Any, NoReturn

from rlmath.errors import KernelUnavailable
from rlmath.kernel.audit.base import read_base
from rlmath.kernel.audit.export import Exporter
from rlmath.kernel.embedded.child import Tools, rehearse, serve
from rlmath.kernel.embedded.confine import Enclosure, before_fork, make_undumpable, prepare, seal, set_stack
from rlmath.kernel.embedded.elaborator import Elaborator
from rlmath.kernel.embedded.ffi import LEAN_VERSION, Lean, LeanError
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.embedded.residence import settle
from rlmath.kernel.embedded.system import default_action
from rlmath.kernel.embedded.unforked import READ, Buffer
from rlmath.kernel.embedded.wire import JOB, PART, End, FromImage, Incoming, Piece, ToImage, frame, result_head
from rlmath.kernel.process_tree import own_resident_bytes

STDERR_KEPT = 1 << 14
"""Bytes of a dead child's standard error that are reported."""
OWNER_POLL_S = 1.0
"""How often the owner's life is looked at, for the case that a copy of its end of the socket outlives it."""
STILLBORN_LIMIT = 20
"""So many children in a row dying before they are ready mean that this machine cannot make any."""


@dataclass
class Job:
    """A check that waits for a child."""

    check: int
    timeout_s: float
    payload: Buffer
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
    started: float = 0.0
    deadline: float = 0.0
    report: Buffer = field(default_factory=Buffer)
    parsed: int = 0
    """How much of the report's part headers has been read."""
    whole: bool = False
    closed: bool = False


class Image:
    """The event loop and its state."""

    def __init__(
        self, owner: socket.socket, owner_pid: int, tools: Tools, enclosure: Enclosure, slots: int, handed_on: int
    ) -> None:
        """`handed_on`: bytes of memory that every child begins with."""
        self._owner = owner
        self._owner_pid = owner_pid
        self._tools = tools
        self._enclosure = enclosure
        self._limits = enclosure.limits
        self._slots, self._handed_on = slots, handed_on
        self._pid = os.getpid()
        self._poll = select.epoll()
        self._children: dict[int, Child] = {}
        """By pid, all that are not reaped."""
        self._by_fd: dict[int, Child] = {}
        self._idle: deque[Child] = deque()
        self._unready = 0
        self._running: dict[int, Child] = {}
        """By check."""
        self._queue: dict[int, Job] = {}
        """By check, in order of arrival."""
        self._inbox = Incoming(owner.fileno())
        self._outbox: deque[Buffer] = deque()
        self._writing = False
        self._stillborn = 0
        self._last_words = b""
        self._wake, wake_writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        owner.setblocking(False)
        self._poll.register(owner.fileno(), select.EPOLLIN)
        self._poll.register(self._wake, select.EPOLLIN)

    def run(self) -> NoReturn:
        """Serve until the owner is gone, then kill what is left and end."""
        try:
            isolation = asdict(self._enclosure.isolation)
            hello = {"pid": self._pid, "lean_version": LEAN_VERSION, "isolation": isolation}
            self._send(FromImage.HELLO, 0, json.dumps(hello).encode())
            while True:
                self._dispatch()
                self._flush()
                short = self._fork_ahead()
                for fd, event in self._poll.poll(0 if short else self._patience()):
                    self._handle(fd, event)
                self._enforce_deadlines()
        except (EOFError, ConnectionError):
            pass
        finally:
            for child in self._children.values():
                _kill_group(child.pid)
            if self._enclosure.group is not None:
                self._enclosure.group.remove()
        os._exit(0)

    # -- the owner

    def _handle(self, fd: int, event: int) -> None:
        if fd == self._owner.fileno():
            if event & ~select.EPOLLOUT:
                self._read_owner()
        elif fd == self._wake:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, 4096)
            self._reap()
        elif (child := self._by_fd.get(fd)) is not None:
            if fd == child.result_fd:
                self._read_report(child)
            elif child.job is not None:
                self._feed(child, child.job)

    def _read_owner(self) -> None:
        now = time.monotonic()
        while (arrived := self._inbox.next()) is not None:
            kind, check, payload = arrived
            if kind == ToImage.CHECK and (head := payload.peek(JOB)) is not None:
                self._queue[check] = Job(check, head[1], payload, now)
            elif kind == ToImage.CANCEL:
                self._cancel(check)

    def _cancel(self, check: int) -> None:
        if (waiting := self._queue.pop(check, None)) is not None:
            waiting.payload.close()
        if (child := self._running.pop(check, None)) is not None:
            self._discard(child)

    def _send(self, kind: FromImage, check: int, payload: bytes) -> None:
        self._send_bytes(frame(kind, check, payload))

    def _send_bytes(self, data: bytes) -> None:
        buffer = Buffer()
        buffer.append(data)
        self._outbox.append(buffer)

    def _flush(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._outbox:
                self._outbox[0].write(self._owner.fileno())
                self._outbox.popleft()
        if bool(self._outbox) != self._writing:
            self._writing = bool(self._outbox)
            self._poll.modify(self._owner.fileno(), select.EPOLLIN | (select.EPOLLOUT if self._writing else 0))

    # -- children

    def _fork_ahead(self) -> bool:
        """Fork a child if there are fewer ahead of need than slots; whether there still are. One at a time: no result
        waits for more than one fork."""
        if self._stillborn >= STILLBORN_LIMIT:
            self._send(FromImage.REFUSED, 0, b"no child of the image lives to take a job: " + self._last_words)
            self._flush()
            raise EOFError
        if self._ahead() < self._slots:
            self._fork()
        return self._ahead() < self._slots

    def _ahead(self) -> int:
        return len(self._idle) + self._unready

    def _fork(self) -> None:
        job_reader, job_writer = os.pipe2(os.O_CLOEXEC)
        result_reader, result_writer = os.pipe2(os.O_CLOEXEC)
        stderr_reader, stderr_writer = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(stderr_writer, False)
        before_fork(self._enclosure)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            default_action(signal.SIGCHLD)
            serve(self._tools, self._enclosure, job=job_reader, result=result_writer, stderr=stderr_writer)
        for fd in (job_reader, result_writer, stderr_writer):
            os.close(fd)
        for fd in (job_writer, result_reader, stderr_reader):
            os.set_blocking(fd, False)
        child = Child(pid, job_writer, result_reader, stderr_reader)
        self._children[pid] = child
        self._by_fd[result_reader] = self._by_fd[job_writer] = child
        self._poll.register(result_reader, select.EPOLLIN)
        self._unready += 1

    def _dispatch(self) -> None:
        while self._queue and self._idle and len(self._running) < self._slots:
            job = self._queue.pop(next(iter(self._queue)))
            child = self._idle.popleft()
            child.job = job
            child.started = time.monotonic()
            child.deadline = child.started + job.timeout_s
            self._running[job.check] = child
            self._feed(child, job)

    def _feed(self, child: Child, job: Job) -> None:
        """Write as much of the job as the pipe takes; a child that has died is dealt with when it is reaped."""
        try:
            job.payload.write(child.job_fd)
        except BlockingIOError:
            with contextlib.suppress(FileExistsError):
                self._poll.register(child.job_fd, select.EPOLLOUT)
            return
        except BrokenPipeError:
            pass
        job.payload.close()
        with contextlib.suppress(FileNotFoundError):
            self._poll.unregister(child.job_fd)

    def _read_report(self, child: Child) -> None:
        try:
            if not child.report.read(child.result_fd):
                self._poll.unregister(child.result_fd)
                return
        except BlockingIOError:
            return
        self._parse_report(child)
        if child.whole:
            self._finish(child, End.REPORTED)
        elif len(child.report) > 2 * self._limits.result_bytes + self._limits.export_bytes + READ:
            self._finish(child, End.FLOODED)

    def _parse_report(self, child: Child) -> None:
        while (head := child.report.peek(PART, child.parsed)) is not None:
            kind, length = head
            if child.parsed + PART.size + length > len(child.report):
                return
            child.parsed += PART.size + length
            if kind == Piece.READY and not child.ready:
                child.ready = True
                self._unready -= 1
                self._stillborn = 0
                self._idle.append(child)
            elif kind == Piece.END:
                child.whole = True

    def _finish(
        self, child: Child, end: End, wait_status: int = 0, usage: resource.struct_rusage | None = None
    ) -> None:
        """Report a running child's outcome to the owner, and be rid of the child."""
        if child.job is None or self._running.pop(child.job.check, None) is None:
            self._discard(child)
            return
        now = time.monotonic()
        stderr = Buffer() if end is End.REPORTED else _read_tail(child.stderr_fd)
        if end is End.FLOODED:
            child.report.close()
        head = result_head(
            child.job.check,
            end,
            wait_status=wait_status,
            elapsed_s=now - child.started,
            queued_s=child.started - child.job.arrived,
            cpu_s=usage.ru_utime + usage.ru_stime if usage else 0.0,
            grown_bytes=max(usage.ru_maxrss * 1024 - self._handed_on, 0) if usage else 0,
            stderr_length=len(stderr),
            report_length=len(child.report),
        )
        self._send_bytes(head)
        self._outbox += (stderr, child.report)
        child.report = Buffer()
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
            _kill_group(child.pid)
        for fd in (child.job_fd, child.result_fd, child.stderr_fd):
            self._by_fd.pop(fd, None)
            # Closing is not enough: a child that was just forked has copies, for which epoll would go on telling us.
            with contextlib.suppress(FileNotFoundError):
                self._poll.unregister(fd)
            os.close(fd)
        child.report.close()
        if child.job is not None:
            child.job.payload.close()

    def _reap(self) -> None:
        while self._children:
            dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if dead is None:
                return
            pid = dead.si_pid
            _kill_group(pid)  # while the dead process still holds the number of its group
            _, status, usage = os.wait4(pid, 0)
            child = self._children.pop(pid, None)
            if child is None or child.closed:
                continue
            if not child.ready:
                self._stillborn += 1
                self._last_words = _read_tail(child.stderr_fd).plain()
            with contextlib.suppress(BlockingIOError):
                while not child.whole and child.report.read(child.result_fd):
                    self._parse_report(child)
            self._finish(child, End.REPORTED if child.whole else End.DIED, status, usage)

    # -- time

    def _patience(self) -> float:
        now = time.monotonic()
        nearest = min((child.deadline for child in self._running.values()), default=now + OWNER_POLL_S)
        return min(max(nearest - now, 0.0), OWNER_POLL_S)

    def _enforce_deadlines(self) -> None:
        now = time.monotonic()
        for child in [c for c in self._running.values() if c.deadline <= now]:
            _kill_group(child.pid)
            self._finish(child, End.TIMED_OUT)
        if os.getppid() != self._owner_pid:
            raise EOFError


def _kill_group(pid: int) -> None:
    """Kill a child that is not reaped yet, and its group (which may not exist yet)."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)


def _read_tail(fd: int) -> Buffer:
    """The end of what a pipe holds: it takes less than one read."""
    tail = Buffer()
    with contextlib.suppress(BlockingIOError):
        tail.read(fd)
    tail.drop(max(len(tail) - STDERR_KEPT, 0))
    return tail


def main(arguments: dict[str, Any]) -> NoReturn:
    """Import the environment and serve. `arguments`: fd, owner, library, modules, slots, limits."""
    owner = socket.socket(fileno=arguments["fd"])
    limits = Limits(**arguments["limits"])
    set_stack(limits)
    prepared = prepare(limits, arguments["slots"])
    try:
        lean = Lean(arguments["library"], limits.stack_bytes)
        environment = lean.import_modules(arguments["modules"])
        tools = Tools(Elaborator(lean, environment), Exporter(lean), read_base(lean, environment))
        settle(os.path.realpath(arguments["library"]), lambda: rehearse(tools))
        handed_on = own_resident_bytes(os.getpid())
        enclosure = seal(prepared)
    except (KernelUnavailable, LeanError) as error:
        owner.sendall(frame(FromImage.REFUSED, 0, str(error).encode()))
        os._exit(1)
    make_undumpable()
    image = Image(owner, arguments["owner"], tools, enclosure, arguments["slots"], handed_on)
    gc.collect()
    gc.disable()
    gc.freeze()
    try:
        image.run()
    finally:
        # A plain exit would run the destructors of Lean's runtime, which may wait for threads.
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
