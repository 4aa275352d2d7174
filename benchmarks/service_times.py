"""Record how long the kernel takes for the checks of the goal bank, as a small histogram for `simulate.py`.

    python benchmarks/service_times.py [--out benchmarks/service_times.json] [--slots 2]

Every recorded completion of the bank is judged on a real kernel in this process; what is recorded is the kernel seconds
of each check and each certificate (`cluster.verdict_cache.kernel_seconds`), as 100 quantiles of each.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
from collections.abc import Iterable
from pathlib import Path

import rlmath.data
from cluster.verdict_cache import Outcome, kernel_seconds
from rlmath.episode import run_episode
from rlmath.errors import InputError
from rlmath.evals.inputs import Completion, load_completions, load_goals
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.leaf.config import RecordedLeaf, TacticsLeaf, make_prover
from rlmath.types import KernelIdentity


class Recorder:
    """A kernel that notes what its results cost."""

    def __init__(self, kernel: EmbeddedKernel) -> None:
        self._kernel = kernel
        self.checks: list[float] = []
        self.certificates: list[float] = []

    @property
    def identity(self) -> KernelIdentity:
        return self._kernel.identity

    def _note(self, outcome: Outcome) -> None:
        (self.checks if isinstance(outcome, CheckResult) else self.certificates).append(kernel_seconds(outcome))

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        result = await self._kernel.check(source, timeout_s=timeout_s)
        self._note(result)
        return result

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        certificate = await self._kernel.certify(source, reference, timeout_s=timeout_s)
        self._note(certificate)
        return certificate


def quantiles(seconds: Iterable[float]) -> list[float]:
    """99 cuts, in seconds."""
    return [round(cut, 5) for cut in statistics.quantiles(seconds, n=100)]


async def record(slots: int) -> dict[str, object]:
    """Judge the bank once, `slots` episodes at a time."""
    data = Path(rlmath.data.__file__).parent
    goals = load_goals(data / "goals.jsonl")
    completions = load_completions(data / "completions.jsonl", goals)
    room = asyncio.Semaphore(slots)
    async with EmbeddedKernel(slots=slots) as kernel:
        recorder = Recorder(kernel)

        async def judge(completion: Completion) -> None:
            config = TacticsLeaf() if completion.leaf is None else RecordedLeaf()
            prover = make_prover(config, recorded=completion.leaf)
            async with room:
                with contextlib.suppress(InputError):  # a goal that is broken on purpose
                    await run_episode(goals[completion.goal_id], completion.text, kernel=recorder, leaf=prover)

        await asyncio.gather(*map(judge, completions))
        return {
            "kernel": str(kernel.identity),
            "checks": len(recorder.checks),
            "certificates": len(recorder.certificates),
            "check_s": quantiles(recorder.checks),
            "certificate_s": quantiles(recorder.certificates),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--slots", type=int, default=2)
    arguments = parser.parse_args()
    recorded = asyncio.run(record(arguments.slots))
    arguments.out.write_text(json.dumps(recorded) + "\n")
    print(f"{recorded['checks']} checks and {recorded['certificates']} certificates: {arguments.out}")


if __name__ == "__main__":
    main()
