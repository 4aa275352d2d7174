"""The processes of a warm image, and what CPU time they took."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from rlmath.kernel.embedded import warden


def checks_of(image: int) -> list[int]:
    """Process ids of its checks, those forked ahead of need among them."""
    return [pid for pid in _children(image) if Path(f"/proc/{pid}/comm").read_text().strip() != warden.NAME]


def cpu_seconds(image: int) -> float:
    """CPU time of an image, its warden and all its checks, those that have ended among them."""
    ticks = sum(_times(image))
    for pid in _children(image):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            ticks += sum(_times(pid)[:2])
    return ticks / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _times(pid: int) -> list[int]:
    """Ticks in user and system mode, its own and those of its children that have ended."""
    return list(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
