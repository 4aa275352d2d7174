"""The routes of a Kimina Lean server, so that its published clients work unchanged against this one.

As there: a snippet's leading `import` lines are taken off and positions count from what is left; results stand in the
order of the snippets; fields that are not known are ignored. Otherwise than there: a request that infrastructure
trouble kept from an answer is a 503 as a whole (its clients repeat it), a snippet that imports what the kernel lacks
is an `error` of that snippet and no fault of its author's, and `reuse` changes nothing: no check ever sees another.
`infotree` is accepted, and left out where the kernel has none to give.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, Self

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import Response

from cluster.gateway.batch import answer_of, as_completed
from cluster.gateway.body import read_model
from cluster.gateway.calls import GONE, JSON, Client, Gateway, gateway_of
from cluster.gateway.openapi import body_of, problems
from cluster.gateway.problems import Problem
from cluster.gateway.requests import Entry
from cluster.gateway.tenant import Tenant
from cluster.gateway.work import check
from rlmath.errors import InputError
from rlmath.kernel.protocol import CheckResult, Message, Source

router = APIRouter(tags=["kimina"])

Infotree = Literal["full", "tactics", "original", "substantive"]


class Snippet(BaseModel):
    """One piece of Lean."""

    id: str
    code: str


class CheckRequest(BaseModel):
    """Body of `/api/check`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"snippets": [{"id": "nat", "code": "#check Nat"}], "timeout": 20}]}
    )

    snippets: list[Snippet] = Field(min_length=1)
    timeout: float = Field(default=30, ge=0, le=86_400, allow_inf_nan=False)
    debug: bool = False
    reuse: bool = True
    infotree: Infotree | None = None

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        if len({snippet.id for snippet in self.snippets}) < len(self.snippets):
            raise ValueError("snippets must have unique ids")
        return self


class Code(BaseModel):
    """One proof of the older routes."""

    custom_id: str | int
    proof: str | None = None
    code: str | None = None

    @model_validator(mode="after")
    def _some_text(self) -> Self:
        if self.proof is None and self.code is None:
            raise ValueError("a code needs proof or code")
        return self

    def snippet(self) -> Snippet:
        """The same as a snippet."""
        return Snippet(id=str(self.custom_id), code=self.proof if self.proof is not None else self.code or "")


