"""`GET` and `DELETE /v1/requests/{id}`: asking again, and calling off."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from cluster.gateway.calls import GONE, JSON, Client, done, gateway_of, pending, reply
from cluster.gateway.models import ID_EXAMPLE, DoneReply, PendingReply
from cluster.gateway.openapi import problems
from cluster.gateway.work import result_member

router = APIRouter(prefix="/v1/requests", tags=["requests"])

Id = Annotated[str, Path(min_length=1, max_length=200, examples=[ID_EXAMPLE], description="As the reply told it.")]


@router.get(
    "/{request_id:path}",
    responses={
        200: {"model": DoneReply},
        202: {"model": PendingReply},
        **problems(401, 404, 409, 421, 422, 500, 503),
    },
)
async def answer(
    request: Request,
    client: Client,
    request_id: Id,
    wait_s: Annotated[float, Query(ge=0, le=3_600, description="How long to wait for the answer, in seconds.")] = 0.0,
) -> Response:
    """The answer to a request of yours, or 202 while there is none."""
    gateway = gateway_of(request)
    entry = gateway.book.find(client, request_id)
    if entry is not None:
        return await gateway.answer(request, entry, wait_s)
    # Of an earlier life of this server, or forgotten here: the scheduler's journal may have it.
    asking = asyncio.ensure_future(gateway.backend.recall(request_id, client.name))
    try:
        if await gateway.gone(request, asking, min(wait_s, gateway.settings.longest_wait_s)):
            return Response(status_code=GONE)
        if not asking.done():
            return pending(request_id)
        result = asking.result()
    finally:
        asking.cancel()
    if result is None:
        raise gateway.book.unknown(request_id)
    return Response(done(request_id, result_member(result)), media_type=JSON)


@router.delete(
    "/{request_id:path}",
    responses={200: {"model": PendingReply | DoneReply}, **problems(401, 404, 421, 422)},
)
async def cancel(request: Request, client: Client, request_id: Id) -> Response:
    """End a request of yours that is under way. One that is done stays done."""
    gateway = gateway_of(request)
    entry = gateway.book.get(client, request_id)
    state = "done" if entry.task.done() and not entry.failed else "cancelled"
    gateway.book.cancel(entry)
    return reply({"request_id": entry.id, "state": state})
