"""What an installed Lean toolchain is, and where its modules are: asked of `lake env` and of `lean` itself."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rlmath.errors import KernelUnavailable
from rlmath.kernel.config import ToolchainKernelConfig
from rlmath.kernel.process_tree import kill_tree
from rlmath.kernel.repl_setup import libraries_of

_VERSION: Final = re.compile(r"version ([0-9][^,\s)]*).*?(?:commit ([0-9a-f]+))?[,)]")
_TELL: Final = 'printf "%s\\n%s\\n" "$(command -v lean)" "$LEAN_PATH"'
"""For a shell that `lake env` starts."""
PASSED_ON: Final = ("HOME", "LANG", "LOGNAME", "PATH", "RLMATH_CACHE", "SHELL", "TMPDIR", "USER")
PASSED_ON_PREFIXES: Final = ("ELAN_", "LAKE_", "LC_", "LD_", "LEAN_", "XDG_")
"""The environment variables that Lean gets: what runs in a check can read them, so no key may be among them."""


@dataclass(frozen=True)
class Toolchain:
    """One installed Lean."""

    lean: str
    """The program."""
    version: str
    """E.g. `4.35.0`."""
    commit: str
    """Empty when `lean` does not tell."""
    lean_path: str
    """Directories with modules, for LEAN_PATH; the toolchain's own are not among them."""
    library_directory: Path
    """The toolchain's own modules."""
    shared_library: Path | None
    """Its `libleanshared`; None when it has none of one piece."""
    libraries: str
    """Names what can be imported."""
    options: frozenset[str]
    """The long options that `lean --help` knows."""


def environment_for_lean() -> dict[str, str]:
    """What of this process's environment variables a Lean process of an installed toolchain gets."""
    return {k: v for k, v in os.environ.items() if k in PASSED_ON or k.startswith(PASSED_ON_PREFIXES)}


async def find_toolchain(config: ToolchainKernelConfig) -> Toolchain:
    """Ask. Raises `KernelUnavailable`, naming what does not answer."""
    limit = config.start_timeout_s
    lean, lean_path, libraries, cwd = str(config.lean), os.environ.get("LEAN_PATH", ""), "core", None
    if config.project is not None:
        if not config.project.is_dir():
            raise KernelUnavailable(f"there is no directory {config.project}")
        cwd = os.path.join(os.getcwd(), config.project)
        told = await _ask([str(config.lake), "env", "/bin/sh", "-c", _TELL], limit, cwd)
        lean, _, lean_path = told.strip("\n").partition("\n")
        if not lean:
            raise KernelUnavailable(f"`{config.lake} env` in {cwd} knows no lean")
        libraries = libraries_of(config.project)
    version = _VERSION.search(await _ask([lean, "--version"], limit, cwd))
    if version is None:
        raise KernelUnavailable(f"{lean} --version tells no version")
    prefix = Path((await _ask([lean, "--print-prefix"], limit, cwd)).strip())
    directory = prefix / "lib" / "lean"
    shared = directory / "libleanshared.so"
    options = frozenset(re.findall(r"--([a-z-]+)", await _ask([lean, "--help"], limit, cwd)))
    # `lake env` gives paths relative to the project.
    absolute = ":".join(os.path.join(cwd or os.getcwd(), part) for part in lean_path.split(":") if part)
    return Toolchain(
        lean=lean,
        version=version[1],
        commit=version[2] or "",
        lean_path=absolute,
        library_directory=directory,
        shared_library=shared if shared.is_file() else None,
        libraries=libraries,
        options=options,
    )


async def _ask(argv: Sequence[str], timeout_s: float, cwd: str | None) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=environment_for_lean(),
            start_new_session=True,
        )
    except OSError as error:
        raise KernelUnavailable(f"cannot run {argv[0]}: {error.strerror}") from None
    try:
        async with asyncio.timeout(timeout_s):
            out, err = await process.communicate()
    except TimeoutError:
        raise KernelUnavailable(f"`{' '.join(argv)}` did not end within {timeout_s:g} s") from None
    finally:
        if process.returncode is None:
            kill_tree(process.pid)
    if process.returncode != 0:
        raise KernelUnavailable(f"`{' '.join(argv)}` failed: {err.decode('utf-8', 'replace').strip()[-500:]}")
    return out.decode("utf-8", "replace")
