"""`POST /v1/check`: what Lean says of a source, or whether a proof proves a statement."""

from __future__ import annotations

import uuid

from fastapi import APIRouter, Request
from starlette.responses import Response

from cluster.api import ScoreRequest
from cluster.gateway.body import fingerprint_of, read_model
from cluster.gateway.calls import Client, Gateway, gateway_of
from cluster.gateway.models import CheckBody, DoneReply, PendingReply
from cluster.gateway.openapi import body_of, problems
from cluster.gateway.requests import Entry
from cluster.gateway.tenant import Tenant
from cluster.gateway.work import checking, judging
from cluster.http_wire import CHECK_GOAL
from rlmath.kernel.protocol import Source
from rlmath.plan import PlanFormatError, render_plan
from rlmath.types import Budgets, GoalSpec, Plan

router = APIRouter(prefix="/v1", tags=["check"])


@router.post(
    "/check",
    openapi_extra=body_of(CheckBody),
    responses={
        200: {"model": DoneReply},
        202: {"model": PendingReply},
        **problems(400, 401, 402, 403, 408, 409, 413, 415, 421, 422, 429, 503),
    },
)
async def check(request: Request, client: Client) -> Response:
    """Check Lean text.

    With `source`: what Lean says of it, in `check`. With `prop` and `proof`: a verdict, in `result`, from the same
    gates, kernel and audit as a plan without lemmas.
    """
    gateway = gateway_of(request)
    body = await read_model(request, CheckBody, gateway.settings.max_body_bytes)
    client.take()
    return await gateway.answer(request, _begin(gateway, client, body), body.wait_s)


def _begin(gateway: Gateway, client: Tenant, body: CheckBody) -> Entry:
    caller = client.caller(priority=body.priority, run=body.run)
    request_id = body.request_id or uuid.uuid4().hex
    fingerprint = fingerprint_of(body)
    if body.source is not None:
        command = gateway.backend.lean(body.source, "source", body.kernel)
        source = Source(command=command, context=body.context)
        run = checking(gateway, client, request_id, source, body, caller)
    else:
        run = judging(gateway, client, request_id, _as_plan(body, request_id), caller, "")
    return gateway.begin(client, request_id, fingerprint, run, keep=body.request_id is not None)


def _as_plan(body: CheckBody, request_id: str) -> ScoreRequest:
    """A statement and its proof as a plan without lemmas. Raises `InputError` for a proof that fits in no plan."""
    assert body.prop is not None, "a body without a source has both"
    assert body.proof is not None, "a body without a source has both"
    try:
        completion = render_plan(Plan((), body.proof.rstrip().strip("\r\n")))
    except PlanFormatError as error:
        raise PlanFormatError(None, error.rule, f"the proof fits in no plan: {error.problem}") from None
    goal = GoalSpec(CHECK_GOAL, body.prop, body.name, body.context)
    budgets = Budgets(verify_timeout_s=body.timeout_s)
    return ScoreRequest(request_id, goal, completion, budgets, kernel=body.kernel, memory=body.memory)
