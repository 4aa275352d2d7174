"""Requests by their ids: one id, one run, one answer; waited for by any number of calls, polled, cancelled.

An answer is kept as the bytes that were sent. What failed for reasons of infrastructure is not kept: asked again, it
runs again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cluster.gateway.problems import (
    CANCELLED,
    CONFLICT,
    DRAINING,
    INTERNAL,
    NOT_FOUND,
    QUEUE_FULL,
    RETRY_AFTER_S,
    Problem,
    problem_of,
)
from cluster.gateway.settings import GatewaySettings
from cluster.gateway.tenant import Tenant

logger = logging.getLogger(__name__)

Key = tuple[str, str]
"""Client and request id: another client's id is another request."""
Run = Callable[[], Coroutine[Any, Any, bytes]]
"""Does the work and returns the answer: a member of the reply, as JSON text."""


@dataclass(eq=False)
class Entry:
    """One request."""

    tenant: Tenant
    id: str
    fingerprint: str
    keep: bool
    """It may be asked for again: its caller named it, or was told its id."""
    task: asyncio.Task[bytes] = field(init=False)
    waiters: int = 0
    detached: bool = False
    """Goes on though nobody waits: its caller was told to ask again."""
    stopped: bool = False
    """The server went away from under it: nobody called it off."""
    done_at: float = 0.0

    @property
    def key(self) -> Key:
        """Where the book has it."""
        return self.tenant.name, self.id

    @property
    def failed(self) -> bool:
        """Done, and without an answer."""
        return self.task.done() and (self.task.cancelled() or self.task.exception() is not None)

    def answer(self) -> bytes:
        """The answer. Raises the `Problem` that stands in its place. For a request that is done."""
        if self.task.cancelled() and self.stopped:
            raise Problem(DRAINING, f"request {self.id} was not finished before the server stopped", RETRY_AFTER_S)
        if self.task.cancelled():
            raise Problem(CANCELLED, f"request {self.id} was cancelled")
        error = self.task.exception()
        if error is None:
            return self.task.result()
        problem = problem_of(error)
        raise problem if problem is not None else Problem(INTERNAL, "the request failed; the server's log says how")


