"""TLS trust of a worker's HTTP clients, loaded once.

verifiers makes a new HTTP client for each rollout, and httpx loads the certificate store for each new client: tens of
milliseconds of CPU, several times what all the rest of a short rollout takes, and for nothing when the model is behind
plain HTTP. httpx's advice is to share one context between clients; it has no setting that does it for clients which
somebody else makes.
"""

from __future__ import annotations

import functools
import importlib
import ssl
from typing import Any


def share_trust() -> None:
    """Let all HTTP clients of this process that want the default trust share one context. For processes of our own
    alone."""
    for library in ("httpx", "httpx2"):
        try:
            transport: Any = importlib.import_module(f"{library}._transports.default")
        except ImportError:
            continue
        if hasattr(transport, "create_ssl_context"):
            transport.create_ssl_context = _shared(transport.create_ssl_context)


def _shared(create: Any) -> Any:
    default = functools.cache(lambda trust_env: create(verify=True, cert=None, trust_env=trust_env))

    @functools.wraps(create)
    def create_ssl_context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        # A client's own certificate is loaded into its context: that one is nobody else's.
        plain = verify is True and cert is None
        context: ssl.SSLContext = default(trust_env) if plain else create(verify=verify, cert=cert, trust_env=trust_env)
        return context

    return create_ssl_context
