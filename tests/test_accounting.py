"""The accounting of leaf attempts against a sequential run written out in a few lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmath.accounting import Attempt, Instructions, LeafAccount, LeafAccounting
from rlmath.types import Lemma, LemmaStatus, Status

Table = list[list[bool]]
"""`table[lemma][index]`: would this attempt be accepted?"""


def sequential(table: Table, k: int, total: int) -> tuple[list[tuple[LemmaStatus, int, int | None]], int]:
    """The run that the accounting must equal: what became of each lemma tried, and the attempts used."""
    outcomes: list[tuple[LemmaStatus, int, int | None]] = []
    used = 0
    for row in table:
        for index in range(k):
            if used == total:
                return [*outcomes, (LemmaStatus.EXHAUSTED, index, None)], used
            used += 1
            if row[index]:
                outcomes.append((LemmaStatus.PROVED, index + 1, index))
                break
        else:
            return [*outcomes, (LemmaStatus.FAILED if k else LemmaStatus.EXHAUSTED, k, None)], used
    return outcomes, used


def needed(table: Table, k: int, total: int, seen: set[Attempt]) -> int:
    """Attempts that the sequential run is known to need when only the outcomes of `seen` are known."""
    count = 0
    for lemma, row in enumerate(table):
        for index in range(k):
            if count == total:
                return count
            count += 1
            if Attempt(lemma, index) not in seen:
                return count
            if row[index]:
                break
        else:
            return count
    return count


def reachable(table: Table, k: int, total: int, seen: set[Attempt], attempt: Attempt) -> bool:
    """May the sequential run come to this attempt, for all that is known from the outcomes of `seen`?"""
    least = 0
    for lemma in range(attempt.lemma + 1):
        last = attempt.index if lemma == attempt.lemma else k - 1
        refused = 0
        while Attempt(lemma, refused) in seen and not table[lemma][refused]:
            refused += 1
        if lemma == attempt.lemma:
            return not any(Attempt(lemma, i) in seen and table[lemma][i] for i in range(last)) and least + last < total
        if refused > last:
            return False
        least += refused + 1
    raise AssertionError


def lemmas(count: int) -> list[Lemma]:
    return [Lemma(f"h{i}", f"{i} = {i}") for i in range(count)]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    likelihood = draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    cell = st.floats(0, 1, exclude_max=True).map(lambda x: x < likelihood)
    return draw(st.lists(st.lists(cell, min_size=5, max_size=5), max_size=6))


class Run:
    """Drives one accounting to its end, checking its promises at each step."""

    def __init__(self, table: Table, accounting: LeafAccounting, k: int, total: int, speculation: int) -> None:
        self.table, self.accounting = table, accounting
        self.k, self.total, self.speculation = k, total, speculation
        self.begun: set[Attempt] = set()
        self.running: list[Attempt] = []
        self.seen: set[Attempt] = set()

    def obey(self, instructions: Instructions) -> None:
        for attempt in instructions.cancel:
            self.running.remove(attempt)
        for attempt in instructions.begin:
            assert attempt not in self.begun
            assert attempt.index < self.k
            self.begun.add(attempt)
            self.running.append(attempt)
        assert all(reachable(self.table, self.k, self.total, self.seen, attempt) for attempt in self.running)
        need = needed(self.table, self.k, self.total, self.seen)
        assert len(self.begun) <= need + self.speculation

    def finish(self, attempt: Attempt) -> None:
        self.running.remove(attempt)
        self.seen.add(attempt)
        accepted = self.table[attempt.lemma][attempt.index]
        self.obey(self.accounting.finished(attempt, accepted, f"refused {attempt.lemma}.{attempt.index}"))


def drive(
    data: st.DataObject, table: Table, k: int, total: int, speculation: int, abreast: int
) -> tuple[Run, LeafAccount]:
    accounting = LeafAccounting(
        lemmas(len(table)), attempts_per_lemma=k, total=total, speculation=speculation, abreast=abreast
    )
    run = Run(table, accounting, k, total, speculation)
    run.obey(accounting.start())
    while not accounting.settled:
        assert run.running, "not settled, and nothing to wait for"
        run.finish(data.draw(st.sampled_from(sorted(run.running))))
    assert run.running == [], "settled, and something was left running"
    return run, accounting.account()


@given(st.data(), tables(), st.integers(0, 5), st.integers(0, 20), st.integers(0, 8), st.integers(1, 5))
def test_every_arrival_order_gives_the_sequential_account(
    data: st.DataObject, table: Table, k: int, total: int, speculation: int, abreast: int
) -> None:
    run, account = drive(data, table, k, total, speculation, abreast)
    expected, used = sequential(table, k, total)

    tried = [(o.status, o.attempts_used, o.winner) for o in account.outcomes[: len(expected)]]
    assert tried == expected
    assert all(o.status is LemmaStatus.UNTRIED and o.attempts_used == 0 for o in account.outcomes[len(expected) :])
    assert [o.name for o in account.outcomes] == [f"h{i}" for i in range(len(table))]
    assert account.attempts_used == used <= total
    assert account.attempts_speculated == len(run.begun) - used <= speculation
    last = expected[-1][0] if expected else LemmaStatus.PROVED
    assert (
        account.status
        is {
            LemmaStatus.PROVED: None,
            LemmaStatus.FAILED: Status.LEAF_FAILED,
            LemmaStatus.EXHAUSTED: Status.BUDGET_EXHAUSTED,
        }[last]
    )
    assert bool(account.detail) == (account.status is not None)


@given(st.data(), tables(), st.integers(0, 5), st.integers(0, 20), st.integers(1, 8), st.integers(1, 5))
def test_details_do_not_depend_on_the_order_either(
    data: st.DataObject, table: Table, k: int, total: int, speculation: int, abreast: int
) -> None:
    _, parallel = drive(data, table, k, total, speculation, abreast)
    _, alone = drive(data, table, k, total, 0, 1)
    assert (parallel.status, parallel.detail, parallel.outcomes) == (alone.status, alone.detail, alone.outcomes)
    assert alone.attempts_speculated == 0


@given(st.data(), tables(), st.integers(1, 5), st.integers(1, 20))
def test_without_speculation_one_attempt_runs_at_a_time(data: st.DataObject, table: Table, k: int, total: int) -> None:
    accounting = LeafAccounting(lemmas(len(table)), attempts_per_lemma=k, total=total)
    run = Run(table, accounting, k, total, 0)
    run.obey(accounting.start())
    while not accounting.settled:
        assert len(run.running) == 1
        run.finish(run.running[0])


def test_the_next_lemmas_are_tried_before_more_attempts_of_one() -> None:
    accounting = LeafAccounting(lemmas(3), attempts_per_lemma=4, total=64, speculation=4, abreast=4)
    assert accounting.start().begin == (Attempt(0, 0), Attempt(1, 0), Attempt(2, 0), Attempt(0, 1), Attempt(1, 1))


def test_one_attempt_of_a_lemma_at_a_time_unless_asked() -> None:
    accounting = LeafAccounting(lemmas(2), attempts_per_lemma=4, total=64, speculation=8)
    assert accounting.start().begin == (Attempt(0, 0), Attempt(1, 0))
    assert accounting.finished(Attempt(1, 0), False).begin == (Attempt(1, 1),)


def test_a_winner_ends_the_later_attempts_of_its_lemma_and_not_the_earlier() -> None:
    accounting = LeafAccounting(lemmas(1), attempts_per_lemma=4, total=64, speculation=3, abreast=4)
    accounting.start()
    assert accounting.finished(Attempt(0, 2), True).cancel == (Attempt(0, 3),)
    assert not accounting.settled
    accounting.finished(Attempt(0, 0), False)
    accounting.finished(Attempt(0, 1), True)
    account = accounting.account()
    assert (account.outcomes[0].winner, account.attempts_used, account.attempts_speculated) == (1, 2, 2)


def test_a_lemma_that_cannot_be_proved_ends_the_work_on_those_after_it() -> None:
    accounting = LeafAccounting(lemmas(3), attempts_per_lemma=1, total=64, speculation=2)
    accounting.start()
    assert accounting.finished(Attempt(1, 0), False).cancel == (Attempt(2, 0),)
    assert not accounting.settled
    accounting.finished(Attempt(0, 0), True)
    assert [o.status for o in accounting.account().outcomes] == [
        LemmaStatus.PROVED,
        LemmaStatus.FAILED,
        LemmaStatus.UNTRIED,
    ]


def test_nothing_is_begun_beyond_the_total_cap() -> None:
    accounting = LeafAccounting(lemmas(5), attempts_per_lemma=4, total=2, speculation=8)
    assert accounting.start().begin == (Attempt(0, 0), Attempt(1, 0))
    # One refusal takes the attempt that the second lemma would have had.
    after = accounting.finished(Attempt(0, 0), False)
    assert after.begin == (Attempt(0, 1),)
    assert after.cancel == (Attempt(1, 0),)


def test_an_outcome_that_comes_after_its_cancellation_changes_nothing() -> None:
    accounting = LeafAccounting(lemmas(1), attempts_per_lemma=2, total=64, speculation=1, abreast=2)
    accounting.start()
    accounting.finished(Attempt(0, 0), True)
    before = accounting.account()
    assert accounting.finished(Attempt(0, 1), True) == Instructions()
    assert accounting.account() == before


@pytest.mark.parametrize(
    ("k", "total", "available", "status", "detail"),
    [
        (0, 64, None, Status.BUDGET_EXHAUSTED, "leaf_attempts_per_lemma is 0"),
        (4, 0, None, Status.BUDGET_EXHAUSTED, "max_total_leaf_attempts"),
        (4, 64, 0, Status.LEAF_FAILED, "no attempt for it"),
    ],
)
def test_no_attempts_at_all(k: int, total: int, available: int | None, status: Status, detail: str) -> None:
    accounting = LeafAccounting(lemmas(2), attempts_per_lemma=k, total=total, available=available)
    assert accounting.start() == Instructions()
    account = accounting.account()
    assert account.status is status
    assert account.detail.startswith("lemma h0: ")
    assert detail in account.detail
    assert account.attempts_used == 0


def test_zero_lemmas_are_settled_before_anything_is_begun() -> None:
    accounting = LeafAccounting([], attempts_per_lemma=0, total=0)
    assert accounting.start() == Instructions()
    assert accounting.account().status is None


def test_a_prover_with_few_attempts_bounds_the_budget() -> None:
    accounting = LeafAccounting(lemmas(1), attempts_per_lemma=4, total=64, available=2)
    accounting.start()
    accounting.finished(Attempt(0, 0), False, "first")
    accounting.finished(Attempt(0, 1), False, "second")
    account = accounting.account()
    assert account.status is Status.LEAF_FAILED
    assert account.detail == "lemma h0: 2 attempts failed, the last: second"
    assert account.outcomes[0].detail == "second"


def test_misuse_is_refused() -> None:
    accounting = LeafAccounting(lemmas(1), attempts_per_lemma=1, total=1)
    with pytest.raises(ValueError, match="never begun"):
        accounting.finished(Attempt(0, 0), True)
    with pytest.raises(ValueError, match="not settled"):
        accounting.account()
    with pytest.raises(ValueError, match="speculation"):
        LeafAccounting([], attempts_per_lemma=1, total=1, speculation=-1)
