"""The book of checks, without Ray: what each event leads to. (Every event in every order: test_state_anything.py.)"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cluster.caps import AccountKey, Accounts, Caps
from cluster.events import (
    Alarm,
    Answered,
    Cancelled,
    Charge,
    CheckJob,
    Drained,
    Expired,
    Instruction,
    NoWorkers,
    Pause,
    PauseOver,
    Send,
    Settle,
    Stop,
    Submitted,
    WorkerDraining,
    WorkerLost,
    WorkerReady,
)
from cluster.retry import RetryPolicy
from cluster.state import CheckBook
from cluster.verdict_cache import VerdictCache
from rlmath.errors import CapReached, InputError, KernelUnavailable
from rlmath.kernel.protocol import CheckResult, Source

ATTEMPTS = 3
RESULT = CheckResult(elapsed_s=0.5)
SOURCE = Source("theorem t : True := trivial")
RUN = AccountKey("a", "r")


def job(number: int, order: int = 0, **fields: Any) -> CheckJob:
    return CheckJob(number, SOURCE, 10.0, order=order, **fields)


def book(**parts: Any) -> CheckBook:
    return CheckBook(RetryPolicy(ATTEMPTS), ahead=1, **parts)


def sent(instructions: list[Instruction]) -> list[tuple[str, int]]:
    return [(i.worker, i.job.id) for i in instructions if isinstance(i, Send)]


def settled(instructions: list[Instruction]) -> dict[int, CheckResult | str]:
    """By job: its result, or the error's text."""
    return {i.job_id: i.result or str(i.error) for i in instructions if isinstance(i, Settle)}


def test_checks_of_older_requests_go_first() -> None:
    b = book()
    for number, order in ((0, 7), (1, 3), (2, 7), (3, 3)):
        assert b.handle(Submitted(job(number, order))) == []
    assert [n for _, n in sent(b.handle(WorkerReady("w", 2)))] == [1, 3, 0, 2]


def test_higher_priority_goes_first_within_a_client_and_takes_nothing_from_another() -> None:
    b = book()
    jobs = [job(0, client="a"), job(1, client="a", priority=5), job(2, client="b"), job(3, client="b")]
    for each in jobs:
        b.handle(Submitted(each))
    assert [n for _, n in sent(b.handle(WorkerReady("w", 2)))] == [1, 2, 0, 3]


def test_load_is_spread_and_bounded() -> None:
    b = book()
    b.handle(WorkerReady("small", 1))
    b.handle(WorkerReady("big", 3))
    for number in range(20):
        b.handle(Submitted(job(number)))
    assert (b.load("small"), b.load("big"), b.queued) == (2, 6, 12)


def test_a_check_goes_to_a_worker_of_its_own_environment() -> None:
    b = book()
    b.handle(WorkerReady("m", 8, "mathlib"))
    b.handle(Submitted(job(0, environment="prelude")))
    b.handle(Submitted(job(1, environment="mathlib")))
    assert (b.load("m"), b.queued) == (1, 1)
    assert sent(b.handle(WorkerReady("p", 1, "prelude"))) == [("p", 0)]
    assert settled(b.handle(NoWorkers("no such kernel", "other"))) == {}


def test_a_lost_worker_gives_its_checks_back_and_they_go_elsewhere() -> None:
    b = book()
    b.handle(WorkerReady("a", 1))
    assert sent(b.handle(Submitted(job(0)))) == [("a", 0)]
    b.handle(WorkerReady("b", 1))
    assert b.handle(WorkerLost("a", "killed")) == [Pause(0, RetryPolicy(ATTEMPTS).pause_s(1))]
    b.handle(WorkerReady("a2", 8))
    assert len(sent(b.handle(PauseOver(0)))) == 1
    assert b.tally.retries == 1


def test_a_check_is_tried_on_another_worker_when_there_is_one() -> None:
    b = book()
    b.handle(WorkerReady("a", 8))
    b.handle(Submitted(job(0)))
    b.handle(WorkerReady("b", 1))
    b.handle(Answered("a", 0, error=KernelUnavailable("image died")))
    assert sent(b.handle(PauseOver(0))) == [("b", 0)]


def test_late_news_of_an_earlier_life_is_ignored() -> None:
    b = book()
    b.handle(WorkerReady("a.0", 1))
    b.handle(Submitted(job(0)))
    b.handle(WorkerLost("a.0", "killed"))
    b.handle(PauseOver(0))
    b.handle(WorkerReady("a.1", 1))
    assert b.handle(Answered("a.0", 0, result=RESULT)) == []
    assert b.handle(Answered("a.1", 0, result=RESULT)) == [Settle(0, result=RESULT)]


