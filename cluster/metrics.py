"""The names of the cluster's metrics: what `telemetry.py` reports and what the dashboard (configs/grafana) shows.

Ray serves them as `ray_<name>` on the metrics port of the scheduler's node; counters end in `_total` there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Bounds of the histograms' buckets."""


@dataclass(frozen=True)
class Metric:
    """One metric."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    text: str
    tags: tuple[str, ...] = ()

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the time series that Prometheus has of it."""
        if self.kind == "counter":
            return (f"ray_{self.name}_total",)
        if self.kind == "gauge":
            return (f"ray_{self.name}",)
        return tuple(f"ray_{self.name}_{part}" for part in ("bucket", "sum", "count"))


QUEUED = Metric("rlmath_checks_queued", "gauge", "Checks that wait for a worker")
IN_FLIGHT = Metric("rlmath_checks_in_flight", "gauge", "Checks that workers have")
REQUESTS_RUNNING = Metric("rlmath_requests_running", "gauge", "Requests under judgement")
REQUESTS_WAITING = Metric("rlmath_requests_waiting", "gauge", "Requests that wait for their turn")
OLDEST = Metric("rlmath_oldest_request_seconds", "gauge", "Age of the oldest request that is not answered")
WORKERS = Metric("rlmath_workers", "gauge", "Lean workers by state", ("state",))
SLOTS = Metric("rlmath_slots", "gauge", "Checks that ready workers make at once")
IMAGE_BYTES = Metric("rlmath_image_bytes", "gauge", "Resident memory of the warm images, all together")
WAIT = Metric("rlmath_check_wait_seconds", "histogram", "From a check's coming to its being sent to a worker")
DISPATCH = Metric("rlmath_check_dispatch_seconds", "histogram", "Of a check's time at a worker, what no process used")
ELABORATE = Metric("rlmath_check_elaborate_seconds", "histogram", "Time of a check's own process")
AUDIT = Metric("rlmath_check_audit_seconds", "histogram", "Time of a certificate's judge and reference")
CHECKS = Metric("rlmath_checks_done", "counter", "Results that workers gave")
RETRIES = Metric("rlmath_check_retries", "counter", "Checks tried again after an infrastructure failure")
CACHE_HITS = Metric("rlmath_check_cache_hits", "counter", "Checks whose result was known")
SHARED = Metric("rlmath_checks_shared", "counter", "Checks that joined an identical one under way")
POISONED = Metric("rlmath_checks_poisoned", "counter", "Checks given up because workers died under them")
MOVED = Metric("rlmath_checks_moved", "counter", "Checks tried again with more memory")
CAPS_HIT = Metric("rlmath_caps_hit", "counter", "Requests refused because a cap is reached", ("cap",))
KILLED = Metric("rlmath_children_killed", "counter", "Checks that came to a bad end, by cause", ("cause",))
STARTS = Metric("rlmath_worker_starts", "counter", "Workers that became ready", ("kind",))
LEAF = Metric("rlmath_leaf_seconds", "histogram", "Time of a call for leaf attempts")
TOKENS = Metric("rlmath_leaf_tokens", "counter", "Tokens of leaf models", ("part",))

ALL = (
    QUEUED, IN_FLIGHT, REQUESTS_RUNNING, REQUESTS_WAITING, OLDEST, WORKERS, SLOTS, IMAGE_BYTES, WAIT, DISPATCH,
    ELABORATE, AUDIT, CHECKS, RETRIES, CACHE_HITS, SHARED, POISONED, MOVED, CAPS_HIT, KILLED, STARTS, LEAF, TOKENS,
)  # fmt: skip
"""Each of them."""
