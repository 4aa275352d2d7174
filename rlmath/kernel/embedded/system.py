"""System calls of Linux that Python 3.11 does not have, through libc. Each raises OSError when it fails."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct
from collections.abc import Callable, Iterable
from typing import Any, Final

NEW_MOUNTS: Final = 0x0002_0000
NEW_IPC: Final = 0x0800_0000
NEW_USER: Final = 0x1000_0000
NEW_PID: Final = 0x2000_0000
NEW_NETWORK: Final = 0x4000_0000
"""Kinds of namespaces, for `unshare` and `setns`."""

MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_NOEXEC: Final = 8
MS_REMOUNT: Final = 32
MS_REC: Final = 1 << 14
MS_PRIVATE: Final = 1 << 18

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_SECCOMP: Final = 22
PR_SET_NO_NEW_PRIVS: Final = 38

_PR_SET_NAME = 15
_MNT_DETACH = 2
_MAP_PRIVATE, _MAP_ANONYMOUS = 2, 0x20
_MREMAP_MAYMOVE, _MREMAP_FIXED = 1, 2
_CAPABILITY_VERSION = 0x2008_0522
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
"""libc has no function for this one."""

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
# Bound once, in the image: a child does not look anything up.
_prctl, _unshare, _setns, _mount, _umount2, _syscall, _capset, _signal, _exit = (
    getattr(_LIBC, name)
    for name in ("prctl", "unshare", "setns", "mount", "umount2", "syscall", "capset", "signal", "_exit")
)
# With the types known, plain numbers go in: a fresh child makes no object for each.
_unshare.argtypes = (ctypes.c_int,)
_setns.argtypes = (ctypes.c_int, ctypes.c_int)
_prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)
_signal.argtypes, _signal.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_ssize_t
_mmap, _mremap, _mprotect, _madvise, _munmap = (
    getattr(_LIBC, name) for name in ("mmap", "mremap", "mprotect", "madvise", "munmap")
)
_SPAN = (ctypes.c_void_p, ctypes.c_size_t)
_mmap.argtypes, _mmap.restype = (*_SPAN, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long), ctypes.c_void_p
_mremap.argtypes, _mremap.restype = (*_SPAN, ctypes.c_size_t, ctypes.c_int), ctypes.c_void_p
_mprotect.argtypes = _madvise.argtypes = (*_SPAN, ctypes.c_int)
_munmap.argtypes = _SPAN
_FAILED = ctypes.c_void_p(-1).value
_NO_CAPABILITIES: Final = (
    ctypes.create_string_buffer(struct.pack("<Ii", _CAPABILITY_VERSION, 0), 8),
    ctypes.create_string_buffer(24),
)


Step = tuple[Callable[..., Any], tuple[Any, ...]]
"""A call, and what it gets: laid out in the image, so that a child has nothing to look up."""


def take(steps: Iterable[Step]) -> None:
    """Make these calls, one after the other. Raises the OSError of the first that fails: Python's own, or of a function
    of libc's, which then answers -1."""
    for call, arguments in steps:
        if call(*arguments) == -1:
            raise _error(call.__name__)


def unsharing(kinds: int) -> Step:
    """Move this process (for PID: its future children) into new namespaces."""
    return _unshare, (kinds,)


def setting_namespace(fd: int, kind: int) -> Step:
    """Move this process (for PID: its future children) into the namespace that `fd` stands for."""
    return _setns, (fd, kind)


def setting(option: int, value: int, more: int = 0) -> Step:
    """See prctl(2)."""
    return _prctl, (option, value, more, 0, 0)


def dropping_capabilities() -> Step:
    """Give up all capabilities for good."""
    return _capset, _NO_CAPABILITIES


def exiting_when_aborted() -> Step:
    """Have `abort()` end this process with exit code SIGABRT: the first process of a PID namespace does not die of
    a signal that it sends itself."""
    return _signal, (signal.SIGABRT, _exit)


def unshare(kinds: int) -> None:
    """Move this process (for PID: its future children) into new namespaces."""
    take((unsharing(kinds),))


def mount(kind: str | None, target: str, flags: int, options: str | None = None) -> None:
    """Mount a new file system of that kind, or (None) change the mount that is there."""
    source, data = (None if text is None else text.encode() for text in (kind, options))
    _check(_mount(source, target.encode(), source, ctypes.c_ulong(flags), data), f"mount {target}")


def map_memory(length: int) -> int:
    """New memory of this process's own, to read and write; its address."""
    address: int = _mmap(None, length, 3, _MAP_PRIVATE | _MAP_ANONYMOUS, -1, 0)
    _check(int(address == _FAILED), "mmap")
    return address


def move_mapping(start: int, length: int, target: int) -> None:
    """Put the memory at `start` in the place of what is at `target`."""
    moved = _mremap(start, length, length, _MREMAP_MAYMOVE | _MREMAP_FIXED, ctypes.c_void_p(target))
    _check(int(moved != target), "mremap")


def protect(start: int, length: int, protection: int) -> None:
    """See mprotect(2)."""
    _check(_mprotect(start, length, protection), "mprotect")


def advise(start: int, length: int, advice: int) -> None:
    """See madvise(2)."""
    _check(_madvise(start, length, advice), "madvise")


def unmap(start: int, length: int) -> None:
    """See munmap(2): what is not mapped is no error."""
    _check(_munmap(start, length), "munmap")


def make_working_directory_root() -> None:
    """Make the mount at the working directory the root, and let go of the old one."""
    _check(_syscall(ctypes.c_long(_PIVOT_ROOT[platform.machine()]), b".", b"."), "pivot_root")
    _check(_umount2(b".", ctypes.c_int(_MNT_DETACH)), "umount2")
    os.chdir("/")


def prctl(option: int, value: int, more: int = 0) -> None:
    """See prctl(2)."""
    take((setting(option, value, more),))


def name_process(name: str) -> None:
    """Give this process a name (up to 15 bytes of ASCII) for `ps` and `top`."""
    buffer = ctypes.create_string_buffer(name.encode("ascii"))
    prctl(_PR_SET_NAME, ctypes.addressof(buffer))


def _check(result: int, what: str) -> None:
    if result != 0:
        raise _error(what)


def _error(what: str) -> OSError:
    """Of libc's last call."""
    code = ctypes.get_errno()
    return OSError(code, f"{what}: {os.strerror(code)}")
