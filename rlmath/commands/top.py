"""`rlmath top`: a running cluster at a glance, again and again."""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlmath.errors import InputError, Unavailable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rlmath.commands import Subparsers

EPILOG = """\
examples:
  rlmath top http://localhost:8000 --api-key-env RLMATH_KEY
  rlmath top --cluster auto
  rlmath top --cluster auto --once

Workers with what they have and what they did since the last look; queues; rates; the age of the oldest request.

exit codes: 0 ended, 1 the cluster is gone or does not answer, 2 bad input, 130 interrupted
"""

COUNTERS = ("checks_done", "requests_done", "cache_hits", "checks_shared", "retries", "checks_poisoned", "checks_moved")
BAR = 20
"""Characters of a worker's load at most."""

Snapshot = Mapping[str, Any]
"""`cluster.api.ClusterStatus` as plain data."""


def add_parser(commands: Subparsers) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "top",
        help="watch a running cluster",
        description="Shows a running cluster: workers, queues, rates, the oldest request.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("url", nargs="?", metavar="URL", help="of its gateway (`rlmath serve`)")
    parser.add_argument("--api-key-env", metavar="NAME", help="environment variable that holds the gateway's key")
    parser.add_argument("--cluster", metavar="ADDRESS", help="instead of a gateway: its Ray (`auto`, `host:port`)")
    parser.add_argument("--namespace", metavar="NAME", help="which cluster of that Ray, when there are several")
    parser.add_argument("--interval", type=float, default=2.0, metavar="SECONDS", help="between two looks (default: 2)")
    parser.add_argument("--once", action="store_true", help="look twice, print once, and end")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Watch until interrupted."""
    if (arguments.url is None) == (arguments.cluster is None):
        raise InputError("URL", "give a gateway's URL or --cluster ADDRESS, and not both")
    if not arguments.interval > 0:
        raise InputError("--interval", f"must be seconds above 0, got {arguments.interval:g}")
    with _source(arguments) as look:
        _watch(look, arguments.interval, once=arguments.once)
    return 0


def _watch(look: Callable[[], Snapshot], interval: float, *, once: bool) -> None:
    from rich.console import Console
    from rich.live import Live

    console = Console()
    before, then = look(), time.monotonic()
    if once:
        time.sleep(interval)
        console.print(view(look(), before, time.monotonic() - then))
        return
    with Live(console=console, auto_refresh=False) as live:
        while True:
            time.sleep(interval)
            snapshot, now = look(), time.monotonic()
            live.update(view(snapshot, before, now - then), refresh=True)
            before, then = snapshot, now


@contextlib.contextmanager
def _source(arguments: argparse.Namespace) -> Iterator[Callable[[], Snapshot]]:
    if arguments.url is not None:
        from cluster.client import ClusterClient

        with ClusterClient(arguments.url, api_key=_key(arguments.api_key_env), deadline_s=30.0) as client:
            yield lambda: _of_gateway(client.status())
    else:
        from cluster.attach import Attached

        with Attached(arguments.cluster, arguments.namespace) as attached:
            yield attached.status


def _key(name: str | None) -> str | None:
    if name is None:
        return None
    if not (key := os.environ.get(name)):
        raise InputError("--api-key-env", f"the environment variable {name} is not set")
    return key


def _of_gateway(status: Mapping[str, Any]) -> Snapshot:
    if status["cluster"] is None:
        raise Unavailable("the gateway answers, its scheduler does not")
    cluster: Snapshot = status["cluster"]
    return cluster


def rates(now: Snapshot, before: Snapshot, seconds: float) -> dict[str, float]:
    """Of each counter, a second. One that is lower than before began anew in between."""
    counted = {}
    for name in COUNTERS:
        grown = now[name] - before[name]
        counted[name] = (grown if grown >= 0 else now[name]) / seconds
    return counted


def view(now: Snapshot, before: Snapshot, seconds: float) -> RenderableType:
    """What is shown of two snapshots, so many seconds apart."""
    from rich.console import Group
    from rich.text import Text

    rate = rates(now, before, seconds)
    ready = [worker for worker in now["workers"] if worker["state"] == "ready"]
    kernels = [f"{name}: {_identity(kernel)}" for name, kernel in now["kernels"].items()] or ["no kernel yet"]
    known = rate["cache_hits"] + rate["checks_shared"]
    asked = known + rate["checks_done"]
    lines = [
        "   ".join(kernels),
        f"workers   {len(ready)} of {len(now['workers'])} ready, {sum(w['slots'] for w in ready)} slots",
        f"checks    {now['in_flight']} at workers, {now['queued']} queued; {rate['checks_done']:.1f}/s done, "
        f"{known / asked if asked else 0.0:.0%} of those asked for were known or shared",
        f"requests  {now['requests_running']} running, {now['requests_waiting']} waiting; "
        f"{rate['requests_done']:.1f}/s answered; the oldest has waited {now['oldest_request_s']:.0f} s",
        f"trouble   {rate['retries']:.1f}/s retried, {now['checks_poisoned']} given up, "
        f"{now['checks_moved']} moved to more memory",
    ]
    return Group(*map(Text, lines), _workers(now, before, seconds))


def _workers(now: Snapshot, before: Snapshot, seconds: float) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("node", "kind", "state", "load", "checks/s", "image", "starts", "renewed", ""):
        table.add_column(heading, justify="right" if heading in ("checks/s", "image", "starts", "renewed") else "left")
    earlier = {worker["number"]: worker["checks"] for worker in before["workers"]}
    for worker in now["workers"]:
        done = worker["checks"] - earlier.get(worker["number"], worker["checks"])
        table.add_row(
            worker["node"] or "–",
            worker["environment"],
            worker["state"],
            _bar(worker["in_flight"], worker["slots"]),
            f"{max(done, 0) / seconds:.1f}",
            f"{worker['image_bytes'] / 2**20:.0f} MiB",
            str(worker["starts"]),
            str(worker["renewals"]),
            worker["detail"],
        )
    return table


def _bar(load: int, slots: int) -> str:
    filled = min(load, slots) * min(slots, BAR) // slots
    waiting = f" +{load - slots}" if load > slots else ""
    return "█" * filled + "·" * (min(slots, BAR) - filled) + f" {min(load, slots)}/{slots}{waiting}"


def _identity(kernel: Mapping[str, str]) -> str:
    return f"{kernel['kernel']} Lean {kernel['lean_version']} {kernel['environment']}"
