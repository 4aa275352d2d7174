"""A control group for the checks of an image: one bound on the memory and the processes of all of them together, so
that many checks that are greedy at once cannot take the machine. Version 1 and 2.

One group for all, not one for each check: a check's own share is bounded by its address space and its number of
processes already. The image stays outside, so that it never waits for memory of the group's. When that is used up,
Linux kills the check that holds most.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rlmath.kernel.embedded.limits import LARGEST_SHARE, Limits, machine_memory
from rlmath.kernel.embedded.system import Step

_PREFIX = "rlmath-"
_REMOVE_PATIENCE_S = 4.0
"""For killed processes to leave their group; the image's owner waits a little longer for the image."""


@dataclass(frozen=True)
class Place:
    """A directory of the control group file system where this process's group may have a group below it."""

    directory: Path
    controllers: frozenset[str]
    version: int


@dataclass(frozen=True)
class Group:
    """A group, in each hierarchy: the descriptor of the directory that it is in, its name there, and the descriptor of
    its file that takes in whoever writes to it."""

    homes: tuple[int, ...]
    name: str
    doors: tuple[int, ...]

    def entering(self) -> list[Step]:
        """Move this process in."""
        return [(os.write, (fd, b"0")) for fd in self.doors]

    def remove(self) -> None:
        """Remove the group, when the last of its processes has died: they must be dying."""
        _remove(self.homes, self.name)


def make_group(limits: Limits, slots: int) -> tuple[Group | None, str]:
    """A new group below the one that this process is in; also, what came of it, in words."""
    name = f"{_PREFIX}{os.getpid()}"
    homes, doors = list[int](), list[int]()
    done: list[tuple[str, str]] = []
    try:
        for place in places(*_own()):
            _sweep(place.directory)
            home = os.open(place.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            homes.append(home)
            os.mkdir(name, dir_fd=home)
            for file, value in settings(place, limits, slots):
                _write_at(home, f"{name}/{file}", value)
                done.append((file, value))
            doors.append(os.open(f"{name}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC, dir_fd=home))
        if not any(file.startswith("memory.") for file, _ in done):
            raise OSError("there is no file system of control groups with a memory controller")
    except OSError as error:
        _remove(tuple(homes), name)
        return None, f"no control group can be made: {error}"
    note = ", ".join(f"{file} {value}" for file, value in done)
    return Group(tuple(homes), name, tuple(doors)), f"a control group with {note}"


def remove_left(pid: int) -> None:
    """Remove what a dead image left, which ran as process `pid` and was started by this process."""
    with contextlib.suppress(OSError):
        homes = [os.open(place.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) for place in places(*_own())]
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
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    break
                time.sleep(0.01)
            else:
                break


def _sweep(directory: Path) -> None:
    """Remove groups whose images died without removing them."""
    for left in directory.glob(f"{_PREFIX}*"):
        pid = left.name.removeprefix(_PREFIX)
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            with contextlib.suppress(OSError):
                left.rmdir()


def places(mountinfo: str, cgroups: str) -> Iterator[Place]:
    """Where groups can be made, for memory and numbers of processes. The arguments: what /proc/self/mountinfo and
    /proc/self/cgroup say. Raises OSError where version 2 does not let us."""
    for controllers, seen in _hierarchies(mountinfo, cgroups):
        wanted = controllers & {"memory", "pids"}
        for mount, directory in seen:
            if not directory.is_dir():
                continue
            if mount.kind == "cgroup" and wanted and wanted <= mount.options:
                yield Place(directory, wanted, 1)
                break
            if mount.kind == "cgroup2" and not controllers and (handed_down := _hand_down(directory)):
                yield Place(directory, handed_down, 2)
                break


def _hierarchies(mountinfo: str, cgroups: str) -> Iterator[tuple[frozenset[str], list[tuple[_Mount, Path]]]]:
    """Each hierarchy that this process is in: its controllers (none: version 2), and where the process's group might be
    seen."""
    mounts = [_Mount.of(line) for line in mountinfo.splitlines()]
    for line in cgroups.splitlines():
        _, controllers, path = line.split(":", 2)
        seen = [(mount, directory) for mount in mounts if (directory := mount.directory_of(path)) is not None]
        yield frozenset(filter(None, controllers.split(","))), seen


def memory_left() -> int:
    """Bytes that this process and others may still take before Linux has to kill one of them, as far as is to be seen:
    by the machine, by the control group that this process is in, and by those around it."""
    return min(_available(), *_left_by_groups(*_own()))


def _available() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, value, *_ = line.split()
        if name == "MemAvailable:":
            return int(value) * 1024
    return sys.maxsize


def _left_by_groups(mountinfo: str, cgroups: str) -> Iterator[int]:
    for controllers, seen in _hierarchies(mountinfo, cgroups):
        for mount, directory in seen:
            one = mount.kind == "cgroup" and "memory" in controllers & mount.options
            if one or (mount.kind == "cgroup2" and not controllers):
                for group in (directory, *directory.parents):
                    yield _left(group, 1 if one else 2)
                    if group == Path(mount.point):
                        break


def _left(group: Path, version: int) -> int:
    """A file's pages in memory count as left: Linux gives them up first."""
    most, used, prefix = (
        ("memory.max", "memory.current", "")
        if version == 2
        else ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
    )
    try:
        left = int((group / most).read_text()) - int((group / used).read_text())
        counts = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return left + sum(int(counts[f"{prefix}{kind}_file"]) for kind in ("active", "inactive"))
    except (OSError, ValueError, KeyError):  # not bounded, not there
        return sys.maxsize


def _own() -> tuple[str, str]:
    return Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text()


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


def settings(place: Place, limits: Limits, slots: int) -> Iterator[tuple[str, str]]:
    """Files of a new group for the checks of so many slots, and what to write into them."""
    if "memory" in place.controllers:
        most = min(slots * limits.memory_bytes, int(LARGEST_SHARE * machine_memory()))
        yield "memory.max" if place.version == 2 else "memory.limit_in_bytes", str(most)
    if "pids" in place.controllers:
        # Each slot has a check that runs, one ahead, and one that dies.
        yield "pids.max", str(3 * slots * limits.processes)


def _write_at(directory: int, name: str, text: str) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=directory)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
