"""The race: the same snippets, on the same machine, over the same Lean, through everything that runs Lean for many.

    python benchmarks/peers.py [--snippets 300] [--rounds 3] [--slots 2] [--timeout 1.0] [--cache DIR]
                               [--only NAME,…] [--parts valid,mixed,aftermath] [--repl PROGRAM]
    python benchmarks/peers.py --only gateway --gateway http://127.0.0.1:8000      (an `rlmath serve` that runs already)

Contestants, each in a process of its own, all with `--slots` Leans (but `auto`, which has one):

    embedded   rlmath in process: `EmbeddedKernel`
    repl       rlmath's REPL kernel (what Mathlib is reached by), with its nonce after each reply
    gateway    rlmath's `/api/check`
    pool       LeanInteract's `LeanServerPool`
    auto       LeanInteract's `AutoLeanServer`
    kimina     the published Kimina server (`kimina-ast-server`), over HTTP
    lean       one `lean` process a check
    bare       no contestant but the ceiling: warm images that fork and elaborate, without limits, queue or isolation

The REPL behind `repl`, `pool`, `auto` and `kimina` is `rlmath repl`, or the program that `--repl` names. LeanInteract
and Kimina are installed, pinned, into environments of their own under `--cache`, never into ours.

Sets: `valid`, all of them short proofs; `mixed`, with one false statement in five, some slow proofs, and in a hundred
five that never end and two that bring their process down. A wrong verdict is `valid` for what is not, or `invalid`,
`timeout` or `crash` for what is valid. Then, on one check at a time: how much longer a check takes that follows a
timeout (of as many in flight as there are slots), and how long after a SIGKILL of every Lean a check is answered.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from peer_contestants import HERE, PINNED, START_S, Contestant, contestants, proportional_mb
from peer_snippets import mixed_set, snippet, valid_set

sys.path.insert(0, str(HERE.parent / "tests" / "kernels"))

from kernel_kit import make_workspace

from rlmath.kernel.embedded.build import Prelude, cache_directory, ensure_prelude
from rlmath.kernel.embedded.shared_object import LEAN_VERSION


def ceiling(args: argparse.Namespace, prelude: Prelude, count: int) -> float:
    """Checks a second of bare warm images, one a slot."""
    code = "import sys; from warm_check import baseline; baseline(sys.argv[1])"
    text = snippet("valid", 1).text
    images = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(prelude.shared_library)],
            env={**os.environ, "LEAN_PATH": str(prelude.path), "PYTHONPATH": f"{HERE}:{HERE.parent}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(args.slots)
    ]

    def ask(each: int) -> None:
        for image in images:
            assert image.stdin is not None
            image.stdin.write(json.dumps([text, each]) + "\n")
            image.stdin.flush()
        for image in images:
            assert image.stdout is not None
            image.stdout.readline()

    try:
        ask(3)
        begun = time.perf_counter()
        ask(count // args.slots)
        return count / (time.perf_counter() - begun)
    finally:
        for image in images:
            image.kill()
            image.wait()


def aftermath(contestant: Contestant, args: argparse.Namespace) -> None:
    """What a timeout costs the next check, and how long it takes to be there again after a SIGKILL."""
    slots = 1 if contestant.name == "auto" else args.slots
    valid, endless = valid_set(6 * slots, 100_000), [snippet("endless", n) for n in range(slots)]
    _, usual = contestant.run(valid[: 3 * slots], slots, 60.0)
    contestant.run(endless, slots, args.timeout)
    _, after = contestant.run(valid[3 * slots : 4 * slots], slots, 60.0)
    contestant.after_timeout_ms = 1e3 * (statistics.median(after) - statistics.median(usual))
    if contestant.name in ("lean", "gateway"):
        return
    for pid in contestant.leans():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    begun = time.perf_counter()
    while True:  # a check that was lost is asked again, as any client does
        [(verdict, _)] = contestant.ask([[valid[-1].text, 60.0]], 1)["results"]
        if verdict == "valid":
            break
        if time.perf_counter() - begun > START_S:
            return
    contestant.recovery_ms = 1e3 * (time.perf_counter() - begun)


def main() -> None:
    """Run the race and print the table."""
    names = ("embedded", "repl", "pool", "auto", "kimina", "lean")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--snippets", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=1.0)
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(names))
    parser.add_argument("--gateway", metavar="URL")
    parser.add_argument("--repl", metavar="PROGRAM", type=Path, help="what speaks the REPL's protocol for the peers")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=["valid", "mixed", "aftermath"])
    parser.add_argument("--cache", type=Path, default=cache_directory() / "peers")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that nothing is left running
    prelude = ensure_prelude()
    root = args.cache / f"workspace-{os.getpid()}"
    try:
        workspace = make_workspace(root, *([(str(args.repl.resolve()),)] if args.repl else []))
        with contestants(args, prelude, workspace) as running:
            race(args, prelude, running)
    finally:
        subprocess.run(["rm", "-rf", str(root)], check=False)


def race(args: argparse.Namespace, prelude: Prelude, running: Sequence[Contestant]) -> None:
    """All rounds, the contestants taking turns, so that what else the machine does falls on all of them."""
    ceilings = []
    for contestant in running:
        contestant.run(valid_set(2 * args.slots), args.slots, 60.0)
    for round_number in range(args.rounds if "valid" in args.parts else 0):
        ceilings.append(ceiling(args, prelude, args.snippets))
        for contestant in running:
            count = args.snippets // 5 if contestant.name == "lean" else args.snippets
            fresh = valid_set(count, (round_number + 1) * 10_000)
            wall, latencies = contestant.run(fresh, args.in_flight, 60.0)
            contestant.rates.append(count / wall)
            contestant.latencies += latencies
            if round_number == 0:
                contestant.memory_mb = proportional_mb(contestant.family())
    for contestant in running:
        if "mixed" in args.parts:
            count = args.snippets // 5 if contestant.name == "lean" else args.snippets
            wall, _ = contestant.run(mixed_set(count), 4 * args.slots, args.timeout)
            contestant.mixed.append(count / wall)
        if "aftermath" in args.parts:
            aftermath(contestant, args)
    report(args, ceilings, running)


def report(args: argparse.Namespace, ceilings: Sequence[float], running: Sequence[Contestant]) -> None:
    """The table."""
    pins = ", ".join(pin for name in PINNED.values() for pin in name)
    print(
        f"Lean {LEAN_VERSION}, Python {platform.python_version()}, {len(os.sched_getaffinity(0))} cores; peers: {pins}"
    )
    print(f"{args.snippets} snippets, {args.in_flight} in flight, {args.slots} slots, {args.rounds} rounds\n")
    print(f"{'':10} {'valid/s':>16} {'p50 ms':>8} {'p99 ms':>8} {'mixed/s':>8} {'wrong':>6} {'lost':>5} ", end="")
    print(f"{'after timeout ms':>17} {'after SIGKILL ms':>17} {'MB':>6}")
    if ceilings:
        print(f"{'bare':10} {spread(ceilings):>16}")
    for c in running:
        ordered = sorted(c.latencies)
        p50, p99 = (1e3 * ordered[int(q * len(ordered))] if ordered else float("nan") for q in (0.5, 0.99))
        mixed = f"{statistics.median(c.mixed):.1f}" if c.mixed else "-"
        print(f"{c.name:10} {spread(c.rates):>16} {p50:8.1f} {p99:8.1f} {mixed:>8} {c.wrong:6d} {c.lost:5d} ", end="")
        print(f"{c.after_timeout_ms:17.1f} {c.recovery_ms:17.1f} {c.memory_mb:6.0f}")


def spread(rates: Sequence[float]) -> str:
    """Median, and the least and most."""
    if not rates:
        return "-"
    return f"{statistics.median(rates):.0f} ({min(rates):.0f}–{max(rates):.0f})"


if __name__ == "__main__":
    main()
