"""Coming up, and leaving nothing behind, however the program ends. The programs run as processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cluster_helpers import descendants, gone, until

from cluster.local import LocalCluster

pytestmark = pytest.mark.cluster

DRIVER = Path(__file__).with_name("driver.py")
SOON_S = 15.0
"""Within it everything has to be gone."""


@contextmanager
def driver(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, str(DRIVER), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def ready(process: subprocess.Popen[str]) -> tuple[list[int], Path]:
    """Wait until the program's cluster is up. Pids of its scheduler, worker and image; the folder of its journal."""
    assert process.stdout is not None
    said = process.stdout.readline()
    assert said.startswith("{"), said
    told = json.loads(said)
    assert told["stages"][0] == "ray"
    assert told["stages"][-1] == "ready"
    pids = [int(pid) for pid in told["pids"]]
    scratch = Path(told["scratch"])
    assert any(scratch.iterdir())
    return pids + descendants(pids[-1]), scratch


def lives(cluster: LocalCluster) -> list[tuple[int, int]]:
    """Of its workers: pid, and how often they became ready."""
    return [(worker["pid"], worker["starts"]) for worker in cluster.status()["workers"]]


def address(cluster: LocalCluster) -> str:
    return str(cluster.status()["address"])


@pytest.mark.parametrize(("how", "ending"), [("wait", None), ("score", signal.SIGINT), ("score", signal.SIGKILL)])
def test_a_program_that_joins_a_ray_leaves_no_actor_there(
    cluster: LocalCluster, how: str, ending: signal.Signals | None
) -> None:
    ours = lives(cluster)
    with driver(how, address(cluster)) as process:
        pids, scratch = ready(process)
        if ending is None:
            assert process.stdin is not None
            process.stdin.close()
        else:
            process.send_signal(ending)
        assert process.wait(SOON_S) == {None: 0, signal.SIGINT: 130}.get(ending, -signal.SIGKILL)
        assert gone(pids, SOON_S) == []
        assert until(lambda: not scratch.exists(), SOON_S)
    assert lives(cluster) == ours


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_a_program_that_started_a_ray_leaves_no_process(ending: signal.Signals) -> None:
    with driver("score") as process:
        pids, scratch = ready(process)
        everything = set(pids) | set(descendants(process.pid))
        assert len(everything) > len(pids), "Ray's own processes are among them"
        process.send_signal(ending)
        process.wait(SOON_S)
        assert gone(everything, SOON_S) == []
        assert until(lambda: not scratch.exists(), SOON_S)


def test_a_kernel_that_cannot_start_is_one_clear_error(cluster: LocalCluster) -> None:
    with driver("broken", address(cluster)) as process:
        said, _ = process.communicate(timeout=120)
        assert process.returncode == 2
    assert said.startswith("KernelUnavailable: no Lean worker could start: ")
    assert "/dev/null/nowhere" in said
    assert said.count("\n") == 1


def test_the_cluster_is_closed_to_whoever_has_no_token(cluster: LocalCluster) -> None:
    stranger = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_TOKEN"} | {
        "RAY_AUTH_MODE": "disabled"
    }
    joined = subprocess.run(
        [sys.executable, "-c", f"import ray; ray.init(address={address(cluster)!r})"],
        env=stranger,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert joined.returncode != 0
    assert "InvalidAuthToken" in joined.stderr


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "127.0.0.1:port", "nonsense"])
def test_an_address_that_nobody_answers_is_one_clear_error(address: str) -> None:
    # A process of its own: this one may be connected to a Ray already.
    with driver("wait", address) as process:
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 2
    assert said.startswith("InputError: address: ")
    assert address in said
    assert "ray start --head" in said
