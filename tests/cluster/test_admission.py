"""Fair queues, caps and admission, without Ray."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cluster.admission import Admission, Arrived, Begin, Finished, Instruction, Refuse, Withdrawn
from cluster.api import Caller
from cluster.caps import AccountKey, Accounts, Caps, Hold, Resource
from cluster.events import CapsChanged
from cluster.fair import FairQueue
from cluster.levels import Levels
from cluster.verdict_cache import VerdictCache, check_key
from rlmath.errors import CapReached, InputError, QueueFull
from rlmath.kernel.protocol import AuditVerdict, Certificate, CheckResult, Part, Source

# Fairness


@given(
    weights=st.lists(st.sampled_from([0.5, 1.0, 2.0, 7.0]), min_size=2, max_size=5),
    costs=st.data(),
    rounds=st.integers(1, 200),
)
def test_between_clients_with_work_the_shares_differ_by_one_quantum_at_most(
    weights: list[float], costs: st.DataObject, rounds: int
) -> None:
    queue: FairQueue[int] = FairQueue()
    cost = [costs.draw(st.sampled_from([0.01, 0.1, 1.0])) for _ in weights]
    served = [0.0] * len(weights)
    for number, weight in enumerate(weights):
        for _ in range(rounds + 1):
            queue.push(str(number), weight, 0, 0, number)
    for _ in range(rounds):
        client, number = queue.peek()
        charged = queue.pop()
        queue.settle(client, charged, cost[number])
        served[number] += cost[number] / weights[number]
    quanta = sorted(c / w for c, w in zip(cost, weights, strict=True))
    assert max(served) - min(served) <= quanta[-1] + 1e-9


def test_who_was_away_gets_no_arrears_and_who_owes_still_does() -> None:
    queue: FairQueue[str] = FairQueue(expected=1.0)
    for _ in range(10):
        queue.push("busy", 1.0, 0, 0, "b")
    for _ in range(6):
        queue.pop()
    for _ in range(4):
        queue.push("new", 1.0, 0, 0, "n")
    order = []
    while len(queue):
        order.append(queue.peek()[1])
        queue.pop()
    assert sorted(order[:4]) == ["b", "b", "n", "n"]


def test_swept_entries_are_gone_and_the_rest_keeps_its_order() -> None:
    queue: FairQueue[int] = FairQueue()
    for number in range(10):
        queue.push("even" if number % 2 == 0 else "odd", 1.0, number // 5, number, number)
    queue.keep_if(lambda number: number % 4 == 0)
    assert len(queue) == 3
    assert queue.waiting("odd") == 0
    order = []
    while len(queue):
        order.append(queue.peek()[1])
        queue.pop()
    assert order == [8, 0, 4]


@given(moves=st.lists(st.tuples(st.sampled_from("abcde"), st.one_of(st.none(), st.integers(0, 70)))))
def test_levels_know_their_lowest_and_highest(moves: list[tuple[str, int | None]]) -> None:
    levels, plain = Levels(), dict[str, int]()
    for item, level in moves:
        if level is None:
            levels.remove(item)
            plain.pop(item, None)
        else:
            levels.put(item, level)
            plain[item] = level
        assert bool(levels) == bool(plain)
        assert sorted(levels.ascending()) == sorted(plain)
        if plain:
            assert plain[levels.lowest()] == min(plain.values())
            assert plain[levels.highest()] == max(plain.values())


# Caps


def test_a_cap_of_any_account_refuses_and_none_is_charged() -> None:
    accounts = Accounts()
    whole, run = AccountKey("a"), AccountKey("a", "r")
    accounts.open(whole, Caps(leaf_attempts=3), 0.0)
    accounts.open(run, Caps(), 0.0)
    refused = accounts.hold((run, whole), Resource.LEAF_ATTEMPTS, 4)
    assert isinstance(refused, CapReached)
    assert refused.account == "client a"
    first = accounts.hold((run, whole), Resource.LEAF_ATTEMPTS, 2)
    assert isinstance(first, Hold)
    assert accounts.hold((run, whole), Resource.LEAF_ATTEMPTS, 2) == whole
    assert accounts.status(run).held.leaf_attempts == 2
    assert accounts.settle(first, 1) == 1
    assert isinstance(accounts.hold((run, whole), Resource.LEAF_ATTEMPTS, 2), Hold)
    left = accounts.status(whole).left(now=5.0)
    assert (left.leaf_attempts, left.kernel_s, left.wall_s) == (0, None, None)


@pytest.mark.parametrize(
    ("field", "value"), [("leaf_attempts", -1), ("model_tokens", 1.5), ("kernel_s", float("nan")), ("wall_s", True)]
)
def test_a_cap_that_is_none_is_named(field: str, value: object) -> None:
    with pytest.raises(InputError, match=f"caps.{field}"):
        Caps(**{field: value})  # type: ignore[arg-type]


# The cache

SOURCE = Source("theorem t : True := trivial")
OTHERS = (
    Source("theorem t : True := trivial "),
    Source(SOURCE.command, context="def a := 1"),
    Source(SOURCE.command, template="theorem t : True := hole"),
    Source(SOURCE.command, parts=(Part("hole", "trivial", "assembly", 1, 0),)),
    Source(SOURCE.command, declaration="t"),
    Source(SOURCE.command, axioms=True),
    Source(SOURCE.command, reference=True),
)


def test_whatever_decides_a_result_is_in_its_key() -> None:
    keys = {check_key("k", source, None, "s") for source in (SOURCE, *OTHERS)}
    keys |= {check_key("k", SOURCE, reference, "s") for reference in (SOURCE, *OTHERS)}
    keys |= {check_key("other kernel", SOURCE, None, "s"), check_key("k", SOURCE, None, "other scope")}
    assert len(keys) == 2 * (1 + len(OTHERS)) + 2
    assert check_key("k", Source(SOURCE.command), None, "s") in keys


def test_a_result_stands_for_every_limit_it_would_have_kept_and_one_cut_short_for_its_own_alone() -> None:
    cache = VerdictCache(10)
    done, late = CheckResult(elapsed_s=2.0), CheckResult(elapsed_s=1.0, timed_out=True)
    cache.put(b"k", 10.0, done)
    assert [cache.get(b"k", limit) for limit in (1.0, 2.0, 10.0, 60.0)] == [None, done, done, done]
    for cut in (late, CheckResult(crashed="memory"), Certificate(CheckResult(), AuditVerdict(False, "resources"))):
        cache.put(b"cut", 1.0, cut)
        assert cache.get(b"cut", 1.0) is cut
        assert cache.get(b"cut", 2.0) is None
        assert cache.get(b"cut", 0.5) is None


def test_the_cache_is_bounded() -> None:
    cache = VerdictCache(2)
    for key in (b"a", b"b", b"a", b"c"):
        cache.put(key, 1.0, CheckResult())
        cache.get(b"a", 1.0)
    assert [cache.get(key, 1.0) is not None for key in (b"a", b"b", b"c")] == [True, False, True]
    nothing = VerdictCache(0)
    nothing.put(b"a", 1.0, CheckResult())
    assert nothing.get(b"a", 1.0) is None


# Admission


def test_a_full_queue_says_how_long_it_is_and_when_to_come_back() -> None:
    admission = Admission(Accounts(), max_running=1, max_waiting=2)
    for number in range(3):
        admission.handle(Arrived(number, Caller(), (), 0))
    (refused,) = admission.handle(Arrived(3, Caller(), (), 0))
    assert isinstance(refused, Refuse)
    assert isinstance(refused.error, QueueFull)
    assert refused.error.queue_length == 2
    assert refused.error.retry_after_s > 0
    assert admission.handle(Finished(0, 0, 1.0)) == [Begin(1)]
    assert admission.handle(Arrived(4, Caller(), (), 0)) == []


def test_a_client_with_few_requests_does_not_wait_for_one_with_many() -> None:
    admission = Admission(Accounts(), max_running=1, max_waiting=1_000)
    for number in range(100):
        admission.handle(Arrived(number, Caller("many"), (), 0))
    admission.handle(Arrived(100, Caller("few"), (), 0))
    assert admission.handle(Finished(0, 0, 0.0)) == [Begin(100)]


class Anything(RuleBasedStateMachine):
    """Requests of two clients, each with a run, under all events in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts = Accounts()
        self.cap = {AccountKey(c, r): 12 for c in "ab" for r in (None, "r")}
        for key, cap in self.cap.items():
            self.accounts.open(key, Caps(leaf_attempts=cap), 0.0)
        self.admission = Admission(self.accounts, max_running=3, max_waiting=4)
        self.next = 0
        self.worst: dict[int, tuple[str, int]] = {}
        self.waiting: set[int] = set()
        self.running: set[int] = set()
        self.used = dict.fromkeys("ab", 0)

    def obey(self, instructions: list[Instruction]) -> None:
        for instruction in instructions:
            self.waiting.remove(instruction.number)
            match instruction:
                case Begin(number):
                    self.running.add(number)
                case Refuse(number, CapReached()):
                    client, worst = self.worst[number]
                    assert self.used[client] + worst > self.cap[AccountKey(client)] - 1e-9
                case Refuse(number, QueueFull(queue_length=length)):
                    assert length == 4

    @rule(client=st.sampled_from("ab"), worst=st.integers(0, 5), priority=st.integers(0, 1))
    def arrive(self, client: str, worst: int, priority: int) -> None:
        number, self.next = self.next, self.next + 1
        self.worst[number] = client, worst
        self.waiting.add(number)
        keys = (AccountKey(client), AccountKey(client, "r"))
        self.obey(self.admission.handle(Arrived(number, Caller(client, priority=priority, run="r"), keys, worst)))

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.running)))
        self.running.remove(number)
        client, worst = self.worst[number]
        used = data.draw(st.integers(0, worst))
        self.used[client] += used
        self.obey(self.admission.handle(Finished(number, used, float(self.next))))
        assert self.admission.handle(Finished(number, used, float(self.next))) == [], "charged once"

    @precondition(lambda self: self.running | self.waiting)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.running | self.waiting)))
        self.running.discard(number)
        self.waiting.discard(number)
        self.obey(self.admission.handle(Withdrawn(number)))

    @rule(client=st.sampled_from("ab"))
    def buy_more(self, client: str) -> None:
        for key in (AccountKey(client), AccountKey(client, "r")):
            self.cap[key] += 3
            self.accounts.open(key, Caps(leaf_attempts=self.cap[key]), 0.0)
        self.obey(self.admission.handle(CapsChanged()))

    @invariant()
    def caps_and_bounds_hold(self) -> None:
        for key, cap in self.cap.items():
            status = self.accounts.status(key)
            assert status.spent.leaf_attempts == self.used[key.client]
            assert status.held.leaf_attempts == sum(
                self.worst[n][1] for n in self.running if self.worst[n][0] == key.client
            )
            assert status.spent.leaf_attempts + status.held.leaf_attempts <= cap
        assert (self.admission.waiting, self.admission.running) == (len(self.waiting), len(self.running))
        assert len(self.waiting) <= 4
        assert len(self.running) <= 3

    def teardown(self) -> None:
        while self.running:
            number = self.running.pop()
            self.obey(self.admission.handle(Finished(number, 0, 0.0)))
        assert not self.waiting, "everything drains"


TestAnything = Anything.TestCase
TestAnything.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
