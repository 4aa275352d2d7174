"""The scheduler's journal: what was asked, charged and answered. SQLite with a write-ahead log, so that whatever was
committed is there after the process was killed.

A request stands here from before it runs until its verdict, which is committed together with its charges: a scheduler
that starts again runs what has no verdict, and nothing is charged twice or lost. Rows of requests are pruned by age and
by count, but never while their run is open.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cluster.api import Caller, ScoreRequest
from cluster.caps import AccountKey, Caps, Spend
from rlmath.errors import InputError
from rlmath.types import EpisodeResult

VERSION = 1
SCHEMA = """
CREATE TABLE accounts (
    client TEXT NOT NULL, run TEXT NOT NULL, caps TEXT NOT NULL, opened_at REAL NOT NULL, closed_at REAL,
    leaf_attempts INTEGER NOT NULL DEFAULT 0, kernel_us INTEGER NOT NULL DEFAULT 0,
    model_tokens INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (client, run)
) WITHOUT ROWID;
CREATE TABLE requests (
    number INTEGER PRIMARY KEY, client TEXT NOT NULL, request_id TEXT NOT NULL, run TEXT NOT NULL,
    fingerprint TEXT NOT NULL, caller TEXT, body TEXT, result TEXT, at REAL NOT NULL,
    leaf_attempts INTEGER NOT NULL DEFAULT 0, kernel_us INTEGER NOT NULL DEFAULT 0,
    model_tokens INTEGER NOT NULL DEFAULT 0,
    UNIQUE (client, request_id)
);
CREATE INDEX requests_by_run ON requests (client, run);
"""
PATIENCE_S = 10.0
"""For a scheduler that is being killed to let go of its file."""
NO_RUN = ""
"""In place of a run: no run has an empty name."""


@dataclass(frozen=True)
class StoredAccount:
    """An account as it was left."""

    key: AccountKey
    caps: Caps
    spent: Spend
    opened_at: float
    closed: bool


@dataclass(frozen=True)
class StoredRequest:
    """A request without a verdict."""

    request: ScoreRequest
    caller: Caller
    fingerprint: str


class Ledger:
    """One file, one writer."""

    def __init__(self, path: Path, *, max_rows: int, max_age_s: float, patience_s: float = PATIENCE_S) -> None:
        """Open the file, or make it. `max_rows`, `max_age_s`: see `prune`. `patience_s`: for whoever has it to let
        go.

        Raises `InputError` when it is no ledger, or in use.
        """
        self._max_rows, self._max_age_s = max_rows, max_age_s
        try:
            self._db = sqlite3.connect(path, timeout=patience_s, isolation_level=None, check_same_thread=False)
            path.chmod(0o600)
            # From the first look on, and until this process is gone: two schedulers would run the same requests.
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode = WAL")
            # A commit outlives the process; for the machine's own crash it would have to wait for the disk.
            self._db.execute("PRAGMA synchronous = NORMAL")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == 0:
                self._db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise InputError("ledger", f"{path} is in use by another cluster: each needs one of its own") from error
            raise InputError("ledger", f"{path} cannot be used as one: {error}") from error
        except OSError as error:
            raise InputError("ledger", f"{path} cannot be used as one: {error}") from error
        if version not in (0, VERSION):
            raise InputError("ledger", f"{path} is of version {version}, and this program writes {VERSION}")

    def close(self) -> None:
        """No further use."""
        self._db.close()

    # Accounts

    def open_account(self, key: AccountKey, caps: Caps, now: float) -> None:
        """Open an account, or give one that stands here other caps."""
        self._db.execute(
            "INSERT INTO accounts (client, run, caps, opened_at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET caps = excluded.caps, closed_at = NULL",
            (key.client, key.run or NO_RUN, json.dumps(asdict(caps)), now),
        )

    def close_account(self, key: AccountKey, now: float) -> None:
        """From now on its rows may be pruned."""
        self._db.execute(
            "UPDATE accounts SET closed_at = ? WHERE client = ? AND run = ?", (now, key.client, key.run or NO_RUN)
        )

    def accounts(self) -> Iterator[StoredAccount]:
        """All of them."""
        rows = self._db.execute(
            "SELECT client, run, caps, opened_at, closed_at, leaf_attempts, kernel_us, model_tokens FROM accounts"
        )
        for client, run, caps, opened_at, closed_at, *spent in rows:
            key = AccountKey(client, run or None)
            yield StoredAccount(key, Caps(**json.loads(caps)), Spend(*spent), opened_at, closed_at is not None)

    # Requests

    def accept(self, request: ScoreRequest, fingerprint: str, caller: Caller, now: float) -> None:
        """A request is to be judged. Only one of its id is at a time; one that an earlier life of this journal's owner
        left here without a verdict gives way.
        """
        self._db.execute(
            "INSERT INTO requests (client, request_id, run, fingerprint, caller, body, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET run = excluded.run, caller = excluded.caller, "
            "fingerprint = excluded.fingerprint, body = excluded.body WHERE result IS NULL",
            (
                caller.client,
                request.request_id,
                caller.run or NO_RUN,
                fingerprint,
                json.dumps(asdict(caller)),
                json.dumps(request.to_json()),
                now,
            ),
        )

    def answer(
        self,
        client: str,
        request_id: str,
        fingerprint: str,
        result: EpisodeResult,
        spend: Spend,
        accounts: Sequence[AccountKey],
        now: float,
    ) -> None:
        """A request's verdict and all its charges, at once."""
        self._db.execute("BEGIN")
        try:
            self._db.execute(
                "UPDATE requests SET caller = NULL, body = NULL, result = ?, at = ?, leaf_attempts = ?, kernel_us = ?, "
                "model_tokens = ? WHERE client = ? AND request_id = ? AND fingerprint = ?",
                (
                    json.dumps(result.to_json()),
                    now,
                    spend.leaf_attempts,
                    spend.kernel_us,
                    spend.model_tokens,
                    client,
                    request_id,
                    fingerprint,
                ),
            )
            self._charge(accounts, spend)
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def drop(self, client: str, request_id: str, spend: Spend, accounts: Sequence[AccountKey]) -> None:
        """A request ended without a verdict: asked again, it runs again. What it spent is charged all the same."""
        self._db.execute("BEGIN")
        try:
            self._db.execute(
                "DELETE FROM requests WHERE client = ? AND request_id = ? AND result IS NULL", (client, request_id)
            )
            self._charge(accounts, spend)
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def charge(self, accounts: Sequence[AccountKey], spend: Spend) -> None:
        """What was spent for a request that is over."""
        self._db.execute("BEGIN")
        try:
            self._charge(accounts, spend)
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def recall(self, client: str, request_id: str) -> tuple[str, EpisodeResult] | None:
        """Fingerprint and verdict of a request, if it has one."""
        row = self._db.execute(
            "SELECT fingerprint, result FROM requests WHERE client = ? AND request_id = ? AND result IS NOT NULL",
            (client, request_id),
        ).fetchone()
        return None if row is None else (row[0], EpisodeResult.from_json(json.loads(row[1])))

    def unanswered(self) -> list[StoredRequest]:
        """Requests without a verdict, in the order of their arrival."""
        rows = self._db.execute(
            "SELECT body, caller, fingerprint FROM requests WHERE result IS NULL ORDER BY number"
        ).fetchall()
        return [
            StoredRequest(ScoreRequest.from_json(json.loads(body)), Caller(**json.loads(caller)), fingerprint)
            for body, caller, fingerprint in rows
        ]

    def rows(self) -> int:
        """Requests that stand here."""
        (count,) = self._db.execute("SELECT count(*) FROM requests").fetchone()
        return int(count)

    def prune(self, now: float) -> list[AccountKey]:
        """Delete answered requests beyond `max_rows` or older than `max_age_s`, the oldest first, and runs that were
        closed as long ago and have none left; returns the accounts of those.

        Requests whose run is open stay, and so does what has no verdict.
        """
        loose = (
            "result IS NOT NULL AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.client = requests.client "
            "AND a.run = requests.run AND a.run != '' AND a.closed_at IS NULL)"
        )
        self._db.execute("BEGIN")
        try:
            self._db.execute(f"DELETE FROM requests WHERE at < ? AND {loose}", (now - self._max_age_s,))
            surplus = self.rows() - self._max_rows
            if surplus > 0:
                self._db.execute(
                    "DELETE FROM requests WHERE number IN "
                    f"(SELECT number FROM requests WHERE {loose} ORDER BY at LIMIT ?)",
                    (surplus,),
                )
            gone = self._db.execute(
                "DELETE FROM accounts WHERE run != '' AND closed_at < ? AND NOT EXISTS (SELECT 1 FROM requests r "
                "WHERE r.client = accounts.client AND r.run = accounts.run) RETURNING client, run",
                (now - self._max_age_s,),
            ).fetchall()
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        return [AccountKey(client, run) for client, run in gone]

    def _charge(self, accounts: Sequence[AccountKey], spend: Spend) -> None:
        self._db.executemany(
            "UPDATE accounts SET leaf_attempts = leaf_attempts + ?, kernel_us = kernel_us + ?, "
            "model_tokens = model_tokens + ? WHERE client = ? AND run = ?",
            [
                (spend.leaf_attempts, spend.kernel_us, spend.model_tokens, key.client, key.run or NO_RUN)
                for key in accounts
            ],
        )
