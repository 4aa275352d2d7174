"""The attempt cache: every attempt that was ever paid for, in one SQLite file that many processes may share.

A row is keyed by a digest of the statement (prop and context) and of all that decides the attempt's distribution (the
prover's `cache_key`), and by the attempt's index; never by the lemma's name. The first process to store an attempt
wins, and every process answers with the winner's text, so attempt `i` is the same wherever and whenever it is asked
for. Raising k from 4 to 8 generates exactly four more.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

from rlmath.errors import InputError, LeafUnavailable
from rlmath.leaf.protocol import LeafAttempt, LeafProver, LeafTask

T = TypeVar("T")

BUSY_TIMEOUT_S = 30.0
"""How long a write waits for another process's. A write takes well under a millisecond, so only a stuck disk comes near
it."""
_APPLICATION_ID = 0x524C4D41
"""Marks the file as ours (`RLMA` in ASCII), so that no other program's database is written to."""
_SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS attempts (
    key TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    proof TEXT,
    detail TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    created_s REAL NOT NULL,
    PRIMARY KEY (key, attempt)
) WITHOUT ROWID
"""


class CacheableProver(LeafProver, Protocol):
    """A prover whose attempts are worth keeping."""

    def cache_key(self, task: LeafTask) -> str:
        """All that decides how an attempt at `task` is distributed, the exact prompt included, as canonical JSON."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


