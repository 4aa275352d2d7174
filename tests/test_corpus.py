"""Every case of the soundness corpus through the whole pipeline: what must be refused, and what must not be.

`data/corpus.jsonl`, one JSON object a line: `goal`, `completion`, `leaf {lemma: proof}` (recorded, as untrusted as
the plan), `expect` (a status or several), `must_not_be`; `expand {marker, unit, count}` says what to put for a marker
in the completion (`{i}` is the running number), `after` which cases to run first on the same kernel.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from rlmath.episode import run_episode
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.recorded import RecordedProver
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Status

Case = dict[str, Any]
LINES = (Path(__file__).parent / "data" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
CASES: dict[str, Case] = {case["id"]: case for case in map(json.loads, LINES)}
BUDGETS = Budgets(verify_timeout_s=60)
SHORT = Budgets(verify_timeout_s=2)
"""For the cases that are meant to use up their time."""


def completion_of(case: Case) -> str:
    completion: str = case["completion"]
    if expand := case.get("expand"):
        filling = "".join(expand["unit"].replace("{i}", str(i)) for i in range(expand["count"]))
        completion = completion.replace(expand["marker"], filling)
    return completion


async def score(kernel: EmbeddedKernel, case: Case, *, parallel: bool = True) -> EpisodeResult:
    goal = GoalSpec(**case["goal"])
    leaf = RecordedProver(case["leaf"])
    budgets = SHORT if case["class"] == "budget" else BUDGETS
    return await run_episode(goal, completion_of(case), kernel=kernel, leaf=leaf, budgets=budgets, parallel=parallel)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def fresh_kernel() -> AsyncIterator[EmbeddedKernel]:
    async with EmbeddedKernel(slots=1) as started:
        yield started


def test_the_corpus_is_all_there() -> None:
    assert len(CASES) == len(LINES) == 95


@pytest.mark.parametrize("name", CASES)
async def test_case(kernel: EmbeddedKernel, name: str) -> None:
    case = CASES[name]
    for earlier in case.get("after", ()):
        await score(kernel, CASES[earlier])
    result = await score(kernel, case)
    expected = [case["expect"]] if isinstance(case["expect"], str) else case["expect"]
    assert result.status != case["must_not_be"]
    assert result.status in expected, result.detail
    assert (result.reward == 1.0) == (result.status is Status.VERIFIED)


async def test_one_check_at_a_time_gives_the_same_results(fresh_kernel: EmbeddedKernel, kernel: EmbeddedKernel) -> None:
    for name, case in CASES.items():
        if case["class"] != "budget":
            alone = await score(fresh_kernel, case, parallel=False)
            assert alone == await score(kernel, case), name
