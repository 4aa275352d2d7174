"""The book of checks under every event in every order: nothing lost, nothing answered twice, no worker overfilled, no
cap exceeded, and in the end everything drains.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cluster.caps import AccountKey, Accounts, Caps
from cluster.events import (
    Alarm,
    Answered,
    Cancelled,
    CapsChanged,
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
from cluster.state import MOST_KILLS, CheckBook
from cluster.verdict_cache import VerdictCache
from rlmath.errors import CapReached, KernelUnavailable
from rlmath.kernel.protocol import CheckResult, Source

ATTEMPTS = 3
SOURCE = Source("theorem t : True := trivial")
CLIENTS = ("a", "b")
CAP_US = 7_000_000
LARGER = "larger"
"""Environment of the workers with more memory."""
MOST_US = 3_000_000
"""Of one check: two fit under the cap at a time."""


class Anything(RuleBasedStateMachine):
    """Checked against a plain account of what should have happened."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts = Accounts()
        self.keys = {client: AccountKey(client, "run") for client in CLIENTS}
        for key in self.keys.values():
            self.accounts.open(key, Caps(kernel_s=CAP_US / 1e6), 0.0)
        self.cap_us = dict.fromkeys(CLIENTS, CAP_US)
        self.book = CheckBook(RetryPolicy(ATTEMPTS), ahead=1, accounts=self.accounts, cache=VerdictCache(3))
        self.next_job = self.next_worker = 0
        self.jobs: dict[int, CheckJob] = {}
        self.wanted: set[int] = set()
        self.over: set[int] = set()
        """Settled or cancelled."""
        self.alarms: set[int] = set()
        self.pausing: set[int] = set()
        self.failures: dict[int, int] = {}
        self.kills: dict[int, int] = {}
        self.slots: dict[str, int] = {}
        self.has: dict[str, set[int]] = {}
        self.stopping: set[tuple[str, int]] = set()
        self.draining: set[str] = set()
        self.charged: dict[str, int] = dict.fromkeys(CLIENTS, 0)
        self.used: dict[str, int] = dict.fromkeys(CLIENTS, 0)
        self.where: dict[str, str] = {}
        """Environment of each worker."""
        self.moved: set[int] = set()
        """Died of memory once, and not settled."""
        self.hopeless: set[str] = set()

    def obey(self, instructions: list[Instruction]) -> None:
        for instruction in instructions:
            match instruction:
                case Send(worker, job):
                    assert worker not in self.draining
                    assert all(job.id not in has for has in self.has.values()), "one run at two workers"
                    assert self.kills.get(job.id, 0) < MOST_KILLS, "a third worker for what killed two"
                    if self.kills.get(job.id):
                        others = [n for n in self.has[worker] if self.kills.get(n)]
                        assert not others, "two suspects at one worker"
                    assert self.where[worker] == (LARGER if job.id in self.moved else ""), "at the wrong kind of worker"
                    self.has[worker].add(job.id)
                case Settle(job_id, result, error):
                    assert job_id in self.wanted, "settled twice, or never asked for"
                    assert (result is None) != (error is None)
                    if isinstance(error, CapReached):
                        client = self.jobs[job_id].client
                        status = self.accounts.status(self.keys[client])
                        assert status.spent.kernel_us + MOST_US > self.cap_us[client], "refused with room left"
                    self.wanted.remove(job_id)
                    self.over.add(job_id)
                case Pause(job_id, seconds):
                    assert seconds > 0
                    self.pausing.add(job_id)
                case Alarm(job_id):
                    self.alarms.add(job_id)
                case Charge(order, (account,), kernel_us):
                    assert self.jobs[order].client == account.client
                    self.charged[account.client] += kernel_us
                case Stop(worker, job_id):
                    assert job_id in self.has[worker]
                    assert (worker, job_id) not in self.stopping, "told twice"
                    self.stopping.add((worker, job_id))
                case Drained(worker):
                    assert worker in self.draining
                    assert not self.has[worker]
                    self.forget(worker)

    def forget(self, worker: str) -> None:
        self.stopping = {(name, number) for name, number in self.stopping if name != worker}
        self.draining.discard(worker)
        del self.slots[worker], self.has[worker], self.where[worker]

    @rule(
        count=st.integers(1, 6),
        client=st.sampled_from(CLIENTS),
        priority=st.integers(0, 2),
        alike=st.sampled_from([None, None, b"x", b"y", b"z", b"w"]),
        timeout=st.sampled_from([1.0, 2.0]),
        deadline=st.booleans(),
        free=st.booleans(),
        larger=st.booleans(),
    )
    def submit(
        self,
        count: int,
        client: str,
        priority: int,
        alike: bytes | None,
        timeout: float,
        deadline: bool,
        free: bool,
        larger: bool,
    ) -> None:
        for _ in range(count):
            number, self.next_job = self.next_job, self.next_job + 1
            self.wanted.add(number)
            job = self.jobs[number] = CheckJob(
                number,
                SOURCE,
                timeout,
                key=alike,
                client=client,
                weight=1.0 + CLIENTS.index(client),
                priority=priority,
                order=number,
                accounts=() if free else (self.keys[client],),
                most_us=MOST_US,
                deadline_s=9.0 if deadline else None,
                larger=LARGER if larger and alike is None else None,
            )
            self.obey(self.book.handle(Submitted(job)))

    @rule(slots=st.integers(1, 4), environment=st.sampled_from(["", "", LARGER]))
    def worker_ready(self, slots: int, environment: str = "") -> None:
        name, self.next_worker = f"w{self.next_worker}", self.next_worker + 1
        self.slots[name], self.has[name], self.where[name] = slots, set(), environment
        self.obey(self.book.handle(WorkerReady(name, slots, environment)))

    @precondition(lambda self: self.slots)
    @rule(data=st.data())
    def worker_lost(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.slots)))
        for number in self.has[name]:
            self.failures[number] = self.failures.get(number, 0) + 1
            self.kills[number] = self.kills.get(number, 0) + 1
        self.forget(name)
        self.obey(self.book.handle(WorkerLost(name, "killed")))

    @precondition(lambda self: self.slots)
    @rule(data=st.data())
    def drain(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.slots)))
        self.draining.add(name)
        self.obey(self.book.handle(WorkerDraining(name)))

    @precondition(lambda self: any(self.has.values()))
    @rule(
        data=st.data(),
        how=st.sampled_from(["result", "result", "result", "timeout", "memory", "fails", "kills"]),
        seconds=st.sampled_from([0.001, 0.5, 1.0, 2.9, 7.0]),
    )
    def answer(self, data: st.DataObject, how: str, seconds: float) -> None:
        name = data.draw(st.sampled_from(sorted(w for w, has in self.has.items() if has)))
        number = data.draw(st.sampled_from(sorted(self.has[name])))
        self.has[name].remove(number)
        self.stopping.discard((name, number))
        if how in ("fails", "kills"):
            self.failures[number] = self.failures.get(number, 0) + 1
            self.kills[number] = self.kills.get(number, 0) + (how == "kills")
            error = KernelUnavailable("image died")
            self.obey(self.book.handle(Answered(name, number, error=error, killed=how == "kills")))
        else:
            crashed = "memory" if how == "memory" else None
            result = CheckResult(elapsed_s=seconds, timed_out=how == "timeout", crashed=crashed)
            before = sum(self.charged.values())
            moves = crashed is not None and self.jobs[number].larger is not None and number not in self.moved
            if moves and number in self.wanted:
                self.moved.add(number)
                self.obey(self.book.handle(Answered(name, number, result=result)))
                assert number in self.wanted or self.barren(LARGER), "it is tried once more"
                assert sum(self.charged.values()) == before, "it is not over"
                return
            self.obey(self.book.handle(Answered(name, number, result=result)))
            charged = sum(self.charged.values()) - before
            assert charged in (0, min(round(seconds * 1e6), MOST_US)), "once at most, and by its cost"

    @precondition(lambda self: self.stopping)
    @rule(data=st.data())
    def stopped(self, data: st.DataObject) -> None:
        name, number = data.draw(st.sampled_from(sorted(self.stopping)))
        self.stopping.remove((name, number))
        self.has[name].remove(number)
        self.obey(self.book.handle(Answered(name, number)))

    @rule(worker=st.sampled_from(["w0", "w1", "nobody"]), data=st.data())
    @precondition(lambda self: self.over)
    def stale_answer(self, data: st.DataObject, worker: str) -> None:
        number = data.draw(st.sampled_from(sorted(self.over)))
        if number not in self.has.get(worker, ()):
            assert self.book.handle(Answered(worker, number, result=CheckResult())) == []

    @precondition(lambda self: self.wanted)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.wanted)))
        self.wanted.remove(number)
        self.over.add(number)
        self.obey(self.book.handle(Cancelled(number)))

    @precondition(lambda self: self.alarms)
    @rule(data=st.data())
    def expire(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.alarms)))
        self.alarms.remove(number)
        self.obey(self.book.handle(Expired(number)))
        assert number not in self.wanted

    @precondition(lambda self: self.pausing)
    @rule(data=st.data())
    def pause_over(self, data: st.DataObject) -> None:
        for number in data.draw(st.permutations(sorted(self.pausing))):
            self.pausing.remove(number)
            self.obey(self.book.handle(PauseOver(number)))

    @rule(environment=st.sampled_from(["", LARGER]))
    def no_workers(self, environment: str) -> None:
        if environment in self.where.values():
            return
        self.hopeless.add(environment)
        self.obey(self.book.handle(NoWorkers("all refused", environment)))
        left = [number for number in self.wanted if (LARGER if number in self.moved else "") == environment]
        assert not left, "no job outlives the last hope"

    def barren(self, environment: str) -> bool:
        return environment in self.hopeless and environment not in self.where.values()

    @rule(client=st.sampled_from(CLIENTS))
    def buy_more(self, client: str) -> None:
        self.cap_us[client] += MOST_US
        self.accounts.open(self.keys[client], Caps(kernel_s=self.cap_us[client] / 1e6), 0.0)
        self.obey(self.book.handle(CapsChanged()))

    @invariant()
    def no_cap_is_exceeded(self) -> None:
        for client, key in self.keys.items():
            status = self.accounts.status(key)
            assert status.spent.kernel_us == self.charged[client]
            assert status.held.kernel_us >= 0
            assert status.spent.kernel_us + status.held.kernel_us <= self.cap_us[client]

    @invariant()
    def no_worker_is_overfilled(self) -> None:
        for name, slots in self.slots.items():
            assert len(self.has[name]) <= 2 * slots
            assert self.book.load(name) == len(self.has[name])
        assert self.book.in_flight == sum(map(len, self.has.values()))
        assert self.book.open == len(self.wanted)

    @invariant()
    def no_job_that_may_run_waits_while_a_worker_idles(self) -> None:
        """What waits has been bought by others for now, is in a pause, or is a suspect that has to be alone."""
        ready = {w: slots for w, slots in self.slots.items() if w not in self.draining and not self.where[w]}
        idle = any(len(self.has[w]) < slots for w, slots in ready.items())
        if idle and not any(self.kills.values()) and not self.pausing and not self.moved & self.wanted:
            held = [self.accounts.status(key) for key in self.keys.values()]
            blocked = any(s.spent.kernel_us + s.held.kernel_us + MOST_US > self.cap_us[s.client] for s in held)
            assert blocked or not self.book.queued

    @invariant()
    def no_check_waits_at_one_worker_while_another_idles(self) -> None:
        if not self.book.queued and not self.stopping:
            for where in ("", LARGER):
                names = [n for n in self.slots if n not in self.draining and self.where[n] == where]
                idle = any(len(self.has[name]) < self.slots[name] for name in names)
                assert not idle or all(len(self.has[name]) <= self.slots[name] for name in names)

    def teardown(self) -> None:
        """Everything drains: with good workers and enough money, every job that is still wanted gets its result."""
        for client in CLIENTS:
            for _ in range(60):
                self.buy_more(client)
        self.worker_ready(4)
        self.worker_ready(4, LARGER)
        for _ in range(10_000):
            if not self.wanted:
                break
            for number in sorted(self.pausing):
                self.pausing.remove(number)
                self.obey(self.book.handle(PauseOver(number)))
            for name, has in list(self.has.items()):
                for number in sorted(has):
                    if number in self.has.get(name, ()):
                        self.has[name].remove(number)
                        self.stopping.discard((name, number))
                        result = CheckResult(elapsed_s=0.5)
                        self.obey(self.book.handle(Answered(name, number, result=result)))
        assert not self.wanted
        for name, has in list(self.has.items()):
            for number in sorted(has):  # those that nobody wants any more
                self.has[name].remove(number)
                self.stopping.discard((name, number))
                self.obey(self.book.handle(Answered(name, number)))
        assert (self.book.queued, self.book.in_flight, self.book.open) == (0, 0, 0)
        assert all(self.accounts.status(key).held.kernel_us == 0 for key in self.keys.values())


TestAnything = Anything.TestCase
TestAnything.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
