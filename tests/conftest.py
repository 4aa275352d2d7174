"""Fixtures for all tests.

`kernel` is one embedded Lean for the whole session, started on first use. All async tests share one event loop (see
pyproject.toml), to which it belongs. Checks do not see one another, so tests may share it; one that kills or closes
a kernel starts its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from hypothesis import settings

from rlmath.kernel.embedded import EmbeddedKernel

# Time limits for single examples fail on a machine that is busy with something else.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Fast ones first, then the slow ones: what is wrong in the small shows early. Then those that need Ray: first the
    ones that start a Ray of their own, while there is no other (two on one machine share ports), then the session's.
    """

    def turn(item: pytest.Item) -> tuple[bool, bool, bool]:
        needs_ray = item.get_closest_marker("cluster") is not None
        return needs_ray, "cluster" in getattr(item, "fixturenames", ()), item.get_closest_marker("slow") is not None

    items.sort(key=turn)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def kernel() -> AsyncIterator[EmbeddedKernel]:
    """A warm kernel with two slots."""
    async with EmbeddedKernel(slots=2) as started:
        yield started
