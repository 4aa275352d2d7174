"""A pool of leanprover-community REPLs in a Lake project, as a kernel: Mathlib's way in.

LeanInteract sets the REPL up (`repl_setup.py`); the wire is ours (`repl_process.py`), for a wrong verdict is worse than
a lost process. Each REPL elaborates the header once and runs each check on what came of it (`repl_worker.py`). One that
is lost, to a timeout, a crash or a doubt, is replaced by a spare, and the next spare warms in the background
(`warm_pool.py`).
"""

from __future__ import annotations

import os
from typing import Final

from rlmath.errors import KernelUnavailable
from rlmath.header import for_checks
from rlmath.kernel.config import ReplKernelConfig
from rlmath.kernel.lean_reply import Question
from rlmath.kernel.protocol import Source
from rlmath.kernel.repl_process import ReplProcess
from rlmath.kernel.repl_setup import Launch, prepare
from rlmath.kernel.repl_worker import Crashed, ReplWorker
from rlmath.kernel.toolchain_find import environment_for_lean
from rlmath.kernel.unaudited import Ran, UnauditedKernel
from rlmath.kernel.warm_pool import WarmPool

MEBIBYTE: Final = 1 << 20
CHECKS_BETWEEN_LOOKS: Final = 10
"""How many checks a REPL takes from one look at its memory to the next, which costs a walk over all processes."""


class ReplBackend:
    """See `rlmath.kernel.unaudited.Backend`."""

    kind = "repl"

    def __init__(self, config: ReplKernelConfig, *, slots: int) -> None:
        self._config = config
        self._preamble = for_checks(config.header)
        self._launch: Launch | None = None
        self._pool: WarmPool[ReplWorker] = WarmPool(self._warm, size=slots + config.spares)
        self._slots = slots

    @property
    def lean_version(self) -> str:
        """See `Backend`."""
        return self._ready().lean_version

    @property
    def environment(self) -> str:
        """See `Backend`."""
        return f"{self._ready().libraries}+{self._preamble.digest}"

    @property
    def restarts(self) -> int:
        """See `Backend`."""
        return max(self._pool.started - self._slots - self._config.spares, 0)

    async def start(self) -> None:
        """See `Backend`."""
        if self._launch is None:
            self._launch = await prepare(self._config)
        await self._pool.start()

    async def aclose(self) -> None:
        """See `Backend`."""
        await self._pool.aclose()

    async def run(self, source: Source, question: Question, timeout_s: float) -> Ran:
        """See `Backend`. A check that brings its REPL down is run once more, on one that did nothing before: only if it
        does so again it is to blame."""
        self._ready()
        try:
            return await self._run_once(source, question, timeout_s, fresh=False)
        except Crashed:
            pass
        try:
            return await self._run_once(source, question, timeout_s, fresh=True)
        except Crashed as crash:
            return Ran(crashed=str(crash))

    async def _run_once(self, source: Source, question: Question, timeout_s: float, *, fresh: bool) -> Ran:
        worker = await self._pool.take(fresh=fresh)
        try:
            ran = await worker.run(source, question, timeout_s)
        except BaseException:
            self._pool.lose(worker)
            raise
        if ran.timed_out or self._worn(worker):
            self._pool.lose(worker)
        else:
            self._pool.put_back(worker)
        return ran

    def _worn(self, worker: ReplWorker) -> bool:
        if worker.checks >= self._config.recycle_checks:
            return True
        look = worker.checks % CHECKS_BETWEEN_LOOKS == 0
        return look and worker.resident_bytes() > self._config.recycle_rss_mb * MEBIBYTE

    async def _warm(self) -> ReplWorker:
        launch = self._ready()
        process = ReplProcess(
            launch.argv,
            cwd=launch.cwd,
            environment=environment_for_lean(),
            memory_bytes=self._config.memory_mb * MEBIBYTE,
        )
        return await ReplWorker.warm(process, self._preamble.text, self._config.start_timeout_s)

    def _ready(self) -> Launch:
        if self._launch is None:
            raise KernelUnavailable("the kernel has not been started")
        return self._launch


def make_repl_kernel(config: ReplKernelConfig, *, slots: int | None = None) -> UnauditedKernel:
    """The kernel that `config` describes, not started yet."""
    chosen = len(os.sched_getaffinity(0)) if slots is None else slots
    return UnauditedKernel(ReplBackend(config, slots=chosen), slots=slots, accept_unaudited=config.accept_unaudited)
