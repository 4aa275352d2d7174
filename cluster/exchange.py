"""What travels between the scheduler and a worker, and the worker's end of it: parcels of checks one way, batches of
answers the other.

There are two ways (`ways.py`). On a line of our own (`line.py`) both are sent as they come. Where there is none, one
call of Ray takes a parcel there and brings back whatever is answered: against one call a check and one streamed call
a batch, this costs the scheduler the least (`benchmarks/cluster_wire.py`), and no check waits for another, for a call
returns as soon as anything is answered, whichever call brought it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import pickle
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import NamedTuple

from cluster.events import CheckJob
from cluster.line import Line
from cluster.logs import about
from cluster.renewal import ImageDied
from cluster.verdict_cache import Outcome
from rlmath.errors import KernelUnavailable, RlmathError
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.protocol import Kernel, Source

logger = logging.getLogger(__name__)

GATHER_S = 0.05
"""Longest that an answer waits for others to travel with it. On a line it pays too, for each frame wakes both ends:
with two slots and 64 requests in flight they took 12.0 ms of CPU an episode (`benchmarks/cluster_rate.py`); with 10 ms
to wait 15.5, with none 15.3. An answer behind which no check waits for a slot is not kept.
"""
JUDGE_SECONDS = Limits().judge_seconds
"""What a worker's judge has beyond the check's own time."""


class Check(NamedTuple):
    """What a worker has to know of a `CheckJob`; a tuple, for that pickles fastest."""

    id: int
    source: Source
    timeout_s: float
    reference: Source | None = None
    request: str = ""

    @classmethod
    def of(cls, job: CheckJob) -> Check:
        """The worker's part of it."""
        return cls(job.id, job.source, job.timeout_s, job.reference, job.request)


class CheckAnswer(NamedTuple):
    """What became of one check: a result, an error, or neither when it was stopped as told."""

    job_id: int
    result: Outcome | None = None
    error: RlmathError | None = None
    killed: bool = False
    """The kernel's image died meanwhile."""


class Parcel(NamedTuple):
    """What goes to a worker at a time."""

    life: str
    """Of the worker, for which it is meant."""
    checks: Sequence[Check]
    """To begin."""
    stop: Sequence[int]
    """Checks to end."""
    wait: bool = False
    """Of a call: return when there is an answer, not at once."""

    def pack(self) -> bytes:
        """As bytes: Ray's own serialization of four arguments costs as much CPU as the rest of the call."""
        return pickle.dumps(self, pickle.HIGHEST_PROTOCOL)


def pack_answers(answers: Sequence[CheckAnswer] | RlmathError) -> bytes:
    """What a worker sends back: answers, or why it will give no more."""
    return pickle.dumps(answers, pickle.HIGHEST_PROTOCOL)


def unpack_answers(packed: bytes | bytearray) -> Sequence[CheckAnswer]:
    """The inverse of `pack_answers`. Raises what was sent instead of answers."""
    said: Sequence[CheckAnswer] | RlmathError = pickle.loads(packed)
    if isinstance(said, RlmathError):
        raise said
    return said


def unpack_parcel(packed: bytes | bytearray) -> Parcel:
    """The inverse of `Parcel.pack`."""
    parcel: Parcel = pickle.loads(packed)
    return parcel


