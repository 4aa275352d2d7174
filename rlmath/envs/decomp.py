"""The decomposition environment: everything of it that a caller needs, under one name.

This module imports without verifiers, and without importing it: the names that need it are looked up on first use, and
raise an `ImportError` that says what to install.

    taskset = build_taskset(goals="goals.jsonl", backend=kernel, leaf=prover)    # verifiers v1: what to use
    env = load_environment(goals="goals.jsonl", backend=kernel, leaf=prover)     # verifiers v0, before 0.4
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlmath.envs.goals import GoalSource, demo_goals, load_goals, resolve_goals
from rlmath.envs.remote import ClusterAddress, ClusterScorer
from rlmath.envs.report import INFO_DETAIL_CHARS, INFO_KEY
from rlmath.envs.resources import (
    EpisodeResources,
    LocalScorer,
    Scorer,
    get_resources,
    live_resources,
    set_resources,
)
from rlmath.envs.scoring import SCORE_TIMEOUT_S, Unscored, score_plan
from rlmath.errors import InputError
from rlmath.kernel.protocol import Kernel
from rlmath.leaf.protocol import LeafProver
from rlmath.prompt import SYSTEM_PROMPT, user_message
from rlmath.types import Budgets

if TYPE_CHECKING:
    from verifiers.legacy import Environment

    from rlmath.envs.harness import DirectHarness, DirectHarnessConfig
    from rlmath.envs.taskset import (
        DecompositionConfig,
        DecompositionData,
        DecompositionTask,
        DecompositionTaskConfig,
        DecompositionTaskset,
    )


def _verifiers_ships(package: str) -> bool:
    """Whether the installed verifiers has this subpackage; a look at its files, no import."""
    spec = find_spec("verifiers")
    places = (spec.submodule_search_locations if spec is not None else None) or ()
    return any((Path(place) / package / "__init__.py").is_file() for place in places)


HAS_VERIFIERS_V0 = _verifiers_ships("legacy")
"""verifiers' v0 stack is installed: `load_environment` works."""
HAS_VERIFIERS_V1 = _verifiers_ships("v1")
"""verifiers' v1 stack is installed: the taskset and the harness work."""
HAS_VERIFIERS = HAS_VERIFIERS_V0 or HAS_VERIFIERS_V1

NEED_V1 = {
    "DecompositionConfig": "taskset",
    "DecompositionData": "taskset",
    "DecompositionTask": "taskset",
    "DecompositionTaskConfig": "taskset",
    "DecompositionTaskset": "taskset",
    "DirectHarness": "harness",
    "DirectHarnessConfig": "harness",
}
"""Names that are classes of verifiers v1, and where they are."""


def build_taskset(
    goals: GoalSource | None = None,
    *,
    backend: Kernel | None = None,
    leaf: LeafProver | None = None,
    scorer: Scorer | None = None,
    budgets: Budgets | None = None,
    system_prompt: str | Path | None = None,
) -> DecompositionTaskset:
    """A v1 taskset, ready to be iterated; what is given to it is registered for the rollouts (`set_resources`).

    `goals`: a JSONL file, or goals as objects; default: the registered ones, else the demo set. `backend` and `leaf`,
    or `scorer`: what scores; default: what is registered when a rollout is scored. `budgets`: written into the tasks'
    config. `system_prompt`: a file that replaces `SYSTEM_PROMPT`.

    Raises `InputError` for unusable goals, `ImportError` without verifiers v1.
    """
    _require_v1()
    from rlmath.envs import taskset

    if goals is not None and not isinstance(goals, str | Path):
        goals = tuple(load_goals(goals))
    given = {"backend": backend, "leaf": leaf, "scorer": scorer, "budgets": budgets, "goals": goals}
    _register({name: value for name, value in given.items() if value is not None})
    prompt = Path(system_prompt) if system_prompt is not None else None
    return taskset.build(goals, asdict(budgets) if budgets is not None else {}, prompt)


def load_environment(
    goals: GoalSource | None = None,
    *,
    backend: Kernel | None = None,
    leaf: LeafProver | None = None,
    scorer: Scorer | None = None,
    budgets: Budgets | Mapping[str, Any] | None = None,
    system_prompt: str | Path | None = None,
    cluster_url: str | None = None,
    cluster_api_key_env: str | None = None,
    cluster_leaf: str | None = None,
) -> Environment:
    """A v0 environment. What is given to it is used by it alone; the rest as for `build_taskset`.

    `budgets` may be a mapping, as a command line's JSON has it. `cluster_…`: the gateway that scores, as in
    `DecompositionTaskConfig`. Raises `ImportError` without verifiers v0, which 0.4 has dropped.
    """
    if not HAS_VERIFIERS_V0:
        raise ImportError(
            "load_environment needs verifiers' v0 stack, which verifiers 0.4 has dropped: use the v1 taskset "
            '(build_taskset, or the id "rlmath-decomp"), or install verifiers<0.4'
            if HAS_VERIFIERS_V1
            else 'load_environment needs verifiers before 0.4: pip install "rlmath[envhub]" "verifiers<0.4"'
        )
    from rlmath.envs import legacy

    if budgets is not None and not isinstance(budgets, Budgets):
        budgets = _budgets(budgets)
    if cluster_url is not None:
        if backend is not None or leaf is not None or scorer is not None:
            raise InputError("cluster_url", "scores instead of backend, leaf or scorer: give it or them, not both")
        scorer = ClusterScorer(ClusterAddress(cluster_url, cluster_api_key_env, cluster_leaf), SCORE_TIMEOUT_S)
    elif cluster_api_key_env is not None or cluster_leaf is not None:
        raise InputError("cluster_url", "is missing: cluster_api_key_env and cluster_leaf go with it")
    own = None
    if backend is not None or leaf is not None or scorer is not None:
        own = EpisodeResources(backend=backend, leaf=leaf, scorer=scorer)
    prompt = SYSTEM_PROMPT if system_prompt is None else _read(Path(system_prompt))
    return legacy.build(resolve_goals(goals), own, budgets, prompt)


def __getattr__(name: str) -> Any:
    if name not in NEED_V1:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _require_v1()
    return getattr(import_module(f"rlmath.envs.{NEED_V1[name]}"), name)


def _require_v1() -> None:
    if not HAS_VERIFIERS_V1:
        raise ImportError(
            'the decomposition environment needs verifiers 0.3.1 or newer: pip install "rlmath[envhub]" '
            "(in a checkout: uv sync --extra envhub)"
        )


def _register(given: dict[str, Any]) -> None:
    """Register what was given, beside what is registered."""
    if not given:
        return
    known = get_resources() or EpisodeResources()
    if "scorer" in given and not given.keys() & {"backend", "leaf"}:
        known = replace(known, backend=None, leaf=None)
    if given.keys() & {"backend", "leaf"} and "scorer" not in given:
        known = replace(known, scorer=None)
    set_resources(replace(known, **given))


def _budgets(values: Mapping[str, Any]) -> Budgets:
    try:
        return Budgets(**values)
    except TypeError:
        raise InputError("budgets", f"takes {', '.join(asdict(Budgets()))}, got {', '.join(values)}") from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("system_prompt", f"cannot read {path}: {error}") from None


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
