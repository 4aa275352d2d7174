"""An installed Lean toolchain as a kernel.

Where it is the very version that the package's own kernel is written for, its shared library becomes a warm image with
the project's modules in it, and theorems are audited (`toolchain_warm.py`). Any other version, and one that fails the
start-up self-test, is run as one `lean` process a check, and says so in one line. A `lean` that can do so keeps the
imported header in a file.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rlmath.errors import KernelUnavailable
from rlmath.header import Preamble, canonical, for_checks
from rlmath.kernel.config import ToolchainKernelConfig
from rlmath.kernel.embedded import Limits
from rlmath.kernel.lean_reply import Question
from rlmath.kernel.one_file import lay_out, sort_out
from rlmath.kernel.process_tree import kill_tree
from rlmath.kernel.protocol import Certificate, CheckResult, Message, Source
from rlmath.kernel.repl_process import ProcessEnded
from rlmath.kernel.repl_worker import Crashed, blame
from rlmath.kernel.select import KernelActivity, OwnedKernel
from rlmath.kernel.toolchain_find import Toolchain, environment_for_lean, find_toolchain
from rlmath.kernel.toolchain_warm import WarmToolchainKernel, why_not_warm
from rlmath.kernel.unaudited import Ran, UnauditedKernel
from rlmath.types import KernelIdentity

logger = logging.getLogger(__name__)

LONGEST_OUTPUT: Final = 64 << 20
"""Bytes that one `lean` process may print."""
SAVE, LOAD = "incr-header-save", "incr-load"
"""Options of versions that can keep an imported header in a file."""


class OneShotBackend:
    """One `lean` process a check. See `rlmath.kernel.unaudited.Backend`."""

    kind = "toolchain"
    restarts = 0

    def __init__(self, toolchain: Toolchain, config: ToolchainKernelConfig, preamble: Preamble) -> None:
        self._toolchain = toolchain
        self._config = config
        self._preamble = preamble
        self._scratch: Path | None = None
        self._header: Path | None = None
        """The imported header, in a file."""

    @property
    def lean_version(self) -> str:
        """See `Backend`."""
        return self._toolchain.version

    @property
    def environment(self) -> str:
        """See `Backend`."""
        return f"{self._toolchain.libraries}+{self._preamble.digest}"

    async def start(self) -> None:
        """See `Backend`. Elaborates the header once, and keeps it where `lean` can."""
        if self._scratch is not None:
            return
        self._scratch = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="rlmath-lean-"))
        if {SAVE, LOAD} <= self._toolchain.options:
            text = Preamble(self._preamble.imports, "").text + "\n"
            kept = self._scratch / "header"
            with contextlib.suppress(TimeoutError, ProcessEnded):
                # A header that cannot be kept is imported by each check.
                _, code = await self._lean([f"--{SAVE}={kept}", "--stdin"], text, self._config.start_timeout_s)
                self._header = kept if code == 0 and kept.is_file() else None
        probe = Source("theorem rlmath_probe : ∀ p : Prop, p → p := fun _ h => h", declaration="rlmath_probe")
        ran = await self.run(probe, Question("rlmath_probe", "rlmath_start"), self._config.start_timeout_s)
        if ran.answer is None or ran.messages:
            said = ran.messages[0].text if ran.messages else "no answer"
            raise KernelUnavailable(f"{self._toolchain.lean} does not take a true theorem: {said}")

    async def aclose(self) -> None:
        """See `Backend`."""
        if self._scratch is not None:
            scratch, self._scratch, self._header = self._scratch, None, None
            await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)

    async def run(self, source: Source, question: Question, timeout_s: float) -> Ran:
        """See `Backend`."""
        file = lay_out(self._preamble, source, question)
        options = [f"--{LOAD}={self._header}"] if self._header is not None else []
        started = time.perf_counter()
        try:
            out, _ = await self._lean([*options, "--json", "--stdin"], file.text, timeout_s)
        except TimeoutError:
            return Ran(timed_out=True, elapsed_s=time.perf_counter() - started)
        except ProcessEnded as end:
            fault = blame(end)
            if isinstance(fault, Crashed):
                return Ran(crashed=str(fault), elapsed_s=time.perf_counter() - started)
            raise fault from None
        messages = [_message(line) for line in out.splitlines()]
        ran = sort_out(file, messages, source, question, imports_count=True)
        elapsed_s = time.perf_counter() - started
        return replace(ran, elapsed_s=elapsed_s, timings={"elaborate": elapsed_s})

    async def _lean(self, arguments: list[str], text: str, timeout_s: float) -> tuple[str, int]:
        """What `lean` prints, and its exit code, 0 or 1. Raises TimeoutError, and `ProcessEnded` for any other end."""
        limit = str((self._config.memory_mb << 20) >> 10)
        limited = ["/bin/sh", "-c", 'ulimit -v "$0" && exec "$@"', limit] if self._config.memory_mb else []
        try:
            process = await asyncio.create_subprocess_exec(
                *limited,
                self._toolchain.lean,
                *arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._scratch,
                env={**environment_for_lean(), "LEAN_PATH": self._toolchain.lean_path},
                start_new_session=True,
                limit=LONGEST_OUTPUT,
            )
        except OSError as error:
            raise KernelUnavailable(f"cannot run {self._toolchain.lean}: {error.strerror}") from None
        try:
            async with asyncio.timeout(timeout_s):
                out, err = await process.communicate(text.encode("utf-8"))
        finally:
            if process.returncode is None:
                kill_tree(process.pid)
        code = process.returncode or 0
        if code not in (0, 1):
            raise ProcessEnded(code, err.decode("utf-8", "replace"))
        return out.decode("utf-8", "replace"), code


def _message(line: str) -> Message:
    """One line of `lean --json`. Raises `KernelUnavailable` when it is none."""
    try:
        raw = json.loads(line)
        end = raw.get("endPos") or {"line": None, "column": None}
        kind = "" if raw["kind"] == "[anonymous]" else str(raw["kind"])
        position = raw["pos"]
        if raw["severity"] not in ("error", "warning", "information"):
            raise ValueError(raw["severity"])
        return Message(
            raw["severity"], raw["data"], position["line"], position["column"], kind, end["line"], end["column"]
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise KernelUnavailable(f"lean printed something that is no message: {line[:200]}") from None


class ToolchainKernel:
    """See `rlmath.kernel.select.OwnedKernel`. Which of its two ways it goes is found out when it starts."""

    def __init__(
        self, config: ToolchainKernelConfig, *, slots: int | None, memory_bytes: int | None, require_isolation: bool
    ) -> None:
        self.slots = len(os.sched_getaffinity(0)) if slots is None else slots
        self._config = config
        self._memory_bytes = memory_bytes
        self._require_isolation = require_isolation
        self._chosen: OwnedKernel | None = None
        self._lock = asyncio.Lock()
        self._closed = False

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def start(self) -> None:
        """See `OwnedKernel`."""
        async with self._lock:
            if self._closed:
                raise KernelUnavailable("the kernel was closed")
            if self._chosen is None:
                self._chosen = await self._choose()

    async def aclose(self) -> None:
        """See `OwnedKernel`."""
        self._closed = True
        async with self._lock:
            if self._chosen is not None:
                await self._chosen.aclose()

    @property
    def identity(self) -> KernelIdentity:
        """See `Kernel`. Known once started."""
        return self._started().identity

    def stats(self) -> KernelActivity:
        """See `OwnedKernel`. Once started."""
        return self._started().stats()

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        """See `Kernel`."""
        await self.start()
        return await self._started().check(source, timeout_s=timeout_s)

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        """See `Kernel`."""
        await self.start()
        return await self._started().certify(source, reference, timeout_s=timeout_s)

    async def _choose(self) -> OwnedKernel:
        toolchain = await find_toolchain(self._config)
        why = why_not_warm(toolchain) if self._config.warm else "its configuration says warm = false"
        if why is None:
            warm = WarmToolchainKernel(
                toolchain,
                canonical(self._config.header),
                slots=self.slots,
                limits=Limits() if self._memory_bytes is None else Limits(memory_bytes=self._memory_bytes),
                require_isolation=self._require_isolation,
            )
            try:
                await warm.start()
                return warm
            except BaseException as error:
                await warm.aclose()
                if not isinstance(error, KernelUnavailable) or self._require_isolation:
                    raise
                why = str(error)
        if self._require_isolation:
            raise KernelUnavailable(f"{toolchain.lean} cannot be isolated as require_isolation demands: {why}")
        logger.warning("%s: no warm image and no audit, one process a check: %s", toolchain.lean, why)
        config = self._config
        if self._memory_bytes is not None:
            config = config.model_copy(update={"memory_mb": max(self._memory_bytes >> 20, 1)})
        backend = OneShotBackend(toolchain, config, for_checks(config.header))
        kernel = UnauditedKernel(backend, slots=self.slots, accept_unaudited=config.accept_unaudited)
        try:
            await kernel.start()
        except BaseException:
            await kernel.aclose()
            raise
        return kernel

    def _started(self) -> OwnedKernel:
        if self._chosen is None:
            raise KernelUnavailable("the kernel has not been started")
        return self._chosen
