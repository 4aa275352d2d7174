"""rlmath: decomposition plans for Lean 4 goals, judged by the Lean kernel, stage by stage.

Importing this package is cheap: it never imports ray, verifiers, openenv or openai.
"""

from rlmath.errors import InputError, KernelUnavailable, LeafUnavailable, RlmathError, Unavailable
from rlmath.types import (
    Budgets,
    EpisodeResult,
    GoalSpec,
    KernelIdentity,
    Lemma,
    LemmaOutcome,
    LemmaStatus,
    Plan,
    StageReport,
    StageStatus,
    Status,
)

__all__ = [
    "Budgets",
    "EpisodeResult",
    "GoalSpec",
    "InputError",
    "KernelIdentity",
    "KernelUnavailable",
    "LeafUnavailable",
    "Lemma",
    "LemmaOutcome",
    "LemmaStatus",
    "Plan",
    "RlmathError",
    "StageReport",
    "StageStatus",
    "Status",
    "Unavailable",
]
__version__ = "0.1.0"
