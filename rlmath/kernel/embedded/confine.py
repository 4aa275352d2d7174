"""Shutting a check's process in, before anything untrusted reaches it. The one place where isolation happens.

The image gets ready once what its children need (`prepare` before it loads Lean, `seal` when it needs no file any
more) and finds out by trying which measures this machine allows. Each child then takes all of these or fails.
"""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rlmath.errors import KernelUnavailable
from rlmath.kernel.embedded import cgroup
from rlmath.kernel.embedded.isolation import Isolation, Measure
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.embedded.namespaces import (
    enter_mount_namespace,
    enter_user_namespace,
    isolating_next_child,
    leave_files,
    share_with_children,
    step_into_pid_namespace,
)
from rlmath.kernel.embedded.seccomp import Filter, compile_filter
from rlmath.kernel.embedded.system import (
    NEW_IPC,
    NEW_NETWORK,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    Step,
    dropping_capabilities,
    exiting_when_aborted,
    prctl,
    setting,
    take,
    unshare,
    unsharing,
)

CHECK_USERS: Final = range(0x7000_0000, 0x7040_0000)
"""A check's user and group id is the one that its process id points at in here (process ids are below 2^22). systemd's
table of ids leaves those from 0x70000000 on unused, and distributions give out far lower ones."""
NOBODY: Final = range(65534, 65535)
SHARED_USER_ROOM: Final = 4096
"""Processes that others may start while a check runs that has no user of its own, before it can start no thread."""


@dataclass(frozen=True)
class Prepared:
    """The first half of what the image gets ready: which steps failed, and why."""

    limits: Limits
    mounts: str | None
    network: str | None
    group: cgroup.Group | None
    memory: str


@dataclass(frozen=True)
class Enclosure:
    """What the image has ready for its children."""

    limits: Limits
    isolation: Isolation
    proc: int
    """Descriptor of the /proc that is out of sight."""
    nothing: int
    """Descriptor of /dev/null."""
    own_pid_namespace: int | None
    """Descriptor of the image's; None: the image cannot prepare the PID namespace of a child, which makes its own."""
    users: range | None
    """User and group ids for checks; None: they keep the image's."""
    filter: Filter | None
    group: cgroup.Group | None


def prepare(limits: Limits, slots: int) -> Prepared:
    """Namespaces and control group of the image. While it is single-threaded, and before it makes itself
    undumpable."""
    group, memory = cgroup.make_group(limits, slots)
    powerless = None if os.geteuid() == 0 else _failure(enter_user_namespace)
    return Prepared(
        limits,
        mounts=powerless or _failure(enter_mount_namespace),
        network=powerless or _failure(lambda: unshare(NEW_NETWORK)),
        group=group,
        memory=memory,
    )


def seal(prepared: Prepared) -> Enclosure:
    """Leave the files of this machine behind, and find out what a child can do to shut itself in. When everything is
    loaded that the image and its children will ever need. Raises `KernelUnavailable` where there is no /proc."""
    try:
        proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise KernelUnavailable(f"a check cannot be isolated without /proc and /dev/null: {error}") from error
    files = prepared.mounts or _failure(leave_files)
    ahead = _failure(lambda: take(isolating_next_child(own_pid_namespace))) is None
    processes = _failure_of_child(_expect_first if ahead else _step_and_expect_first)
    if ahead:
        share_with_children(own_pid_namespace)
    ipc = _failure_of_child(lambda: unshare(NEW_IPC))
    users, user = _choose_users()
    system_calls, no_filter = _choose_filter(may_open=files is None)
    group, memory = prepared.group, prepared.memory
    entering = group.entering() if group is not None else []
    if group is not None and (failure := _failure_of_child(lambda: take(entering))) is not None:
        group.remove()
        group, memory = None, failure
    isolation = Isolation(
        processes=Measure(processes is None, processes or "a PID namespace for each check"),
        files=Measure(files is None, files or "an empty, read-only root"),
        network=Measure(prepared.network is None, prepared.network or "a network namespace with nothing in it"),
        ipc=Measure(ipc is None, ipc or "an IPC namespace for each check"),
        user=user,
        system_calls=Measure(no_filter is None, no_filter or "a seccomp filter"),
        memory=Measure(group is not None, memory),
    )
    own = own_pid_namespace if ahead else None
    return Enclosure(prepared.limits, isolation, proc, nothing, own, users, system_calls, group)


