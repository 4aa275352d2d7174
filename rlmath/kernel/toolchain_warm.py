"""The warm image and the audit on an installed toolchain: of the one version whose C interface they are written for.

The image imports the header's modules once; the header's commands go before every context. Verdicts are audited just as
those of the embedded kernel, by the same code.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rlmath.header import Preamble
from rlmath.kernel.embedded import EmbeddedKernel, KernelStats, Limits
from rlmath.kernel.embedded.build import Prelude
from rlmath.kernel.embedded.shared_object import LEAN_COMMIT, LEAN_VERSION
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.kernel.toolchain_find import Toolchain
from rlmath.types import KernelIdentity

_PLACE: Final = re.compile(r"(\d+):")


def why_not_warm(toolchain: Toolchain) -> str | None:
    """Why this toolchain cannot be tried as a warm image; None when it can."""
    if toolchain.version != LEAN_VERSION:
        return f"it is Lean {toolchain.version}, and the warm image is written for Lean {LEAN_VERSION}"
    if toolchain.commit and not LEAN_COMMIT.startswith(toolchain.commit):
        return f"it is another build of Lean {LEAN_VERSION} (commit {toolchain.commit[:12]})"
    if toolchain.shared_library is None:
        return f"there is no libleanshared.so in {toolchain.library_directory}"
    return None


class WarmToolchainKernel:
    """See `rlmath.kernel.select.OwnedKernel`."""

    def __init__(
        self, toolchain: Toolchain, preamble: Preamble, *, slots: int | None, limits: Limits, require_isolation: bool
    ) -> None:
        """`toolchain` is one that `why_not_warm` has nothing against."""
        directories = f"{toolchain.lean_path}:{toolchain.library_directory}".strip(":")
        self._environment = f"{toolchain.libraries}+{preamble.digest}"
        self._commands = f"{preamble.commands}\n" if preamble.commands else ""
        self._kernel = EmbeddedKernel(
            slots=slots,
            limits=limits,
            prelude=Prelude(
                path=Path(directories),
                digest=preamble.digest,
                lean_version=toolchain.version,
                shared_library=toolchain.shared_library or Path(),
                built_in_s=None,
            ),
            modules=preamble.imports or ("Init",),
            require_isolation=require_isolation,
        )

    async def __aenter__(self) -> Self:
        await self._kernel.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property
    def slots(self) -> int:
        """See `OwnedKernel`."""
        return self._kernel.slots

    @property
    def identity(self) -> KernelIdentity:
        """See `Kernel`."""
        return KernelIdentity("toolchain", self._kernel.identity.lean_version, self._environment)

    async def start(self) -> None:
        """See `OwnedKernel`."""
        await self._kernel.start()

    async def aclose(self) -> None:
        """See `OwnedKernel`."""
        await self._kernel.aclose()

    def stats(self) -> KernelStats:
        """See `OwnedKernel`."""
        return self._kernel.stats()

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        """See `Kernel`."""
        return self._placed(await self._kernel.check(self._with_commands(source), timeout_s=timeout_s))

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        """See `Kernel`."""
        certificate = await self._kernel.certify(
            self._with_commands(source), self._with_commands(reference), timeout_s=timeout_s
        )
        return replace(certificate, check=self._placed(certificate.check))

    def _with_commands(self, source: Source) -> Source:
        return replace(source, context=f"{self._commands}{source.context}") if self._commands else source

    def _placed(self, result: CheckResult) -> CheckResult:
        """The result with the line of a context's error counted in the context alone."""
        lines = self._commands.count("\n")
        if result.context_error is None or not lines or (place := _PLACE.match(result.context_error)) is None:
            return result
        return replace(result, context_error=f"{int(place[1]) - lines}:{result.context_error[place.end() :]}")