def test_attempts_are_bounded_and_the_error_says_why() -> None:
    b = book()
    b.handle(WorkerReady("a", 1))
    b.handle(Submitted(job(0)))
    for _ in range(ATTEMPTS - 1):
        b.handle(Answered("a", 0, error=KernelUnavailable("image died")))
        b.handle(PauseOver(0))
    (last,) = b.handle(Answered("a", 0, error=KernelUnavailable("image died")))
    assert isinstance(last, Settle)
    assert isinstance(last.error, KernelUnavailable)
    assert "3 attempts" in str(last.error)
    assert "image died" in str(last.error)


def test_an_input_error_is_not_retried() -> None:
    b = book()
    b.handle(WorkerReady("a", 1))
    b.handle(Submitted(job(0)))
    error = InputError("goal.context", "does not elaborate")
    assert b.handle(Answered("a", 0, error=error)) == [Settle(0, error=error)]


def test_a_check_under_which_two_workers_died_gets_no_third() -> None:
    b = book()
    b.handle(WorkerReady("a", 2))
    for number in range(3):
        b.handle(Submitted(job(number)))
    b.handle(WorkerLost("a", "killed"))
    for number in range(3):
        b.handle(PauseOver(number))
    # All three are suspects: each is alone among its like, so the next death tells which it is.
    assert [n for _, n in sent(b.handle(WorkerReady("b", 2)))] == [0]
    assert [n for _, n in sent(b.handle(WorkerReady("c", 2)))] == [1]
    assert "2 workers died" in settled(b.handle(WorkerLost("b", "killed")))[0]
    assert settled(b.handle(Answered("c", 1, result=RESULT))) == {1: RESULT}
    assert settled(b.handle(Answered("c", 2, result=RESULT))) == {2: RESULT}
    assert b.tally.poisoned == 1


def test_a_cancelled_check_keeps_its_slot_until_the_worker_has_stopped_it() -> None:
    b = book()
    b.handle(WorkerReady("a", 1))
    for number in range(3):
        b.handle(Submitted(job(number)))
    assert b.handle(Cancelled(0)) == [Stop("a", 0)]
    assert b.queued == 1
    assert sent(b.handle(Answered("a", 0))) == [("a", 2)]


def test_what_waits_at_one_worker_is_asked_back_when_another_would_idle() -> None:
    b = book()
    b.handle(WorkerReady("a", 2))
    for number in range(4):
        b.handle(Submitted(job(number)))
    assert b.load("a") == 4
    assert b.handle(WorkerReady("b", 1)) == [Stop("a", 3)]
    assert b.handle(WorkerReady("c", 4)) == [Stop("a", 2)]
    assert [number for _, number in sent(b.handle(Answered("a", 3)))] == [3]
    assert [number for _, number in sent(b.handle(Answered("a", 2)))] == [2]
    assert b.load("b") + b.load("c") == 2
    assert b.tally.retries == 0
    assert b.handle(Answered("a", 0, result=RESULT)) == [Settle(0, result=RESULT)]


def test_a_check_that_was_done_before_it_could_be_given_back_is_settled() -> None:
    b = book()
    b.handle(WorkerReady("a", 1))
    b.handle(Submitted(job(0)))
    b.handle(Submitted(job(1)))
    assert b.handle(WorkerReady("b", 1)) == [Stop("a", 1)]
    assert b.handle(Answered("a", 1, result=RESULT)) == [Settle(1, result=RESULT)]


def test_a_draining_worker_ends_what_it_runs_gives_back_the_rest_and_gets_no_more() -> None:
    b = book()
    b.handle(WorkerReady("a", 1))
    b.handle(Submitted(job(0)))
    b.handle(Submitted(job(1)))
    assert b.handle(WorkerDraining("a")) == [Stop("a", 1)]
    assert b.handle(Submitted(job(2))) == []
    assert b.handle(Answered("a", 1)) == []
    assert b.handle(Answered("a", 0, result=RESULT)) == [Settle(0, result=RESULT), Drained("a")]
    assert [n for _, n in sent(b.handle(WorkerReady("b", 1)))] == [1, 2]
    assert b.handle(WorkerDraining("nobody")) == []


def test_an_idle_worker_is_drained_at_once() -> None:
    b = book()
    b.handle(WorkerReady("a", 1))
    assert b.handle(WorkerDraining("a")) == [Drained("a")]
    assert b.handle(WorkerLost("a", "gone")) == []


def test_a_deadline_ends_a_check_wherever_it_is() -> None:
    b = book()
    assert b.handle(Submitted(job(0, deadline_s=5.0))) == [Alarm(0, 5.0)]
    assert "within 5 s" in settled(b.handle(Expired(0)))[0]
    b.handle(WorkerReady("a", 1))
    b.handle(Submitted(job(1, deadline_s=5.0)))
    late = b.handle(Expired(1))
    assert Stop("a", 1) in late
    assert list(settled(late)) == [1]
    assert b.handle(Expired(1)) == []
    assert b.handle(Answered("a", 1)) == []
    assert (b.open, b.queued, b.in_flight) == (0, 0, 0)


