"""Scoring by a service: the gateway of a cluster (`rlmath serve`), named in a config.

An address is plain data and fits where a kernel does not: into a task's config, hence into every process that builds
tasks from one. Importing this imports no HTTP library.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rlmath.errors import InputError
from rlmath.types import Budgets, EpisodeResult, GoalSpec

if TYPE_CHECKING:
    from cluster.async_client import AsyncClusterClient

CALLS_A_CLIENT = 16
"""Calls that share one client's connections. The HTTP library looks at each pair of a client's connections for every
request (httpcore 1.0): with 64 in one client that takes longer than all the rest of a call, with 16 it is no matter."""


@dataclass(frozen=True)
class ClusterAddress:
    """A gateway, and how to be known there."""

    url: str
    """`http://host:port` or `https://host:port`."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key; None: the gateway asks for none."""
    leaf: str | None = None
    """A leaf prover that the gateway serves by this name (`rlmath serve --leaf`); None: its ladder of tactics."""

    def __post_init__(self) -> None:
        """Raises `InputError` for a URL that is none."""
        if problem := url_problem(self.url):
            raise InputError("cluster_url", problem)

    def api_key(self) -> str | None:
        """The key, read anew each time. Raises `InputError` when its variable is not set."""
        if self.api_key_env is None:
            return None
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise InputError(
                "cluster_api_key_env",
                f"the environment variable {self.api_key_env} is not set in the process that scores",
            )
        return key


def url_problem(url: str) -> str | None:
    """What is wrong with the URL of a gateway; None: nothing."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        return f"must be http://host:port or https://host:port, got {url!r}"
    if parts.username or parts.password:
        return "must hold no credentials: name the key's environment variable in cluster_api_key_env"
    return None


@dataclass(frozen=True)
class ClusterScorer:
    """A `Scorer` behind a gateway. Calls of one event loop that are under way at the same time share clients."""

    address: ClusterAddress
    deadline_s: float
    """Seconds for one call, all its attempts and pauses included."""

    async def score(self, goal: GoalSpec, completion: str, budgets: Budgets, request_id: str) -> EpisodeResult:
        """See `Scorer.score`. Failures that may pass are waited for until the deadline."""
        leaf = None if self.address.leaf is None else {"type": "served", "name": self.address.leaf}
        async with _connected(self.address) as client:
            return await client.score(
                goal, completion, budgets=budgets, leaf=leaf, request_id=request_id, deadline_s=self.deadline_s
            )


@dataclass
class _Shared:
    """A client and how many calls use it."""

    client: AsyncClusterClient
    users: int = 0


_SHARED: dict[tuple[asyncio.AbstractEventLoop, ClusterAddress], list[_Shared]] = {}
"""Clients in use. The process's, as the registry of resources is: tasks are built from configs alone, so there is no
object that all of them could be handed. It holds nothing when nothing is under way."""


@asynccontextmanager
async def _connected(address: ClusterAddress) -> AsyncIterator[AsyncClusterClient]:
    """A client for one call: one that has room, or a new one. The last call closes it, so that an event loop which ends
    leaves no connection behind."""
    from cluster.async_client import AsyncClusterClient

    place = asyncio.get_running_loop(), address
    clients = _SHARED.get(place, [])
    shared = next((shared for shared in clients if shared.users < CALLS_A_CLIENT), None)
    if shared is None:
        https = address.url.startswith("https:")  # loading certificates takes longer than a verdict
        shared = _Shared(AsyncClusterClient(address.url, api_key=address.api_key(), verify=https))
        clients.append(shared)
        _SHARED[place] = clients
    shared.users += 1
    try:
        yield shared.client
    finally:
        shared.users -= 1
        if not shared.users:
            clients.remove(shared)
            if not clients:
                del _SHARED[place]
            await shared.client.aclose()
