"""The OpenAPI document, and the server held to it by schemathesis."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
import schemathesis
from gateway_helpers import KernelBackend, served
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from cluster.background import BackgroundLoop
from cluster.gateway.models import CheckBody, CheckResultReply, MessageReply, ResultReply, RunBody, ScoreBody
from cluster.gateway.server import GatewayServer
from cluster.gateway.settings import GatewaySettings
from rlmath import EpisodeResult
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Message

ISSUE = {
    ("post", "/v1/score"), ("post", "/v1/score/batch"), ("post", "/v1/check"), ("post", "/v1/runs"),
    ("get", "/v1/runs/{run}"), ("get", "/v1/requests/{request_id}"), ("delete", "/v1/requests/{request_id}"),
    ("get", "/v1/kernels"), ("get", "/healthz"), ("get", "/readyz"), ("get", "/metrics"), ("post", "/api/check"),
    ("post", "/verify"), ("post", "/one_pass_verify_batch"), ("get", "/health"),
}  # fmt: skip


async def document(kernel: EmbeddedKernel) -> dict[str, Any]:
    async with served(kernel) as gate:
        told: dict[str, Any] = (await gate.client.get("/openapi.json")).json()
    return told


async def test_the_document_is_whole(kernel: EmbeddedKernel) -> None:
    told = await document(kernel)
    routes = {(method, path): route for path, methods in told["paths"].items() for method, route in methods.items()}
    assert routes.keys() >= ISSUE
    for (method, path), route in routes.items():
        assert route["description"], path
        if method == "post":
            schema = route["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
            body = told["components"]["schemas"][schema]
            assert body["examples"], f"{path} has no example"
            if path.startswith("/v1"):
                assert body["additionalProperties"] is False
        for code, response in route["responses"].items():
            if int(code) >= 400:
                assert "application/problem+json" in response["content"], (path, code)
    refs = set(_refs(told))
    assert {ref for ref in refs if ref.rsplit("/", 1)[1] not in told["components"]["schemas"]} == set()


def _refs(part: Any) -> list[str]:
    if isinstance(part, dict):
        own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
        return own + [ref for value in part.values() for ref in _refs(value)]
    return [ref for value in part for ref in _refs(value)] if isinstance(part, list) else []


async def test_every_example_is_answered_as_its_route_says(kernel: EmbeddedKernel) -> None:
    told = await document(kernel)
    async with served(kernel) as gate:
        for path, methods in told["paths"].items():
            if "post" not in methods:
                continue
            name = methods["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
            for example in told["components"]["schemas"][name]["examples"]:
                response = await gate.client.post(path, json=example)
                assert response.status_code in (200, 201), (path, response.text)


def test_replies_are_described_as_they_are() -> None:
    assert set(ResultReply.model_fields) == {field.name for field in fields(EpisodeResult)} | {"reward"}
    assert set(MessageReply.model_fields) == {field.name for field in fields(Message)}
    assert {"ok", "messages", "timed_out", "crashed"} <= set(CheckResultReply.model_fields)
    for body in (ScoreBody, CheckBody, RunBody):
        for example in body.model_config["json_schema_extra"]["examples"]:  # type: ignore[index, call-overload]
            body.model_validate_json(json.dumps(example))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A gateway with a kernel of its own, in a thread and an event loop of their own."""
    loop = BackgroundLoop()
    kernel = EmbeddedKernel(slots=2)
    settings = GatewaySettings(port=0, max_body_bytes=100_000, longest_wait_s=5.0, grace_s=0.0)
    try:
        loop.run(kernel.start())
        server = GatewayServer(KernelBackend(kernel), settings)
        yield loop.run(server.start())
        loop.run(server.stop())
    finally:
        loop.run(kernel.aclose())
        loop.close()


@pytest.mark.slow
def test_no_call_brings_a_500_or_a_reply_that_was_not_described(url: str) -> None:
    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    tried = set()
    for found in schemathesis.openapi.from_url(f"{url}/openapi.json").get_all_operations():
        operation = found.ok()
        modes = [GenerationMode.POSITIVE]
        if operation.body or "{" in operation.path:
            modes.append(GenerationMode.NEGATIVE)
        for mode in modes:

            @settings(max_examples=12, phases=(Phase.explicit, Phase.generate), suppress_health_check=list(HealthCheck))
            @given(case=operation.as_strategy(generation_mode=mode))
            def call(case: schemathesis.Case) -> None:
                case.call_and_validate(checks=checks)

            call()
        tried.add((operation.method, operation.path))
    assert tried >= ISSUE
