"""One Ray for the whole session, and one cluster on it; what a test needs beyond that joins the same Ray."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cluster.api import ClusterSettings
from cluster.local import LocalCluster

SLOTS = 2
SETTINGS = ClusterSettings(kernel_grace_s=3.0)


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    """A warm cluster of one worker with two slots."""
    with LocalCluster(slots=SLOTS, settings=SETTINGS, serve=True) as running:
        yield running
