"""The book of checks, without Ray: nothing lost, nothing answered twice, no worker overfilled, whatever happens in
whatever order.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cluster.retry import RetryPolicy
from cluster.state import (
    Answered,
    Cancelled,
    CheckBook,
    CheckJob,
    Instruction,
    NoWorkers,
    Pause,
    PauseOver,
    Send,
    Settle,
    Stop,
    Submitted,
    WorkerLost,
    WorkerReady,
)
from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.protocol import CheckResult, Source

ATTEMPTS = 3
RESULT = CheckResult(elapsed_s=0.5)


def job(number: int, priority: int = 0) -> CheckJob:
    return CheckJob(number, Source("theorem t : True := trivial"), 10.0, priority)


def book() -> CheckBook:
    return CheckBook(RetryPolicy(ATTEMPTS), ahead=1)


def sent(instructions: list[Instruction]) -> list[tuple[str, int]]:
    return [(i.worker, i.job.id) for i in instructions if isinstance(i, Send)]


def test_checks_of_older_requests_go_first() -> None:
    b = book()
    for number, priority in ((0, 7), (1, 3), (2, 7), (3, 3)):
        assert b.handle(Submitted(job(number, priority))) == []
    assert [n for _, n in sent(b.handle(WorkerReady("w", 2)))] == [1, 3, 0, 2]


def test_load_is_spread_and_bounded() -> None:
    b = book()
    b.handle(WorkerReady("small", 1))
    b.handle(WorkerReady("big", 3))
    for number in range(20):
        b.handle(Submitted(job(number)))
    assert (b.load("small"), b.load("big"), b.queued) == (2, 6, 12)


def test_a_lost_worker_gives_its_checks_back_and_they_go_elsewhere() -> None:
    b = book()
    b.handle(WorkerReady("a", 1))
    assert sent(b.handle(Submitted(job(0)))) == [("a", 0)]
    b.handle(WorkerReady("b", 1))
    assert b.handle(WorkerLost("a", "killed")) == [Pause(0, RetryPolicy(ATTEMPTS).pause_s(1))]
    b.handle(WorkerReady("a2", 8))
    assert len(sent(b.handle(PauseOver(0)))) == 1
    assert b.retries == 1


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
    (settled,) = b.handle(Answered("a", 0, error=KernelUnavailable("image died")))
    assert isinstance(settled, Settle)
    assert isinstance(settled.error, KernelUnavailable)
    assert "3 attempts" in str(settled.error)
    assert "image died" in str(settled.error)


def test_an_input_error_is_not_retried() -> None:
    b = book()
    b.handle(WorkerReady("a", 1))
    b.handle(Submitted(job(0)))
    error = InputError("goal.context", "does not elaborate")
    assert b.handle(Answered("a", 0, error=error)) == [Settle(0, error=error)]


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
    assert b.retries == 0
    assert b.handle(Answered("a", 0, result=RESULT)) == [Settle(0, result=RESULT)]


def test_a_check_that_was_done_before_it_could_be_given_back_is_settled() -> None:
    b = book()
    b.handle(WorkerReady("a", 1))
    b.handle(Submitted(job(0)))
    b.handle(Submitted(job(1)))
    assert b.handle(WorkerReady("b", 1)) == [Stop("a", 1)]
    assert b.handle(Answered("a", 1, result=RESULT)) == [Settle(1, result=RESULT)]


def test_without_hope_of_a_worker_checks_fail_at_once_until_one_is_ready() -> None:
    b = book()
    b.handle(Submitted(job(0)))
    (settled,) = b.handle(NoWorkers("kernel refused"))
    assert isinstance(settled, Settle)
    assert str(settled.error) == "kernel refused"
    (settled,) = b.handle(Submitted(job(1)))
    assert isinstance(settled, Settle)
    assert settled.error is not None
    b.handle(WorkerReady("a", 1))
    assert sent(b.handle(Submitted(job(2)))) == [("a", 2)]


class Anything(RuleBasedStateMachine):
    """Every event in every order, checked against a plain account of what should have happened."""

    def __init__(self) -> None:
        super().__init__()
        self.book = book()
        self.next_job = 0
        self.next_worker = 0
        self.wanted: set[int] = set()
        self.settled: set[int] = set()
        self.pausing: set[int] = set()
        self.failures: dict[int, int] = {}
        self.workers: dict[str, int] = {}
        self.has: dict[str, set[int]] = {}
        self.stopping: set[tuple[str, int]] = set()
        self.hopeless = False

    def obey(self, instructions: list[Instruction]) -> None:
        for instruction in instructions:
            match instruction:
                case Send(worker, job):
                    assert job.id in self.wanted
                    assert all(job.id not in has for has in self.has.values()), "one check at two workers"
                    self.has[worker].add(job.id)
                case Settle(job_id, result, error):
                    assert job_id in self.wanted, "settled twice, or never asked for"
                    assert (result is None) != (error is None)
                    assert error is None or self.hopeless or self.failures[job_id] >= ATTEMPTS
                    self.wanted.remove(job_id)
                    self.settled.add(job_id)
                case Pause(job_id, seconds):
                    assert seconds > 0
                    self.pausing.add(job_id)
                case Stop(worker, job_id):
                    assert job_id in self.has[worker]
                    assert (worker, job_id) not in self.stopping, "told twice"
                    self.stopping.add((worker, job_id))

    @rule(priority=st.integers(0, 3))
    def submit(self, priority: int) -> None:
        number, self.next_job = self.next_job, self.next_job + 1
        self.wanted.add(number)
        self.failures[number] = 0
        self.obey(self.book.handle(Submitted(job(number, priority))))

    @rule(slots=st.integers(1, 4))
    def worker_ready(self, slots: int) -> None:
        name, self.next_worker = f"w{self.next_worker}", self.next_worker + 1
        self.workers[name], self.has[name], self.hopeless = slots, set(), False
        self.obey(self.book.handle(WorkerReady(name, slots)))

    @precondition(lambda self: self.workers)
    @rule(data=st.data())
    def worker_lost(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.workers)))
        del self.workers[name]
        self.stopping = {(worker, number) for worker, number in self.stopping if worker != name}
        for number in self.has.pop(name):
            self.failures[number] += 1
        self.obey(self.book.handle(WorkerLost(name, "killed")))

    @precondition(lambda self: any(self.has.values()))
    @rule(data=st.data(), fails=st.booleans())
    def answer(self, data: st.DataObject, fails: bool) -> None:
        name = data.draw(st.sampled_from(sorted(w for w, has in self.has.items() if has)))
        number = data.draw(st.sampled_from(sorted(self.has[name])))
        self.has[name].remove(number)
        self.stopping.discard((name, number))
        if fails:
            self.failures[number] += 1
            self.obey(self.book.handle(Answered(name, number, error=KernelUnavailable("image died"))))
        else:
            self.obey(self.book.handle(Answered(name, number, result=RESULT)))

    @precondition(lambda self: self.stopping)
    @rule(data=st.data())
    def stopped(self, data: st.DataObject) -> None:
        name, number = data.draw(st.sampled_from(sorted(self.stopping)))
        self.stopping.remove((name, number))
        self.has[name].remove(number)
        self.obey(self.book.handle(Answered(name, number)))

    @precondition(lambda self: self.settled)
    @rule(data=st.data(), worker=st.sampled_from(["w0", "w1", "nobody"]))
    def stale_answer(self, data: st.DataObject, worker: str) -> None:
        number = data.draw(st.sampled_from(sorted(self.settled)))
        assert self.book.handle(Answered(worker, number, result=RESULT)) == []

    @precondition(lambda self: self.wanted)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.wanted)))
        self.wanted.remove(number)
        self.obey(self.book.handle(Cancelled(number)))

    @precondition(lambda self: self.pausing)
    @rule(data=st.data())
    def pause_over(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.pausing)))
        self.pausing.remove(number)
        self.obey(self.book.handle(PauseOver(number)))

    @precondition(lambda self: not self.workers)
    @rule()
    def no_workers(self) -> None:
        self.hopeless = True
        self.obey(self.book.handle(NoWorkers("all refused")))

    @invariant()
    def no_worker_is_overfilled(self) -> None:
        for name, slots in self.workers.items():
            assert len(self.has[name]) <= 2 * slots
            assert self.book.load(name) == len(self.has[name])

    @invariant()
    def no_check_waits_while_a_worker_idles(self) -> None:
        if self.book.queued:
            assert all(len(self.has[name]) >= slots for name, slots in self.workers.items())

    @invariant()
    def no_check_waits_at_one_worker_while_another_idles(self) -> None:
        left = {w: len(has) - sum(name == w for name, _ in self.stopping) for w, has in self.has.items()}
        idle = sum(max(slots - left[name], 0) for name, slots in self.workers.items())
        coming = sum(number in self.wanted for _, number in self.stopping)
        assert idle <= coming or self.book.queued or all(left[w] <= slots for w, slots in self.workers.items())

    def teardown(self) -> None:
        """Everything drains: with one good worker, every check that is still wanted gets its result."""
        self.worker_ready(4)
        for _ in range(10_000):
            if not self.wanted:
                break
            for number in sorted(self.pausing):
                self.pausing.remove(number)
                self.obey(self.book.handle(PauseOver(number)))
            for name, has in list(self.has.items()):
                for number in sorted(has):
                    has.remove(number)
                    self.obey(self.book.handle(Answered(name, number, result=RESULT)))
        assert not self.wanted
        assert self.book.queued == 0


TestAnything = Anything.TestCase
TestAnything.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
