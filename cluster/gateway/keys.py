"""The file of API keys: what stands in it, and making, listing and removing keys.

A key is `rlm_<id>_<secret>`. The file holds the SHA-256 of the secret, never the secret: 256 random bits need no slow
hash. One client, one key.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import re
import secrets
import tempfile
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from cluster.caps import Caps
from cluster.gateway.tenant import TenantLimits
from rlmath.errors import InputError
from rlmath.validation import input_error

PREFIX = "rlm_"
ID_BYTES = 4
SECRET_BYTES = 32
_KEY = re.compile(r"rlm_([0-9a-f]{8})_([A-Za-z0-9_-]{43})")
_CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
ANONYMOUS = "anonymous"
"""The client when there are no keys."""


class KeyEntry(BaseModel):
    """One key of the file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: str = Field(pattern="^[0-9a-f]{8}$")
    """The part of the key that is no secret."""
    client: str
    """Who it belongs to; stands in logs."""
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """Of the secret part."""
    created: str = ""
    """When, in UTC."""
    rate_per_s: float | None = Field(default=None, gt=0)
    burst: int = Field(default=100, ge=1)
    max_open: int | None = Field(default=None, ge=1)
    weight: float = Field(default=1.0, gt=0, le=1_000)
    max_priority: int = Field(default=0, ge=-1_000, le=1_000)
    shared_cache: bool = False
    sources: bool = True
    cap_leaf_attempts: int | None = Field(default=None, ge=0)
    """With the next two: caps on all that the client ever does; see `cluster.caps.Caps`."""
    cap_kernel_s: float | None = Field(default=None, ge=0)
    cap_model_tokens: int | None = Field(default=None, ge=0)

    @field_validator("client")
    @classmethod
    def _a_name(cls, client: str) -> str:
        if not _CLIENT.fullmatch(client):
            raise ValueError(f"must be at most 100 letters, digits, dots, dashes and underscores, got {client!r}")
        if client == ANONYMOUS:
            raise ValueError(f"{ANONYMOUS!r} is who has no key")
        return client

    def limits(self) -> TenantLimits:
        """What the client may do."""
        caps = Caps(self.cap_leaf_attempts, self.cap_kernel_s, self.cap_model_tokens)
        return TenantLimits(
            rate_per_s=self.rate_per_s,
            burst=self.burst,
            max_open=self.max_open,
            weight=self.weight,
            max_priority=self.max_priority,
            shared_cache=self.shared_cache,
            caps=caps if caps != Caps() else None,
            sources=self.sources,
        )


class KeyFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    keys: Annotated[tuple[KeyEntry, ...], Field(strict=False)] = ()

    @field_validator("keys")
    @classmethod
    def _one_each(cls, keys: tuple[KeyEntry, ...]) -> tuple[KeyEntry, ...]:
        for what in ("client", "id"):
            names = [getattr(key, what) for key in keys]
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise ValueError(f"two keys have the {what} {min(twice)!r}")
        return keys


def split_key(text: str) -> tuple[str, str] | None:
    """`(id, secret)` of a key; None for text that is none."""
    match = _KEY.fullmatch(text)
    return (match[1], match[2]) if match else None


def digest(secret: str) -> str:
    """What the file holds of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def load(path: Path) -> KeyFile:
    """Read a key file. Raises `InputError`."""
    try:
        return KeyFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(str(path), f"cannot read it: {error.strerror}") from None
    except ValidationError as error:
        raise input_error(error, KeyFile, str(path)) from None


def add(path: Path, client: str, **limits: object) -> str:
    """Make a key for a client, add it to the file (made if need be, readable by its owner alone), and return the key:
    it can be had only now. `limits` are fields of `KeyEntry`. Raises `InputError`.
    """
    file = load(path) if path.exists() else KeyFile()
    if any(key.client == client for key in file.keys):
        raise InputError("--client", f"{client} has a key already: remove it first, or use another name")
    key_id, secret = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    try:
        entry = KeyEntry.model_validate(
            {"id": key_id, "client": client, "sha256": digest(secret), "created": now, **limits}
        )
    except ValidationError as error:
        raise input_error(error, KeyEntry) from None
    _write(path, KeyFile(keys=(*file.keys, entry)))
    return f"{PREFIX}{key_id}_{secret}"


def remove(path: Path, client: str) -> None:
    """Take a client's key out of the file. Raises `InputError` when it has none."""
    file = load(path)
    kept = tuple(key for key in file.keys if key.client != client)
    if len(kept) == len(file.keys):
        raise InputError("--client", f"{client} has no key in {path}")
    _write(path, KeyFile(keys=kept))


def _write(path: Path, file: KeyFile) -> None:
    # Whoever reads it at this moment sees the old file or the new one, whole.
    text = file.model_dump_json(indent=2) + "\n"
    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(str(path), f"cannot write it: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(scratch, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(scratch)
        raise
