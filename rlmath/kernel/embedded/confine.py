"""Shutting a freshly forked child in, before anything untrusted reaches it. The one place where isolation happens."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from typing import Final

from rlmath.kernel.embedded.limits import Limits

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38

_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def confine(limits: Limits, *, image: int, keep: tuple[int, ...], stderr: int) -> None:
    """Give this process a session of its own, tie its life to the `image` process's, take away every file descriptor
    but `keep`, point 0 at nothing and 1 and 2 at `stderr`, and set the limits that do not depend on the job.

    Runs in the child, right after the fork, in the image's only thread. Raises OSError when a step fails: then the
    child must not serve.
    """
    os.setsid()
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != image:
        raise ProcessLookupError("the image died before its child could watch it")
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    make_undumpable()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(stderr, 1)
    os.dup2(stderr, 2)
    _close_all_but({0, 1, 2, *keep})
    _limit(resource.RLIMIT_AS, _address_space() + limits.memory_bytes)
    _limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, max(limits.open_files, *(fd + 1 for fd in keep)))


def confine_job(limits: Limits, seconds: float) -> None:
    """The limits that depend on when the job begins: CPU time, and processes.

    CPU: what was used so far, `seconds`, and a second or two of grace, so that the wall clock, which is exact, comes
    first. Processes: the system counts all of a user's, whatever they belong to, so the limit is what the whole
    machine has now and `limits.processes`.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 1))
    running = int(_read("/proc/loadavg").split()[3].partition(b"/")[2])
    _limit(resource.RLIMIT_NPROC, running + limits.processes)


def confine_judge(limits: Limits) -> None:
    """A judge's own limit on memory, tighter than a check's."""
    _limit(resource.RLIMIT_AS, _address_space() + limits.judge_memory_bytes)


def set_stack(limits: Limits) -> None:
    """The image's own stack, which its children inherit. Before Lean is loaded, which looks at it once."""
    _limit(resource.RLIMIT_STACK, limits.stack_bytes)


def make_undumpable() -> None:
    """Leave no core, and let no other process of the same user read or write this one's memory."""
    _prctl(PR_SET_DUMPABLE, 0)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"prctl({option}): {os.strerror(code)}")


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))


def _close_all_but(kept: set[int]) -> None:
    low = 0
    for fd in sorted(kept):
        if low < fd:  # an empty range that begins at 0 closes everything (CPython 3.11)
            os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, 1 << 20)


def _address_space() -> int:
    return int(_read("/proc/self/statm").split()[0]) * resource.getpagesize()


def _read(path: str) -> bytes:
    """A short file, without the buffers of `open`, which a fresh child would have to copy from its parent."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)
