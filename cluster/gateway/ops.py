"""For operators: health, readiness, kernels, status, metrics."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from cluster.api import ClusterStatus
from cluster.gateway.calls import DRAIN_RETRY_S, Client, Gateway, gateway_of, reply
from cluster.gateway.metrics import CONTENT_TYPE, gauges
from cluster.gateway.models import KernelsReply
from cluster.gateway.openapi import problems
from cluster.gateway.problems import DRAINING, RETRY_AFTER_S, UNAVAILABLE, Problem
from rlmath.errors import Unavailable

router = APIRouter(tags=["operations"])

STATUS_S = 2.0
"""Longest wait for the scheduler's word in a probe."""


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process lives and its loop turns."""
    return {"status": "ok"}


@router.get("/readyz", responses=problems(503))
async def readyz(request: Request) -> Response:
    """At least one worker is warm, or will be when there is work, and the server is not shutting down."""
    gateway = gateway_of(request)
    if gateway.draining:
        raise Problem(DRAINING, "what runs is finished, nothing new is begun", DRAIN_RETRY_S)
    status = await _status(gateway)
    if status is None or not (status.ready or status.scaled):
        raise Problem(UNAVAILABLE, "no worker is warm", RETRY_AFTER_S)
    return reply({"status": "ready", "workers": status.ready})


@router.get("/v1/kernels", responses={200: {"model": KernelsReply}, **problems(401, 421, 503)})
async def kernels(request: Request, client: Client) -> Response:
    """The kernels that verdicts come from."""
    status = await _status(gateway_of(request))
    if status is None or status.kernel is None:
        raise Problem(UNAVAILABLE, "no worker is warm", RETRY_AFTER_S)
    return reply({"kernels": [asdict(status.kernel)]})


@router.get(
    "/v1/status", responses={200: {"description": "Queues, workers, your recent verdicts."}, **problems(401, 421)}
)
async def status(request: Request, client: Client) -> Response:
    """What the status page shows: the cluster's workers and queues, and this client's own requests."""
    gateway = gateway_of(request)
    cluster = await _status(gateway)
    return reply(
        {
            "now": time.time(),
            "draining": gateway.draining,
            "client": client.name,
            "cluster": _shown(cluster) if cluster else None,
            "open": client.open,
            "recent": [asdict(recent) for recent in reversed(client.recent)],
        }
    )


@router.get(
    "/metrics", responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **problems(401, 421)}
)
async def metrics(request: Request, client: Client) -> Response:
    """For Prometheus. It takes any key, and names no client."""
    gateway = gateway_of(request)
    book = gateway.book
    now = gauges(await _status(gateway), book.open, book.kept, book.kept_bytes)
    return Response(gateway.metrics.page(now), headers={"content-type": CONTENT_TYPE})


async def _status(gateway: Gateway) -> ClusterStatus | None:
    try:
        async with asyncio.timeout(STATUS_S):
            return await gateway.backend.status()
    except (Unavailable, TimeoutError):
        return None


def _shown(cluster: ClusterStatus) -> dict[str, Any]:
    shown = asdict(cluster)
    for worker in shown["workers"]:
        # Of no use to a caller, and not theirs to know.
        del worker["pid"], worker["image_pid"]
    return shown
