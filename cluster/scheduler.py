"""The scheduler actor: lets requests in, runs the pipeline for each over a pool of Lean workers, keeps the journal."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import logging
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

from cluster.admission import Admission, Arrived, Begin, Event, Finished, Refuse, Withdrawn
from cluster.api import Caller, ClusterSettings, ClusterStatus, ScoreRequest, error_result
from cluster.caps import AccountKey, Accounts, AccountStatus, Caps, Spend
from cluster.events import CapsChanged, Charge
from cluster.failures import reason_of
from cluster.gateway.server import GatewayServer
from cluster.gateway.settings import GatewaySettings
from cluster.judging import BrokenGoal, most_attempts
from cluster.ledger import Ledger
from cluster.metered import MeteredProver, TokenMeter
from cluster.pool import Placement, WorkerPool
from cluster.remote_kernel import RemoteKernel
from cluster.remote_leaf import RemoteProver
from cluster.requests import RequestTable
from cluster.tickets import Ticket
from cluster.workers import LeafWorker
from rlmath.episode import DEFAULT_SPECULATION, run_episode
from rlmath.errors import InputError, KernelUnavailable, RlmathError, Unavailable
from rlmath.goals import GoalsSeen
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.leaf.config import OpenAILeaf, check_attempts, make_prover
from rlmath.leaf.protocol import LeafProver
from rlmath.types import EpisodeResult

logger = logging.getLogger(__name__)

PRUNE_EVERY = 1_000
"""Requests between two prunings of the journal."""


class Scheduler:
    """One a cluster session. Its workers are its own: they end with it. Killed and started again by Ray, it goes on
    with what its journal holds.
    """

    def __init__(self, placements: Sequence[Placement], settings: ClusterSettings, ledger: str) -> None:
        """`ledger`: path of the journal, on this node."""
        self._placements = tuple(placements)
        self._settings = settings
        self._ledger = Ledger(Path(ledger), max_rows=settings.ledger_rows, max_age_s=settings.ledger_age_s)
        self._accounts = Accounts()
        for stored in self._ledger.accounts():
            self._accounts.open(stored.key, stored.caps, stored.opened_at, stored.spent, closed=stored.closed)
        self._admission = Admission(self._accounts, max_running=settings.max_running, max_waiting=settings.max_waiting)
        self._meter = TokenMeter(self._accounts)
        self._pool: WorkerPool | None = None
        self._leaves: Any = None
        self._leaf_models: dict[str, RemoteProver] = {}
        self._goals: dict[str, GoalsSeen] = {}
        """By scope: that a goal is known tells how long ago somebody asked."""
        self._requests = RequestTable(settings.remembered, recall=self._recall)
        self._numbers = itertools.count()
        self._turns: dict[int, asyncio.Future[None]] = {}
        """Of requests that wait to begin."""
        self._spends: dict[int, Spend] = {}
        """What requests that are not over were charged so far."""
        self._secret = secrets.token_bytes(32)
        self._restored = False
        self._answers = 0
        self._gateway: GatewayServer | None = None
        self._serving = asyncio.Lock()

    # Requests

    async def score(self, request: ScoreRequest, caller: Caller | None = None) -> EpisodeResult:
        """The verdict, or a result of `Status.ERROR` whose detail says what infrastructure (or the goal) is at fault.

        Raises `InputError` for a request that nobody could score: an id used before for something else, a leaf that
        cannot work, a run that is not open. Raises `Refused` when there is no room for it, or a cap is reached.
        """
        try:
            return await self.judge(request, caller or Caller())
        except (Unavailable, BrokenGoal) as error:
            return error_result(request.goal, str(error))

    async def judge(self, request: ScoreRequest, caller: Caller) -> EpisodeResult:
        """A verdict. Raises as `score` does, `InputError` for a broken goal too, and `Unavailable` when infrastructure
        kept the request from a verdict.
        """
        self._restore()
        key = _request_key(caller.client, request.request_id)
        return await self._requests.once(key, request.fingerprint(), lambda: self._run(request, caller))

    async def recall(self, request_id: str, client: str) -> EpisodeResult | None:
        """The verdict of a request that a client made before, in an earlier life of this actor too, waited for if it is
        under way; None when there was none. Raises as `judge` does.
        """
        self._restore()
        return await self._requests.known(_request_key(client, request_id))

    async def check(self, source: Source, *, timeout_s: float, caller: Caller) -> CheckResult:
        """What Lean says of a source. Raises as `judge` does."""
        self._restore()
        ticket = self._ticket(caller)
        try:
            async with self._wall(ticket):
                await self._turn(ticket, 0)
                return await self._workers().check(source, timeout_s=timeout_s, ticket=ticket)
        finally:
            self._admit(Finished(ticket.number, 0, time.monotonic()))
            self._admit(Withdrawn(ticket.number))
            self._ledger.charge(ticket.accounts, self._spends.pop(ticket.number))

    # Runs

    async def open_run(self, run: str, caps: Caps, client: str = "", client_caps: Caps | None = None) -> AccountStatus:
        """Open a run of a client, or give an open one other caps; `client_caps`: for all the client's runs together.

        Raises `InputError` for an empty name.
        """
        if not run:
            raise InputError("run", "must not be empty")
        self._restore()
        now = time.time()
        whole = AccountKey(client)
        if client_caps is not None or whole not in self._accounts:
            self._open(whole, client_caps or Caps(), now)
        self._open(AccountKey(client, run), caps, now)
        self._room_changed()
        return self._accounts.status(AccountKey(client, run))

    async def close_run(self, run: str, client: str = "") -> AccountStatus:
        """Let no further request of it in; its verdicts may be forgotten in time. Raises `InputError` when it is
        unknown.
        """
        status = await self.account(client, run)
        key = AccountKey(client, run)
        self._accounts.close(key)
        self._ledger.close_account(key, time.time())
        return status

    async def set_client_caps(self, client: str, caps: Caps) -> None:
        """Caps on all that a client does, within runs and without; what it has spent stays."""
        self._restore()
        self._open(AccountKey(client), caps, time.time())
        self._room_changed()

    async def account(self, client: str = "", run: str | None = None) -> AccountStatus:
        """What a run, or a client, has spent and what work under way holds. Raises `InputError` when it is unknown."""
        key = AccountKey(client, run)
        if key not in self._accounts:
            raise InputError("run" if run is not None else "client", f"{key} was never opened, or is forgotten")
        return self._accounts.status(key)

    # The cluster

    async def status(self) -> ClusterStatus:
        """A snapshot. The first call starts the workers."""
        self._restore()
        pool = self._workers()
        return ClusterStatus(
            workers=pool.workers(),
            kernel=pool.known_identity,
            queued=pool.book.queued,
            in_flight=pool.book.in_flight,
            requests_running=self._admission.running,
            requests_waiting=self._admission.waiting,
            requests_done=self._requests.answered,
            checks_done=pool.book.done,
            retries=pool.book.retries,
            cache_hits=pool.book.cache_hits,
            checks_shared=pool.book.shared,
            checks_poisoned=pool.book.poisoned,
        )

    # HTTP

    async def serve(self, settings: GatewaySettings) -> str:
        """Answer HTTP in this process; returns the URL. Asked again while it does, it changes nothing.

        Raises `InputError` for settings that cannot work.
        """
        self._restore()
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
        if self._pool is not None:
            await self._pool.close()
        if self._leaves is not None:
            ray.kill(self._leaves, no_restart=True)

    def _workers(self) -> WorkerPool:
        # Not in __init__: that runs outside the actor's loop, and again after a restart.
        if self._pool is None:
            self._pool = WorkerPool(self._placements, self._settings, self._accounts, self._note_kernel)
            self._pool.start()
        return self._pool

    def _restore(self) -> None:
        """Go on with what an earlier life of this actor had accepted."""
        if self._restored:
            return
        self._restored = True
        for stored in self._ledger.unanswered():
            request, caller = stored.request, stored.caller
            key = _request_key(caller.client, request.request_id)
            if not all(self._accounts.is_open(account) for account in self._keys(caller)):
                self._ledger.drop(caller.client, request.request_id, Spend(), ())
                continue
            self._requests.begin(key, stored.fingerprint, lambda r=request, c=caller: self._run(r, c))  # type: ignore[misc]

    def _recall(self, key: str) -> tuple[str, EpisodeResult] | None:
        client, _, request_id = key.partition("\0")
        return self._ledger.recall(client, request_id)

    # One request

    async def _run(self, request: ScoreRequest, caller: Caller) -> EpisodeResult:
        ticket = self._ticket(caller)
        self._ledger.accept(request, request.fingerprint(), caller, time.time())
        result = None
        try:
            async with self._wall(ticket):
                await self._turn(ticket, most_attempts(request))
                result = await self._judge(request, ticket)
            return result
        finally:
            self._end(request, ticket, result)

    def _ticket(self, caller: Caller) -> Ticket:
        """Raises `InputError` for a run that is not open."""
        keys = self._keys(caller)
        if caller.run is not None and not self._accounts.is_open(AccountKey(caller.client, caller.run)):
            raise InputError("run", f"{caller.run} is not open: open it first")
        ticket = Ticket(next(self._numbers), caller, keys)
        self._spends[ticket.number] = Spend()
        return ticket

    def _keys(self, caller: Caller) -> tuple[AccountKey, ...]:
        whole = AccountKey(caller.client)
        run = () if caller.run is None else (AccountKey(caller.client, caller.run),)
        return (whole, *run) if whole in self._accounts else run

    def _wall(self, ticket: Ticket) -> _Wall:
        return _Wall(self._accounts, ticket.accounts)

    async def _turn(self, ticket: Ticket, attempts: int) -> None:
        """Wait to begin. Raises `Refused`."""
        turn = self._turns[ticket.number] = asyncio.get_running_loop().create_future()
        try:
            self._admit(Arrived(ticket.number, ticket.caller, ticket.accounts, attempts))
            await turn
        finally:
            del self._turns[ticket.number]

    def _admit(self, event: Event) -> None:
        for instruction in self._admission.handle(event):
            turn = self._turns.get(instruction.number)
            if turn is None or turn.done():
                continue  # cancelled in this very moment: it withdraws itself
            match instruction:
                case Begin():
                    turn.set_result(None)
                case Refuse(_, error):
                    turn.set_exception(error)

    def _end(self, request: ScoreRequest, ticket: Ticket, result: EpisodeResult | None) -> None:
        """The request is over: its verdict and its charges are committed before they count here."""
        spend, now, client = self._spends.pop(ticket.number), time.time(), ticket.caller.client
        over: Event = Withdrawn(ticket.number)
        try:
            if result is None:
                self._ledger.drop(client, request.request_id, spend, ticket.accounts)
            else:
                spend += Spend(leaf_attempts=result.leaf_attempts_used)
                self._ledger.answer(client, request.request_id, result, spend, ticket.accounts, now)
                over = Finished(ticket.number, result.leaf_attempts_used, time.monotonic())
        finally:
            self._admit(over)
        self._answers += 1
        if self._answers % PRUNE_EVERY == 0:
            for key in self._ledger.prune(now):
                self._accounts.forget(key)

    async def _judge(self, request: ScoreRequest, ticket: Ticket) -> EpisodeResult:
        try:
            leaf = await self._prover(request, ticket)
            pool = self._workers()
            kernel = RemoteKernel(pool, await pool.identity(), ticket)
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
        requests = self._admission.running + self._admission.waiting
        others_fill_the_slots = requests > sum(placement.slots for placement in self._placements)
        return 0 if others_fill_the_slots else DEFAULT_SPECULATION

    async def _prover(self, request: ScoreRequest, ticket: Ticket) -> LeafProver:
        check_attempts(request.leaf, request.budgets.leaf_attempts_per_lemma)
        if isinstance(request.leaf, OpenAILeaf):
            if self._leaves is None:
                actor_class: Any = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=0)(LeafWorker)
                self._leaves = actor_class.remote()
            key = request.leaf.model_dump_json()
            if key not in self._leaf_models:
                self._leaf_models[key] = await RemoteProver.connect(self._leaves, request.leaf)
            prover = self._leaf_models[key]
            if not ticket.accounts:
                return prover
            number = ticket.number
            return MeteredProver(
                prover,
                request.leaf,
                self._meter,
                ticket.accounts,
                lambda tokens: self._note(number, ticket.accounts, Spend(model_tokens=tokens)),
            )
        return make_prover(request.leaf, recorded=request.recorded)

    # Accounts

    def _open(self, key: AccountKey, caps: Caps, now: float) -> None:
        self._ledger.open_account(key, caps, now)
        self._accounts.open(key, caps, now)

    def _room_changed(self) -> None:
        self._admit(CapsChanged())
        self._meter.changed()
        if self._pool is not None:
            self._pool.caps_changed()

    def _note_kernel(self, charge: Charge) -> None:
        self._note(charge.order, charge.accounts, Spend(kernel_us=charge.kernel_us))

    def _note(self, number: int, accounts: tuple[AccountKey, ...], spend: Spend) -> None:
        """Something was charged for a request: it is committed with its verdict, or at once when it is over."""
        if number in self._spends:
            self._spends[number] += spend
        else:
            self._ledger.charge(accounts, spend)


class _Wall:
    """Ends what runs in it with `CapReached` when the wall time of an account is over."""

    def __init__(self, accounts: Accounts, keys: tuple[AccountKey, ...]) -> None:
        self._accounts = accounts
        self._end = accounts.ends_at(keys)
        self._timeout = asyncio.timeout(None if self._end is None else max(0.0, self._end[0] - time.time()))

    async def __aenter__(self) -> None:
        if self._end is not None and self._end[0] <= time.time():
            raise self._accounts.wall_refusal(self._end[1])
        await self._timeout.__aenter__()

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            if self._end is None or not self._timeout.expired():
                raise
            raise self._accounts.wall_refusal(self._end[1]) from None


def _request_key(client: str, request_id: str) -> str:
    return f"{client}\0{request_id}"
