"""A kernel that is renewed while it serves: after so many checks, or when its image has grown, a fresh one is started
beside it. New checks go to that once it is warm; the old one ends when its last check has.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rlmath.errors import KernelUnavailable, RlmathError
from rlmath.kernel.process_tree import own_resident_bytes
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.kernel.select import OwnedKernel
from rlmath.types import KernelIdentity

logger = logging.getLogger(__name__)

AGAIN_S = 60.0
"""After a fresh kernel that did not start, until another is tried."""


class ImageDied(KernelUnavailable):
    """The image went down while it had this check."""


@dataclass(frozen=True)
class Renewal:
    """When a kernel is due."""

    checks: int = 100_000
    """Results that it has given."""
    growth_bytes: int = 1 << 30
    """Resident memory that its image and warden have beyond what they had at first."""


@dataclass(frozen=True)
class KernelPulse:
    """What a worker's kernel looks like from outside."""

    image_pid: int | None
    image_bytes: int
    """Resident memory of the image; 0 when it is not one process, or not here."""
    checks: int
    """Results given, by kernels renewed since too."""
    timed_out: int
    crashed: int
    renewals: int


@dataclass(eq=False)
class _Tenure:
    """One kernel, while it is used."""

    kernel: OwnedKernel
    running: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    image: int | None = None
    first_bytes: int = 0
    """Of that image and its warden, when they were first looked at."""


class RenewedKernel:
    """Behind the `Kernel` protocol; for the event loop that started it."""

    def __init__(self, make: Callable[[], OwnedKernel], renewal: Renewal) -> None:
        """`make`: a kernel, not started; each has to be of the same identity."""
        self._make, self._renewal = make, renewal
        self._now: _Tenure | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._not_before = 0.0
        self._old: _Tenure | None = None
        """Has its last checks."""
        self._past = (0, 0, 0)
        """Results, those that timed out, those that crashed, of kernels that have ended."""
        self._renewals = 0

    async def start(self) -> None:
        """Warm the first one. Raises as `OwnedKernel.start`."""
        kernel = self._make()
        try:
            await kernel.start()
        except BaseException:
            await kernel.aclose()
            raise
        self._now = _Tenure(kernel)

    async def aclose(self) -> None:
        """End everything."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)
        if self._now is not None:
            now, self._now = self._now, None
            await now.kernel.aclose()

    @property
    def identity(self) -> KernelIdentity:
        """See `Kernel`."""
        return self._tenure().kernel.identity

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        """See `Kernel.check`. Raises `ImageDied` when that is why there is no result."""
        with self._using() as kernel:
            return await kernel.check(source, timeout_s=timeout_s)

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        """See `Kernel.certify`; else as `check`."""
        with self._using() as kernel:
            return await kernel.certify(source, reference, timeout_s=timeout_s)

    def pulse(self) -> KernelPulse:
        """A glance. It may come from any thread."""
        checks, timed_out, crashed = self._past
        for tenure in (self._old, self._now):
            if tenure is not None:
                stats = tenure.kernel.stats()
                checks, timed_out, crashed = (
                    checks + stats.checks,
                    timed_out + stats.timed_out,
                    crashed + stats.crashed,
                )
        pid = self._now.kernel.stats().image_pid if self._now is not None else None
        size = 0 if pid is None else own_resident_bytes(pid)
        return KernelPulse(pid, size, checks, timed_out, crashed, self._renewals)

    def look(self) -> None:
        """To be called every now and then: begins a renewal that is due."""
        now = self._now
        if now is None or self._renewing is not None or time.monotonic() < self._not_before:
            return
        stats = now.kernel.stats()
        size = sum(own_resident_bytes(pid) for pid in (stats.image_pid, stats.warden_pid) if pid is not None)
        if stats.image_pid != now.image:
            now.image, now.first_bytes = stats.image_pid, size
        if stats.checks >= self._renewal.checks or size - now.first_bytes > self._renewal.growth_bytes:
            self._renewing = asyncio.create_task(self._renew(now))
            self._renewing.add_done_callback(self._renewed)

    def _tenure(self) -> _Tenure:
        if self._now is None:
            raise KernelUnavailable("the kernel is not running")
        return self._now

    @contextlib.contextmanager
    def _using(self) -> Iterator[OwnedKernel]:
        tenure = self._tenure()
        image = tenure.kernel.stats().image_pid
        tenure.running += 1
        try:
            yield tenure.kernel
        except KernelUnavailable as error:
            if image is not None and tenure.kernel.stats().image_pid != image:
                raise ImageDied(str(error)) from error
            raise
        finally:
            tenure.running -= 1
            if not tenure.running:
                tenure.idle.set()

    async def _renew(self, old: _Tenure) -> None:
        fresh = self._make()
        try:
            await fresh.start()
            if fresh.identity != old.kernel.identity:
                raise KernelUnavailable(f"a fresh kernel is {fresh.identity}, and this worker's {old.kernel.identity}")
        except BaseException as error:
            self._not_before = time.monotonic() + AGAIN_S
            await fresh.aclose()
            if not isinstance(error, RlmathError):
                raise
            logger.warning("the kernel could not be renewed, and goes on: %s", error)
            return
        self._now, self._old, self._renewals = _Tenure(fresh), old, self._renewals + 1
        try:
            while old.running:
                old.idle.clear()
                await old.idle.wait()
        finally:
            stats = old.kernel.stats()
            checks, timed_out, crashed = self._past
            self._past = checks + stats.checks, timed_out + stats.timed_out, crashed + stats.crashed
            self._old = None
            await old.kernel.aclose()
        logger.info("renewed the kernel after %d checks", stats.checks)

    def _renewed(self, task: asyncio.Task[None]) -> None:
        self._renewing = None
        if not task.cancelled() and task.exception() is not None:
            logger.error("a renewal failed in an unforeseen way", exc_info=task.exception())
