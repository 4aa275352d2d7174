"""Leaf attempts run in parallel and counted as if they had run one after another.

A sequential run takes the lemmas in order and, for each, attempts 0, 1, … until one is accepted, all `k` were
refused, or the plan's total is used up; the first lemma that is not proved ends it. `LeafAccounting` is a pure
state machine that starts attempts ahead of that run's need and gives the same account, whatever the order in which
their outcomes arrive. Events in, instructions out; no clock, no I/O.

Two promises beside that equality:

- attempts begun never exceed what the sequential run is known to need by more than `speculation`, finished and
  cancelled ones included;
- an attempt that the sequential run can no longer come to is not begun, and is cancelled if it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rlmath.types import Lemma, LemmaOutcome, LemmaStatus, Status


@dataclass(frozen=True, order=True)
class Attempt:
    """One numbered attempt: `lemma` is the position in the plan, `index` the attempt's number, both from 0."""

    lemma: int
    index: int


@dataclass(frozen=True)
class Instructions:
    """What the caller is to do now: end the calls of `cancel`, then start those of `begin`."""

    begin: tuple[Attempt, ...] = ()
    cancel: tuple[Attempt, ...] = ()


@dataclass(frozen=True)
class LeafAccount:
    """The account of a settled run; all of it but `attempts_speculated` is the sequential run's."""

    status: Status | None
    """None: every lemma is proved. Else `leaf_failed` or `budget_exhausted`."""
    detail: str
    """The lemma at fault and why; empty when all are proved."""
    outcomes: tuple[LemmaOutcome, ...]
    attempts_used: int
    attempts_speculated: int
    """Attempts begun and not charged."""


@dataclass(frozen=True)
class _Outcome:
    accepted: bool
    detail: str


