"""A process and its descendants, as /proc shows them. Where there is no /proc, a process is all there is to see."""

from __future__ import annotations

import contextlib
import os
import signal
from collections import defaultdict


def tree(pid: int) -> list[int]:
    """`pid` and its descendants, parents before children. A descendant whose parent has died is not among them."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    with contextlib.suppress(FileNotFoundError):
        for entry in os.listdir("/proc"):
            if entry.isdecimal() and (parent := _parent(entry)) is not None:
                children[parent].append(int(entry))
    found = [pid]
    for each in found:
        found += children[each]
    return found


def kill_tree(pid: int) -> None:
    """Kill a process that leads a session of its own, its descendants, and its process group."""
    for each in tree(pid):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(each, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def resident_bytes(pid: int) -> int:
    """Resident memory of a process and its descendants, shared pages counted once a process; 0 when it is gone."""
    return sum(map(own_resident_bytes, tree(pid)))


def _parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The second field, the name, is in parentheses and may hold anything.
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def own_resident_bytes(pid: int) -> int:
    """Resident memory of one process, its mapped files included; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return 0
