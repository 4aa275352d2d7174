"""From a `[kernel]` section to the kernel it describes."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from rlmath.errors import InputError
from rlmath.header import body_under, canonical, embedded_body
from rlmath.kernel.config import (
    AutoKernelConfig,
    Config,
    EmbeddedKernelConfig,
    KernelConfig,
    KiminaKernelConfig,
    ReplKernelConfig,
    ToolchainKernelConfig,
)
from rlmath.kernel.protocol import Kernel


class KernelActivity(Protocol):
    """A glance at a kernel."""

    @property
    def slots(self) -> int:
        """Checks that it runs at the same time."""
        ...

    @property
    def checks(self) -> int:
        """Results given."""
        ...

    @property
    def timed_out(self) -> int:
        """Results that say so."""
        ...

    @property
    def crashed(self) -> int:
        """Results that say so."""
        ...

    @property
    def unavailable(self) -> int:
        """Checks that ended in `KernelUnavailable`."""
        ...

    @property
    def in_flight(self) -> int:
        """Checks begun and not answered."""
        ...

    @property
    def restarts(self) -> int:
        """Processes started after the first of each slot or image."""
        ...

    @property
    def image_pid(self) -> int | None:
        """The one process that holds the environment warm; None when it is not one process, or not here."""
        ...

    @property
    def warden_pid(self) -> int | None:
        """The process that runs the image's checks; None where there is none."""
        ...


class OwnedKernel(Kernel, Protocol):
    """A kernel in this process's care: whoever makes it starts it and ends it.

    It belongs to the event loop that started it. As a context manager it is started on entry and ended on exit.
    """

    @property
    def slots(self) -> int:
        """Checks that it runs at the same time; more of them wait."""
        ...

    async def start(self) -> None:
        """Make it warm and test it. Raises `KernelUnavailable`; `InputError` when its configuration cannot work. May be
        called again."""
        ...

    async def aclose(self) -> None:
        """End all checks and processes; nothing is left running. May be called again."""
        ...

    def stats(self) -> KernelActivity:
        """What it has done and what it is doing."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def make_kernel(
    config: KernelConfig,
    *,
    slots: int | None = None,
    require_isolation: bool = False,
    memory_bytes: int | None = None,
) -> OwnedKernel:
    """The kernel that `config` describes, not started yet.

    `slots`: checks at the same time (None: the cores this process may use). `require_isolation`: it must refuse to
    start where checks cannot be isolated fully. `memory_bytes`: most memory that a check may use, on a kernel whose
    processes are ours (None: its own limit). Raises `InputError`.
    """
    match config:
        case EmbeddedKernelConfig():
            from rlmath.kernel.embedded import EmbeddedKernel
            from rlmath.kernel.embedded.limits import Limits

            limits = Limits() if memory_bytes is None else Limits(memory_bytes=memory_bytes)
            return EmbeddedKernel(slots=slots, limits=limits, require_isolation=require_isolation)
        case ReplKernelConfig():
            from rlmath.kernel.repl import make_repl_kernel

            _refuse_isolation(config.type, require_isolation)
            if memory_bytes is not None:
                config = config.model_copy(update={"memory_mb": max(memory_bytes >> 20, 1)})
            return make_repl_kernel(config, slots=slots)
        case KiminaKernelConfig():
            from rlmath.kernel.kimina import make_kimina_kernel

            _refuse_isolation(config.type, require_isolation)
            return make_kimina_kernel(config, slots=slots)
        case ToolchainKernelConfig():
            from rlmath.kernel.toolchain import ToolchainKernel

            return ToolchainKernel(config, slots=slots, memory_bytes=memory_bytes, require_isolation=require_isolation)
        case AutoKernelConfig():
            chosen = resolve(config)
            return make_kernel(chosen, slots=slots, require_isolation=require_isolation, memory_bytes=memory_bytes)


def resolve(config: AutoKernelConfig) -> EmbeddedKernelConfig | ToolchainKernelConfig:
    """What `type = "auto"` stands for: the toolchain of the project that it names, else the embedded kernel."""
    if config.project is None:
        return EmbeddedKernelConfig(name=config.name)
    return ToolchainKernelConfig(
        name=config.name, project=config.project, header=config.header, accept_unaudited=config.accept_unaudited
    )


def _refuse_isolation(kind: str, required: bool) -> None:
    if required:
        raise InputError("require_isolation", f"a {kind} kernel's checks cannot be isolated from one another")


def lean_for(config: Config, text: str, where: str) -> str:
    """A Lean file's text for the kernel that `config` describes: without its header, every position kept. Raises
    `InputError` (field `where`) for an import that the kernel lacks.
    """
    if isinstance(config, AutoKernelConfig):
        config = resolve(config)
    if isinstance(config, EmbeddedKernelConfig):
        return embedded_body(text, where)
    return body_under(canonical(config.header), text, where)
