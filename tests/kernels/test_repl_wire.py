"""The REPL kernel on a wire on which nothing is as it should be: no verdict is better than a wrong one."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from isolation_kit import alive
from kernel_kit import TESTS, make_workspace
from waiting import until

from rlmath.errors import KernelUnavailable
from rlmath.kernel.process_tree import tree
from rlmath.kernel.protocol import Source
from rlmath.kernel.repl import make_repl_kernel
from rlmath.kernel.unaudited import UnauditedKernel

TRUE = Source("theorem t : 2 + 2 = 4 := rfl", declaration="t", axioms=True)
FALSE = Source("theorem t : 2 + 2 = 5 := rfl", declaration="t", axioms=True)


def cmdline(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hostile(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[UnauditedKernel]:
    """One slot and two spares on the REPL that misbehaves."""
    command = (sys.executable, str(TESTS / "hostile_repl.py"))
    workspace = make_workspace(tmp_path_factory.mktemp("hostile"), command)
    async with make_repl_kernel(workspace.config(spares=2), slots=1) as kernel:
        yield kernel


@pytest.mark.parametrize(
    "trick", ["early_reply", "garbage_line", "garbage_block", "two_replies", "late_reply", "no_json"]
)
async def test_a_wire_that_lies_gives_no_verdict(hostile: UnauditedKernel, trick: str) -> None:
    """Nothing said out of turn counts, and nothing that comes after it is believed by the next check."""
    tricked = Source(f"theorem {trick} : 2 + 2 = 5 := rfl", declaration=trick)
    with pytest.raises(KernelUnavailable):
        await hostile.check(tricked, timeout_s=20)
    for _ in range(3):
        false, true = await hostile.check(FALSE, timeout_s=20), await hostile.check(TRUE, timeout_s=20)
        assert false.errors
        assert not true.messages


@pytest.mark.parametrize("trick", ["a_list", "an_error", "odd_env", "odd_message"])
async def test_an_answer_that_is_none(hostile: UnauditedKernel, trick: str) -> None:
    with pytest.raises(KernelUnavailable):
        await hostile.check(Source(f"theorem {trick} : 2 + 2 = 4 := rfl"), timeout_s=20)
    assert (await hostile.check(FALSE, timeout_s=20)).errors


async def test_much_on_standard_error_is_no_timeout(hostile: UnauditedKernel) -> None:
    for _ in range(3):
        result = await hostile.check(Source("theorem much_stderr : 2 + 2 = 4 := rfl"), timeout_s=20)
        assert not result.messages
        assert not result.timed_out


async def test_a_grandchild_that_holds_the_pipe_costs_no_time(hostile: UnauditedKernel) -> None:
    await hostile.check(TRUE, timeout_s=20)
    started = time.monotonic()
    result = await hostile.check(Source("theorem grandchild : 2 + 2 = 4 := rfl"), timeout_s=1.0)
    assert result.timed_out
    assert time.monotonic() - started < 30  # the grandchild holds it for 300 s
    assert not (await hostile.check(TRUE, timeout_s=20)).messages
    await until(lambda: not [pid for pid in tree(os.getpid()) if "sleep\x00300" in cmdline(pid)])


async def test_whose_fault_an_end_is(hostile: UnauditedKernel) -> None:
    """A check that takes two REPLs with it, the second one fresh, is to blame; one that was killed is not."""
    crashed = await hostile.check(Source("theorem die_by_segfault : True := trivial"), timeout_s=20)
    assert crashed.crashed == "signal 11"
    for word in ("die_from_outside", "close_output"):
        with pytest.raises(KernelUnavailable, match="from outside"):
            await hostile.check(Source(f"theorem {word} : True := trivial"), timeout_s=20)
    assert not (await hostile.check(TRUE, timeout_s=20)).messages


async def test_a_repl_killed_between_checks_is_not_noticed(hostile: UnauditedKernel) -> None:
    await hostile.check(TRUE, timeout_s=20)
    pool: Any = hostile._backend
    await until(lambda: not pool._pool._warming)  # one that is killed at its start is noticed by whoever waits for it
    killed = [pid for pid in tree(os.getpid()) if "hostile_repl" in cmdline(pid)]
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    await until(lambda: not any(map(alive, killed)))
    assert not (await hostile.check(TRUE, timeout_s=20)).messages
