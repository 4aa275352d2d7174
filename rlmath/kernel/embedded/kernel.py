"""`EmbeddedKernel`: the Lean that comes with the package, behind the `Kernel` protocol."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.audit.attacks import run_attacks
from rlmath.kernel.audit.certify import Auditor, References
from rlmath.kernel.embedded.build import Prelude, ensure_prelude
from rlmath.kernel.embedded.isolation import Isolation
from rlmath.kernel.embedded.limits import Limits, machine_memory
from rlmath.kernel.embedded.link import ImageLink
from rlmath.kernel.embedded.outcome import TOO_LONG, result_of
from rlmath.kernel.embedded.selftest import run_self_test
from rlmath.kernel.embedded.wire import JobKind, encode_source
from rlmath.kernel.process_tree import own_resident_bytes
from rlmath.kernel.protocol import Certificate, CheckResult, GateVerdict, Source
from rlmath.types import KernelIdentity

LONGEST_JOB = 64 << 20
"""Bytes of one source on the wire."""
FIRST_BACKOFF_S = 0.1
LONGEST_BACKOFF_S = 5.0
"""Pause before an image is started again, doubled from failure to failure."""


@dataclass(frozen=True)
class KernelStats:
    """A glance at a kernel."""

    slots: int
    checks: int
    """Results given."""
    timed_out: int
    crashed: int
    unavailable: int
    """Checks that ended in `KernelUnavailable`."""
    audits: int
    """Verdicts of the audit."""
    in_flight: int
    restarts: int
    """Images started after the first."""
    image_pid: int | None
    warden_pid: int | None
    """The process beside the image that talks to this one (`warden.py`)."""

    @property
    def image_rss_bytes(self) -> int | None:
        """Resident memory of the image now, its mapped files included; reading it costs more than all the rest."""
        return None if self.image_pid is None else own_resident_bytes(self.image_pid)


class EmbeddedKernel:
    """A warm Lean in this process's care.

        async with EmbeddedKernel(slots=2) as kernel:
            result = await kernel.check(source, timeout_s=10)

    It belongs to the event loop that started it. Up to `slots` checks run at once, the rest wait in the order of
    their arrival. An image that dies is started again; what it was checking raises `KernelUnavailable`.
    """

    def __init__(
        self,
        *,
        slots: int | None = None,
        limits: Limits | None = None,
        prelude: Prelude | None = None,
        modules: tuple[str, ...] = ("Init",),
        require_isolation: bool = False,
    ) -> None:
        """`slots` defaults to the number of cores this process may use. `prelude` defaults to the package's own,
        compiled on first use (about 10 s); `modules` of it are imported. `require_isolation`: refuse to start on a
        machine that does not allow every measure in `Isolation` (but the control group)."""
        slots = len(os.sched_getaffinity(0)) if slots is None else slots
        if isinstance(slots, bool) or not isinstance(slots, int) or not 1 <= slots <= 1024:
            raise InputError("slots", f"must be a whole number from 1 to 1024, got {slots!r}")
        self.slots = slots
        self._limits = (limits or Limits()).fitted(self.slots, machine_memory())
        self._prelude = prelude
        self._isolation: Isolation | None = None
        self._modules = modules
        self._require_isolation = require_isolation
        self._link: ImageLink | None = None
        self._starting: asyncio.Task[ImageLink] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._failures = 0
        self._images = 0
        self._checks = self._timed_out = self._crashed = self._unavailable = self._audits = 0
        self._references = References()

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
        """Build the prelude if need be, start the image, test it. Raises `KernelUnavailable`. May be called again."""
        await self._current_link()

    async def aclose(self) -> None:
        """End the image and all checks; nothing is left running. May be called again."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            with contextlib.suppress(asyncio.CancelledError, KernelUnavailable):
                await self._starting
        if self._link is not None:
            await self._link.close()
            self._link = None

    @property
    def identity(self) -> KernelIdentity:
        """See `Kernel`. Known once started."""
        if self._prelude is None:
            raise KernelUnavailable("the kernel has not been started")
        return KernelIdentity("embedded", self._prelude.lean_version, self._prelude.environment)

    @property
    def isolation(self) -> Isolation:
        """How the checks are kept apart from one another and from this machine. Known once started."""
        if self._isolation is None:
            raise KernelUnavailable("the kernel has not been started")
        return self._isolation

    def stats(self) -> KernelStats:
        """What it has done and what it is doing."""
        link = self._link if self._link is not None and self._link.alive else None
        pid = link.process.pid if link else None
        return KernelStats(
            slots=self.slots,
            checks=self._checks,
            timed_out=self._timed_out,
            crashed=self._crashed,
            unavailable=self._unavailable,
            audits=self._audits,
            in_flight=link.in_flight if link else 0,
            restarts=max(self._images - 1, 0),
            image_pid=pid,
            warden_pid=link.warden_pid if link else None,
        )

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        """See `Kernel`. Lean's own limits (`maxHeartbeats`, `maxRecDepth`) stay in force as every Lean user knows
        them, and end a check with an ordinary error. Raises `InputError` when trusted text is not valid Unicode, the
        source is too long, or `timeout_s` is not positive."""
        job = _encode(source, timeout_s)
        if isinstance(job, CheckResult):
            return job
        try:
            link = await self._current_link()
            if source.reference:
                result, _ = await self._auditor(link).reference(source, job, timeout_s)
            else:
                result = await self._check_on(link, source, job, timeout_s)
        except KernelUnavailable:
            self._unavailable += 1
            raise
        self._count(result)
        return result

    async def certify(
        self, source: Source, reference: Source, *, timeout_s: float, as_text: bool = False
    ) -> Certificate:
        """See `Kernel`. `as_text` asks for the accepted constants as text (`AuditVerdict.exported`). Raises
        `InputError` as `check` does."""
        job = _encode(source, timeout_s)
        if isinstance(job, CheckResult):
            return Certificate(job, None)
        if isinstance(_encode(reference, timeout_s), CheckResult):
            raise InputError("reference", "holds a lone surrogate, which is no character")
        try:
            link = await self._current_link()
            certificate = await self._auditor(link).certify(source, job, reference, timeout_s, as_text=as_text)
        except KernelUnavailable:
            self._unavailable += 1
            raise
        self._count(certificate.check)
        self._audits += certificate.audit is not None
        return certificate

    async def auditor(self) -> Auditor:
        """The audit's own steps on the image that runs now: for those who judge exports of their own making."""
        return self._auditor(await self._current_link())

    def _count(self, result: CheckResult) -> None:
        self._checks += 1
        self._timed_out += result.timed_out
        self._crashed += result.crashed is not None

    def _auditor(self, link: ImageLink) -> Auditor:
        return Auditor(link.submit, self._limits, self._references)

    async def _check_on(self, link: ImageLink, source: Source, job: bytes, timeout_s: float) -> CheckResult:
        outcome = await link.submit(JobKind.CHECK, job, timeout_s)
        return result_of(outcome, self._limits, timeout_s, gated=source.template is not None)

    # -- the image's life

    async def _current_link(self) -> ImageLink:
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise RuntimeError("an EmbeddedKernel belongs to the event loop that started it: make one for each loop")
        if self._closed:
            raise KernelUnavailable("the kernel was closed")
        if self._link is not None and self._link.alive:
            return self._link
        return await asyncio.shield(self._begin_start())

    def _begin_start(self) -> asyncio.Task[ImageLink]:
        if self._starting is None or self._starting.done():
            self._starting = asyncio.get_running_loop().create_task(self._start_image())
            # A failure reaches those who wait; when nobody does, the next check tries again and reports its own.
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._starting

    async def _start_image(self) -> ImageLink:
        if self._failures:
            await asyncio.sleep(min(FIRST_BACKOFF_S * 2 ** (self._failures - 1), LONGEST_BACKOFF_S))
        self._failures += 1
        if self._link is not None:
            await self._link.close()
            self._link = None
        if self._prelude is None:
            self._prelude = await asyncio.to_thread(ensure_prelude)
        link = await ImageLink.start(
            library=self._prelude.shared_library,
            lean_path=self._prelude.path,
            modules=self._modules,
            slots=self.slots,
            limits=self._limits,
            on_lost=self._image_lost,
        )
        self._images += 1
        self._isolation = link.isolation
        try:
            self._check_isolation()
            await run_self_test(lambda source, seconds: self._check_on(link, source, encode_source(source), seconds))
            await run_attacks(Auditor(link.submit, self._limits, References()))
        except BaseException:
            await link.close()
            raise
        self._link = link
        self._failures = 0
        return link

    def _check_isolation(self) -> None:
        if self._require_isolation and (missing := self.isolation.missing):
            raise KernelUnavailable(
                f"checks cannot be isolated on this machine as require_isolation demands; missing: {'; '.join(missing)}"
            )

    def _image_lost(self) -> None:
        if not self._closed and self._link is not None and not self._link.alive:
            self._begin_start()


def _encode(source: Source, timeout_s: float) -> bytes | CheckResult:
    """The source as a job, or the result of one whose text cannot be encoded."""
    if not timeout_s > 0:
        raise InputError("timeout_s", f"must be more than 0 seconds, got {timeout_s!r}")
    try:
        job = encode_source(source)
    except UnicodeEncodeError:
        return _refuse_surrogates(source)
    if len(job) > LONGEST_JOB:
        if source.parts:
            return CheckResult(crashed=TOO_LONG)
        raise InputError("source", f"is {len(job)} bytes long; the most is {LONGEST_JOB}")
    return job


def _refuse_surrogates(source: Source) -> CheckResult:
    """Lean text is UTF-8, which has no lone surrogates: a part with one does not parse."""
    for part in source.parts:
        try:
            part.text.encode("utf-8")
        except UnicodeEncodeError as error:
            line = part.text.count("\n", 0, error.start) + 1
            detail = f"line {line} holds a lone surrogate, which is no character"
            return CheckResult(gate=GateVerdict(False, "part", part.label, detail))
    raise InputError("source", "holds a lone surrogate, which is no character")
