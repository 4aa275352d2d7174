"""What a check can find of another one in its memory, and what becomes of control groups."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
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
from waiting import until, wait_until

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
        wait_until_idle(kernel)
        for pid in family(kernel):
            assert memory_holds(pid, marker.encode()) == [], f"{pid}, the image is {image_pid(kernel)}"


async def test_a_check_cannot_find_the_text_of_one_that_waits() -> None:
    marker = f"zq{secrets.token_hex(16)}"
    async with hostile_kernel() as kernel:
        wait_until_idle(kernel)
        known = family(kernel)
        running = [asyncio.ensure_future(kernel.check(python("time.sleep(600)"), timeout_s=600)) for _ in range(2)]
        await until(lambda: len(family(kernel) - known) == 2, shows=lambda: (known, family(kernel)))
        waiting = asyncio.ensure_future(kernel.check(Source(f"-- {marker}"), timeout_s=600))
        await until(lambda: memory_holds(warden_pid(kernel), marker.encode()))
        for pid in family(kernel) - known:
            os.kill(pid, signal.SIGKILL)  # those that were forked when the two began; others take their place
            known.add(pid)
        await until(lambda: len(family(kernel) - known) == 2, shows=lambda: (known, family(kernel)))
        forked_since = family(kernel) - known
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
    wait_until_idle(kernel)
    groups = control_groups(kernel)
    assert {name for name, _ in groups} == {"memory", "pids"}
    for name, directory in groups:
        file, value = {"memory": ("memory.limit_in_bytes", 2 << 30), "pids": ("pids.max", 3 * 2 * 50)}[name]
        assert int((directory / file).read_text()) == value
        # A fork enters it a little later.
        await until(
            lambda directory=directory: members_of(directory) == family(kernel) - {image_pid(kernel)},
            shows=lambda directory=directory: (members_of(directory), family(kernel)),
        )
    os.kill(image_pid(kernel), signal.SIGKILL)
    await until(lambda: kernel.stats().image_pid is not None and kernel.stats().restarts)
    await until(lambda: not any(directory.exists() for _, directory in groups), shows=lambda: groups)
    groups = control_groups(kernel)
    await kernel.aclose()
    assert [directory for _, directory in groups if directory.exists()] == []


def control_groups(kernel: EmbeddedKernel) -> list[tuple[str, Path]]:
    """Controllers and directories of the groups of its checks, which a fork enters a little later."""

    def look() -> list[tuple[str, Path]]:
        lines: list[list[str]] = []
        with contextlib.suppress(ValueError, FileNotFoundError, ProcessLookupError):
            child = min(family(kernel) - {image_pid(kernel)})
            lines = [line.split(":", 2) for line in text_of(f"/proc/{child}/cgroup").splitlines()]
        return [(names, Path(f"/sys/fs/cgroup/{names}{path}")) for _, names, path in lines if "/rlmath-" in path]

    return wait_until(lambda: found if len(found := look()) == 2 else [])


def members_of(directory: Path) -> set[int]:
    return {int(pid) for pid in (directory / "cgroup.procs").read_text().split()}
