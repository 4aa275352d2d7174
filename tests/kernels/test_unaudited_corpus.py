"""The soundness corpus on a kernel without parser gate and audit: what is left stops all of it, and refuses no honest
case."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from corpus import load_cases
from kernel_kit import Workspace

from rlmath.episode import run_episode
from rlmath.kernel.repl import make_repl_kernel
from rlmath.kernel.unaudited import UnauditedKernel
from rlmath.leaf.recorded import RecordedProver
from rlmath.types import Budgets, EpisodeResult

CASES = load_cases()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def repl(workspace: Workspace) -> AsyncIterator[UnauditedKernel]:
    async with make_repl_kernel(workspace.config(spares=2), slots=2) as kernel:
        yield kernel


async def score(kernel: UnauditedKernel, name: str) -> EpisodeResult:
    case = CASES[name]
    budgets = Budgets(verify_timeout_s=2 if case.kind == "budget" else 60)
    return await run_episode(case.goal, case.completion, kernel=kernel, leaf=RecordedProver(case.leaf), budgets=budgets)


@pytest.mark.parametrize("name", CASES)
async def test_case(repl: UnauditedKernel, name: str) -> None:
    for earlier in CASES[name].after:
        await score(repl, earlier)
    result = await score(repl, name)
    assert result.status != CASES[name].must_not_be
    assert result.status in CASES[name].expect, result.detail
