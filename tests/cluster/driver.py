"""A program that uses a cluster, run by test_lifecycle.py: `driver.py HOW [ADDRESS]`.

It prints one line of JSON, the pids of its actors and its image and the folder of its journal, and then waits in the
way that HOW names.
"""

from __future__ import annotations

import json
import os
import sys

import ray
from cluster_helpers import ENDLESS, GOAL

from cluster.local import LocalCluster
from rlmath.errors import RlmathError
from rlmath.types import Budgets


def main(how: str, address: str | None) -> int:
    if how == "broken":
        ray.init(address=address, runtime_env={"env_vars": {"RLMATH_CACHE": "/dev/null/nowhere"}}, log_to_driver=False)
        address = None
    told = []
    try:
        with LocalCluster(address, slots=1, progress=told.append) as cluster:
            worker = cluster.status()["workers"][0]
            scheduler = ray.get_actor("scheduler", namespace=cluster.namespace)
            pid = ray.get(scheduler.__ray_call__.remote(lambda _: os.getpid()))
            scratch = cluster._scratch.name if cluster._scratch else None
            pids, stages = [pid, worker["pid"], worker["image_pid"]], [w.stage for w in told]
            print(json.dumps({"pids": pids, "stages": stages, "scratch": scratch}), flush=True)
            if how == "wait":
                sys.stdin.read()
            else:
                cluster.score(GOAL, ENDLESS, budgets=Budgets(verify_timeout_s=600.0))
    except KeyboardInterrupt:
        return 130
    except RlmathError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
