"""Several kernels and memory classes in one cluster, on a real Ray with real kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from cluster_helpers import GOAL, TRUE, kernel_checks, renamed

from cluster.api import Caller, ScoreRequest
from cluster.kinds import MemoryClass
from cluster.local import LocalCluster
from rlmath.kernel.config import EmbeddedKernelConfig
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.types import Status

pytestmark = pytest.mark.cluster

HOG = Source(
    "set_option exponentiation.threshold 99999999999999 in\n"
    "theorem hog : (2 : Nat) ^ 2000000000 % 2 = 0 := by simp only [Nat.reducePow, Nat.reduceMod]"
)
"""Takes a few times 250 MB, and comes to an ordinary error."""
KERNELS = (EmbeddedKernelConfig(), EmbeddedKernelConfig(name="second"))
MEMORY = (MemoryClass("small", 1 << 29), MemoryClass("large", 4 << 30, slots=1))


@pytest.fixture(scope="module")
def several(cluster: LocalCluster) -> Iterator[LocalCluster]:
    """On the session's Ray."""
    with LocalCluster(slots=2, kernels=KERNELS, memory=MEMORY) as running:
        yield running


def check(several: LocalCluster, client: str, **where: str) -> CheckResult:
    asked, loop = several._running()
    return loop.run(asked.check(HOG, timeout_s=60.0, caller=Caller(client), **where))


def done(several: LocalCluster) -> dict[str, Any]:
    status = several.status()
    return {key: status[key] for key in ("checks_done", "checks_moved", "retries")}


def test_each_kernel_has_a_worker_of_each_class(several: LocalCluster) -> None:
    workers = {worker["environment"]: worker for worker in several.status()["workers"]}
    assert {name: worker["slots"] for name, worker in workers.items()} == {
        "default/small": 2,
        "default/large": 1,
        "second/small": 2,
        "second/large": 1,
    }
    assert len({worker["image_pid"] for worker in workers.values()}) == 4
    assert set(several.status()["kernels"]) == {"default", "second"}


def test_what_dies_of_memory_is_tried_once_in_the_next_class_beside_healthy_checks(several: LocalCluster) -> None:
    before = done(several)
    healthy, loop = several._running()
    beside = [loop.submit(healthy.score(ScoreRequest(f"beside-{n}", GOAL, renamed(TRUE, "k")))) for n in range(3)]
    result = check(several, "moves")
    assert result.crashed is None
    assert "kernel" in result.errors[0].text
    assert {future.result().status for future in beside} == {Status.VERIFIED}
    after = done(several)
    assert (after["checks_moved"] - before["checks_moved"], after["retries"]) == (1, before["retries"])
    # The answer is known from now on, and so is its class.
    assert check(several, "moves") == result
    assert done(several) == after


def test_a_request_may_ask_for_a_class_and_a_kernel(several: LocalCluster) -> None:
    before = done(several)
    result = check(several, "asks", kernel="second", memory="large")
    assert result.crashed is None
    after = done(several)
    assert (after["checks_done"] - before["checks_done"], after["checks_moved"]) == (1, before["checks_moved"])


def test_a_plan_is_judged_by_the_kernel_it_names(several: LocalCluster) -> None:
    client, loop = several._running()
    plan = renamed(TRUE, "named")
    before = kernel_checks(several)
    for kernel, other in (("second", "default"), ("", "second")):
        result = loop.run(client.score(ScoreRequest(f"named-{kernel}", GOAL, plan, kernel=kernel)))
        assert result.status is Status.VERIFIED
        after = kernel_checks(several)
        assert after[f"{kernel or 'default'}/small"] > before[f"{kernel or 'default'}/small"]
        assert after[f"{other}/small"] == before[f"{other}/small"], "one kernel's results are not another's"
        before = after
