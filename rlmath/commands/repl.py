"""`rlmath repl`: the JSON protocol of leanprover-community/repl on standard input and output."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from rlmath.errors import InputError

if TYPE_CHECKING:
    from rlmath.commands import Subparsers

EPILOG = """\
requests are JSON objects that end with a blank line; replies are one line of JSON and a blank line:

  {"cmd": "def f (n : Nat) := n + 1"}
  {"cmd": "theorem t : f 1 = 2 := rfl", "env": 0}
  {"path": "FILE.lean"}

Each command gives a new environment (`env`), a process of its own, on which further commands may be run. Replies have
`messages`, and `sorries` with their goals. Not served: tactic mode, pickling, allTactics, declarations, rootGoals,
infotree; a request for one of them, or one that cannot be read, gets {"message": …}.

A text without `env` may begin with `import Init`, the only module there is.
"""

MEGABYTE = 1 << 20


def add_parser(commands: Subparsers) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "repl",
        help="serve the Lean REPL's JSON protocol on standard input and output",
        description="Serves clients of leanprover-community/repl (LeanInteract, Kimina's server) from the embedded "
        "kernel. Ends with its standard input. Exit codes: 0 ended, 1 the kernel does not start or died.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--memory-mb",
        type=int,
        default=4096,
        metavar="MB",
        help="address space that a command may add to the prelude's (default: 4096)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until standard input ends."""
    from rlmath.kernel.embedded.build import ensure_prelude
    from rlmath.repl.server import Session, serve

    if arguments.memory_mb < 64:
        raise InputError("--memory-mb", f"must be at least 64, got {arguments.memory_mb}")
    sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    with Session(ensure_prelude(), memory_bytes=arguments.memory_mb * MEGABYTE) as session:
        serve(session, sys.stdin, sys.stdout)
    return 0
