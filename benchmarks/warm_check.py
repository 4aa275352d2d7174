"""What a warm check costs, beside the least that a warm Lean can do, and the memory it takes.

    python benchmarks/warm_check.py [--rounds 12] [--checks 25] [--slots 16]

The baseline is made here, from nothing but the C interface: a process that has imported the same prelude and, for each
check, forks, elaborates the text in one go, gets the messages back as JSON through a pipe, and waits for the child. It
has no gate, no limits, no deadline, no isolation and no queue. Baseline and kernel take turns, so that other load on
the machine falls on both; the figures to look at are the ratios.

Memory per child is private dirty memory (`smaps_rollup`) of children held in the middle of a check, which needs root.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from image_processes import checks_of

from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.embedded.build import Prelude, ensure_prelude
from rlmath.kernel.embedded.ffi import Lean, box, field, list_items, raw_text, retain
from rlmath.kernel.protocol import Part, Source

TINY = "theorem probe (p q : Prop) (hp : p) (hq : q) : p ∧ q := ⟨hp, hq⟩"
WITH_AXIOMS = f"{TINY}\n#print axioms probe"
STACK = 64 << 20

MAX_RATIO = 1.5
MAX_IMAGE_MB = 160
MAX_CHILD_MB = 20


def baseline(library: str) -> None:
    """Serve the baseline: for each line of JSON [text, count] on stdin, the milliseconds of each check on stdout."""
    lean = Lean(library, STACK)
    environment = lean.import_modules(["Init"])
    process, options = lean.function("l_Lean_Elab_process", 5), lean.constant("l_Lean_Options_empty")
    log_list, compress = lean.function("l_Lean_MessageLog_toList", 1), lean.function("l_Lean_Json_compress", 1)
    to_json = lean.function("l_Lean_Message_toJson", 2)
    gc.disable()

    def elaborate(text: str) -> bytes:
        lean.start_tasks()
        result = lean.value(process(lean.string(text), retain(environment), options, box(0), box(0)))
        messages = list_items(log_list(retain(field(result, 1))))
        return b"[" + b",".join(raw_text(compress(to_json(retain(m), box(0)))) for m in messages) + b"]"

    def check(text: str) -> list[object]:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(writer, elaborate(text))
            os._exit(0)
        os.close(writer)
        output = b""
        while piece := os.read(reader, 1 << 16):
            output += piece
        os.close(reader)
        os.waitpid(pid, 0)
        return list(json.loads(output))

    for line in sys.stdin:
        text, count = json.loads(line)
        times = []
        for _ in range(count):
            started = time.perf_counter()
            messages = check(text)
            times.append(1e3 * (time.perf_counter() - started))
            assert len(messages) == 1, messages
        print(json.dumps(times), flush=True)
    os._exit(0)


class Baseline:
    """The baseline's process."""

    def __init__(self, prelude: Prelude) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--baseline", str(prelude.shared_library)],
            env={**os.environ, "LEAN_PATH": str(prelude.path), "UV_USE_IO_URING": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def times(self, text: str, count: int) -> list[float]:
        """Milliseconds of each of `count` checks."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([text, count]) + "\n")
        self._process.stdin.flush()
        return [float(t) for t in json.loads(self._process.stdout.readline())]

    def close(self) -> None:
        """End it."""
        self._process.communicate()


async def times(kernel: EmbeddedKernel, source: Source, count: int) -> list[float]:
    """Milliseconds of each of `count` checks, one after the other."""
    found = []
    for _ in range(count):
        started = time.perf_counter()
        result = await kernel.check(source, timeout_s=60)
        found.append(1e3 * (time.perf_counter() - started))
        assert not result.messages, result
        assert result.gate is None or result.gate.ok, result
        assert result.axioms_line == "'probe' does not depend on any axioms", result
    return found


def describe(name: str, values: list[float], compared_to: list[float]) -> float:
    """Print one row; the ratio of the fastest tenths, which other load on the machine disturbs least."""
    low, median, high = statistics.quantiles(values, n=4)
    fast, fast_base = (statistics.quantiles(v, n=10)[0] for v in (values, compared_to))
    ratio, median_ratio = fast / fast_base, median / statistics.median(compared_to)
    print(
        f"  {name:<30} median {median:6.2f} ms (quartiles {low:.2f} – {high:.2f}), ratio {median_ratio:4.2f}", end="; "
    )
    print(f"fastest tenth {fast:5.2f} ms, ratio {ratio:4.2f}")
    return ratio


async def compare_times(kernel: EmbeddedKernel, prelude: Prelude, rounds: int, checks: int) -> bool:
    """Print latencies beside the baseline's; whether the target is met."""
    ungated = Source(TINY, declaration="probe", axioms=True)
    gated = Source(
        TINY,
        template="theorem probe (p q : Prop) (hp : p) (hq : q) : hole0 := hole1",
        parts=(Part("hole0", "p ∧ q", "goal", 1, 47), Part("hole1", "⟨hp, hq⟩", "proof", 1, 56)),
        declaration="probe",
        axioms=True,
    )
    rows: dict[str, list[float]] = {"baseline": [], "no gate": [], "gate": []}
    bare = Baseline(prelude)
    for _ in range(rounds):
        rows["baseline"] += await asyncio.to_thread(bare.times, WITH_AXIOMS, checks)
        rows["no gate"] += await times(kernel, ungated, checks)
        rows["gate"] += await times(kernel, gated, checks)
    bare.close()
    print(f"a tiny theorem and its axioms, one at a time, {rounds} rounds of {checks} checks each")
    describe("bare fork for each check", rows["baseline"], rows["baseline"])
    ratios = [
        describe("EmbeddedKernel.check, no gate", rows["no gate"], rows["baseline"]),
        describe("EmbeddedKernel.check, gate", rows["gate"], rows["baseline"]),
    ]
    print(f"  target: at most {MAX_RATIO} times the bare fork, by the fastest tenth (medians agree on a quiet machine)")
    return max(ratios) <= MAX_RATIO


async def throughput(kernel: EmbeddedKernel, in_flight: int, count: int = 300) -> None:
    """Print checks a second with so many in flight."""
    source = Source(TINY, declaration="probe", axioms=True)
    free = asyncio.Semaphore(in_flight)

    async def one() -> None:
        async with free:
            await kernel.check(source, timeout_s=60)

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(count)))
    print(f"  {in_flight:3} in flight: {count / (time.perf_counter() - started):6.0f} checks/s")


