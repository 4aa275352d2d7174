"""The client's half of the gateway's wire: library types to bodies, replies to library types, and what to make of
each status. No I/O; imports neither ray nor an HTTP library.
"""

from __future__ import annotations

import base64
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from cluster.caps import MICRO, AccountStatus, Caps, Spend
from cluster.retry import RetryPolicy
from rlmath.errors import CapReached, InputError, KernelUnavailable, QueueFull, RlmathError
from rlmath.kernel.protocol import CheckResult, Message
from rlmath.types import Budgets, EpisodeResult, GoalSpec, KernelIdentity, Status

if TYPE_CHECKING:
    from rlmath.leaf.config import OpenAILeaf, RecordedLeaf, TacticsLeaf

    Leaf = TacticsLeaf | OpenAILeaf | RecordedLeaf | Mapping[str, Any]
    """A leaf prover's section, or its JSON: `{"type": "served", "name": …}` names one that the server has."""

T = TypeVar("T")

Recorded = Mapping[str, str | Sequence[str]]

CHECK_GOAL = "check"
"""The goal's id in the verdict on a proposition and its proof (`POST /v1/check`)."""
PATIENCE = RetryPolicy(attempts=10, first_pause_s=0.25, longest_pause_s=15.0)
"""Failures in a row before a call gives up: about a minute, which a server that is started again needs at most."""
WAIT_S = 50.0
"""Longest that one call is kept open: proxies close after a minute."""
CONTROLS = bytes((*range(9), 11, 12, *range(14, 32)))
"""What JSON writes as six characters."""
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
    """A completion that is no Unicode text travels as its bytes: it is a policy's mistake, to be judged as one. So does
    one of many control characters, of which JSON makes six times as many: the body has a limit.
    """
    raw = completion.encode("utf-8", "surrogatepass") if isinstance(completion, str) else completion
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = None
    if text is None or (len(raw) - len(raw.translate(None, CONTROLS))) * 6 > len(raw) / 3:
        return {"completion_base64": base64.b64encode(raw).decode()}
    return {"completion": text}


def read(parse: Callable[[Mapping[str, Any]], T], reply: Mapping[str, Any]) -> T:
    """What `parse` makes of a reply. Raises `KernelUnavailable` when it is none of a gateway's: that is no evidence."""
    try:
        return parse(reply)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise KernelUnavailable(f"gateway: the reply is not a gateway's: {type(error).__name__}: {error}") from error


def result_of(reply: Mapping[str, Any], goal_id: str) -> EpisodeResult:
    """The verdict of a reply, on this goal. Raises `ValueError` and its like for one that a gateway would not give."""
    row = reply["result"]
    result = EpisodeResult.from_json(row)
    if result.goal_id != goal_id:
        raise ValueError(f"a verdict on goal {result.goal_id!r}, not on {goal_id!r}")
    if row["reward"] != result.reward:
        raise ValueError(f"reward {row['reward']!r} for status {result.status}")
    if result.status is Status.VERIFIED and (result.kernel is None or result.axioms is None):
        raise ValueError("verified, and neither by which kernel nor from which axioms")
    if not _is_count(result.leaf_attempts_used) or not all(map(_is_number, result.plan_stats.values())):
        raise ValueError("numbers that are none")
    return result


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: object) -> TypeGuard[int | float]:
    """One that a float can hold: JSON's may be infinite, or an integer of any length."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def check_of(reply: Mapping[str, Any]) -> CheckResult:
    """What Lean said, of a reply. Raises as `result_of`."""
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


def status_of(reply: Mapping[str, Any]) -> dict[str, Any]:
    """A reply of `/v1/status`. Raises `KeyError` for one that is none."""
    return {**reply, "cluster": reply["cluster"], "client": reply["client"]}


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
        full = QueueFull(round(_number(document, "queue_length")), after_s if after_s is not None else 1.0)
        return Trouble(full, again=True, counts=False, after_s=after_s)
    if status in TRANSIENT:
        return Trouble(KernelUnavailable(f"gateway: {detail}"), again=True, after_s=after_s)
    if status == 402:
        cap, limit, spent = document.get("cap", "cap"), _number(document, "limit"), _number(document, "spent")
        return Trouble(CapReached(str(document.get("account") or "the run"), str(cap), limit, spent), again=False)
    if kind == "cancelled":
        return Trouble(KernelUnavailable(f"gateway: {detail}"), again=False)
    if not kind and status in (404, 405):
        return Trouble(InputError("url", f"what answers there is no rlmath gateway (HTTP {status})"), again=False)
    field = document.get("field") or {401: "api_key", 403: "api_key", 404: "url", 405: "url", 421: "url"}.get(status)
    detail = detail.removeprefix(f"{field}: ")
    return Trouble(InputError(str(field or f"request (HTTP {status})"), detail), again=False)


def _number(document: Mapping[str, Any], name: str) -> float:
    """Whatever answered may be no gateway, but a proxy."""
    value = document.get(name)
    return float(value) if _is_number(value) else 0.0


def pause_s(policy: RetryPolicy, failures: int, after_s: float | None) -> float:
    """Seconds before the next attempt: doubled from failure to failure, never before the server says, and spread, so
    that clients which failed together do not come back together.
    """
    backoff = policy.pause_s(max(failures, 1)) * random.uniform(0.5, 1.0)
    return backoff if after_s is None else max(backoff, after_s * random.uniform(1.0, 1.25))


def _seconds(told: Any, header: str | None) -> float | None:
    if _is_number(told):
        return max(0.0, float(told))
    return float(header) if header is not None and header.isdecimal() else None
