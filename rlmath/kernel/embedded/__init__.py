"""The Lean kernel that comes with the package: a prelude of our own, the warm image, and `EmbeddedKernel`.

Names are imported on first use: the image, whose memory all its children share, is a module of this package and needs
few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlmath.kernel.embedded.kernel import EmbeddedKernel, KernelStats
    from rlmath.kernel.embedded.limits import Limits

__all__ = ["EmbeddedKernel", "KernelStats", "Limits"]


def __getattr__(name: str) -> Any:
    if name in ("EmbeddedKernel", "KernelStats"):
        from rlmath.kernel.embedded import kernel

        return getattr(kernel, name)
    if name == "Limits":
        from rlmath.kernel.embedded.limits import Limits

        return Limits
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
