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
from typing import Any

import ray
import ray.util

from cluster.api import ClusterSettings
from cluster.exchange import CheckSession, ServedLine, pack_answers, unpack_parcel
from cluster.kinds import WorkerKind
from cluster.line import Address, Listener
from cluster.logs import log_as_json
from cluster.renewal import KernelPulse, Renewal, RenewedKernel
from cluster.ways import why_no_line
from rlmath.errors import KernelUnavailable
from rlmath.kernel.select import OwnedKernel, make_kernel
from rlmath.leaf.config import LeafConfig, make_prover
from rlmath.leaf.protocol import LeafAttempt, LeafProver, LeafTask
from rlmath.types import KernelIdentity

logger = logging.getLogger(__name__)

HEALTH = "health"
"""Concurrency group of `ping`: its own thread, so that it answers while the main loop is busy."""

BEAT_S = 0.5
"""How often the main loop shows that it turns, and looks at its kernel."""


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker says of itself when it takes checks."""

    pid: int
    node_id: str
    slots: int
    identity: KernelIdentity
    kernel: KernelPulse
    address: Address | None = None
    """Where it waits for the line of this life (line.py); None: there is to be none, or it could not listen."""


@dataclass(frozen=True)
class Pulse:
    """Answer to a ping."""

    loop_lag_s: float
    """How long ago the main loop last turned."""
    kernel: KernelPulse | None
    """None: there is none, for now."""


class LeanWorker:
    """Owns one warm kernel with `slots` children, for one scheduler."""

    def __init__(self, kind: WorkerKind, slots: int, settings: ClusterSettings) -> None:
        log_as_json()
        self._kind, self._slots, self._settings = kind, slots, settings
        self._kernel: RenewedKernel | None = None
        self._starting: asyncio.Lock | None = None
        self._life = ""
        self._session: CheckSession | None = None
        self._listener = Listener()
        self._beat = time.monotonic()
        self._beating: asyncio.Task[None] | None = None

    async def open(self, life: str, secret: bytes | None = None) -> WorkerInfo:
        """Warm the kernel if it is not, end what an earlier life left running, and take checks under this life's name:
        with a secret also by a line of whoever knows it.

        Raises `KernelUnavailable` or `InputError` when the kernel cannot start or refuses to score.
        """
        if self._starting is None:
            self._starting = asyncio.Lock()
        if self._beating is None:
            self._beating = asyncio.create_task(self._keep_beating())
        async with self._starting:
            self._listener.dismiss()
            if self._session is not None:
                session, self._session = self._session, None
                await session.close()
                if session.stuck:
                    await self._end_kernel()
            if self._kernel is None:
                settings = self._settings
                kernel = RenewedKernel(self._make, Renewal(settings.renew_checks, settings.renew_growth_bytes))
                await kernel.start()
                self._kernel = kernel
            session = CheckSession(self._kernel, self._slots, self._settings.kernel_grace_s)
            self._life, self._session = life, session
            address = None if secret is None else await self._listen(life, secret, session)
            node = ray.get_runtime_context().get_node_id()
            return WorkerInfo(os.getpid(), node, self._slots, self._kernel.identity, self._kernel.pulse(), address)

    async def exchange(self, packed: bytes) -> bytes:
        """A packed `Parcel` in, packed answers out; see `CheckSession.exchange`."""
        parcel = unpack_parcel(packed)
        if self._session is None or parcel.life != self._life:
            raise KernelUnavailable("the worker was started again")
        return pack_answers(await self._session.exchange(parcel))

    @ray.method(concurrency_group=HEALTH)
    async def ping(self) -> Pulse:
        """Answers at once, whatever the main loop does."""
        kernel = self._kernel
        return Pulse(time.monotonic() - self._beat, kernel.pulse() if kernel else None)

    async def close(self) -> None:
        """End all checks and the image, and give the port up. The actor can be opened again."""
        await self._listener.close()
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self._end_kernel()

    async def _listen(self, life: str, secret: bytes, session: CheckSession) -> Address | None:
        if why := why_no_line(self._settings):  # the scheduler's node may be set up differently
            logger.warning("no listening for the scheduler: %s", why)
            return None
        try:
            # The address that Ray has for this node: what reaches Ray there reaches this.
            util: Any = ray.util  # it has no types
            address = await self._listener.start(util.get_node_ip_address())
        except OSError as error:
            logger.warning("cannot listen for the scheduler: %s", error)
            return None
        self._listener.expect(life, secret, ServedLine(session))
        return address

    def _make(self) -> OwnedKernel:
        return make_kernel(
            self._kind.kernel,
            slots=self._slots,
            require_isolation=self._settings.require_isolation,
            memory_bytes=self._kind.memory.check_bytes,
        )

    async def _end_kernel(self) -> None:
        if self._kernel is not None:
            kernel, self._kernel = self._kernel, None
            await kernel.aclose()

    async def _keep_beating(self) -> None:
        while True:
            self._beat = time.monotonic()
            if self._kernel is not None:
                self._kernel.look()
            await asyncio.sleep(BEAT_S)


class LeafWorker:
    """Holds the clients of leaf models, one for each configuration, with their connections and their attempt cache."""

    def __init__(self) -> None:
        log_as_json()
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
