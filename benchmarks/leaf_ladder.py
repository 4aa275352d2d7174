"""What each rung of the tactics ladder proves: on the statements of a goal bank, through the embedded kernel.

    python benchmarks/leaf_ladder.py [--bank DIR] [--missing]

A bank is a directory of `goals.jsonl` (id, prop, context) and `oracles.jsonl` (goal_id, completion). Lemmas of the
oracle plans are what a leaf prover is for; the goals themselves, most of them too hard for a single script, are shown
beside them. The order of the ladder was chosen by the column `new`, the cost of a rung by `ms`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.tactics import LADDER
from rlmath.plan import parse_plan
from rlmath.source import leaf_check
from rlmath.types import GoalSpec, Lemma
from rlmath.verdicts import leaf_problem

BANK = Path(__file__).parents[1] / "rlmath" / "data"
TIMEOUT_S = 20.0

Statement = tuple[str, GoalSpec, Lemma]
"""Kind (`goal` or `lemma`), the goal whose context it speaks of, and the statement."""


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def statements(bank: Path) -> Iterable[Statement]:
    """Every goal and every lemma of an oracle plan, a statement in the same context once."""
    found: dict[tuple[str, str], Statement] = {}
    goals = {
        row["id"]: GoalSpec(row["id"], row["prop"], context=row.get("context", ""))
        for row in rows(bank / "goals.jsonl")
    }
    for row in rows(bank / "oracles.jsonl"):
        goal = goals[row["goal_id"]]
        for lemma in parse_plan(row["completion"]).lemmas:
            found.setdefault((lemma.prop, goal.context), ("lemma", goal, lemma))
    for goal in goals.values():
        found.setdefault((goal.prop, goal.context), ("goal", goal, Lemma("goal_itself", goal.prop)))
    return found.values()


async def proves(kernel: EmbeddedKernel, statement: Statement, script: str) -> tuple[bool, float]:
    """Whether the script proves the statement, and the seconds that took."""
    _, goal, lemma = statement
    source = leaf_check(goal, lemma, script, "ladder")
    started = time.perf_counter()
    result = await kernel.check(source, timeout_s=TIMEOUT_S)
    return leaf_problem(lemma, source, result) is None, time.perf_counter() - started


async def main(bank: Path, missing: bool) -> None:
    every = list(statements(bank))
    total = {kind: sum(statement[0] == kind for statement in every) for kind in ("lemma", "goal")}
    proved: set[int] = set()
    async with EmbeddedKernel(slots=1) as kernel:
        print(f"{kernel.identity}: {total['lemma']} lemmas of oracle plans, {total['goal']} goals")
        print("rung       alone  new   lemmas so far  goals so far     ms ms failing")
        for rung in LADDER:
            found = [await proves(kernel, statement, rung.script) for statement in every]
            alone = {index for index, (ok, _) in enumerate(found) if ok}
            new, proved = alone - proved, proved | alone
            so_far = {kind: sum(every[index][0] == kind for index in proved) for kind in total}
            failing = [seconds for ok, seconds in found if not ok]
            print(
                f"{rung.name:<10} {len(alone):>5} {len(new):>4}   {so_far['lemma']:>7} / {total['lemma']:<3}"
                f" {so_far['goal']:>7} / {total['goal']:<3} {1000 * sum(s for _, s in found) / len(found):>6.1f}"
                f" {1000 * sum(failing) / max(1, len(failing)):>10.1f}"
            )
    for index, (kind, goal, lemma) in enumerate(every):
        if missing and index not in proved:
            print(f"not proved: {kind} of {goal.id}: {lemma.prop}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bank", type=Path, default=BANK, help="directory of goals.jsonl and oracles.jsonl")
    parser.add_argument("--missing", action="store_true", help="list what no rung proves")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.bank, arguments.missing))
