"""The config file of `rlmath eval`: what it may say, and reading it. Every key is in `EvalConfig`; an unknown one is
an error. `rlmath eval --help` shows
an example.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from rlmath.errors import InputError
from rlmath.kernel.config import EmbeddedKernelConfig, KernelConfig, resolved
from rlmath.leaf.config import LeafConfig, ModelServer, OpenAILeaf, TacticsLeaf
from rlmath.types import Budgets
from rlmath.validation import read_toml, unknown_key, validate


class Section(BaseModel):
    """Base of the sections: unknown keys are errors, values are not coerced, instances do not change."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=())


def _budgets(value: Any) -> Any:
    if isinstance(value, Budgets):
        return value
    if not isinstance(value, Mapping):
        raise InputError("budgets", f"must be a section, got {value!r}")
    known = [field.name for field in dataclasses.fields(Budgets)]
    for key in value:
        if key not in known:
            raise InputError(f"budgets.{key}", unknown_key(str(key), known))
    return Budgets(**value)


class PolicySection(ModelServer):
    """`[policy]`: a model that writes the completions. Its keys are those of `ModelServer`, and:"""

    max_tokens: int | None = Field(default=None, ge=1)
    """Most tokens of one completion; None: what the model's window leaves."""
    samples: int = Field(default=1, ge=1)
    """Completions a goal."""
    system_prompt: Path | None = Field(default=None, strict=False)
    """A file that replaces `rlmath.prompt.SYSTEM_PROMPT`."""


class ClusterSection(Section):
    """`[cluster]`: where the scoring runs."""

    address: str | None = None
    """Ray address to join (`auto`, `ray://…`); None: a local cluster for the length of the run."""
    slots: int | None = Field(default=None, ge=1)
    """Checks at the same time on each node; None: its cores."""
    max_workers: int | None = Field(default=None, ge=1)
    """Have workers of `slots` each follow demand, from none to so many (`cluster.autoscale`); None: one on every node
    that is there."""
    idle_s: float = Field(default=300.0, ge=0)
    """With `max_workers`: how long a worker has to be surplus before it goes."""
    max_in_flight: int = Field(default=64, ge=1)
    """Completions under judgement at the same time."""
    require_isolation: bool = False
    """Refuse to score where checks cannot be isolated fully (`rlmath doctor` tells)."""


class EvalConfig(Section):
    """One evaluation. Paths are absolute once `load_config` has read them."""

    goals: Path = Field(strict=False)
    """JSONL of goals (`rlmath.evals.inputs.load_goals`)."""
    completions: Path | None = Field(default=None, strict=False)
    """JSONL of completions (`rlmath.evals.inputs.load_completions`)."""
    out: Path = Field(strict=False)
    """JSONL of results (`rlmath.evals.store`); its neighbours `.run.json` and `.lock` belong to it."""
    budgets: Annotated[Budgets, BeforeValidator(_budgets)] = Budgets()
    leaf: LeafConfig = TacticsLeaf()
    policy: PolicySection | None = None
    cluster: ClusterSection = ClusterSection()
    kernel: KernelConfig = EmbeddedKernelConfig()
    """Which Lean judges: docs/mathlib.md."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.completions is None) == (self.policy is None):
            found = "missing, and so is [policy]" if self.policy is None else "there, and so is [policy]"
            raise InputError("completions", f"{found}: one of them, and only one, says where completions come from")
        return self


def load_config(path: Path) -> EvalConfig:
    """Read and validate a config file; relative paths in it become absolute, relative to the file. Raises
    `InputError`."""
    data = read_toml(path, "the config file")
    try:
        config = validate(EvalConfig, data)
    except InputError as error:
        raise InputError(f"{path}: {error.field}" if error.field else str(path), error.problem) from None
    return _resolved(config, path.resolve().parent)


def _resolved(config: EvalConfig, base: Path) -> EvalConfig:
    policy = config.policy
    if policy is not None and policy.system_prompt is not None:
        policy = policy.model_copy(update={"system_prompt": base / policy.system_prompt})
    leaf = config.leaf
    if isinstance(leaf, OpenAILeaf) and leaf.cache is not None:
        leaf = leaf.model_copy(update={"cache": base / leaf.cache})
    return config.model_copy(
        update={
            "goals": base / config.goals,
            "completions": base / config.completions if config.completions is not None else None,
            "out": Path(os.path.normpath(base / config.out)),
            "policy": policy,
            "leaf": leaf,
            "kernel": resolved(config.kernel, base),
        }
    )
