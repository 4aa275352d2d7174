"""A control group around an image and its children: one bound on the memory and the processes of all of them together,
so that many checks that are greedy at once cannot take the machine. Version 1 and 2.

One group for all, not one for each check: to move a process between groups stops every fork on the machine for a while
(some milliseconds here), and one check's share is bounded by its address space already. When the group's memory is
used up, Linux kills the process that holds most, which `oom_score_adj` makes a check and never the image.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rlmath.kernel.embedded.limits import Limits

_PREFIX = "rlmath-"
_OWN_MEMORY = 1 << 30
"""Bytes for the image itself."""
_LARGEST_SHARE = 0.8
"""Of the machine's memory, whatever the limits add up to."""
_REMOVE_PATIENCE_S = 1.0
"""For killed processes to leave their group."""


@dataclass(frozen=True)
class _Place:
    """A directory of the control group file system where this process's group may have a group below it."""

    directory: Path
    controllers: frozenset[str]
    version: int


@dataclass(frozen=True)
class Group:
    """The group of an image, in each hierarchy: the descriptor of the directory it is in, and its name there."""

    homes: tuple[int, ...]
    name: str

    def dissolve(self) -> None:
        """Take this process out again and remove the group; its other processes must be dead or dying."""
        for home in self.homes:
            with contextlib.suppress(OSError):
                _write_at(home, "cgroup.procs", str(os.getpid()))
        _remove(self.homes, self.name)


def join(limits: Limits, slots: int) -> tuple[Group | None, str]:
    """Move this process into a new group below the one it is in; also, what came of it, in words."""
    name = f"{_PREFIX}{os.getpid()}"
    memory = min(slots * limits.memory_bytes + _OWN_MEMORY, int(_LARGEST_SHARE * _machine_memory()))
    # Each slot has a child that runs, one ahead, and one that is being reaped.
    processes = 3 * slots * limits.processes
    homes: list[int] = []
    done: set[str] = set()
    try:
        for place in _places():
            _sweep(place.directory)
            home = os.open(place.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            homes.append(home)
            os.mkdir(name, dir_fd=home)
            for file, value in _settings(place, memory, processes):
                _write_at(home, f"{name}/{file}", value)
            _write_at(home, f"{name}/cgroup.procs", str(os.getpid()))
            done |= place.controllers
    except OSError as error:
        Group(tuple(homes), name).dissolve()
        return None, f"no control group can be made: {error}"
    if "memory" not in done:
        return None, "there is no control group file system with a memory controller"
    return Group(tuple(homes), name), f"a control group of {memory / 2**30:.1f} GiB" + (
        f" and {processes} processes" if "pids" in done else ""
    )


def remove_left(pid: int) -> None:
    """Remove what a dead image left, which ran as process `pid` and was started by this process."""
    with contextlib.suppress(OSError):
        homes = [os.open(place.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) for place in _places()]
        try:
            _remove(tuple(homes), f"{_PREFIX}{pid}")
        finally:
            for home in homes:
                os.close(home)


def _remove(homes: tuple[int, ...], name: str) -> None:
    deadline = time.monotonic() + _REMOVE_PATIENCE_S
    for home in homes:
        while True:
            try:
                os.rmdir(name, dir_fd=home)
            except FileNotFoundError:
                break
            except OSError:
                if time.monotonic() > deadline:
                    break
                time.sleep(0.01)


def _sweep(directory: Path) -> None:
    """Remove groups whose images died without removing them."""
    for left in directory.glob(f"{_PREFIX}*"):
        pid = left.name.removeprefix(_PREFIX)
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            with contextlib.suppress(OSError):
                left.rmdir()


def _places() -> Iterator[_Place]:
    """Where groups can be made, for memory and numbers of processes. Raises OSError where version 2 does not let us."""
    mounts = [_Mount.of(line) for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        wanted = frozenset(controllers.split(",")) & {"memory", "pids"}
        for mount in mounts:
            directory = mount.directory_of(path)
            if directory is None or not directory.is_dir():
                continue
            if mount.kind == "cgroup" and wanted and wanted <= mount.options:
                yield _Place(directory, wanted, 1)
                break
            if mount.kind == "cgroup2" and not controllers and (handed_down := _hand_down(directory)):
                yield _Place(directory, handed_down, 2)
                break


@dataclass(frozen=True)
class _Mount:
    """One line of mountinfo: what of a file system is where."""

    root: str
    point: str
    kind: str
    options: frozenset[str]

    @classmethod
    def of(cls, line: str) -> _Mount:
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        root, point = before.split(" ")[3:5]
        return cls(root, point, kind, frozenset(options.split(",")))

    def directory_of(self, path: str) -> Path | None:
        """Where a group's directory is to be seen in this mount; None: nowhere."""
        below = os.path.relpath(path, self.root)
        return None if below.startswith("..") else Path(self.point, below)


def _hand_down(directory: Path) -> frozenset[str]:
    """The controllers that groups below a version 2 group have, after asking for ours."""
    ours = {"memory", "pids"} & set((directory / "cgroup.controllers").read_text().split())
    enabled = directory / "cgroup.subtree_control"
    if ours - set(enabled.read_text().split()):
        enabled.write_text(" ".join(f"+{controller}" for controller in sorted(ours)))
    return frozenset(ours)


def _settings(place: _Place, memory: int, processes: int) -> Iterator[tuple[str, str]]:
    """Files of a new group and what to write into them."""
    if "memory" in place.controllers:
        yield "memory.max" if place.version == 2 else "memory.limit_in_bytes", str(memory)
    if "pids" in place.controllers:
        yield "pids.max", str(processes)


def _write_at(directory: int, name: str, text: str) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=directory)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _machine_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
