"""Which memory the image keeps of the shared library, so that it is small and its children start cheaply.

Starting Lean reads through about 90 MB of the library, most of which no check comes back to: those pages are given
back. What checks do come back to lies all over the library, and `fork` copies no page tables of file mappings, so that
each child would find it again page by page, in about 300 faults: a third of them all. A rehearsal in a child shows
where, and the busiest pieces of 2 MiB move into huge pages, which a fork hands on with one entry each: a sixth less CPU
a check (`benchmarks/isolation_cost.py`, `benchmarks/warm_check.py`).

All of it is advice: a machine that declines (no huge pages, no executable anonymous memory, little memory, another
/proc) runs as it would without.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rlmath.kernel.embedded.cgroup import memory_left
from rlmath.kernel.embedded.system import advise, map_memory, move_mapping, protect, unmap

MADV_DONTNEED = 4
MADV_HUGEPAGE = 14
PROTECTION = {"r--p": 1, "r-xp": 5}
"""PROT_READ is 1, PROT_EXEC 4."""

PAGE = os.sysconf("SC_PAGE_SIZE")
HUGE = 2 << 20
"""Of one huge page, where the pages are of 4 KiB."""
MOST = 32
"""Pieces that move, at most: 64 MiB, with which the image has 130 MB (measured)."""
BUSY = 64
"""Pages of a piece that the rehearsal needs, at least, for it to move. A third more pieces have half of that; moving
them too saves another 3 % of the faults (measured)."""
REHEARSAL_S = 10
"""Longest rehearsal: it takes 0.05 s."""
ROOM = 128 << 20
"""Bytes that have to be left for checks when all has moved: else, in a container that is filled to the brim, cheaper
forks would be paid for with checks that Linux kills."""


@dataclass(frozen=True)
class Mapping:
    """Part of this process's memory, as /proc/self/smaps describes it."""

    start: int
    end: int
    permissions: str
    path: str
    sizes: dict[str, int]
    """Bytes, by what they count: `Rss`, `Anonymous`, `AnonHugePages` and so on."""


def settle(path: str, rehearsal: Callable[[], None]) -> int:
    """Give back the pages of the file at `path` that only its start needed, and move what checks need into huge pages;
    how many bytes moved. In a process of one thread. `rehearsal`: does what checks do; it is called in a child."""
    try:
        drop_clean_pages(path)
        if PAGE != 4096 or memory_left() < MOST * HUGE + ROOM:
            return 0
        return move(busy_pieces(path, rehearsal))
    except (OSError, ValueError):  # a /proc that is not all there, or says other things
        return 0


def drop_clean_pages(path: str) -> None:
    """Give back the resident pages of the file at `path`, as far as they are the file's own bytes: they stay in the
    page cache, and what is still needed faults in again."""
    for mapping in mappings():
        # A read-only mapping may hold pages that were written before (relocations): dropping those would undo the
        # writes.
        if mapping.path == path and mapping.permissions in PROTECTION and mapping.sizes.get("Anonymous") == 0:
            with contextlib.suppress(OSError):
                advise(mapping.start, mapping.end - mapping.start, MADV_DONTNEED)


def busy_pieces(path: str, rehearsal: Callable[[], None]) -> list[tuple[int, int]]:
    """The pieces of the file at `path` that `rehearsal` needs most, in order: address and protection."""
    areas = [m for m in mappings() if m.path == path and m.permissions in PROTECTION]
    touched = Counter(page * PAGE // HUGE for page in _pages_of(areas, rehearsal))
    pieces = {
        start: PROTECTION[area.permissions]
        for area in areas
        for start in range(-(-area.start // HUGE) * HUGE, area.end - HUGE + 1, HUGE)
        if touched[start // HUGE] >= BUSY
    }
    return sorted((start, pieces[start]) for start in sorted(pieces, key=lambda s: -touched[s // HUGE])[:MOST])


def move(pieces: Sequence[tuple[int, int]]) -> int:
    """Move pieces of read-only memory (address and protection) into huge pages, where they are; how many bytes moved:
    all, unless the machine declines."""
    size = len(pieces) * HUGE
    if not size:
        return 0
    try:
        first = _map_aligned(size)
    except OSError:
        return 0
    copies = range(first, first + size, HUGE)
    moved = 0
    try:
        advise(first, size, MADV_HUGEPAGE)
        for copy, (start, _) in zip(copies, pieces, strict=True):
            ctypes.memmove(copy, start, HUGE)
        # In small pages, every fork would copy an entry for each: worse than what is there.
        if sum(m.sizes.get("AnonHugePages", 0) for m in mappings() if m.start < first + size and first < m.end) >= size:
            for copy, (_, protection) in zip(copies, pieces, strict=True):
                protect(copy, HUGE, protection)
            for copy, (start, _) in zip(copies, pieces, strict=True):
                move_mapping(copy, HUGE, start)
                moved += HUGE
    except OSError:
        pass
    # Not what has moved: its place may be taken already.
    if moved < size:
        unmap(first + moved, size - moved)
    return moved


def _map_aligned(size: int) -> int:
    """New memory that begins where a huge page may; its address."""
    whole = map_memory(size + HUGE)
    first = -(-whole // HUGE) * HUGE
    for start, end in ((whole, first), (first + size, whole + size + HUGE)):
        if start < end:
            unmap(start, end - start)
    return first


def mappings() -> Iterator[Mapping]:
    """Of this process."""
    head, sizes = "", dict[str, int]()
    with open("/proc/self/smaps", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            key, _, rest = line.partition(" ")
            if key.endswith(":"):
                match rest.split():
                    case [count, "kB"]:
                        sizes[key[:-1]] = int(count) * 1024
                continue
            if head:
                yield _mapping(head, sizes)
            head, sizes = line, {}
    if head:
        yield _mapping(head, sizes)


def _mapping(head: str, sizes: dict[str, int]) -> Mapping:
    span, permissions, _, _, _, *path = head.rstrip("\n").split(maxsplit=5)
    start, end = (int(bound, 16) for bound in span.split("-"))
    return Mapping(start, end, permissions, path[0] if path else "", sizes)


def _pages_of(areas: Sequence[Mapping], rehearsal: Callable[[], None]) -> list[int]:
    """The pages of `areas` that a child has in its memory after it did this; none when it did not get there."""
    reader, writer = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.close(reader)
            signal.alarm(REHEARSAL_S)
            rehearsal()
            with os.fdopen(writer, "wb") as out, open("/proc/self/pagemap", "rb", buffering=0) as pagemap:
                for area in areas:
                    first, count = area.start // PAGE, (area.end - area.start) // PAGE
                    entries = memoryview(os.pread(pagemap.fileno(), 8 * count, 8 * first)).cast("Q")
                    out.write(b"".join((first + i).to_bytes(8, "little") for i, e in enumerate(entries) if e >> 63))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        pages = said.read()
    os.waitpid(pid, 0)
    return list(memoryview(pages[: len(pages) // 8 * 8]).cast("Q"))