async def memory(prelude: Prelude, slots: int) -> bool:
    """Print memory of an image and of `slots` children in the middle of a check; whether the targets are met."""
    async with EmbeddedKernel(slots=slots, prelude=prelude) as kernel:
        script = "have h : 1 + 0 = 1 := by simp\n  sleep 600000\n  trivial"
        held = Source(f"{TINY}\ntheorem held : True := by\n  {script}")
        checks = [asyncio.ensure_future(kernel.check(held, timeout_s=600)) for _ in range(slots)]
        await asyncio.sleep(2 + 0.1 * slots)
        stats = kernel.stats()
        assert stats.image_pid is not None
        assert stats.image_rss_bytes is not None
        image = stats.image_rss_bytes / 1e6
        print(f"memory: image {image:.0f} MB resident (target: at most {MAX_IMAGE_MB})")
        dirty = sorted(private_dirty_mb(pid) for pid in checks_of(stats.image_pid))
        for check in checks:
            check.cancel()
        await asyncio.gather(*checks, return_exceptions=True)
    running, idle = dirty[-slots:], dirty[:-slots]
    print(f"  {len(running)} children in the middle of a check: private dirty median", end=" ")
    print(f"{statistics.median(running):.1f} MB, most {max(running):.1f} MB (target: at most {MAX_CHILD_MB})")
    print(f"  {len(idle)} children forked ahead: private dirty median {statistics.median(idle):.1f} MB")
    return image <= MAX_IMAGE_MB and max(running) <= MAX_CHILD_MB


def private_dirty_mb(pid: int) -> float:
    """MB of memory that is this process's alone."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise ValueError(f"no Private_Dirty of {pid}")


async def main(rounds: int, checks: int, slots: int) -> int:
    """Print all figures; 0 when the targets are met."""
    prelude = ensure_prelude()
    print(f"Lean {prelude.lean_version}, {prelude.environment}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    async with EmbeddedKernel(slots=2, prelude=prelude) as kernel:
        met = await compare_times(kernel, prelude, rounds, checks)
        print("throughput, two slots, no gate")
        for in_flight in (1, 2, 8, 32):
            await throughput(kernel, in_flight)
    met &= await memory(prelude, slots)
    print("targets met" if met else "TARGETS MISSED")
    return 0 if met else 1


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--baseline":
        baseline(sys.argv[2])
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--checks", type=int, default=25)
    parser.add_argument("--slots", type=int, default=16, help="children held at once for the memory figures")
    options = parser.parse_args()
    sys.exit(asyncio.run(main(options.rounds, options.checks, options.slots)))
