"""`rlmath audit FILE.lean --prop P`: is this file really a proof of that proposition?"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlmath.commands.files import read_lean
from rlmath.commands.kernel import make_kernel
from rlmath.errors import InputError

if TYPE_CHECKING:
    from rlmath.commands import Subparsers
    from rlmath.kernel.embedded import EmbeddedKernel
    from rlmath.kernel.protocol import AuditVerdict
    from rlmath.types import KernelIdentity


def add_parser(commands: Subparsers) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "audit",
        help="say whether a Lean file proves a proposition, whatever else it does",
        description="Audits a Lean file that you need not trust: a clean process rebuilds all that it declares, sends "
        "it through the kernel, and compares the theorem with the proposition that you give. "
        "Exit codes: 0 accepted, 1 refused, 2 bad input (the file cannot be read, or the proposition does not stand).",
    )
    parser.add_argument("file", metavar="FILE.lean", type=Path)
    parser.add_argument("--prop", required=True, metavar="PROP", help="the proposition, as a closed Lean term")
    parser.add_argument("--name", default="goal", help="full name of the theorem in the file (default: goal)")
    parser.add_argument(
        "--context-file",
        metavar="CONTEXT.lean",
        type=Path,
        help="Lean declarations that PROP speaks of and that you trust; the file may have them too or leave them out",
    )
    parser.add_argument(
        "--export",
        metavar="OUT.ndjson",
        type=Path,
        help="write an accepted theorem and all it rests on in lean4export's format, for an external checker",
    )
    parser.add_argument(
        "--timeout", type=float, default=120.0, metavar="SECONDS", help="wall clock for the file (default: 120)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Audit the file and print the verdict."""
    path: Path = arguments.file
    if not arguments.timeout > 0:
        raise InputError("--timeout", f"must be a number of seconds above 0, got {arguments.timeout}")
    text = read_lean(path)
    context = "" if arguments.context_file is None else read_lean(arguments.context_file, "--context-file")
    _check_export(arguments)
    verdict, kernel = asyncio.run(_audit(make_kernel(slots=1), arguments, text, context))
    if arguments.export is not None and verdict.exported is not None:
        try:
            arguments.export.write_text(verdict.exported, encoding="utf-8")
        except OSError as error:
            raise InputError("--export", f"cannot write {arguments.export}: {error.strerror}") from None
    if arguments.json:
        print(json.dumps(_as_json(verdict, kernel)))
    elif verdict.accepted:
        axioms = f"axioms: {', '.join(verdict.axioms)}" if verdict.axioms else "no axioms"
        replayed = f"{verdict.constants} constant{'' if verdict.constants == 1 else 's'} replayed"
        print(f"{path}: accepted: {arguments.name} proves the proposition ({axioms}; {replayed}; {kernel})")
    else:
        print(f"{path}: refused ({verdict.rule}): {verdict.reason}")
    return 0 if verdict.accepted else 1


def _check_export(arguments: argparse.Namespace) -> None:
    """The file to write must not be one that is read, nor anything that is no export of an earlier time."""
    out: Path | None = arguments.export
    if out is None or not out.exists():
        return
    for source in (arguments.file, arguments.context_file):
        if source is not None and source.exists() and source.samefile(out):
            raise InputError("--export", f"{out} is the file that is read: name another")
    if out.suffix == ".lean":
        raise InputError("--export", f"{out} is a Lean file: name another")


async def _audit(
    kernel: EmbeddedKernel, arguments: argparse.Namespace, text: str, context: str
) -> tuple[AuditVerdict, KernelIdentity]:
    from rlmath.kernel.audit.file import audit_file

    async with kernel:
        try:
            verdict = await audit_file(
                kernel,
                text,
                arguments.prop,
                arguments.name,
                context,
                timeout_s=arguments.timeout,
                as_text=arguments.export is not None,
            )
        except InputError as error:
            option = {"prop": "--prop", "name": "--name", "context": "--context-file"}.get(error.field, error.field)
            raise InputError(option, error.problem) from None
        return verdict, kernel.identity


def _as_json(verdict: AuditVerdict, kernel: KernelIdentity) -> dict[str, Any]:
    fields = {key: value for key, value in vars(verdict).items() if key != "exported"}
    return {**fields, "axioms": list(verdict.axioms), "kernel": vars(kernel)}
