"""What is charged to whom over several lives of a scheduler, without Ray."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from cluster.api import Caller, ClusterSettings, ScoreRequest
from cluster.books import Books
from cluster.caps import AccountKey, Caps, Spend
from cluster.kinds import Kinds
from cluster.tickets import Ticket
from rlmath.errors import InputError
from rlmath.types import EpisodeResult, GoalSpec, Status

KIND, _ = Kinds().choose()
RUN = AccountKey("a", "r")
CALLER = Caller("a", run="r")
REQUEST = ScoreRequest("one", GoalSpec("g", "True"), "x")
RESULT = EpisodeResult("g", Status.PLAN_INVALID, leaf_attempts_used=3)


def books(folder: Path) -> Books:
    return Books(folder / "ledger", ClusterSettings())


def ticket(of: Books, number: int) -> Ticket:
    return Ticket(number, CALLER, KIND, accounts=of.of(CALLER), request_id=REQUEST.request_id)


def spent(of: Books) -> tuple[int, int, int]:
    """In the journal: what another life will know."""
    (account,) = [stored for stored in of._ledger.accounts() if stored.key == RUN]
    return account.spent.leaf_attempts, account.spent.kernel_us, account.spent.model_tokens


def test_a_request_is_charged_with_its_verdict_and_not_before(tmp_path: Path) -> None:
    of = books(tmp_path)
    of.open_run("r", Caps(), "a", None)
    one = ticket(of, 0)
    of.begin(one, REQUEST)
    of.note(0, one.accounts, Spend(kernel_us=70))
    of.note(0, one.accounts, Spend(model_tokens=5))
    assert spent(of) == (0, 0, 0), "killed here, it runs again and is charged then"
    assert [stored.request for stored in of.unanswered()] == [REQUEST]
    of.answer(one, REQUEST, RESULT)
    assert spent(of) == (3, 70, 5)
    of.note(0, one.accounts, Spend(kernel_us=1))
    assert spent(of) == (3, 71, 5), "what comes to light later is charged at once"
    assert of.unanswered() == []


def test_a_request_that_was_cancelled_and_is_asked_again_is_charged_for_both(tmp_path: Path) -> None:
    of = books(tmp_path)
    of.open_run("r", Caps(), "a", None)
    first, second = ticket(of, 0), ticket(of, 1)
    of.begin(first, REQUEST)
    of.note(0, first.accounts, Spend(kernel_us=7))
    of.answer(first, REQUEST, None)
    assert of.unanswered() == []
    of.begin(second, REQUEST)
    assert [stored.request for stored in of.unanswered()] == [REQUEST]
    of.answer(second, REQUEST, RESULT)
    assert of.recall("a", "one") == (REQUEST.fingerprint(), RESULT)
    assert spent(of) == (3, 7, 0)


def test_caps_that_a_client_has_no_more_end_with_their_journals_next_life(tmp_path: Path) -> None:
    of = books(tmp_path)
    of.cap_client("b", None)
    assert AccountKey("b") not in of.accounts, "nothing was capped, so nothing is opened"
    of.cap_client("b", Caps(leaf_attempts=1))
    of._ledger.close()
    again = books(tmp_path)
    assert again.account("b", None).caps == Caps(leaf_attempts=1)
    again.cap_client("b", None)
    assert again.account("b", None).caps == Caps()


def test_what_cannot_go_on_because_its_run_was_closed_is_dropped(tmp_path: Path) -> None:
    of = books(tmp_path)
    of.open_run("r", Caps(), "a", None)
    of.begin(ticket(of, 0), REQUEST)
    of.close_run("r", "a")
    of._ledger.close()
    later = books(tmp_path)
    assert later.unanswered() == []
    assert later.account("a", "r").closed
    with pytest.raises(InputError, match="not open"):
        later.of(CALLER)


def test_an_account_that_was_never_opened_is_told(tmp_path: Path) -> None:
    of = books(tmp_path)
    nameless = partial(of.open_run, "", Caps(), "", None)
    for wrong in (partial(of.account, "a", "r"), partial(of.close_run, "r", "a"), nameless):
        with pytest.raises(InputError, match="run"):
            wrong()
    assert of.of(Caller("a")) == ()
