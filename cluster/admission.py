"""Which requests are let in, and when each begins: a pure state machine. No ray, no clock, no I/O.

At most `max_running` requests are judged at the same time and at most `max_waiting` wait; one more is refused, with the
time after which to ask again. Turns are fair between clients (fair.py). A request begins when the most leaf attempts it
may need are held on its accounts (caps.py): it waits while others hold them, and is refused once too many are spent.
"""

from __future__ import annotations

from dataclasses import dataclass

from cluster.api import Caller
from cluster.caps import AccountKey, Accounts, Hold, Resource
from cluster.events import CapsChanged
from cluster.fair import FairQueue
from rlmath.errors import CapReached, QueueFull, Refused

FIRST_INTERVAL_S = 0.1
"""Taken for the time between two requests that end, as long as nothing is known."""
SHORTEST_RETRY_S, LONGEST_RETRY_S = 0.5, 60.0
MEMORY = 0.05
"""Weight of the newest interval between two ends."""

STALE = 256
"""Entries of the queue that stand for nothing any more, before it is swept."""


# Events


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request asks to be judged."""

    number: int
    """Unique and ascending."""
    caller: Caller
    accounts: tuple[AccountKey, ...]
    most_attempts: int
    """Leaf attempts that it can be charged at most."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The request is not wanted any more, begun or not; nothing is charged."""

    number: int


@dataclass(frozen=True, slots=True)
class Finished:
    """A request that had begun is over."""

    number: int
    attempts: int
    """To be charged; 0 without a verdict."""
    now: float
    """Seconds, of a clock that never goes back."""


Event = Arrived | Withdrawn | Finished | CapsChanged


# Instructions


@dataclass(frozen=True, slots=True)
class Begin:
    """Judge the request."""

    number: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """Tell the request's caller why not."""

    number: int
    error: Refused


Instruction = Begin | Refuse


class Admission:
    """All requests that are not over."""

    def __init__(self, accounts: Accounts, *, max_running: int, max_waiting: int) -> None:
        self._accounts = accounts
        self._max_running, self._max_waiting = max_running, max_waiting
        self._queue: FairQueue[int] = FairQueue(expected=1.0)
        self._waiting: dict[int, Arrived] = {}
        self._running: dict[int, tuple[str, float, Hold | None]] = {}
        """Client, what its share was charged, and the attempts held."""
        self._parked: dict[AccountKey, list[int]] = {}
        """Requests that had their turn when others held what they need of an account."""
        self._interval_s = FIRST_INTERVAL_S
        self._last_end: float | None = None

    @property
    def waiting(self) -> int:
        """Requests let in and not begun."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Requests begun."""
        return len(self._running)

    def handle(self, event: Event) -> list[Instruction]:
        """Take note of an event; say what is to be done now, in order."""
        out: list[Instruction] = []
        match event:
            case Arrived():
                self._arrive(event, out)
            case Withdrawn(number):
                if number in self._running:
                    self._end(number, 0)
                elif self._waiting.pop(number, None) is not None:
                    self._sweep()
            case Finished(number, attempts, now):
                if number in self._running:
                    self._note_end(now)
                    self._end(number, attempts)
            case CapsChanged():
                for key in list(self._parked):
                    self._unpark(key)
        self._begin(out)
        return out

    def _arrive(self, event: Arrived, out: list[Instruction]) -> None:
        refusal = self._accounts.refusal(event.accounts, Resource.LEAF_ATTEMPTS, event.most_attempts)
        full = len(self._running) >= self._max_running or self._waiting
        if refusal is not None:
            out.append(Refuse(event.number, refusal))
        elif full and len(self._waiting) >= self._max_waiting:
            out.append(Refuse(event.number, QueueFull(len(self._waiting), self._retry_after_s())))
        else:
            self._waiting[event.number] = event
            self._push(event)

    def _push(self, event: Arrived) -> None:
        caller = event.caller
        self._queue.push(caller.client, caller.weight, caller.priority, event.number, event.number)

    def _sweep(self) -> None:
        if len(self._queue) > 2 * len(self._waiting) + STALE:
            self._queue.keep_if(lambda number: number in self._waiting)

    def _begin(self, out: list[Instruction]) -> None:
        while len(self._running) < self._max_running and len(self._queue):
            client, number = self._queue.peek()
            event = self._waiting.get(number)
            if event is None:
                self._queue.drop()
                continue
            held: Hold | AccountKey | CapReached | None = None
            if event.accounts:
                held = self._accounts.hold(event.accounts, Resource.LEAF_ATTEMPTS, event.most_attempts)
            match held:
                case AccountKey():
                    self._queue.drop()
                    self._parked.setdefault(held, []).append(number)
                case CapReached():
                    self._queue.drop()
                    del self._waiting[number]
                    out.append(Refuse(number, held))
                case _:
                    del self._waiting[number]
                    self._running[number] = client, self._queue.pop(), held
                    out.append(Begin(number))

    def _end(self, number: int, attempts: int) -> None:
        client, charged, hold = self._running.pop(number)
        self._queue.settle(client, charged, 1.0)
        if hold is not None:
            self._accounts.settle(hold, attempts)
            for key in hold.keys:
                self._unpark(key)

    def _unpark(self, key: AccountKey) -> None:
        for number in self._parked.pop(key, ()):
            if number in self._waiting:
                self._push(self._waiting[number])

    def _note_end(self, now: float) -> None:
        if self._last_end is not None:
            self._interval_s += MEMORY * (max(now - self._last_end, 0.0) - self._interval_s)
        self._last_end = now

    def _retry_after_s(self) -> float:
        """When a tenth of what waits will have begun, at the pace of the last ends."""
        return min(max(self._interval_s * (len(self._waiting) / 10 + 1), SHORTEST_RETRY_S), LONGEST_RETRY_S)
