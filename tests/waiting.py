"""Waiting until something is so, for as long as a busy machine may take, and a clock that no machine is too slow for.

A test that sleeps for a fixed time and then looks says how fast the machine was, and one that hangs says nothing.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

PATIENCE_S = 60.0
"""How long anything may take that has no time of its own to keep."""
T = TypeVar("T")


async def until(
    condition: Callable[[], T], timeout_s: float = PATIENCE_S, shows: Callable[[], object] | None = None
) -> T:
    """Wait for a condition, and let the event loop run meanwhile. What it came to; fails when the time is up. `shows`:
    what to say then of how it stands, beside what the condition comes to."""
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline, _too_late(timeout_s, found, shows)
        await asyncio.sleep(0.005)
    return found


def wait_until(
    condition: Callable[[], T], timeout_s: float = PATIENCE_S, shows: Callable[[], object] | None = None
) -> T:
    """The same, where there is no event loop or it is to stand still."""
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline, _too_late(timeout_s, found, shows)
        time.sleep(0.005)
    return found


def _too_late(timeout_s: float, found: object, shows: Callable[[], object] | None) -> str:
    return f"not so within {timeout_s:g} s: {found!r}" + (f"; {shows()!r}" if shows is not None else "")


class _NoWait(selectors.DefaultSelector):
    """Moves a clock on instead of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("it would wait for ever: no timer is set")
        self.now += max(timeout, 0.0)
        return super().select(0)


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._no_wait = _NoWait()
        super().__init__(self._no_wait)

    def time(self) -> float:
        return self._no_wait.now


def in_virtual_time(main: Coroutine[Any, Any, T]) -> T:
    """Run it in an event loop of its own whose clock stands still while anything runs and jumps to the next timer when
    nothing does: a second takes no time, and no machine is too slow for a millisecond. For what has no threads, no
    processes and no connections."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(main)
