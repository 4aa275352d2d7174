"""What the scheduler tells of itself as metrics: times and counts as they come, gauges and totals once in a while."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ray.util import metrics as ray_metrics

from cluster import metrics as names
from cluster.api import ClusterStatus
from cluster.metrics import Metric
from cluster.tally import Tally
from cluster.verdict_cache import Outcome, audit_seconds, check_of, kernel_seconds
from rlmath.leaf.protocol import LeafAttempt

CAUSES = ("memory", "stack overflow", "output limit", "PANIC")
"""Of death, that are told apart; the rest is `other`, and `time` is a cause too."""
STATES = ("starting", "ready", "lost", "refused", "draining")
COUNTED = {
    "done": names.CHECKS,
    "retries": names.RETRIES,
    "cache_hits": names.CACHE_HITS,
    "shared": names.SHARED,
    "poisoned": names.POISONED,
    "moved": names.MOVED,
}
"""By field of `Tally`."""


class Telemetry:
    """Of one scheduler."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {metric.name: _make(metric) for metric in names.ALL}
        self._came: dict[int, float] = {}
        """When jobs came that have not been sent."""
        self._sent: dict[int, float] = {}
        """When runs were given to the worker that has them."""
        self._told = Tally()

    def submitted(self, job_id: int) -> None:
        """A check was asked for."""
        self._came[job_id] = time.monotonic()

    def sent(self, job_id: int) -> None:
        """It was given to a worker."""
        now = self._sent[job_id] = time.monotonic()
        came = self._came.pop(job_id, None)
        if came is not None:
            self._observe(names.WAIT, now - came)

    def settled(self, job_id: int) -> None:
        """Nobody waits for it any more."""
        self._came.pop(job_id, None)

    def answered(self, job_id: int, result: Outcome | None) -> None:
        """A worker answered."""
        sent = self._sent.pop(job_id, None)
        if result is None or sent is None:
            return
        check, used = check_of(result), kernel_seconds(result)
        self._observe(names.ELABORATE, check.elapsed_s)
        queued = check.timings.get("queue", 0.0)
        self._observe(names.DISPATCH, max(0.0, time.monotonic() - sent - used - queued))
        if (audited := audit_seconds(result)) is not None:
            self._observe(names.AUDIT, audited)
        if check.timed_out or check.crashed is not None:
            cause = "time" if check.timed_out else check.crashed if check.crashed in CAUSES else "other"
            self._count(names.KILLED, 1, cause=cause or "other")

    def worker_started(self, kind: str) -> None:
        """A worker became ready."""
        self._count(names.STARTS, 1, kind=kind)

    def cap_hit(self, cap: str) -> None:
        """A request was refused. `cap`: its name in `Caps`."""
        self._count(names.CAPS_HIT, 1, cap=cap)

    def leaf(self, seconds: float, attempts: Sequence[LeafAttempt]) -> None:
        """A call for leaf attempts brought these."""
        self._observe(names.LEAF, seconds)
        for part in ("prompt", "completion"):
            tokens = sum(getattr(attempt, f"{part}_tokens") for attempt in attempts if not attempt.cached)
            self._count(names.TOKENS, tokens, part=part)

    def look(self, status: ClusterStatus, tally: Tally) -> None:
        """Report what is now, and what was counted since the last look."""
        for metric, value in (
            (names.QUEUED, status.queued),
            (names.IN_FLIGHT, status.in_flight),
            (names.REQUESTS_RUNNING, status.requests_running),
            (names.REQUESTS_WAITING, status.requests_waiting),
            (names.OLDEST, status.oldest_request_s),
            (names.SLOTS, sum(worker.slots for worker in status.workers if worker.state == "ready")),
            (names.IMAGE_BYTES, sum(worker.image_bytes for worker in status.workers)),
        ):
            self._made[metric.name].set(value)
        for state in STATES:
            count = sum(worker.state == state for worker in status.workers)
            self._made[names.WORKERS.name].set(count, tags={"state": state})
        before, now = asdict(self._told), asdict(tally)
        for field, metric in COUNTED.items():
            self._count(metric, now[field] - before[field])
        self._told = Tally(**now)

    def _observe(self, metric: Metric, seconds: float) -> None:
        self._made[metric.name].observe(seconds)

    def _count(self, metric: Metric, amount: int, **tags: str) -> None:
        if amount > 0:
            self._made[metric.name].inc(amount, tags=tags)


def _make(metric: Metric) -> Any:
    match metric.kind:
        case "counter":
            return ray_metrics.Counter(metric.name, metric.text, metric.tags)
        case "gauge":
            return ray_metrics.Gauge(metric.name, metric.text, metric.tags)
        case "histogram":
            return ray_metrics.Histogram(metric.name, metric.text, list(names.SECONDS), metric.tags)
