"""The application: every route over one backend."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from cluster.gateway import check_routes, kimina, ops, page, request_routes, runs, score_routes
from cluster.gateway.backend import Backend
from cluster.gateway.calls import GONE, Gateway
from cluster.gateway.edge import Edge
from cluster.gateway.models import BatchBody, BatchLine, CheckBody, RunBody, ScoreBody
from cluster.gateway.openapi import document
from cluster.gateway.problems import INTERNAL, INVALID, METHOD, NOT_FOUND, Problem, problem_of
from cluster.gateway.settings import GatewaySettings
from rlmath import __version__
from rlmath.errors import RlmathError

logger = logging.getLogger(__name__)

BODIES = (ScoreBody, BatchBody, BatchLine, CheckBody, RunBody, kimina.CheckRequest, kimina.VerifyRequest)
"""What routes read by themselves, for the OpenAPI document."""


def create_app(backend: Backend, settings: GatewaySettings) -> FastAPI:
    """An ASGI application over a backend. Its `state.gateway` is the `Gateway`. Raises `InputError` for an unusable key
    file.
    """
    # FastAPI's own pages of documentation load their scripts from elsewhere.
    app = FastAPI(title="rlmath", version=__version__, docs_url=None, redoc_url=None)
    gateway = app.state.gateway = Gateway(backend, settings)
    for module in (score_routes, check_routes, request_routes, runs, ops, kimina, page):
        app.include_router(module.router)
    for kind in (Problem, RlmathError):
        app.add_exception_handler(kind, _purposeful)
    app.add_exception_handler(RequestValidationError, _parameter)
    app.add_exception_handler(HTTPException, _routing)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _unforeseen)
    app.add_middleware(Edge, gateway=gateway)
    app.openapi = lambda: document(app, BODIES)  # type: ignore[method-assign]  # the way FastAPI has it extended
    return app


async def _purposeful(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    if problem is None:
        raise error
    return problem.response()


async def _parameter(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError), "registered for it alone"
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"][1:])
    return Problem(INVALID, f"{field}: {first['msg']}", members={"field": field}).response()


async def _routing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "registered for it alone"
    if error.status_code == METHOD.status:
        response = Problem(METHOD, f"{request.method} {request.url.path}").response()
        response.headers.update(error.headers or {})
        return response
    return Problem(NOT_FOUND, f"nothing is served under {request.url.path}").response()


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=GONE)


async def _unforeseen(request: Request, error: Exception) -> Response:
    # Starlette raises it again after this, and the server logs it with its traceback.
    return Problem(INTERNAL, "the server's log says how").response()
