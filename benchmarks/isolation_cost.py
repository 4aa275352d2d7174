"""What isolation costs: a warm check with it and without, side by side, and with one measure left out at a time.

    python benchmarks/isolation_cost.py [--rounds 12] [--checks 25] [--ablation]

Without: the same image, children that take none of the measures of `Isolation` (only what costs next to nothing: their
own session, limits, no new privileges). Kernels take turns, so that other load on the machine falls on all; the figures
to look at are the ratios. Children are forked ahead of need, so latency one at a time shows what isolation costs inside
a check; CPU time of image and children, which other load hardly touches, what it costs altogether.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import replace

from rlmath.kernel.embedded import EmbeddedKernel, link
from rlmath.kernel.embedded.isolation import Measure
from rlmath.kernel.protocol import Source

SOURCE = Source("theorem probe (p q : Prop) (hp : p) (hq : q) : p ∧ q := ⟨hp, hq⟩", declaration="probe", axioms=True)
PER_CHILD = ("processes", "ipc", "user", "system_calls", "memory")
"""The measures that each child takes; the others are the image's, once."""
MAX_RATIO = 1.15


def image_without(names: set[str], arguments: str) -> None:
    """Run an image whose children leave out some measures."""
    from rlmath.kernel.embedded import confine, image

    honest = confine.seal

    def seal(prepared: confine.Prepared) -> confine.Enclosure:
        enclosure = honest(prepared)
        if "memory" in names and enclosure.group is not None:
            enclosure.group.remove()
        off = {name: Measure(False, "left out") for name in names}
        return replace(
            enclosure,
            isolation=replace(enclosure.isolation, **off),
            filter=None if "system_calls" in names else enclosure.filter,
            users=None if "user" in names else enclosure.users,
            group=None if "memory" in names else enclosure.group,
        )

    setattr(image, honest.__name__, seal)
    image.main(json.loads(arguments))


async def start(names: tuple[str, ...], slots: int) -> EmbeddedKernel:
    """A kernel without some measures."""
    whole = link.IMAGE
    link.IMAGE = (__file__, "--image", ",".join(names))
    try:
        kernel = EmbeddedKernel(slots=slots)
        await kernel.start()
    finally:
        link.IMAGE = whole
    return kernel


async def latencies(kernel: EmbeddedKernel, count: int) -> list[float]:
    """Milliseconds of each of `count` checks, one after the other."""
    found = []
    for _ in range(count):
        started = time.perf_counter()
        result = await kernel.check(SOURCE, timeout_s=60)
        found.append(1e3 * (time.perf_counter() - started))
        assert result.axioms_line == "'probe' does not depend on any axioms", result
    return found


async def throughput(kernel: EmbeddedKernel, count: int) -> None:
    """`count` checks with twice as many in flight as there are slots."""
    free = asyncio.Semaphore(2 * kernel.slots)

    async def one() -> None:
        async with free:
            await kernel.check(SOURCE, timeout_s=60)

    await asyncio.gather(*(one() for _ in range(count)))


async def main(rounds: int, checks: int, ablation: bool) -> int:
    """Print all figures; 0 when the target is met."""
    from image_processes import cpu_seconds  # not for the image, which looks for modules in the package alone

    rows: dict[str, tuple[str, ...]] = {"without isolation": PER_CHILD, "with isolation": ()}
    if ablation:
        rows |= {f"with all but {name}": (name,) for name in PER_CHILD}
    times: dict[str, list[float]] = {name: [] for name in rows}
    cpu = dict.fromkeys(rows, 0.0)
    async with AsyncExitStack() as stack:
        kernels = {}
        for name, off in rows.items():
            kernels[name] = await start(off, slots=2)
            stack.push_async_callback(kernels[name].aclose)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {rounds} rounds of {checks} checks each")
        for measure_name, measure in kernels["with isolation"].isolation:
            print(f"  {measure_name:<13} {'on ' if measure.on else 'off'} {measure.note}")
        for _ in range(rounds):
            for name, kernel in kernels.items():
                before = cpu_seconds(kernel.stats().image_pid)
                times[name] += await latencies(kernel, checks)
                await throughput(kernel, checks)
                cpu[name] += cpu_seconds(kernel.stats().image_pid) - before
    ratios = {}
    base, base_cpu = times["without isolation"], cpu["without isolation"]
    for name, values in times.items():
        fast, fast_base = (statistics.quantiles(v, n=10)[0] for v in (values, base))
        median = statistics.median(values)
        ratios[name] = fast / fast_base
        print(
            f"{name:<26} fastest tenth {fast:5.2f} ms, ratio {ratios[name]:4.2f}; "
            f"median {median:5.2f} ms, ratio {median / statistics.median(base):4.2f}; "
            f"CPU {1e3 * cpu[name] / (2 * rounds * checks):5.2f} ms a check, ratio {cpu[name] / base_cpu:4.2f}"
        )
    met = ratios["with isolation"] <= MAX_RATIO
    print(f"target, isolation at most {MAX_RATIO} times by the fastest tenth: {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--image"]:
        image_without(set(filter(None, sys.argv[2].split(","))), sys.argv[3])
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--checks", type=int, default=25)
    parser.add_argument("--ablation", action="store_true", help="also leave out one measure at a time")
    options = parser.parse_args()
    sys.exit(asyncio.run(main(options.rounds, options.checks, options.ablation)))
