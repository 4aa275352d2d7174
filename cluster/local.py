"""`LocalCluster`: a scoring cluster for a notebook, a script or an evaluation, with one line to start it and nothing
left when it ends.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from cluster.api import Caller, ClusterSettings, ClusterStatus, ScoreRequest, WarmUp
from cluster.autoscale import Autoscale
from cluster.background import BackgroundLoop
from cluster.caps import AccountStatus, Caps
from cluster.gateway.settings import GatewaySettings
from cluster.kinds import STANDARD, Kinds, MemoryClass
from cluster.lives import ACTOR
from cluster.placement import WorkerPlan, on_nodes, scaled
from cluster.ray_client import Client
from cluster.ray_guard import start_sweeper
from cluster.ray_session import RaySession, address_of, cores, open_session
from cluster.scheduler import Scheduler
from cluster.serving import ServingWatch
from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.config import EmbeddedKernelConfig, KernelConfig
from rlmath.leaf.config import LeafConfig, TacticsLeaf
from rlmath.render import ScoredResult
from rlmath.types import Budgets, GoalSpec

NAME = "scheduler"
"""Of the scheduler actor, in its namespace."""
POLL_S = 0.2
"""Between two looks at workers that warm up."""
SCHEDULER_CALLS = 100_000
"""Calls the scheduler may have open; it bounds what it runs itself."""
CLOSE_S = 10.0
"""Longest wait for workers to end in good order before they are killed."""


class LocalCluster:
    """Starts Ray on this machine (or joins one), warms a Lean kernel on each node, and scores plans there.

        with LocalCluster() as c:
            c.score(goal, plan)

    Closing it, an interrupt, or the death of this process ends all that it started. Ray ends with the thread that
    started it, so start it in one that lives as long.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        slots: int | None = None,
        namespace: str | None = None,
        progress: Callable[[WarmUp], None] | None = None,
        log_to_driver: bool = False,
        settings: ClusterSettings | None = None,
        serve: bool | GatewaySettings = False,
        ledger: Path | None = None,
        kernels: Sequence[KernelConfig] = (EmbeddedKernelConfig(),),
        memory: Sequence[MemoryClass] = (STANDARD,),
        autoscale: Autoscale | None = None,
    ) -> None:
        """`address`: a Ray to join (`auto`, `host:port`); None: `RAY_ADDRESS`, the Ray this process is connected to, or
        a new one.
        `slots`: checks at the same time on each node; None: its Ray resource `lean`, or else its cores.
        `namespace`: of the scheduler's name; None: a fresh one.
        `progress`: told what happens while the cluster comes up.
        `log_to_driver`: show the actors' logs here.
        `ledger`: file of the journal of requests, charges and verdicts, on this machine: a later cluster that is given
        the same file goes on with it. None: one that ends with this cluster.
        `serve`: answer HTTP too (see `url`); True: on a free port of this machine, for this machine.
        `kernels`: that requests may name (`ScoreRequest.kernel`), the default first; each node has a worker of each.
        `memory`: classes that requests may name (`ScoreRequest.memory`), from the smallest, which is the default, to
        the largest: what dies of memory in one is tried once in the next. Each has workers of its own.
        `autoscale`: workers follow demand instead of being on every node from the start. They take up Ray's `lean`.
        """
        if slots is not None and (isinstance(slots, bool) or not isinstance(slots, int) or slots < 1):
            raise InputError("slots", f"must be a whole number of at least 1, got {slots!r}")
        if address is not None and not isinstance(address, str):
            raise InputError("address", f"must be a string, got {type(address).__name__}")
        self._address, self._slots = address, slots
        self._namespace = namespace or f"rlmath-{uuid.uuid4().hex[:12]}"
        self._progress = progress
        self._log_to_driver = log_to_driver
        self._settings = settings or ClusterSettings()
        self._serve = GatewaySettings(port=0) if serve is True else serve or None
        self._serving: ServingWatch | None = None
        self._ledger = ledger
        self._kinds, self._autoscale = Kinds(kernels, memory), autoscale
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._sweeper: subprocess.Popen[bytes] | None = None
        self._session: RaySession | None = None
        self._scheduler: Any = None
        self._loop: BackgroundLoop | None = None
        self._client: Client | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> Self:
        """Come up; returns when every worker is warm (or has refused, and at least one is warm).

        Raises `KernelUnavailable` when no kernel could start, with the kernel's own reason, and `InputError` for an
        address nobody answers.
        """
        if self._client is not None:
            return self
        began = time.monotonic()
        try:
            joins = ray.is_initialized() or address_of(self._address) is not None
            self._tell(WarmUp("ray", 0.0, detail="joining" if joins else "starting"))
            self._session = open_session(self._address, log_to_driver=self._log_to_driver)
            self._scheduler = self._start_scheduler()
            self._loop = BackgroundLoop()
            self._client = Client(self._scheduler)
            self._await_workers(began)
            if self._serve is not None:
                self._serving = ServingWatch(self._scheduler, self._serve)
                self._loop.run(self._serving.start())
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """End the actors, and Ray if it was started here. Idempotent."""
        try:
            if self._loop is not None and self._serving is not None and ray.is_initialized():
                self._loop.run(self._serving.stop())
            if self._loop is not None and self._client is not None and ray.is_initialized():
                # Whatever does not end in good order is killed below: the workers end with their scheduler.
                with contextlib.suppress(RayError, TimeoutError):
                    self._loop.run(self._client.close_workers(), CLOSE_S)
            if self._loop is not None:
                self._loop.close()
            if self._scheduler is not None and ray.is_initialized():
                ray.kill(self._scheduler, no_restart=True)
        finally:
            self._loop = self._client = self._scheduler = self._serving = None
            if self._session is not None:
                self._session.close()
                self._session = None
            if self._scratch is not None:
                self._scratch.cleanup()
                self._scratch = None
            if self._sweeper is not None:
                self._sweeper.kill()
                self._sweeper.wait()
                self._sweeper = None

    @property
    def client(self) -> Client:
        """The async client."""
        return self._running()[0]

    @property
    def url(self) -> str:
        """Where HTTP is served. Raises `InputError` when it is not."""
        if self._serving is None:
            raise InputError("serve", "this cluster serves no HTTP: make it with LocalCluster(serve=True)")
        return self._serving.url

    def reload_keys(self) -> None:
        """Read the gateway's file of API keys again. Raises `InputError`, and keeps those that were known."""
        _, loop = self._running()
        if self._serving is not None:
            loop.run(self._serving.reload_keys())

    @property
    def namespace(self) -> str:
        """Ray namespace of the scheduler actor."""
        return self._namespace

    def score(
        self,
        goal: GoalSpec,
        completion: str | bytes,
        *,
        budgets: Budgets | None = None,
        leaf: LeafConfig | None = None,
        recorded: Mapping[str, str | Sequence[str]] | None = None,
        request_id: str | None = None,
        run: Run | None = None,
        priority: int = 0,
        kernel: str = "",
        memory: str = "",
    ) -> ScoredResult:
        """The verdict on one completion: an `EpisodeResult` that prints as a table. `request_id`: None: a fresh one.
        `run`: whose caps it counts against (`open_run`). `priority`: among its client's requests; higher goes first.
        `kernel`, `memory`: see `ScoreRequest`.

        Infrastructure trouble comes back as `Status.ERROR`, reward None. Raises `InputError` for a request that cannot
        be scored as it is, its goal included, and `Refused` when a cap is reached or the queue is full.
        """
        client, loop = self._running()
        request = ScoreRequest(
            request_id or uuid.uuid4().hex,
            goal,
            completion,
            Budgets() if budgets is None else budgets,
            TacticsLeaf() if leaf is None else leaf,
            recorded,
            kernel,
            memory,
        )
        return loop.run(client.score(request, _caller(run, priority)))

    def score_many(
        self,
        requests: Iterable[ScoreRequest],
        *,
        max_in_flight: int = 64,
        run: Run | None = None,
        priority: int = 0,
    ) -> Iterator[tuple[ScoreRequest, ScoredResult]]:
        """Results as they come, with at most `max_in_flight` requests begun and not yielded. `requests` is read as far
        as needed. `run`, `priority`: see `score`.

        Waits where a single request would be refused because the queue is full; raises `CapReached`. A goal that does
        not elaborate is its request's `Status.ERROR`, and keeps no other from its verdict. Closing the
        iterator, or an interrupt, ends the requests that are under way.
        """
        client, loop = self._running()
        if max_in_flight < 1:
            raise InputError("max_in_flight", f"must be at least 1, got {max_in_flight}")
        if not isinstance(requests, Iterable):
            raise InputError("requests", f"must be ScoreRequests, got {type(requests).__name__}")
        source, caller = iter(requests), _caller(run, priority)
        done: queue.SimpleQueue[tuple[ScoreRequest, Future[ScoredResult]]] = queue.SimpleQueue()
        running: set[Future[ScoredResult]] = set()
        try:
            while True:
                while len(running) < max_in_flight and (request := next(source, None)) is not None:
                    future = loop.submit(client.patient_score(request, caller))
                    running.add(future)
                    future.add_done_callback(partial(_put, done, request))
                if not running:
                    return
                request, future = done.get()
                running.discard(future)
                yield request, future.result()
        finally:
            for future in running:
                future.cancel()

    def open_run(
        self,
        *,
        caps: Caps | None = None,
        client: str = "",
        weight: float = 1.0,
        name: str | None = None,
        client_caps: Caps | None = None,
    ) -> Run:
        """Open a run whose work counts against `caps`; `name`: None: a fresh one. An open run of that name goes on with
        what it has spent, under these caps.

        `client`: whose run it is; clients share the kernel by `weight`. `client_caps`: for all runs of the client
        together; None: as they are.
        """
        client_, loop = self._running()
        run = Run(Caller(client, weight, run=name or uuid.uuid4().hex), client_, loop)
        loop.run(client_.open_run(run.name, caps or Caps(), client=client, client_caps=client_caps))
        return run

    def status(self) -> dict[str, Any]:
        """Workers, queues and counters as plain data; see `ClusterStatus` for the keys."""
        client, loop = self._running()
        status = loop.run(client.status())
        session = self._session
        return {
            "address": session.address if session else None,
            "started_ray": bool(session and session.started),
            "namespace": self._namespace,
            **asdict(status),
            "kernel": str(status.kernel) if status.kernel else None,
        }

    def _running(self) -> tuple[Client, BackgroundLoop]:
        if self._client is None or self._loop is None:
            raise InputError("LocalCluster", "is not running: use `with LocalCluster() as c:` or call start()")
        return self._client, self._loop

    def _start_scheduler(self) -> Any:
        plan = self._plan()
        actor_class: Any = ray.remote(**ACTOR)(Scheduler)
        # Its journal is a file of this machine. To an actor that needs no resources Ray gives any node, unless it must
        # be at one: what it would only prefer is not looked at.
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        options = {"max_concurrency": SCHEDULER_CALLS, "scheduling_strategy": here}
        try:
            return actor_class.options(name=NAME, namespace=self._namespace, **options).remote(
                plan, self._settings, str(self._ledger_path())
            )
        except ValueError as error:  # so says Ray of a name that is taken
            raise InputError("namespace", f"{self._namespace} has a cluster of its own already") from error

    def _plan(self) -> WorkerPlan:
        if self._autoscale is not None:
            return scaled(self._kinds, self._autoscale)
        nodes: Any = ray.nodes  # has no types
        ours = self._session is not None and self._session.started
        plan = on_nodes(nodes(), self._kinds, self._slots or (cores() if ours else None))
        if not plan.placements:
            raise KernelUnavailable("no node of the Ray cluster has a CPU to run checks on")
        return plan

    def _ledger_path(self) -> Path:
        if self._ledger is not None:
            return self._ledger.absolute()
        scratch = self._scratch = tempfile.TemporaryDirectory(prefix="rlmath-", ignore_cleanup_errors=True)
        self._sweeper = start_sweeper(Path(scratch.name))
        return Path(scratch.name) / "ledger.sqlite"

    def _await_workers(self, began: float) -> None:
        client, loop = self._running()
        told: tuple[int, str] | None = None
        while True:
            status = loop.run(client.status())
            detail = "; ".join(dict.fromkeys(w.detail for w in status.workers if w.detail))
            if status.settled:
                break
            if told != (status.ready, detail):
                told = status.ready, detail
                self._tell(_warm_up("workers", began, status, detail))
            time.sleep(POLL_S)
        if not status.ready and not status.scaled:
            raise KernelUnavailable(f"no Lean worker could start: {detail}")
        detail = detail or (str(status.kernel) if status.kernel else "workers come with the work")
        self._tell(_warm_up("ready", began, status, detail))

    def _tell(self, what: WarmUp) -> None:
        if self._progress is not None:
            self._progress(what)


