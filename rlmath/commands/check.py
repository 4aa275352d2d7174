"""`rlmath check FILE.lean`: elaborate a trusted file."""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rlmath.commands.files import read_text
from rlmath.commands.kernel import add_kernel_option, chosen_kernel, load_kernel
from rlmath.errors import InputError

if TYPE_CHECKING:
    from rlmath.commands import Subparsers
    from rlmath.kernel.protocol import CheckResult
    from rlmath.kernel.select import OwnedKernel


def add_parser(commands: Subparsers) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "check",
        help="elaborate a Lean file",
        description="Elaborates a Lean file that you trust and prints Lean's messages as file:line:column: severity: "
        "text (columns count from 0, as lean's own). "
        "Exit codes: 0 no errors, 1 errors, 2 the file cannot be read or imports what the kernel lacks.",
    )
    parser.add_argument("file", metavar="FILE.lean", type=Path, help="the file; - for standard input")
    parser.add_argument(
        "--timeout", type=float, default=120.0, metavar="SECONDS", help="wall clock of the check (default: 120)"
    )
    add_kernel_option(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check the file and print what Lean said."""
    path: Path = arguments.file
    if not arguments.timeout > 0:
        raise InputError("--timeout", f"must be a number of seconds above 0, got {arguments.timeout}")
    from rlmath.kernel.select import lean_for

    kernel = load_kernel(arguments.kernel)
    text = lean_for(kernel, read_text(path, "FILE.lean"), str(path))
    result = asyncio.run(_check(chosen_kernel(kernel, slots=1), text, arguments.timeout))
    if arguments.json:
        print(json.dumps(asdict(result)))
    else:
        _print(path, result, arguments.timeout)
    return 1 if result.errors or result.timed_out or result.crashed else 0


async def _check(kernel: OwnedKernel, text: str, timeout_s: float) -> CheckResult:
    from rlmath.kernel.protocol import Source

    async with kernel:
        return await kernel.check(Source(command=text), timeout_s=timeout_s)


def _print(path: Path, result: CheckResult, timeout_s: float) -> None:
    for message in result.messages:
        print(f"{path}:{message.line}:{message.column}: {message.severity}: {message.text}")
    if result.timed_out:
        print(f"{path}: error: not done after {timeout_s:g} s (--timeout)")
    if result.crashed:
        print(f"{path}: error: the check's process died: {result.crashed}")
