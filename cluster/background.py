"""An event loop in a thread of its own, so that blocking code (a notebook, a script) can use async code."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from rlmath.errors import InputError

T = TypeVar("T")


class BackgroundLoop:
    """Runs coroutines for callers that block. The thread is a daemon: it never keeps the interpreter alive."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rlmath-cluster", daemon=True)
        self._thread.start()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Begin; cancelling the future cancels the coroutine."""
        if self._loop.is_closed():
            coroutine.close()
            raise InputError("client", "is closed: make a new one, or use it inside its `with` block")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def run(self, coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Wait for the result. An interrupted wait (Ctrl-C) or one that takes too long (`TimeoutError`) cancels the
        coroutine.
        """
        future = self.submit(coroutine)
        try:
            return future.result(timeout_s)
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel what still runs, and end the loop and its thread."""
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


async def _cancel_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.wait(others, timeout=5.0) if others else None
