"""A program with a Ray of several nodes on this machine, run by test_nodes.py: `nodes.py WHAT …`.

Two nodes have a worker each. A calm run is followed by others, in whose middle a fault comes. It prints one line of
JSON: the verdicts and charges of all, and which processes are left in the end.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx
import ray
from cluster_helpers import (
    ENDLESS,
    GOAL,
    TRUE,
    alive,
    checks,
    descendants,
    expected,
    gone,
    renamed,
    requests,
    until,
)
from prometheus_client.parser import text_string_to_metric_families
from ray.cluster_utils import Cluster

from cluster.api import Caller, ClusterSettings
from cluster.caps import Caps
from cluster.kinds import MemoryClass
from cluster.local import LocalCluster
from cluster.metrics import ALL
from rlmath.errors import CapReached
from rlmath.kernel.protocol import Source
from rlmath.leaf.config import OpenAILeaf
from rlmath.types import Budgets

sys.path.insert(0, str(Path(__file__).parents[1]))

from openai_stub import OpenAIStub

COUNT, AFTER = 40, 8
SLOTS = 2
SETTINGS = ClusterSettings(ping_period_s=0.5, ping_timeout_s=3.0, kernel_grace_s=3.0, absence_s=60.0)
HOG = Source(
    "set_option exponentiation.threshold 99999999999999 in\n"
    "theorem hog : (2 : Nat) ^ 2000000000 % 2 = 0 := by simp only [Nat.reducePow, Nat.reduceMod]"
)
"""Takes a few times 250 MB."""
MEMORY = (MemoryClass("small", 1 << 29),)
CAP_HIT = 'ray_rlmath_caps_hit_total cap="leaf_attempts"'
CHECKS_DONE = "ray_rlmath_checks_done_total"
TAGS = ("cap", "cause", "kind", "part", "state")
QUIET = {"rlmath_check_retries", "rlmath_checks_poisoned", "rlmath_checks_moved", "rlmath_checks_shared"}
"""Those that nothing in `measured` is sure to lead to."""


class Nodes:
    """The Ray, and who lives where."""

    def __init__(self) -> None:
        self.ray = Cluster()
        for arguments in ({"num_cpus": 0, "include_dashboard": False}, {"num_cpus": SLOTS}, {"num_cpus": SLOTS}):
            self._add(arguments)

    def _add(self, arguments: dict[str, Any]) -> None:
        """On a machine that is very busy Ray gives itself up: that is tried again."""
        for attempt in range(3):
            before = set(descendants(os.getpid()))
            try:
                self.ray.add_node(**arguments)
                return
            except Exception:
                signal_all(set(descendants(os.getpid())) - before, signal.SIGKILL)
                if attempt == 2:
                    raise

    def processes(self, node_id: str) -> list[int]:
        """Of a node: its node manager and all that this has started."""
        (node,) = (node for node in self.ray.worker_nodes if node.node_id.startswith(node_id))
        pids = [each.process.pid for of in node.all_processes.values() for each in of]
        return pids + [pid for parent in pids for pid in descendants(parent)]


def at_home(cluster: LocalCluster) -> bool:
    """Whether the scheduler is on this program's node, where its journal is."""
    scheduler = ray.get_actor("scheduler", namespace=cluster.namespace)
    its = ray.get(scheduler.__ray_call__.remote(lambda _: ray.get_runtime_context().get_node_id()))
    return bool(its == ray.get_runtime_context().get_node_id())


def other_node(cluster: LocalCluster) -> str:
    """One that neither this program nor its scheduler is on."""
    here = ray.get_runtime_context().get_node_id()
    return next(w["node"] for w in cluster.status()["workers"] if not here.startswith(w["node"]))


