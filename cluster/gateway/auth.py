"""Who is calling: API keys looked up in constant time, from a file that is read again when it changes."""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Callable
from pathlib import Path

from cluster.gateway.keys import ANONYMOUS, KeyEntry, digest, load, split_key
from cluster.gateway.problems import UNAUTHENTICATED, Problem
from cluster.gateway.tenant import Tenant, TenantLimits
from rlmath.errors import InputError

logger = logging.getLogger(__name__)

LOOK_S = 1.0
"""How often the file is looked at."""
NO_DIGEST = "0" * 64
"""Compared with when there is no such key, so that this takes as long."""


class Gatekeeper:
    """The clients that may come in. Without a key file there is one, which anyone is."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Raises `InputError` for a key file that cannot be used."""
        self._path = path
        self._clock = clock
        self._keys: dict[str, KeyEntry] = {}
        self._tenants: dict[str, Tenant] = {}
        self._stamp: tuple[int, int, int] | None = None
        self._looked = clock()
        if path is None:
            self._tenants[ANONYMOUS] = Tenant(ANONYMOUS, TenantLimits(max_priority=1_000))
        else:
            self.reload()

    @property
    def open(self) -> bool:
        """True when no key is asked for."""
        return self._path is None

    @property
    def tenants(self) -> tuple[Tenant, ...]:
        """Every client there was since the start."""
        return tuple(self._tenants.values())

    def tenant(self, authorization: str | None) -> Tenant:
        """The client that an `Authorization` header stands for. Raises `Problem` for none."""
        if self._path is None:
            return self._tenants[ANONYMOUS]
        self._look()
        if not authorization:
            raise Problem(UNAUTHENTICATED, "send your API key as `Authorization: Bearer rlm_…`")
        parts = split_key(authorization.removeprefix("Bearer ").strip())
        key_id, secret = parts or ("", "")
        entry = self._keys.get(key_id)
        same = hmac.compare_digest(digest(secret), entry.sha256 if entry else NO_DIGEST)
        if entry is None or not same:
            raise Problem(UNAUTHENTICATED, "the API key is not known here")
        return self._tenants[entry.client]

    def reload(self) -> None:
        """Read the file again. A client keeps what it has open; one that is gone is refused from now on. Raises
        `InputError`, and keeps what was known.
        """
        if self._path is None:
            return
        self._stamp = _stamp(self._path)
        file = load(self._path)
        self._keys = {key.id: key for key in file.keys}
        for key in file.keys:
            tenant = self._tenants.setdefault(key.client, Tenant(key.client, clock=self._clock))
            tenant.limits = key.limits()

    def _look(self) -> None:
        assert self._path is not None, "there is a file to look at"
        now = self._clock()
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        if _stamp(self._path) == self._stamp:
            return
        try:
            self.reload()
            logger.info("API keys read again from %s", self._path)
        except InputError as error:
            logger.error("the API keys stay as they were: %s", error)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
