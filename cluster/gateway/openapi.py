"""The OpenAPI document. Bodies are read by `body.py`, so their schemas are put in here; so are the problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from cluster.gateway.calls import tenant_of
from cluster.gateway.models import ProblemReply
from cluster.gateway.problems import INVALID, KINDS, MEDIA_TYPE, PREFIX

KEY = {"type": "http", "scheme": "bearer", "description": "An API key made with `rlmath keys add`."}
REF = "#/components/schemas/{model}"
DESCRIPTION = """\
Judges decomposition plans for Lean 4 goals with the Lean kernel's authority, and checks Lean sources.

* A verdict's `reward` is 1.0 iff the plan is verified, 0.0 for every other verdict. What infrastructure trouble kept
  from a verdict is a 503 problem with `Retry-After`, and has no reward.
* Give each request a `request_id`: the call is then safe to repeat, whatever became of the connection.
* Errors are RFC 9457 problem documents.
"""


def body_of(model: type[BaseModel], also: str | None = None) -> dict[str, Any]:
    """A route's body: this model as JSON, and another media type that the route reads by itself."""
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": REF.format(model=model.__name__)}}}
    if also is not None:
        content[also] = {"schema": {"type": "string"}}
    return {"requestBody": {"required": True, "content": content}}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problem documents that a route may answer with, by status."""
    return {
        status: {
            "description": " or: ".join(kind.title for kind in KINDS if kind.status == status),
            "content": {
                MEDIA_TYPE: {
                    "schema": {"$ref": REF.format(model=ProblemReply.__name__)},
                    "example": _example(status),
                }
            },
        }
        for status in statuses
    }


def document(app: FastAPI, bodies: Sequence[type[BaseModel]]) -> dict[str, Any]:
    """The document of an application, made once. `bodies`: the models that `body_of` named."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes, tags=app.openapi_tags
        )
        _, schemas = models_json_schema(
            [*((body, "validation") for body in bodies), (ProblemReply, "serialization")], ref_template=REF
        )
        components = made.setdefault("components", {})
        known = components.setdefault("schemas", {})
        for name, schema in schemas["$defs"].items():
            known.setdefault(name, schema)
        components["securitySchemes"] = {"key": KEY}
        for route in app.routes:
            if isinstance(route, APIRoute) and any(part.call is tenant_of for part in route.dependant.dependencies):
                for method in route.methods or ():
                    operation = made["paths"].get(route.path_format, {}).get(method.lower())
                    if operation is not None:
                        operation["security"] = [{"key": []}]
        app.openapi_schema = made
    return app.openapi_schema


def _example(status: int) -> dict[str, Any]:
    kind = next(kind for kind in KINDS if kind.status == status)
    example: dict[str, Any] = {"type": PREFIX + kind.slug, "title": kind.title, "status": status, "detail": "…"}
    if kind is INVALID:
        example |= {"detail": "goal.prop: missing, and has no default", "field": "goal.prop"}
    if status in (429, 503):
        example["retry_after_s"] = 2.0
    return example
