"""Environments for RL frameworks: the decomposition environment (`rlmath.envs.decomp`), whose names these are.

Importing this imports no framework; the names that are classes of verifiers v1 are looked up on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlmath.envs import decomp
from rlmath.envs.decomp import (
    HAS_VERIFIERS,
    HAS_VERIFIERS_V0,
    HAS_VERIFIERS_V1,
    INFO_DETAIL_CHARS,
    INFO_KEY,
    SYSTEM_PROMPT,
    ClusterAddress,
    ClusterScorer,
    EpisodeResources,
    GoalSource,
    LocalScorer,
    Scorer,
    Unscored,
    build_taskset,
    demo_goals,
    get_resources,
    live_resources,
    load_environment,
    load_goals,
    resolve_goals,
    score_plan,
    set_resources,
    user_message,
)

if TYPE_CHECKING:
    from rlmath.envs.decomp import (
        DecompositionConfig,
        DecompositionData,
        DecompositionTask,
        DecompositionTaskConfig,
        DecompositionTaskset,
        DirectHarness,
        DirectHarnessConfig,
    )


def __getattr__(name: str) -> Any:
    if name not in decomp.NEED_V1:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(decomp, name)


__all__ = [
    "HAS_VERIFIERS",
    "HAS_VERIFIERS_V0",
    "HAS_VERIFIERS_V1",
    "INFO_DETAIL_CHARS",
    "INFO_KEY",
    "SYSTEM_PROMPT",
    "ClusterAddress",
    "ClusterScorer",
    "DecompositionConfig",
    "DecompositionData",
    "DecompositionTask",
    "DecompositionTaskConfig",
    "DecompositionTaskset",
    "DirectHarness",
    "DirectHarnessConfig",
    "EpisodeResources",
    "GoalSource",
    "LocalScorer",
    "Scorer",
    "Unscored",
    "build_taskset",
    "demo_goals",
    "get_resources",
    "live_resources",
    "load_environment",
    "load_goals",
    "resolve_goals",
    "score_plan",
    "set_resources",
    "user_message",
]
