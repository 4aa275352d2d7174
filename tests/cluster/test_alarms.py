"""One timer for many alarms, in virtual time: whether one is cleared in its time is not for the machine to say."""

from __future__ import annotations

import asyncio

import pytest
from waiting import in_virtual_time

from cluster.alarms import Alarms

DELAY_S = 0.1


def test_each_alarm_rings_once_in_its_time_and_none_that_was_cleared() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        rung: list[tuple[int, float]] = []
        alarms = Alarms(lambda key: rung.append((key, loop.time())))
        begun: dict[int, float] = {}
        for key in range(6):
            begun[key] = loop.time()
            alarms.set(key, DELAY_S)
            await asyncio.sleep(DELAY_S / 4)
            if key % 2 and key < 5:
                alarms.clear(key)
        await asyncio.sleep(2 * DELAY_S)
        assert [key for key, _ in rung] == [0, 2, 4, 5]
        for key, at in rung:
            assert at == pytest.approx(begun[key] + DELAY_S)
        alarms.set(7, DELAY_S)  # after all had rung
        await asyncio.sleep(2 * DELAY_S)
        assert [key for key, _ in rung][-1] == 7

    in_virtual_time(main())


def test_one_that_rings_may_clear_another_and_set_a_new_one() -> None:
    async def main() -> None:
        rung: list[int] = []

        def ring(key: int) -> None:
            rung.append(key)
            alarms.clear(1)
            if key == 0:
                alarms.set(2, DELAY_S)

        alarms = Alarms(ring)
        alarms.set(0, DELAY_S)
        alarms.set(1, DELAY_S)
        await asyncio.sleep(4 * DELAY_S)
        assert rung == [0, 2]

    in_virtual_time(main())


def test_after_closing_none_rings() -> None:
    async def main() -> None:
        rung: list[int] = []
        alarms = Alarms(rung.append)
        alarms.set(0, DELAY_S)
        alarms.close()
        await asyncio.sleep(2 * DELAY_S)
        assert rung == []

    in_virtual_time(main())


def test_what_one_raises_does_not_silence_the_others() -> None:
    async def main() -> None:
        loop, rung, told = asyncio.get_running_loop(), list[int](), list[str]()

        def ring(key: int) -> None:
            rung.append(key)
            if key == 1:
                raise ValueError("a fault of ours")

        alarms = Alarms(ring)
        loop.set_exception_handler(lambda _, context: told.append(str(context["exception"])))
        try:
            for key in range(4):
                alarms.set(key, DELAY_S)
            await asyncio.sleep(3 * DELAY_S)
        finally:
            loop.set_exception_handler(None)
        assert rung == [0, 1, 2, 3]
        assert told == ["a fault of ours"]

    in_virtual_time(main())
