"""What is charged to whom: the accounts, and the journal by which they outlive the scheduler's process.

What a request is charged is committed with its verdict, at once: a process that is killed before has charged nothing,
and runs the request again.
"""

from __future__ import annotations

import time
from pathlib import Path

from cluster.api import Caller, ClusterSettings, ScoreRequest
from cluster.caps import AccountKey, Accounts, AccountStatus, Caps, Spend
from cluster.ledger import Ledger, StoredRequest
from cluster.tickets import Ticket
from rlmath.errors import InputError
from rlmath.types import EpisodeResult

PRUNE_EVERY = 1_000
"""Requests between two prunings of the journal."""


class Books:
    """Of one scheduler."""

    def __init__(self, path: Path, settings: ClusterSettings) -> None:
        """Raises `InputError` when the file is no journal, or another cluster's."""
        self._ledger = Ledger(path, max_rows=settings.ledger_rows, max_age_s=settings.ledger_age_s)
        self.accounts = Accounts()
        """As they are now."""
        for stored in self._ledger.accounts():
            self.accounts.open(stored.key, stored.caps, stored.opened_at, stored.spent, closed=stored.closed)
        self._spends: dict[int, Spend] = {}
        """What requests that are not over were charged so far."""
        self._accepted: dict[int, str] = {}
        """Fingerprints under which those of them stand in the journal that are to be judged."""
        self._answers = 0

    # Accounts

    def open_run(self, run: str, caps: Caps, client: str, client_caps: Caps | None) -> AccountStatus:
        """See `Scheduler.open_run`."""
        if not run:
            raise InputError("run", "must not be empty")
        whole = AccountKey(client)
        if client_caps is not None or whole not in self.accounts:
            self._open(whole, client_caps or Caps())
        self._open(AccountKey(client, run), caps)
        return self.accounts.status(AccountKey(client, run))

    def close_run(self, run: str, client: str) -> AccountStatus:
        """See `Scheduler.close_run`."""
        status = self.account(client, run)
        key = AccountKey(client, run)
        self.accounts.close(key)
        self._ledger.close_account(key, time.time())
        return status

    def cap_client(self, client: str, caps: Caps | None) -> None:
        """Caps on all that a client does. None: none, and those that an earlier life knew are over."""
        if caps is not None or AccountKey(client) in self.accounts:
            self._open(AccountKey(client), caps or Caps())

    def account(self, client: str, run: str | None) -> AccountStatus:
        """See `Scheduler.account`."""
        key = AccountKey(client, run)
        if key not in self.accounts:
            raise InputError("run" if run is not None else "client", f"{key} was never opened, or is forgotten")
        return self.accounts.status(key)

    def of(self, caller: Caller) -> tuple[AccountKey, ...]:
        """The accounts that a caller's work counts against. Raises `InputError` for a run that is not open."""
        if not self.stands(caller):
            raise InputError("run", f"{caller.run} is not open: open it first")
        return self._keys(caller)

    def stands(self, caller: Caller) -> bool:
        """Whether work may begin on this caller's behalf."""
        return all(self.accounts.is_open(key) for key in self._keys(caller))

    def _keys(self, caller: Caller) -> tuple[AccountKey, ...]:
        whole = AccountKey(caller.client)
        run = () if caller.run is None else (AccountKey(caller.client, caller.run),)
        return (whole, *run) if whole in self.accounts else run

    def _open(self, key: AccountKey, caps: Caps) -> None:
        now = time.time()
        self._ledger.open_account(key, caps, now)
        self.accounts.open(key, caps, now)

    # Requests

    def unanswered(self) -> list[StoredRequest]:
        """What an earlier life accepted and did not answer, without what cannot go on because its run was closed."""
        stored = self._ledger.unanswered()
        for each in stored:
            if not self.stands(each.caller):
                self._ledger.drop(each.caller.client, each.request.request_id, Spend(), ())
        return [each for each in stored if self.stands(each.caller)]

    def recall(self, client: str, request_id: str) -> tuple[str, EpisodeResult] | None:
        """Fingerprint and verdict of a request that has one."""
        return self._ledger.recall(client, request_id)

    def begin(self, ticket: Ticket, request: ScoreRequest | None = None) -> None:
        """Work begins. `request`: to be judged, and to stand in the journal until it is. None: a check, which never
        stands there.
        """
        self._spends[ticket.number] = Spend()
        if request is not None:
            fingerprint = self._accepted[ticket.number] = request.fingerprint()
            self._ledger.accept(request, fingerprint, ticket.caller, time.time())

    def note(self, number: int, accounts: tuple[AccountKey, ...], spend: Spend) -> None:
        """Something was charged for a request: it is committed with its verdict, or at once when that is over."""
        if number in self._spends:
            self._spends[number] += spend
        else:
            self._ledger.charge(accounts, spend)

    def end(self, ticket: Ticket) -> None:
        """A check is over."""
        self._ledger.charge(ticket.accounts, self._spends.pop(ticket.number))

    def answer(self, ticket: Ticket, request: ScoreRequest, result: EpisodeResult | None) -> None:
        """A request is over. None: without a verdict; asked again, it runs again."""
        spend, client = self._spends.pop(ticket.number), ticket.caller.client
        fingerprint = self._accepted.pop(ticket.number)
        if result is None:
            self._ledger.drop(client, request.request_id, spend, ticket.accounts)
        else:
            spend += Spend(leaf_attempts=result.leaf_attempts_used)
            self._ledger.answer(client, request.request_id, fingerprint, result, spend, ticket.accounts, time.time())
        self._answers += 1
        if self._answers % PRUNE_EVERY == 0:
            for key in self._ledger.prune(time.time()):
                self.accounts.forget(key)
