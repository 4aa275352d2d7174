"""Reading the body of a request: its type, its size (compressed and not), its JSON, its model."""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from cluster.gateway.problems import MALFORMED, MEDIA, SLOW, TOO_LARGE, Problem
from rlmath.validation import input_error

JSON = "application/json"
NDJSON = "application/x-ndjson"
M = TypeVar("M", bound=BaseModel)

_NOT_THE_WORK = {"request_id", "priority", "wait_s"}
BODY_TIMEOUT_S = 60.0
"""For a body to arrive whole."""
GZIP_WINDOW = 31
"""zlib's `wbits` for gzip streams and nothing else."""


async def read_model(request: Request, model: type[M], max_bytes: int) -> M:
    """The body as a `model`. Raises `Problem` for a body that is no such JSON, `InputError` for a wrong field."""
    return parse(model, await read_body(request, max_bytes))


def parse(model: type[M], body: bytes) -> M:
    """JSON text as a `model`; raises as `read_model`."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        if error.errors(include_url=False)[0]["type"] == "json_invalid":
            raise Problem(MALFORMED, f"not JSON: {error.errors(include_url=False)[0]['ctx']['error']}") from None
        raise input_error(error, model) from None


def fingerprint_of(body: BaseModel) -> str:
    """Equal for bodies that ask for the same work, whatever they say of their id, their turn and their patience."""
    text = body.model_dump_json(exclude=_NOT_THE_WORK)
    return f"{type(body).__name__} {hashlib.sha256(text.encode()).hexdigest()}"


async def read_body(request: Request, max_bytes: int, media_type: str = JSON) -> bytes:
    """The body, decompressed. It is read no further than its limit allows: a bomb costs no more than an honest body."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != media_type:
        # A browser lets any page send text/plain or a form to a server on this machine.
        raise Problem(MEDIA, f"content-type must be {media_type}, got {kind or 'none'}")
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise Problem(MEDIA, f"content-encoding must be gzip or identity, got {encoding}")
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told) > max_bytes:
        raise _too_large(max_bytes)
    unzip = zlib.decompressobj(GZIP_WINDOW) if encoding == "gzip" else None
    body = bytearray()
    came = 0
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for chunk in request.stream():
                came += len(chunk)
                body += chunk if unzip is None else unzip.decompress(chunk, max_bytes + 1 - len(body))
                if max(came, len(body)) > max_bytes:
                    raise _too_large(max_bytes)
    except zlib.error:
        raise Problem(MALFORMED, "the body is not gzip") from None
    except TimeoutError:
        raise Problem(SLOW, f"the body did not arrive within {BODY_TIMEOUT_S:g} s") from None
    if unzip is not None and (not unzip.eof or unzip.unused_data or unzip.unconsumed_tail):
        raise Problem(MALFORMED, "the body is not one whole gzip stream")
    return bytes(body)


def _too_large(max_bytes: int) -> Problem:
    return Problem(TOO_LARGE, f"at most {max_bytes} bytes, decompressed", members={"max_bytes": max_bytes})
