"""Keeps the scheduler's gateway up from outside: a scheduler that was started again serves again, at the same port."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import ray
from ray.exceptions import RayError

from cluster.failures import cause_of, reason_of
from cluster.gateway.settings import GatewaySettings
from rlmath.errors import KernelUnavailable, RlmathError

logger = logging.getLogger(__name__)

LOOK_S = 1.0
"""Between two looks at the scheduler."""
STOP_SLACK_S = 15.0
"""Beyond the gateway's grace, for it to stop."""


class ServingWatch:
    """One gateway of one scheduler actor. For use in one event loop."""

    def __init__(self, scheduler: Any, settings: GatewaySettings) -> None:
        self._scheduler = scheduler
        self._settings = settings
        self._url = ""
        self._watching: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return self._url

    async def start(self) -> None:
        """Serve. Raises `InputError` when that cannot be, e.g. for a port that is taken."""
        self._url = await self._call("serve", self._settings)
        self._settings = replace(self._settings, port=urlsplit(self._url).port or 0)
        self._watching = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Finish what runs, refuse the rest, close the port."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        try:
            async with asyncio.timeout(self._settings.grace_s + STOP_SLACK_S):
                await self._call("stop_serving")
        except (KernelUnavailable, TimeoutError) as error:
            logger.warning("the gateway did not stop in good order: %s", error)

    async def reload_keys(self) -> None:
        """Read the file of API keys again. Raises `InputError`."""
        await self._call("reload_keys")

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                await self._call("serve", self._settings)
            except RlmathError as error:
                logger.warning("the gateway is down: %s", error)

    async def _call(self, method: str, *arguments: Any) -> Any:
        ref = getattr(self._scheduler, method).remote(*arguments)
        try:
            return await ref
        except asyncio.CancelledError:
            ray.cancel(ref)
            raise
        except RayError as error:
            cause = cause_of(error)
            if isinstance(cause, RlmathError):
                raise cause from None
            raise KernelUnavailable(f"scheduler: {reason_of(error)}") from error
