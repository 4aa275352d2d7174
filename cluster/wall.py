"""The wall time of accounts, as a bound on what runs on their behalf."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from types import TracebackType

from cluster.caps import AccountKey, Accounts


class Wall:
    """As an async context: ends what runs in it with `CapReached` when the wall time of an account is over."""

    def __init__(self, accounts: Accounts, keys: Iterable[AccountKey]) -> None:
        self._accounts = accounts
        self._end = accounts.ends_at(keys)
        self._timeout = asyncio.timeout(None if self._end is None else max(0.0, self._end[0] - time.time()))

    async def __aenter__(self) -> None:
        if self._end is not None and self._end[0] <= time.time():
            raise self._accounts.wall_refusal(self._end[1])
        await self._timeout.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            if self._end is None or not self._timeout.expired():
                raise
            raise self._accounts.wall_refusal(self._end[1]) from None