def come_first() -> None:
    """Have this process, which takes little, always be the next to run: so the warden keeps deadlines, however many
    threads of checks want the processor. Where that is not allowed, it waits like others."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def before_fork(enclosure: Enclosure) -> tuple[Step, ...]:
    """What the image does right before it forks a child."""
    if not enclosure.isolation.processes.on or enclosure.own_pid_namespace is None:
        return ()
    return isolating_next_child(enclosure.own_pid_namespace)


class Confinement:
    """The way from the image's powers to a check's, laid out in the image as calls and what they get. A child that
    looked all of it up would copy a page of its parent's memory for nearly each name."""

    def __init__(self, enclosure: Enclosure) -> None:
        """All measures of `enclosure`."""
        limits, isolation = enclosure.limits, enclosure.isolation
        alone = isolation.processes.on
        self._steps_aside = alone and enclosure.own_pid_namespace is None
        self._proc, self._users = enclosure.proc, enclosure.users
        first: list[Step] = [(os.dup2, (enclosure.nothing, 0)), (os.setsid, ())]
        if enclosure.group is not None:
            first += enclosure.group.entering()
        if isolation.ipc.on:
            first.append(unsharing(NEW_IPC))
        first.append(setting(PR_SET_DUMPABLE, 1))  # else the next file is root's
        self._first = tuple(first)
        self._limits = (_limiting(resource.RLIMIT_FSIZE, limits.file_bytes), _limiting(resource.RLIMIT_CORE, 0))
        self._memory_bytes, self._open_files = limits.memory_bytes, limits.open_files
        self._processes, self._shares_user = limits.processes, not isolation.user.on
        last = [
            dropping_capabilities(),
            # A change of user takes these two back. An image that died before the first leaves a job pipe with no
            # writer.
            setting(PR_SET_PDEATHSIG, signal.SIGKILL),
            setting(PR_SET_DUMPABLE, 0),
            setting(PR_SET_NO_NEW_PRIVS, 1),
        ]
        if alone:
            last.append(exiting_when_aborted())
            if enclosure.filter is not None:
                last.append(enclosure.filter.installing(1))
        self._filter = None if alone else enclosure.filter
        self._last = tuple(last)

    def practise(self) -> None:
        """The parts of `take` that the image can do too and be none the worse."""
        take(((os.getpid, ()), (os.getppid, ())))
        _number_and_address_space(_read(self._proc, "self/stat"))
        _limit(resource.RLIMIT_CORE, 0)

    def take(self, keep: tuple[int, ...], stderr: int) -> None:
        """Take all measures, give this process a session of its own, tie its life to the image's, take away every file
        descriptor but `keep`, point 0 at nothing and 1 and 2 at `stderr`, and set the limits that do not depend on the
        job.

        Runs in the child, right after the fork, in the image's only thread. Raises OSError when a step fails: then the
        child must not serve.
        """
        if self._steps_aside:
            step_into_pid_namespace()
        take(((os.dup2, (stderr, 1)), (os.dup2, (stderr, 2)), *self._first))
        _write(self._proc, "self/oom_score_adj", b"1000")
        process, address_space = _number_and_address_space(_read(self._proc, "self/stat"))
        others = _running(self._proc) + SHARED_USER_ROOM if self._shares_user else 0
        _close_all_but({0, 1, 2, *keep})
        _limit(resource.RLIMIT_AS, address_space + self._memory_bytes)
        _limit(resource.RLIMIT_NOFILE, max(self._open_files, *(fd + 1 for fd in keep)))
        _limit(resource.RLIMIT_NPROC, others + self._processes)
        take(self._limits)
        if self._users is not None:
            _become(self._users, process)
        take(self._last)
        if self._filter is not None:
            take((self._filter.installing(os.getpid()),))


