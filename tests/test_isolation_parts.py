"""The parts of isolation that are pure or need no privileges: the compiled filter for both machines, and where control
groups are to be made."""

from __future__ import annotations

import errno
import os
import struct
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from rlmath.kernel.embedded import cgroup, namespaces
from rlmath.kernel.embedded.isolation import Isolation, Measure
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.embedded.seccomp import OWN_PID, compile_filter

# -- the filter

ALLOW, KILL, REFUSE, ABSENT = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {
    # name: number on x86_64, on aarch64; from Linux's own tables
    "read": (0, 63),
    "write": (1, 64),
    "futex": (202, 98),
    "munmap": (11, 215),
    "exit_group": (231, 94),
    "execve": (59, 221),
    "socket": (41, 198),
    "ptrace": (101, 117),
    "kill": (62, 129),
    "mount": (165, 40),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "io_uring_setup": (425, 425),
    "clone": (56, 220),
    "clone3": (435, 435),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "openat": (257, 56),
    "tgkill": (234, 131),
    "prlimit64": (302, 261),
}


def verdict(code: bytes, number: int, arguments: tuple[int, ...] = (), architecture: int = 0) -> int:
    """What Linux does with a call: the filter's program run as networking(7)'s classic BPF."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    program = list(struct.iter_unpack("<HBBI", code))
    accumulator, at = 0, 0
    while True:
        operation, if_true, if_false, operand = program[at]
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, operand)
        elif operation == 0x06:
            return int(operand)
        else:
            holds = {0x15: accumulator == operand, 0x35: accumulator >= operand, 0x45: accumulator & operand != 0}
            at += if_true if holds[operation] else if_false


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ask(machine: str, name: str, *arguments: int, may_open: bool = True) -> int:
    code = compile_filter(machine, may_open=may_open).code
    number = CALLS[name][("x86_64", "aarch64").index(machine)]
    return verdict(code, number, arguments, ARCHITECTURE[machine])


@pytest.mark.parametrize("name", ["read", "write", "futex", "munmap", "exit_group"])
def test_computing_and_reporting_are_allowed(machine: str, name: str) -> None:
    assert ask(machine, name) == ALLOW


@pytest.mark.parametrize(
    "name", ["execve", "socket", "ptrace", "kill", "mount", "bpf", "keyctl", "io_uring_setup", "clone"]
)
def test_the_rest_is_refused(machine: str, name: str) -> None:
    assert ask(machine, name) == REFUSE


def test_threads_can_be_made_and_processes_cannot(machine: str) -> None:
    thread = 0x3D0F00
    assert ask(machine, "clone", thread) == ALLOW
    assert ask(machine, "clone", 0x01200011) == REFUSE
    assert ask(machine, "clone3") == ABSENT


def test_memory_cannot_be_made_executable(machine: str) -> None:
    for name in ("mmap", "mprotect"):
        assert ask(machine, name, 0, 4096, 3) == ALLOW
        assert ask(machine, name, 0, 4096, 5) == REFUSE


def test_files_can_be_opened_for_reading_if_at_all(machine: str) -> None:
    for flags, allowed in ((0, True), (os.O_CLOEXEC, True), (1, False), (2, False), (0o100, False), (0o1000, False)):
        assert ask(machine, "openat", 0, 0, flags) == (ALLOW if allowed else REFUSE)
        assert ask(machine, "openat", 0, 0, flags, may_open=False) == REFUSE


def test_a_process_may_signal_and_limit_itself_alone(machine: str) -> None:
    number = CALLS["tgkill"][("x86_64", "aarch64").index(machine)]
    code = compile_filter(machine, may_open=True).code.replace(struct.pack("<I", OWN_PID), struct.pack("<I", 4711))
    assert verdict(code, number, (4711, 4711, 6), ARCHITECTURE[machine]) == ALLOW
    assert verdict(code, number, (4712, 4712, 6), ARCHITECTURE[machine]) == REFUSE
    assert ask(machine, "prlimit64", 0) == ALLOW
    assert ask(machine, "prlimit64", 4712) == REFUSE


def test_of_all_numbers_few_are_allowed_and_no_other_architectures(machine: str) -> None:
    code = compile_filter(machine, may_open=True).code
    allowed = [n for n in range(2000) if verdict(code, n, (), ARCHITECTURE[machine]) == ALLOW]
    assert 30 <= len(allowed) <= 45
    x32 = 0x4000_0000
    assert all(verdict(code, n | x32, (), ARCHITECTURE[machine]) == REFUSE for n in allowed)
    i386 = 0x4000_0003
    assert {verdict(code, n, (), i386) for n in range(500)} == {KILL}


def test_there_is_no_filter_for_other_machines() -> None:
    with pytest.raises(KeyError):
        compile_filter("riscv64", may_open=True)


# -- what the kernel tells


def test_only_what_is_off_and_asked_for_is_missing() -> None:
    on, off = Measure(True, "how"), Measure(False, "why")
    isolation = Isolation(
        processes=off, files=on, network=on, ipc=on, user=off, system_calls=on, memory=Measure(False, "no group")
    )
    assert isolation.missing == ("processes (why)", "user (why)")
    assert Isolation.of(asdict(isolation)) == isolation
    assert [name for name, measure in isolation if not measure.on] == ["processes", "user", "memory"]


def test_the_stack_and_what_bounds_it_are_told() -> None:
    lines = [
        "1000-2000 r--p 0 0:0 0 /lib",
        "3000-4000 rw-p 0 0:0 0",
        "7f00-7fff rw-p 0 0:0 0 [stack]",
        "8000-9000 [vdso]",
    ]
    maps = "\n".join(lines)
    assert namespaces.stack_lines(maps) == "".join(maps.splitlines(keepends=True)[1:3])
    assert namespaces.stack_lines("7f00-7fff rw-p 0 0:0 0 [stack]\n") == "7f00-7fff rw-p 0 0:0 0 [stack]\n"


def test_version_2_hands_controllers_down(tmp_path: Path) -> None:
    home = tmp_path / "service"
    home.mkdir()
    (home / "cgroup.controllers").write_text("cpu io memory pids\n")
    (home / "cgroup.subtree_control").write_text("cpu\n")
    mount = f"30 20 0:26 / {tmp_path} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
    (place,) = cgroup.places(mount, "0::/service\n")
    assert (place.directory, place.controllers, place.version) == (home, frozenset({"memory", "pids"}), 2)
    assert (home / "cgroup.subtree_control").read_text() == "+memory +pids"
    settings = dict(cgroup.settings(place, Limits(memory_bytes=1 << 20, processes=5), slots=2))
    assert settings == {"memory.max": str(2 << 20), "pids.max": "30"}


def test_version_1_has_a_hierarchy_for_each_controller(tmp_path: Path) -> None:
    for name in ("memory/jobs/1", "pids"):
        (tmp_path / name).mkdir(parents=True)
    mounts = "".join(
        f"3{n} 20 0:2{n} {root} {tmp_path}/{name} rw,nosuid - cgroup cgroup rw,{name}\n"
        for n, (name, root) in enumerate({"memory": "/", "pids": "/box", "freezer": "/"}.items())
    )
    groups = "4:memory:/jobs/1\n3:pids:/box\n2:freezer:/\n1:name=systemd:/\n0::/\n"
    found = {tuple(place.controllers): place for place in cgroup.places(mounts, groups)}
    assert {name: place.directory for name, place in found.items()} == {
        ("memory",): tmp_path / "memory/jobs/1",
        ("pids",): tmp_path / "pids",
    }
    assert {place.version for place in found.values()} == {1}
    (setting,) = cgroup.settings(found["memory",], Limits(memory_bytes=1 << 20), slots=1)
    assert setting == ("memory.limit_in_bytes", str(1 << 20))


def test_what_is_left_is_what_the_tightest_group_around_has_and_what_files_hold_of_it(tmp_path: Path) -> None:
    one, two, mib = tmp_path / "memory", tmp_path / "unified", 1 << 20

    def group(directory: Path, names: tuple[str, str], most: str, used: int, prefix: str) -> None:
        directory.mkdir(parents=True)
        (directory / names[0]).write_text(most)
        (directory / names[1]).write_text(str(used))
        counts = f"anon 7\n{prefix}active_file {3 * mib}\n{prefix}inactive_file {2 * mib}\n"
        (directory / "memory.stat").write_text(counts)

    first, second = ("memory.limit_in_bytes", "memory.usage_in_bytes"), ("memory.max", "memory.current")
    group(one, first, str(100 * mib), 40 * mib, "total_")
    group(one / "a", first, str(90 * mib), 10 * mib, "total_")
    group(two / "a/b", second, "max\n", 10 * mib, "")
    group(two / "c", second, str(20 * mib), 10 * mib, "")
    mounts = (
        f"30 20 0:26 / {one} rw shared:4 - cgroup cgroup rw,memory\n"
        f"31 20 0:27 / {tmp_path / 'pids'} rw shared:4 - cgroup cgroup rw,pids\n"
        f"32 20 0:28 / {two} rw shared:4 - cgroup2 cgroup2 rw\n"
    )
    assert min(cgroup._left_by_groups(mounts, "4:memory:/a\n3:pids:/a\n0::/a/b\n")) == 65 * mib
    assert min(cgroup._left_by_groups(mounts, "0::/a/b\n")) == sys.maxsize
    assert min(cgroup._left_by_groups(mounts, "0::/c\n")) == 15 * mib
    assert list(cgroup._left_by_groups("", "0::/c\n")) == []
    assert 0 < cgroup.memory_left() < 1 << 50


def test_a_group_outside_of_what_is_mounted_is_no_place(tmp_path: Path) -> None:
    mount = f"30 20 0:26 /container {tmp_path} rw - cgroup cgroup rw,memory\n"
    assert list(cgroup.places(mount, "4:memory:/elsewhere\n")) == []
