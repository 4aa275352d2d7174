"""Fixtures for all tests.

`kernel` is one embedded Lean for the whole session, started on first use. All async tests share one event loop (see
pyproject.toml), to which it belongs. Checks do not see one another, so tests may share it; one that kills or closes
a kernel starts its own.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from hypothesis import settings

from rlmath.kernel.embedded import EmbeddedKernel

# Time limits for single examples fail on a machine that is busy with something else.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


def pytest_configure() -> None:
    """A shell without job control has whatever it puts into the background ignore interrupts, and so would all that
    tests start and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes by their length: they may be random, and pytest-xdist runs nothing when two processes differ in a name."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Fast ones first, then the slow ones: what is wrong in the small shows early. Then those that need Ray: first the
    ones that start a Ray of their own, while there is no other (two on one machine share ports), then the session's.

    Side by side (pytest-xdist) what takes minutes begins before all.
    """
    side_by_side = hasattr(config, "workerinput")  # only a process of pytest-xdist has it

    def turn(item: pytest.Item) -> tuple[bool, bool, bool, bool]:
        needs_ray = item.get_closest_marker("cluster") is not None
        slow = item.get_closest_marker("slow") is not None
        first = side_by_side and item.get_closest_marker("long") is not None
        return not first, needs_ray, "cluster" in getattr(item, "fixturenames", ()), slow

    items.sort(key=turn)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def kernel() -> AsyncIterator[EmbeddedKernel]:
    """A warm kernel with two slots."""
    async with EmbeddedKernel(slots=2) as started:
        yield started