def confine_job(seconds: float) -> None:
    """The limit that depends on when the job begins: CPU time. What was used so far, `seconds`, and a second or two of
    grace, so that the wall clock, which is exact, comes first."""
    soft = int(time.process_time() + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 1))


def confine_judge(limits: Limits) -> None:
    """A judge's own limit on memory, tighter than a check's. After `Confinement.take`."""
    _limit(
        resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)[0] - limits.memory_bytes + limits.judge_memory_bytes
    )


def set_stack(limits: Limits) -> None:
    """The image's own stack, which its children inherit. Before Lean is loaded, which looks at it once."""
    _limit(resource.RLIMIT_STACK, limits.stack_bytes)


def make_undumpable() -> None:
    """Leave no core, and let no other process of the same user read or write this one's memory."""
    prctl(PR_SET_DUMPABLE, 0)


def _choose_users() -> tuple[range | None, Measure]:
    if os.geteuid() != 0:
        return None, Measure(False, f"not root: every check runs as user {os.geteuid()}")
    failure = _failure_of_child(lambda: _become(CHECK_USERS, 1))
    if failure is None:
        return CHECK_USERS, Measure(True, "a user for each check")
    if _failure_of_child(lambda: _become(NOBODY, 0)) is None:
        return NOBODY, Measure(False, f"every check runs as user {NOBODY.start}: {failure}")
    return None, Measure(False, f"every check runs as root: {failure}")


def _choose_filter(*, may_open: bool) -> tuple[Filter | None, str | None]:
    """The filter, or why there is none."""
    try:
        chosen = compile_filter(platform.machine(), may_open=may_open)
    except KeyError:
        return None, f"there is no filter for {platform.machine()}"

    def install() -> None:
        take((setting(PR_SET_NO_NEW_PRIVS, 1), chosen.installing(os.getpid())))

    failure = _failure_of_child(install)
    return (chosen, None) if failure is None else (None, failure)


def _become(users: range, process: int) -> None:
    """Give up being root for a user of `users`."""
    user = users[process % len(users)]
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _expect_first() -> None:
    if os.getpid() != 1:
        raise ProcessLookupError("no PID namespace came of it")


def _step_and_expect_first() -> None:
    step_into_pid_namespace()
    _expect_first()


def _failure(action: Callable[[], None]) -> str | None:
    """Why an action fails; None when it does not."""
    try:
        action()
    except OSError as error:
        return error.strerror or str(error)
    return None


def _failure_of_child(action: Callable[[], None]) -> str | None:
    """Why an action fails in a child of this process."""
    reader, writer = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.write(writer, (_failure(action) or "done").encode())
        finally:
            os._exit(0)
    os.close(writer)
    said = os.read(reader, 4096).decode()
    os.close(reader)
    os.waitpid(pid, 0)
    return None if said == "done" else said or "the child died of it"


def _limiting(which: int, value: int) -> Step:
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    return resource.setrlimit, (which, (value, value))


def _limit(which: int, value: int) -> None:
    take((_limiting(which, value),))


def _number_and_address_space(stat: bytes) -> tuple[int, int]:
    """Number and bytes of address space of a process, from its /proc/PID/stat."""
    return int(stat.partition(b" ")[0]), int(stat.rpartition(b")")[2].split(maxsplit=21)[20])


def _close_all_but(kept: set[int]) -> None:
    low = 0
    for fd in sorted(kept):
        if low < fd:  # an empty range that begins at 0 closes everything (CPython 3.11)
            os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, 1 << 20)


def _running(proc: int) -> int:
    """Processes and threads on this machine."""
    return int(_read(proc, "loadavg").split()[3].partition(b"/")[2])


def _read(directory: int, name: str) -> bytes:
    """A short file, without the buffers of `open`, which a fresh child would have to copy from its parent."""
    fd = os.open(name, os.O_RDONLY, dir_fd=directory)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def _write(directory: int, name: str, data: bytes) -> None:
    fd = os.open(name, os.O_WRONLY, dir_fd=directory)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)
