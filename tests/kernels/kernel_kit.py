"""A Lake project, a `lake` and a built REPL, as far as programs that run a REPL can tell: behind them is `rlmath repl`,
and so a real Lean. And a toolchain: the `lean` command of the package's own shared library."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from rlmath.kernel.config import LocalProject, ReplKernelConfig
from rlmath.kernel.embedded.build import Prelude
from rlmath.kernel.embedded.shared_object import LEAN_VERSION

TESTS = Path(__file__).parent
REPL = (sys.executable, "-m", "rlmath.cli", "repl")
"""The REPL that is ours."""

LAKE = """\
#!/bin/sh
case "$1" in
  --version) echo "Lake version 5.0.0 (Lean version {version})" ;;
  env) shift; exec "$@" ;;
  build) ;;
  exe) exit 1 ;;
  *) echo "unknown command $1" >&2; exit 1 ;;
esac
"""
LEAN = """\
#!/bin/sh
[ "$1" = "--print-prefix" ] && { echo "$ROOT"; exit 0; }
exec "$PYTHON" "$SCRIPT" "$ROOT/lib/lean/libleanshared.so" "$@"
"""


@dataclass(frozen=True)
class Workspace:
    """What LeanInteract and Kimina's server are pointed at."""

    lake: Path
    repl: Path
    """A checkout of the REPL, built."""
    project: Path

    def config(self, **changes: object) -> ReplKernelConfig:
        """A kernel on it, with an embedded header and no more memory than it needs."""
        settings: dict[str, object] = {
            "project": LocalProject(directory=self.project),
            "lake": self.lake,
            "repl_path": self.repl,
            "header": "import Init",
            "accept_unaudited": True,
            "start_timeout_s": 60.0,
            **changes,
        }
        return ReplKernelConfig.model_validate(settings)


def make_workspace(root: Path, command: tuple[str, ...] = REPL) -> Workspace:
    """A workspace in `root` whose REPL is `command`."""
    repl, project = root / "repl", root / "project"
    binary = repl / ".lake" / "build" / "bin" / "repl"
    for directory in (binary.parent, project):
        directory.mkdir(parents=True)
    for directory in (repl, project):
        (directory / "lean-toolchain").write_text(f"leanprover/lean4:v{LEAN_VERSION}\n")
    (project / "lake-manifest.json").write_text('{"packages": [{"name": "mathlib", "rev": "0123456789abcdef"}]}')
    write_program(binary, f"#!/bin/sh\nexec {shlex.join(command)}\n")
    return Workspace(write_program(root / "bin" / "lake", LAKE.format(version=LEAN_VERSION)), repl, project)


def make_toolchain(root: Path, prelude: Prelude, version: str | None = None) -> Path:
    """An installed Lean in `root`: `bin/lean`, the library, and its modules. Returns the `lean`, which calls itself
    `version`."""
    library = root / "lib" / "lean"
    library.mkdir(parents=True)
    (library / "libleanshared.so").symlink_to(prelude.shared_library)
    for entry in prelude.path.iterdir():
        (library / entry.name).symlink_to(entry)
    script = TESTS.parents[1] / "rlmath" / "kernel" / "embedded" / "lean_command.py"
    values = {"ROOT": root, "PYTHON": sys.executable, "SCRIPT": script}
    settings = "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in values.items())
    # The real one finds its own modules beside itself.
    settings += f'export LEAN_PATH="$LEAN_PATH:{library}"\n'
    if version is not None:
        settings += f'[ "$1" = "--version" ] && {{ echo "Lean (version {version}, x86_64, Release)"; exit 0; }}\n'
    return write_program(root / "bin" / "lean", LEAN.replace("#!/bin/sh\n", f"#!/bin/sh\n{settings}", 1))


def make_lake_project(root: Path, lean: Path, modules: dict[str, str]) -> tuple[Path, Path]:
    """A built project with these modules, and the `lake` that knows it."""
    build = root / "project" / ".lake" / "build" / "lib"
    build.mkdir(parents=True)
    for name, text in modules.items():
        file = root / "project" / f"{name}.lean"
        file.write_text(text)
        subprocess.run(
            [lean, "-o", build / f"{name}.olean", file], check=True, cwd=file.parent, env={"LEAN_PATH": str(build)}
        )
    settings = f"export PATH={shlex.quote(str(lean.parent))}:$PATH LEAN_PATH=.lake/build/lib\n"
    lake = LAKE.format(version=LEAN_VERSION).replace("#!/bin/sh\n", f"#!/bin/sh\n{settings}", 1)
    return root / "project", write_program(root / "lake-bin" / "lake", lake)


def write_program(path: Path, text: str) -> Path:
    """A program that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path
