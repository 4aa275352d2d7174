"""Faults of whole nodes, on a Ray of several nodes that a program of its own starts (nodes.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PROGRAM = Path(__file__).with_name("nodes.py")
ENVIRONMENT = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_worker_niceness": "0",
}
WATCHFUL = {
    # So that a node that is frozen is found out within some ten seconds, and none that is only slow.
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "3000",
    "RAY_health_check_failure_threshold": "3",
}
METERED = {"RAY_enable_metrics_collection": "1", "RAY_metrics_report_interval_ms": "1000"}


def told(*arguments: str, **variables: str) -> dict[str, Any]:
    """What the program prints, in an environment without the session's own Ray."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | ENVIRONMENT
    environment |= variables
    command = [sys.executable, str(PROGRAM), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def gentle() -> dict[str, Any]:
    """What came of all that leaves the nodes as they are."""
    return told("metrics", "kill_driver", "kill_children", "exhaust_memory", **METERED)


def changes_nothing(found: dict[str, Any]) -> None:
    assert found["ill"] == found["calm"]
    assert len(found["ill"]["verdicts"]) == 40
    assert found["at_home"]
    assert [found["status"][key] for key in ("queued", "in_flight", "requests_running")] == [0, 0, 0]


@pytest.mark.parametrize("fault", ["kill_children", "exhaust_memory"])
def test_children_that_die_of_memory_change_no_verdict_and_no_charge(gentle: dict[str, Any], fault: str) -> None:
    changes_nothing(gentle[fault])
    assert gentle[fault]["states"] == ["ready", "ready"]
    assert (fault == "kill_children") == bool(gentle[fault]["hit"])


@pytest.mark.parametrize("fault", ["kill_node", "freeze_node"])
def test_a_node_that_is_gone_changes_no_verdict_and_no_charge_and_leaves_nothing(fault: str) -> None:
    found = told(fault, **WATCHFUL)
    changes_nothing(found[fault])
    assert found["left"] == []
    assert len(found[fault]["hit"]) > 3
    assert found[fault]["status"]["retries"] > 0
    assert found[fault]["states"].count("ready") == 1


def test_a_program_that_is_killed_leaves_nothing_on_any_node(gentle: dict[str, Any]) -> None:
    found = gentle["kill_driver"]
    assert len(found["hit"]) > 4
    assert (found["left"], found["scratch"]) == ([], False)
    assert gentle["left"] == []


def test_what_is_counted_is_to_be_read_at_rays_metrics_port(gentle: dict[str, Any]) -> None:
    asked = gentle["metrics"]
    found, checks = asked["found"], asked["checks"]
    assert asked["at_home"]
    assert asked["absent"] == []
    assert found["ray_rlmath_checks_done_total"] == checks > 40
    assert found["ray_rlmath_check_elaborate_seconds_count"] == checks
    assert found['ray_rlmath_caps_hit_total cap="leaf_attempts"'] == 1
    assert found['ray_rlmath_children_killed_total cause="time"'] == 1
    assert found['ray_rlmath_workers state="ready"'] == 2
    assert found['ray_rlmath_worker_starts_total kind="default/standard"'] == 2
    assert found['ray_rlmath_leaf_tokens_total part="completion"'] > 0
    assert found["ray_rlmath_leaf_seconds_count"] == asked["requests"] > 0
    assert found["ray_rlmath_image_bytes"] > 20 << 20
    assert found["ray_rlmath_check_cache_hits_total"] > 0
