"""Around every request, before any route: the name it was sent to, and what metrics and the log keep of it."""

from __future__ import annotations

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cluster.gateway.calls import Gateway
from cluster.gateway.problems import INTERNAL, MISDIRECTED, Problem

logger = logging.getLogger(__name__)

PROBES = ("/healthz", "/readyz")
"""Called by address, and they tell nothing."""
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


class Edge:
    """ASGI middleware; one a gateway."""

    def __init__(self, app: ASGIApp, gateway: Gateway) -> None:
        self._app = app
        self._gateway = gateway
        settings = gateway.settings
        # Without keys the port itself is the only lock: a web page that got its own name to resolve to this machine
        # must not pass it.
        guarded = gateway.keys.open or bool(settings.allowed_hosts)
        self._names = frozenset({*LOOPBACK_NAMES, settings.host, *settings.allowed_hosts}) if guarded else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if self._names is None or scope["path"] in PROBES or _name(scope) in self._names:
                await self._app(scope, receive, watched)
            else:
                problem = Problem(MISDIRECTED, "call it by its own name: it has no API keys, or a list of its names")
                await problem.response()(scope, receive, watched)
        except Exception:
            status = INTERNAL.status
            raise
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        found = scope.get("route")
        route = getattr(found, "path", "none")
        self._gateway.metrics.answered(route, status, seconds)
        if logger.isEnabledFor(logging.INFO):
            client = scope.get("state", {}).get("client", "-")
            logger.info("%s %s %d %.1f ms client=%s", scope["method"], route, status, seconds * 1e3, client)


def _name(scope: Scope) -> str:
    """The host that the request was sent to, without its port."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    for name, value in headers:
        if name == b"host":
            host = value.decode("latin-1").lower()
            return host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
    return ""
