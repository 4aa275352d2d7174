"""`rlmath doctor`: what is there to judge with on this machine, how fast it is, what is missing and how to get it."""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from rlmath.commands.kernel import add_kernel_option, load_kernel
from rlmath.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from rlmath.commands import Subparsers
    from rlmath.doctor import Finding


def add_parser(commands: Subparsers) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "doctor",
        help="say what this machine can judge with, and what is missing",
        description="Tries the embedded kernel and looks for all that the commands need. "
        "Exit codes: 0 fit to score, 1 not.",
    )
    parser.add_argument(
        "--ray", action="store_true", help="also start a local Ray cluster and judge a plan on it (some 10 s)"
    )
    parser.add_argument(
        "--checks", type=int, default=20, metavar="N", help="checks that the latency is the median of (default: 20)"
    )
    add_kernel_option(parser, help="also try the kernel that this file's [kernel] section describes")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print each finding as it is made, and the verdict."""
    from rich.console import Console

    from rlmath.doctor import State

    if arguments.checks < 1:
        raise InputError("--checks", f"must be at least 1, got {arguments.checks}")
    findings = asyncio.run(
        _examine(arguments, None if arguments.json else Console(soft_wrap=True, highlight=False, markup=False))
    )
    failed = [finding for finding in findings if finding.state is State.FAILED]
    if arguments.json:
        print(json.dumps({"ok": not failed, "findings": [asdict(finding) for finding in findings]}))
    elif failed:
        Console(highlight=False).print(
            f"not fit to score: {', '.join(finding.name for finding in failed)}", style="bold red"
        )
    else:
        Console(highlight=False).print("fit to score", style="bold green")
    return 1 if failed else 0


async def _examine(arguments: argparse.Namespace, console: Console | None) -> list[Finding]:
    from rlmath.doctor import examine

    findings = []
    kernel = None if arguments.kernel is None else load_kernel(arguments.kernel)
    async for finding in examine(checks=arguments.checks, ray=arguments.ray, kernel=kernel):
        findings.append(finding)
        if console is not None:
            _show(finding, console)
    return findings


def _show(finding: Finding, console: Console) -> None:
    from rich.text import Text

    styles = {"ok": "green", "absent": "yellow", "failed": "bold red"}
    console.print(
        Text(f"{finding.state.value:<8}", styles[finding.state]), Text(f"{finding.name:<14}{finding.text}"), sep=""
    )
    if finding.fix:
        console.print(Text(f"{'':<22}-> {finding.fix}"))
