"""Where the gateway listens and what it allows: plain data, checked before anything is started."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rlmath.errors import InputError
from rlmath.leaf.config import OpenAILeaf, RecordedLeaf, TacticsLeaf

DEFAULT_PORT = 8000


@dataclass(frozen=True)
class GatewaySettings:
    """What `rlmath serve` and `LocalCluster(serve=…)` start."""

    host: str = "127.0.0.1"
    """Address to listen on. Without API keys only a loopback address is allowed."""
    port: int = DEFAULT_PORT
    """0: any free one."""
    api_keys: Path | None = None
    """File of API keys (`rlmath keys`); None: everyone who reaches the port may use it."""
    tls_cert: Path | None = None
    """Certificate chain, PEM. With `tls_key` the server speaks HTTPS alone."""
    tls_key: Path | None = None
    leaves: Mapping[str, TacticsLeaf | OpenAILeaf | RecordedLeaf] = field(default_factory=dict)
    """Leaf provers that a request may name (`{"type": "served", "name": …}`). A request cannot bring a model server of
    its own: that would make this one call any address with any key of its environment."""
    max_body_bytes: int = 8 << 20
    """Of one request, decompressed."""
    max_batch: int = 10_000
    """Items of one batch."""
    batch_in_flight: int = 64
    """Items of one batch under judgement at the same time."""
    max_open: int = 4_096
    """Requests accepted and not answered, of all clients together; one more is refused with 429."""
    longest_wait_s: float = 600.0
    """Most that a call may wait for its verdict before it gets 202 and an id to ask by."""
    remembered: int = 20_000
    """Answers kept for requests that are asked again."""
    remembered_bytes: int = 256 << 20
    """The same, in bytes."""
    remember_s: float = 3_600.0
    """How long an answer is kept."""
    grace_s: float = 30.0
    """How long a shutdown waits for what is running."""
    log_texts: bool = False
    """Let goals, completions and proofs into the logs."""
    allowed_hosts: tuple[str, ...] = ()
    """Names under which the server may be called, beside its own addresses; empty with API keys: any."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise InputError("port", f"must be between 0 and 65535, got {self.port}")
        if (self.tls_cert is None) != (self.tls_key is None):
            missing = "tls_key" if self.tls_key is None else "tls_cert"
            raise InputError(missing, "is needed too: TLS takes a certificate and its key")
        for name in ("api_keys", "tls_cert", "tls_key"):
            path = getattr(self, name)
            if path is not None and not path.is_file():
                raise InputError(name, f"there is no file {path}")
        for name in ("max_body_bytes", "max_batch", "batch_in_flight", "max_open", "remembered", "remembered_bytes"):
            if getattr(self, name) < 1:
                raise InputError(name, f"must be at least 1, got {getattr(self, name)}")
        for name in ("longest_wait_s", "remember_s", "grace_s"):
            if not getattr(self, name) >= 0:
                raise InputError(name, f"must be seconds of at least 0, got {getattr(self, name)}")
        if self.api_keys is None and not is_loopback(self.host):
            raise InputError(
                "host",
                f"{self.host} can be reached from other machines, and there are no API keys: make some with "
                "`rlmath keys add FILE --client NAME` and pass the file, or listen on 127.0.0.1",
            )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address. Of names only `localhost` counts: others may resolve anywhere."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
