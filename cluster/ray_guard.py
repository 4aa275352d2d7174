"""A process that removes what a program leaves behind when it is killed: processes of a Ray that it has started, and
folders that were for its own time.

Ray's own servers die with that program. Two agents that its node manager started do not: they try for a minute to
report the death to a server that is gone as well (Ray 2.60, `ray._private.process_watcher`). Run as a file of its own,
with nothing but the standard library: `python ray_guard.py OWNER [PID:STARTED | FOLDER] …`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
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
    return _start(started)


def start_sweeper(folder: Path) -> subprocess.Popen[bytes]:
    """Remove the folder when this process was killed. Whoever removes it in good order kills the sweeper afterwards."""
    return _start([str(folder.absolute())])


def _start(what: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, str(os.getpid()), *what],
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


def _watch(owner: int, watched: dict[int, str], folders: list[str]) -> None:
    while os.getppid() == owner:
        time.sleep(POLL_S)
    deadline = time.monotonic() + GRACE_S
    while time.monotonic() < deadline and (folders or any(_start_time(p) == began for p, began in watched.items())):
        time.sleep(POLL_S)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    for pid, began in watched.items():
        if _start_time(pid) == began:
            _kill(pid)


if __name__ == "__main__":
    paths = [what for what in sys.argv[2:] if what.startswith("/")]
    pids = (what.split(":") for what in sys.argv[2:] if not what.startswith("/"))
    _watch(int(sys.argv[1]), {int(pid): began for pid, began in pids}, paths)
