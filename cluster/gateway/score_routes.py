"""`POST /v1/score` and `POST /v1/score/batch`: completions to verdicts."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from cluster.api import ScoreRequest
from cluster.gateway.batch import answer_of, as_completed
from cluster.gateway.body import NDJSON, fingerprint_of, parse, read_body, read_model
from cluster.gateway.calls import Client, Gateway, gateway_of
from cluster.gateway.models import BatchBody, DoneReply, PendingReply, ScoreBody, ServedLeaf
from cluster.gateway.openapi import body_of, problems
from cluster.gateway.problems import Problem
from cluster.gateway.requests import Entry
from cluster.gateway.settings import GatewaySettings
from cluster.gateway.tenant import Tenant
from cluster.gateway.work import judging
from rlmath.errors import InputError
from rlmath.leaf.config import OpenAILeaf, RecordedLeaf, TacticsLeaf
from rlmath.types import GoalSpec

router = APIRouter(prefix="/v1", tags=["score"])


@router.post(
    "/score",
    openapi_extra=body_of(ScoreBody),
    responses={
        200: {"model": DoneReply},
        202: {"model": PendingReply},
        **problems(400, 401, 402, 403, 408, 409, 413, 415, 421, 422, 429, 503),
    },
)
async def score(request: Request, client: Client) -> Response:
    """Judge one completion: the verdict, or 202 when it takes longer than `wait_s`.

    Only a verdict has a reward. Whatever kept the server from one is a problem document.
    """
    gateway = gateway_of(request)
    body = await read_model(request, ScoreBody, gateway.settings.max_body_bytes)
    client.take()
    return await gateway.answer(request, begin_score(gateway, client, body), body.wait_s)


@router.post(
    "/score/batch",
    openapi_extra=body_of(BatchBody, also=NDJSON),
    responses={
        200: {
            "description": "A `BatchLine` a line, as they come.",
            "content": {NDJSON: {"schema": {"type": "string"}}},
        },
        **problems(400, 401, 408, 413, 415, 421, 422, 503),
    },
)
async def score_batch(request: Request, client: Client) -> Response:
    """Judge many completions: a line for each verdict as it comes, and a last line with `end`.

    The body is one object with `items`, or NDJSON with an item a line. An item that is wrong, or that infrastructure
    trouble kept from a verdict, has a line with its `problem` and hurts no other.
    """
    gateway = gateway_of(request)
    gateway.check_serving()
    items = await _read_items(request, gateway.settings)
    return StreamingResponse(_lines(gateway, client, items), media_type=NDJSON)


def begin_score(gateway: Gateway, client: Tenant, body: ScoreBody) -> Entry:
    """Begin (or find) what a body asks for. Raises `InputError` or `Problem`."""
    request_id, fingerprint = body.request_id, ""
    if request_id is None:
        request_id = uuid.uuid4().hex  # an id of ours is nobody's second call: there is nothing to tell it from
    else:
        fingerprint = fingerprint_of(body)
        known = gateway.book.known(client, request_id, fingerprint)
        if known is not None:
            return known
    caller = client.caller(priority=body.priority, run=body.run)
    run = judging(gateway, client, request_id, score_request(body, request_id, gateway.settings), caller)
    return gateway.begin(client, request_id, fingerprint, run, keep=body.request_id is not None)


def score_request(body: ScoreBody, request_id: str, settings: GatewaySettings) -> ScoreRequest:
    """What the scheduler gets. Raises `InputError` for a leaf prover that the server does not have."""
    return ScoreRequest(
        request_id=request_id,
        goal=GoalSpec(body.goal.id, body.goal.prop, body.goal.name, body.goal.context),
        completion=body.text(),
        budgets=body.budgets.budgets(),
        leaf=_leaf(body.leaf, settings.leaves),
        recorded=body.recorded,
        kernel=body.kernel,
        memory=body.memory,
    )


def _leaf(
    asked: TacticsLeaf | RecordedLeaf | ServedLeaf, served: Mapping[str, TacticsLeaf | OpenAILeaf | RecordedLeaf]
) -> TacticsLeaf | OpenAILeaf | RecordedLeaf:
    if not isinstance(asked, ServedLeaf):
        return asked
    if asked.name not in served:
        known = ", ".join(sorted(served)) or "none"
        raise InputError("leaf.name", f"this server has no leaf prover {asked.name!r}; it has: {known}")
    return served[asked.name]


async def _read_items(request: Request, settings: GatewaySettings) -> list[bytes]:
    """Each item as JSON text, not read yet: one that is wrong is that item's problem."""
    if request.headers.get("content-type", "").lower().startswith(NDJSON):
        body = await read_body(request, settings.max_body_bytes, NDJSON)
        items = [line for line in body.split(b"\n") if line.strip()]
        if not items:
            raise InputError("items", "there are none: put one on each line")
    else:
        read = await read_model(request, BatchBody, settings.max_body_bytes)
        items = [json.dumps(item).encode() for item in read.items]
    if len(items) > settings.max_batch:
        raise InputError("items", f"at most {settings.max_batch} a batch, got {len(items)}")
    return items


async def _lines(gateway: Gateway, client: Tenant, items: list[bytes]) -> AsyncIterator[bytes]:
    starts = [partial(_begin_item, gateway, client, item) for item in items]
    count = {"items": len(items), "verdicts": 0, "problems": 0}
    async for index, done in as_completed(gateway.book, client, starts, gateway.settings.batch_in_flight):
        answer = done if isinstance(done, Problem) else answer_of(done)
        request_id = done.id if isinstance(done, Entry) else _told_id(items[index])
        if isinstance(answer, Problem):
            count["problems"] += 1
            answer = b'"problem": ' + json.dumps(answer.document()).encode()
        else:
            count["verdicts"] += 1
        yield b'{"index": %d, "request_id": %s, %s}\n' % (index, json.dumps(request_id).encode(), answer)
    yield json.dumps({"end": count}).encode() + b"\n"


def _begin_item(gateway: Gateway, client: Tenant, item: bytes) -> Entry:
    return begin_score(gateway, client, parse(ScoreBody, item))


def _told_id(item: bytes) -> str | None:
    """The id of an item that could not be begun, if one can be read."""
    try:
        told: Any = json.loads(item)
    except (ValueError, RecursionError):
        return None
    found = told.get("request_id") if isinstance(told, dict) else None
    return found if isinstance(found, str) else None