class LeafAccounting:
    """The state machine: call `start()`, then `finished()` for each outcome until `settled`, then read `account()`.

    `attempts_per_lemma` and `total` are the budget's caps; a cap of 0 with lemmas to prove is an exhausted budget.
    `available` is how many attempts the prover has (None: no bound); fewer than the budget allows means that a lemma
    fails earlier. `speculation` bounds the attempts begun ahead of need; 0 is the sequential run itself. `abreast` is
    how many attempts of one lemma may run at once: 1 wastes nothing while lemmas get proved, more finds a late winner
    sooner.
    """

    def __init__(
        self,
        lemmas: Sequence[Lemma],
        *,
        attempts_per_lemma: int,
        total: int,
        available: int | None = None,
        speculation: int = 0,
        abreast: int = 1,
    ) -> None:
        if speculation < 0 or abreast < 1:
            raise ValueError("speculation must be at least 0 and abreast at least 1")
        self._lemmas = tuple(lemmas)
        self._budgeted = attempts_per_lemma
        self._k = attempts_per_lemma if available is None else min(attempts_per_lemma, available)
        self._total = total
        self._speculation = speculation
        self._abreast = abreast
        self._outcomes: dict[Attempt, _Outcome] = {}
        """What is known of attempts, charged or ahead of need."""
        self._winners: dict[int, int] = {}
        """For each lemma, the lowest index known to be accepted."""
        self._begun: set[Attempt] = set()
        self._running: set[Attempt] = set()
        self._need = Attempt(0, 0)
        """The attempt that the sequential run waits for."""
        self._charged = 0
        self._account: list[LemmaOutcome] = []
        """Outcomes of the lemmas that the sequential run is done with."""
        self._status: Status | None = None
        self._detail = ""

    @property
    def settled(self) -> bool:
        """The account is final: nothing more is to be begun and everything running has been cancelled."""
        return self._status is not None or self._need.lemma == len(self._lemmas)

    def start(self) -> Instructions:
        """The first attempts to begin."""
        return self._proceed()

    def finished(self, attempt: Attempt, accepted: bool, detail: str = "") -> Instructions:
        """An attempt's outcome. One that was cancelled meanwhile changes nothing. ValueError for one never begun."""
        if attempt not in self._begun:
            raise ValueError(f"attempt {attempt} was never begun")
        if attempt not in self._running:
            return Instructions()
        self._running.remove(attempt)
        self._outcomes[attempt] = _Outcome(accepted, "" if accepted else detail)
        if accepted:
            self._winners[attempt.lemma] = min(attempt.index, self._winners.get(attempt.lemma, attempt.index))
        return self._proceed()

    def account(self) -> LeafAccount:
        """The account of a settled run."""
        if not self.settled:
            raise ValueError("the run is not settled")
        untried = (LemmaOutcome(m.name, m.prop, LemmaStatus.UNTRIED) for m in self._lemmas[len(self._account) :])
        return LeafAccount(
            status=self._status,
            detail=self._detail,
            outcomes=(*self._account, *untried),
            attempts_used=self._charged,
            attempts_speculated=len(self._begun) - self._charged,
        )

    def _proceed(self) -> Instructions:
        self._charge()
        reachable = self._reachable()
        cancel = tuple(sorted(attempt for attempt in self._running if not reachable.covers(attempt)))
        self._running.difference_update(cancel)
        begin: list[Attempt] = []
        while (attempt := self._next(reachable)) is not None:
            self._begun.add(attempt)
            self._running.add(attempt)
            begin.append(attempt)
        return Instructions(begin=tuple(begin), cancel=cancel)

    def _charge(self) -> None:
        """Follow the sequential run through the outcomes that are known."""
        while not self.settled:
            lemma, index = self._need.lemma, self._need.index
            if self._budgeted == 0:
                self._exhausted("leaf_attempts_per_lemma is 0")
            elif index == self._k:
                self._failed()
            elif self._charged == self._total:
                self._exhausted(f"the plan's {self._total} leaf attempts are used up (max_total_leaf_attempts)")
            else:
                outcome = self._outcomes.get(self._need)
                if outcome is None:
                    return
                self._charged += 1
                if outcome.accepted:
                    self._close(LemmaStatus.PROVED, index + 1, winner=index)
                    self._need = Attempt(lemma + 1, 0)
                else:
                    self._need = Attempt(lemma, index + 1)

    def _failed(self) -> None:
        index = self._need.index
        if index == 0:
            last = told = "the leaf prover has no attempt for it"
        else:
            last = self._last_detail()
            told = f"{index} attempt{'' if index == 1 else 's'} failed, the last: {last}"
        self._close(LemmaStatus.FAILED, index, detail=last)
        self._status = Status.LEAF_FAILED
        self._detail = f"lemma {self._lemmas[self._need.lemma].name}: {told}"

    def _exhausted(self, reason: str) -> None:
        index = self._need.index
        self._close(LemmaStatus.EXHAUSTED, index, detail=self._last_detail() if index else reason)
        self._status = Status.BUDGET_EXHAUSTED
        self._detail = f"lemma {self._lemmas[self._need.lemma].name}: {reason}"

    def _last_detail(self) -> str:
        """Why the attempt before the one in need was refused."""
        return self._outcomes[Attempt(self._need.lemma, self._need.index - 1)].detail

    def _close(self, status: LemmaStatus, used: int, *, winner: int | None = None, detail: str = "") -> None:
        lemma = self._lemmas[self._need.lemma]
        self._account.append(LemmaOutcome(lemma.name, lemma.prop, status, used, winner, detail))

    def _reachable(self) -> _Reachable:
        """For each lemma from the one in need on, below which index the sequential run may still come."""
        ends: list[int] = []
        if not self.settled:
            least = self._charged
            for lemma in range(self._need.lemma, len(self._lemmas)):
                first = self._need.index if lemma == self._need.lemma else 0
                refused = first
                while (known := self._outcomes.get(Attempt(lemma, refused))) is not None and not known.accepted:
                    refused += 1
                end = min(self._k, first + self._total - least)
                ends.append(min(end, self._winners[lemma] + 1) if lemma in self._winners else end)
                if refused >= self._k:
                    break
                least += refused + 1 - first
                if least >= self._total:
                    break
        return _Reachable(self._need.lemma, tuple(ends))

    def _next(self, reachable: _Reachable) -> Attempt | None:
        """The attempt to begin next: the one in need, then those ahead of it, lemmas with the fewest running first."""
        if not reachable.ends:
            return None
        if self._need not in self._begun:
            return self._need
        if len(self._begun) > self._charged + self._speculation:
            return None
        best: tuple[int, Attempt] | None = None
        for lemma, end in enumerate(reachable.ends, start=reachable.first):
            running = sum(attempt.lemma == lemma for attempt in self._running)
            index = self._need.index if lemma == self._need.lemma else 0
            while Attempt(lemma, index) in self._begun:
                index += 1
            if index < end and running < self._abreast and (best is None or running < best[0]):
                best = running, Attempt(lemma, index)
        return best[1] if best else None


@dataclass(frozen=True)
class _Reachable:
    """Attempts that the sequential run may still come to: for lemma `first + i`, the indices below `ends[i]`."""

    first: int
    ends: tuple[int, ...]

    def covers(self, attempt: Attempt) -> bool:
        position = attempt.lemma - self.first
        return 0 <= position < len(self.ends) and attempt.index < self.ends[position]
