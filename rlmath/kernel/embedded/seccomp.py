"""The filter of system calls that a check's process runs under: what Lean needs for computing, reporting through pipes
that are open already, and ending. Everything else fails with EPERM, whatever it is and whoever adds it to Linux.

Threads can be made (Lean's task manager needs them), processes cannot; no program can be run; memory cannot be made
executable, so no code can be brought in; files can be opened for reading if at all.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from dataclasses import dataclass
from typing import Final

from rlmath.kernel.embedded.system import PR_SET_SECCOMP, prctl

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
_OPEN_FOR_MORE_THAN_READING = 0o3 | 0o100 | 0o1000
"""O_WRONLY, O_RDWR, O_CREAT, O_TRUNC."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _JUMP = 0x20, 0x15, 0x35, 0x45, 0x06, 0x05
_ALLOW, _KILL = 0x7FFF_0000, 0x8000_0000
_REFUSE = 0x0005_0000 | errno.EPERM
_ABSENT = 0x0005_0000 | errno.ENOSYS
"""What libc takes as a hint to use an older call: `clone3`'s flags are out of a filter's sight."""

Instruction = tuple[int, int, int, int]
"""Operation, how many instructions to skip if it holds and if not, operand."""


@dataclass(frozen=True)
class Filter:
    """A compiled filter."""

    code: bytes
    own_pid_at: int
    """Where in it the number of the process belongs (32 bits), the only one that it may signal."""

    def install(self, pid: int) -> None:
        """Put this process, its threads to come included, under the filter for good. After no_new_privs. `pid`: as
        the process itself sees it."""
        code = ctypes.create_string_buffer(self.code, len(self.code))
        struct.pack_into("<I", code, self.own_pid_at, pid)
        program = ctypes.create_string_buffer(struct.pack("@HxxxxxxQ", len(self.code) // 8, ctypes.addressof(code)), 16)
        prctl(PR_SET_SECCOMP, 2, ctypes.addressof(program))


def compile_filter(machine: str, *, may_open: bool) -> Filter:
    """The filter for `machine` (as in `platform.machine()`; KeyError for one it is not written for). `may_open`:
    whether files may be opened for reading."""
    column, architecture = _ARCHITECTURES[machine]
    blocks: dict[str, list[Instruction]] = {
        "openat": _argument(2, _ANY_BIT, _OPEN_FOR_MORE_THAN_READING, _REFUSE, _ALLOW if may_open else _REFUSE),
        "mmap": _argument(2, _ANY_BIT, _PROT_EXEC, _REFUSE, _ALLOW),
        "mprotect": _argument(2, _ANY_BIT, _PROT_EXEC, _REFUSE, _ALLOW),
        "clone": _argument(0, _ANY_BIT, _CLONE_THREAD, _ALLOW, _REFUSE),
        "clone3": [(_RETURN, 0, 0, _ABSENT)],
        "tgkill": _argument(0, _EQUAL, 0, _ALLOW, _REFUSE),
        "prlimit64": _argument(0, _EQUAL, 0, _ALLOW, _REFUSE),
    }
    plain = [(_RETURN, 0, 0, _ALLOW)]
    calls = {numbers[column]: blocks.get(name, plain) for name, numbers in _NUMBERS.items()}
    code: list[Instruction] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        *_search(sorted(calls), calls),
    ]
    signalling = next(i for i in range(len(code)) if code[i : i + len(blocks["tgkill"])] is not None and False) if 0 else 0
    raise NotImplementedError(signalling)
