"""Runs one evaluation: inputs checked first, then every completion without a result judged, each result on disk
before it is counted."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

from rlmath import prompt
from rlmath.concurrency import together
from rlmath.errors import ClusterLost, InputError
from rlmath.evals.config import EvalConfig, PolicySection
from rlmath.evals.inputs import Completion, load_completions, load_goals
from rlmath.evals.progress import Progress
from rlmath.evals.sample import PolicySampler, PolicyUnavailable, Sample, system_prompt
from rlmath.evals.scorers import Score, no_evidence
from rlmath.evals.store import ResultsStore, Row, SampleStore, neighbour
from rlmath.kernel.config import EmbeddedKernelConfig
from rlmath.leaf.config import OpenAILeaf, check_attempts
from rlmath.leaf.sampler import api_key
from rlmath.types import EpisodeResult, GoalSpec, Status

NO_PART_OF_THE_RUN = {"api_key_env", "timeout_s", "max_retries", "max_in_flight", "max_requests_per_minute", "cache"}
"""A model's settings that change how a sample is fetched, not what is sampled."""


@dataclass(frozen=True)
class Sought:
    """One result that a run wants: a completion that is there, or one that the policy has still to write."""

    id: str
    goal: GoalSpec
    completion: Completion | None
    index: int = 0
    """Number of the policy's sample of this goal."""


@dataclass(frozen=True)
class EvalPlan:
    """A run whose inputs are all read and valid."""

    config: EvalConfig
    sought: tuple[Sought, ...]
    identity: dict[str, Any]
    """What results depend on, by section; see `ResultsStore`."""
    sampler: PolicySampler | None = None

    @property
    def run_id(self) -> str:
        """The same for the same inputs; the first part of every request id."""
        return _digest(self.identity)[:16]


@dataclass(frozen=True)
class Session:
    """What one call of `run` did."""

    judged: int
    """Results written in this session."""
    kept: int
    """Results that were there before."""
    wall_s: float
    """Seconds from the first dispatch to the last row on disk."""
    checks: int | None = None
    """Kernel checks that the cluster did for it; None: not known."""
    lost: str | None = None
    """How the cluster was lost on the way, which ended the session; None: it was not."""


def plan_eval(config: EvalConfig) -> EvalPlan:
    """Read and check everything that a run needs, writing nothing. Raises `InputError`."""
    goals = load_goals(config.goals)
    identity: dict[str, Any] = {
        "goals": _digest([asdict(goal) for goal in goals.values()]),
        "budgets": asdict(config.budgets),
        "leaf": config.leaf.model_dump(mode="json", exclude=NO_PART_OF_THE_RUN),
    }
    if not isinstance(config.kernel, EmbeddedKernelConfig):
        identity["kernel"] = config.kernel.model_dump(mode="json")
    check_attempts(config.leaf, config.budgets.leaf_attempts_per_lemma)
    if isinstance(config.leaf, OpenAILeaf) and config.cluster.address is None:
        api_key(config.leaf, "leaf")  # a cluster that is not of our making has an environment of its own
    sampler = None
    if config.policy is not None:
        identity["policy"] = _policy_identity(config.policy)
        sampler = PolicySampler(config.policy)
        sought = [
            Sought(f"{goal.id}#{index}", goal, None, index)
            for goal in goals.values()
            for index in range(config.policy.samples)
        ]
    else:
        assert config.completions is not None
        completions = load_completions(config.completions, goals)
        identity["completions"] = _digest([asdict(completion) for completion in completions])
        sought = [Sought(completion.id, goals[completion.goal_id], completion) for completion in completions]
    for name in ("goals", "completions"):
        if getattr(config, name) is not None and getattr(config, name).resolve() == config.out.resolve():
            raise InputError("out", f"is the {name} file {config.out}: results would overwrite it")
    return EvalPlan(config, tuple(sought), identity, sampler)


