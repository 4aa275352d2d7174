"""What one check may use up. Every limit is set from outside Lean, whose own are not reliable (`-T` and `-M` had no
visible effect)."""

from __future__ import annotations

from dataclasses import dataclass

from rlmath.errors import InputError
from rlmath.kernel.audit.blob import MAX_BYTES


@dataclass(frozen=True)
class Limits:
    """Limits of one check's process, and of a judge's. A check's wall clock and CPU time come from `Kernel.check`'s
    `timeout_s`."""

    memory_bytes: int = 4 << 30
    """Address space a check may add to the image's own. Of that, about 1 GiB is reserved and unused, and is the check's
    too."""
    stack_bytes: int = 64 << 20
    """Stack of a check's main thread, and of each thread that Lean starts (whose own default reserves 1 GiB)."""
    processes: int = 64
    """Processes and threads that a check may have; where it has no user of its own, roughly (see `confine.py`)."""
    result_bytes: int = 8 << 20
    """Most bytes a check may report; beyond it, it has crashed with `output limit`."""
    messages: int = 2_000
    """Most messages a check may report; beyond it, it has crashed with `output limit`."""
    file_bytes: int = 0
    """Largest file a check may write. It has no business writing any."""
    open_files: int = 16
    """Highest file descriptor it may have."""
    export_bytes: int = MAX_BYTES
    """Most bytes of new constants that a check may export for the audit; beyond it, it has crashed with `output limit`.
    """
    judge_memory_bytes: int = 2 << 30
    """Address space a judge may add to the image's own, in place of `memory_bytes`."""
    judge_seconds: int = 20
    """Wall clock (and CPU) that a judge has beyond what the submission's own check took."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(f"limits.{name}", f"must be a whole number of at least 0, got {value!r}")
