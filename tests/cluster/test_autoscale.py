"""How many workers follow demand, without Ray."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.autoscale import Autoscale, Decision, Scaler, Seat, demand_driven
from cluster.kinds import Kinds, MemoryClass
from cluster.placement import on_nodes, scaled
from rlmath.errors import InputError
from rlmath.kernel.config import EmbeddedKernelConfig

BOUNDS = Autoscale(worker_slots=4, max_workers=3, idle_s=10.0)


def seats(*loads: int, ready: bool = True) -> list[Seat]:
    return [Seat(index, ready, load) for index, load in enumerate(loads)]


def test_workers_are_asked_for_as_they_are_needed_and_never_more_than_allowed() -> None:
    scaler = Scaler(BOUNDS)
    assert scaler.decide(0.0, 0, []) == Decision()
    assert scaler.decide(1.0, 1, []) == Decision(start=1)
    assert scaler.decide(2.0, 9, seats(0, ready=False)) == Decision(start=2)
    assert scaler.decide(3.0, 1_000, seats(4, 4, 4)) == Decision()


def test_a_surplus_goes_when_it_was_one_for_long_enough_the_least_loaded_first() -> None:
    scaler = Scaler(BOUNDS)
    assert scaler.decide(0.0, 12, seats(4, 4, 4)) == Decision()
    assert scaler.decide(5.0, 3, seats(2, 0, 1)) == Decision()
    assert scaler.decide(10.0, 3, seats(2, 0, 1)) == Decision()
    assert scaler.decide(10.5, 3, seats(2, 0, 1)) == Decision(drain=(1, 2))
    assert scaler.decide(16.0, 0, seats(0)) == Decision(drain=())
    assert scaler.decide(20.6, 0, seats(0)) == Decision(drain=(0,))


def test_a_worker_that_never_came_goes_before_one_that_works() -> None:
    scaler = Scaler(Autoscale(4, 3, idle_s=0.0))
    both = [Seat(0, True, 3), Seat(1, False, 0)]
    assert scaler.decide(1.0, 3, both) == Decision(drain=(1,))


def test_those_that_are_kept_warm_stay() -> None:
    scaler = Scaler(Autoscale(4, 3, min_workers=1, idle_s=0.0))
    assert scaler.decide(0.0, 0, []) == Decision(start=1)
    assert scaler.decide(1.0, 0, seats(0, 0)) == Decision(drain=(1,))
    assert scaler.decide(2.0, 0, seats(0)) == Decision()


@given(
    demands=st.lists(st.tuples(st.floats(0.0, 4.0), st.integers(0, 40)), min_size=1),
    least=st.integers(0, 2),
    idle_s=st.sampled_from([0.0, 3.0]),
)
def test_it_obeys_its_bounds_and_never_drains_what_was_needed_lately(
    demands: list[tuple[float, int]], least: int, idle_s: float
) -> None:
    bounds = Autoscale(4, 5, least, idle_s)
    scaler, now, next_index, past = Scaler(bounds), 0.0, 0, []
    present: list[int] = []
    for step, demand in demands:
        now += step
        needed = min(max(math.ceil(demand / 4), least), 5)
        past.append((now, needed))
        decision = scaler.decide(now, demand, [Seat(index, True, 0) for index in present])
        assert not (decision.start and decision.drain)
        present = [index for index in present if index not in decision.drain]
        present += range(next_index, next_index + decision.start)
        next_index += decision.start
        lately = max(n for when, n in past if when >= now - idle_s)
        assert needed <= len(present) <= 5
        assert not decision.drain or len(present) == lately


@pytest.mark.parametrize(
    ("bounds", "named"),
    [
        ({"worker_slots": 0, "max_workers": 1}, "worker_slots"),
        ({"worker_slots": 1, "max_workers": 0}, "max_workers"),
        ({"worker_slots": 1, "max_workers": 1, "min_workers": 2}, "max_workers"),
        ({"worker_slots": 1, "max_workers": 1, "idle_s": float("nan")}, "idle_s"),
    ],
)
def test_bounds_that_cannot_be_are_named(bounds: dict[str, float], named: str) -> None:
    with pytest.raises(InputError, match=named):
        Autoscale(**bounds)  # type: ignore[arg-type]


def test_a_command_line_without_max_workers_asks_for_none_of_it() -> None:
    assert demand_driven(4, None, 1.0) is None
    assert demand_driven(4, 2, 1.0) == Autoscale(4, 2, 0, 1.0)
    with pytest.raises(InputError, match="slots"):
        demand_driven(None, 2, 1.0)


# Kinds and placements

SMALL, LARGE = MemoryClass("small"), MemoryClass("large", check_bytes=16 << 30, slots=1)
MAIN, OTHER = EmbeddedKernelConfig(), EmbeddedKernelConfig(name="other")


def test_a_request_names_a_kernel_and_a_memory_class_or_gets_the_first() -> None:
    kinds = Kinds((MAIN, OTHER), (SMALL, LARGE))
    kind, larger = kinds.choose()
    assert (kind.environment, larger.environment if larger else None) == ("default/small", "default/large")
    kind, larger = kinds.choose("other", "large")
    assert (kind.environment, larger) == ("other/large", None)
    for wrong, named in ((("mathlib", ""), "kernel"), (("", "huge"), "memory")):
        with pytest.raises(InputError, match=named):
            kinds.choose(*wrong)
    for made in (lambda: Kinds((MAIN, MAIN)), lambda: Kinds(()), lambda: Kinds((MAIN,), (SMALL, SMALL))):
        with pytest.raises(InputError):
            made()


def test_every_node_has_a_worker_of_each_kind_with_as_many_slots_as_it_has_lean() -> None:
    nodes = [
        {"NodeID": "head", "Alive": True, "Resources": {"CPU": 0.0}},
        {"NodeID": "big", "Alive": True, "Resources": {"CPU": 64.0, "lean": 28.0}},
        {"NodeID": "plain", "Alive": True, "Resources": {"CPU": 4.0}},
        {"NodeID": "dead", "Alive": False, "Resources": {"CPU": 4.0}},
    ]
    plan = on_nodes(nodes, Kinds((MAIN,), (SMALL, LARGE)), None)
    placed = [(p.node_id, p.slots, p.kind.memory.name) for p in plan.placements]
    assert placed == [("big", 28, "small"), ("big", 1, "large"), ("plain", 4, "small"), ("plain", 1, "large")]
    assert [p.slots for p in on_nodes(nodes, Kinds(), 2).placements] == [2, 2]


def test_only_the_smallest_class_is_kept_warm() -> None:
    plan = scaled(Kinds((MAIN, OTHER), (SMALL, LARGE)), Autoscale(4, 2, 1))
    assert [bounds.min_workers for _, bounds in plan.scaled] == [1, 0, 1, 0]