def signal_all(pids: Iterable[int], which: signal.Signals) -> None:
    """Some may have ended since they were listed: children of an image live for one check."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, which)


def kill_node(nodes: Nodes, cluster: LocalCluster, hit: list[int]) -> None:
    hit += nodes.processes(other_node(cluster))
    signal_all(hit, signal.SIGKILL)


def freeze_node(nodes: Nodes, cluster: LocalCluster, hit: list[int]) -> None:
    hit += nodes.processes(other_node(cluster))
    signal_all(hit, signal.SIGSTOP)


def exhaust_memory(nodes: Nodes, cluster: LocalCluster, hit: list[int]) -> None:
    client, loop = cluster._running()
    hog = loop.run(client.check(HOG, timeout_s=30.0, caller=Caller("hog")))
    assert hog.crashed == "memory", hog


def kill_children(nodes: Nodes, cluster: LocalCluster, hit: list[int]) -> None:
    """As Linux does when memory runs out: some, without a word."""

    def strike() -> bool:
        for worker in cluster.status()["workers"]:
            hit.extend(checks(worker["image_pid"]))
        signal_all(hit, signal.SIGKILL)
        return bool(hit)

    until(strike, 30.0)


FAULTS = {fault.__name__: fault for fault in (kill_node, freeze_node, exhaust_memory, kill_children)}


def run(cluster: LocalCluster, prefix: str, fault: Any = None) -> dict[str, Any]:
    """Verdicts by number, and what was charged."""
    of = cluster.open_run(client=prefix)
    verdicts = {}
    for request, result in cluster.score_many(requests(prefix, COUNT, 10.0), max_in_flight=16, run=of):
        assert result.status is expected(request), str(result)
        shown = result.to_json()
        del shown["timings"], shown["attempts_speculated"]
        verdicts[request.request_id.rsplit("-", 1)[1]] = shown
        if len(verdicts) == AFTER and fault is not None:
            fault()
    return {"verdicts": verdicts, "leaf_attempts": of.account().spent.leaf_attempts}


def drive(nodes: Nodes) -> dict[str, Any]:
    """A program that uses both nodes is killed: nothing of it is left on either."""
    command = [sys.executable, str(Path(__file__).with_name("driver.py")), "score", nodes.ray.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        pids = [pid for each in told["pids"] for pid in (each, *descendants(each))]
        process.kill()
        process.wait()
        until(lambda: not Path(told["scratch"]).exists(), 15.0)
        return {"left": gone(pids, 15.0), "hit": pids, "scratch": Path(told["scratch"]).exists()}


def metrics_url(node: Any) -> str:
    return f"http://{node.node_ip_address}:{node.metrics_export_port}/metrics"


def series(url: str) -> dict[str, float]:
    """What Prometheus would have of a metrics port, by name and that of our tags that tells samples apart; empty: it
    does not answer yet."""
    found = {}
    with contextlib.suppress(httpx.TransportError):
        for family in text_string_to_metric_families(httpx.get(url).raise_for_status().text):
            for sample in family.samples:
                tag = next((f' {tag}="{sample.labels[tag]}"' for tag in TAGS if tag in sample.labels), "")
                found[sample.name + tag] = sample.value
    return found


def measured(nodes: Nodes) -> dict[str, Any]:
    """What the metrics port of this program's node says, after one of each thing that is counted."""
    urls = {each.node_id: metrics_url(each) for each in nodes.ray.list_all_nodes()}
    for url in urls.values():
        # Ray's processes try for 30 s to reach the agent of their node. The port answers before the agent takes what
        # they count: it does when it shows something that the node manager has told it.
        assert until(lambda url=url: "ray_resources" in series(url), 120.0), url
    with LocalCluster(nodes.ray.address, slots=SLOTS) as cluster, OpenAIStub("```lean4\nomega\n```") as stub:
        run(cluster, "measured")
        cluster.score(GOAL, ENDLESS, budgets=Budgets(verify_timeout_s=0.5))
        cluster.score(GOAL, TRUE, leaf=OpenAILeaf(base_url=stub.base_url, model="stub"))
        for _ in range(2):
            cluster.score(GOAL, TRUE)
        with contextlib.suppress(CapReached):
            cluster.score(GOAL, renamed(TRUE, "m"), run=cluster.open_run(caps=Caps(leaf_attempts=0)))
        url = urls[ray.get_runtime_context().get_node_id()]
        told: dict[str, Any] = {}

        def complete() -> bool:
            # All at once: a check that was stopped may be counted late, and Ray forgets a gauge after two seconds.
            found, checks = series(url), cluster.status()["checks_done"]
            names = {name.split()[0] for name in found}
            absent = [m.name for m in ALL if m.name not in QUIET and not names & set(m.series)]
            told.update(found=found, checks=checks, absent=absent)
            return found.get(CHECKS_DONE) == checks and CAP_HIT in found and not absent

        until(complete, 60.0)
        return told | {"requests": len(stub.requests), "at_home": at_home(cluster)}


def faulty(nodes: Nodes, names: list[str]) -> dict[str, Any]:
    """A calm run, and one for each fault."""
    told: dict[str, Any] = {}
    with LocalCluster(nodes.ray.address, slots=SLOTS, settings=SETTINGS, memory=MEMORY) as cluster:
        assert [worker["state"] for worker in cluster.status()["workers"]] == ["ready", "ready"]
        calm = run(cluster, "calm")
        for name in names:
            hit: list[int] = []
            try:
                ill = run(cluster, name, lambda name=name, hit=hit: FAULTS[name](nodes, cluster, hit))
            except BaseException:
                signal_all(filter(alive, hit), signal.SIGKILL)  # a frozen one does not see that its owner has gone
                raise
            states = sorted(worker["state"] for worker in cluster.status()["workers"])
            status = {key: cluster.status()[key] for key in ("queued", "in_flight", "requests_running", "retries")}
            told[name] = {"calm": calm, "ill": ill, "states": states, "status": status, "hit": hit}
            told[name]["at_home"] = at_home(cluster)
            if name == "freeze_node":
                signal_all(filter(alive, hit), signal.SIGCONT)
    return told


def main(names: list[str]) -> None:
    nodes = Nodes()
    told: dict[str, Any] = {}
    try:
        if "metrics" in names:
            told["metrics"] = measured(nodes)
        if "kill_driver" in names:
            told["kill_driver"] = drive(nodes)
        told |= faulty(nodes, [name for name in names if name in FAULTS])
    finally:
        everything = descendants(os.getpid())
        nodes.ray.shutdown()
    for pid in (pid for each in told.values() for pid in each.get("hit", ())):
        everything.append(pid)
    print(json.dumps({**told, "left": gone(everything, 20.0)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
