"""A process that ends what a local Ray leaves behind when the program that started it is killed.

Ray's own servers die with that program. Two agents that its node manager started do not: they try for a minute to
report the death to a server that is gone as well (Ray 2.60, `ray._private.process_watcher`). Run as a file of its own,
with nothing but the standard library: `python ray_guard.py OWNER PID:STARTED …`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

POLL_S = 0.5
GRACE_S = 3.0
"""For the processes to end by themselves, after their owner is gone."""


def start_guard(since: set[int]) -> subprocess.Popen[bytes] | None:
    """Watch over the processes of Ray among those that this process has started beyond `since`.

    None where there is no /proc to tell. Whoever ends Ray in good order kills the guard afterwards.
    """
    if not sys.platform.startswith("linux"):
        return None
    started = [f"{pid}:{_start_time(pid)}" for pid in descendants(os.getpid()) if pid not in since and _is_ray(pid)]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, str(os.getpid()), *started],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def end_ray(since: set[int]) -> None:
    """Kill the processes of Ray among those that this process has started beyond `since`: what a failed start left."""
    for pid in descendants(os.getpid()):
        if pid not in since and _is_ray(pid):
            _kill(pid)


def descendants(pid: int) -> list[int]:
    """Pids of all that a process started and what those started; empty where there is no /proc."""
    found: list[int] = []
    try:
        for listing in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, listing.read_text().split()):
                found += [child, *descendants(child)]
    except OSError:
        return found
    return found


def _is_ray(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return command.startswith(b"ray::") or b"/ray/" in command


def _start_time(pid: int) -> str | None:
    """When the process began, in the kernel's ticks: with it, a pid used again is told apart. None: there is no such
    process.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except OSError:
        return None


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _watch(owner: int, watched: dict[int, str]) -> None:
    while os.getppid() == owner:
        time.sleep(POLL_S)
    deadline = time.monotonic() + GRACE_S
    while time.monotonic() < deadline and any(_start_time(pid) == began for pid, began in watched.items()):
        time.sleep(POLL_S)
    for pid, began in watched.items():
        if _start_time(pid) == began:
            _kill(pid)


if __name__ == "__main__":
    _watch(int(sys.argv[1]), {int(pid): began for pid, began in (a.split(":") for a in sys.argv[2:])})
