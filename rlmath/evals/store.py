"""The results file: JSON Lines, appended to and synced as results come, and safe against a SIGKILL at any instant.

Beside `results.jsonl` stand `results.run.json` (which run the file belongs to), `results.lock` (one writer at a time)
and, when a policy is sampled, `results.completions.jsonl` (`SampleStore`).

At resume a torn last line is cut off, rows of status `error` are taken out (they are no evidence: the sample is run
again), and every other row is kept as it is, so nothing that has a verdict is scored twice and no id is there twice.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from rlmath.errors import InputError
from rlmath.types import Status

Row = dict[str, Any]

KEPT = ("id", "goal_id", "status", "reward", "detail", "leaf_attempts_used", "kernel")
"""What a row has. All but the `detail` of a verdict stays in memory, for the report; the rest (artifacts, stages) is on
disk alone."""
SAMPLE = ("id", "goal_id", "completion", "sample")
"""What a row of the policy's samples has."""


def neighbour(out: Path, suffix: str) -> Path:
    """The file of this kind that belongs to a results file: `neighbour(Path("a/r.jsonl"), ".lock")` is `a/r.lock`."""
    return out.with_name(out.name.removesuffix(".jsonl") + suffix)


class ResultsStore:
    """Rows by id, on disk. A context manager: it holds the file's lock from entry to exit.

    `identity` is what the rows depend on, as plain JSON, by section (`goals`, `budgets`, …). With `fresh`, what an
    earlier run left is discarded by `begin`, and not before: until then a run that cannot start has cost nothing.
    Raises `InputError` on entry when the file is another run's (and not `fresh`), is being written by someone else, or
    is no results file.
    """

    def __init__(self, out: Path, identity: Mapping[str, Any], *, fresh: bool = False) -> None:
        self.out = out
        self.rows: dict[str, Row] = {}
        """Every row the file has, in its order, cut down to what the report needs (`KEPT`)."""
        self._identity = dict(identity)
        self._fresh = fresh
        self._file: IO[bytes] | None = None
        self._lock: IO[bytes] | None = None

    def __enter__(self) -> Self:
        _refuse_strange_file(self.out)
        try:
            self.out.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError("out", f"cannot make the directory {self.out.parent}: {error.strerror}") from None
        self._lock = _locked(self.out)
        try:
            if not self._fresh:
                self.begin()
        except BaseException:
            self._lock.close()
            raise
        return self

    def begin(self) -> None:
        """Make the file this run's and open it for rows; idempotent. Raises `InputError`."""
        if self._file is None:
            self._claim()
            self.rows = _reopened_rows(self.out)
            self._file = _append_handle(self.out)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._lock is not None
        if self._file is not None:
            self._file.close()
        self._lock.close()

    def append(self, rows: Iterable[Row]) -> None:
        """Write rows at the end and sync them: once this returns, they survive a power cut. An id that has a row is a
        bug of the caller."""
        assert self._file is not None, "the store has not begun"
        added = list(rows)
        for row in added:
            if row["id"] in self.rows:
                raise ValueError(f"{row['id']!r} already has a result")
        _append(self._file, added)
        self.rows.update((row["id"], _slim(row)) for row in added)

    def _claim(self) -> None:
        """Make the file this run's, or refuse."""
        header = neighbour(self.out, ".run.json")
        samples = neighbour(self.out, ".completions.jsonl")
        owner = _read_header(header)
        has_rows = self.out.exists() and self.out.stat().st_size > 0
        if owner is not None and self._fresh:
            # The header goes last: killed in between, the file still shows whose it is.
            for path in (self.out, samples, header):
                path.unlink(missing_ok=True)
            owner, has_rows = None, False
        if owner is not None and owner != self._identity and (has_rows or samples.exists()):
            changed = [key for key in {**owner, **self._identity} if owner.get(key) != self._identity.get(key)]
            raise InputError(
                "out",
                f"{self.out} belongs to another run (changed since: {', '.join(changed)}): "
                "choose another out, or pass --fresh to discard it",
            )
        if owner != self._identity:
            _replace(header, [json.dumps(self._identity, indent=1).encode(), b"\n"])


