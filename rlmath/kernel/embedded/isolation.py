"""What stands between a check's process and everything else on this machine: which measures are on, and why not the
others. Set up by `confine.py`, told by `EmbeddedKernel.isolation` and `rlmath doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True)
class Measure:
    """One measure of isolation."""

    on: bool
    note: str
    """How it is done, or why it is not."""


@dataclass(frozen=True)
class Isolation:
    """The measures that depend on the machine. Found out by trying when an image starts; from then on a child that
    cannot take all that are on serves no check.

    On in any case, and not listed: a session of its own, death with the image, no new privileges, no capability, no
    core and no memory that another process of the same user could read, no file descriptor but its pipes, and limits
    of address space, CPU time, file size (none at all), open files and threads.
    """

    processes: Measure
    """A PID namespace for each check: it sees no process but its own, and all of them die with the first."""
    files: Measure
    """A mount namespace with an empty, read-only file system. (Where it is off no file can be opened at all, as long as
    `system_calls` is on; a stack overflow is then reported as `signal 11`.)"""
    network: Measure
    """A network namespace without an interface that is up."""
    ipc: Measure
    """An IPC namespace for each check: shared memory, semaphores and message queues of its own, gone with it."""
    user: Measure
    """A user and group id for each check that nothing else has."""
    system_calls: Measure
    """A filter that lets through what Lean needs for computing, and no more: no process, program, socket, mount or
    file to write can be made, no other process signalled or traced, no memory made executable."""
    memory: Measure
    """A control group that bounds memory and processes of all checks of an image together."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The measures that are off though `require_isolation` asks for them, each with its reason. The control group
        is not asked for: a check's own limit of memory holds without."""
        return tuple(f"{name} ({measure.note})" for name, measure in self if not measure.on and name != "memory")

    def __iter__(self) -> Iterator[tuple[str, Measure]]:
        """Name and measure, in order."""
        return ((field.name, getattr(self, field.name)) for field in fields(self))

    @classmethod
    def of(cls, plain: dict[str, dict[str, Any]]) -> Self:
        """The inverse of `dataclasses.asdict`."""
        return cls(**{name: Measure(**measure) for name, measure in plain.items()})
