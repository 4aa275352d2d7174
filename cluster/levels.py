"""Items sorted into whole-number levels, with the lowest and the highest at hand, whatever their number."""

from __future__ import annotations

from collections.abc import Iterator


class Levels:
    """Each item stands on one level (0 or more). No operation takes longer for ten thousand items than for ten."""

    def __init__(self) -> None:
        self._level: dict[str, int] = {}
        self._on: dict[int, dict[str, None]] = {}
        """Items by level, in the order in which they came there."""
        self._mask = 0
        """Bit n is set when level n has items."""

    def __bool__(self) -> bool:
        return self._mask != 0

    def put(self, item: str, level: int) -> None:
        """Place an item, or move it."""
        before = self._level.get(item)
        if before == level:
            return
        if before is not None:
            self.remove(item)
        self._level[item] = level
        on = self._on.get(level)
        if on is None:
            on = self._on[level] = {}
        on[item] = None
        self._mask |= 1 << level

    def remove(self, item: str) -> None:
        """Take an item out, if it is there."""
        level = self._level.pop(item, None)
        if level is not None:
            on = self._on[level]
            del on[item]
            if not on:
                self._mask &= ~(1 << level)

    def lowest(self) -> str:
        """The item that stands longest on the lowest level. KeyError when there is none."""
        return self._first((self._mask & -self._mask).bit_length() - 1)

    def highest(self) -> str:
        """The item that stands longest on the highest level. KeyError when there is none."""
        return self._first(self._mask.bit_length() - 1)

    def ascending(self) -> Iterator[str]:
        """All items, lowest level first."""
        mask = self._mask
        while mask:
            level = (mask & -mask).bit_length() - 1
            yield from self._on[level]
            mask &= mask - 1

    def _first(self, level: int) -> str:
        if level < 0:
            raise KeyError("no items")
        return next(iter(self._on[level]))
