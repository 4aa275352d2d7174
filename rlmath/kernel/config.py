"""The `[kernel]` section of a config: which Lean judges. `type` tells which model it is, `name` what requests call it.

The wire half; `rlmath.kernel.select.make_kernel` makes the kernel. Importing this imports no kernel.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from rlmath.validation import read_toml, validate

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

DEFAULT_NAME = "default"
"""What a kernel is called whose section gives it no name."""

MATHLIB_HEADER: Final = """\
import Mathlib
open BigOperators Real Nat Topology Rat
set_option maxHeartbeats 400000
"""
"""The header that Lean 4 benchmarks and provers have in common."""


class Section(BaseModel):
    """Unknown keys are errors, values are not coerced, instances do not change."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class KernelSection(Section):
    """What all kernels' sections have."""

    name: str = DEFAULT_NAME
    """What requests call it: a cluster may have several kernels, each under a name of its own."""

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f"must be letters, digits, '_', '.' or '-', at most 64 of them, got {name!r}")
        return name


class EmbeddedKernelConfig(KernelSection):
    """`type = "embedded"`: the Lean and the prelude that come with the package. No Mathlib. Verdicts are audited."""

    type: Literal["embedded"] = "embedded"


class UnauditedSection(KernelSection):
    """What kernels have in common whose verdicts no clean process audits."""

    header: str = MATHLIB_HEADER
    """Lean text before everything else: imports, then `open`s and options."""
    accept_unaudited: bool = False
    """Let `verified` rest on the word of the process that ran the submission. Without it this kernel checks files, and
    refuses to score plans; with it, every verdict says that it was not audited."""


class LocalProject(Section):
    """`type = "local"`: a Lake project on this machine, built."""

    type: Literal["local"] = "local"
    directory: Path = Field(strict=False)


class MathlibProject(Section):
    """`type = "mathlib"`: a project that LeanInteract makes, with the Mathlib of one Lean version (its cache is
    downloaded)."""

    type: Literal["mathlib"] = "mathlib"
    lean_version: str
    """E.g. `v4.35.0`."""


class GitProject(Section):
    """`type = "git"`: a project that LeanInteract clones and builds."""

    type: Literal["git"] = "git"
    url: str
    rev: str | None = None


class BareProject(Section):
    """`type = "none"`: Lean without a project; only its own modules can be imported."""

    type: Literal["none"] = "none"
    lean_version: str | None = None
    """None: the version of `repl_path`, or the newest."""


Project = Annotated[LocalProject | MathlibProject | GitProject | BareProject, Field(discriminator="type")]


class ReplKernelConfig(UnauditedSection):
    """`type = "repl"`: a pool of leanprover-community REPLs in a Lake project, set up by LeanInteract."""

    type: Literal["repl"] = "repl"
    project: Project
    lake: Path = Field(default=Path("lake"), strict=False)
    """The `lake` to run."""
    repl_path: Annotated[Path, Field(strict=False)] | None = None
    """A checkout of the REPL to use; None: LeanInteract fetches the one for the project's Lean."""
    build_repl: bool = True
    """Whether to build the REPL; off when it is built already."""
    memory_mb: int = Field(default=12_288, ge=0)
    """Limit of one REPL's address space; 0: none. Mathlib takes 3 to 6 GB of memory, and maps more."""
    recycle_checks: int = Field(default=1_000, ge=1)
    """A REPL is replaced after so many checks: it keeps every environment it ever made."""
    recycle_rss_mb: int = Field(default=8_192, ge=1)
    """And when it and its children have so much in memory."""
    spares: int = Field(default=1, ge=0)
    """REPLs kept warm beyond the slots, to take the place of one that is lost."""
    start_timeout_s: float = Field(default=300.0, gt=0)
    """For one REPL to start and elaborate the header."""
    setup_timeout_s: float = Field(default=3_600.0, gt=0)
    """For LeanInteract to fetch and build what is missing."""


class KiminaKernelConfig(UnauditedSection):
    """`type = "kimina"`: a Kimina Lean server."""

    type: Literal["kimina"] = "kimina"
    base_url: str
    """E.g. `http://localhost:8000`."""
    lean_version: str
    """The server's, which it does not tell: `4.15.0`. Stands on every verdict."""
    environment: str
    """Names the server's libraries, which it does not tell either: `mathlib@<rev>`. Stands on every verdict."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key; None: the server asks for none."""
    batch: int = Field(default=8, ge=1)
    """Most checks of one request."""
    max_wait_s: float = Field(default=600.0, gt=0)
    """How long checks may wait for one of the server's REPLs, beyond their own time."""

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ValueError("must be an http or https URL without credentials, e.g. http://localhost:8000")
        return url.rstrip("/")


class ToolchainKernelConfig(UnauditedSection):
    """`type = "toolchain"`: an installed Lean. Where it is the version that the package's own kernel is written for,
    its warm image and audit are used; else one `lean` process a check, whose verdicts are not audited."""

    type: Literal["toolchain"] = "toolchain"
    project: Annotated[Path, Field(strict=False)] | None = None
    """A Lake project, built, whose modules can be imported; None: only Lean's own."""
    lake: Path = Field(default=Path("lake"), strict=False)
    """The `lake` that tells where modules are; used when there is a project."""
    lean: Path = Field(default=Path("lean"), strict=False)
    """The `lean` to run when there is no project; with one, `lake env` tells."""
    warm: bool = True
    """Whether to try the warm image."""
    memory_mb: int = Field(default=12_288, ge=0)
    """Limit of one process's address space; 0: none."""
    start_timeout_s: float = Field(default=300.0, gt=0)
    """For `lake env` to answer, and for the warm image to import the header's modules."""


class AutoKernelConfig(KernelSection):
    """`type = "auto"`: the best that there is. With `project`, its toolchain; else the embedded kernel."""

    type: Literal["auto"] = "auto"
    project: Annotated[Path, Field(strict=False)] | None = None
    """A Lake project, built."""
    header: str = MATHLIB_HEADER
    """For the project's kernel."""
    accept_unaudited: bool = False
    """See `UnauditedSection`."""


Config = EmbeddedKernelConfig | ReplKernelConfig | KiminaKernelConfig | ToolchainKernelConfig | AutoKernelConfig
KernelConfig = Annotated[Config, Field(discriminator="type")]
"""What `[kernel]` may be; `type` tells which."""

KERNEL_CONFIG: TypeAdapter[Config] = TypeAdapter(KernelConfig)
"""Reads a section that stands alone."""


class KernelFile(Section):
    """A TOML file with nothing but a `[kernel]` section."""

    kernel: KernelConfig


def load_kernel_file(path: Path) -> Config:
    """Read a `[kernel]` section from a file of its own; relative paths in it are relative to the file. Raises
    `InputError`."""
    data = read_toml(path, "the file")
    return resolved(validate(KernelFile, data, where=str(path)).kernel, path.resolve().parent)


def resolved(config: Config, base: Path) -> Config:
    """`config` with its relative paths made absolute, as seen from `base`. Programs without a slash are looked up in
    PATH and stay as they are."""
    changes: dict[str, object] = {}
    for field in ("project", "repl_path", "lake", "lean"):
        value = getattr(config, field, None)
        if isinstance(value, LocalProject):
            changes[field] = value.model_copy(update={"directory": base / value.directory})
        elif isinstance(value, Path) and (field not in ("lake", "lean") or len(value.parts) > 1):
            changes[field] = base / value
    return config.model_copy(update=changes)
