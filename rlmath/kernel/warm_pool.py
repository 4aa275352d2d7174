"""A pool of warm workers that are expensive to start: more of them than are in use, so that one that is lost is
replaced at once, and the next one warms in the background."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Generic, Protocol, TypeVar

from rlmath.errors import KernelUnavailable

FIRST_BACKOFF_S: Final = 0.1
LONGEST_BACKOFF_S: Final = 30.0
"""Pause before another worker is tried after one did not start, doubled from failure to failure."""


class Worker(Protocol):
    """What the pool needs to know of a worker."""

    @property
    def usable(self) -> bool:
        """Whether it may do more."""
        ...

    @property
    def fresh(self) -> bool:
        """Whether it did nothing yet."""
        ...

    async def kill(self) -> None:
        """End it. May be called again."""
        ...


W = TypeVar("W", bound=Worker)


class WarmPool(Generic[W]):
    """Hands out workers, each to one user at a time. Belongs to the event loop that started it."""

    def __init__(self, make: Callable[[], Awaitable[W]], *, size: int) -> None:
        """`make` starts a worker and waits until it is warm, or raises `KernelUnavailable`. `size`: how many there are
        to be, those in use included."""
        self._make = make
        self._size = size
        self._idle: deque[W] = deque()
        self._busy: set[W] = set()
        self._warming: set[asyncio.Task[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._waiters: deque[tuple[bool, asyncio.Future[W]]] = deque()
        """Whether each wants a fresh one."""
        self._failures = 0
        self._closed = False
        self.started = 0
        """Workers that became warm."""

    async def start(self) -> None:
        """Begin to warm all, and wait for the first. Raises `KernelUnavailable` when it does not start."""
        if not self.started:
            self.put_back(await self.take())

    async def take(self, *, fresh: bool = False) -> W:
        """An idle worker; waits for one to be warm. Raises `KernelUnavailable` when one that was waited for does not
        start."""
        if self._closed:
            raise KernelUnavailable("the kernel was closed")
        for worker in [w for w in self._idle if not w.usable]:
            self.lose(worker)
        chosen = next((w for w in self._idle if w.fresh or not fresh), None)
        if chosen is not None:
            self._idle.remove(chosen)
            self._busy.add(chosen)
            return chosen
        if self._idle and not self._warming:
            self.lose(self._idle[0])  # to make room for a fresh one
        self._top_up()
        future: asyncio.Future[W] = asyncio.get_running_loop().create_future()
        self._waiters.append((fresh, future))
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self.put_back(future.result())
            raise

    def put_back(self, worker: W) -> None:
        """Done with a worker, which is as good as before."""
        self._busy.discard(worker)
        if self._closed or not worker.usable:
            self.lose(worker)
        else:
            self._offer(worker)

    def lose(self, worker: W) -> None:
        """Be rid of a worker, and have another in its place."""
        self._busy.discard(worker)
        with contextlib.suppress(ValueError):
            self._idle.remove(worker)
        self._background(self._ending, worker.kill())
        self._top_up()

    async def aclose(self) -> None:
        """End all workers. May be called again."""
        self._closed = True
        for task in self._warming:
            task.cancel()
        for _, future in self._waiters:
            _fail(future, KernelUnavailable("the kernel was closed"))
        for worker in [*self._idle, *self._busy]:
            self.lose(worker)
        while tasks := [*self._warming, *self._ending]:
            await asyncio.gather(*tasks, return_exceptions=True)

    def _top_up(self) -> None:
        while not self._closed and len(self._idle) + len(self._busy) + len(self._warming) < self._size:
            self._background(self._warming, self._warm())

    async def _warm(self) -> None:
        if self._failures:
            await asyncio.sleep(min(FIRST_BACKOFF_S * 2 ** (self._failures - 1), LONGEST_BACKOFF_S))
        try:
            worker = await self._make()
        except KernelUnavailable as error:
            self._failures += 1
            while self._waiters:
                _fail(self._waiters.popleft()[1], error)
            return
        self._failures = 0
        self.started += 1
        if self._closed:
            self.lose(worker)
        else:
            self._offer(worker)

    def _offer(self, worker: W) -> None:
        for entry in list(self._waiters):
            fresh, future = entry
            if future.done():
                self._waiters.remove(entry)
            elif worker.fresh or not fresh:
                self._waiters.remove(entry)
                self._busy.add(worker)
                future.set_result(worker)
                return
        self._idle.append(worker)

    def _background(self, tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        tasks.add(task)

        def done(task: asyncio.Task[None]) -> None:
            tasks.discard(task)
            if tasks is self._warming:
                self._top_up()

        task.add_done_callback(done)


def _fail(future: asyncio.Future[Any], error: KernelUnavailable) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()
