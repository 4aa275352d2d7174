"""Real faults, in the middle of a run: every request is answered, with the verdict of an undisturbed run."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest
from cluster_helpers import alive, checks, expected, kill_scheduler, requests, until

from cluster.local import LocalCluster
from rlmath.render import ScoredResult
from rlmath.types import Status

pytestmark = pytest.mark.cluster

COUNT = 40
TIMEOUT_S = 5.0
"""Of a check. A kernel that answers nothing is found out when the longest that may be ahead of a check has passed too.
"""
UNAUDITED = {Status.STATEMENT_ILL_FORMED, Status.LEAF_FAILED}
AFTER = 8
"""The fault comes after so many answers."""


def worker_pid(cluster: LocalCluster) -> int:
    return int(cluster.status()["workers"][0]["pid"])


def image_pid(cluster: LocalCluster) -> int:
    assert until(lambda: cluster.status()["workers"][0]["image_pid"] is not None, 30)
    return int(cluster.status()["workers"][0]["image_pid"])


def kill_worker(cluster: LocalCluster) -> None:
    os.kill(worker_pid(cluster), signal.SIGKILL)


def kill_image(cluster: LocalCluster) -> None:
    os.kill(image_pid(cluster), signal.SIGKILL)


def kill_children(cluster: LocalCluster) -> None:
    """All of them, so that the busy ones are among them."""
    killed = checks(image_pid(cluster))
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)


def run(cluster: LocalCluster, prefix: str, fault: Callable[[LocalCluster], None] | None) -> dict[str, ScoredResult]:
    """Results by number, with the fault in the middle. As a client of its own: no verdict of another run serves it."""
    results: dict[str, ScoredResult] = {}
    of = cluster.open_run(client=prefix)
    for request, result in cluster.score_many(requests(prefix, COUNT), max_in_flight=16, run=of):
        assert result.status is expected(request), str(result)
        results[request.request_id.rsplit("-", 1)[1]] = result
        if len(results) == AFTER and fault is not None:
            fault(cluster)
    spent = of.account().spent.leaf_attempts
    assert spent == sum(result.leaf_attempts_used for result in results.values()), "charged once"
    return results


@pytest.fixture(scope="module")
def undisturbed(cluster: LocalCluster) -> dict[str, ScoredResult]:
    return run(cluster, "undisturbed", None)


@pytest.mark.parametrize("fault", [kill_worker, kill_image, kill_children, kill_scheduler])
def test_a_fault_loses_nothing_and_changes_no_verdict(
    cluster: LocalCluster, undisturbed: dict[str, ScoredResult], fault: Callable[[LocalCluster], None]
) -> None:
    worker, image = worker_pid(cluster), image_pid(cluster)
    results = run(cluster, fault.__name__, fault)
    assert results == undisturbed
    assert len(results) == COUNT
    status = cluster.status()
    assert status["queued"] == status["in_flight"] == status["requests_running"] == 0
    if fault in (kill_worker, kill_scheduler):
        assert worker_pid(cluster) != worker
    if fault is not kill_children:
        assert image_pid(cluster) != image
    if fault is kill_worker:
        assert status["workers"][0]["starts"] > 1
        assert status["retries"] > 0


@pytest.mark.slow
def test_a_kernel_that_answers_nothing_is_replaced(cluster: LocalCluster) -> None:
    image = image_pid(cluster)
    # None of these is audited, so that little time may pass before it is clear that nothing will come.
    asked = [r for r in requests("frozen", COUNT, verify_timeout_s=4.0) if expected(r) in UNAUDITED]
    results = []
    for request, result in cluster.score_many(asked, max_in_flight=8, run=cluster.open_run(client="frozen")):
        assert result.status is expected(request), str(result)
        results.append(result)
        if len(results) == AFTER:
            os.kill(image, signal.SIGSTOP)
    assert len(results) == len(asked)
    assert image_pid(cluster) != image
    assert not alive(image)
