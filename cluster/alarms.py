"""Times after which something is overdue, by one timer of the event loop for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Alarms:
    """Alarms of one delay, each for a key. A timer for each would cost a check more than its way through the book."""

    def __init__(self, rung: Callable[[int], None]) -> None:
        """`rung`: told of each key whose time is over and that was not cleared."""
        self._rung = rung
        self._due: dict[int, float] = {}
        """By the loop's clock; in order, for all have the same delay."""
        self._timer: asyncio.TimerHandle | None = None

    def set(self, key: int, delay_s: float) -> None:
        """Ring after so many seconds: the same each time."""
        loop = asyncio.get_running_loop()
        due = self._due[key] = loop.time() + delay_s
        if self._timer is None:
            self._timer = loop.call_at(due, self._look)

    def clear(self, key: int) -> None:
        """Do not ring, if it has not rung."""
        self._due.pop(key, None)

    def close(self) -> None:
        """Ring no more."""
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer, now, over = None, loop.time(), []
        for key, due in self._due.items():
            if due > now:
                self._timer = loop.call_at(due, self._look)
                break
            over.append(key)
        for key in over:  # each on its own: what one raises is not to silence the others
            loop.call_soon(self._ring, key)

    def _ring(self, key: int) -> None:
        if self._due.pop(key, None) is not None:  # not cleared by one that rang before
            self._rung(key)
