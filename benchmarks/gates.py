"""What each gate catches by itself, and what it costs: the soundness corpus and our own attacks, one gate at a time.

    python benchmarks/gates.py [--cases all]

- `format`  the parser of plans, and the rules for names
- `lexical` the list of words, over plan and recorded proofs
- `parser`  Lean's own parser on every check the pipeline would make: each part one term, no denied node, one command
- `kernel`  Lean itself, asked as a naive harness asks it: the composed text alone, no error and no sorry
- `audit`   a clean process's judgement of whatever the composed text declares

A case whose completion is no plan has no text for the later gates to look at: `-`. Honest cases must pass all gates.
The cost of a gate is the median over the cases that it looked at; `kernel` and `audit` are whole checks.
A plan that no gate catches (its theorem is right, and a lemma of it is none) goes through the whole pipeline.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

from rlmath.episode import run_episode
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.recorded import RecordedProver
from rlmath.types import Status

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from gates import GATES, Case, attacks, caught_by, corpus, plan_of, with_forms

TEXT_GATES = GATES[1:]
"""Gates that look at a plan's text: without a plan they have nothing to say."""


async def row(kernel: EmbeddedKernel, case: Case, costs: dict[str, list[float]]) -> dict[str, bool | None]:
    """By gate: does it catch the case; None where there is nothing for it to look at."""
    found: dict[str, bool | None] = {}
    case = await with_forms(kernel, case)
    for gate in GATES:
        nothing = case.completion is None if gate == "format" else case.completion is not None and plan_of(case) is None
        if nothing:
            found[gate] = None
            continue
        started = time.perf_counter()
        found[gate] = await caught_by(kernel, case, gate) is not None
        costs[gate].append(1e3 * (time.perf_counter() - started))
    return found


async def main(show_all: bool) -> int:
    """Print the table; 0 when each attack is caught by the gate that must, none is verified, and no honest case is
    caught.
    """
    cases = [*corpus().values(), *attacks().values()]
    costs: dict[str, list[float]] = defaultdict(list)
    async with EmbeddedKernel(slots=1) as kernel:
        print(f"{kernel.identity}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        rows = {case.id: await row(kernel, case, costs) for case in cases}
        free = [case for case in cases if not case.honest and not any(rows[case.id].values())]
        verdicts = {case.id: await verdict(kernel, case) for case in free}
    hostile = [case for case in cases if not case.honest]
    honest = [case for case in cases if case.honest]
    print(f"{len(hostile)} attacks, {len(honest)} honest cases\n")
    print(f"{'gate':<10}{'looked at':>10}{'caught':>8}{'alone':>7}{'honest hit':>12}{'median ms':>11}")
    for gate in GATES:
        looked = [case for case in hostile if rows[case.id][gate] is not None]
        caught = [case for case in looked if rows[case.id][gate]]
        alone = [case for case in caught if sum(bool(value) for value in rows[case.id].values()) == 1]
        hit = [case for case in honest if rows[case.id][gate]]
        cost = statistics.median(costs[gate])
        print(f"{gate:<10}{len(looked):>10}{len(caught):>8}{len(alone):>7}{len(hit):>12}{cost:>11.2f}")
    through = [f"{case} (the pipeline says {status})" for case, status in verdicts.items()]
    missed = [case.id for case in hostile if case.gate is not None and not rows[case.id][case.gate]]
    refused = [f"{case.id} ({gate})" for case in honest for gate in GATES if rows[case.id][gate]]
    print(f"\ncaught by no gate: {', '.join(through) or 'none'}")
    print(f"not caught by the gate that must: {', '.join(missed) or 'none'}")
    print(f"honest cases that a gate refuses: {', '.join(refused) or 'none'}")
    if show_all:
        print()
        for case in cases:
            marks = "".join(f"{mark(rows[case.id][gate]):>9}" for gate in GATES)
            print(f"{case.id:<30}{marks}{'   honest' if case.honest else ''}")
    return 1 if missed or refused or Status.VERIFIED in verdicts.values() else 0


async def verdict(kernel: EmbeddedKernel, case: Case) -> Status:
    """What the whole pipeline makes of a case. A plan can be ill formed and its composed theorem right all the same."""
    if case.completion is None:
        return Status.VERIFIED  # a command that nothing stops, and no stage comes after the gates
    leaf = RecordedProver(case.leaf)
    return (await run_episode(case.goal, case.completion, kernel=kernel, leaf=leaf)).status


def mark(caught: bool | None) -> str:
    """How one cell of the table prints."""
    return "-" if caught is None else "caught" if caught else "."


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", choices=["all"], help="print every case too")
    sys.exit(asyncio.run(main(parser.parse_args().cases is not None)))
