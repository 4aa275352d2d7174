"""What Prometheus reads at `/metrics`. No label names a client: who may read the numbers learns nothing of others."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from cluster.api import ClusterStatus

SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counters of one gateway."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._answered: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self.requests = Counter(
            "rlmath_http_requests", "HTTP requests by route and status", ("route", "code"), registry=self._registry
        )
        self.seconds = Histogram(
            "rlmath_http_request_seconds",
            "Time to the last byte of a reply, waiting included",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self.verdicts = Counter("rlmath_verdicts", "Verdicts given, by status", ("status",), registry=self._registry)
        self.checks = Counter(
            "rlmath_checks", "Lean sources checked, by outcome", ("outcome",), registry=self._registry
        )
        self.abandoned = Counter(
            "rlmath_requests_abandoned", "Requests ended because their callers went away", registry=self._registry
        )

    def answered(self, route: str, code: int, seconds: float) -> None:
        """Count an HTTP request."""
        # Looking up a labelled metric costs more than counting in it.
        known = self._answered.get((route, code))
        if known is None:
            known = self.requests.labels(route, str(code)), self.seconds.labels(route)
            self._answered[route, code] = known
        known[0].inc()
        known[1].observe(seconds)

    def page(self, gauges: Iterator[Metric]) -> bytes:
        """The text that Prometheus reads; `gauges` are read off the scheduler at this moment."""
        now = CollectorRegistry()
        now.register(_Now(list(gauges)))
        return generate_latest(self._registry) + generate_latest(now)


class _Now:
    """Metrics with their values as they are."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> list[Metric]:
        return self._metrics


def gauges(status: ClusterStatus | None, open_requests: int, kept: int, kept_bytes: int) -> Iterator[Metric]:
    """The state of things as gauges. `status`: None when the scheduler does not say."""

    def gauge(name: str, text: str, value: float) -> Metric:
        return GaugeMetricFamily(name, text, value=value)

    yield gauge("rlmath_gateway_requests_open", "Requests accepted and not answered", open_requests)
    yield gauge("rlmath_gateway_answers_kept", "Answers kept for requests that are asked again", kept)
    yield gauge("rlmath_gateway_answers_kept_bytes", "Their size", kept_bytes)
    if status is None:
        return
    workers = GaugeMetricFamily("rlmath_workers", "Lean workers by state", labels=("state",))
    for state in ("starting", "ready", "lost", "refused"):
        workers.add_metric((state,), sum(worker.state == state for worker in status.workers))
    yield workers
    yield gauge(
        "rlmath_slots",
        "Checks that ready workers make at once",
        sum(w.slots for w in status.workers if w.state == "ready"),
    )
    yield gauge("rlmath_checks_queued", "Checks that wait for a worker", status.queued)
    yield gauge("rlmath_checks_in_flight", "Checks that workers have", status.in_flight)
    yield gauge("rlmath_requests_running", "Completions under judgement", status.requests_running)
    yield gauge("rlmath_requests_waiting", "Completions that wait for their turn", status.requests_waiting)
    yield gauge("rlmath_checks_done", "Checks made since the scheduler started", status.checks_done)
    yield gauge("rlmath_check_retries", "Checks made once more after an infrastructure failure", status.retries)
