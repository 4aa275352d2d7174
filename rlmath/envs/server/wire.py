"""The frames between verifiers' `EnvClient` and `EnvServer`, as far as a broker has to read them.

A request is `[request id, method, payload]` in both releases, the payload msgpack. A reply is `[request id, payload]`
in 0.3, and `[request id, kind, payload]` in 0.4, where a run streams any number of `delta`s before its `reply`. A
client of one release cannot read a server of the other: it waits until its own patience ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rlmath.errors import InputError

OLDEST, BEYOND = (0, 3, 1), (0, 5)
"""Releases of verifiers whose wires are known, from the first to before the second (as in the extra `envhub`)."""
REPLY = b"reply"
"""Kind of the reply that ends a request, in 0.4."""


@dataclass(frozen=True)
class Wire:
    """How one release replies."""

    release: str
    """First two numbers of the release: `0.3` or `0.4`."""
    tagged: bool
    """Replies carry their kind."""

    def reply(self, request_id: bytes, payload: bytes) -> list[bytes]:
        """Frames of the reply that ends a request."""
        return [request_id, REPLY, payload] if self.tagged else [request_id, payload]

    def ends(self, frames: Sequence[bytes]) -> bool:
        """Whether these frames of a worker's are the reply that ends their request."""
        return not self.tagged or (len(frames) == 3 and frames[1] == REPLY)


WIRE_03, WIRE_04 = Wire("0.3", tagged=False), Wire("0.4", tagged=True)


def installed_wire() -> Wire:
    """That of the verifiers installed here. Raises `InputError` when there is none, or none that is known."""
    fix = 'pip install "rlmath[envhub]"'
    try:
        found = version("verifiers")
    except PackageNotFoundError:
        raise InputError("verifiers", f"is not installed: {fix}") from None
    numbers = tuple(int(number) for number in re.findall(r"\d+", found)[:3])
    if not OLDEST <= numbers < BEYOND:
        oldest, beyond = (".".join(map(str, edge)) for edge in (OLDEST, BEYOND))
        raise InputError("verifiers", f"{found} is installed, and what is known is {oldest} to below {beyond}: {fix}")
    return WIRE_04 if numbers >= (0, 4) else WIRE_03


def spoken_wire(frames: Sequence[bytes]) -> Wire | None:
    """Which wire a reply is of; None: neither."""
    return {2: WIRE_03, 3: WIRE_04}.get(len(frames))


def healthy() -> bytes:
    """Payload of the answer to a health request."""
    return pack({"success": True, "error": None})


def failed(error: str) -> bytes:
    """Payload of an answer without a result: verifiers' client raises it as a `RuntimeError`, so the rollout has no
    reward."""
    return pack({"success": False, "error": error})


def not_cancelled() -> bytes:
    """Payload of the answer to a cancel request for a run that is not there."""
    return pack({"success": True, "error": None, "cancelled": False})


def cancel_target(payload: bytes) -> bytes | None:
    """Which run a cancel request is about; None when that cannot be read."""
    import msgpack  # type: ignore[import-untyped]

    try:
        body = msgpack.unpackb(payload, raw=False)
    except (ValueError, msgpack.UnpackException):
        return None
    target = body.get("request_id") if isinstance(body, dict) else None
    return target.encode() if isinstance(target, str) else None


def pack(body: dict[str, Any]) -> bytes:
    """A payload."""
    import msgpack

    packed: bytes = msgpack.packb(body, use_bin_type=True)
    return packed