class CheckSession:
    """The checks of one life of a worker. Every check that came in is answered exactly once."""

    def __init__(self, kernel: Kernel, slots: int, grace_s: float) -> None:
        """`slots`: how many checks the kernel makes at once. `grace_s`: how far beyond its deadline a check may be
        answered before the kernel counts as stuck.
        """
        self._kernel = kernel
        self._slots = slots
        self._grace_s = grace_s
        self.stuck = False
        """The kernel let a check's time pass without a word: it has to be replaced."""
        self._running: dict[int, asyncio.Task[CheckAnswer]] = {}
        self._timeouts: dict[int, float] = {}
        """The longest turn of each check."""
        self._answers: list[CheckAnswer] = []
        self._news = asyncio.Event()
        self._closed = False

    def take(self, parcel: Parcel) -> None:
        """Begin its checks, and end those that are to stop. Raises `KernelUnavailable` when the session is over."""
        if self._closed:
            raise KernelUnavailable("the worker's session is over")
        for check in parcel.checks:
            self._begin(check)
        for check_id in parcel.stop:
            task = self._running.get(check_id)
            if task is not None:
                task.cancel()

    async def exchange(self, parcel: Parcel) -> Sequence[CheckAnswer]:
        """Take a parcel, return the answers that were not given yet.

        With `wait`, when there are none, wait for the first; return nothing once no check is running. Raises
        `KernelUnavailable` when the kernel is stuck or the session is over.
        """
        self.take(parcel)
        if parcel.wait:
            while not self._answers and self._running and not self._closed:
                await self._next()
            await self._gather()
        return self._collected()

    async def pushed(self) -> AsyncIterator[Sequence[CheckAnswer]]:
        """All answers, some at a time, until the session is over. Raises `KernelUnavailable` for a stuck kernel."""
        while not self._closed:
            while not self._answers and not self._closed:
                await self._next()
            await self._gather()
            yield self._collected()

    def _collected(self) -> Sequence[CheckAnswer]:
        if self.stuck:
            raise KernelUnavailable("the kernel does not answer")
        answers, self._answers = tuple(self._answers), []
        return answers

    async def _gather(self) -> None:
        """Let more answers travel together, as long as no slot can fall idle for it, and not for long."""
        await asyncio.sleep(0)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GATHER_S):
                while len(self._running) > self._slots and not self._closed:
                    await self._next()

    async def _next(self) -> None:
        self._news.clear()
        await self._news.wait()

    def end(self) -> None:
        """End every check; whoever waits for answers is told that there are no more."""
        self._closed = True
        for task in self._running.values():
            task.cancel()
        self._news.set()

    async def close(self) -> None:
        """`end`, and wait until all have ended."""
        running = list(self._running.values())
        self.end()
        await asyncio.gather(*running, return_exceptions=True)

    def _begin(self, check: Check) -> None:
        # Nothing that came later can be ahead of this, and what is here already is no more than so many rounds of it.
        turns = turns_of(check.timeout_s, certify=check.reference is not None)
        rounds = math.ceil(len(self._running) / self._slots)
        longest = sum(turns) + len(turns) * rounds * max(self._timeouts.values(), default=0.0) + self._grace_s
        task = asyncio.create_task(self._check(check, longest))
        self._running[check.id], self._timeouts[check.id] = task, max(turns)
        # Not in the task itself: one that is cancelled before its first step never runs at all.
        task.add_done_callback(partial(self._ended, check.id))

    async def _check(self, check: Check, longest_s: float) -> CheckAnswer:
        with about(check.request):
            return await self._answer(check, longest_s)

    async def _answer(self, check: Check, longest_s: float) -> CheckAnswer:
        try:
            async with asyncio.timeout(longest_s):
                return CheckAnswer(check.id, result=await self._run(check))
        except TimeoutError:
            self.stuck = True
            return CheckAnswer(check.id, error=KernelUnavailable(f"the kernel gave no answer for {longest_s:.0f} s"))
        except RlmathError as error:
            return CheckAnswer(check.id, error=error, killed=isinstance(error, ImageDied))
        except Exception as error:
            logger.exception("check %d failed in an unforeseen way", check.id)
            return CheckAnswer(check.id, error=KernelUnavailable(f"{type(error).__name__}: {error}"))

    async def _run(self, check: Check) -> Outcome:
        # What the audit reads and keeps never leaves this worker.
        if check.reference is None:
            return await self._kernel.check(check.source, timeout_s=check.timeout_s)
        return await self._kernel.certify(check.source, check.reference, timeout_s=check.timeout_s)

    def _ended(self, job_id: int, task: asyncio.Task[CheckAnswer]) -> None:
        del self._running[job_id], self._timeouts[job_id]
        self._answers.append(CheckAnswer(job_id) if task.cancelled() else task.result())
        self._news.set()


class ServedLine:
    """The worker's end of a line (`line.End`): what comes begins and ends checks of a session, and their answers go out
    as they come.
    """

    def __init__(self, session: CheckSession) -> None:
        self._session = session
        self._line: Line | None = None
        self._pushing: asyncio.Task[None] | None = None

    def opened(self, line: Line) -> None:
        """See `line.End`."""
        self._line = line

    def took(self, frame: bytes | bytearray) -> None:
        """See `line.End`."""
        self._session.take(unpack_parcel(frame))
        if self._pushing is None:
            self._pushing = asyncio.create_task(self._push())
            self._pushing.add_done_callback(self._pushed)

    def broke(self, reason: str) -> None:
        """The scheduler is gone, or has given this life up: nobody waits for its checks. A line that has carried
        nothing ends nothing: its scheduler may have given up waiting for it, and go by calls.
        """
        if self._pushing is not None:
            logger.info("%s: ending the checks that came by it", reason)
            self._session.end()

    async def _push(self) -> None:
        assert self._line is not None
        try:
            async for answers in self._session.pushed():
                self._line.send(pack_answers(answers))
        except KernelUnavailable as error:
            self._line.send(pack_answers(error))

    def _pushed(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            logger.error("answers could not be sent", exc_info=task.exception())
            assert self._line is not None
            # The scheduler then has the checks made elsewhere.
            self._line.close()
            self._session.end()


def turns_of(timeout_s: float, *, certify: bool) -> list[float]:
    """How long each process may take that a check waits for, one after the other."""
    return [timeout_s] if not certify else [timeout_s, timeout_s, timeout_s + JUDGE_SECONDS]