class SampleStore:
    """Completions sampled from a policy, each written before it is scored, so that a resumed run scores the same
    ones. The file is a completions file: a later run can name it under `completions`."""

    def __init__(self, path: Path) -> None:
        self.rows: dict[str, Row] = {}
        if path.exists():
            _mend(path)
            self.rows = {row["id"]: row for row in _rows(path, SAMPLE)}
        self._file = _append_handle(path)

    def append(self, rows: Iterable[Row]) -> None:
        """Write rows at the end and sync them."""
        added = list(rows)
        _append(self._file, added)
        self.rows.update((row["id"], row) for row in added)

    def close(self) -> None:
        self._file.close()


def _reopened_rows(out: Path) -> dict[str, Row]:
    """The rows of a results file of this run, mended and rid of its `error` rows."""
    if not out.exists():
        return {}
    _mend(out)
    rows: dict[str, Row] = {}
    errors = False
    for row in _rows(out, KEPT):
        if row["status"] == Status.ERROR:
            errors = True
        else:
            rows[row["id"]] = _slim(row)
    if errors:
        with out.open("rb") as file:
            _replace(out, (line for line in file if json.loads(line)["id"] in rows))
    return rows


def _mend(path: Path) -> None:
    """Cut off a torn last line; give a whole one the line break it lacks."""
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        start = _start_of_last_line(file, end)
        file.seek(start)
        tail = file.read()
        if not tail:
            return
        if _parse_line(tail) is None:
            file.truncate(start)
        else:
            file.write(b"\n")
        file.flush()
        os.fsync(file.fileno())


def _start_of_last_line(file: IO[bytes], end: int) -> int:
    """Where the text after the last line break begins."""
    while end > 0:
        start = max(0, end - 65536)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _rows(path: Path, keys: tuple[str, ...]) -> Iterator[Row]:
    """The rows of a file that ends with a line break; each has these keys."""
    seen: set[str] = set()
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            row = _parse_line(line)
            if row is None or not row.keys() >= set(keys):
                raise InputError("out", f"{path} line {number} is not a row that rlmath eval wrote: choose another out")
            if row["id"] in seen:
                raise InputError(
                    "out", f"{path} line {number} is a second row with id {row['id']!r}: choose another out"
                )
            seen.add(row["id"])
            yield row


def _slim(row: Row) -> Row:
    return {key: row[key] for key in KEPT if key != "detail" or not Status(row["status"]).is_evidence}


def _parse_line(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and isinstance(row.get("id"), str) else None


def _line(row: Row) -> bytes:
    # ASCII: a completion may hold lone surrogates, which have no UTF-8.
    return json.dumps(row, allow_nan=False).encode("ascii") + b"\n"


def _append_handle(path: Path) -> IO[bytes]:
    file = path.open("ab", buffering=0)  # nothing may linger in a buffer that a failed write has left behind
    _sync_directory(path.parent)
    return file


def _append(file: IO[bytes], rows: list[Row]) -> None:
    try:
        left = memoryview(b"".join(map(_line, rows)))
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())
    except OSError as error:
        raise InputError("out", f"cannot write {file.name}: {error.strerror}; what is there stays") from None


def _replace(path: Path, lines: Iterable[bytes]) -> None:
    """Put new text in the place of the file in one step: after a crash it is the old text or the new one, whole."""
    temporary = path.with_name(path.name + ".new")
    with temporary.open("wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read_header(path: Path) -> dict[str, Any] | None:
    try:
        header = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        header = None
    if not isinstance(header, dict):
        raise InputError(
            "out", f"{path} is not what rlmath eval wrote: remove it with its results, or choose another out"
        )
    return header


def _refuse_strange_file(out: Path) -> None:
    """Refuse what rlmath eval did not write. The header is always there before the results, so a file without one is
    someone else's."""
    if out.is_dir():
        raise InputError("out", f"{out} is a directory: name a file")
    header = neighbour(out, ".run.json")
    if not header.exists() and out.exists() and out.stat().st_size > 0:
        raise InputError(
            "out", f"{out} exists and is no results file of rlmath eval (no {header.name}): choose another out"
        )


def _locked(out: Path) -> IO[bytes]:
    """Take the results file's lock, which the system gives back when this process ends in whatever way."""
    path = neighbour(out, ".lock")
    try:
        file = path.open("a+b")
    except OSError as error:
        raise InputError("out", f"cannot write {path}: {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        owner = file.read().decode("ascii", "replace").strip()
        file.close()
        raise InputError(
            "out", f"{out} is being written by another rlmath eval (process {owner}): wait for it or choose another out"
        ) from None
    file.truncate(0)
    file.write(f"{os.getpid()}\n".encode())
    file.flush()
    return file