async def run(plan: EvalPlan, score: Score, store: ResultsStore, progress: Progress, stop: asyncio.Event) -> Session:
    """Judge what has no result yet, until done or until `stop` is set. What was finished by then is on disk; what was
    under way is dropped, uncharged, and done again by the next run. A cluster that is lost on the way ends the session
    (`Session.lost`): what it did not judge has no row. Raises `InputError` when the policy's server refuses the run as
    such."""
    started, kept, lost = time.monotonic(), len(store.rows), None
    progress.start(len(plan.sought), Counter(Status(row["status"]) for row in store.rows.values()))
    finished: asyncio.Queue[Row | None] = asyncio.Queue()
    writer = asyncio.create_task(_write(finished, store, progress))
    try:
        async with _open_policy(plan) as policy:
            judge = _Judge(plan.run_id, score, policy)
            # One iterator for all workers: each takes the next item when it is free.
            pending = iter([item for item in plan.sought if item.id not in store.rows])
            workers = [_work(pending, judge, finished) for _ in range(plan.config.cluster.max_in_flight)]
            await run_unless(stop, together(workers), writer)  # the writer ends early when the disk fails
    except ClusterLost as error:
        lost = str(error)
    finally:
        finished.put_nowait(None)
        await writer
        progress.close()
    return Session(len(store.rows) - kept, kept, time.monotonic() - started, lost=lost)


async def run_unless(stop: asyncio.Event, work: Coroutine[Any, Any, object], *guards: asyncio.Task[None]) -> None:
    """Run this until it is done, `stop` is set, or one of the guards ends; then nothing of it is left running."""
    working = asyncio.create_task(work)
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((working, stopped, *guards), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        stopped.cancel()
        working.cancel()
        await asyncio.wait((working,))


async def _work(pending: Iterator[Sought], judge: _Judge, finished: asyncio.Queue[Row | None]) -> None:
    for item in pending:
        finished.put_nowait(await judge.row(item))


async def _write(finished: asyncio.Queue[Row | None], store: ResultsStore, progress: Progress) -> None:
    """Put rows on disk as they come, all that are there at once in one go, until None comes."""
    more = True
    while more:
        rows = [await finished.get()]
        while not finished.empty():
            rows.append(finished.get_nowait())
        batch = [row for row in rows if row is not None]
        more = len(batch) == len(rows)
        await asyncio.to_thread(store.append, batch)
        progress.advance([Status(row["status"]) for row in batch])


class _Judge:
    """Turns one wanted result into its row."""

    def __init__(self, run_id: str, score: Score, policy: Policy | None) -> None:
        self._run_id, self._score, self._policy = run_id, score, policy

    async def row(self, item: Sought) -> Row:
        if item.completion is not None:
            return _row(item.id, await self._score(f"{self._run_id}/{item.id}", item.goal, item.completion))
        assert self._policy is not None
        try:
            drawn = await self._policy.draw(item)
        except PolicyUnavailable as error:
            return _row(item.id, no_evidence(item.goal.id, Status.ERROR, str(error)))
        if drawn.overflow is not None:
            result = no_evidence(item.goal.id, Status.CONTEXT_WINDOW_EXCEEDED, drawn.overflow)
        else:
            completion = Completion(item.id, item.goal.id, drawn.text)
            result = await self._score(f"{self._run_id}/{item.id}", item.goal, completion)
        return {**_row(item.id, result), "sample": drawn.facts()}


class Policy:
    """The policy's samples of one run: drawn once, kept beside the results, and read back at resume."""

    def __init__(self, sampler: PolicySampler, store: SampleStore) -> None:
        self._sampler, self._store = sampler, store
        self._writing = asyncio.Lock()

    async def draw(self, item: Sought) -> Sample:
        """The sample of this item. One that overflowed the window is not kept: its result says all there is to say."""
        row = self._store.rows.get(item.id)
        if row is not None:
            return Sample(text=row["completion"], **row["sample"])
        sample = await self._sampler.sample(item.goal, item.index)
        if sample.overflow is None:
            row = {"id": item.id, "goal_id": item.goal.id, "completion": sample.text, "sample": sample.facts()}
            async with self._writing:
                await asyncio.to_thread(self._store.append, [row])
        return sample


@asynccontextmanager
async def _open_policy(plan: EvalPlan) -> AsyncIterator[Policy | None]:
    if plan.sampler is None:
        yield None
        return
    store = SampleStore(neighbour(plan.config.out, ".completions.jsonl"))
    try:
        yield Policy(plan.sampler, store)
    finally:
        store.close()
        await plan.sampler.aclose()


def _row(row_id: str, result: EpisodeResult) -> Row:
    fields = result.to_json()
    first = {key: fields.pop(key) for key in ("goal_id", "status", "reward", "detail")}
    return {"id": row_id, **first, **fields}


def _policy_identity(section: PolicySection) -> dict[str, Any]:
    settings = section.model_dump(mode="json", exclude=NO_PART_OF_THE_RUN | {"system_prompt"})
    told = [system_prompt(section), prompt.user_message(GoalSpec("id", "p", context="c"))]
    return {**settings, "prompt": _digest(told)}


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("ascii")).hexdigest()
