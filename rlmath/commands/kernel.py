"""The embedded kernel for commands that judge in this process."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlmath.kernel.embedded import EmbeddedKernel


def make_kernel(slots: int | None = None) -> EmbeddedKernel:
    """A kernel, not started yet. When its prelude has to be compiled first, stderr says what the wait is for."""
    from rlmath.kernel.embedded import EmbeddedKernel
    from rlmath.kernel.embedded.build import ensure_prelude

    told = False

    def progress(step: str, done: int, total: int) -> None:
        nonlocal told
        if not told:
            told = True
            print("rlmath: compiling the Lean prelude, once on this machine (about 10 s)", file=sys.stderr, flush=True)

    return EmbeddedKernel(slots=slots, prelude=ensure_prelude(progress=progress))
