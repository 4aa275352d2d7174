"""Leaf provers that a gateway serves by name: each a TOML file with a `[leaf]` section, as an eval config has it."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from rlmath.leaf.config import LeafConfig, OpenAILeaf, RecordedLeaf, TacticsLeaf
from rlmath.validation import read_toml, validate


class _LeafFile(BaseModel):
    """The file; it may be an eval config, whose other keys are of no matter here."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    leaf: LeafConfig


def load_leaf(path: Path) -> TacticsLeaf | OpenAILeaf | RecordedLeaf:
    """Read the section; a relative path in it is relative to the file. Raises `InputError`."""
    leaf = validate(_LeafFile, read_toml(path), where=str(path)).leaf
    if isinstance(leaf, OpenAILeaf) and leaf.cache is not None:
        leaf = leaf.model_copy(update={"cache": path.resolve().parent / leaf.cache})
    return leaf
