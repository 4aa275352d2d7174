"""The scheduler's end of the two ways to a worker: a line of our own (line.py), or calls of Ray where there is none."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ray.exceptions import RayError

from cluster.api import ClusterSettings
from cluster.exchange import Check, CheckAnswer, Parcel, unpack_answers
from cluster.failures import reason_of
from cluster.line import MOST_FRAME, SECRET_BYTES, Address, Line, LineFailed, connect
from rlmath.errors import RlmathError

logger = logging.getLogger(__name__)

OPEN_CALLS = 2
"""Calls that may wait for answers at one worker: a second one hides the way of the first."""


class Way(Protocol):
    """To one life of a worker. Every check that is sent is answered once, or the life is lost."""

    full: int
    """With so many checks a parcel is to leave at once, and not to wait for what else this turn of the loop decides."""

    def send(self, checks: Sequence[Check], stop: Sequence[int]) -> None:
        """Have checks begun and others ended. To be called after answers came too, with whatever there is."""
        ...

    def close(self) -> None:
        """The life is over. Nothing is sent or told from now on."""
        ...


@dataclass(frozen=True)
class Told:
    """Who is told what comes by a way."""

    answers: Callable[[Sequence[CheckAnswer]], None]
    lost: Callable[[str], None]
    """The worker is gone, and why. May be called again."""


class CallWay:
    """By calls of Ray: one takes checks there and brings answers back (`CheckSession.exchange`)."""

    full = sys.maxsize  # two calls cost more than a worker that waits for a moment

    def __init__(self, life: str, actor: Any, told: Told) -> None:
        self._life, self._actor, self._told = life, actor, told
        self._waiting = 0
        """Calls that wait for answers."""
        self._unanswered = 0
        self._closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, checks: Sequence[Check], stop: Sequence[int]) -> None:
        """See `Way`. With nothing to send, a call is made only if there is none that waits for answers."""
        if self._closed or (not checks and not stop and (self._waiting or self._unanswered <= 0)):
            return
        self._unanswered += len(checks)
        parcel = Parcel(self._life, checks, stop, wait=self._waiting < OPEN_CALLS)
        self._waiting += parcel.wait
        task = asyncio.get_running_loop().create_task(self._exchange(parcel))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """See `Way`."""
        self._closed = True
        for task in self._tasks:
            task.cancel()

    async def _exchange(self, parcel: Parcel) -> None:
        try:
            answers = unpack_answers(await self._actor.exchange.remote(parcel.pack()))
        except (RayError, RlmathError) as error:
            self._told.lost(reason_of(error))
            return
        except Exception as error:
            logger.exception("a call of worker %s failed in an unforeseen way", self._life)
            self._told.lost(reason_of(error))
            return
        finally:
            self._waiting -= parcel.wait
        self._unanswered -= len(answers)
        self._told.answers(answers)


class LineWay:
    """By a line of our own (as its `line.End`): answers come by themselves."""

    full = 32  # the worker begins while the rest is decided: a fifth more checks a second than with one frame a turn

    def __init__(self, life: str, told: Told) -> None:
        self._life, self._told = life, told
        self._line: Line | None = None

    def send(self, checks: Sequence[Check], stop: Sequence[int]) -> None:
        """See `Way`."""
        if self._line is None or not (checks or stop):
            return
        frame = Parcel(self._life, checks, stop).pack()
        if len(frame) > MOST_FRAME and len(checks) > 1:  # a few sources as long as sources may be
            half = len(checks) // 2
            self.send(checks[:half], stop)
            self.send(checks[half:], [])
        else:
            self._line.send(frame)

    def close(self) -> None:
        """See `Way`."""
        if self._line is not None:
            self._line.close()

    def opened(self, line: Line) -> None:
        """See `line.End`."""
        self._line = line

    def took(self, frame: bytes | bytearray) -> None:
        """See `line.End`."""
        try:
            answers = unpack_answers(frame)
        except RlmathError as error:
            self._told.lost(reason_of(error))
            return
        self._told.answers(answers)

    def broke(self, reason: str) -> None:
        """See `line.End`."""
        self._told.lost(reason)


def secret_for(settings: ClusterSettings) -> bytes | None:
    """A fresh one, for one life of a worker; None: it is to be reached by calls of Ray."""
    return None if why_no_line(settings) else secrets.token_bytes(SECRET_BYTES)


async def way_to(
    actor: Any, life: str, told: Told, settings: ClusterSettings, secret: bytes | None, address: Address | None
) -> Way:
    """The best there is to a worker that has begun this life, with this secret, and listens at this address."""
    if secret is None:
        why = why_no_line(settings)
    elif address is None:
        why = "the worker does not listen for it, as its own log says"
    else:
        way = LineWay(life, told)
        try:
            await connect(address, life, secret, way)
            return way
        except LineFailed as error:
            why = str(error)
    logger.warning("no line to worker %s, its checks go by calls of Ray: %s", life, why)
    return CallWay(life, actor, told)


def why_no_line(settings: ClusterSettings) -> str:
    """Why there must be none, as far as either end can tell by itself; empty: it may be used."""
    if not settings.direct_line:
        return "settings.direct_line is off"
    if os.environ.get("RAY_USE_TLS", "").lower() in ("1", "true"):
        return "RAY_USE_TLS is on, and a line is in the clear"
    return ""
