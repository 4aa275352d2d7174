"""The gateway listening: uvicorn in an event loop that runs already, started and stopped from within."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import Iterator

import uvicorn

from cluster.gateway.app import create_app
from cluster.gateway.backend import Backend
from cluster.gateway.calls import Gateway
from cluster.gateway.keys import load
from cluster.gateway.settings import GatewaySettings
from rlmath.errors import InputError, KernelUnavailable

logger = logging.getLogger(__name__)

BACKLOG = 2_048
KEEP_ALIVE_S = 75
"""How long an idle connection stays open: longer than the minute after which proxies close theirs."""
LAST_BYTES_S = 5
"""For replies that are being sent when the server stops."""
START_POLL_S = 0.005


class GatewayServer:
    """One listening gateway. Belongs to the event loop that starts it."""

    def __init__(self, backend: Backend, settings: GatewaySettings) -> None:
        """Raises `InputError` for an unusable key file."""
        self._settings = settings
        self._app = create_app(backend, settings)
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self._url = ""

    @property
    def gateway(self) -> Gateway:
        """Its state."""
        gateway: Gateway = self._app.state.gateway
        return gateway

    @property
    def url(self) -> str:
        """Where it listens, `http://host:port`. Known once started."""
        return self._url

    async def start(self) -> str:
        """Listen; returns the URL. Raises `InputError` (`host`, `port`, `tls_cert`) when it cannot."""
        listener = _listen(self._settings.host, self._settings.port)
        try:
            config = _config(self._app, self._settings)
        except BaseException:
            listener.close()
            raise
        self._server = _Server(config)
        self._serving = asyncio.get_running_loop().create_task(self._server.serve(sockets=[listener]))
        while not self._server.started:
            if self._serving.done():
                raise KernelUnavailable("the HTTP server did not start") from self._serving.exception()
            await asyncio.sleep(START_POLL_S)
        host = f"[{self._settings.host}]" if ":" in self._settings.host else self._settings.host
        scheme = "http" if self._settings.tls_cert is None else "https"
        self._url = f"{scheme}://{host}:{listener.getsockname()[1]}"
        logger.info("serving at %s", self._url)
        return self._url

    async def stop(self) -> None:
        """Refuse what is new, let what runs come to its end (for `grace_s` at most), then close."""
        gateway = self.gateway
        gateway.draining = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.grace_s):
                await gateway.book.drained()
        gateway.book.stop_all()
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            await asyncio.wait([self._serving])


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # The process is somebody else's, and so are its signals.
        yield


def rehearse(settings: GatewaySettings) -> None:
    """Find out on this machine, before anything is started, whether a gateway could listen here with these settings.
    Raises `InputError` as `GatewayServer` would.
    """
    if settings.api_keys is not None:
        load(settings.api_keys)
    _config(None, settings)
    _listen(settings.host, settings.port).close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
    except socket.gaierror as error:
        raise InputError("host", f"{host}: {error.strerror}") from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise InputError("port", f"cannot listen on {host}:{port}: {error.strerror}") from None
    listener.setblocking(False)
    return listener


def _config(app: object, settings: GatewaySettings) -> uvicorn.Config:
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]  # uvicorn's own alias for an application is narrower than what it takes
        lifespan="off",
        http="httptools",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=LAST_BYTES_S,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )
    try:
        config.load()
    except (ssl.SSLError, OSError) as error:
        raise InputError("tls_cert", f"not a certificate and its key: {error}") from None
    return config
