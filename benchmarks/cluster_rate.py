"""Episodes a second through the cluster, beside the same episodes on the bare kernel in this process.

    python benchmarks/cluster_rate.py [--slots 2] [--episodes 150] [--rounds 3] [--in-flight 1 4 16 64]

Both score plans of one lemma (4 kernel checks, each plan with names of its own, so that none is known already) with the
same kernel and as many slots, and take turns, so that the machine's other work falls on both. The ratio is the
cluster's cost: 1.0 would be free. `busy` is the CPU time of the cluster's image and its children, over the slots' wall
time: what is left for the kernel of the cores it was given.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time

from image_processes import cpu_seconds

from cluster.api import ScoreRequest
from cluster.local import LocalCluster
from rlmath.episode import run_episode
from rlmath.goals import GoalsSeen
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.config import TacticsLeaf, make_prover
from rlmath.types import GoalSpec, Status

GOAL = GoalSpec("add_zero", "∀ n : Nat, n + 0 = n")
CHECKS = 4


def plan(tag: str, number: int) -> str:
    """One that no other is equal to."""
    name = f"n_{tag}_{number}".replace("-", "_")
    return f"#lemma h1 : ∀ {name} : Nat, {name} + 0 = {name}\n#assembly\nexact h1\n#end\n"


def through_cluster(cluster: LocalCluster, tag: str, count: int, in_flight: int) -> tuple[float, float]:
    """Episodes a second, and the share of the slots' time that the kernel's processes were on a core."""
    requests = (ScoreRequest(f"{tag}-{number}", GOAL, plan(tag, number)) for number in range(count))
    (worker,) = cluster.status()["workers"]
    cpu, began = cpu_seconds(worker["image_pid"]), time.perf_counter()
    for _, result in cluster.score_many(requests, max_in_flight=in_flight):
        assert result.status is Status.VERIFIED, str(result)
    wall = time.perf_counter() - began
    return count / wall, (cpu_seconds(worker["image_pid"]) - cpu) / (worker["slots"] * wall)


async def on_bare_kernel(kernel: EmbeddedKernel, tag: str, count: int, in_flight: int) -> float:
    """Episodes a second."""
    room, seen, leaf = asyncio.Semaphore(in_flight), GoalsSeen(), make_prover(TacticsLeaf())

    async def one(number: int) -> None:
        async with room:
            result = await run_episode(GOAL, plan(tag, number), kernel=kernel, leaf=leaf, goals_seen=seen)
            assert result.status is Status.VERIFIED, str(result)

    began = time.perf_counter()
    await asyncio.gather(*map(one, range(count)))
    return count / (time.perf_counter() - began)


async def run(slots: int, episodes: int, rounds: int, in_flights: list[int]) -> None:
    with LocalCluster(slots=slots, progress=print) as cluster:
        async with EmbeddedKernel(slots=slots) as kernel:
            await on_bare_kernel(kernel, "warm", 20, slots)
            await asyncio.to_thread(through_cluster, cluster, "warm", 20, slots)
            heads = f"{'in flight':>9}  {'bare':>8}  {'cluster':>8}  {'ratio':>6}  {'spread':>11}  {'busy':>5}"
            print(f"{heads}   episodes/s, medians of {rounds} rounds")
            for in_flight in in_flights:
                count = max(20, episodes // 3) if in_flight == 1 else episodes
                bare, clustered, ratios, shares = [], [], [], []
                for number in range(rounds):
                    tag = f"{in_flight}-{number}"
                    bare.append(await on_bare_kernel(kernel, tag, count, in_flight))
                    rate, share = await asyncio.to_thread(through_cluster, cluster, tag, count, in_flight)
                    clustered.append(rate)
                    shares.append(share)
                    ratios.append(rate / bare[-1])
                b, c, r, s = map(statistics.median, (bare, clustered, ratios, shares))
                spread = f"{min(ratios):.2f}–{max(ratios):.2f}"
                told = f"{in_flight:9}  {b:8.1f}  {c:8.1f}  {r:6.2f}  {spread:>11}  {s:5.2f}"
                print(f"{told}   = {c * CHECKS:.0f} checks/s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--episodes", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[1, 4, 16, 64])
    arguments = parser.parse_args()
    asyncio.run(run(arguments.slots, arguments.episodes, arguments.rounds, arguments.in_flight))
