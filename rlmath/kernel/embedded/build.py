"""Compile the prelude on first use, into a cache of the user's, and hand out only builds that are whole.

A build is a directory `<cache>/prelude/<digest>/` with the `.olean` of each module and `manifest.json`, which holds the
sha256 of each. The digest covers everything a build comes from: the prelude's sources, the scripts that compile it, and
the shared library's own bytes. A build is made in a directory beside it and renamed into place, so it is there whole or
not at all; a lock keeps two processes from making it twice; a build whose files do not agree with its manifest is made
again.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rlmath.errors import KernelUnavailable
from rlmath.kernel.embedded.shared_object import LEAN_COMMIT, LEAN_VERSION, SharedObject, find_shared_object

ROOF = "Init"
"""The module that imports all the others; a Lean file without a header imports it."""
GENERATED = "Prelude.Syntax"
"""The module whose source `bridge.py` writes from the shared library."""
GENERATED_IMPORTS = ("Prelude.Meta",)

IMPORT = re.compile(r"^import (\S+)$", re.MULTILINE)

FORMAT = 1
"""Part of the digest: raise it when a build of the same sources would be laid out otherwise."""
STEP_TIMEOUT_S = 300.0
"""Wall clock for one module; on an idle machine none takes more than 3 s."""
LOCK_TIMEOUT_S = 900.0
"""How long to wait for another process's build (about 10 s on an idle machine)."""

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many steps are done, and how many there are."""


@dataclass(frozen=True)
class Prelude:
    """A whole, verified build of the prelude."""

    path: Path
    """Directory to put on `LEAN_PATH`: `Init.olean` and `Prelude/*.olean`."""
    digest: str
    """Short hex; the environment is named `prelude@<digest>`."""
    lean_version: str
    shared_library: Path
    built_in_s: float | None
    """Seconds this call spent compiling; None when the build was there already."""

    @property
    def environment(self) -> str:
        """Name of the environment on every verdict."""
        return f"prelude@{self.digest}"


def cache_directory() -> Path:
    """Where builds are kept: `$RLMATH_CACHE`, else `$XDG_CACHE_HOME/rlmath`, else `~/.cache/rlmath`."""
    if explicit := os.environ.get("RLMATH_CACHE"):
        return Path(explicit).absolute()
    if (xdg := os.environ.get("XDG_CACHE_HOME")) and Path(xdg).is_absolute():
        return Path(xdg) / "rlmath"
    try:
        return Path.home() / ".cache" / "rlmath"
    except RuntimeError:
        raise KernelUnavailable("there is no home directory to keep the prelude in: set RLMATH_CACHE") from None


def ensure_prelude(cache: Path | None = None, progress: Progress | None = None) -> Prelude:
    """The prelude, compiled: from the cache when a whole build is there, else built now (about 10 s).

    `cache` defaults to `cache_directory()`. Any number of processes may call this at once; one builds and the rest wait
    for it. Raises `KernelUnavailable` when Lean is not there or cannot run here, the cache cannot be written, or a
    module does not compile.
    """
    root = (cache or cache_directory()) / "prelude"
    library = find_shared_object(root / "shared-object.json")
    sources = module_sources()
    full_digest = build_digest(sources, library)
    digest = full_digest[:12]
    target = root / digest

    def result(built_in_s: float | None) -> Prelude:
        return Prelude(target, digest, LEAN_VERSION, library.path, built_in_s)

    if is_whole(target, full_digest, sources):
        return result(None)
    try:
        root.mkdir(mode=0o755, parents=True, exist_ok=True)
        _check_owner(root)
        with _locked(root / f"{digest}.lock", progress):
            if is_whole(target, full_digest, sources):
                return result(None)
            started = time.monotonic()
            _build_into(target, full_digest, sources, library, progress)
            return result(time.monotonic() - started)
    except OSError as error:
        raise KernelUnavailable(
            f"cannot keep the compiled prelude in {root}: {error}; set RLMATH_CACHE to a directory that can be written"
        ) from error


def module_sources() -> dict[str, str | None]:
    """Source text of every module that the roof stands on, each after those it imports; None for the generated one."""
    prelude = importlib.resources.files("rlmath.kernel.embedded").joinpath("prelude")
    sources: dict[str, str | None] = {}

    def visit(module: str) -> None:
        if module in sources:
            return
        text = None if module == GENERATED else prelude.joinpath(_relative(module, ".lean")).read_text(encoding="utf-8")
        for imported in GENERATED_IMPORTS if text is None else IMPORT.findall(text):
            visit(imported)
        sources[module] = text

    visit(ROOF)
    return sources


def build_digest(sources: dict[str, str | None], library: SharedObject) -> str:
    """sha256 (hex) over everything that a build comes from."""
    package = importlib.resources.files("rlmath.kernel.embedded")
    scripts = {name: package.joinpath(name).read_text(encoding="utf-8") for name in ("bridge.py", "lean_command.py")}
    parts = [str(FORMAT), LEAN_VERSION, library.sha256, json.dumps([COMPILE_OPTIONS, sources, scripts])]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def is_whole(build: Path, full_digest: str, modules: Iterable[str]) -> bool:
    """Whether `build` is a finished build of `full_digest`, each file as its manifest says (about 10 ms)."""
    try:
        _check_owner(build)
        manifest = json.loads((build / "manifest.json").read_text(encoding="utf-8"))
        return (
            manifest["digest"] == full_digest
            and set(manifest["files"]) == {_olean(m) for m in modules}
            and all(_sha256(build / name) == wanted for name, wanted in manifest["files"].items())
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


COMPILE_OPTIONS = ("-E", "hasSorry")
"""For every module: a hole in the prelude must never pass as a theorem."""


def _build_into(
    target: Path, full_digest: str, sources: dict[str, str | None], library: SharedObject, progress: Progress | None
) -> None:
    """Build beside `target` and rename into place. The caller holds the lock."""
    for stale in target.parent.glob(f"{target.name}.tmp-*"):
        shutil.rmtree(stale, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=f"{target.name}.tmp-", dir=target.parent))
    try:
        source_root, output = work / "source", work / "build"
        steps = len(sources) + 1
        report = progress or (lambda what, done, of: None)
        report("reading Lean's own syntax", 0, steps)
        _check_version(library)
        _write_sources(source_root, sources, library)
        for number, module in enumerate(sources, start=1):
            report(f"compiling {module}", number, steps)
            _compile(module, source_root, output, library)
        report("done", steps, steps)
        manifest = {
            "digest": full_digest,
            "lean_version": LEAN_VERSION,
            "package": library.package,
            "library_sha256": library.sha256,
            "files": {_olean(m): _sha256(output / _olean(m)) for m in sources},
        }
        (output / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        _make_durable(output)
        if target.exists():
            os.rename(target, work / "damaged")
        os.rename(output, target)
        _fsync(target.parent)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _check_version(library: SharedObject) -> None:
    said = _run("lean_command.py", [str(library.path), "--version"], what="lean --version")
    if f"version {LEAN_VERSION}," not in said or LEAN_COMMIT[:12] not in said:
        raise KernelUnavailable(f"{library.path} is not Lean {LEAN_VERSION}: it says {said.strip()!r}")


def _write_sources(root: Path, sources: dict[str, str | None], library: SharedObject) -> None:
    (root / "Prelude").mkdir(parents=True)
    for module, text in sources.items():
        path = root / _relative(module, ".lean")
        if text is None:
            _run("bridge.py", [str(library.path), str(path)], what=f"writing {module}")
        else:
            path.write_text(text, encoding="utf-8")


def _compile(module: str, source_root: Path, output: Path, library: SharedObject) -> None:
    source, olean = source_root / _relative(module, ".lean"), output / _olean(module)
    olean.parent.mkdir(parents=True, exist_ok=True)
    arguments = [str(library.path), *COMPILE_OPTIONS, "-R", str(source_root), "-o", str(olean), str(source)]
    said = _run("lean_command.py", arguments, what=f"compiling {module}", lean_path=output)
    if said:
        raise KernelUnavailable(f"compiling {module} is to say nothing, but said: {said[:2000]}")


def _run(script: str, arguments: list[str], *, what: str, lean_path: Path | None = None) -> str:
    """Run one of this package's scripts in a clean process; its standard output."""
    with importlib.resources.as_file(importlib.resources.files("rlmath.kernel.embedded").joinpath(script)) as path:
        command = [sys.executable, "-I", "-S", str(path), *arguments]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("LEAN")}
        if lean_path is not None:
            environment["LEAN_PATH"] = str(lean_path)
        try:
            done = subprocess.run(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=STEP_TIMEOUT_S,
                check=False,
                start_new_session=True,  # Ctrl-C is for us, who then end it, and not an error of its own
            )
        except subprocess.TimeoutExpired:
            raise KernelUnavailable(f"{what} took more than {STEP_TIMEOUT_S:.0f} s") from None
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        said = (output + done.stderr.decode("utf-8", "replace")).strip()
        raise KernelUnavailable(f"{what} failed with exit code {done.returncode}: {said[:2000]}")
    return output


