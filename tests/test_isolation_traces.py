"""What a check can find of another one in its memory, and what becomes of control groups."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import time
from pathlib import Path

import pytest
from isolation_kit import (
    family,
    hostile_kernel,
    image_pid,
    memory_holds,
    python,
    text_of,
    wait_until_idle,
    warden_pid,
)

from rlmath.kernel.embedded import EmbeddedKernel, Limits
from rlmath.kernel.protocol import Source

pytestmark = pytest.mark.root


# -- what is left in memory


async def test_a_check_cannot_find_the_text_of_an_earlier_one_in_its_memory() -> None:
    marker = f"zq{secrets.token_hex(16)}"
    text = f"theorem {marker} : {marker} = 1 := by simp\n"
    noise = f"os.write(1, b'{marker}' * 100)\n"
    async with hostile_kernel(limits=Limits(messages=100)) as kernel:

        async def all_at_once(*sources: Source, timeout_s: float = 20.0) -> None:
            await asyncio.gather(*(kernel.check(source, timeout_s=timeout_s) for source in sources))

        holding = asyncio.ensure_future(kernel.check(python(f"x = '{marker}'\ntime.sleep(60)"), timeout_s=60))
        while not any(memory_holds(pid, marker.encode()) for pid in family(kernel)):
            await asyncio.sleep(0.05)
            assert not holding.done(), "the search does not find what is there"
        holding.cancel()
        await all_at_once(*[Source(text)] * 6)
        await all_at_once(Source(f"-- {marker * 20_000}\n{text}"), Source(text * 50), Source(text * 500))
        await all_at_once(*[python(f"{noise}say('{marker}' * 1000)\nos.abort()")] * 3)
        await all_at_once(python(f"{noise}say('{marker}')\ntime.sleep(9)"), timeout_s=0.2)
        await all_at_once(python(f"while True: say('{marker}' * 1000)"))
        await all_at_once(*[Source("#check Nat")] * (2 * kernel.slots))
        wait_until_idle(kernel, 5)
        for pid in family(kernel):
            assert memory_holds(pid, marker.encode()) == [], f"{pid}, the image is {image_pid(kernel)}"


async def test_a_check_cannot_find_the_text_of_one_that_waits() -> None:
    marker = f"zq{secrets.token_hex(16)}"
    async with hostile_kernel() as kernel:
        wait_until_idle(kernel, 5)
        ahead = family(kernel) - {image_pid(kernel)}
        running = [asyncio.ensure_future(kernel.check(python("time.sleep(60)"), timeout_s=60)) for _ in range(2)]
        await asyncio.sleep(0.5)
        waiting = asyncio.ensure_future(kernel.check(Source(f"-- {marker}"), timeout_s=60))
        await asyncio.sleep(0.2)
        for pid in family(kernel) - ahead - {image_pid(kernel)}:
            os.kill(pid, signal.SIGKILL)  # those that were forked when the two began; others take their place
        await asyncio.sleep(0.5)
        forked_since = family(kernel) - ahead - {image_pid(kernel)}
        assert len(forked_since) == 2
        assert memory_holds(warden_pid(kernel), marker.encode()) != []
        inherited = {image_pid(kernel), *forked_since}
        assert [pid for pid in inherited if memory_holds(pid, marker.encode())] == []
        for check in (*running, waiting):
            check.cancel()
        await asyncio.gather(*running, waiting, return_exceptions=True)


# -- the control group


async def test_checks_are_in_a_bounded_control_group() -> None:
    limits = Limits(memory_bytes=1 << 30, processes=50)
    kernel = EmbeddedKernel(slots=2, limits=limits)
    await kernel.start()
    wait_until_idle(kernel, 5)
    groups = control_groups(kernel)
    assert {name for name, _ in groups} == {"memory", "pids"}
    for name, directory in groups:
        file, value = {"memory": ("memory.limit_in_bytes", 2 << 30), "pids": ("pids.max", 3 * 2 * 50)}[name]
        assert int((directory / file).read_text()) == value
        deadline = time.monotonic() + 5
        while members_of(directory) != family(kernel) - {image_pid(kernel)}:  # a fork enters it a little later
            assert time.monotonic() < deadline, (members_of(directory), family(kernel))
            await asyncio.sleep(0.01)
    os.kill(image_pid(kernel), signal.SIGKILL)
    while kernel.stats().image_pid is None or kernel.stats().restarts == 0:
        await asyncio.sleep(0.05)
    assert [directory for _, directory in groups if directory.exists()] == []
    groups = control_groups(kernel)
    await kernel.aclose()
    assert [directory for _, directory in groups if directory.exists()] == []


def control_groups(kernel: EmbeddedKernel) -> list[tuple[str, Path]]:
    """Controllers and directories of the groups of its checks."""
    child = min(family(kernel) - {image_pid(kernel)})
    lines = [line.split(":", 2) for line in text_of(f"/proc/{child}/cgroup").splitlines()]
    return [(names, Path(f"/sys/fs/cgroup/{names}{path}")) for _, names, path in lines if "/rlmath-" in path]


def members_of(directory: Path) -> set[int]:
    return {int(pid) for pid in (directory / "cgroup.procs").read_text().split()}
