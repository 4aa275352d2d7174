"""The image and its warden: who forks, and how each notices that the other, or a child, is gone."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import time
from collections.abc import AsyncIterator
from typing import NoReturn

import pytest
from isolation_kit import (
    exist,
    family,
    hostile_kernel,
    image_pid,
    python,
    run,
    said,
    text_of,
    wait_until_idle,
    warden_pid,
)

from rlmath.errors import KernelUnavailable
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.embedded.forks import Death, Forks, fork_on_request
from rlmath.kernel.embedded.selftest import theorem
from rlmath.kernel.embedded.system import PR_SET_DUMPABLE, setting

ENDLESS = theorem("1 = 2", "repeat (have h : True := trivial)")
EASY = theorem("∀ n : Nat, 0 + n = n", "intro n\nsimp")


# -- forking and reaping, without Lean


class Image:
    """A process that forks on request. Its children say what they are told, and end with exit code 7."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if (pid := os.fork()) == 0:
            try:
                ours.close()
                fork_on_request(theirs, os.getppid(), (setting(PR_SET_DUMPABLE, 1),), self._serve)
            finally:
                os._exit(1)
        theirs.close()
        self.pid, self.socket, self.forks = pid, ours, Forks(ours)

    @staticmethod
    def _serve(job: int, result: int, stderr: int) -> NoReturn:
        try:
            os.write(result, os.read(job, 100))
            os.write(stderr, b"said")
        finally:
            os._exit(7)

    def child(self) -> tuple[int, list[Death], int, int]:
        """A child's number, who died, and where it reads and writes."""
        (job, to_child), (from_child, result), (errors, stderr) = os.pipe(), os.pipe(), os.pipe()
        pid, deaths = self.ask(job, result, stderr)
        for fd in (job, result, stderr, errors):
            os.close(fd)
        return pid, deaths, to_child, from_child

    def ask(self, *descriptors: int) -> tuple[int, list[Death]]:
        """A request, and its answer."""
        self.forks.ask(descriptors)
        assert self.forks.waiting
        select.select([self.forks], [], [], 60)
        answer = self.forks.answer()
        assert not self.forks.waiting
        return answer

    def deaths(self, count: int) -> list[Death]:
        """Of so many children."""
        found: list[Death] = []
        deadline = time.monotonic() + 60
        while len(found) < count:
            assert time.monotonic() < deadline, found
            found += self.ask()[1]
        return found


def test_children_are_forked_and_reaped_on_request() -> None:
    image = Image()
    children = [image.child() for _ in range(5)]
    pids = [pid for pid, _, _, _ in children]
    assert len(set(pids)) == 5
    assert image.ask() == (0, []), "all of them wait for their jobs"
    for number, (_, _, to_child, from_child) in enumerate(children):
        os.write(to_child, b"%d" % number)
        os.close(to_child)
        assert os.read(from_child, 100) == b"%d" % number
        assert os.read(from_child, 100) == b"", "the image keeps no copy of a child's descriptors"
        os.close(from_child)
    deaths = image.deaths(5)
    assert sorted(death.pid for death in deaths) == sorted(pids)
    assert {os.waitstatus_to_exitcode(death.wait_status) for death in deaths} == {7}
    assert all(death.most_bytes > 1 << 20 for death in deaths)
    image.socket.close()
    assert os.waitstatus_to_exitcode(os.waitpid(image.pid, 0)[1]) == 0


def test_a_fork_tells_of_those_that_died_meanwhile() -> None:
    image = Image()
    first, _, to_child, from_child = image.child()
    os.kill(first, signal.SIGKILL)
    told: list[Death] = []
    for fd in (to_child, from_child):
        os.close(fd)
    pipes = list[int]()
    while not told:
        _, told, *more = image.child()
        pipes += more
    assert [death.pid for death in told] == [first], "the others wait for their jobs"
    assert os.waitstatus_to_exitcode(told[0].wait_status) == -signal.SIGKILL
    for fd in pipes:
        os.close(fd)  # which the others end with, and with them their copies of the image's socket
    os.kill(image.pid, signal.SIGKILL)
    os.waitpid(image.pid, 0)
    with pytest.raises(EOFError):
        image.ask()
    image.socket.close()


# -- the two in a kernel


@pytest.fixture
async def kernel() -> AsyncIterator[EmbeddedKernel]:
    async with EmbeddedKernel(slots=2) as kernel:
        yield kernel


