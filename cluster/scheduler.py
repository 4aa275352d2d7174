"""The scheduler actor: runs the pipeline for every request over a pool of Lean workers."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import RayError

from cluster.api import ClusterSettings, ClusterStatus, ScoreRequest, error_result
from cluster.failures import reason_of
from cluster.pool import Placement, WorkerPool
from cluster.remote_kernel import RemoteKernel
from cluster.remote_leaf import RemoteProver
from cluster.requests import RequestTable
from cluster.workers import LeafWorker
from rlmath.episode import DEFAULT_SPECULATION, run_episode
from rlmath.errors import InputError, Unavailable
from rlmath.goals import GoalsSeen
from rlmath.leaf.config import OpenAILeaf, check_attempts, make_prover
from rlmath.leaf.protocol import LeafProver
from rlmath.types import EpisodeResult

logger = logging.getLogger(__name__)


class Scheduler:
    """One a cluster session. Its workers are its own: they end with it."""

    def __init__(self, placements: Sequence[Placement], settings: ClusterSettings) -> None:
        self._placements = tuple(placements)
        self._settings = settings
        self._pool: WorkerPool | None = None
        self._leaves: Any = None
        self._leaf_models: dict[str, RemoteProver] = {}
        self._goals = GoalsSeen()
        self._requests = RequestTable(settings.remembered)
        self._numbers = itertools.count()
        self._room = asyncio.Semaphore(settings.max_running)
        self._waiting = 0

    async def score(self, request: ScoreRequest) -> EpisodeResult:
        """The verdict, or a result of `Status.ERROR` whose detail says what infrastructure (or the goal) is at fault.

        Raises `InputError` for a request that nobody could score: an id used before for something else, a leaf that
        cannot work.
        """
        return await self._requests.once(request.request_id, request.fingerprint(), lambda: self._run(request))

    async def status(self) -> ClusterStatus:
        """A snapshot. The first call starts the workers."""
        pool = self._workers()
        return ClusterStatus(
            workers=pool.workers(),
            kernel=pool.known_identity,
            queued=pool.book.queued,
            in_flight=pool.book.in_flight,
            requests_running=self._requests.open - self._waiting,
            requests_waiting=self._waiting,
            requests_done=self._requests.answered,
            checks_done=pool.book.done,
            retries=pool.book.retries,
        )

    async def close(self) -> None:
        """End all checks and workers. The caller then kills this actor."""
        if self._pool is not None:
            await self._pool.close()
        if self._leaves is not None:
            ray.kill(self._leaves, no_restart=True)

    def _workers(self) -> WorkerPool:
        # Not in __init__: that runs outside the actor's loop, and again after a restart.
        if self._pool is None:
            self._pool = WorkerPool(self._placements, self._settings)
            self._pool.start()
        return self._pool

    async def _run(self, request: ScoreRequest) -> EpisodeResult:
        number = next(self._numbers)  # the order of arrival, and so of service
        self._waiting += 1
        try:
            await self._room.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._judge(request, number)
        finally:
            self._room.release()

    async def _judge(self, request: ScoreRequest, number: int) -> EpisodeResult:
        goal = request.goal
        try:
            leaf = await self._prover(request)
            pool = self._workers()
            kernel = RemoteKernel(pool, await pool.identity(), number)
        except (Unavailable, RayError) as error:
            return error_result(goal, reason_of(error))
        try:
            return await run_episode(
                goal,
                request.completion,
                kernel=kernel,
                leaf=leaf,
                budgets=request.budgets,
                speculation=self._speculation(),
                goals_seen=self._goals,
            )
        except (Unavailable, RayError) as error:
            return error_result(goal, reason_of(error))
        except InputError as error:
            return error_result(goal, str(error))
        except Exception as error:
            # A fault of ours must not pass for the policy's, nor end the run of all the others.
            logger.exception("request %s failed in an unforeseen way", request.request_id)
            return error_result(goal, f"internal error: {type(error).__name__}: {error}")

    def _speculation(self) -> int:
        """Leaf attempts ahead of need use slots that would be idle; when other requests can use those, there are none."""
        others_fill_the_slots = self._requests.open > sum(placement.slots for placement in self._placements)
        return 0 if others_fill_the_slots else DEFAULT_SPECULATION

    async def _prover(self, request: ScoreRequest) -> LeafProver:
        check_attempts(request.leaf, request.budgets.leaf_attempts_per_lemma)
        if isinstance(request.leaf, OpenAILeaf):
            if self._leaves is None:
                actor_class: Any = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=0)(LeafWorker)
                self._leaves = actor_class.remote()
            key = request.leaf.model_dump_json()
            if key not in self._leaf_models:
                self._leaf_models[key] = await RemoteProver.connect(self._leaves, request.leaf)
            return self._leaf_models[key]
        return make_prover(request.leaf, recorded=request.recorded)
