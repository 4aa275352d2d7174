"""The command `rlmath`: one subcommand a file in `rlmath.commands`.

Exit codes: 0 done · 1 done, but something failed (results of status `error`, errors in a checked file, a refused
audit, a red `doctor`) · 2 bad input, told in one line `rlmath: error: FIELD: problem` · 130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from rlmath import __version__
from rlmath.commands import audit, check, doctor, env_server, evaluate, keys, repl, score, serve, top
from rlmath.errors import InputError, RlmathError

COMMANDS = (evaluate, score, check, audit, serve, env_server, repl, top, keys, doctor)


class _Parser(argparse.ArgumentParser):
    """argparse, with its complaints in the form of all the others."""

    def error(self, message: str) -> NoReturn:
        raise InputError("arguments", f"{message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (default: this process's) and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # ∀ on a terminal that has only ASCII is no reason to die
    try:
        arguments = _parser().parse_args(argv)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except InputError as error:
        _complain(str(error))
        return 2
    except RlmathError as error:
        _complain(str(error))
        return 1
    except KeyboardInterrupt:
        print("rlmath: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; Python's own flush at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="rlmath",
        description="Judges decomposition plans for Lean 4 goals, with the Lean kernel's authority, stage by stage.",
        epilog="Exit codes: 0 done, 1 done but something failed, 2 bad input, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"rlmath {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser


def _complain(text: str) -> None:
    print("rlmath: error:", " ".join(text.split()), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
