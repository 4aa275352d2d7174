"""New constants as the audit sees them: what a kernel has to be told of them, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

AXIOM: Final = 0
DEFINITION: Final = 1
THEOREM: Final = 2
OPAQUE: Final = 3
INDUCTIVE: Final = 5
CONSTRUCTOR: Final = 6
RECURSOR: Final = 7
"""Tags of `Lean.ConstantInfo`; 4 is the quotient, which only a prelude may bring in."""


@dataclass(frozen=True)
class Constant:
    """One new constant, as far as the kernel needs to be told of it. Names and terms are numbers of `Tables`."""

    kind: int
    name: int
    levels: tuple[int, ...]
    """Names of its universe parameters."""
    type: int = 0
    """0 for a recursor: the kernel makes its own."""
    value: int = 0
    """Of a definition, theorem or opaque constant; else 0."""
    hint: int = 0
    """Of a definition: how eagerly to unfold it. -2 opaque, -1 abbreviation, else its height."""
    parameters: int = 0
    """Of an inductive type."""
    block: tuple[int, ...] = ()
    """Of an inductive type: all types of its mutual block."""
    constructors: tuple[int, ...] = ()
    """Of an inductive type."""
    belongs_to: int = 0
    """Of a constructor or recursor: the inductive type."""


@dataclass(frozen=True)
class Module:
    """All new constants of one environment."""

    constants: dict[int, Constant]
    """By name."""
    left_out: frozenset[int] = field(default_factory=frozenset)
    """Names of unsafe and partial definitions, which the kernel is not told of; so nothing can use them."""
