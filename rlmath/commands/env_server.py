"""`rlmath env-server CONFIG.toml`: environments for a trainer, with rewards from a cluster."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ipaddress
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rlmath.errors import InputError

if TYPE_CHECKING:
    from cluster.api import WarmUp
    from rlmath.commands import Subparsers
    from rlmath.envs.server.config import ClusterSection, EnvServerConfig
    from rlmath.envs.server.wire import Wire
    from rlmath.leaf.config import OpenAILeaf, RecordedLeaf, TacticsLeaf

EPILOG = """\
example of a config file (unknown keys are errors):

  [env.taskset]
  id = "rlmath-decomp"

  [env.taskset.task]                      # caps count from here, not from the trainer's config
  cluster_url = "http://127.0.0.1:8000"   # the gateway that scores (`rlmath serve`)
  max_lemmas = 8

  [env.agent.runtime]
  type = "subprocess"

  [serve]
  address = "tcp://127.0.0.1:5055"        # no authentication: for a private network
  max_concurrent = 128                    # rollouts at the same time in each worker

  [serve.pool]
  type = "static"
  num_workers = 2

on a node of a Ray cluster, leave cluster_url out and add

  [cluster]
  address = "auto"                        # left out: a cluster of its own, on this machine

Both sides need the same release of verifiers: `rlmath env-server --probe ADDRESS`, called where the trainer is
installed, says whether they can talk.

SIGINT and SIGTERM: rollouts under way are finished, new ones are refused, then it ends; a second one ends it at once.
A worker that dies is started again; the rollouts it had end with an error, which is no reward.
exit codes: 0 stopped (--probe: it is up), 1 nothing could start (--probe: it is not up), 2 bad input
"""

GATEWAY_S = 60.0
"""For the gateway to answer at the start."""
PROBE_S = 5.0


def add_parser(commands: Subparsers) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "env-server",
        help="serve environments to a trainer (prime-rl)",
        description="Serves a verifiers environment whose rewards come from a cluster, until it is stopped.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("config", metavar="CONFIG.toml", type=Path, nargs="?")
    what.add_argument("--probe", metavar="ADDRESS", help="ask a server that runs whether it is up, and end")
    parser.add_argument(
        "--grace", type=float, default=30.0, metavar="SECONDS", help="for rollouts to end at a stop (default: 30)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal says stop."""
    if not arguments.grace >= 0:
        raise InputError("--grace", f"must be seconds of at least 0, got {arguments.grace}")
    if arguments.probe is not None:
        from rlmath.envs.server.probe import probe

        wire = probe(arguments.probe, timeout_s=PROBE_S)
        print(f"{arguments.probe}: up, with the wire of verifiers {wire.release}")
        return 0
    from rlmath.envs.server.config import load_config
    from rlmath.envs.server.wire import installed_wire

    wire, config = installed_wire(), load_config(arguments.config)
    try:
        with _scored(config) as scored:
            asyncio.run(_serve(scored, wire, arguments.grace))
    except InputError as error:
        raise InputError(f"{arguments.config}: {error.field}", error.problem) from error
    return 0


@contextlib.contextmanager
def _scored(config: EnvServerConfig) -> Iterator[EnvServerConfig]:
    """The config with a gateway to score: the one it names, or one of a cluster that ends with this context."""
    if config.cluster is None:
        yield config
        return
    from cluster.gateway.settings import GatewaySettings
    from cluster.local import LocalCluster

    section: ClusterSection = config.cluster
    settings = GatewaySettings(port=0, leaves=_leaves(section))
    with LocalCluster(section.address, slots=section.slots, progress=_warming, serve=settings) as cluster:
        yield config.scored_at(cluster.url)


async def _serve(config: EnvServerConfig, wire: Wire, grace_s: float) -> None:
    from rlmath.envs.server.supervisor import Supervisor, check_environment

    stop, at_once = asyncio.Event(), asyncio.Event()

    def stopping() -> None:
        (at_once if stop.is_set() else stop).set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping)
    asking = asyncio.create_task(_gateway(config))
    checking = asyncio.create_task(check_environment(config))  # meanwhile: a gateway that is not there takes its time
    stopped = asyncio.create_task(stop.wait())
    try:
        watched: set[asyncio.Task[Any]] = {asking, checking, stopped}
        while not (asking.done() or stopped.done()):
            done, watched = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            if checking in done:
                checking.result()
        if not asking.done():
            return
    finally:
        for task in (asking, checking, stopped):
            task.cancel()
        await asyncio.gather(asking, checking, stopped, return_exceptions=True)
    _tell(f"rewards come from {asking.result()}")
    if not _is_private(config.serve.address):
        _tell(f"whoever reaches {config.serve.address} can run rollouts: the wire has no authentication")
    await Supervisor(config, wire, grace_s=grace_s, tell=_tell).run(stop, at_once)


async def _gateway(config: EnvServerConfig) -> str:
    """The gateway and its kernels, in words. Raises `InputError` for a key it does not know, `KernelUnavailable` when
    it does not answer."""
    from cluster.async_client import AsyncClusterClient

    gateway = config.gateway()
    async with AsyncClusterClient(gateway.url, api_key=gateway.api_key(), deadline_s=GATEWAY_S) as client:
        return f"{gateway.url}: {', '.join(map(str, await client.kernels()))}"


def _leaves(section: ClusterSection) -> dict[str, TacticsLeaf | OpenAILeaf | RecordedLeaf]:
    from cluster.gateway.leaf_files import load_leaf

    return {name: load_leaf(path) for name, path in section.leaves.items()}


def _is_private(address: str) -> bool:
    """Whether only this machine can reach it."""
    parts = urlsplit(address)
    if parts.scheme != "tcp":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return parts.hostname == "localhost"


def _warming(warm_up: WarmUp) -> None:
    print(warm_up, file=sys.stderr, flush=True)


def _tell(text: str) -> None:
    print(f"rlmath: {text}", file=sys.stderr, flush=True)
