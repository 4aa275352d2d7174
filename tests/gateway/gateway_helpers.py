"""A gateway that is called without a socket, over a real kernel in this process: everything but Ray."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from gateway_kit import ENDLESS, FALSE, TRUE, KernelBackend, keyed
from waiting import until

from cluster.gateway.app import create_app
from cluster.gateway.calls import Gateway
from cluster.gateway.settings import GatewaySettings
from rlmath.kernel.embedded import EmbeddedKernel

__all__ = ["ENDLESS", "FALSE", "GOAL", "TRUE", "KernelBackend", "Served", "keyed", "served", "until"]

GOAL = {"id": "add_zero", "prop": "∀ n : Nat, n + 0 = n"}


@asynccontextmanager
async def served(kernel: EmbeddedKernel, settings: GatewaySettings | None = None) -> AsyncIterator[Served]:
    """A gateway, and a client that calls it without a socket."""
    backend = KernelBackend(kernel)
    app = create_app(backend, settings or GatewaySettings())
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
        yield Served(backend, app.state.gateway, client)


class Served:
    """A gateway under test."""

    def __init__(self, backend: KernelBackend, gateway: Gateway, client: httpx.AsyncClient) -> None:
        self.backend, self.gateway, self.client = backend, gateway, client

    async def score(self, completion: str = TRUE, **fields: Any) -> httpx.Response:
        """POST /v1/score."""
        headers = fields.pop("headers", None)
        body = {"goal": GOAL, "completion": completion, **fields}
        return await self.client.post("/v1/score", json=body, headers=headers)
