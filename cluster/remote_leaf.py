"""A leaf model behind a `LeafWorker` actor as a `LeafProver`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ray
from ray.exceptions import RayError

from cluster.failures import cause_of, is_infrastructure, reason_of
from cluster.retry import RetryPolicy
from rlmath.errors import LeafUnavailable, RlmathError
from rlmath.leaf.config import OpenAILeaf
from rlmath.leaf.protocol import LeafAttempt, LeafTask

Observer = Callable[[float, Sequence[LeafAttempt]], None]
"""Of a call: seconds, and what it brought."""
RESTARTING = RetryPolicy(attempts=7, first_pause_s=0.5)
"""A leaf actor that died is back within seconds."""


class RemoteProver:
    """Attempts of one configuration. Made by `connect`."""

    def __init__(
        self, actor: Any, config: OpenAILeaf, identity: str, max_attempts: int | None, observed: Observer
    ) -> None:
        self._actor, self._config, self._identity, self._max_attempts = actor, config, identity, max_attempts
        self._observed = observed

    @classmethod
    async def connect(cls, actor: Any, config: OpenAILeaf, observed: Observer) -> RemoteProver:
        """Ask the actor about the prover. `observed`: told of each call that brought attempts.

        Raises `InputError` for a configuration that cannot work, `LeafUnavailable` without an actor.
        """
        identity, max_attempts = await _call(partial(actor.describe.remote, config))
        return cls(actor, config, identity, max_attempts, observed)

    @property
    def identity(self) -> str:
        """The prover's own."""
        return self._identity

    @property
    def max_attempts(self) -> int | None:
        """The prover's own."""
        return self._max_attempts

    async def attempts(self, task: LeafTask, indices: Sequence[int]) -> Sequence[LeafAttempt]:
        """See `LeafProver.attempts`. An actor that died is asked again; the attempt cache keeps that from being paid
        for twice.
        """
        begin = partial(self._actor.attempts.remote, self._config, task, tuple(indices))
        began = time.monotonic()
        made: tuple[LeafAttempt, ...] = await _call(begin)
        self._observed(time.monotonic() - began, made)
        return made


async def _call(begin: Callable[[], Any]) -> Any:
    failures = 0
    while True:
        ref = begin()
        try:
            return await ref
        except asyncio.CancelledError:
            ray.cancel(ref)
            raise
        except (RayError, RlmathError) as error:
            cause = cause_of(error)
            if isinstance(cause, RlmathError):
                raise cause from None  # the prover's own word, after its own retries
            failures += 1
            if not is_infrastructure(error) or failures >= RESTARTING.attempts:
                raise LeafUnavailable(f"leaf worker: {reason_of(error)}") from error
        await asyncio.sleep(RESTARTING.pause_s(failures))
