"""Memory that forked children do not inherit.

The texts and reports of checks go through the image, and the processes of later checks are forks of it: whatever a
hostile one may read of its own memory, it must find no other check's text there. So the image keeps these bytes in a
`Buffer`, from the descriptor that they come from to the one that they leave by, and never in an object of Python's,
which leaves freed memory as it was. Nor does it copy them, for that would leave them in vector registers, which a
fork inherits, and which a signal's frame and the dynamic linker put on the stack: Linux alone moves them.
"""

from __future__ import annotations

import mmap
import os
from struct import Struct
from typing import Any, Final

READ: Final = 1 << 18
"""Most bytes to read at once."""


class Buffer:
    """Bytes that are filled in at the end and emptied from the front. Takes no memory while it is empty."""

    def __init__(self) -> None:
        self._memory: mmap.mmap | None = None
        self._start = self._stop = 0

    def __len__(self) -> int:
        return self._stop - self._start

    def read(self, fd: int, most: int = READ) -> int:
        """Append what `fd` has, up to `most` bytes; how many they were (0: its end). As `os.read`, it may raise
        BlockingIOError."""
        memory = self._room(most)
        with memoryview(memory) as whole, whole[self._stop : self._stop + most] as room:
            count = os.readv(fd, [room])
        self._stop += count
        return count

    def write(self, fd: int) -> None:
        """Move everything into `fd`, and give the memory back. As `os.write`, it may raise BlockingIOError, after
        some, or BrokenPipeError."""
        while self and self._memory is not None:
            with memoryview(self._memory) as whole, whole[self._start : self._stop] as rest:
                self._start += os.write(fd, rest)
        self.close()

    def append(self, data: bytes) -> None:
        """Append bytes that are no secret."""
        self._room(len(data))[self._stop : self._stop + len(data)] = data
        self._stop += len(data)

    def peek(self, layout: Struct, at: int = 0) -> tuple[Any, ...] | None:
        """Numbers, `at` so many bytes from the front; None when there are too few."""
        if self._memory is None or len(self) < at + layout.size:
            return None
        return layout.unpack_from(self._memory, self._start + at)

    def plain(self) -> bytes:
        """A copy that children do inherit, of what is no secret."""
        return b"" if self._memory is None else self._memory[self._start : self._stop]

    def drop(self, count: int) -> None:
        """Drop the first `count` bytes."""
        self._start += count

    def close(self) -> None:
        """Drop everything, the memory too."""
        self._start = self._stop = 0
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _room(self, more: int) -> mmap.mmap:
        """The memory, with room for `more` bytes at the end."""
        needed = self._stop + more
        if self._memory is None:
            self._memory = mmap.mmap(-1, _pages(needed), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            self._memory.madvise(mmap.MADV_DONTFORK)
        elif needed > len(self._memory):
            self._memory.resize(_pages(2 * needed))
        return self._memory


def _pages(size: int) -> int:
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
