"""The journal: what was committed is there for the next process, and only what may go is pruned."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.api import Caller, ScoreRequest
from cluster.caps import AccountKey, Caps, Spend
from cluster.ledger import Ledger
from rlmath.errors import InputError
from rlmath.leaf.config import OpenAILeaf, RecordedLeaf
from rlmath.types import Budgets, EpisodeResult, GoalSpec, KernelIdentity, Status

GOAL = GoalSpec("g", "True")
RESULT = EpisodeResult(
    "g", Status.VERIFIED, axioms=(), kernel=KernelIdentity("embedded", "4", "e"), leaf_attempts_used=2
)
RUN = AccountKey("a", "r")


def ledger(path: Path, rows: int = 100, age_s: float = 100.0) -> Ledger:
    return Ledger(path, max_rows=rows, max_age_s=age_s, patience_s=0.2)


def answered(book: Ledger, request_id: str, now: float, run: str | None = None) -> None:
    request = ScoreRequest(request_id, GOAL, "x")
    caller = Caller("a", run=run)
    book.accept(request, request.fingerprint(), caller, now)
    accounts = () if run is None else (AccountKey("a", run),)
    book.answer("a", request_id, request.fingerprint(), RESULT, Spend(2, 1_000, 30), accounts, now)


@pytest.mark.parametrize(
    "request_",
    [
        ScoreRequest("r", GOAL, "lone \ud800 surrogate"),
        ScoreRequest("r", GOAL, b"\xff\x00", Budgets(max_lemmas=1), RecordedLeaf(), {"h": ["a", "b"], "i": "c"}),
        ScoreRequest(
            "r", GoalSpec("g", "p", "n", "c"), "", leaf=OpenAILeaf(base_url="http://x/v1", model="m", stop=("a",))
        ),
    ],
)
def test_a_request_comes_back_as_it_was(tmp_path: Path, request_: ScoreRequest) -> None:
    caller = Caller("a", 2.0, 3, "r", True)
    book = ledger(tmp_path / "l")
    book.accept(request_, request_.fingerprint(), caller, 1.0)
    book.close()
    (stored,) = ledger(tmp_path / "l").unanswered()
    assert (stored.request, stored.caller) == (request_, caller)
    assert stored.fingerprint == stored.request.fingerprint() == request_.fingerprint()


def test_a_verdict_and_its_charges_are_committed_together(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    book.open_account(RUN, Caps(leaf_attempts=10), 5.0)
    answered(book, "one", 6.0, run="r")
    book.close()
    again = ledger(tmp_path / "l")
    assert again.recall("a", "one") == (ScoreRequest("one", GOAL, "x").fingerprint(), RESULT)
    assert again.recall("b", "one") is None
    (account,) = again.accounts()
    assert (account.key, account.caps, account.opened_at, account.closed) == (RUN, Caps(leaf_attempts=10), 5.0, False)
    assert account.spent == Spend(2, 1_000, 30)
    assert again.unanswered() == []


def test_a_verdict_stands_under_no_other_request_than_its_own(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    left, fresh = ScoreRequest("r", GOAL, "x"), ScoreRequest("r", GOAL, "y")
    book.accept(left, left.fingerprint(), Caller("a", run="one"), 1.0)
    book.accept(fresh, fresh.fingerprint(), Caller("a", run="two"), 2.0)
    (stored,) = book.unanswered()
    assert (stored.request, stored.caller.run, stored.fingerprint) == (fresh, "two", fresh.fingerprint())
    book.answer("a", "r", left.fingerprint(), RESULT, Spend(), (), 3.0)
    assert book.recall("a", "r") is None
    book.answer("a", "r", fresh.fingerprint(), RESULT, Spend(), (), 3.0)
    book.accept(left, left.fingerprint(), Caller("a"), 4.0)
    assert book.recall("a", "r") == (fresh.fingerprint(), RESULT)


def test_a_process_that_is_killed_loses_nothing_it_has_committed(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path[:0] = [{here!r}]\n"
        "from pathlib import Path\n"
        "from test_ledger import RUN, Caps, ScoreRequest, Caller, GOAL, answered, ledger\n"
        "book = ledger(Path({path!r}))\n"
        "book.open_account(RUN, Caps(), 0.0)\n"
        "for n in range(200): answered(book, str(n), 1.0, run='r')\n"
        "request = ScoreRequest('open', GOAL, 'x')\n"
        "book.accept(request, request.fingerprint(), Caller('a', run='r'), 1.0)\n"
        "print('committed', flush=True)\n"
        "sys.stdin.read()\n"
    ).format(here=str(Path(__file__).parent), path=str(tmp_path / "l"))
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "committed\n"
        os.kill(process.pid, signal.SIGKILL)
    book = ledger(tmp_path / "l", rows=1_000)
    (account,) = book.accounts()
    assert account.spent == Spend(400, 200_000, 6_000)
    assert [stored.request.request_id for stored in book.unanswered()] == ["open"]
    assert book.recall("a", "199") is not None


def test_what_ended_without_a_verdict_is_forgotten_but_what_it_cost_is_not(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    book.open_account(RUN, Caps(), 0.0)
    request = ScoreRequest("r", GOAL, "x")
    book.accept(request, request.fingerprint(), Caller("a", run="r"), 1.0)
    book.drop("a", "r", Spend(kernel_us=7), (RUN,))
    assert book.unanswered() == []
    assert book.rows() == 0
    assert next(book.accounts()).spent == Spend(kernel_us=7)


def test_rows_go_by_age_and_count_but_never_while_their_run_is_open(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l", rows=3, age_s=100.0)
    book.open_account(RUN, Caps(), 0.0)
    for number in range(5):
        answered(book, f"run-{number}", 1.0, run="r")
    for number in range(4):
        answered(book, f"loose-{number}", 190.0 + number)
    answered(book, "old", 50.0)
    waiting = ScoreRequest("waiting", GOAL, "x")
    book.accept(waiting, waiting.fingerprint(), Caller("a"), 0.0)
    assert book.prune(200.0) == []
    assert all(book.recall("a", f"run-{n}") for n in range(5))
    assert book.recall("a", "old") is None
    assert book.recall("a", "loose-3") is None, "there are more than 3 rows without it"
    assert len(book.unanswered()) == 1
    book.close_account(RUN, 200.0)
    assert book.prune(250.0) == []
    assert book.prune(301.0) == [RUN]
    assert (book.rows(), list(book.accounts())) == (1, [])


def test_what_is_no_ledger_is_told(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is no database, however long it may be" * 100)
    with pytest.raises(InputError, match="ledger"):
        ledger(tmp_path / "text")


def test_a_ledger_belongs_to_one_at_a_time(tmp_path: Path) -> None:
    first = ledger(tmp_path / "l")
    for _ in range(2):
        with pytest.raises(InputError, match="in use by another cluster"):
            ledger(tmp_path / "l")
    answered(first, "one", 1.0)
    first.close()
    assert ledger(tmp_path / "l").recall("a", "one") is not None


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ledger"):
        ledger(tmp_path / "nowhere" / "l")