async def test_a_killed_warden_takes_no_verdict_and_no_process_with_it(kernel: EmbeddedKernel) -> None:
    checks = [asyncio.ensure_future(kernel.check(ENDLESS, timeout_s=60)) for _ in range(3)]
    while kernel.stats().in_flight < 3:
        await asyncio.sleep(0.01)
    before = family(kernel) | {warden_pid(kernel)}
    os.kill(warden_pid(kernel), signal.SIGKILL)
    results = await asyncio.gather(*checks, return_exceptions=True)
    assert all(isinstance(result, KernelUnavailable) for result in results), results
    deadline = time.monotonic() + 30
    while left := exist(f"/proc/{pid}" for pid in before):
        assert time.monotonic() < deadline, left
        await asyncio.sleep(0.01)
    assert (await kernel.check(EASY, timeout_s=20)).messages == ()
    assert kernel.stats().restarts == 1


@pytest.mark.root
async def test_the_warden_comes_before_the_checks(kernel: EmbeddedKernel) -> None:
    assert os.sched_getscheduler(warden_pid(kernel)) & ~os.SCHED_RESET_ON_FORK == os.SCHED_RR
    assert {os.sched_getscheduler(pid) for pid in family(kernel)} == {os.SCHED_OTHER}
    assert text_of(f"/proc/{image_pid(kernel)}/comm") == "rlmath-image"


async def test_deadlines_are_kept_while_the_image_is_stopped(kernel: EmbeddedKernel) -> None:
    late = []
    for _ in range(3):
        check = asyncio.ensure_future(kernel.check(ENDLESS, timeout_s=1.0))
        await asyncio.sleep(0.2)
        os.kill(image_pid(kernel), signal.SIGSTOP)
        try:
            result = await check
        finally:
            os.kill(image_pid(kernel), signal.SIGCONT)
        assert result.timed_out
        late.append(result.elapsed_s - 1.0)
    assert sorted(late)[1] <= 0.1, late
    assert (await kernel.check(EASY, timeout_s=20)).messages == ()
    assert kernel.stats().restarts == 0


@pytest.mark.root
async def test_the_image_holds_no_descriptor_of_a_check_or_of_the_owner(kernel: EmbeddedKernel) -> None:
    """What the image has open, its children would have until they close it."""
    before = opened(image_pid(kernel))
    assert len([name for name in before if name.startswith("socket:")]) == 1, "to the warden"
    await asyncio.gather(*(kernel.check(EASY, timeout_s=20) for _ in range(8)))
    wait_until_idle(kernel, 30)
    assert opened(image_pid(kernel)) == before
    for pid in family(kernel) - {image_pid(kernel)}:
        pipes = [name for name in opened(pid) if name.startswith("pipe:")]
        assert not set(pipes) & set(before), "nor has a check any of the image's"


def opened(pid: int) -> list[str]:
    """What a process's descriptors stand for."""
    return sorted(os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))


MUTE = "os.closerange(3, 64)\n"
"""Closes the report."""


@pytest.mark.root
async def test_a_check_that_closes_its_report_has_its_time_and_no_more() -> None:
    async with hostile_kernel() as kernel:
        assert await run(kernel, "say('here')") == ["here"]
        late = await kernel.check(python(f"say('first')\n{MUTE}time.sleep(60)"), timeout_s=0.5)
        assert (late.timed_out, late.crashed, said(late)) == (True, None, ["first"])
        assert late.elapsed_s >= 0.5
        gone = await kernel.check(python(f"say('first')\n{MUTE}os._exit(3)"), timeout_s=20)
        assert (gone.timed_out, gone.crashed, said(gone)) == (False, "exit code 3", ["first"])
        slow = await kernel.check(python(f"{MUTE}time.sleep(0.3)\nos._exit(3)"), timeout_s=20)
        assert (slow.timed_out, slow.crashed) == (False, "exit code 3")
        assert slow.elapsed_s >= 0.3
        assert kernel.stats().restarts == 0


@pytest.mark.root
async def test_the_warden_looks_after_many_that_die_at_once() -> None:
    async with hostile_kernel(slots=8) as kernel:
        results = await asyncio.gather(
            *(kernel.check(python(f"say({n})\nos._exit({n})"), timeout_s=30) for n in range(101, 165))
        )
        assert [(result.crashed, said(result)) for result in results] == [
            (f"exit code {n}", [n]) for n in range(101, 165)
        ]
        warden = warden_pid(kernel)
        deadline = time.monotonic() + 30
        while len(text_of(f"/proc/{image_pid(kernel)}/task/{image_pid(kernel)}/children").split()) > 1 + 8:
            assert time.monotonic() < deadline, "they are reaped without another fork"
            await asyncio.sleep(0.01)
        assert warden_pid(kernel) == warden
