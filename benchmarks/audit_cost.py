"""What the audit costs, beside a plain warm check of the same text on the same kernel.

    python benchmarks/audit_cost.py [--rounds 15] [--checks 20]

`certified` is the whole of `EmbeddedKernel.certify`: the submission's process and the judge's, the reference's bytes
being known (as they are from a goal's second submission on). `plain` is `check` with its axioms line, which `certify`
does without. The two take turns, so that other load on the machine falls on both; the figures to look at are the
ratios of the medians. What the kernel computes (omega's proofs) it computes twice, so that row costs more.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass, field, replace
from importlib.resources import files

from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Source
from rlmath.plan import parse_plan
from rlmath.source import ProofForm, compose, goal_check
from rlmath.types import GoalSpec, Plan

TINY = GoalSpec("tiny", "∀ p q : Prop, p → q → p ∧ q", "tiny")
THEOREMS = 35
MAX_RATIO = {"a tiny theorem": 2.0, f"{THEOREMS} theorems": 1.4}


def bank(theorems: int, *, omega: bool) -> tuple[Source, GoalSpec]:
    """A file of composed theorems of the goal bank, by their oracle plans, and the goal of the last. With omega or
    without: its proofs are computed by the kernel, which the audit has to do once more."""
    data = files("rlmath.data")
    goals, oracles = (
        [json.loads(line) for line in data.joinpath(name).read_text(encoding="utf-8").splitlines()]
        for name in ("goals.jsonl", "oracles.jsonl")
    )
    by_id = {row["id"]: GoalSpec(**row) for row in goals}
    fitting = [
        row
        for row in oracles
        if not by_id[row["goal_id"]].context and omega == ("omega" in json.dumps([row["completion"], row["leaf"]]))
    ]
    commands = []
    for number in range(theorems):
        row = fitting[number % len(fitting)]
        goal = by_id[row["goal_id"]]
        goal = replace(goal, name=f"{goal.name}_{number}")
        proofs: dict[str, tuple[str, ProofForm]] = {name: (text, "tactics") for name, text in row["leaf"].items()}
        commands.append(compose(goal, parse_plan(row["completion"]), proofs).command)
    return Source("\n".join(commands), declaration=goal.name, axioms=True), goal


@dataclass
class Case:
    """One text, and what was measured of it (milliseconds)."""

    name: str
    source: Source
    reference: Source
    plain: list[float] = field(default_factory=list)
    certified: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=dict)

    async def measure(self, kernel: EmbeddedKernel, count: int) -> None:
        """So many of each, in turns."""
        for _ in range(count):
            started = time.perf_counter()
            result = await kernel.check(self.source, timeout_s=60)
            self.plain.append(1e3 * (time.perf_counter() - started))
            assert not result.errors, result
            started = time.perf_counter()
            certificate = await kernel.certify(replace(self.source, axioms=False), self.reference, timeout_s=60)
            self.certified.append(1e3 * (time.perf_counter() - started))
            assert certificate.audit is not None, certificate
            assert certificate.audit.accepted, certificate
            for part, seconds in certificate.audit.timings.items():
                self.parts.setdefault(part, []).append(1e3 * seconds)

    def report(self) -> bool:
        """Print the figures; whether the target is met."""
        print(f"{self.name}: {len(self.plain)} of each")
        for name, values in (("plain check", self.plain), ("certified", self.certified)):
            low, median, high = statistics.quantiles(values, n=4)
            print(f"  {name:<12} median {median:7.2f} ms   quartiles {low:7.2f} – {high:7.2f}")
        parts = "   ".join(f"{name} {statistics.median(values):.2f}" for name, values in self.parts.items())
        print(f"  of which (ms): {parts}")
        ratio = statistics.median(self.certified) / statistics.median(self.plain)
        most = MAX_RATIO.get(self.name)
        print(f"  ratio {ratio:.2f} ({'no target' if most is None else f'target: at most {most}'})")
        return most is None or ratio <= most


async def main(rounds: int, checks: int) -> int:
    """Print all figures; 0 when the targets are met."""
    tiny = replace(compose(TINY, Plan((), "exact fun _ _ hp hq => ⟨hp, hq⟩"), {}), axioms=True)
    file, last = bank(THEOREMS, omega=False)
    computed, computed_last = bank(14, omega=True)
    cases = [
        Case("a tiny theorem", tiny, goal_check(TINY)),
        Case(f"{THEOREMS} theorems", file, goal_check(last)),
        Case("14 theorems by omega", computed, goal_check(computed_last)),
    ]
    async with EmbeddedKernel(slots=2) as kernel:
        print(f"{kernel.identity}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        for case in cases:
            await kernel.check(case.reference, timeout_s=60)
        for _ in range(rounds):
            await cases[0].measure(kernel, checks)
            for case in cases[1:]:
                await case.measure(kernel, max(1, checks // 10))
    reports = [case.report() for case in cases]
    met = all(reports)
    print("targets met" if met else "TARGETS MISSED")
    return 0 if met else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--checks", type=int, default=20)
    options = parser.parse_args()
    sys.exit(asyncio.run(main(options.rounds, options.checks)))
