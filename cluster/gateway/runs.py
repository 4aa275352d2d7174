"""`/v1/runs`: a run is opened with caps, and what it has spent and has left can be asked for."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from cluster.caps import AccountStatus, Caps, Spend
from cluster.gateway.body import read_model
from cluster.gateway.calls import Client, gateway_of, reply
from cluster.gateway.models import RUN_EXAMPLE, RunBody, RunReply
from cluster.gateway.openapi import body_of, problems
from cluster.gateway.problems import NOT_FOUND, Problem
from rlmath.errors import InputError

router = APIRouter(prefix="/v1/runs", tags=["runs"])

Name = Annotated[str, Path(min_length=1, max_length=200, examples=[RUN_EXAMPLE], description="As the reply told it.")]


@router.post(
    "",
    status_code=201,
    openapi_extra=body_of(RunBody),
    responses={201: {"model": RunReply}, **problems(400, 401, 408, 413, 415, 421, 422, 503)},
)
async def open_run(request: Request, client: Client) -> Response:
    """Open a run: what names it counts against its caps. One that is open already goes on, with these caps."""
    gateway = gateway_of(request)
    body = await read_model(request, RunBody, gateway.settings.max_body_bytes)
    gateway.check_serving()
    run = body.run or uuid.uuid4().hex
    account = await gateway.backend.open_run(run, body.caps.caps(), client=client.name)
    return reply(account_json(account), 201, {"location": f"/v1/runs/{quote(run, safe='')}"})


@router.get("/{run:path}", responses={200: {"model": RunReply}, **problems(401, 404, 421, 422, 503)})
async def show_run(request: Request, client: Client, run: Name) -> Response:
    """What a run of yours has spent, what work under way holds, and what is left."""
    try:
        account = await gateway_of(request).backend.account(client.name, run)
    except InputError as error:
        raise Problem(NOT_FOUND, error.problem) from None
    return reply(account_json(account))


@router.delete("/{run:path}", responses={200: {"model": RunReply}, **problems(401, 404, 421, 422, 503)})
async def close_run(request: Request, client: Client, run: Name) -> Response:
    """Let nothing further begin in a run of yours. What is under way goes on."""
    try:
        account = await gateway_of(request).backend.close_run(run, client=client.name)
    except InputError as error:
        raise Problem(NOT_FOUND, error.problem) from None
    return reply(account_json(replace(account, closed=True)))


def account_json(account: AccountStatus) -> dict[str, Any]:
    """An account as `RunReply`."""
    return {
        "run": account.run,
        "caps": _caps_json(account.caps),
        "spent": _spend_json(account.spent),
        "held": _spend_json(account.held),
        "left": _caps_json(account.left(time.time())),
        "opened_at": account.opened_at,
        "closed": account.closed,
    }


def _caps_json(caps: Caps) -> dict[str, Any]:
    return {
        "leaf_attempts": caps.leaf_attempts,
        "kernel_s": caps.kernel_s,
        "model_tokens": caps.model_tokens,
        "wall_s": caps.wall_s,
    }


def _spend_json(spend: Spend) -> dict[str, Any]:
    return {"leaf_attempts": spend.leaf_attempts, "kernel_s": spend.kernel_s, "model_tokens": spend.model_tokens}
