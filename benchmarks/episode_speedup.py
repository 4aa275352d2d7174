"""How much faster is one episode with 8 lemmas on two slots than on one?

    python benchmarks/episode_speedup.py [--rounds 9]

Both kernels run beside each other on this machine and take turns, so that its noise is shared; each round times one
episode on each. `search` has a context and proofs by induction (tens of milliseconds a check), found at the third
attempt, as with a prover that searches; `trees` is the same with the right proof first; `tiny` has small lemmas and
no context (a few milliseconds a check, most of it fixed cost, some of which is paid on the second core even with one
slot: the next child is forked ahead). The composed theorem's check elaborates all proofs once more, and
the audit follows it: that cannot be split, which bounds the gain. `bound` is the best that two slots could do with the
checks as they were timed on one. Target: at least 1.6 on `search`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from dataclasses import dataclass, field

from rlmath.episode import run_episode
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.leaf.recorded import RecordedProver
from rlmath.types import GoalSpec, KernelIdentity, Status

TARGET = 1.6

TREES = """\
inductive Tree
  | leaf
  | node (left : Tree) (value : Nat) (right : Tree)

def Tree.size : Tree → Nat
  | .leaf => 0
  | .node l _ r => l.size + r.size + 1

def Tree.sum : Tree → Nat
  | .leaf => 0
  | .node l v r => l.sum + v + r.sum

def Tree.leaves : Tree → Nat
  | .leaf => 1
  | .node l _ r => l.leaves + r.leaves

def Tree.edges : Tree → Nat
  | .leaf => 0
  | .node l _ r => l.edges + r.edges + 2

def Tree.leftSpine : Tree → Nat
  | .leaf => 0
  | .node l _ _ => l.leftSpine + 1

def Tree.rightSpine : Tree → Nat
  | .leaf => 0
  | .node _ _ r => r.rightSpine + 1

def Tree.mirror : Tree → Tree
  | .leaf => .leaf
  | .node l v r => .node r.mirror v l.mirror

def Tree.grow (k : Nat) : Tree → Tree
  | .leaf => .leaf
  | .node l v r => .node (l.grow k) (v + k) (r.grow k)