class RequestBook:
    """All requests that are open, and the answers that are kept."""

    def __init__(self, settings: GatewaySettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._open: dict[Key, Entry] = {}
        self._kept: OrderedDict[Key, Entry] = OrderedDict()
        self._kept_bytes = 0
        self._changed = asyncio.Event()

    @property
    def open(self) -> int:
        """Requests accepted and not answered."""
        return len(self._open)

    @property
    def kept(self) -> int:
        """Answers kept."""
        return len(self._kept)

    @property
    def kept_bytes(self) -> int:
        """Their size."""
        return self._kept_bytes

    def known(self, tenant: Tenant, request_id: str, fingerprint: str) -> Entry | None:
        """The entry of this id, if it is under way or answered: what failed is not. Raises `Problem` when the id stands
        for another request.
        """
        entry = self.find(tenant, request_id)
        if entry is not None and entry.fingerprint != fingerprint:
            raise Problem(
                CONFLICT,
                f"request_id: {request_id} was used for another request before: give each an id of its own",
                members={"field": "request_id"},
            )
        return None if entry is None or entry.failed else entry

    def begin(self, tenant: Tenant, request_id: str, fingerprint: str, run: Run, *, keep: bool) -> Entry:
        """The entry of this id: answered, under way, or begun now. `keep`: its caller chose the id.

        Raises `Problem` when the id stands for another request or there is no room.
        """
        known = self.known(tenant, request_id, fingerprint)
        if known is not None:
            return known
        self._check_room(tenant)
        self._drop_key((tenant.name, request_id))
        entry = Entry(tenant, request_id, fingerprint, keep)
        self._open[entry.key] = entry
        tenant.open += 1
        entry.task = asyncio.get_running_loop().create_task(run())
        entry.task.add_done_callback(lambda _: self._done(entry))
        return entry

    def find(self, tenant: Tenant, request_id: str) -> Entry | None:
        """This client's request of that id."""
        key = tenant.name, request_id
        found = self._open.get(key)
        if found is None and (found := self._kept.get(key)) is not None:
            if self._clock() - found.done_at > self._settings.remember_s:
                self._drop(found)
                return None
            self._kept.move_to_end(key)
        return found

    def get(self, tenant: Tenant, request_id: str) -> Entry:
        """As `find`. Raises `Problem` when there is none."""
        entry = self.find(tenant, request_id)
        if entry is None:
            raise self.unknown(request_id)
        return entry

    def unknown(self, request_id: str) -> Problem:
        """What is said of a request that this client never made; the same whether another client did."""
        return Problem(NOT_FOUND, f"no request {request_id} of this key is known: it was never made, or is forgotten")

    def join(self, entry: Entry) -> None:
        """One more call waits for the answer."""
        entry.waiters += 1

    def leave(self, entry: Entry) -> None:
        """A call waits no more. A request that nobody waits for is ended, unless its caller was told to ask again."""
        entry.waiters -= 1
        if not entry.waiters and not entry.task.done() and not entry.detached:
            self.cancel(entry)

    @contextmanager
    def waiting(self, entry: Entry) -> Iterator[None]:
        """`join` and `leave` around a wait."""
        self.join(entry)
        try:
            yield
        finally:
            self.leave(entry)

    def detach(self, entry: Entry) -> None:
        """Its caller was told to ask again: let it go on by itself."""
        entry.keep = entry.detached = True

    def cancel(self, entry: Entry) -> None:
        """End a request that is under way."""
        if not entry.task.done():
            entry.task.cancel()
            self._close(entry)

    def stop_all(self) -> None:
        """End everything that is under way, because the server stops: asked again, another may answer it."""
        for entry in list(self._open.values()):
            entry.stopped = True
            self.cancel(entry)

    async def drained(self) -> None:
        """Returns when nothing is open."""
        while self._open:
            await self._change()

    def has_room(self, tenant: Tenant) -> bool:
        """Whether one more request of this client could be begun now."""
        try:
            self._check_room(tenant)
        except Problem:
            return False
        return tenant.delay_s() == 0

    async def room(self, tenant: Tenant) -> None:
        """Wait until one more request of this client can be begun: for batches, which would rather wait than be
        refused.
        """
        while not self.has_room(tenant):
            delay = tenant.delay_s()
            await (asyncio.sleep(delay) if delay > 0 else self._change())

    def _check_room(self, tenant: Tenant) -> None:
        if len(self._open) >= self._settings.max_open:
            raise Problem(
                QUEUE_FULL,
                f"{len(self._open)} requests are open, which is all this server takes",
                RETRY_AFTER_S,
                {"queue_length": len(self._open)},
            )
        tenant.check_room()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _close(self, entry: Entry) -> None:
        if self._open.get(entry.key) is entry:
            del self._open[entry.key]
            entry.tenant.open -= 1
            self._changed.set()

    def _done(self, entry: Entry) -> None:
        self._close(entry)
        entry.done_at = self._clock()
        task = entry.task
        error = None if task.cancelled() else task.exception()
        if error is not None and problem_of(error) is None:
            logger.error("request %s of %s failed in an unforeseen way", entry.id, entry.tenant.name, exc_info=error)
        if not entry.keep or (entry.failed and not entry.detached) or entry.key in self._open:
            return
        self._kept[entry.key] = entry
        self._kept_bytes += _size(entry)
        settings = self._settings
        while len(self._kept) > settings.remembered or self._kept_bytes > settings.remembered_bytes:
            self._drop(next(iter(self._kept.values())))

    def _drop_key(self, key: Key) -> None:
        if (entry := self._kept.get(key)) is not None:
            self._drop(entry)

    def _drop(self, entry: Entry) -> None:
        if self._kept.get(entry.key) is entry:
            del self._kept[entry.key]
            self._kept_bytes -= _size(entry)


def _size(entry: Entry) -> int:
    return 0 if entry.failed else len(entry.task.result())
