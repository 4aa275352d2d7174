"""Namespaces: what a process can see and name of the rest of the machine.

Files and network are put out of sight once, in the image, whose children inherit that: the one is empty and read-only
and the other has nothing in it, so that two children share nothing through them. A PID and an IPC namespace, which
hold what a check makes, are made for each child. (A network namespace for each child costs about 0.5 ms of CPU, more
than all other measures together.)
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from rlmath.kernel.embedded.system import (
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    NEW_MOUNTS,
    NEW_PID,
    NEW_USER,
    PR_SET_PDEATHSIG,
    Step,
    make_working_directory_root,
    mount,
    prctl,
    setting_namespace,
    take,
    unshare,
    unsharing,
)


def enter_user_namespace() -> None:
    """Give this process all powers over namespaces of its own, as the user it is. Single-threaded and dumpable."""
    uid, gid = os.geteuid(), os.getegid()
    unshare(NEW_USER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def enter_mount_namespace() -> None:
    """From now on this process's mounts are its own. It still sees the files of before."""
    unshare(NEW_MOUNTS)
    mount(None, "/", MS_REC | MS_PRIVATE)


def leave_files() -> None:
    """Change this process's root for an empty, read-only one. In a mount namespace of its own.

    There is one file in it, a `/proc/self/maps` that holds no more than the lines about the main thread's stack: with
    it Lean tells a stack overflow from another fault, in the image's children too, whose stack is at the same place.
    """
    stack = stack_lines(Path("/proc/self/maps").read_text())
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    # On a directory that is always there. What it held is not needed any more.
    mount("tmpfs", "/proc", flags, "size=16k,nr_inodes=8,mode=0755")
    os.chdir("/proc")
    make_working_directory_root()
    os.makedirs("/proc/self", mode=0o755)
    Path("/proc/self/maps").write_text(stack)
    mount(None, "/", flags | MS_REMOUNT | MS_RDONLY)


def isolating_next_child(own: int) -> tuple[Step, ...]:
    """The next child that this process forks is the first of a new PID namespace. `own`: this process's own."""
    return setting_namespace(own, NEW_PID), unsharing(NEW_PID)


def share_with_children(own: int) -> None:
    """The children that this process forks are in its own PID namespace again."""
    take((setting_namespace(own, NEW_PID),))


def step_into_pid_namespace() -> None:
    """Go on as the first process of a new PID namespace, in a child of this process, which stays behind and ends as
    that one does. For a process that may not do as `isolating_next_child` does: one more fork."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    unshare(NEW_PID)
    if (first := os.fork()) == 0:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        return
    os.closerange(0, 1 << 20)  # readers wait for the last writer of their pipe
    code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    if code < 0:
        with contextlib.suppress(OSError):  # of SIGKILL
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def stack_lines(maps: str) -> str:
    """The main thread's stack and the mapping below it, which bounds its growth."""
    lines = maps.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.rstrip().endswith("[stack]"))
    return "".join(lines[max(at - 1, 0) : at + 1])
