"""The filter of system calls that a check's process runs under: what Lean needs for computing, reporting through pipes
that are open already, and ending. Everything else fails with EPERM, whatever it is and whoever adds it to Linux.

Threads can be made (Lean's task manager needs them), processes cannot; no program can be run; memory cannot be made
executable, so no code can be brought in; files can be opened for reading if at all.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from typing import Final

from rlmath.kernel.embedded.system import PR_SET_SECCOMP, Step, setting

_NUMBERS: Final[dict[str, tuple[int, int]]] = {
    # name: number on x86_64, on aarch64
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "close": (3, 57),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "lseek": (8, 62),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "getcpu": (309, 168),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "exit": (60, 93),
    "exit_group": (231, 94),
    # looked at more closely
    "openat": (257, 56),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "clone": (56, 220),
    "clone3": (435, 435),
    "tgkill": (234, 131),
    "prlimit64": (302, 261),
}
_ARCHITECTURES: Final = {"x86_64": (0, 0xC000_003E), "aarch64": (1, 0xC000_00B7)}
"""Machine: column of the table above, and how Linux names it in `seccomp_data.arch`."""

_CLONE_THREAD = 0x0001_0000
_PROT_EXEC = 4
_MORE_THAN_READING = 0o3 | 0o100 | 0o1000
"""Flags of `open`: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC."""
OWN_PID: Final = 0x7E57_ED1D
"""Stands in a compiled filter for the number of the process."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _JUMP = 0x20, 0x15, 0x35, 0x45, 0x06, 0x05
_ALLOW, _KILL = 0x7FFF_0000, 0x8000_0000
_REFUSE = 0x0005_0000 | errno.EPERM
_ABSENT = 0x0005_0000 | errno.ENOSYS
"""What libc takes as a hint to use an older call: `clone3`'s flags are out of a filter's sight."""

Instruction = tuple[int, int, int, int]
"""Operation, how many instructions to skip if it holds and if not, operand."""


class Filter:
    """A compiled filter. Made in the image, installed in its children, for which all is laid out beforehand."""

    def __init__(self, code: bytes) -> None:
        self.code = code
        """With `OWN_PID` where the number of the process belongs."""
        self._buffer = ctypes.create_string_buffer(code, len(code))
        self._pid_at = code.index(struct.pack("<I", OWN_PID))
        program = struct.pack("@HQ", len(code) // 8, ctypes.addressof(self._buffer))
        self._program = ctypes.create_string_buffer(program, len(program))
        self._address = ctypes.addressof(self._program)

    def installing(self, pid: int) -> Step:
        """Put this process, with the threads it will have, under the filter for good. After no_new_privs. `pid`: this
        process's, as it sees it itself: the only one that it may signal."""
        struct.pack_into("<I", self._buffer, self._pid_at, pid)
        return setting(PR_SET_SECCOMP, 2, self._address)


def compile_filter(machine: str, *, may_open: bool) -> Filter:
    """The filter for `machine` (as in `platform.machine()`; KeyError for one it is not written for). `may_open`:
    whether files may be opened, for reading."""
    column, architecture = _ARCHITECTURES[machine]
    closer_looks: dict[str, list[Instruction]] = {
        "openat": _look(2, _ANY_BIT, _MORE_THAN_READING, _REFUSE, _ALLOW if may_open else _REFUSE),
        "mmap": _look(2, _ANY_BIT, _PROT_EXEC, _REFUSE, _ALLOW),
        "mprotect": _look(2, _ANY_BIT, _PROT_EXEC, _REFUSE, _ALLOW),
        "clone": _look(0, _ANY_BIT, _CLONE_THREAD, _ALLOW, _REFUSE),
        "clone3": [(_RETURN, 0, 0, _ABSENT)],
        "tgkill": _look(0, _EQUAL, OWN_PID, _ALLOW, _REFUSE),
        "prlimit64": _look(0, _EQUAL, 0, _ALLOW, _REFUSE),
    }
    plain: list[Instruction] = [(_RETURN, 0, 0, _ALLOW)]
    rules = {numbers[column]: closer_looks.get(name, plain) for name, numbers in _NUMBERS.items()}
    code: list[Instruction] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        *_search(sorted(rules), rules),
    ]
    return Filter(b"".join(struct.pack("<HBBI", *instruction) for instruction in code))


def _look(argument: int, test: int, operand: int, then: int, otherwise: int) -> list[Instruction]:
    """Decide by the low half of an argument, which is all that the kernel reads of these."""
    return [(_LOAD, 0, 0, 16 + 8 * argument), (test, 0, 1, operand), (_RETURN, 0, 0, then), (_RETURN, 0, 0, otherwise)]


def _search(numbers: list[int], rules: dict[int, list[Instruction]]) -> list[Instruction]:
    """Find the call's number among `numbers`, by halves: Linux runs the filter once for each call there is when it is
    installed."""
    if len(numbers) == 1:
        rule = rules[numbers[0]]
        return [(_EQUAL, 0, len(rule), numbers[0]), *rule, (_RETURN, 0, 0, _REFUSE)]
    middle = len(numbers) // 2
    below, above = (_search(half, rules) for half in (numbers[:middle], numbers[middle:]))
    return [(_AT_LEAST, len(below), 0, numbers[middle]), *below, *above]
