"""What a process scores with: a kernel and a leaf prover of its own, or a scoring service.

A service is named in a config (`rlmath.envs.remote`). A kernel fits neither into a config nor onto verifiers' wire, so
a process registers it once and every rollout looks it up when it is scored. An environment can therefore be built
first, or where there is nothing to score with at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rlmath.episode import run_episode
from rlmath.errors import InputError
from rlmath.goals import GoalsSeen
from rlmath.kernel.protocol import Kernel
from rlmath.leaf.protocol import LeafProver
from rlmath.types import Budgets, EpisodeResult, GoalSpec

if TYPE_CHECKING:
    from rlmath.envs.goals import GoalSource


class Scorer(Protocol):
    """Something that judges completions: `LocalScorer`, or the client of a scoring service."""

    async def score(self, goal: GoalSpec, completion: str, budgets: Budgets, request_id: str) -> EpisodeResult:
        """The verdict on one completion.

        Asked again with the same `request_id`, a service answers the same and charges nothing. Raises `Unavailable`
        when there is no verdict, and `InputError` when the goal itself is at fault. Cancelling the call ends the work.
        """
        ...


@dataclass(frozen=True)
class LocalScorer:
    """Judges in this process."""

    kernel: Kernel
    leaf: LeafProver
    goals_seen: GoalsSeen = field(default_factory=GoalsSeen)

    async def score(self, goal: GoalSpec, completion: str, budgets: Budgets, request_id: str) -> EpisodeResult:
        """See `Scorer.score`. Nothing is remembered: the same `request_id` is judged again."""
        return await run_episode(
            goal, completion, kernel=self.kernel, leaf=self.leaf, budgets=budgets, goals_seen=self.goals_seen
        )


@dataclass(frozen=True)
class EpisodeResources:
    """What one process has. Every field is optional: a process may register its goals without having a kernel."""

    backend: Kernel | None = None
    leaf: LeafProver | None = None
    budgets: Budgets | None = None
    """For what the environment's config leaves open; None: the defaults of `Budgets`."""
    goals: GoalSource | None = None
    """For an environment that names no goals of its own."""
    scorer: Scorer | None = None
    """Judges instead of `backend` and `leaf`, which are then not to be given."""
    goals_seen: GoalsSeen = field(default_factory=GoalsSeen, repr=False, compare=False)
    """Which goals `backend` has accepted."""

    def __post_init__(self) -> None:
        if self.scorer is not None and (self.backend is not None or self.leaf is not None):
            raise InputError("resources.scorer", "judges instead of backend and leaf: give it or them, not both")
        if self.goals is not None and not isinstance(self.goals, str | Path):
            # Goals may come from an iterator, and an environment may be loaded more than once.
            object.__setattr__(self, "goals", tuple(self.goals))

    def live_scorer(self) -> Scorer | None:
        """What judges here; None when something is missing."""
        if self.scorer is not None or self.backend is None or self.leaf is None:
            return self.scorer
        return LocalScorer(self.backend, self.leaf, self.goals_seen)


class _Registry:
    resources: EpisodeResources | None = None


_REGISTRY = _Registry()
"""The one thing here that changes, and it has to be the process's: a framework builds tasks from configs alone, so
there is no object through which a rollout could be handed a kernel."""


def set_resources(resources: EpisodeResources | None) -> None:
    """Register what this process scores with, in place of what was registered before; None: nothing."""
    _REGISTRY.resources = resources


def get_resources() -> EpisodeResources | None:
    """What is registered, complete or not."""
    return _REGISTRY.resources


def live_resources() -> EpisodeResources:
    """What is registered, if an episode can be judged with it; else `RuntimeError` with the remedy. There is no
    fallback: a score without a kernel would read as a model that proves nothing."""
    resources = get_resources()
    if resources is None or resources.live_scorer() is None:
        given = resources or EpisodeResources()
        lacks = " and ".join(name for name in ("backend", "leaf") if getattr(given, name) is None)
        raise RuntimeError(
            f"no {lacks} to score with: set cluster_url in the task's config to a gateway's address (`rlmath serve`), "
            "or call rlmath.envs.set_resources(EpisodeResources(backend=a kernel, leaf=a leaf prover)) in the process "
            "that scores"
        )
    return resources


def resolve_budgets(knobs: Mapping[str, Any], resources: EpisodeResources | None) -> Budgets:
    """The budgets of an episode: each of `knobs` that is not None, else the registered ones, else the defaults."""
    base = (resources.budgets if resources is not None else None) or Budgets()
    return replace(base, **{name: value for name, value in knobs.items() if value is not None})