class VerifyRequest(BaseModel):
    """Body of `/verify` and `/one_pass_verify_batch`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"codes": [{"custom_id": "nat", "proof": "#check Nat"}], "timeout": 20}]}
    )

    codes: list[Code]
    timeout: float = Field(default=300, ge=0, le=86_400, allow_inf_nan=False)
    infotree_type: Infotree | None = None
    disable_cache: bool = False


class SnippetReply(BaseModel):
    """What became of a snippet: `error` or `response`."""

    id: str
    time: float
    error: str | None = None
    response: dict[str, Any] | None = None
    diagnostics: dict[str, Any] | None = None


class CheckReply(BaseModel):
    """Reply of `/api/check`."""

    results: list[SnippetReply]


class VerifyReply(BaseModel):
    """Reply of the older routes."""

    results: list[dict[str, Any]]


_PROBLEMS = problems(400, 401, 402, 403, 408, 413, 415, 421, 422, 500, 503)


@router.get("/health")
async def health() -> dict[str, str]:
    """As `/healthz`."""
    return {"status": "ok"}


@router.post("/api/check", openapi_extra=body_of(CheckRequest), responses={200: {"model": CheckReply}, **_PROBLEMS})
@router.post("/api/check/", include_in_schema=False)
async def api_check(request: Request, client: Client) -> Response:
    """Check snippets."""
    gateway = gateway_of(request)
    body = await read_model(request, CheckRequest, gateway.settings.max_body_bytes)
    results = await _check_all(request, gateway, client, body.snippets, body.timeout)
    if results is None:
        return Response(status_code=GONE)
    if body.debug:
        diagnostics = {"repl_uuid": await _kernel_uuid(gateway)}
        results = [{**result, "diagnostics": diagnostics} for result in results]
    return Response(json.dumps({"results": results}), media_type=JSON)


@router.post("/verify", openapi_extra=body_of(VerifyRequest), responses={200: {"model": VerifyReply}, **_PROBLEMS})
@router.post(
    "/one_pass_verify_batch", openapi_extra=body_of(VerifyRequest), responses={200: {"model": VerifyReply}, **_PROBLEMS}
)
async def verify(request: Request, client: Client) -> Response:
    """Check proofs, in the older form."""
    gateway = gateway_of(request)
    body = await read_model(request, VerifyRequest, gateway.settings.max_body_bytes)
    results = await _check_all(request, gateway, client, [code.snippet() for code in body.codes], body.timeout)
    if results is None:
        return Response(status_code=GONE)
    return Response(json.dumps({"results": [_older(result) for result in results]}), media_type=JSON)


def without_header(code: str, lean: Callable[[str, str], str]) -> str:
    """A snippet without its leading blank and `import` lines. `lean`: see `Backend.lean`. Raises `InputError` for an
    import of what the kernel lacks.
    """
    lines = code.split("\n")
    count = 0
    while count < len(lines) and (not lines[count].strip() or lines[count].strip().startswith("import ")):
        count += 1
    lean("\n".join(line.strip() for line in lines[:count]), "snippet")
    return "\n".join(lines[count:])


async def _check_all(
    request: Request, gateway: Gateway, client: Tenant, snippets: Sequence[Snippet], timeout_s: float
) -> list[dict[str, Any]] | None:
    """Every snippet's result in their order; None when the caller went away. Raises the `Problem` of the first that
    was kept from an answer.
    """
    if len(snippets) > gateway.settings.max_batch:
        raise InputError("snippets", f"at most {gateway.settings.max_batch} a request, got {len(snippets)}")
    gateway.check_serving()
    work = asyncio.get_running_loop().create_task(_results(gateway, client, snippets, timeout_s))
    try:
        return None if await gateway.gone(request, work, None) else work.result()
    finally:
        work.cancel()


async def _results(
    gateway: Gateway, client: Tenant, snippets: Sequence[Snippet], timeout_s: float
) -> list[dict[str, Any]]:
    results: dict[int, dict[str, Any]] = {}
    caller = client.caller()

    async def run(place: int, source: Source, request_id: str) -> bytes:
        result = await check(gateway, client, request_id, source, timeout_s, caller)
        results[place] = {"id": snippets[place].id, **_answer(result, timeout_s)}
        return b""

    def begin(place: int, source: Source) -> Entry:
        request_id = uuid.uuid4().hex
        return gateway.begin(client, request_id, "", partial(run, place, source, request_id), keep=False)

    starts = []
    for place, snippet in enumerate(snippets):
        try:
            source = Source(command=without_header(snippet.code, gateway.backend.lean))
        except InputError as error:
            results[place] = {"id": snippet.id, "time": 0.0, "error": str(error)}
            continue
        if not timeout_s:
            results[place] = {"id": snippet.id, **_timed_out(timeout_s)}
            continue
        starts.append(partial(begin, place, source))
    async for _, done in as_completed(gateway.book, client, starts, gateway.settings.batch_in_flight):
        answer = done if isinstance(done, Problem) else answer_of(done)
        if isinstance(answer, Problem):
            raise answer
    return [results[place] for place in range(len(snippets))]


def _answer(result: CheckResult, timeout_s: float) -> dict[str, Any]:
    if result.timed_out:
        return _timed_out(timeout_s)
    if result.crashed is not None:
        return {"time": result.elapsed_s, "error": f"Lean REPL crashed: {result.crashed}"}
    response: dict[str, Any] = {}
    if result.messages:
        response["messages"] = [_message(message) for message in result.messages]
    if sorries := [m for m in result.messages if m.kind == "hasSorry"]:
        response["sorries"] = [{**_places(message), "goal": ""} for message in sorries]
    return {"time": result.elapsed_s, "response": response}


def _timed_out(timeout_s: float) -> dict[str, Any]:
    # Clients look for "timed out" to tell this from other errors.
    return {"time": timeout_s, "error": f"Lean REPL command timed out in {timeout_s} seconds"}


def _message(message: Message) -> dict[str, Any]:
    severity = "info" if message.severity == "information" else message.severity
    return {"severity": severity, **_places(message), "data": message.text}


def _places(message: Message) -> dict[str, Any]:
    places = {"pos": {"line": message.line, "column": message.column}}
    if message.end_line is not None and message.end_column is not None:
        places["endPos"] = {"line": message.end_line, "column": message.end_column}
    return places


def _older(result: dict[str, Any]) -> dict[str, Any]:
    older: dict[str, Any] = {"custom_id": result["id"]}
    if "error" in result:
        older["error"] = result["error"]
    else:
        older["response"] = {**result["response"], "time": result["time"]}
    return older


async def _kernel_uuid(gateway: Gateway) -> str:
    """Stands for the kernel where clients expect the id of a REPL."""
    status = await gateway.backend.status()
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"rlmath:{status.kernel}"))
