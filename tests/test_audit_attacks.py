"""Every attack of `data/attacks.jsonl` against the gate that must stop it, alone, and against the whole pipeline.

So a gate that stops working shows, even where another still catches its cases.
"""

from __future__ import annotations

import pytest
from gates import (
    GATES,
    attacks,
    by_audit,
    by_format,
    by_kernel,
    by_lexical,
    by_parser,
    caught_by,
    complaint,
    corpus,
    of_gate,
    sources,
    with_forms,
)

from rlmath.episode import run_episode
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.recorded import RecordedProver
from rlmath.types import Budgets, Status

ATTACKS = attacks()
PLANS = [name for name, case in ATTACKS.items() if case.completion is not None]


def names(gate: str) -> list[str]:
    return [case.id for case in of_gate(ATTACKS.values(), gate)]


def test_there_are_attacks_for_every_gate() -> None:
    assert len(ATTACKS) >= 70
    assert all(len(names(gate)) >= 10 for gate in GATES)
    assert {case.gate for case in ATTACKS.values()} == set(GATES)


@pytest.mark.parametrize("name", names("format"))
def test_the_format_stops(name: str) -> None:
    assert by_format(ATTACKS[name]) is not None


@pytest.mark.parametrize("name", names("lexical"))
def test_the_word_list_stops(name: str) -> None:
    assert by_format(ATTACKS[name]) is None
    assert by_lexical(ATTACKS[name]) is not None


@pytest.mark.parametrize("name", names("parser"))
async def test_the_parser_stops(kernel: EmbeddedKernel, name: str) -> None:
    assert by_format(ATTACKS[name]) is None
    assert await by_parser(kernel, ATTACKS[name]) is not None


@pytest.mark.parametrize("name", names("kernel"))
async def test_lean_stops(kernel: EmbeddedKernel, name: str) -> None:
    case = ATTACKS[name]
    assert by_format(case) is None
    assert by_lexical(case) is None
    assert await by_parser(kernel, case) is None
    assert await by_kernel(kernel, case) is not None


@pytest.mark.parametrize("name", names("audit"))
async def test_the_audit_stops_what_lean_is_silent_about(kernel: EmbeddedKernel, name: str) -> None:
    case = ATTACKS[name]
    assert complaint(await kernel.check(sources(case)[0], timeout_s=20)) is None
    verdict = await by_audit(kernel, case)
    assert verdict is not None
    assert (verdict.accepted, verdict.rule) == (False, case.rule), verdict.reason


@pytest.mark.parametrize("name", PLANS)
async def test_the_pipeline_verifies_none(kernel: EmbeddedKernel, name: str) -> None:
    case = ATTACKS[name]
    assert case.completion is not None
    result = await run_episode(
        case.goal,
        case.completion,
        kernel=kernel,
        leaf=RecordedProver(case.leaf),
        budgets=Budgets(verify_timeout_s=20),
    )
    assert result.status is not Status.VERIFIED
    assert result.reward == 0.0
    assert (result.axioms, result.audit_constants) == (None, None)


HONEST = [name for name, case in corpus().items() if case.honest]


@pytest.mark.parametrize("name", HONEST)
async def test_no_gate_stops_an_honest_case(kernel: EmbeddedKernel, name: str) -> None:
    case = await with_forms(kernel, corpus()[name])
    assert {gate: await caught_by(kernel, case, gate) for gate in GATES} == dict.fromkeys(GATES)
