"""Getting a REPL ready to be started: LeanInteract fetches and builds what is missing, in a process of its own that
can be killed when it takes too long.

    python -m rlmath.kernel.repl_setup CONFIG-AS-JSON

writes a `Launch` as JSON to its standard output. What LeanInteract, git and lake print goes to standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import rlmath
from rlmath.errors import KernelUnavailable
from rlmath.kernel.config import BareProject, GitProject, LocalProject, MathlibProject, ReplKernelConfig
from rlmath.kernel.process_tree import kill_tree

if TYPE_CHECKING:
    from lean_interact.project import BaseProject


@dataclass(frozen=True)
class Launch:
    """How to start one REPL, and what it is."""

    argv: tuple[str, ...]
    cwd: str
    lean_version: str
    """Without the `v`."""
    libraries: str
    """Names what can be imported: `mathlib@<rev>`, or the project and a hash of its manifest."""


async def prepare(config: ReplKernelConfig) -> Launch:
    """Have LeanInteract set up what `config` describes. Raises `KernelUnavailable` when it cannot, or not in time."""
    # This package need not be installed where Python looks by itself, e.g. on a node of a cluster.
    path = os.pathsep.join(filter(None, [str(Path(rlmath.__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "rlmath.kernel.repl_setup",
        config.model_dump_json(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(config.setup_timeout_s):
            out, err = await process.communicate()
    except TimeoutError:
        raise KernelUnavailable(f"LeanInteract was not done after {config.setup_timeout_s:g} s") from None
    finally:
        if process.returncode is None:
            kill_tree(process.pid)
    if process.returncode != 0:
        said = err.decode("utf-8", "replace").strip()[-2000:] or f"exit code {process.returncode}"
        raise KernelUnavailable(f"LeanInteract cannot set up the REPL: {said}")
    raw = json.loads(out)
    return Launch(**{**raw, "argv": tuple(raw["argv"])})


def launch_of(config: ReplKernelConfig) -> Launch:
    """What `prepare` does, here and now."""
    from lean_interact.config import LeanREPLConfig

    project = _project(config)
    bare = config.project if isinstance(config.project, BareProject) else None
    ready = LeanREPLConfig(
        lean_version=bare.lean_version if bare else None,
        project=project,
        lake_path=config.lake,
        local_repl_path=config.repl_path,
        build_repl=config.build_repl,
    )
    repl = Path(ready.cache_repl_dir) / ".lake" / "build" / "bin" / "repl"
    if not repl.is_file():
        raise KernelUnavailable(
            f"there is no REPL at {repl}: build it there with `lake build`, or set build_repl = true"
        )
    directory = Path(ready.working_dir)
    return Launch(
        argv=(str(config.lake), "env", str(repl)),
        cwd=str(directory),
        lean_version=(ready.lean_version or "unknown").removeprefix("v"),
        libraries=libraries_of(directory) if project is not None else "core",
    )


def libraries_of(project: Path) -> str:
    """What a Lake project's modules are, as far as its manifest tells: `mathlib@<rev>`, else the directory's name and a
    hash of the manifest."""
    try:
        manifest = (project / "lake-manifest.json").read_bytes()
    except OSError:
        return f"{_plain(project.name)}@unpinned"
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        for package in json.loads(manifest)["packages"]:
            if package.get("name") == "mathlib" and package.get("rev"):
                return f"mathlib@{package['rev'][:12]}"
    return f"{_plain(project.name)}@{hashlib.sha256(manifest).hexdigest()[:12]}"


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name) or "project"


def _project(config: ReplKernelConfig) -> BaseProject | None:
    from lean_interact import project as kinds

    match config.project:
        case LocalProject(directory=directory):
            if not directory.is_dir():
                raise KernelUnavailable(f"there is no directory {directory}")
            return kinds.LocalProject(directory=directory, lake_path=config.lake, auto_build=False)
        case MathlibProject(lean_version=version):
            return kinds.TempRequireProject(lean_version=version, require="mathlib", lake_path=config.lake)
        case GitProject(url=url, rev=rev):
            return kinds.GitProject(url=url, rev=rev, lake_path=config.lake)
        case BareProject():
            return None


@contextlib.contextmanager
def _quiet_stdout() -> Iterator[int]:
    """Point standard output at standard error; yields a descriptor of the former."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield kept
    finally:
        os.close(kept)


def main(config: str) -> int:
    """Set up, and write the `Launch`."""
    with _quiet_stdout() as out:
        try:
            launch = launch_of(ReplKernelConfig.model_validate_json(config))
        except (
            Exception
        ) as error:  # whatever LeanInteract, git or the file system raises is told, and ends this process
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            return 1
        os.write(out, json.dumps(asdict(launch)).encode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
