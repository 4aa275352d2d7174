"""The actors that do the work, one concern each and thin: `LeanWorker` owns a warm kernel, `LeafWorker` the clients of
leaf models.

Neither decides anything: retries, order and budgets belong to the scheduler. Ray starts a dead one again
(`max_restarts=-1`) but repeats no call by itself (`max_task_retries=0`), so nothing is run or paid for twice behind the
scheduler's back.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

import ray

from cluster.exchange import CheckSession, pack_answers, unpack_parcel
from rlmath.errors import KernelUnavailable
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.config import LeafConfig, make_prover
from rlmath.leaf.protocol import LeafAttempt, LeafProver, LeafTask
from rlmath.types import KernelIdentity

logger = logging.getLogger(__name__)

HEALTH = "health"
"""Concurrency group of `ping`: its own thread, so that it answers while the main loop is busy."""

BEAT_S = 0.5
"""How often the main loop shows that it turns."""


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker says of itself when it takes checks."""

    pid: int
    image_pid: int | None
    slots: int
    identity: KernelIdentity


@dataclass(frozen=True)
class Pulse:
    """Answer to a ping."""

    loop_lag_s: float
    """How long ago the main loop last turned."""
    image_pid: int | None
    checks: int
    """Results that the kernel gave."""


class LeanWorker:
    """One a node: owns one warm image with `slots` children, for one scheduler."""

    def __init__(self, slots: int, grace_s: float, require_isolation: bool) -> None:
        """`grace_s`: see `CheckSession`; `require_isolation`: see `EmbeddedKernel`."""
        self._slots = slots
        self._grace_s = grace_s
        self._require_isolation = require_isolation
        self._kernel: EmbeddedKernel | None = None
        self._starting: asyncio.Lock | None = None
        self._life = ""
        self._session: CheckSession | None = None
        self._beat = time.monotonic()
        self._beating: asyncio.Task[None] | None = None

    async def open(self, life: str) -> WorkerInfo:
        """Warm the kernel if it is not, end what an earlier life left running, and take checks under this life's name.

        Raises `KernelUnavailable` or `InputError` when the kernel cannot start or refuses to score.
        """
        if self._starting is None:
            self._starting = asyncio.Lock()
        if self._beating is None:
            self._beating = asyncio.create_task(self._keep_beating())
        async with self._starting:
            if self._session is not None:
                session, self._session = self._session, None
                await session.close()
                if session.stuck:
                    await self._end_kernel()
            if self._kernel is None:
                # Here, on the actor's main loop, because the image dies with the thread that starts it.
                kernel = EmbeddedKernel(slots=self._slots, require_isolation=self._require_isolation)
                try:
                    await kernel.start()
                except BaseException:
                    await kernel.aclose()
                    raise
                self._kernel = kernel
            self._life, self._session = (
                life,
                CheckSession(self._kernel, self._slots, self._grace_s, self._image_pid),
            )
            return WorkerInfo(os.getpid(), self._image_pid(), self._slots, self._kernel.identity)

    async def exchange(self, packed: bytes) -> bytes:
        """A packed `Parcel` in, packed answers out; see `CheckSession.exchange`."""
        parcel = unpack_parcel(packed)
        if self._session is None or parcel.life != self._life:
            raise KernelUnavailable("the worker was started again")
        return pack_answers(await self._session.exchange(parcel))

    @ray.method(concurrency_group=HEALTH)
    async def ping(self) -> Pulse:
        """Answers at once, whatever the main loop does."""
        return Pulse(
            time.monotonic() - self._beat, self._image_pid(), self._kernel.stats().checks if self._kernel else 0
        )

    async def close(self) -> None:
        """End all checks and the image. The actor can be opened again."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self._end_kernel()

    def _image_pid(self) -> int | None:
        return self._kernel.stats().image_pid if self._kernel else None

    async def _end_kernel(self) -> None:
        if self._kernel is not None:
            kernel, self._kernel = self._kernel, None
            await kernel.aclose()

    async def _keep_beating(self) -> None:
        while True:
            self._beat = time.monotonic()
            await asyncio.sleep(BEAT_S)


class LeafWorker:
    """Holds the clients of leaf models, one for each configuration, with their connections and their attempt cache."""

    def __init__(self) -> None:
        self._provers: dict[str, LeafProver] = {}

    def _prover(self, config: LeafConfig) -> LeafProver:
        key = config.model_dump_json()
        if key not in self._provers:
            self._provers[key] = make_prover(config)
        return self._provers[key]

    async def describe(self, config: LeafConfig) -> tuple[str, int | None]:
        """`(identity, max_attempts)` of the prover. Raises `InputError` for a configuration that cannot work."""
        prover = self._prover(config)
        return prover.identity, prover.max_attempts

    async def attempts(self, config: LeafConfig, task: LeafTask, indices: Sequence[int]) -> tuple[LeafAttempt, ...]:
        """See `LeafProver.attempts`."""
        return tuple(await self._prover(config).attempts(task, indices))
