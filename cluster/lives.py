"""The lives of workers: a worker actor is opened, asked now and then whether it lives, and opened again when it was
lost.

A link is one worker over all its lives. Its owner (pool.py) is told when a life begins and ends.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from cluster.api import ClusterSettings, WorkerStatus
from cluster.exchange import Check, CheckAnswer
from cluster.failures import is_final, reason_of
from cluster.placement import LEAN, Placement
from cluster.renewal import KernelPulse
from cluster.retry import RetryPolicy
from cluster.ways import Told, Way, secret_for, way_to
from cluster.workers import HEALTH, LeanWorker, Pulse, WorkerInfo
from rlmath.errors import RlmathError
from rlmath.types import KernelIdentity

logger = logging.getLogger(__name__)

RESTART = RetryPolicy(first_pause_s=0.25, longest_pause_s=30.0)
"""Pauses between attempts to open a worker."""
CLOSE_S = 5.0
"""For a worker to end in good order, before it is killed."""
ACTOR: dict[str, Any] = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": 0, "enable_task_events": False}
"""How Ray is to keep an actor of ours. Task events would tell of hundreds of calls a second: they cost an eighth of the
rate of calls (`benchmarks/cluster_checks.py`), and `rlmath top` and the metrics tell more."""


@dataclass
class Life:
    """One life of a worker, from the moment it takes checks until it is lost."""

    name: str
    lost: asyncio.Future[str]
    """Set to the reason once."""
    way: Way = field(init=False)
    """To be set before it takes checks."""
    checks: list[Check] = field(default_factory=list)
    """To be sent."""
    stops: list[int] = field(default_factory=list)
    flush_due: bool = False

    def lose(self, reason: str) -> None:
        """It is gone. May be called again."""
        if not self.lost.done():
            self.lost.set_result(reason)


@dataclass(eq=False)
class Link:
    """One worker over all its lives."""

    index: int
    placement: Placement
    actor: Any
    worker: type[LeanWorker] = LeanWorker
    """What the actor is."""
    state: str = "starting"
    """See `WorkerStatus.state`."""
    detail: str = ""
    starts: int = 0
    life: Life | None = None
    pid: int | None = None
    node_id: str | None = None
    kernel: KernelPulse | None = None
    """As of the last pulse."""
    leaving: bool = False
    """No new life is to begin."""

    @property
    def environment(self) -> str:
        """See `WorkerKind.environment`."""
        return self.placement.kind.environment

    def status(self, in_flight: int) -> WorkerStatus:
        """For people."""
        kernel = self.kernel
        return WorkerStatus(
            node=(self.node_id or self.placement.node_id or "")[:8],
            state="draining" if self.leaving else self.state,
            slots=self.placement.slots,
            in_flight=in_flight,
            pid=self.pid,
            image_pid=kernel.image_pid if kernel else None,
            checks=kernel.checks if kernel else 0,
            starts=self.starts,
            detail=self.detail,
            environment=self.environment,
            renewals=kernel.renewals if kernel else 0,
            image_bytes=kernel.image_bytes if kernel else 0,
            number=self.index,
        )


class Owner(Protocol):
    """Who is told of the lives of a link."""

    def agree(self, link: Link, identity: KernelIdentity) -> None:
        """A worker has this kernel. Raises `KernelUnavailable` when it may not."""
        ...

    def begun(self, link: Link, life: Life, info: WorkerInfo) -> None:
        """The worker takes checks."""
        ...

    def answered(self, life: Life, answers: Sequence[CheckAnswer]) -> None:
        """The worker answered checks."""
        ...

    def ended(self, link: Link, life: Life, reason: str) -> None:
        """The worker was lost."""
        ...

    def refused(self, link: Link) -> None:
        """The worker did not open; `link.state` tells whether there is hope."""
        ...


async def keep(link: Link, lives: Any, owner: Owner, settings: ClusterSettings) -> None:
    """Open the worker again and again, until it is leaving. `lives`: an iterator of numbers that never come again."""
    failures, failing_since = 0, 0.0
    while not link.leaving:
        name = f"{link.index}.{next(lives)}"
        secret = secret_for(settings)
        try:
            info: WorkerInfo = await asyncio.wait_for(link.actor.open.remote(name, secret), settings.start_timeout_s)
            owner.agree(link, info.identity)
        except (RayError, RlmathError, TimeoutError) as error:
            failures += 1
            failing_since = failing_since if failures > 1 else time.monotonic()
            _failed_to_open(link, error, failures, time.monotonic() - failing_since, settings)
            owner.refused(link)
            await asyncio.sleep(RESTART.pause_s(failures))
            continue
        failures = 0
        life = Life(name, asyncio.get_running_loop().create_future())
        told = Told(partial(owner.answered, life), life.lose)
        life.way = await way_to(link.actor, name, told, settings, secret, info.address)
        link.life = life
        link.state, link.detail, link.starts = "ready", "", link.starts + 1
        link.pid, link.node_id, link.kernel = info.pid, info.node_id, info.kernel
        pinging = asyncio.create_task(_ping(link, life, settings))
        try:
            owner.begun(link, life, info)
            reason = await life.lost
        finally:
            pinging.cancel()
            life.way.close()
        logger.warning("worker %s lost: %s", name, reason)
        link.state, link.detail, link.life = "lost", reason, None
        owner.ended(link, life, f"worker lost: {reason}")


def spawn(placement: Placement, settings: ClusterSettings, worker: type[LeanWorker] = LeanWorker) -> Any:
    """A worker actor at its place. It asks Ray for no CPU: its checks run in processes that Ray does not see."""
    remote: Any = ray.remote  # its stub knows no concurrency_groups
    actor_class = remote(concurrency_groups={HEALTH: 1}, **ACTOR)(worker)
    where: dict[str, Any]
    if placement.node_id is None:
        where = {"resources": {LEAN: placement.slots}}
    else:
        where = {"scheduling_strategy": NodeAffinitySchedulingStrategy(placement.node_id, soft=False)}
    return actor_class.options(**where).remote(placement.kind, placement.slots, settings)


async def end(links: Sequence[Link]) -> None:
    """Close workers and kill them."""
    closing = [asyncio.ensure_future(_closed(link.actor.close.remote())) for link in links if link.state == "ready"]
    if closing:
        await asyncio.wait(closing, timeout=CLOSE_S)
    for link in links:
        ray.kill(link.actor, no_restart=True)


def _failed_to_open(link: Link, error: BaseException, failures: int, for_s: float, settings: ClusterSettings) -> None:
    timed_out = isinstance(error, TimeoutError)
    reason = f"not ready after {settings.start_timeout_s:.0f} s" if timed_out else reason_of(error)
    logger.warning("worker %d did not open: %s", link.index, reason)
    if timed_out and link.placement.node_id is None:
        refused = False  # there may be no node for it yet
    elif timed_out or isinstance(error, RayTaskError | RlmathError):
        # The kernel's own word. One that refuses on a fresh machine will refuse again.
        refused = not link.starts or failures >= settings.start_attempts
    else:
        refused = for_s >= settings.absence_s
    link.state, link.detail = "refused" if refused else "starting", reason
    if timed_out or is_final(error):
        ray.kill(link.actor, no_restart=True)
        link.actor = spawn(link.placement, settings, link.worker)


async def _ping(link: Link, life: Life, settings: ClusterSettings) -> None:
    limit = settings.ping_timeout_s
    while True:
        await asyncio.sleep(settings.ping_period_s)
        try:
            pulse: Pulse = await asyncio.wait_for(link.actor.ping.remote(), limit)
        except TimeoutError:
            _replace(link, life, f"no answer to a ping for {limit:.0f} s")
            return
        except (RayError, RlmathError) as error:
            life.lose(reason_of(error))
            return
        link.kernel = pulse.kernel
        if pulse.loop_lag_s > limit:
            _replace(link, life, f"its loop stood still for {pulse.loop_lag_s:.0f} s")
            return


def _replace(link: Link, life: Life, reason: str) -> None:
    ray.kill(link.actor, no_restart=False)
    life.lose(reason)


async def _closed(ref: Any) -> None:
    try:
        await ref
    except RayError as error:
        logger.info("worker did not close: %s", reason_of(error))
