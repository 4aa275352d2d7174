"""Workers and nodes that follow demand, on a Ray that a program of its own starts (scaling.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PROGRAM = Path(__file__).with_name("scaling.py")
ENVIRONMENT = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_worker_niceness": "0",
    "RAY_enable_autoscaler_v2": "0",
}


def test_boxes_come_for_work_and_go_without_it_and_no_check_is_disturbed() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | ENVIRONMENT
    done = subprocess.run([sys.executable, str(PROGRAM)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["at_first"] == [0, 0]
    assert (found["boxes"], found["workers"]) == (3, 3), found["log"]
    assert found["count"] > 200
    assert found["wrong"] == 0
    assert (found["drained"], found["left"]) == (True, True), found["log"]
    assert found["again"] == "verified"
    assert (found["retries"], found["checks_poisoned"], found["processes"]) == (0, 0, [])