class Run:
    """A run that `LocalCluster.open_run` has opened. As a context manager it closes itself."""

    def __init__(self, caller: Caller, client: Client, loop: BackgroundLoop) -> None:
        self.caller = caller
        """To be passed to `client.score`."""
        self._client, self._loop = client, loop

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """Unique among its client's runs."""
        return self.caller.run or ""

    def account(self) -> AccountStatus:
        """Caps, what is spent, and what work under way holds."""
        return self._loop.run(self._client.account(self.caller.client, self.name))

    def left(self) -> Caps:
        """What may still be begun; None where there is no cap."""
        return self.account().left(time.time())

    def close(self) -> AccountStatus:
        """Let no further request in; returns the account as it is. What is under way goes on."""
        return self._loop.run(self._client.close_run(self.name, client=self.caller.client))


def _caller(run: Run | None, priority: int) -> Caller:
    return replace(run.caller if run is not None else Caller(), priority=priority)


def _put(
    done: queue.SimpleQueue[tuple[ScoreRequest, Future[ScoredResult]]],
    request: ScoreRequest,
    future: Future[ScoredResult],
) -> None:
    done.put((request, future))


def _warm_up(stage: str, began: float, status: ClusterStatus, detail: str) -> WarmUp:
    return WarmUp(stage, time.monotonic() - began, status.ready, len(status.workers), detail)
