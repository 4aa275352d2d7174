"""The scheduler actor: lets requests in, runs the pipeline for each over a pool of Lean workers, keeps the journal."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import logging
import secrets
from functools import partial
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

from cluster.api import Caller, ClusterSettings, ClusterStatus, ScoreRequest, error_result
from cluster.books import Books
from cluster.caps import AccountStatus, Caps, Spend
from cluster.events import Charge
from cluster.failures import reason_of
from cluster.gateway.server import GatewayServer
from cluster.gateway.settings import GatewaySettings
from cluster.judging import BrokenGoal, most_attempts
from cluster.lives import ACTOR
from cluster.logs import about, log_as_json
from cluster.metered import MeteredProver, TokenMeter
from cluster.placement import WorkerPlan
from cluster.pool import WorkerPool
from cluster.remote_kernel import RemoteKernel
from cluster.remote_leaf import RemoteProver
from cluster.requests import RequestTable
from cluster.telemetry import Telemetry
from cluster.tickets import Ticket
from cluster.turns import Turns
from cluster.wall import Wall
from cluster.workers import LeafWorker
from rlmath.episode import DEFAULT_SPECULATION, run_episode
from rlmath.errors import CapReached, InputError, KernelUnavailable, RlmathError, Unavailable
from rlmath.goals import GoalsSeen
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.kernel.select import lean_for
from rlmath.leaf.config import OpenAILeaf, check_attempts, make_prover
from rlmath.leaf.protocol import LeafProver
from rlmath.types import EpisodeResult

logger = logging.getLogger(__name__)

LOOK_S = 2.0
"""Between two reports of what is now, as metrics."""


class Scheduler:
    """One a cluster session. Its workers are its own: they end with it. Killed and started again by Ray, it goes on
    with what its journal holds.
    """

    def __init__(self, plan: WorkerPlan, settings: ClusterSettings, ledger: str) -> None:
        """`ledger`: path of the journal, on this node."""
        log_as_json()
        self._plan, self._settings, self._ledger = plan, settings, Path(ledger)
        self._opened: Books | None = None
        self._pool: WorkerPool | None = None
        self._leaves: Any = None
        self._leaf_models: dict[str, RemoteProver] = {}
        self._goals: dict[str, GoalsSeen] = {}
        """By scope: that a goal is known tells how long ago somebody asked."""
        self._requests = RequestTable(settings.remembered, recall=self._recall)
        self._numbers = itertools.count()
        self._secret = secrets.token_bytes(32)
        self._gateway: GatewayServer | None = None
        self._serving = asyncio.Lock()
        self._telemetry = Telemetry()
        self._looking: asyncio.Task[None] | None = None

    # Requests

    async def score(self, request: ScoreRequest, caller: Caller | None = None) -> EpisodeResult:
        """The verdict, or a result of `Status.ERROR` whose detail says what infrastructure is at fault.

        Raises `InputError` for a request that nobody could score: a goal that does not elaborate (`BrokenGoal`), an id
        used before for something else, a leaf that cannot work, a run that is not open. Raises `Refused` when there is
        no room for it, or a cap is reached.
        """
        try:
            return await self.judge(request, caller or Caller())
        except Unavailable as error:
            return error_result(request.goal, str(error))

    async def judge(self, request: ScoreRequest, caller: Caller) -> EpisodeResult:
        """A verdict. Raises as `score` does, and `Unavailable` when infrastructure kept the request from a verdict."""
        self._books()
        key = _request_key(caller.client, request.request_id)
        try:
            return await self._requests.once(key, request.fingerprint(), lambda: self._run(request, caller))
        except CapReached as error:
            self._telemetry.cap_hit(error.cap)
            raise

    async def recall(self, request_id: str, client: str) -> EpisodeResult | None:
        """The verdict of a request that a client made before, in an earlier life of this actor too, waited for if it is
        under way; None when there was none. Raises as `judge` does.
        """
        self._books()
        return await self._requests.known(_request_key(client, request_id))

    def lean(self, text: str, where: str, kernel: str = "") -> str:
        """A Lean file's text for that kernel: without its header, every position kept. Raises `InputError` (field
        `where`) for an import that the kernel lacks.
        """
        kind, _ = self._plan.kinds.choose(kernel)
        return lean_for(kind.kernel, text, where)

    async def check(
        self, source: Source, *, timeout_s: float, caller: Caller, kernel: str = "", memory: str = ""
    ) -> CheckResult:
        """What Lean says of a source. `kernel`, `memory`: see `ScoreRequest`. Raises as `judge` does."""
        books = self._books()
        ticket = self._ticket(caller, "", kernel, memory)
        books.begin(ticket)
        try:
            async with Wall(books.accounts, ticket.accounts):
                await self._turns.wait(ticket, 0)
                return await self._workers().check(source, timeout_s=timeout_s, ticket=ticket)
        except CapReached as error:
            self._telemetry.cap_hit(error.cap)
            raise
        finally:
            self._turns.over(ticket, 0)
            books.end(ticket)

    # Runs

    async def open_run(self, run: str, caps: Caps, client: str = "", client_caps: Caps | None = None) -> AccountStatus:
        """Open a run of a client, or give an open one other caps; `client_caps`: for all the client's runs together.

        Raises `InputError` for an empty name.
        """
        opened = self._books().open_run(run, caps, client, client_caps)
        self._room_changed()
        return opened

    async def close_run(self, run: str, client: str = "") -> AccountStatus:
        """Let no further request of it in; its verdicts may be forgotten in time. Raises `InputError` when it is
        unknown.
        """
        return self._books().close_run(run, client)

    async def set_client_caps(self, client: str, caps: Caps | None) -> None:
        """Caps on all that a client does, within runs and without, None: none; what it has spent stays."""
        self._books().cap_client(client, caps)
        self._room_changed()

    async def account(self, client: str = "", run: str | None = None) -> AccountStatus:
        """What a run, or a client, has spent and what work under way holds. Raises `InputError` when it is unknown."""
        return self._books().account(client, run)

    # The cluster

    async def status(self) -> ClusterStatus:
        """A snapshot. The first call starts the workers. Raises `InputError` when the journal cannot be used."""
        self._books()
        return self._status(self._workers())

    def _status(self, pool: WorkerPool) -> ClusterStatus:
        tally = pool.book.tally
        default, _ = self._plan.kinds.choose()
        return ClusterStatus(
            workers=pool.workers(),
            kernel=pool.identities.get(default.kernel.name),
            queued=pool.book.queued,
            in_flight=pool.book.in_flight,
            requests_running=self._turns.running,
            requests_waiting=self._turns.waiting,
            requests_done=self._requests.answered,
            checks_done=tally.done,
            retries=tally.retries,
            cache_hits=tally.cache_hits,
            checks_shared=tally.shared,
            checks_poisoned=tally.poisoned,
            checks_moved=tally.moved,
            kernels=dict(pool.identities),
            oldest_request_s=self._turns.oldest_s,
            scaled=bool(self._plan.scaled),
        )

    # HTTP

    async def serve(self, settings: GatewaySettings) -> str:
        """Answer HTTP in this process; returns the URL. Asked again while it does, it changes nothing.

        Raises `InputError` for settings that cannot work.
        """
        self._books()
        async with self._serving:
            if self._gateway is None:
                gateway = GatewayServer(self, settings)
                await gateway.start()
                self._gateway = gateway
            return self._gateway.url

    async def stop_serving(self) -> None:
        """Finish what runs, refuse what is new, close the port."""
        async with self._serving:
            if self._gateway is not None:
                gateway, self._gateway = self._gateway, None
                await gateway.stop()

    async def reload_keys(self) -> None:
        """Read the gateway's file of API keys again. Raises `InputError`, and keeps those that were known."""
        if self._gateway is not None:
            self._gateway.gateway.keys.reload()

    async def close(self) -> None:
        """End all checks and workers. The caller then kills this actor."""
        if self._looking is not None:
            self._looking.cancel()
        if self._pool is not None:
            await self._pool.close()
        if self._leaves is not None:
            ray.kill(self._leaves, no_restart=True)

    def _workers(self) -> WorkerPool:
        # Not in __init__: that runs outside the actor's loop, and again after a restart.
        if self._pool is None:
            accounts = self._books().accounts
            self._pool = WorkerPool(self._plan, self._settings, accounts, self._note_kernel, self._telemetry)
            self._pool.start()
            self._looking = asyncio.create_task(self._look(self._pool))
        return self._pool

    async def _look(self, pool: WorkerPool) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            self._telemetry.look(self._status(pool), pool.book.tally)

    def _books(self) -> Books:
        """The books. The first call opens them, and goes on with what an earlier life of this actor had accepted.

        Raises `InputError`: here and not in __init__, so that whoever asks is told why.
        """
        if self._opened is None:
            try:
                books = self._opened = Books(self._ledger, self._settings)
            except InputError as error:
                if not ray.get_runtime_context().was_current_actor_reconstructed:
                    raise
                # It was good enough for an earlier life: no caller is at fault.
                raise KernelUnavailable(f"the scheduler was started again without its journal: {error}") from error
            limits = self._settings
            self._turns = Turns(books.accounts, max_running=limits.max_running, max_waiting=limits.max_waiting)
            self._meter = TokenMeter(books.accounts)
            for stored in books.unanswered():
                key = _request_key(stored.caller.client, stored.request.request_id)
                again = partial(self._run, stored.request, stored.caller)
                self._requests.begin(key, stored.fingerprint, again)
        return self._opened

    def _recall(self, key: str) -> tuple[str, EpisodeResult] | None:
        client, _, request_id = key.partition("\0")
        return self._books().recall(client, request_id)

    # One request

    async def _run(self, request: ScoreRequest, caller: Caller) -> EpisodeResult:
        with about(request.request_id):
            books, ticket = self._books(), self._ticket(caller, request.request_id, request.kernel, request.memory)
            books.begin(ticket, request)
            result, charged = None, None
            try:
                async with Wall(books.accounts, ticket.accounts):
                    await self._turns.wait(ticket, most_attempts(request))
                    result = await self._judge(request, ticket)
                return result
            finally:
                # The verdict and its charges are committed before they count here.
                try:
                    books.answer(ticket, request, result)
                    charged = None if result is None else result.leaf_attempts_used
                finally:
                    self._turns.over(ticket, charged)

    def _ticket(self, caller: Caller, request_id: str, kernel: str, memory: str) -> Ticket:
        """Raises `InputError` for a run that is not open, or a kernel that there is not."""
        kind, larger = self._plan.kinds.choose(kernel, memory)
        return Ticket(next(self._numbers), caller, kind, larger, self._books().of(caller), request_id)

    async def _judge(self, request: ScoreRequest, ticket: Ticket) -> EpisodeResult:
        try:
            leaf = await self._prover(request, ticket)
            pool = self._workers()
            kernel = RemoteKernel(pool, await pool.identity(ticket.kind), ticket)
        except RayError as error:
            raise KernelUnavailable(reason_of(error)) from error
        try:
            return await run_episode(
                request.goal,
                request.completion,
                kernel=kernel,
                leaf=leaf,
                budgets=request.budgets,
                speculation=self._speculation(),
                goals_seen=self._goals.setdefault(ticket.scope, GoalsSeen()),
                tag_key=hmac.digest(self._secret, ticket.scope.encode("utf-8", "surrogatepass"), hashlib.sha256),
            )
        except InputError as error:
            raise BrokenGoal(error.field, error.problem) from error
        except RayError as error:
            raise KernelUnavailable(reason_of(error)) from error
        except RlmathError:
            raise
        except Exception as error:
            # A fault of ours must not pass for the policy's, nor end the run of all the others.
            logger.exception("request %s failed in an unforeseen way", request.request_id)
            raise KernelUnavailable(f"internal error: {type(error).__name__}: {error}") from error

    def _speculation(self) -> int:
        """Leaf attempts ahead of need use slots that would be idle, unless other requests can use those."""
        others_fill_the_slots = self._turns.running + self._turns.waiting > self._workers().slots
        return 0 if others_fill_the_slots else DEFAULT_SPECULATION

    async def _prover(self, request: ScoreRequest, ticket: Ticket) -> LeafProver:
        check_attempts(request.leaf, request.budgets.leaf_attempts_per_lemma)
        if isinstance(request.leaf, OpenAILeaf):
            if self._leaves is None:
                actor_class: Any = ray.remote(**ACTOR)(LeafWorker)
                self._leaves = actor_class.remote()
            key = request.leaf.model_dump_json()
            if key not in self._leaf_models:
                self._leaf_models[key] = await RemoteProver.connect(self._leaves, request.leaf, self._telemetry.leaf)
            prover = self._leaf_models[key]
            if not ticket.accounts:
                return prover
            note = partial(self._books().note, ticket.number, ticket.accounts)
            return MeteredProver(
                prover, request.leaf, self._meter, ticket.accounts, lambda tokens: note(Spend(model_tokens=tokens))
            )
        return make_prover(request.leaf, recorded=request.recorded)

    # Accounts

    def _room_changed(self) -> None:
        self._turns.caps_changed()
        self._meter.changed()
        if self._pool is not None:
            self._pool.caps_changed()

    def _note_kernel(self, charge: Charge) -> None:
        self._books().note(charge.order, charge.accounts, Spend(kernel_us=charge.kernel_us))


def _request_key(client: str, request_id: str) -> str:
    return f"{client}\0{request_id}"
