"""Kernels whose checks can be hostile Python (see `hostile_image.py`), and looking at what a check leaves behind."""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from array import array
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from io import RawIOBase
from mmap import PAGESIZE
from pathlib import Path
from typing import Any

from waiting import PATIENCE_S, wait_until

from rlmath.kernel.embedded import EmbeddedKernel, Limits, link, warden
from rlmath.kernel.protocol import CheckResult, Source

HOSTILE_IMAGE = Path(__file__).with_name("hostile_image.py")


@asynccontextmanager
async def hostile_kernel(
    *, without: tuple[str, ...] = (), slots: int = 2, limits: Limits | None = None
) -> AsyncIterator[EmbeddedKernel]:
    """A kernel that runs `python(...)`. `without`: measures of isolation to leave out."""
    honest = link.IMAGE
    link.IMAGE = (str(HOSTILE_IMAGE), ",".join(without))
    try:
        kernel = EmbeddedKernel(slots=slots, limits=limits)
        await kernel.start()
    finally:
        link.IMAGE = honest
    try:
        yield kernel
    finally:
        await kernel.aclose()


def python(code: str) -> Source:
    """A check that runs `code`."""
    return Source(f"#python\n{code}")


def said(result: CheckResult) -> list[Any]:
    """What a hostile check found out."""
    return [json.loads(message.text) for message in result.messages]


async def run(kernel: EmbeddedKernel, code: str, timeout_s: float = 20.0) -> list[Any]:
    """Run `code` to its end; what it said."""
    result = await kernel.check(python(code), timeout_s=timeout_s)
    assert (result.timed_out, result.crashed) == (False, None), result
    return said(result)


def image_pid(kernel: EmbeddedKernel) -> int:
    """The image's process."""
    pid = kernel.stats().image_pid
    assert pid is not None
    return pid


def warden_pid(kernel: EmbeddedKernel) -> int:
    """The process beside the image that has the checks' texts."""
    pid = kernel.stats().warden_pid
    assert pid is not None
    assert wardens_of(image_pid(kernel)) == {pid}
    return pid


def wardens_of(image: int) -> set[int]:
    """An image's, by their name."""
    found = set()
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for pid in Path(f"/proc/{image}/task/{image}/children").read_text().split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if text_of(f"/proc/{pid}/comm") == warden.NAME:
                    found.add(int(pid))
    return found


def children_of(image: int) -> set[int]:
    """The processes of an image's checks."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == image and fields[0] != "Z":
                found.add(int(entry.name))
    return found - wardens_of(image)


def alive(pid: int) -> bool:
    """Is there such a process, other than as a zombie?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


BUSY_TICKS = 10
"""Hundredths of a second of computing: more than a process needs that waits for a check."""


def busy_children_of(image: int) -> set[int]:
    """Those that compute, and so have an endless check under way."""

    def ticks(pid: int) -> int:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0
        return int(fields[11]) + int(fields[12])

    return {pid for pid in children_of(image) if ticks(pid) >= BUSY_TICKS}


def family(kernel: EmbeddedKernel) -> set[int]:
    """The image and all processes that were ever forked for a check, by it or its children, and run no other
    program."""
    image = Path(f"/proc/{image_pid(kernel)}/cmdline").read_bytes()
    return {pid for pid, command in commands() if command == image} - wardens_of(image_pid(kernel))


def commands() -> Iterator[tuple[int, bytes]]:
    """Number and command line of every process."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                yield int(entry.name), (entry / "cmdline").read_bytes()
            except OSError:
                continue


def text_of(path: str) -> str:
    """A file of the system's."""
    return Path(path).read_text().strip()


def exist(paths: Iterable[str]) -> list[str]:
    """Those of `paths` that are there."""
    return [path for path in paths if Path(path).exists()]


def wait_until_idle(kernel: EmbeddedKernel, seconds: float = PATIENCE_S, each: int = 1) -> float:
    """Wait until nothing is left of earlier checks, and there is what there is then: the image and its children forked
    ahead, `each` of so many processes. Seconds it took."""
    started = time.monotonic()
    wait_until(lambda: len(family(kernel)) == 1 + each * kernel.slots, seconds, lambda: family(kernel))
    return time.monotonic() - started


def memory_holds(pid: int, marker: bytes) -> list[str]:
    """The writable mappings of a process that hold `marker`; none when it is gone."""
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), contextlib.ExitStack() as files:
        maps = files.enter_context(open(f"/proc/{pid}/maps"))
        pages, memory = (files.enter_context(open(f"/proc/{pid}/{name}", "rb", 0)) for name in ("pagemap", "mem"))
        for line in maps:
            span, permissions = line.split()[:2]
            if permissions.startswith("rw"):
                start, end = (int(bound, 16) for bound in span.split("-"))
                pages.seek(start // PAGESIZE * 8)
                present = array("Q", pages.read((end - start) // PAGESIZE * 8))
                if any(marker in run for run in _runs(memory, start, present)):
                    found.append(line.strip())
    return found


def _runs(memory: RawIOBase, start: int, present: array[int]) -> Iterator[bytes]:
    """What is in the pages from `start` on, each run of pages that are there by itself."""
    for is_there, numbers in itertools.groupby(range(len(present)), lambda number: present[number] >> 62 != 0):
        if is_there:
            run = list(numbers)
            memory.seek(start + run[0] * PAGESIZE)
            yield memory.read(len(run) * PAGESIZE) or b""
