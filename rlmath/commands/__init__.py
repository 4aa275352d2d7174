"""The subcommands of `rlmath`. Each module has `add_parser(subparsers)`, which names its `run(arguments) -> exit code`.

What a command needs beyond argparse it imports when it runs: `rlmath --help` must not wait for Ray or a kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import argparse

    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]
