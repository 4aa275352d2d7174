"""`rlmath keys`: the API keys of `rlmath serve`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from rlmath.errors import InputError

if TYPE_CHECKING:
    from rlmath.commands import Subparsers

EPILOG = """\
examples:
  rlmath keys add keys.json --client trainer
  rlmath keys add keys.json --client class --rate-per-s 2 --burst 10 --max-open 4 --no-sources
  rlmath keys list keys.json
  rlmath keys remove keys.json --client class

The file holds hashes: a key can be read only when it is made. A running server takes a change over within a second.
"""
LIMITS = (
    "rate_per_s", "burst", "max_open", "weight", "max_priority", "shared_cache", "sources",
    "cap_leaf_attempts", "cap_kernel_s", "cap_model_tokens",
)  # fmt: skip
"""Options of `add` that are fields of `cluster.gateway.keys.KeyEntry`."""


def add_parser(commands: Subparsers) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "keys",
        help="make, list and remove API keys of `rlmath serve`",
        description="Keeps the file of API keys that `rlmath serve --api-keys` reads.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    add = actions.add_parser(
        "add", help="make a key for a client and print it", description="Makes a key, and prints it."
    )
    _file_and_client(add)
    add.add_argument("--rate-per-s", type=float, metavar="R", help="requests a second (default: no limit)")
    add.add_argument("--burst", type=int, metavar="N", help="requests that may come at once (default: 100)")
    add.add_argument(
        "--max-open", type=int, metavar="N", help="requests at the same time (default: the server's limit)"
    )
    add.add_argument("--weight", type=float, metavar="W", help="share of the kernel beside others (default: 1)")
    add.add_argument("--max-priority", type=int, metavar="P", help="highest priority it may ask for (default: 0)")
    add.add_argument(
        "--shared-cache",
        action="store_const",
        const=True,
        help="share verdicts with other such clients (who can then tell what the others have asked)",
    )
    add.add_argument(
        "--no-sources",
        dest="sources",
        action="store_const",
        const=False,
        help="judge completions and proofs only, no Lean sources of its own",
    )
    add.add_argument("--cap-leaf-attempts", type=int, metavar="N", help="leaf attempts it may ever use")
    add.add_argument("--cap-kernel-s", type=float, metavar="SECONDS", help="kernel time it may ever use")
    add.add_argument("--cap-model-tokens", type=int, metavar="N", help="tokens of leaf models it may ever use")
    add.set_defaults(run=run_add)

    listing = actions.add_parser("list", help="show the clients", description="Shows the clients and their limits.")
    listing.add_argument("file", metavar="FILE", type=Path)
    listing.add_argument("--json", action="store_true", help="print one JSON object")
    listing.set_defaults(run=run_list)

    remove = actions.add_parser("remove", help="remove a client's key", description="Removes a client's key.")
    _file_and_client(remove)
    remove.set_defaults(run=run_remove)


def run_add(arguments: argparse.Namespace) -> int:
    """Make a key; it is the one line on stdout."""
    from cluster.gateway.keys import add

    limits = {name: value for name in LIMITS if (value := getattr(arguments, name)) is not None}
    try:
        key = add(arguments.file, arguments.client, **limits)
    except InputError as error:
        flag = f"--{error.field.replace('_', '-')}" if error.field in ("client", *LIMITS) else error.field
        raise InputError(flag, error.problem) from None
    print(key)
    return 0


def run_list(arguments: argparse.Namespace) -> int:
    """Show what the file holds, without the hashes."""
    from cluster.gateway.keys import load

    keys = [key.model_dump(exclude={"sha256"}) for key in load(arguments.file).keys]
    if arguments.json:
        print(json.dumps({"keys": keys}))
    else:
        for key in keys:
            limits = " ".join(f"{name}={key[name]}" for name in LIMITS if key[name] is not None)
            print(f"{key['client']}  {key['id']}  {key['created']}  {limits}")
    return 0


def run_remove(arguments: argparse.Namespace) -> int:
    """Remove a key."""
    from cluster.gateway.keys import remove

    remove(arguments.file, arguments.client)
    return 0


def _file_and_client(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--client", required=True, metavar="NAME", help="whose key it is; stands in logs")
