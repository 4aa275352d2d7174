"""What one check may use up. Every limit is set from outside Lean, whose own are not reliable (`-T` and `-M` had no
visible effect)."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from rlmath.errors import InputError
from rlmath.kernel.audit.blob import MAX_BYTES

LARGEST_SHARE = 0.8
"""Of the machine's memory, for all checks together."""
LEAST_MEMORY_BYTES = 3 << 29
"""No check gets less, whatever the machine: of 1.5 GiB of address space, some 0.5 GiB can be used."""
_GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Limits:
    """Limits of one check's process, and of a judge's. A check's wall clock and CPU time come from `Kernel.check`'s
    `timeout_s`."""

    memory_bytes: int = 4 << 30
    """Address space a check may add to the image's own. Of that, about 1 GiB is reserved and unused, and is the check's
    too. See `fitted`."""
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

    def fitted(self, slots: int, machine_bytes: int) -> Limits:
        """These limits, with no more memory for one check than so many can have at once. Else the checks of others
        could fill the machine, and Linux would kill one that has done nothing.
        """
        share = max(LEAST_MEMORY_BYTES, int(LARGEST_SHARE * machine_bytes) // slots)
        return replace(
            self,
            memory_bytes=min(self.memory_bytes, share),
            judge_memory_bytes=min(self.judge_memory_bytes, share),
        )

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(f"limits.{name}", f"must be a whole number of at least 0, got {value!r}")


def machine_memory(groups: Path = _GROUPS) -> int:
    """Bytes of memory that this process may use: the machine's, or what a container leaves it."""
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    bounds = (groups / "memory.max", groups / "memory" / "memory.limit_in_bytes")
    return min([installed, *(bound for file in bounds if (bound := _number(file)) is not None)])


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # not there, or `max`
        return None