class AttemptCache:
    """The file. Its SQL runs on a thread of its own, so that an event loop never waits for a disk or for another
    process's lock."""

    def __init__(self, path: Path) -> None:
        """Open or create. Raises `InputError` when `path` cannot be an attempt cache, or is something else."""
        self.path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="attempt-cache")
        try:
            self._connection = self._thread.submit(_open, path).result()
        except InputError:
            self._thread.shutdown()
            raise

    async def get(self, key: str, indices: Sequence[int]) -> dict[int, LeafAttempt]:
        """The stored attempts among these indices. Raises `LeafUnavailable` when the file cannot be read."""
        return await self._run(lambda: _select(self._connection, key, indices))

    async def put(self, key: str, attempts: Sequence[LeafAttempt]) -> dict[int, LeafAttempt]:
        """Store the attempts whose index is still free, and return what is stored under all their indices now.

        What is stored outlives a kill of this process. Raises `LeafUnavailable` when the file cannot be written.
        """
        return await self._run(lambda: _insert(self._connection, key, attempts))

    def close(self) -> None:
        """Close the file; nothing may be asked of the cache afterwards."""
        self._thread.submit(self._connection.close).result()
        self._thread.shutdown()

    async def _run(self, call: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        except sqlite3.Error as error:
            raise LeafUnavailable(f"attempt cache {self.path}: {error}") from None


@dataclass(eq=False)
class _Production:
    """Attempts being looked up and generated, for as many callers as want them."""

    task: asyncio.Task[dict[int, LeafAttempt]]
    waiters: int = 0


class CachedProver:
    """A prover that generates only what the cache has not: attempts asked for twice at the same time are generated
    once, too."""

    def __init__(self, prover: CacheableProver, cache: AttemptCache) -> None:
        self._prover = prover
        self._cache = cache
        self._running: dict[tuple[asyncio.AbstractEventLoop, str, int], _Production] = {}

    @property
    def identity(self) -> str:
        """The prover's own: a cache changes no distribution."""
        return self._prover.identity

    @property
    def max_attempts(self) -> int | None:
        """The prover's own."""
        return self._prover.max_attempts

    async def attempts(self, task: LeafTask, indices: Sequence[int]) -> Sequence[LeafAttempt]:
        """The attempts with these indices; generation stops when the last caller that wants it is cancelled."""
        key = _digest(task, self._prover.cache_key(task))
        loop = asyncio.get_running_loop()
        slots = {index: (loop, key, index) for index in indices}
        # No await between this look and the registration below: two callers can never both find an index free.
        shared = {index for index, slot in slots.items() if slot in self._running}
        fresh = [index for index in slots if index not in shared]
        if fresh:
            production = _Production(loop.create_task(self._produce(task, key, fresh)))
            self._running |= {slots[index]: production for index in fresh}
            production.task.add_done_callback(lambda _: self._forget(production))
        productions = list(dict.fromkeys(self._running[slot] for slot in slots.values()))
        for production in productions:
            production.waiters += 1
        found: dict[int, LeafAttempt] = {}
        try:
            for production in productions:
                found |= await asyncio.shield(production.task)
        finally:
            for production in productions:
                production.waiters -= 1
                if production.waiters == 0 and not production.task.done():
                    # Forgotten at once, or a caller that comes before the task has wound up would join a cancelled one.
                    self._forget(production)
                    production.task.cancel()
        return [replace(found[index], cached=True) if index in shared else found[index] for index in indices]

    async def aclose(self) -> None:
        """Close the cache file and the prover's connections."""
        await self._prover.aclose()
        self._cache.close()

    async def _produce(self, task: LeafTask, key: str, indices: list[int]) -> dict[int, LeafAttempt]:
        found = await self._cache.get(key, indices)
        missing = [index for index in indices if index not in found]
        if missing:
            made = await self._prover.attempts(task, missing)
            kept = await self._cache.put(key, made)
            for attempt in made:
                # Another process may have stored its own first: its text counts, but the tokens were ours.
                found[attempt.index] = replace(
                    kept[attempt.index],
                    prompt_tokens=attempt.prompt_tokens,
                    completion_tokens=attempt.completion_tokens,
                    cached=False,
                )
        return found

    def _forget(self, production: _Production) -> None:
        self._running = {slot: running for slot, running in self._running.items() if running is not production}


def _digest(task: LeafTask, cache_key: str) -> str:
    canonical = json.dumps([_SCHEMA_VERSION, task.prop, task.context, cache_key])
    return hashlib.sha256(canonical.encode()).hexdigest()


def _open(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise InputError("leaf.cache", f"cannot open {path}: {error}") from None
    give_up_at = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            _prepare(connection, path)
        except sqlite3.Error as error:
            # Turning WAL on does not heed the busy timeout, and many processes may do it at the same time.
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if busy and time.monotonic() < give_up_at:
                time.sleep(0.02)
                continue
            connection.close()
            raise InputError(
                "leaf.cache", f"{path} cannot be used as an attempt cache ({error}): move it away, or name another file"
            ) from None
        except InputError:
            connection.close()
            raise
        return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    def pragma(text: str) -> int | str:
        value: int | str = connection.execute(f"PRAGMA {text}").fetchone()[0]
        return value

    # In this order: a process that is creating the file right now commits all three at once.
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    application_id, version = pragma("application_id"), pragma("user_version")
    if application_id != _APPLICATION_ID and (application_id or tables):
        raise InputError("leaf.cache", f"{path} is some other program's database: name another file")
    if application_id == _APPLICATION_ID and version != _SCHEMA_VERSION:
        raise InputError(
            "leaf.cache",
            f"{path} is of another version of rlmath (schema {version}, not {_SCHEMA_VERSION}): name another file",
        )
    if pragma("journal_mode = WAL") != "wal":
        raise InputError(
            "leaf.cache", f"{path} is on a file system without shared memory for SQLite's WAL: use a local disk"
        )
    connection.execute("PRAGMA synchronous = NORMAL")
    if application_id != _APPLICATION_ID:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_SCHEMA)
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        connection.execute("COMMIT")


def _select(connection: sqlite3.Connection, key: str, indices: Sequence[int]) -> dict[int, LeafAttempt]:
    rows = connection.execute(
        "SELECT attempt, proof, detail, prompt_tokens, completion_tokens FROM attempts WHERE key = ?"
        f" AND attempt IN ({', '.join('?' * len(indices))})",
        (key, *indices),
    )
    return {
        index: LeafAttempt(index, proof, detail, prompt_tokens, completion_tokens, cached=True)
        for index, proof, detail, prompt_tokens, completion_tokens in rows
    }


def _insert(connection: sqlite3.Connection, key: str, attempts: Sequence[LeafAttempt]) -> dict[int, LeafAttempt]:
    now = time.time()
    rows = [(key, a.index, a.proof, a.detail, a.prompt_tokens, a.completion_tokens, now) for a in attempts]
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany("INSERT OR IGNORE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    except sqlite3.Error:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return _select(connection, key, [attempt.index for attempt in attempts])
