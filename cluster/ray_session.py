"""Starting a Ray of our own, or joining one that runs."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import subprocess
from dataclasses import dataclass
from typing import Any

import ray
from ray import _private, _raylet

from cluster.ray_guard import descendants, end_ray, start_guard
from rlmath.errors import InputError, KernelUnavailable

logger = logging.getLogger(__name__)

ADVICE = "start a Ray with `ray start --head`, or leave the address out to have one started for the run"
KNOCK_S = 10.0
"""For an address to answer at all."""
START_ATTEMPTS = 3
OBJECT_STORE_BYTES = 128 * 2**20
"""Our payloads are small; Ray's default is a third of the memory."""

LOCAL_CPUS = 2
"""Ray starts as many workers ahead of need: one for the scheduler, one for the kernel's actor. Neither asks for a CPU.
"""

LOCAL_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_enable_metrics_collection": "0",
    # Workers would run at niceness 15, and the kernels they start with them.
    "RAY_worker_niceness": "0",
    # Ray's out-of-memory killer does not see the processes of a kernel, and kills workers for what those use.
    "RAY_memory_monitor_refresh_ms": "0",
}


@dataclass
class RaySession:
    """A connection of this process to Ray. `close` undoes exactly what `open_session` did."""

    address: str
    """Of the cluster, `host:port`."""
    started: bool
    """Ray was started here and ends with `close`."""
    connected: bool
    """The connection was made here and ends with `close`."""
    added: tuple[str, ...] = ()
    """Environment variables that were set here; nothing stood there before."""
    guard: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """Idempotent."""
        if self.connected:
            ray.shutdown()
        if self.guard is not None:
            self.guard.kill()
            self.guard.wait()
            self.guard = None
        self.started = self.connected = False
        if self.added:
            _remove(self.added)
            self.added = ()


def open_session(address: str | None, *, log_to_driver: bool) -> RaySession:
    """Join the Ray at `address`, or at `RAY_ADDRESS`, or the one this process is connected to; without any, start one
    on this machine.

    A Ray that is started here lets in only who has its token, a fresh one that this process and its children hold: it
    listens on every interface whatever it is told. An explicit `RAY_AUTH_MODE` is left as it is. It ends with the
    thread that started it. Raises `InputError` (field `address`) when nothing answers there, `KernelUnavailable` when
    Ray does not start here.
    """
    if ray.is_initialized():
        here = ray.get_runtime_context().gcs_address
        if address not in (None, "auto", here):
            raise InputError(
                "address",
                f"this process is connected to Ray at {here} already; call ray.shutdown() first to join {address}",
            )
        return RaySession(here, started=False, connected=False)
    field = "address" if address else "RAY_ADDRESS"
    address = address_of(address)
    if address is not None:
        try:
            _knock(_resolved(address))
            ray.init(address=address, log_to_driver=log_to_driver, logging_level=logging.ERROR)
        except (OSError, OverflowError, RuntimeError, ValueError) as error:
            said = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InputError(field, f"no Ray could be joined at {address} ({said}); {ADVICE}") from error
        return RaySession(ray.get_runtime_context().gcs_address, started=False, connected=True)
    wanted = dict(LOCAL_ENVIRONMENT)
    if "RAY_AUTH_MODE" not in os.environ:
        wanted |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    added = tuple(name for name in wanted if name not in os.environ)
    os.environ.update({name: wanted[name] for name in added})
    _reread()
    try:
        guard = _start(log_to_driver)
    except BaseException:
        _remove(added)
        raise
    address = ray.get_runtime_context().gcs_address
    return RaySession(address, started=True, connected=True, added=added, guard=guard)


def address_of(address: str | None) -> str | None:
    """The Ray that is to be joined, given this argument; None: one is to be started here."""
    wanted = address or os.environ.get("RAY_ADDRESS") or None
    return None if wanted == "local" else wanted


def _resolved(address: str) -> str:
    """What `auto` means here. Raises ConnectionError when it means nothing."""
    if address != "auto":
        return address
    services: Any = _private.services  # as `ray.init` does it; there is no public way
    return str(services.canonicalize_bootstrap_address(address))


def _knock(address: str) -> None:
    """Ray itself tries for minutes to reach what is not there. Raises OSError, OverflowError or ValueError."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), KNOCK_S).close()


def _start(log_to_driver: bool) -> subprocess.Popen[bytes] | None:
    """Start Ray, and the guard of its processes. On a machine that is very busy Ray gives itself up: that is tried
    again.
    """
    for attempt in range(1, START_ATTEMPTS + 1):
        before = set(descendants(os.getpid()))
        try:
            ray.init(
                address="local",
                num_cpus=LOCAL_CPUS,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                log_to_driver=log_to_driver,
                logging_level=logging.ERROR,
            )
            _end_helpers(log_to_driver)
            return start_guard(before)
        except BaseException as error:
            ray.shutdown()
            end_ray(before)
            if not isinstance(error, Exception):
                raise
            if attempt == START_ATTEMPTS:
                raise KernelUnavailable(f"Ray did not start in {attempt} attempts: {error}") from error
    raise AssertionError("unreachable")


def _end_helpers(log_to_driver: bool) -> None:
    """End what Ray has started for nothing: the autoscaler of a cluster that cannot grow, the server of a dashboard
    that nobody asked for, the reader of logs that nobody is shown. Idle as they are, they took 3.4% of two cores.

    There is no public way, and another Ray may have no such names: then they stay.
    """
    helpers = ["monitor", "dashboard"] + ([] if log_to_driver else ["log_monitor"])
    for helper in helpers:
        try:
            node: Any = _private.worker._global_node
            getattr(node, f"kill_{helper}")(check_alive=False)
        except Exception as error:
            logger.info("Ray's %s goes on: %s: %s", helper, type(error).__name__, error)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _reread() -> None:
    # Ray reads its environment when it is imported, which may be long past. The configuration goes first: a thread of
    # Ray that still drains would otherwise ask for a token while the configuration demands one that is gone.
    native: Any = _raylet  # compiled: it has no types
    native.Config.initialize("")
    native.AuthenticationTokenLoader.instance().reset_cache()


def _remove(names: tuple[str, ...]) -> None:
    for name in names:
        os.environ.pop(name, None)
    _reread()
