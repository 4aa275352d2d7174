"""`rlmath top` beside a cluster that runs: through its gateway, and through its Ray."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from cluster_helpers import GOAL, TRUE

from cluster.local import LocalCluster

pytestmark = pytest.mark.cluster


def top(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rlmath.cli", "top", *arguments, "--once", "--interval", "0.5"]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=dict(os.environ, COLUMNS="160", RAY_ADDRESS="")
    )


def test_it_looks_through_the_gateway_and_through_ray(cluster: LocalCluster) -> None:
    cluster.score(GOAL, TRUE)
    pid = cluster.status()["workers"][0]["pid"]
    ways = [[cluster.url], ["--cluster", cluster.status()["address"], "--namespace", cluster.namespace]]
    for way in ways:
        done = top(*way)
        assert done.returncode == 0, done.stderr
        assert "1 of 1 ready, 2 slots" in done.stdout
        assert "default/standard" in done.stdout
        assert "·· 0/2" in done.stdout
    assert cluster.status()["workers"][0]["pid"] == pid
    assert cluster.score(GOAL, TRUE).reward == 1.0


def test_a_cluster_that_is_not_there_is_told(cluster: LocalCluster) -> None:
    done = top("--cluster", cluster.status()["address"], "--namespace", "nobody's")
    assert (done.returncode, done.stdout) == (2, "")
    assert "namespace: no cluster is called nobody's: there is " in done.stderr
    assert cluster.namespace in done.stderr
