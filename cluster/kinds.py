"""Kinds of workers: which kernel one has, and how much memory it gives a check. Those of one kind are interchangeable.

A cluster has one kind for each of its kernels and memory classes. A request names a kernel and a class, or leaves them
out: the first of each is the default. What dies of memory in one class is tried once in the next (state.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rlmath.errors import InputError
from rlmath.kernel.config import EmbeddedKernelConfig, KernelConfig


@dataclass(frozen=True)
class MemoryClass:
    """So much memory for one check."""

    name: str
    """What requests call it."""
    check_bytes: int | None = None
    """Most that a check may add to its image's own; None: the kernel's own limit."""
    slots: int | None = None
    """Checks at the same time at one worker of this class; None: as many as the node has."""

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("memory.name", "must not be empty")
        if self.check_bytes is not None and self.check_bytes < 1 << 20:
            raise InputError("memory.check_bytes", f"must be bytes, at least a MiB, got {self.check_bytes}")
        if self.slots is not None and self.slots < 1:
            raise InputError("memory.slots", f"must be at least 1, got {self.slots}")


STANDARD = MemoryClass("standard")
"""The only class of a cluster that was told of no others."""


@dataclass(frozen=True)
class WorkerKind:
    """One kernel with one memory class."""

    kernel: KernelConfig
    memory: MemoryClass

    @cached_property
    def environment(self) -> str:
        """Its name in the book of checks: `CheckJob.environment`."""
        return f"{self.kernel.name}/{self.memory.name}"


class Kinds:
    """All kinds of one cluster."""

    def __init__(
        self,
        kernels: Sequence[KernelConfig] = (EmbeddedKernelConfig(),),
        memory: Sequence[MemoryClass] = (STANDARD,),
    ) -> None:
        """`memory`: from the smallest to the largest. Raises `InputError` when two have one name, or there is none."""
        for field, names in (("kernels", [k.name for k in kernels]), ("memory", [m.name for m in memory])):
            if not names:
                raise InputError(field, "must name at least one")
            if len(set(names)) < len(names):
                raise InputError(field, f"must have different names, got {', '.join(names)}")
        self._kernels = {kernel.name: kernel for kernel in kernels}
        self._memory = tuple(memory)

    def all(self) -> Sequence[WorkerKind]:
        """Kernel by kernel, the smallest memory class first."""
        return tuple(WorkerKind(kernel, memory) for kernel in self._kernels.values() for memory in self._memory)

    def choose(self, kernel: str = "", memory: str = "") -> tuple[WorkerKind, WorkerKind | None]:
        """The kind that a request asks for, and the next one up, if any. Empty: the default. Raises `InputError`."""
        if kernel and kernel not in self._kernels:
            raise InputError("kernel", f"there is none called {kernel}; there is {', '.join(self._kernels)}")
        names = [each.name for each in self._memory]
        if memory and memory not in names:
            raise InputError("memory", f"there is no class called {memory}; there is {', '.join(names)}")
        config = self._kernels[kernel] if kernel else next(iter(self._kernels.values()))
        place = names.index(memory) if memory else 0
        larger = self._memory[place + 1] if place + 1 < len(names) else None
        return WorkerKind(config, self._memory[place]), None if larger is None else WorkerKind(config, larger)
