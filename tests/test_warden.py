"""The image and its warden: who forks, and how each notices that the other, or a child, is gone."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import NoReturn

import pytest
from isolation_kit import (
    alive,
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
from waiting import PATIENCE_S, until, wait_until

from rlmath.errors import KernelUnavailable
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.embedded.forks import ANSWER, Death, Forks, News, fork_on_request
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

    def child(self) -> tuple[News, int, int]:
        """The answer to a request for a child, and where it reads and writes."""
        (job, to_child), (from_child, result), (errors, stderr) = os.pipe(), os.pipe(), os.pipe()
        news = self.ask(job, result, stderr)
        for fd in (job, result, stderr, errors):
            os.close(fd)
        return news, to_child, from_child

    def ask(self, *descriptors: int) -> News:
        """A request, and its answer."""
        self.forks.ask(descriptors)
        assert self.forks.waiting
        select.select([self.forks], [], [], PATIENCE_S)
        answer = self.forks.answer()
        assert not self.forks.waiting
        return answer


def test_children_are_forked_and_reaped_on_request() -> None:
    image = Image()
    children = [image.child() for _ in range(5)]
    pids = [news.forked for news, _, _ in children]
    assert len(set(pids)) == 5
    assert image.ask() == News(0, 0, None), "all of them wait for their jobs"
    for number, (_, to_child, from_child) in enumerate(children):
        os.write(to_child, b"%d" % number)
        os.close(to_child)
        assert os.read(from_child, 100) == b"%d" % number
        assert os.read(from_child, 100) == b"", "the image keeps no copy of a child's descriptors"
        os.close(from_child)
    deaths: list[Death] = []
    wait_until(lambda: deaths.extend(filter(None, [image.ask().reaped])) or len(deaths) == 5)
    assert sorted(death.pid for death in deaths) == sorted(pids)
    assert {os.waitstatus_to_exitcode(death.wait_status) for death in deaths} == {7}
    assert all(death.most_bytes > 1 << 20 for death in deaths)
    image.socket.close()
    assert os.waitstatus_to_exitcode(os.waitpid(image.pid, 0)[1]) == 0


def test_the_dead_are_named_before_their_numbers_are_free() -> None:
    image = Image()
    news, *pipes = image.child()
    first = news.forked
    os.kill(first, signal.SIGKILL)
    assert wait_until(lambda: image.ask().dead) == first
    assert exist([f"/proc/{first}"]), "who has not read the name yet may kill it"
    news, *more = image.child()  # a fork tells as well
    assert news.reaped is not None
    assert (news.reaped.pid, os.waitstatus_to_exitcode(news.reaped.wait_status)) == (first, -signal.SIGKILL)
    assert not exist([f"/proc/{first}"])
    for fd in (*pipes, *more):
        os.close(fd)  # which the other ends with, and with it its copy of the image's socket
    os.kill(image.pid, signal.SIGKILL)
    os.waitpid(image.pid, 0)
    with pytest.raises(EOFError):
        image.ask()
    image.socket.close()


def test_an_image_that_did_not_fork_as_it_was_asked_to_is_as_good_as_gone() -> None:
    """So it is when it could take no more descriptors."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        forks = Forks(ours)
        forks.ask((0, 1, 2))
        theirs.send(ANSWER.pack(0, 0, 0, 0, 0.0, 0))
        with pytest.raises(EOFError):
            forks.answer()


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
    await until(lambda: not any(map(alive, before)))
    assert (await kernel.check(EASY, timeout_s=20)).messages == ()
    assert kernel.stats().restarts == 1


@pytest.mark.root
async def test_the_warden_comes_before_the_checks(kernel: EmbeddedKernel) -> None:
    asks = "import os; os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))"
    asked = await asyncio.create_subprocess_exec(sys.executable, "-c", asks, stderr=subprocess.DEVNULL)
    policy = os.SCHED_OTHER if await asked.wait() else os.SCHED_RR  # as far as this machine lets anybody
    assert os.sched_getscheduler(warden_pid(kernel)) & ~os.SCHED_RESET_ON_FORK == policy
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


async def test_a_stopped_image_does_not_outlive_its_owner() -> None:
    kernel = EmbeddedKernel(slots=1)
    await kernel.start()
    left = family(kernel) | {warden_pid(kernel)}
    os.kill(image_pid(kernel), signal.SIGSTOP)
    closing = asyncio.create_task(kernel.aclose())
    await until(lambda: not any(map(alive, left)), 4.0)  # after five seconds the owner kills it
    await closing


MUTE = "os.closerange(3, 64)\n"
"""Closes the report."""


@pytest.mark.root
async def test_a_check_that_closes_its_report_has_its_time_and_no_more() -> None:
    async with hostile_kernel() as kernel:
        assert await run(kernel, "say('here')") == ["here"]
        late = await kernel.check(python(f"say('first')\n{MUTE}time.sleep(60)"), timeout_s=2.0)
        assert (late.timed_out, late.crashed, said(late)) == (True, None, ["first"])
        assert late.elapsed_s >= 2.0
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
        children = f"/proc/{image_pid(kernel)}/task/{image_pid(kernel)}/children"
        await until(lambda: len(text_of(children).split()) == 1 + 8)  # they are reaped without another fork
        assert warden_pid(kernel) == warden