@contextmanager
def _locked(path: Path, progress: Progress | None) -> Iterator[None]:
    """Hold an exclusive lock on `path`. The system lets go of it when the process ends, however it ends."""
    import fcntl  # here, so that a system without it still gets `find_shared_object`'s message

    with path.open("a") as file:
        deadline = time.monotonic() + LOCK_TIMEOUT_S
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise KernelUnavailable(
                        f"another process has held {path} for more than {LOCK_TIMEOUT_S:.0f} s"
                    ) from None
                if progress is not None and not told:
                    progress("waiting for another process's build", 0, 1)
                    told = True
                time.sleep(0.05)
        yield


def _check_owner(path: Path) -> None:
    """Refuse a directory that another user can write: Lean maps an `.olean` without checking it."""
    status = path.stat()
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & stat.S_IWOTH:
        raise PermissionError(f"{path} is not this user's own, or anyone can write to it")


def _make_durable(directory: Path) -> None:
    """Flush everything to disk, with modes that do not depend on the umask."""
    for path in [*directory.rglob("*"), directory]:
        path.chmod(0o755 if path.is_dir() else 0o644)
        _fsync(path)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _relative(module: str, suffix: str) -> str:
    return module.replace(".", "/") + suffix


def _olean(module: str) -> str:
    return _relative(module, ".olean")