def test_without_hope_of_a_worker_checks_fail_at_once_until_one_is_ready() -> None:
    b = book()
    b.handle(Submitted(job(0)))
    assert settled(b.handle(NoWorkers("kernel refused"))) == {0: "kernel refused"}
    assert settled(b.handle(Submitted(job(1)))) == {1: "kernel refused"}
    b.handle(WorkerReady("a", 1))
    assert sent(b.handle(Submitted(job(2)))) == [("a", 2)]


# Identical checks


def test_identical_checks_are_one_run_and_later_ones_none() -> None:
    b = book(cache=VerdictCache(10))
    b.handle(WorkerReady("a", 1))
    runs = [sent(b.handle(Submitted(job(number, key=b"same")))) for number in range(16)]
    assert runs == [[("a", 0)], *[[]] * 15]
    assert settled(b.handle(Answered("a", 0, result=RESULT))) == dict.fromkeys(range(16), RESULT)
    assert b.handle(Submitted(job(16, key=b"same"))) == [Settle(16, result=RESULT)]
    assert (b.tally.done, b.tally.shared, b.tally.cache_hits) == (1, 15, 1)


def test_a_run_goes_on_as_long_as_one_job_wants_it_and_a_dropped_one_is_not_joined() -> None:
    b = book()
    b.handle(WorkerReady("a", 2))
    for number in range(2):
        b.handle(Submitted(job(number, key=b"same")))
    assert b.handle(Cancelled(0)) == []
    assert b.handle(Cancelled(1)) == [Stop("a", 0)]
    assert sent(b.handle(Submitted(job(2, key=b"same")))) == [("a", 2)]
    assert b.handle(Answered("a", 0)) == []
    assert settled(b.handle(Answered("a", 2, result=RESULT))) == {2: RESULT}


def test_other_limits_are_another_run() -> None:
    b = book()
    b.handle(WorkerReady("a", 2))
    b.handle(Submitted(job(0, key=b"same")))
    assert sent(b.handle(Submitted(replace(job(1, key=b"same"), timeout_s=1.0)))) == [("a", 1)]


def test_infrastructure_trouble_is_not_remembered() -> None:
    b = CheckBook(RetryPolicy(1), cache=VerdictCache(10))
    b.handle(WorkerReady("a", 1))
    b.handle(Submitted(job(0, key=b"same")))
    b.handle(Answered("a", 0, error=KernelUnavailable("image died")))
    assert sent(b.handle(Submitted(job(1, key=b"same")))) == [("a", 1)]


def test_a_shared_run_comes_when_the_first_of_those_that_want_it_has_its_turn() -> None:
    b = book()
    for number in range(10):
        b.handle(Submitted(job(number, client="busy", key=b"k%d" % number)))
    b.handle(Submitted(job(10, client="other", key=b"k9")))
    order = [n for _, n in sent(b.handle(WorkerReady("w", 8)))]
    assert order[:2] == [0, 9]


# Caps


def capped(kernel_s: float) -> tuple[CheckBook, Accounts]:
    accounts = Accounts()
    accounts.open(RUN, Caps(kernel_s=kernel_s), 0.0)
    return book(accounts=accounts, cache=VerdictCache(10)), accounts


def paid(number: int, **fields: Any) -> CheckJob:
    return job(number, order=number, accounts=(RUN,), most_us=10_000_000, **fields)


def test_kernel_time_is_held_before_and_charged_after_and_the_cap_is_a_refusal() -> None:
    b, accounts = capped(10.4)
    b.handle(WorkerReady("a", 4))
    assert sent(b.handle(Submitted(paid(0)))) == [("a", 0)]
    # It does not fit beside the first, but may when that is done.
    assert b.handle(Submitted(paid(1))) == []
    assert accounts.status(RUN).held.kernel_us == 10_000_000
    done = b.handle(Answered("a", 0, result=CheckResult(elapsed_s=0.25)))
    assert Charge(0, (RUN,), 250_000) in done
    assert sent(done) == [("a", 1)]
    b.handle(Answered("a", 1, result=CheckResult(elapsed_s=0.25)))
    (refused,) = b.handle(Submitted(paid(2)))
    assert isinstance(refused, Settle)
    assert isinstance(refused.error, CapReached)
    assert (refused.error.cap, refused.error.limit, refused.error.spent) == ("kernel_s", 10.4, 0.5)
    assert accounts.status(RUN).held.kernel_us == 0


