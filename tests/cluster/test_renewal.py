"""A kernel that is replaced while it serves: real images, no Ray."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from cluster_helpers import alive
from isolation_kit import busy_children_of
from waiting import until

from cluster.renewal import ImageDied, Renewal, RenewedKernel
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Source
from rlmath.kernel.select import OwnedKernel

QUICK = Source("theorem quick : True := trivial")
ENDLESS = Source("theorem endless : True := by\n  repeat skip")


def embedded() -> OwnedKernel:
    return EmbeddedKernel(slots=2)


@asynccontextmanager
async def renewed(renewal: Renewal, make: Callable[[], OwnedKernel] = embedded) -> AsyncIterator[RenewedKernel]:
    kernel = RenewedKernel(make, renewal)
    await kernel.start()
    try:
        yield kernel
    finally:
        await kernel.aclose()


async def test_it_is_renewed_after_so_many_checks_without_a_pause_or_a_lost_check() -> None:
    async with renewed(Renewal(checks=3)) as kernel:
        old = kernel.pulse().image_pid
        assert old is not None
        kernel.look()
        assert kernel.pulse().renewals == 0
        slow = asyncio.create_task(kernel.check(ENDLESS, timeout_s=12.0))
        served = []
        while kernel.pulse().image_pid == old:
            served.append(await kernel.check(QUICK, timeout_s=30.0))
            kernel.look()
        # The last of them were answered while the fresh image warmed up.
        assert len(served) > 3
        assert all(result.errors == () for result in served)
        assert not slow.done()
        assert alive(old), "it has a check still"
        assert (await kernel.check(QUICK, timeout_s=30.0)).errors == ()
        assert (await slow).timed_out
        await until(lambda: not alive(old))
        pulse = kernel.pulse()
        assert (pulse.renewals, pulse.checks, pulse.timed_out) == (1, len(served) + 2, 1)
        assert pulse.image_bytes > 10 << 20


async def test_it_is_renewed_when_its_image_has_grown() -> None:
    async with renewed(Renewal(growth_bytes=-1)) as kernel:  # as if any size were too much
        old = kernel.pulse().image_pid
        kernel.look()
        await until(lambda: kernel.pulse().image_pid != old)
        assert kernel.pulse().renewals == 1


async def test_one_that_cannot_be_renewed_goes_on() -> None:
    made: list[OwnedKernel] = []

    def make() -> OwnedKernel:
        made.append(EmbeddedKernel(slots=1, modules=("NoSuchModule",) if made else ("Init",)))
        return made[-1]

    async with renewed(Renewal(checks=1), make) as kernel:
        old = kernel.pulse().image_pid
        await kernel.check(QUICK, timeout_s=30.0)
        kernel.look()
        await until(lambda: len(made) == 2 and kernel._renewing is None)
        kernel.look()
        assert len(made) == 2, "not again at once"
        assert (await kernel.check(QUICK, timeout_s=30.0)).errors == ()
        assert (kernel.pulse().image_pid, kernel.pulse().renewals) == (old, 0)


async def test_a_check_whose_image_dies_is_told_from_one_that_fails_by_itself() -> None:
    async with renewed(Renewal()) as kernel:
        running = asyncio.create_task(kernel.check(ENDLESS, timeout_s=60.0))
        pid = kernel.pulse().image_pid
        assert pid is not None
        await until(lambda: busy_children_of(pid))
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ImageDied):
            await running
        assert (await kernel.check(QUICK, timeout_s=30.0)).errors == ()


async def test_closed_in_the_middle_of_a_renewal_it_leaves_nothing() -> None:
    pids = []
    async with renewed(Renewal(checks=1)) as kernel:
        running = asyncio.create_task(kernel.check(ENDLESS, timeout_s=60.0))
        pids.append(kernel.pulse().image_pid)
        await kernel.check(QUICK, timeout_s=30.0)
        kernel.look()
        await until(lambda: kernel.pulse().image_pid != pids[0])
        pids.append(kernel.pulse().image_pid)
    assert isinstance((await asyncio.gather(running, return_exceptions=True))[0], ImageDied)
    assert [pid for pid in pids if pid is None or alive(pid)] == []
