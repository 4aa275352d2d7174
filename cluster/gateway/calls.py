"""What every route does around its own work: who calls, whether there is room, waiting, and what the caller hears."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request
from starlette.responses import Response

from cluster.gateway.auth import Gatekeeper
from cluster.gateway.backend import Backend
from cluster.gateway.metrics import Metrics
from cluster.gateway.problems import DRAINING, Problem
from cluster.gateway.requests import Entry, RequestBook, Run
from cluster.gateway.settings import GatewaySettings
from cluster.gateway.tenant import Tenant

logger = logging.getLogger(__name__)

GONE = 499
"""Status of a response that nobody reads: its caller closed the connection."""
DRAIN_RETRY_S = 5.0
POLL_RETRY_S = 1
JSON = "application/json"


class Gateway:
    """One gateway: the scheduler behind it, and its state."""

    def __init__(self, backend: Backend, settings: GatewaySettings) -> None:
        """Raises `InputError` for an unusable key file."""
        self.backend = backend
        self.settings = settings
        self.keys = Gatekeeper(settings.api_keys)
        self.book = RequestBook(settings)
        self.metrics = Metrics()
        self.draining = False

    def begin(self, tenant: Tenant, request_id: str, fingerprint: str, run: Run, *, keep: bool) -> Entry:
        """As `RequestBook.begin`, unless the server is shutting down."""
        self.check_serving()
        return self.book.begin(tenant, request_id, fingerprint, run, keep=keep)

    def check_serving(self) -> None:
        """Raises `Problem` when the server is shutting down."""
        if self.draining:
            raise Problem(DRAINING, "what runs is finished, nothing new is begun", DRAIN_RETRY_S)

    async def answer(self, request: Request, entry: Entry, wait_s: float) -> Response:
        """The answer to a request as soon as it is there, or after `wait_s` word that it is on its way.

        A caller that goes away meanwhile ends the request, unless others wait for it.
        """
        if not entry.task.done():
            with self.book.waiting(entry):
                if await self.gone(request, entry.task, min(wait_s, self.settings.longest_wait_s)):
                    return Response(status_code=GONE)
                if not entry.task.done():
                    self.book.detach(entry)
                    return pending(entry.id)
        return Response(done(entry.id, entry.answer()), media_type=JSON)

    async def gone(self, request: Request, task: asyncio.Task[Any], wait_s: float | None) -> bool:
        """Wait for a task, `wait_s` seconds at most; true when the caller went away before it was done."""
        leaving = asyncio.ensure_future(_disconnected(request))
        try:
            await asyncio.wait({task, leaving}, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
        gone = leaving.done() and not task.done()
        self.metrics.abandoned.inc(gone)
        return gone


def done(request_id: str, answer: bytes) -> bytes:
    """A reply with its answer (`Entry.answer`)."""
    return b'{"request_id": %s, "state": "done", %s}' % (json.dumps(request_id).encode(), answer)


def pending(request_id: str) -> Response:
    """202: the answer is to be asked for."""
    headers = {"location": f"/v1/requests/{quote(request_id, safe='')}", "retry-after": str(POLL_RETRY_S)}
    return reply({"request_id": request_id, "state": "pending"}, 202, headers)


def reply(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Plain data as a JSON response."""
    return Response(json.dumps(content), status, headers, media_type=JSON)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def gateway_of(request: Request) -> Gateway:
    """The gateway that serves this request."""
    gateway: Gateway = request.app.state.gateway
    return gateway


async def tenant_of(request: Request) -> Tenant:
    """The client that calls. Raises `Problem` when its key is not known."""
    gateway = gateway_of(request)
    tenant = gateway.keys.tenant(request.headers.get("authorization"))
    request.state.client = tenant.name
    told = (tenant.limits.caps,)
    if tenant.caps_told != told:
        await gateway.backend.set_client_caps(tenant.name, tenant.limits.caps)
        tenant.caps_told = told
    return tenant


Client = Annotated[Tenant, Depends(tenant_of)]
