"""Idempotent requests: one id, one run, one verdict."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from rlmath.errors import InputError
from rlmath.types import EpisodeResult


@dataclass
class UnderWay:
    """A run that has not ended."""

    fingerprint: str
    task: asyncio.Task[EpisodeResult]
    waiters: int = 0
    ending: bool = False
    """It was cancelled, and is not over yet."""


class RequestTable:
    """Runs under way and verdicts given. A result that is no evidence is not kept: asking again runs again."""

    def __init__(
        self, remembered: int, *, recall: Callable[[str], tuple[str, EpisodeResult] | None] = lambda _: None
    ) -> None:
        """`remembered`: most verdicts kept here; the one asked for longest ago goes first. `recall`: finds those that
        are not: fingerprint and result of an id.
        """
        self._remembered = remembered
        self._recall = recall
        self._running: dict[str, UnderWay] = {}
        self._done: OrderedDict[str, tuple[str, EpisodeResult]] = OrderedDict()
        self.answered = 0
        """Runs that ended with a result."""

    @property
    def open(self) -> int:
        """Runs under way."""
        return len(self._running)

    async def once(
        self, request_id: str, fingerprint: str, run: Callable[[], Coroutine[Any, Any, EpisodeResult]]
    ) -> EpisodeResult:
        """The result of this id: the one already given, the one under way, or a new run's.

        A run is cancelled when the last caller that waits for it is. Until it is over no other begins: both would write
        the same row of the journal. Raises `InputError` when the id was used for another request.
        """
        while (earlier := self._running.get(request_id)) is not None and earlier.ending:
            await asyncio.wait((earlier.task,))
        if request_id not in self._done and request_id not in self._running:
            recalled = self._recall(request_id)
            if recalled is not None:
                self._remember(request_id, *recalled)
        if request_id in self._done:
            known, result = self._done[request_id]
            _same(known, fingerprint)
            self._done.move_to_end(request_id)
            return result
        under_way = self._running.get(request_id)
        if under_way is None:
            under_way = self.begin(request_id, fingerprint, run)
        else:
            _same(under_way.fingerprint, fingerprint)
        under_way.waiters += 1
        try:
            return await asyncio.shield(under_way.task)
        finally:
            under_way.waiters -= 1
            if not under_way.waiters and not under_way.task.done():
                under_way.ending = True
                under_way.task.cancel()

    async def known(self, request_id: str) -> EpisodeResult | None:
        """The result of an id that was asked for before, as soon as there is one; None when it never was.

        Waiting here keeps no run alive, and ends none.
        """
        under_way = self._running.get(request_id)
        if request_id not in self._done and under_way is not None and not under_way.ending:
            return await asyncio.shield(under_way.task)
        found = self._done.get(request_id) or self._recall(request_id)
        return None if found is None else found[1]

    def begin(
        self, request_id: str, fingerprint: str, run: Callable[[], Coroutine[Any, Any, EpisodeResult]]
    ) -> UnderWay:
        """Begin a run that nobody waits for yet: it goes on by itself until somebody has waited and left."""
        under_way = self._running[request_id] = UnderWay(fingerprint, asyncio.create_task(run()))
        under_way.task.add_done_callback(lambda _: self._ended(request_id, under_way))
        return under_way

    def _ended(self, request_id: str, run: UnderWay) -> None:
        del self._running[request_id]
        if run.task.cancelled() or run.task.exception() is not None:
            return
        self.answered += 1
        result = run.task.result()
        if result.status.is_evidence:
            self._remember(request_id, run.fingerprint, result)

    def _remember(self, request_id: str, fingerprint: str, result: EpisodeResult) -> None:
        self._done[request_id] = fingerprint, result
        while len(self._done) > self._remembered:
            self._done.popitem(last=False)


def _same(known: str, asked: str) -> None:
    if known != asked:
        raise InputError("request_id", "was used for another request before: give each request an id of its own")
