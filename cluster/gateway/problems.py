"""Everything that can go wrong with a call, as RFC 9457 problem documents.

One rule decides the class of an answer: what the caller wrote is 4xx, a cap or a full queue says so with a number to
act on, and trouble of ours is 5xx and carries no verdict. No problem ever stands for a reward.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from rlmath.errors import CapReached, InputError, QueueFull, Unavailable

MEDIA_TYPE = "application/problem+json"
PREFIX = "urn:rlmath:problem:"


@dataclass(frozen=True)
class Kind:
    """One type of problem."""

    slug: str
    """What follows `PREFIX` in `type`."""
    status: int
    """Of the HTTP response."""
    title: str
    """The same for every occurrence."""


MALFORMED = Kind("malformed-body", 400, "The body cannot be read")
INVALID = Kind("invalid-input", 422, "A field of the request is wrong")
UNAUTHENTICATED = Kind("unauthenticated", 401, "An API key is needed")
CAP_SPENT = Kind("cap-spent", 402, "A cap is spent")
FORBIDDEN = Kind("forbidden", 403, "The key does not allow this")
NOT_FOUND = Kind("not-found", 404, "There is no such thing")
METHOD = Kind("method-not-allowed", 405, "This address does not take that method")
SLOW = Kind("body-too-slow", 408, "The body did not come in time")
CONFLICT = Kind("conflict", 409, "The request id stands for another request")
CANCELLED = Kind("cancelled", 409, "The request was cancelled")
TOO_LARGE = Kind("body-too-large", 413, "The body is too large")
MEDIA = Kind("unsupported-media-type", 415, "The body is not JSON")
MISDIRECTED = Kind("misdirected", 421, "This server does not answer under that name")
RATE = Kind("rate-limited", 429, "The key's rate is used up")
QUEUE_FULL = Kind("queue-full", 429, "The queue is full")
INTERNAL = Kind("internal", 500, "The server failed in an unforeseen way")
UNAVAILABLE = Kind("unavailable", 503, "No verdict: infrastructure trouble")
DRAINING = Kind("shutting-down", 503, "The server is shutting down")

KINDS = (
    MALFORMED, INVALID, UNAUTHENTICATED, CAP_SPENT, FORBIDDEN, NOT_FOUND, METHOD, SLOW, CONFLICT, CANCELLED, TOO_LARGE,
    MEDIA, MISDIRECTED, RATE, QUEUE_FULL, INTERNAL, UNAVAILABLE, DRAINING,
)  # fmt: skip
RETRY_AFTER_S = 2.0
"""What a caller is told to wait when nothing better is known: a worker that died is back in about that time."""


@dataclass(eq=False)
class Problem(Exception):
    """One occurrence; raised anywhere under a route, it becomes the response."""

    kind: Kind
    detail: str
    """One line for people."""
    retry_after_s: float | None = None
    """Also sent as the header `Retry-After`, in whole seconds."""
    members: dict[str, Any] = field(default_factory=dict)
    """Further members of the document: `field`, `queue_length`, `spent`, `cap`, …"""

    def __str__(self) -> str:
        return f"{self.kind.slug}: {self.detail}"

    def document(self) -> dict[str, Any]:
        """The problem as plain JSON."""
        document: dict[str, Any] = {
            "type": PREFIX + self.kind.slug,
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
            **self.members,
        }
        if self.retry_after_s is not None:
            document["retry_after_s"] = round(self.retry_after_s, 3)
        return document

    def response(self) -> Response:
        """The problem as an HTTP response."""
        headers = {}
        if self.retry_after_s is not None:
            headers["retry-after"] = str(max(1, math.ceil(self.retry_after_s)))
        if self.kind is UNAUTHENTICATED:
            headers["www-authenticate"] = "Bearer"
        return Response(json.dumps(self.document()), self.kind.status, headers, media_type=MEDIA_TYPE)


def problem_of(error: BaseException) -> Problem | None:
    """What an exception of ours is to a caller; None: nothing that was raised on purpose."""
    match error:
        case Problem():
            return error
        case InputError():
            named = InputError(error.field or "body", error.problem)
            return Problem(INVALID, str(named), members={"field": named.field})
        case QueueFull():
            return Problem(QUEUE_FULL, str(error), error.retry_after_s, {"queue_length": error.queue_length})
        case CapReached():
            spent = {"account": error.account, "cap": error.cap, "limit": error.limit, "spent": error.spent}
            return Problem(CAP_SPENT, str(error), members=spent)
        case Unavailable():
            return Problem(UNAVAILABLE, str(error), RETRY_AFTER_S)
        case _:
            return None
