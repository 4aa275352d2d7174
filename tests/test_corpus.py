"""Every case of the soundness corpus through the whole pipeline: what must be refused, and what must not be."""

from __future__ import annotations

import pytest
from corpus import Case, load_cases

from rlmath.episode import run_episode
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.recorded import RecordedProver
from rlmath.types import Budgets, EpisodeResult, Status

CASES = load_cases()
BUDGETS = Budgets(verify_timeout_s=60)
SHORT = Budgets(verify_timeout_s=2)
"""For the cases that are meant to use up their time."""


async def score(kernel: EmbeddedKernel, case: Case, *, parallel: bool = True) -> EpisodeResult:
    budgets = SHORT if case.kind == "budget" else BUDGETS
    leaf = RecordedProver(case.leaf)
    return await run_episode(case.goal, case.completion, kernel=kernel, leaf=leaf, budgets=budgets, parallel=parallel)


def test_the_corpus_is_all_there() -> None:
    assert len(CASES) == 95


@pytest.mark.parametrize("name", CASES)
async def test_case(kernel: EmbeddedKernel, name: str) -> None:
    case = CASES[name]
    for earlier in case.after:
        await score(kernel, CASES[earlier])
    result = await score(kernel, case)
    assert result.status != case.must_not_be
    assert result.status in case.expect, result.detail
    assert (result.reward == 1.0) == (result.status is Status.VERIFIED)


async def test_one_check_at_a_time_gives_the_same_results(kernel: EmbeddedKernel) -> None:
    for name, case in CASES.items():
        if case.kind != "budget":
            assert await score(kernel, case, parallel=False) == await score(kernel, case), name
