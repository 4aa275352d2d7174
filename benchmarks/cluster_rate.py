"""Episodes a second through the cluster, beside the same episodes on the bare kernel in this process.

    python benchmarks/cluster_rate.py [--slots 2] [--episodes 150] [--rounds 3]

Both score the same plan (one lemma: 4 kernel checks) with the same kernel and as many slots, and take turns,
so that the machine's other work falls on both. The ratio is the cluster's cost: 1.0 would be free.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time

from cluster.api import ScoreRequest
from cluster.local import LocalCluster
from rlmath.episode import run_episode
from rlmath.goals import GoalsSeen
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.config import TacticsLeaf, make_prover
from rlmath.types import GoalSpec, Status

GOAL = GoalSpec("add_zero", "∀ n : Nat, n + 0 = n")
PLAN = "#lemma h1 : ∀ n : Nat, n + 0 = n\n#assembly\nexact h1\n#end\n"
CHECKS = 4
IN_FLIGHT = (1, 4, 16, 64)


def through_cluster(cluster: LocalCluster, tag: str, count: int, in_flight: int) -> float:
    """Episodes a second."""
    requests = (ScoreRequest(f"{tag}-{number}", GOAL, PLAN) for number in range(count))
    began = time.perf_counter()
    for _, result in cluster.score_many(requests, max_in_flight=in_flight):
        assert result.status is Status.VERIFIED, str(result)
    return count / (time.perf_counter() - began)


async def on_bare_kernel(kernel: EmbeddedKernel, count: int, in_flight: int) -> float:
    """Episodes a second."""
    room, seen, leaf = asyncio.Semaphore(in_flight), GoalsSeen(), make_prover(TacticsLeaf())

    async def one() -> None:
        async with room:
            result = await run_episode(GOAL, PLAN, kernel=kernel, leaf=leaf, goals_seen=seen)
            assert result.status is Status.VERIFIED, str(result)

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(count)))
    return count / (time.perf_counter() - began)


async def run(slots: int, episodes: int, rounds: int) -> None:
    with LocalCluster(slots=slots, progress=print) as cluster:
        async with EmbeddedKernel(slots=slots) as kernel:
            await on_bare_kernel(kernel, 20, slots)
            await asyncio.to_thread(through_cluster, cluster, "warm", 20, slots)
            print(
                f"{'in flight':>9}  {'bare':>8}  {'cluster':>8}  {'ratio':>6}   episodes/s, medians of {rounds} rounds"
            )
            for in_flight in IN_FLIGHT:
                count = max(20, episodes // 3) if in_flight == 1 else episodes
                bare, clustered, ratios = [], [], []
                for number in range(rounds):
                    bare.append(await on_bare_kernel(kernel, count, in_flight))
                    tag = f"{in_flight}-{number}"
                    clustered.append(await asyncio.to_thread(through_cluster, cluster, tag, count, in_flight))
                    ratios.append(clustered[-1] / bare[-1])
                b, c, r = map(statistics.median, (bare, clustered, ratios))
                print(f"{in_flight:9}  {b:8.1f}  {c:8.1f}  {r:6.2f}   = {c * CHECKS:.0f} checks/s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--episodes", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    asyncio.run(run(arguments.slots, arguments.episodes, arguments.rounds))
