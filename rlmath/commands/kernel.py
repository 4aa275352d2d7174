"""The kernel of commands that judge in this process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from rlmath.kernel.config import Config
    from rlmath.kernel.embedded import EmbeddedKernel
    from rlmath.kernel.select import OwnedKernel


INSTEAD = "a file with a [kernel] section (docs/mathlib.md) instead of the embedded kernel"


def add_kernel_option(parser: argparse.ArgumentParser, help: str = INSTEAD) -> None:
    """Declare `--kernel`."""
    parser.add_argument("--kernel", metavar="FILE.toml", type=Path, help=help)


def load_kernel(path: Path | None) -> Config:
    """What the file says, or the embedded kernel. Raises `InputError`."""
    from rlmath.kernel.config import EmbeddedKernelConfig, load_kernel_file

    return EmbeddedKernelConfig() if path is None else load_kernel_file(path)


def chosen_kernel(config: Config, slots: int | None = None) -> OwnedKernel:
    """The kernel that `config` describes, not started yet. Raises `InputError`."""
    from rlmath.kernel import select
    from rlmath.kernel.config import EmbeddedKernelConfig

    return make_kernel(slots) if isinstance(config, EmbeddedKernelConfig) else select.make_kernel(config, slots=slots)


def make_kernel(slots: int | None = None) -> EmbeddedKernel:
    """The embedded kernel, not started yet. When its prelude has to be compiled first, stderr says what the wait is
    for."""
    from rlmath.kernel.embedded import EmbeddedKernel
    from rlmath.kernel.embedded.build import ensure_prelude

    told = False

    def progress(step: str, done: int, total: int) -> None:
        nonlocal told
        if not told:
            told = True
            print("rlmath: compiling the Lean prelude, once on this machine (about 10 s)", file=sys.stderr, flush=True)

    return EmbeddedKernel(slots=slots, prelude=ensure_prelude(progress=progress))
