"""A program with a Ray whose nodes come and go, run by test_scaling.py. It prints one line of JSON.

Ray's own stand-in for a cloud (configs/ray/fake.yaml) starts nodes as processes of this machine. From none, work makes
three of them; without work they go; work brings one back.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import ray
import yaml
from cluster_helpers import GOAL, TRUE, descendants, expected, gone, renamed, requests, until

from cluster.autoscale import Autoscale
from cluster.local import LocalCluster
from cluster.ray_session import address_of
from rlmath.errors import InputError

CONFIG = Path(__file__).parents[2] / "configs" / "ray" / "fake.yaml"
BOUNDS = Autoscale(worker_slots=2, max_workers=3, idle_s=3.0)


def start(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    config = yaml.safe_load(CONFIG.read_text()) | {"idle_timeout_minutes": 0.1}
    config["provider"]["gcs_address"] = address  # it takes port 6379 for granted
    path = folder / "fake.json"
    path.write_text(json.dumps(config))
    command = [
        str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", f"--port={port}", "--num-cpus=0",
        "--node-ip-address=127.0.0.1", "--object-store-memory=100000000", "--include-dashboard=false",
        f"--autoscaling-config={path}",
    ]  # fmt: skip
    environment = os.environ | {"AUTOSCALER_UPDATE_INTERVAL_S": "1", "RAY_FAKE_CLUSTER": "1"}
    log = (folder / "ray.log").open("wb")
    return subprocess.Popen(command, env=environment, stdout=log, stderr=log), address


def note(what: str, began: float = time.monotonic()) -> None:  # when the program began
    """For whoever has to find out why it failed."""
    print(f"[{time.monotonic() - began:6.1f}s] {what}", file=sys.stderr, flush=True)


def boxes() -> int:
    """Nodes that have come for the work."""
    nodes: Any = ray.nodes
    return sum(node["Alive"] and "lean" in node["Resources"] for node in nodes())


class Watch(threading.Thread):
    """Counts boxes and workers while the program does something else."""

    def __init__(self, cluster: LocalCluster) -> None:
        super().__init__(daemon=True)
        self._cluster, self.most_boxes, self.most_workers, self._done = cluster, 0, 0, threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.5):
            self.most_boxes = max(self.most_boxes, boxes())
            self.most_workers = max(self.most_workers, len(self._cluster.status()["workers"]))

    def stop(self) -> None:
        self._done.set()
        self.join()


def main() -> None:
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        process, address = start(Path(folder))
        try:
            began = time.monotonic()
            while True:
                try:
                    cluster = LocalCluster(address, slots=2, autoscale=BOUNDS).start()
                    break
                except InputError:
                    if time.monotonic() - began > 60 or address_of(address) is None:
                        raise
                    time.sleep(0.5)
            with cluster:
                note("connected")
                told["at_first"] = [boxes(), len(cluster.status()["workers"])]
                watch = Watch(cluster)
                watch.start()
                began, first = time.monotonic(), None
                wrong = count = 0
                for request, result in cluster.score_many(_work(cluster, watch), max_in_flight=24):
                    if first is None:
                        first = time.monotonic() - began
                        note("first answer")
                    wrong += result.status is not expected(request)
                    count += 1
                watch.stop()
                note(f"{count} answers, {watch.most_boxes} boxes")
                told |= {"first_s": first, "count": count, "wrong": wrong}
                told |= {"boxes": watch.most_boxes, "workers": watch.most_workers}
                told["drained"] = until(lambda: not cluster.status()["workers"], 30)
                note("workers are gone")
                told["left"] = until(lambda: boxes() == 0, 60)
                note("boxes are gone")
                told["again"] = cluster.score(GOAL, renamed(TRUE, "m")).status.value
                note("answered again")
                told |= {key: cluster.status()[key] for key in ("retries", "checks_poisoned")}
        finally:
            everything = descendants(process.pid)
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            for pid in [process.pid, *everything]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
            told["processes"] = gone(everything, 20)
            told["log"] = (Path(folder) / "ray.log").read_text(errors="replace")[-2000:]
    print(json.dumps(told), flush=True)


def _work(cluster: LocalCluster, watch: Watch) -> Any:
    """Requests until three boxes have come, and for a while after."""
    deadline = time.monotonic() + 90
    for number, request in enumerate(requests("scaled", 4_000)):
        if time.monotonic() > deadline or (watch.most_boxes >= 3 and number > 200):
            return
        yield request


if __name__ == "__main__":
    main()