"""
ABOUT_TREES = (
    "∀ t : Tree, t.mirror.size = t.size",
    "∀ t : Tree, t.mirror.sum = t.sum",
    "∀ t : Tree, t.mirror.leaves = t.leaves",
    "∀ t : Tree, t.mirror.leftSpine = t.rightSpine",
    "∀ t : Tree, t.leaves = t.size + 1",
    "∀ t : Tree, t.edges = 2 * t.size",
    "∀ t : Tree, (t.grow 1).size = t.size",
    "∀ t : Tree, (t.grow 1).sum = t.sum + t.size",
)
UNFOLD = (
    "simp only [Tree.mirror, Tree.grow, Tree.size, Tree.sum, Tree.leaves, Tree.edges, Tree.leftSpine, Tree.rightSpine]"
)
INDUCTION = f"intro t\ninduction t with\n| leaf => rfl\n| node l v r ihl ihr =>\n  {UNFOLD} at *\n  omega"
MISSES = (f"intro t\n{UNFOLD}\nomega", f"intro t\ncases t <;> {UNFOLD} <;> omega")


@dataclass(frozen=True)
class Workload:
    """A goal that is the conjunction of 8 lemmas, and the attempts at each of them."""

    name: str
    context: str
    lemmas: tuple[str, ...]
    proof: str
    misses: tuple[str, ...] = ()
    """Attempts that fail before the proof is tried."""

    def goal(self) -> GoalSpec:
        prop = " ∧ ".join(f"({prop})" for prop in self.lemmas)
        return GoalSpec(self.name, prop, f"all_of_{self.name}", self.context)

    def completion(self) -> str:
        names = [f"h{i}" for i in range(len(self.lemmas))]
        lines = [f"#lemma {name} : {prop}" for name, prop in zip(names, self.lemmas, strict=True)]
        return "\n".join([*lines, "#assembly", f"exact ⟨{', '.join(names)}⟩", "#end"])

    def leaves(self) -> dict[str, list[str]]:
        return {f"h{i}": [*self.misses, self.proof] for i in range(len(self.lemmas))}

    def attempts(self) -> int:
        return len(self.lemmas) * (len(self.misses) + 1)


WORKLOADS = (
    Workload("search", TREES, ABOUT_TREES, INDUCTION, MISSES),
    Workload("trees", TREES, ABOUT_TREES, INDUCTION),
    Workload("tiny", "", tuple(f"∀ n : Nat, n + {i} = {i} + n" for i in range(8)), "intro n\nomega"),
)


@dataclass
class Timed:
    """A kernel that notes how long each check took."""

    kernel: EmbeddedKernel
    seconds: list[float] = field(default_factory=list)

    @property
    def identity(self) -> KernelIdentity:
        return self.kernel.identity

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        result = await self.kernel.check(source, timeout_s=timeout_s)
        self.seconds.append(result.elapsed_s)
        return result

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        # The episode's last call: it waits for no slot, so its wall clock is what it took.
        started = time.perf_counter()
        certificate = await self.kernel.certify(source, reference, timeout_s=timeout_s)
        self.seconds.append(time.perf_counter() - started)
        return certificate


async def one_episode(kernel: EmbeddedKernel, workload: Workload) -> tuple[float, list[float]]:
    """Seconds of wall clock of one episode, and of each of its checks."""
    timed = Timed(kernel)
    prover = RecordedProver(workload.leaves())
    started = time.perf_counter()
    result = await run_episode(workload.goal(), workload.completion(), kernel=timed, leaf=prover)
    seconds = time.perf_counter() - started
    if result.status is not Status.VERIFIED or result.leaf_attempts_used != workload.attempts():
        raise SystemExit(f"{workload.name}: expected a verified plan, got {result.status}: {result.detail}")
    return seconds, timed.seconds


def bound(checks: list[float]) -> float:
    """The best ratio that two slots could give: all but the last check, which waits for all, split in two halves."""
    *others, last = checks
    return (sum(others) + last) / (sum(others) / 2 + last)


def spread(seconds: list[float]) -> str:
    first, middle, third = statistics.quantiles(seconds, n=4)
    return f"{middle * 1e3:7.1f} ms  (quartiles {first * 1e3:.1f} to {third * 1e3:.1f})"


async def measure(workload: Workload, one: EmbeddedKernel, two: EmbeddedKernel, rounds: int) -> float:
    """Print the workload's figures; return the ratio of the medians."""
    on_one: list[float] = []
    on_two: list[float] = []
    checks: list[list[float]] = []
    for number in range(rounds + 1):
        seconds, each = await one_episode(one, workload)
        other, _ = await one_episode(two, workload)
        if number:  # the first round warms both up
            on_one.append(seconds)
            on_two.append(other)
            checks.append(each)
    ratio = statistics.median(on_one) / statistics.median(on_two)
    pairs = statistics.quantiles([a / b for a, b in zip(on_one, on_two, strict=True)], n=4)
    middle = statistics.median(second for each in checks for second in each)
    print(f"{workload.name}: {len(checks[0])} checks an episode, median check {middle * 1e3:.1f} ms")
    print(f"  one slot   {spread(on_one)}")
    print(f"  two slots  {spread(on_two)}")
    print(f"  ratio      {ratio:.2f}  (quartiles by round {pairs[0]:.2f} to {pairs[2]:.2f};", end=" ")
    print(f"bound {statistics.median(map(bound, checks)):.2f})")
    return ratio


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="rounds to time, at least 2 (default 9)")
    rounds = max(parser.parse_args().rounds, 2)
    cores = len(os.sched_getaffinity(0))
    async with EmbeddedKernel(slots=1) as one, EmbeddedKernel(slots=2) as two:
        print(f"{one.identity}, {cores} cores, load {os.getloadavg()[0]:.1f}, {rounds} rounds")
        ratios = {workload.name: await measure(workload, one, two, rounds) for workload in WORKLOADS}
    verdict = "met" if ratios["search"] >= TARGET else "NOT met"
    print(f"target: search at least {TARGET} times faster on two slots: {verdict} ({ratios['search']:.2f})")


if __name__ == "__main__":
    asyncio.run(main())
