"""Runs a Python script as an ordinary user who owns nothing, from a test that is root.

    python tests/unprivileged.py DIRECTORY USER NAMESPACES SCRIPT

Python, this repository and the compiled prelude may lie where only root may go, so they are mounted below DIRECTORY
first, in a mount namespace that ends with the script. USER: its number, 0 for root. NAMESPACES 0: the script can make
none, as in a container.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
import sysconfig
import tempfile
from pathlib import Path

import rlmath
from rlmath.kernel.embedded.build import cache_directory, ensure_prelude
from rlmath.kernel.embedded.namespaces import enter_mount_namespace
from rlmath.kernel.embedded.system import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, mount, prctl

MS_BIND_REC = 4096 | 16384


def forbid_namespaces() -> None:
    """Make `unshare` and `setns` fail, as Docker's filter does without CAP_SYS_ADMIN."""
    numbers = {"x86_64": (272, 308), "aarch64": (97, 268)}[platform.machine()]
    refuse, allow = 0x0005_0000 | errno.EPERM, 0x7FFF_0000
    code = [(0x20, 0, 0, 0), (0x15, 1, 0, numbers[0]), (0x15, 0, 1, numbers[1]), (6, 0, 0, refuse), (6, 0, 0, allow)]
    raw = b"".join(struct.pack("<HBBI", *instruction) for instruction in code)
    buffer = ctypes.create_string_buffer(raw, len(raw))
    program = ctypes.create_string_buffer(struct.pack("@HQ", len(code), ctypes.addressof(buffer)), 16)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, 2, ctypes.addressof(program))


def main(directory: Path, user: int, namespaces: bool, script: str) -> None:
    """Become the user and run the script in place of this process."""
    ensure_prelude()
    enter_mount_namespace()
    mount("tmpfs", str(directory), 0, "mode=0755")
    python, packages, repository, cache = (
        show(source, directory)
        for source in (
            sys.base_prefix,
            sysconfig.get_path("purelib"),
            Path(rlmath.__file__).parents[1],
            cache_directory(),
        )
    )
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if not namespaces:
        forbid_namespaces()
    executable = python / Path(sys.executable).resolve().relative_to(Path(sys.base_prefix).resolve())
    environment = {"PYTHONPATH": f"{repository}:{repository}/tests:{packages}", "RLMATH_CACHE": str(cache)}
    os.chdir("/")
    os.execve(executable, [str(executable), "-c", script], environment)


def show(source: str | Path, directory: Path) -> Path:
    """`source` in a place where anybody can go."""
    place = Path(tempfile.mkdtemp(dir=directory))
    if ctypes.CDLL(None).mount(str(source).encode(), str(place).encode(), None, ctypes.c_ulong(MS_BIND_REC), None):
        raise OSError(f"cannot mount {source} at {place}")
    return place


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1", sys.argv[4])
