"""`rlmath serve`: the kernel as a service, over HTTP."""

from __future__ import annotations

import argparse
import queue
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rlmath.commands.kernel import load_kernel
from rlmath.errors import InputError, Unavailable

if TYPE_CHECKING:
    from cluster.api import WarmUp
    from cluster.gateway.settings import GatewaySettings
    from cluster.local import LocalCluster
    from rlmath.commands import Subparsers

EPILOG = """\
examples:
  rlmath serve
  rlmath keys add keys.json --client trainer
  rlmath serve --host 0.0.0.0 --api-keys keys.json --tls-cert cert.pem --tls-key key.pem
  curl -s localhost:8000/v1/check -H 'content-type: application/json' -d '{"prop": "2 + 2 = 4", "proof": "rfl"}'

The API is described at /openapi.json, a page for people is at /. Clients of a Kimina server work unchanged.

SIGINT and SIGTERM: what runs is finished, what is new is refused, then it ends; a second one ends it at once.
SIGHUP: the file of API keys is read again (it is, too, within a second of a change).
exit codes: 0 stopped, 1 no kernel could start, 2 bad input, 130 stopped by a second signal
"""


def add_parser(commands: Subparsers) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "serve",
        help="judge and check over HTTP",
        description="Serves a cluster's kernels over HTTP until it is stopped.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, default=8000, help="0: any free one (default: 8000)")
    parser.add_argument("--api-keys", type=Path, metavar="FILE", help="keys made with `rlmath keys add`")
    parser.add_argument("--tls-cert", type=Path, metavar="FILE", help="certificate chain, PEM")
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="its key, PEM")
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer only to this name (and this machine's own); may be given again",
    )
    parser.add_argument(
        "--leaf",
        action="append",
        default=[],
        metavar="NAME=FILE.toml",
        help='a leaf prover that requests may name ({"type": "served", "name": NAME}); may be given again',
    )
    parser.add_argument(
        "--kernel",
        action="append",
        default=[],
        type=Path,
        metavar="FILE.toml",
        help="a file with a [kernel] section, whose name requests may give; may be given again, the first is the "
        "default (default: the embedded kernel)",
    )
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Ray cluster to join (default: one on this machine)")
    parser.add_argument(
        "--slots", type=int, metavar="N", help="checks at the same time on each node (default: its cores)"
    )
    parser.add_argument(
        "--max-workers",
        type=int,
        metavar="N",
        help="have workers of --slots each follow demand, from none to so many; they take up Ray's resource `lean`",
    )
    parser.add_argument(
        "--idle",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="with --max-workers: how long a worker has to be surplus before it goes (default: 300)",
    )
    parser.add_argument(
        "--grace", type=float, default=30.0, metavar="SECONDS", help="for what runs to end at a stop (default: 30)"
    )
    parser.add_argument("--log-texts", action="store_true", help="let goals, completions and proofs into the log")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal says stop."""
    settings = _settings(arguments)
    from cluster.autoscale import demand_driven
    from cluster.gateway.server import rehearse
    from cluster.local import LocalCluster
    from rlmath.validation import renamed

    rehearse(settings)
    signals: queue.SimpleQueue[int] = queue.SimpleQueue()
    cluster = LocalCluster(
        arguments.cluster,
        slots=arguments.slots,
        progress=_tell,
        log_to_driver=True,
        serve=settings,
        autoscale=demand_driven(arguments.slots, arguments.max_workers, arguments.idle),
        kernels=[load_kernel(path) for path in arguments.kernel or [None]],
    )
    with renamed("address", "--cluster"), cluster:
        # Not before: Ray's start sets a handler of its own.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda got, _: signals.put(got))
        print(f"rlmath: serving at {cluster.url}", file=sys.stderr, flush=True)
        _until_stopped(cluster, signals)
        print("rlmath: stopping; what runs is finished first", file=sys.stderr, flush=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler)
    return 0


def _until_stopped(cluster: LocalCluster, signals: queue.SimpleQueue[int]) -> None:
    while signals.get() == signal.SIGHUP:
        try:
            cluster.reload_keys()
        except (InputError, Unavailable) as error:
            print(f"rlmath: the API keys stay as they were: {error}", file=sys.stderr, flush=True)


def _settings(arguments: argparse.Namespace) -> GatewaySettings:
    from cluster.gateway.leaf_files import load_leaf
    from cluster.gateway.settings import GatewaySettings

    leaves = {}
    for given in arguments.leaf:
        name, equals, path = given.partition("=")
        if not (name and equals and path):
            raise InputError("--leaf", f"must be NAME=FILE.toml, got {given}")
        if name in leaves:
            raise InputError("--leaf", f"two leaf provers are called {name}")
        leaves[name] = load_leaf(Path(path))
    try:
        return GatewaySettings(
            host=arguments.host,
            port=arguments.port,
            api_keys=_absolute(arguments.api_keys),
            tls_cert=_absolute(arguments.tls_cert),
            tls_key=_absolute(arguments.tls_key),
            leaves=leaves,
            grace_s=arguments.grace,
            log_texts=arguments.log_texts,
            allowed_hosts=tuple(arguments.allowed_host),
        )
    except InputError as error:
        flag = {"grace_s": "grace"}.get(error.field, error.field)
        raise InputError(f"--{flag.replace('_', '-')}", error.problem) from None


def _absolute(path: Path | None) -> Path | None:
    """The actor that serves has a working directory of its own."""
    return None if path is None else path.resolve()


def _tell(warm_up: WarmUp) -> None:
    print(warm_up, file=sys.stderr, flush=True)
