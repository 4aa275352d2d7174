"""A leaf prover whose tokens count against caps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from cluster.caps import AccountKey, Accounts, Hold, Resource
from rlmath.errors import CapReached, InputError
from rlmath.leaf.config import OpenAILeaf
from rlmath.leaf.protocol import LeafAttempt, LeafProver, LeafTask

PROMPT_BYTES = 8_192
"""Of a prompt beside the statement, the goal's context and the config's header. A token is at least one byte."""


class TokenMeter:
    """Holds the most tokens that attempts may use before they are asked for, and charges what they did use."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._changed = asyncio.Event()

    async def hold(self, keys: tuple[AccountKey, ...], amount: int) -> Hold:
        """Waits while others hold what is needed. Raises `CapReached` when too much is spent."""
        while True:
            held = self._accounts.hold(keys, Resource.MODEL_TOKENS, amount)
            if isinstance(held, Hold):
                return held
            if isinstance(held, CapReached):
                raise held
            self._changed.clear()
            await self._changed.wait()

    def settle(self, hold: Hold, used: int) -> int:
        """What was used is charged; returns the charge."""
        charged = self._accounts.settle(hold, used)
        self.changed()
        return charged

    def changed(self) -> None:
        """There may be room where there was none."""
        self._changed.set()


class MeteredProver:
    """A request's prover. Attempts that fail for reasons of infrastructure, or are cancelled, are not charged."""

    def __init__(
        self,
        prover: LeafProver,
        config: OpenAILeaf,
        meter: TokenMeter,
        accounts: tuple[AccountKey, ...],
        charged: Callable[[int], None],
    ) -> None:
        """`charged`: told the tokens of each charge."""
        self._prover, self._config, self._meter = prover, config, meter
        self._keys, self._charged = accounts, charged

    @property
    def identity(self) -> str:
        """The prover's own."""
        return self._prover.identity

    @property
    def max_attempts(self) -> int | None:
        """The prover's own."""
        return self._prover.max_attempts

    async def attempts(self, task: LeafTask, indices: Sequence[int]) -> Sequence[LeafAttempt]:
        """See `LeafProver.attempts`. Raises `CapReached` when the most that they may use is not left."""
        hold = await self._meter.hold(self._keys, len(indices) * self._most(task))
        used = 0
        try:
            attempts = await self._prover.attempts(task, indices)
            used = sum(a.prompt_tokens + a.completion_tokens for a in attempts if not a.cached)
            return attempts
        finally:
            charged = self._meter.settle(hold, used)
            if charged:
                self._charged(charged)

    def _most(self, task: LeafTask) -> int:
        if self._config.max_tokens is None:
            raise InputError("leaf.max_tokens", "must be set for a run whose tokens are counted")
        texts = (task.prop, task.context, self._config.header or "")
        return self._config.max_tokens + PROMPT_BYTES + sum(len(t.encode("utf-8", "surrogatepass")) for t in texts)
