"""A queue that several clients share by weight: start-time fair queueing over what their items really cost.

Each client has a virtual time, which goes on by cost / weight with every item served; the client that is furthest
behind is served next. One that comes back after a while begins where the others are: what it did not use is not saved
up. Between two clients that always have items waiting, the virtual times never lie further apart than one item's
cost / weight (Goyal, Vin, Cheng: "Start-time Fair Queueing", 1996), plus what the costs of items under way turn out to
differ from what was expected of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")

FIRST_COST = 0.05
"""Expected cost of the first item of all: a small check's kernel seconds."""
MEMORY = 0.1
"""Weight of the newest item in a client's expected cost."""
IDLE_CLIENTS = 256
"""So many clients without items may be remembered before those that owe nothing are forgotten."""


@dataclass(slots=True)
class _Client(Generic[Item]):
    weight: float
    expected: float
    """Cost of its next item."""
    vtime: float = 0.0
    stamp: int = 0
    """Of its one valid entry in the heap of clients."""
    items: list[tuple[int, int, int, Item]] = field(default_factory=list)


class FairQueue(Generic[Item]):
    """Clients' items: between clients by weight, within a client by priority (higher first), then by order (lower
    first).
    """

    def __init__(self, expected: float = FIRST_COST) -> None:
        """`expected`: what an item costs as long as nothing is known."""
        self._expected = expected
        self._clients: dict[str, _Client[Item]] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._stamps = 0
        self._now = 0.0
        """Virtual time of the client served last."""
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def waiting(self, client: str) -> int:
        """Items of this client."""
        known = self._clients.get(client)
        return len(known.items) if known else 0

    def push(self, client: str, weight: float, priority: int, order: int, item: Item) -> None:
        """Add an item. The client's weight is from now on this one."""
        known = self._clients.get(client)
        if known is None:
            if len(self._clients) - len(self._heap) > IDLE_CLIENTS:
                self._forget_idle()
            known = self._clients[client] = _Client(weight, self._expected)
        known.weight = weight
        self._size += 1
        heapq.heappush(known.items, (-priority, order, self._next_stamp(), item))
        if len(known.items) == 1:
            known.vtime = max(known.vtime, self._now)
            self._enter(client, known)

    def peek(self) -> tuple[str, Item]:
        """The item to be served next, and whose it is. IndexError when there is none."""
        client = self._head()
        return client, self._clients[client].items[0][3]

    def pop(self) -> float:
        """Serve the item that `peek` shows. Returns the cost its client was charged, for `settle`."""
        client = self._head()
        known = self._clients[client]
        cost = known.expected
        self._now = max(self._now, known.vtime)
        known.vtime += cost / known.weight
        self._take(client, known)
        return cost

    def drop(self) -> None:
        """Take out the item that `peek` shows, at no cost."""
        client = self._head()
        self._take(client, self._clients[client])

    def settle(self, client: str, charged: float, cost: float) -> None:
        """The item that `pop` charged has cost so much in the end."""
        self._expected += MEMORY * (cost - self._expected)
        known = self._clients.get(client)
        if known is None:
            return
        known.expected += MEMORY * (cost - known.expected)
        self._move(client, known, cost - charged)

    def refund(self, client: str, charged: float) -> None:
        """The item that `pop` charged was not served after all."""
        known = self._clients.get(client)
        if known is not None:
            self._move(client, known, -charged)

    def keep_if(self, wanted: Callable[[Item], bool]) -> None:
        """Take out all items that are not wanted, at no cost."""
        for known in self._clients.values():
            kept = [entry for entry in known.items if wanted(entry[3])]
            if len(kept) == len(known.items):
                continue
            self._size -= len(known.items) - len(kept)
            known.items = kept
            heapq.heapify(kept)
            if not kept:
                known.stamp = 0
        self._heap = [entry for entry in self._heap if self._clients[entry[2]].stamp == entry[1]]
        heapq.heapify(self._heap)

    def _take(self, client: str, known: _Client[Item]) -> None:
        heapq.heappop(known.items)
        self._size -= 1
        heapq.heappop(self._heap)
        if known.items:
            self._enter(client, known)
        else:
            known.stamp = 0

    def _move(self, client: str, known: _Client[Item], cost: float) -> None:
        if cost:
            known.vtime += cost / known.weight
            if known.items:
                self._enter(client, known)

    def _enter(self, client: str, known: _Client[Item]) -> None:
        known.stamp = self._next_stamp()
        heapq.heappush(self._heap, (known.vtime, known.stamp, client))

    def _next_stamp(self) -> int:
        self._stamps += 1
        return self._stamps

    def _head(self) -> str:
        """The client at the top of the heap, whose entry there is its valid one."""
        while True:
            _, stamp, client = self._heap[0]
            known = self._clients.get(client)
            if known is not None and known.stamp == stamp:
                return client
            heapq.heappop(self._heap)

    def _forget_idle(self) -> None:
        owing = {name: c for name, c in self._clients.items() if c.items or c.vtime > self._now}
        self._clients = owing
