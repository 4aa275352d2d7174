"""The cluster as a `Kernel`: what the pipeline calls when it runs inside the scheduler."""

from __future__ import annotations

from cluster.pool import WorkerPool
from cluster.tickets import Ticket
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.types import KernelIdentity


class RemoteKernel:
    """One request's view of the pool. A check is retried on another worker before it fails with `KernelUnavailable`."""

    def __init__(self, pool: WorkerPool, identity: KernelIdentity, ticket: Ticket) -> None:
        self._pool = pool
        self._identity = identity
        self._ticket = ticket

    @property
    def identity(self) -> KernelIdentity:
        """The same for every worker of the pool."""
        return self._identity

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        """See `Kernel.check`."""
        return await self._pool.check(source, timeout_s=timeout_s, ticket=self._ticket)

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        """See `Kernel.certify`. All its processes run on one worker."""
        return await self._pool.certify(source, reference, timeout_s=timeout_s, ticket=self._ticket)
