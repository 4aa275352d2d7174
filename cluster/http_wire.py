"""The client's half of the gateway's wire: library types to bodies, replies to library types, and what to make of
each status. No I/O; imports neither ray nor an HTTP library.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cluster.caps import MICRO, AccountStatus, Caps, Spend
from cluster.retry import RetryPolicy
from rlmath.errors import CapReached, InputError, KernelUnavailable, QueueFull, RlmathError
from rlmath.kernel.protocol import CheckResult, Message
from rlmath.types import Budgets, EpisodeResult, GoalSpec, KernelIdentity

if TYPE_CHECKING:
    from rlmath.leaf.config import OpenAILeaf, RecordedLeaf, TacticsLeaf

    Leaf = TacticsLeaf | OpenAILeaf | RecordedLeaf | Mapping[str, Any]
    """A leaf prover's section, or its JSON: `{"type": "served", "name": …}` names one that the server has."""

Recorded = Mapping[str, str | Sequence[str]]

PATIENCE = RetryPolicy(attempts=10, first_pause_s=0.25, longest_pause_s=15.0)
"""Failures in a row before a call gives up: about a minute, which a server that is started again needs at most."""
WAIT_S = 50.0
"""Longest that one call is kept open: proxies close after a minute."""
TRANSIENT = frozenset({408, 500, 502, 503, 504})
"""Statuses that say nothing about the request."""


def score_body(
    goal: GoalSpec,
    completion: str | bytes,
    *,
    budgets: Budgets | None,
    leaf: Leaf | None,
    recorded: Recorded | None,
    run: str | None,
    priority: int,
    request_id: str,
) -> dict[str, Any]:
    """Body of `POST /v1/score`, without `wait_s`. Raises `InputError` for a part of the wrong type."""
    from cluster.api import check_parts  # not above: a client is to be imported in no time
    from rlmath.leaf.config import TacticsLeaf

    config = TacticsLeaf() if leaf is None or isinstance(leaf, Mapping) else leaf  # a mapping is the server's to read
    check_parts(
        {
            "request_id": request_id,
            "goal": goal,
            "completion": completion,
            "budgets": Budgets() if budgets is None else budgets,
            "leaf": config,
            "recorded": recorded,
        }
    )
    body: dict[str, Any] = {"goal": asdict(goal), "request_id": request_id, "priority": priority, **_text(completion)}
    if budgets is not None:
        body["budgets"] = asdict(budgets)
    if leaf is not None:
        body["leaf"] = dict(leaf) if isinstance(leaf, Mapping) else leaf.model_dump(mode="json")
    if recorded is not None:
        body["recorded"] = {k: v if isinstance(v, str) else list(v) for k, v in recorded.items()}
    if run is not None:
        body["run"] = run
    return body


def _text(completion: str | bytes) -> dict[str, str]:
    """A completion that is no Unicode text travels as its bytes: it is a policy's mistake, to be judged as one."""
    if isinstance(completion, str):
        try:
            completion.encode()
        except UnicodeEncodeError:
            completion = completion.encode("utf-8", "surrogatepass")
        else:
            return {"completion": completion}
    try:
        return {"completion": completion.decode()}
    except UnicodeDecodeError:
        return {"completion_base64": base64.b64encode(completion).decode()}


def result_of(reply: Mapping[str, Any]) -> EpisodeResult:
    """The verdict of a reply."""
    return EpisodeResult.from_json(reply["result"])


def check_of(reply: Mapping[str, Any]) -> CheckResult:
    """What Lean said, of a reply."""
    check = reply["check"]
    return CheckResult(
        messages=tuple(Message(**message) for message in check["messages"]),
        context_error=check["context_error"],
        timed_out=check["timed_out"],
        crashed=check["crashed"],
        elapsed_s=check["elapsed_s"],
        timings=check["timings"],
    )


def account_of(reply: Mapping[str, Any], client: str = "") -> AccountStatus:
    """A run's account, of a reply of `/v1/runs`. `client`: the server does not say its name."""
    return AccountStatus(
        client=client,
        run=reply["run"],
        caps=Caps(**reply["caps"]),
        spent=_spend(reply["spent"]),
        held=_spend(reply["held"]),
        opened_at=reply["opened_at"],
        closed=reply["closed"],
    )


def _spend(told: Mapping[str, Any]) -> Spend:
    return Spend(told["leaf_attempts"], round(told["kernel_s"] * MICRO), told["model_tokens"])


def kernels_of(reply: Mapping[str, Any]) -> tuple[KernelIdentity, ...]:
    """The kernels of a reply of `/v1/kernels`."""
    return tuple(KernelIdentity(**kernel) for kernel in reply["kernels"])


@dataclass(frozen=True)
class Trouble:
    """A call that brought no answer."""

    error: RlmathError
    """What is raised if there is no further attempt."""
    again: bool
    """Another attempt may bring one."""
    counts: bool = True
    """It is one of the failures that a call has patience for. A queue that is full is waited for until the deadline."""
    after_s: float | None = None
    """When the server says to come back."""


def trouble_of(status: int, document: Mapping[str, Any], retry_after: str | None) -> Trouble:
    """What a response that is no answer means. `document`: its problem, empty when it has none (a proxy's page)."""
    after_s = _seconds(document.get("retry_after_s"), retry_after)
    detail = str(document.get("detail") or f"HTTP {status}")
    kind = str(document.get("type", "")).rpartition(":")[2]
    if status == 429:
        # Both a full queue and a used-up rate pass by themselves.
        full = QueueFull(int(document.get("queue_length") or 0), after_s if after_s is not None else 1.0)
        return Trouble(full, again=True, counts=False, after_s=after_s)
    if status in TRANSIENT:
        return Trouble(KernelUnavailable(f"gateway: {detail}"), again=True, after_s=after_s)
    if status == 402:
        cap, limit, spent = document.get("cap", "cap"), document.get("limit", 0.0), document.get("spent", 0.0)
        return Trouble(CapReached(str(document.get("account") or "the run"), str(cap), limit, spent), again=False)
    if kind == "cancelled":
        return Trouble(KernelUnavailable(f"gateway: {detail}"), again=False)
    field = document.get("field") or {401: "api_key", 403: "api_key", 404: "url", 405: "url", 421: "url"}.get(status)
    detail = detail.removeprefix(f"{field}: ")
    return Trouble(InputError(str(field or f"request (HTTP {status})"), detail), again=False)


def pause_s(policy: RetryPolicy, failures: int, after_s: float | None) -> float:
    """Seconds before the next attempt: doubled from failure to failure, never before the server says, and spread, so
    that clients which failed together do not come back together.
    """
    backoff = policy.pause_s(max(failures, 1)) * random.uniform(0.5, 1.0)
    return backoff if after_s is None else max(backoff, after_s * random.uniform(1.0, 1.25))


def _seconds(told: Any, header: str | None) -> float | None:
    if isinstance(told, int | float):
        return max(0.0, float(told))
    return float(header) if header is not None and header.isdecimal() else None
