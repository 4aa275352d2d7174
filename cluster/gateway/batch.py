"""Many requests of one call: begun in their order, a window of them at a time, each done whenever it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from cluster.gateway.problems import Problem, problem_of
from cluster.gateway.requests import Entry, RequestBook
from cluster.gateway.tenant import Tenant

Start = Callable[[], Entry]
"""Begins one item. Raises what `problem_of` knows when it cannot be begun."""


async def as_completed(
    book: RequestBook, tenant: Tenant, starts: Sequence[Start], window: int
) -> AsyncIterator[tuple[int, Entry | Problem]]:
    """Index and entry of each item that is done, or the problem that kept it from being begun.

    It waits for the client's rate and for room where a single request would be refused. Closing the iterator ends the
    items that nobody else waits for.
    """
    running: dict[asyncio.Task[bytes], list[tuple[int, Entry]]] = {}
    begun = count = 0
    try:
        while True:
            while begun < len(starts) and count < window:
                if not book.has_room(tenant):
                    if running:
                        break
                    await book.room(tenant)
                index, begun = begun, begun + 1
                try:
                    tenant.take()
                    entry = starts[index]()
                except Exception as error:
                    problem = problem_of(error)
                    if problem is None:
                        raise
                    yield index, problem
                    continue
                book.join(entry)
                count += 1
                running.setdefault(entry.task, []).append((index, entry))
            if not running:
                return
            pause = tenant.delay_s() if begun < len(starts) else 0.0
            done, _ = await asyncio.wait(running, timeout=pause or None, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                for index, entry in running.pop(task):
                    count -= 1
                    book.leave(entry)
                    yield index, entry
    finally:
        for entries in running.values():
            for _, entry in entries:
                book.leave(entry)


def answer_of(entry: Entry) -> bytes | Problem:
    """The answer of an entry that is done, or what stands in its place."""
    try:
        return entry.answer()
    except Problem as problem:
        return problem
