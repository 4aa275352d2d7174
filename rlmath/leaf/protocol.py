"""What a leaf prover is to the pipeline: a numbered supply of proof texts for one statement.

A prover only writes; the kernel checks, and `rlmath.accounting` counts. Attempt `i` of a statement is the same text
whenever and wherever it is asked for (deterministic, or cached), so a run can be resumed, topped up and repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class LeafTask:
    """One statement to prove."""

    prop: str
    context: str = ""
    """The goal's trusted declarations."""
    name: str = "lemma"
    """The lemma's name in its plan; for recorded proofs and for people, never part of a cache key."""


@dataclass(frozen=True)
class LeafAttempt:
    """One numbered attempt. `proof` None is a spent attempt all the same (an unparsable reply, say)."""

    index: int
    proof: str | None
    """Tactic text to stand after `by` (no leading `by`), possibly several lines."""
    detail: str = ""
    """Why there is no proof."""
    prompt_tokens: int = field(default=0, compare=False)
    completion_tokens: int = field(default=0, compare=False)
    cached: bool = field(default=False, compare=False)
    """Came from the attempt cache: no generation was paid for."""


class LeafProver(Protocol):
    """A source of attempts. Raises `LeafUnavailable` when it cannot produce them; nothing is charged then."""

    @property
    def identity(self) -> str:
        """Names the prover and all that changes its distribution, e.g. `tactics@1a2b` or `openai:model@host`."""
        ...

    @property
    def max_attempts(self) -> int | None:
        """How many different attempts it has for one statement; None: no bound. Budgets above it are not spent."""
        ...

    async def attempts(self, task: LeafTask, indices: Sequence[int]) -> Sequence[LeafAttempt]:
        """The attempts with these indices, in their order. Cancelling the call stops the generation."""
        ...
