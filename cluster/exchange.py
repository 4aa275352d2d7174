"""The worker's end of the wire to the scheduler: one call takes new checks there and brings whatever is answered back.

Measured against one call a check and against one streamed call a batch, this costs the scheduler the least
(`benchmarks/cluster_wire.py`), and no check waits for another: a call returns as soon as anything is answered,
whichever call brought it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from cluster.events import CheckJob
from cluster.logs import about
from cluster.renewal import ImageDied
from cluster.verdict_cache import Outcome
from rlmath.errors import KernelUnavailable, RlmathError
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.protocol import Kernel

logger = logging.getLogger(__name__)

GATHER_S = 0.05
"""Longest that an answer waits for others to travel with it. It costs the scheduler and the worker a millisecond or two
of CPU to send one, as much as it costs to send ten.
"""
JUDGE_SECONDS = Limits().judge_seconds
"""What a worker's judge has beyond the check's own time."""


@dataclass(frozen=True)
class CheckAnswer:
    """What became of one check: a result, an error, or neither when it was stopped as told."""

    job_id: int
    result: Outcome | None = None
    error: RlmathError | None = None
    killed: bool = False
    """The kernel's image died meanwhile."""


@dataclass(frozen=True)
class Parcel:
    """What one call takes to a worker."""

    life: str
    """Of the worker, for which it is meant."""
    jobs: Sequence[CheckJob]
    """Checks to begin."""
    stop: Sequence[int]
    """Checks to end."""
    wait: bool
    """Return when there is an answer, not at once."""

    def pack(self) -> bytes:
        """As bytes: Ray's own serialization of four arguments costs as much CPU as the rest of the call."""
        return pickle.dumps(self, pickle.HIGHEST_PROTOCOL)


def pack_answers(answers: Sequence[CheckAnswer]) -> bytes:
    """What a call brings back."""
    return pickle.dumps(answers, pickle.HIGHEST_PROTOCOL)


def unpack_answers(packed: bytes) -> Sequence[CheckAnswer]:
    """The inverse of `pack_answers`."""
    answers: Sequence[CheckAnswer] = pickle.loads(packed)
    return answers


def unpack_parcel(packed: bytes) -> Parcel:
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

    async def exchange(self, parcel: Parcel) -> Sequence[CheckAnswer]:
        """Begin `jobs`, end the checks in `stop`, return the answers that no call has returned yet.

        With `wait`, when there are none, wait for the first; return nothing once no check is running. Raises
        `KernelUnavailable` when the kernel is stuck.
        """
        for job in parcel.jobs:
            self._begin(job)
        for job_id in parcel.stop:
            task = self._running.get(job_id)
            if task is not None:
                task.cancel()
        if parcel.wait:
            while not self._answers and self._running and not self._closed:
                await self._next()
            await self._gather()
        if self.stuck:
            raise KernelUnavailable("the kernel does not answer")
        answers, self._answers = tuple(self._answers), []
        return answers

    async def _gather(self) -> None:
        """Let more answers travel in the same call, as long as no slot can fall idle for it, and not for long."""
        await asyncio.sleep(0)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GATHER_S):
                while len(self._running) > self._slots and not self._closed:
                    await self._next()

    async def _next(self) -> None:
        self._news.clear()
        await self._news.wait()

    async def close(self) -> None:
        """End every check; calls that wait return."""
        self._closed = True
        running = list(self._running.values())
        for task in running:
            task.cancel()
        self._news.set()
        await asyncio.gather(*running, return_exceptions=True)

    def _begin(self, job: CheckJob) -> None:
        # Nothing that came later can be ahead of this, and what is here already is no more than so many rounds of it.
        turns = turns_of(job.timeout_s, certify=job.reference is not None)
        rounds = math.ceil(len(self._running) / self._slots)
        longest = sum(turns) + len(turns) * rounds * max(self._timeouts.values(), default=0.0) + self._grace_s
        task = asyncio.create_task(self._check(job, longest))
        self._running[job.id], self._timeouts[job.id] = task, max(turns)
        # Not in the task itself: one that is cancelled before its first step never runs at all.
        task.add_done_callback(partial(self._ended, job.id))

    async def _check(self, job: CheckJob, longest_s: float) -> CheckAnswer:
        with about(job.request):
            return await self._answer(job, longest_s)

    async def _answer(self, job: CheckJob, longest_s: float) -> CheckAnswer:
        try:
            async with asyncio.timeout(longest_s):
                return CheckAnswer(job.id, result=await self._run(job))
        except TimeoutError:
            self.stuck = True
            return CheckAnswer(job.id, error=KernelUnavailable(f"the kernel gave no answer for {longest_s:.0f} s"))
        except RlmathError as error:
            return CheckAnswer(job.id, error=error, killed=isinstance(error, ImageDied))
        except Exception as error:
            logger.exception("check %d failed in an unforeseen way", job.id)
            return CheckAnswer(job.id, error=KernelUnavailable(f"{type(error).__name__}: {error}"))

    async def _run(self, job: CheckJob) -> Outcome:
        # What the audit reads and keeps never leaves this worker.
        if job.reference is None:
            return await self._kernel.check(job.source, timeout_s=job.timeout_s)
        return await self._kernel.certify(job.source, job.reference, timeout_s=job.timeout_s)

    def _ended(self, job_id: int, task: asyncio.Task[CheckAnswer]) -> None:
        del self._running[job_id], self._timeouts[job_id]
        self._answers.append(CheckAnswer(job_id) if task.cancelled() else task.result())
        self._news.set()


def turns_of(timeout_s: float, *, certify: bool) -> list[float]:
    """How long each process may take that a check waits for, one after the other."""
    return [timeout_s] if not certify else [timeout_s, timeout_s, timeout_s + JUDGE_SECONDS]
