"""The lively half of `admission.Admission`: requests wait here until it is their turn."""

from __future__ import annotations

import asyncio
import time

from cluster.admission import Admission, Arrived, Begin, Event, Finished, Refuse, Withdrawn
from cluster.caps import Accounts
from cluster.events import CapsChanged
from cluster.tickets import Ticket


class Turns:
    """Of one scheduler. For use in one event loop."""

    def __init__(self, accounts: Accounts, *, max_running: int, max_waiting: int) -> None:
        """See `Admission`."""
        self._admission = Admission(accounts, max_running=max_running, max_waiting=max_waiting)
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._came: dict[int, float] = {}
        """Those that are not over, the oldest first."""

    @property
    def running(self) -> int:
        """Requests that have their turn."""
        return self._admission.running

    @property
    def waiting(self) -> int:
        """Requests that wait for it."""
        return self._admission.waiting

    @property
    def oldest_s(self) -> float:
        """Age of the oldest request that is not over."""
        return time.monotonic() - next(iter(self._came.values())) if self._came else 0.0

    async def wait(self, ticket: Ticket, attempts: int) -> None:
        """Returns when the request may begin. `attempts`: see `Arrived`. Raises `Refused`. Either way `over` has to be
        called in the end.
        """
        self._came[ticket.number] = time.monotonic()
        turn = self._waiting[ticket.number] = asyncio.get_running_loop().create_future()
        try:
            self._tell(Arrived(ticket.number, ticket.caller, ticket.accounts, attempts))
            await turn
        finally:
            del self._waiting[ticket.number]

    def over(self, ticket: Ticket, attempts: int | None) -> None:
        """The request is over, whether it had begun or not. `attempts`: to be charged; None: it has no verdict."""
        self._came.pop(ticket.number, None)
        if attempts is not None:
            self._tell(Finished(ticket.number, attempts, time.monotonic()))
        self._tell(Withdrawn(ticket.number))

    def caps_changed(self) -> None:
        """What waits for room on an account may have it now."""
        self._tell(CapsChanged())

    def _tell(self, event: Event) -> None:
        for instruction in self._admission.handle(event):
            turn = self._waiting.get(instruction.number)
            if turn is None or turn.done():
                continue  # cancelled in this very moment: it withdraws itself
            match instruction:
                case Begin():
                    turn.set_result(None)
                case Refuse(_, error):
                    turn.set_exception(error)