def test_a_check_that_is_retried_is_charged_once_and_one_that_fails_is_not() -> None:
    b, accounts = capped(100.0)
    b.handle(WorkerReady("a", 1))
    b.handle(Submitted(paid(0)))
    b.handle(Answered("a", 0, error=KernelUnavailable("image died")))
    assert accounts.status(RUN).held.kernel_us == 10_000_000
    b.handle(PauseOver(0))
    b.handle(Answered("a", 0, result=RESULT))
    assert accounts.status(RUN).spent.kernel_us == 500_000
    b.handle(Submitted(paid(1)))
    for _ in range(ATTEMPTS):
        b.handle(Answered("a", 1, error=KernelUnavailable("image died")))
        b.handle(PauseOver(1))
    assert accounts.status(RUN).spent.kernel_us == 500_000
    assert accounts.status(RUN).held.kernel_us == 0


def test_a_known_verdict_costs_nothing_even_when_the_cap_is_reached() -> None:
    b, accounts = capped(10.4)
    b.handle(WorkerReady("a", 1))
    b.handle(Submitted(paid(0, key=b"same")))
    b.handle(Answered("a", 0, result=RESULT))
    assert b.handle(Submitted(paid(1, key=b"same"))) == [Settle(1, result=RESULT)]
    assert accounts.status(RUN).spent.kernel_us == 500_000


@pytest.mark.parametrize("slots", [1, 3])
def test_weights_are_shares_of_the_kernel_time(slots: int) -> None:
    b = book()
    served = {"heavy": 0.0, "light": 0.0}
    costs = {"heavy": 0.3, "light": 0.1}
    weights = {"heavy": 3.0, "light": 1.0}
    for number in range(600):
        client = ("heavy", "light")[number % 2]
        b.handle(Submitted(job(number, client=client, weight=weights[client])))
    at_worker = [n for _, n in sent(b.handle(WorkerReady("w", slots)))]
    for _ in range(300):
        number = at_worker.pop(0)
        client = ("heavy", "light")[number % 2]
        served[client] += costs[client]
        at_worker += [n for _, n in sent(b.handle(Answered("w", number, result=CheckResult(elapsed_s=costs[client]))))]
    quantum = max(costs[c] / weights[c] for c in costs)
    # Beside one quantum: what was sent ahead before the costs were known.
    ahead = 2 * slots * quantum
    assert abs(served["heavy"] / 3.0 - served["light"]) <= quantum + ahead


MEMORY = CheckResult(crashed="memory", elapsed_s=0.5)


def test_what_died_of_memory_is_tried_once_where_there_is_more_and_charged_once() -> None:
    b, accounts = capped(100.0)
    b.handle(WorkerReady("small", 1, "small"))
    b.handle(WorkerReady("large", 1, "large"))
    wanted = replace(paid(0), environment="small", larger="large", key=b"k")
    assert sent(b.handle(Submitted(wanted))) == [("small", 0)]
    moved = b.handle(Answered("small", 0, result=MEMORY))
    assert sent(moved) == [("large", 0)]
    assert settled(moved) == {}
    assert accounts.status(RUN).held.kernel_us == 10_000_000
    assert b.tally.moved == 1
    again = b.handle(Answered("large", 0, result=replace(MEMORY, elapsed_s=2.0)))
    assert Charge(0, (RUN,), 2_000_000) in again
    assert settled(again)[0] == replace(MEMORY, elapsed_s=2.0)
    assert (b.tally.moved, b.demand("small"), b.demand("large")) == (1, 0, 0)
    assert b.handle(Submitted(replace(wanted, id=1))) == [Settle(1, result=replace(MEMORY, elapsed_s=2.0))]


def test_what_died_of_memory_waits_for_a_larger_worker_unless_there_will_be_none() -> None:
    b = book()
    b.handle(WorkerReady("small", 1, "small"))
    for number in range(2):
        b.handle(Submitted(job(number, environment="small", larger="large")))
    assert settled(b.handle(Answered("small", 0, result=MEMORY))) == {}
    assert (b.demand("small"), b.demand("large"), b.queued, b.in_flight) == (1, 1, 1, 1)
    assert sent(b.handle(WorkerReady("large", 1, "large"))) == [("large", 0)]
    b.handle(WorkerLost("large", "node gone"))
    assert "refused" in settled(b.handle(NoWorkers("refused", "large")))[0]
    assert "refused" in settled(b.handle(Answered("small", 1, result=MEMORY)))[1]


def test_what_died_of_memory_keeps_its_result_where_there_is_no_larger_class() -> None:
    b = book()
    b.handle(WorkerReady("small", 1))
    b.handle(Submitted(job(0)))
    assert settled(b.handle(Answered("small", 0, result=MEMORY))) == {0: MEMORY}
