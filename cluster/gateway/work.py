"""The two kinds of work that routes begin: a completion judged, a source checked. Each counted, logged and shown.

What comes back is the member of the reply that holds the answer, as JSON text: the same bytes serve a first reply, a
repeated one and a line of a batch.
"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import asdict
from functools import partial

from cluster.api import ScoreRequest
from cluster.gateway.backend import Caller
from cluster.gateway.calls import Gateway
from cluster.gateway.models import CheckBody
from cluster.gateway.problems import FORBIDDEN, Problem
from cluster.gateway.requests import Run
from cluster.gateway.tenant import Recent, Tenant
from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.types import EpisodeResult, KernelIdentity, Status

logger = logging.getLogger(__name__)


def judging(
    gateway: Gateway, client: Tenant, request_id: str, asked: ScoreRequest, caller: Caller, goal_at: str = "goal."
) -> Run:
    """Judge a completion: `"result": {…}`. `goal_at`: where the goal stands in the body, for what is wrong with it."""
    return partial(_judge, gateway, client, request_id, asked, caller, goal_at)


def checking(
    gateway: Gateway, client: Tenant, request_id: str, source: Source, asked: CheckBody, caller: Caller
) -> Run:
    """Check a source: `"check": {…}`. Raises `Problem` for a client that may not."""
    kind = asked.kernel, asked.memory

    async def run() -> bytes:
        result = await check(gateway, client, request_id, source, asked.timeout_s, caller, *kind)
        status = await gateway.backend.status()
        return b'"check": ' + json.dumps(_check_json(result, status.kernel)).encode()

    _may_check(client)
    return run


async def _judge(
    gateway: Gateway, client: Tenant, request_id: str, asked: ScoreRequest, caller: Caller, goal_at: str
) -> bytes:
    if gateway.settings.log_texts:
        logger.info("request %s/%s: goal %r completion %r", client.name, request_id, asked.goal, asked.completion)
    began = time.monotonic()
    try:
        result = await gateway.backend.judge(asked, caller)
    except InputError as error:
        # The pipeline names the goal by its id; here its caller has but one, in one place.
        raise InputError(error.field.replace(f"goal {asked.goal.id}: ", goal_at), error.problem) from None
    if result.status is Status.ERROR:
        raise KernelUnavailable(result.detail)
    gateway.metrics.verdicts.labels(result.status.value).inc()
    _note(client, request_id, asked.goal.id, result.status.value, time.monotonic() - began)
    return result_member(result)


def result_member(result: EpisodeResult) -> bytes:
    """A verdict as the member of a reply."""
    return b'"result": ' + json.dumps(result.to_json()).encode()


async def check(
    gateway: Gateway,
    client: Tenant,
    request_id: str,
    source: Source,
    timeout_s: float,
    caller: Caller,
    kernel: str = "",
    memory: str = "",
) -> CheckResult:
    """What Lean says of a source. Raises as `Backend.check`, and `Problem` for a client that may not."""
    _may_check(client)
    if gateway.settings.log_texts:
        logger.info("request %s/%s: source %r", client.name, request_id, source.command)
    began = time.monotonic()
    result = await gateway.backend.check(source, timeout_s=timeout_s, caller=caller, kernel=kernel, memory=memory)
    outcome = outcome_of(result)
    gateway.metrics.checks.labels(outcome).inc()
    _note(client, request_id, "check", outcome, time.monotonic() - began)
    return result


def outcome_of(result: CheckResult) -> str:
    """One word for a check."""
    if result.timed_out:
        return "timed_out"
    if result.crashed is not None:
        return "crashed"
    if result.errors or result.context_error is not None:
        return "errors"
    return "sorry" if result.sorries else "ok"


def _may_check(client: Tenant) -> None:
    if not client.limits.sources:
        raise Problem(FORBIDDEN, "this key may judge completions and proofs, and check no sources of its own")


def _note(client: Tenant, request_id: str, what: str, status: str, seconds: float) -> None:
    client.recent.append(Recent(request_id, what, status, seconds, time.time()))
    logger.info("request %s/%s: %s in %.3f s", client.name, request_id, status, seconds)


def _check_json(result: CheckResult, kernel: KernelIdentity | None) -> dict[str, object]:
    return {
        "ok": outcome_of(result) in ("ok", "sorry"),
        "messages": [asdict(message) for message in result.messages],
        "sorries": result.sorries,
        "context_error": result.context_error,
        "timed_out": result.timed_out,
        "crashed": result.crashed,
        "elapsed_s": result.elapsed_s,
        "timings": result.timings,
        "kernel": asdict(kernel) if kernel else None,
    }
