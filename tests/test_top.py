"""`rlmath top`: what it shows of two snapshots, and what it says when there is nothing to show."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
from rich.console import Console

from cluster.api import ClusterStatus, WorkerStatus
from rlmath.cli import main
from rlmath.commands.top import rates, view
from rlmath.types import KernelIdentity

KERNEL = KernelIdentity("embedded", "4.35.0", "prelude@1")
WORKER = WorkerStatus(
    "ab12", "ready", 4, 6, checks=100, starts=1, environment="default/standard", renewals=2, image_bytes=123 << 20
)
GONE = WorkerStatus("", "starting", 4, 0, environment="default/standard", detail="no node yet", number=1)
BEFORE = ClusterStatus((WORKER, GONE), KERNEL, 7, 6, 3, 9, 50, 1_000, 2, kernels={"default": KERNEL})
AFTER = replace(
    BEFORE,
    workers=(replace(WORKER, checks=180), GONE),
    requests_done=60,
    checks_done=1_080,
    cache_hits=20,
    oldest_request_s=12.4,
    checks_poisoned=1,
)


def plain(status: ClusterStatus) -> dict[str, Any]:
    return asdict(status)


def test_rates_are_a_second_and_a_counter_that_began_anew_counts_from_nothing() -> None:
    rate = rates(plain(AFTER), plain(BEFORE), 4.0)
    assert (rate["checks_done"], rate["requests_done"], rate["retries"]) == (20.0, 2.5, 0.0)
    assert rates(plain(replace(AFTER, checks_done=40)), plain(BEFORE), 4.0)["checks_done"] == 10.0


def test_it_shows_workers_queues_rates_and_the_oldest_request() -> None:
    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(view(plain(AFTER), plain(BEFORE), 4.0))
    shown = console.export_text()
    for wanted in (
        "default: embedded Lean 4.35.0 prelude@1",
        "1 of 2 ready, 4 slots",
        "6 at workers, 7 queued; 20.0/s done, 20% of those",
        "3 running, 9 waiting; 2.5/s answered; the oldest has waited 12 s",
        "1 given up",
        "████ 4/4 +2",
        "123 MiB",
        "no node yet",
    ):
        assert wanted in shown, shown


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "URL"),
        (["http://localhost:1", "--cluster", "auto"], "URL"),
        (["http://localhost:1", "--interval", "0"], "--interval"),
        (["http://localhost:1", "--api-key-env", "RLMATH_NO_SUCH_KEY"], "--api-key-env"),
        (["--cluster", "127.0.0.1:9"], "address"),
        (["localhost"], "url"),
    ],
)
def test_what_it_cannot_look_at_is_told(arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"rlmath: error: {named}: ")
