"""Checks and attempts side by side: order, cancellation, exceptions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from waiting import until

from rlmath.accounting import Attempt, LeafAccounting
from rlmath.concurrency import Tried, first_answer, run_attempts
from rlmath.errors import InputError, KernelUnavailable, LeafUnavailable
from rlmath.types import Lemma


class Calls:
    """Calls that end when told to, and a record of how each one ended."""

    def __init__(self) -> None:
        self.gates: dict[str, asyncio.Event] = {}
        self.log: list[str] = []

    def call(self, name: str, answer: str | Exception | None) -> Callable[[], Awaitable[str | None]]:
        gate = self.gates[name] = asyncio.Event()

        async def run() -> str | None:
            self.log.append(f"{name} began")
            try:
                await gate.wait()
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                self.log.append(f"{name} cancelled")
                raise
            if isinstance(answer, Exception):
                raise answer
            return answer

        return run


async def test_the_earliest_answer_counts_whichever_comes_first() -> None:
    calls = Calls()
    checks = [calls.call("a", None), calls.call("b", "B"), calls.call("c", "C"), calls.call("d", "D")]
    found = asyncio.create_task(first_answer(checks, parallel=True))
    for name in ("c", "b"):
        calls.gates[name].set()
        await asyncio.sleep(0.001)
        assert not found.done()
    calls.gates["a"].set()
    assert await found == "B"
    assert calls.log == ["d began", "a began", "b began", "c began", "d cancelled"]


async def test_one_after_another_stops_at_the_first_answer() -> None:
    calls = Calls()
    checks = [calls.call("a", None), calls.call("b", "B"), calls.call("c", "C")]
    for gate in calls.gates.values():
        gate.set()
    assert await first_answer(checks, parallel=False) == "B"
    assert calls.log == ["a began", "b began"]


@pytest.mark.parametrize("parallel", [True, False])
async def test_no_answer(parallel: bool) -> None:
    calls = Calls()
    checks = [calls.call("a", None), calls.call("b", None)]
    for gate in calls.gates.values():
        gate.set()
    assert await first_answer(checks, parallel=parallel) is None


async def test_an_exception_comes_out_as_itself_and_ends_the_rest() -> None:
    calls = Calls()
    checks = [calls.call("a", None), calls.call("b", KernelUnavailable("gone"))]
    calls.gates["b"].set()
    with pytest.raises(KernelUnavailable, match="gone"):
        await first_answer(checks, parallel=True)
    assert calls.log[-1] == "a cancelled"


async def test_of_two_exceptions_the_one_that_needs_a_person_comes_out() -> None:
    calls = Calls()
    checks = [calls.call("a", KernelUnavailable("gone")), calls.call("b", InputError("goal", "bad"))]
    for gate in calls.gates.values():
        gate.set()
    with pytest.raises(InputError):
        await first_answer(checks, parallel=True)


async def test_cancelling_the_whole_ends_every_call() -> None:
    calls = Calls()
    whole = asyncio.create_task(first_answer([calls.call("a", None), calls.call("b", None)], parallel=True))
    await until(lambda: len(calls.log) == 2)
    whole.cancel()
    with pytest.raises(asyncio.CancelledError):
        await whole
    assert sorted(calls.log) == ["a began", "a cancelled", "b began", "b cancelled"]


def accounting(lemmas: int, **options: int) -> LeafAccounting:
    plan = [Lemma(f"h{i}", "True") for i in range(lemmas)]
    return LeafAccounting(plan, attempts_per_lemma=4, total=64, **options)


async def test_attempts_that_are_no_longer_needed_are_cancelled() -> None:
    begun: list[Attempt] = []
    ended: list[tuple[Attempt, str]] = []

    async def attempt(number: Attempt) -> Tried:
        begun.append(number)
        try:
            await (until(lambda: len(begun) == 4) if number.index == 0 else asyncio.Event().wait())
        except asyncio.CancelledError:
            ended.append((number, "cancelled"))
            raise
        ended.append((number, "done"))
        return Tried(True, "")

    account = await run_attempts(accounting(1, speculation=3, abreast=4), attempt)
    assert account.attempts_used == 1
    assert account.attempts_speculated == 3
    assert sorted(ended) == [(Attempt(0, 0), "done")] + [(Attempt(0, i), "cancelled") for i in (1, 2, 3)]


async def test_an_attempt_that_is_unavailable_ends_all() -> None:
    running: set[Attempt] = set()

    async def attempt(number: Attempt) -> Tried:
        running.add(number)
        try:
            await (until(lambda: len(running) == 4) if number.lemma == 1 else asyncio.Event().wait())
        finally:
            running.remove(number)
        raise LeafUnavailable("server down")

    with pytest.raises(LeafUnavailable, match="server down"):
        await run_attempts(accounting(4, speculation=8), attempt)
    assert running == set()


async def test_an_outcome_made_superfluous_in_the_same_round() -> None:
    async def attempt(number: Attempt) -> Tried:
        # All end in the same turn of the loop.
        return Tried(number.lemma != 1, "no")

    account = await run_attempts(accounting(4, speculation=8), attempt)
    assert [outcome.attempts_used for outcome in account.outcomes] == [1, 4, 0, 0]
