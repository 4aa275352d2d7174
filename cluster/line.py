"""A line of our own between the scheduler and a worker: one TCP connection a life of the worker. No ray.

A call of Ray costs a millisecond or two of CPU at each end, a frame of this some ten microseconds. Ray still tells the
two of each other: the call `open` takes a fresh secret to the worker and brings back where it listens. Before either
end takes a frame, each proves to the other that it knows the secret:

    worker     nonce                32 bytes
    scheduler  nonce, proof         64 bytes
    worker     proof                32 bytes

A proof is the HMAC-SHA256, under the secret, of a label for who proves it, both nonces and the life's name: it is good
for one connection, one direction and one life. A stranger gets a nonce, room for 64 bytes and `PROVE_S` of time, and
there are never more than `MOST_GUESTS` of them. What follows is in the clear, as Ray's own calls are where it uses no
TLS (else there is none: `ways.py`): frames, each a length (4 bytes, big endian) and so many bytes.

Writes never wait. What can be under way is bounded without it: a worker has at most `fleet.depth` checks that it has
not answered, each can be stopped once, and each is answered once.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import secrets
import socket
import struct
from dataclasses import dataclass
from typing import Protocol, cast

logger = logging.getLogger(__name__)

SECRET_BYTES = NONCE_BYTES = PROOF_BYTES = 32
PROVE_S = 5.0
"""For a connection to prove itself, and for the scheduler to get through to a worker."""
MOST_GUESTS = 8
"""Connections that may be proving themselves at a time; a further one is closed at once."""
MOST_FRAME = 1 << 30
"""Bytes. What claims to be longer is no frame; what would be goes in several (`ways.LineWay`)."""
BACKLOG = 16
SILENCE_S = 60
"""Seconds for which the other end's system may say nothing at all, though it is asked; then the line is broken. What
drops packets on the way without a word (a firewall that forgot a connection) may leave Ray's own connections alone, so
that pings go on, and TCP by itself would try for a quarter of an hour. A process that stands still is not silent: its
system answers for it.
"""

_WORKER, _SCHEDULER = b"rlmath line 1: worker", b"rlmath line 1: scheduler"
_LENGTH = struct.Struct(">I")

Address = tuple[str, int]
"""Host and port."""


class LineFailed(Exception):
    """There is no line; says why, for people."""


class End(Protocol):
    """What is at this end of a line."""

    def opened(self, line: Line) -> None:
        """Both have proven themselves."""
        ...

    def took(self, frame: bytes | bytearray) -> None:
        """A frame came. Whatever is raised here breaks the line."""
        ...

    def broke(self, reason: str) -> None:
        """The line is gone, and not because this end closed it. Comes once."""
        ...


class Line(asyncio.Protocol):
    """A proven connection."""

    def __init__(self, transport: asyncio.Transport, end: End) -> None:
        """Takes the transport over, and opens the end."""
        self._transport, self._end = transport, end
        self._buffer = bytearray()
        self._over = False
        _bound_silence(transport.get_extra_info("socket"))
        transport.set_protocol(self)
        end.opened(self)

    def send(self, frame: bytes) -> None:
        """On a line that is gone, nothing: its end is told by `broke`."""
        if not self._over and not self._transport.is_closing():
            self._transport.write(_LENGTH.pack(len(frame)) + frame)

    def close(self) -> None:
        """At once: what was not sent is not wanted any more."""
        self._over = True
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        buffer, at = self._buffer, 0
        buffer += data
        while not self._over and len(buffer) - at >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(buffer, at)
            if size > MOST_FRAME:
                self._break(f"a frame of {size} bytes")
                return
            begin = at + _LENGTH.size
            if len(buffer) - begin < size:
                break
            at = begin + size
            try:
                self._end.took(buffer[begin:at])
            except Exception as error:
                logger.exception("a frame could not be taken")
                self._break(f"a frame that could not be taken: {type(error).__name__}")
                return
        del buffer[:at]

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._break("the other end closed it" if exc is None else f"{type(exc).__name__}: {exc}")

    def _break(self, reason: str) -> None:
        if not self._over:
            self.close()
            self._end.broke(f"the line broke: {reason}")


@dataclass(frozen=True)
class _Expected:
    """Who may come next."""

    life: str
    secret: bytes
    end: End


class Listener:
    """The worker's side: a port at which the scheduler of the present life is let in, once."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._guests: set[_Guest] = set()
        self._expected: _Expected | None = None
        self._line: Line | None = None

    async def start(self, host: str) -> Address:
        """Listen on a port that the system chooses; returns it. A second call changes nothing. Raises OSError."""
        if self._server is None:
            loop = asyncio.get_running_loop()
            self._server = await loop.create_server(lambda: _Guest(self), host, 0, backlog=BACKLOG)
        found: Address = self._server.sockets[0].getsockname()[:2]
        return found

    def expect(self, life: str, secret: bytes, end: End) -> None:
        """Let in who knows this secret of this life. Whoever came for an earlier life is not served any more."""
        self.dismiss()
        self._expected = _Expected(life, secret, end)

    def dismiss(self) -> None:
        """Let nobody in, and end the line that there is."""
        self._expected = None
        if self._line is not None:
            self._line.close()
            self._line = None

    async def close(self) -> None:
        """Give the port up. It may be started again."""
        self.dismiss()
        for guest in tuple(self._guests):
            guest.turn_away()
        if self._server is not None:
            server, self._server = self._server, None
            server.close()
            await server.wait_closed()

    def receive(self, guest: _Guest) -> bool:
        """Whether there is room for one more that has not proven itself, and anybody is expected."""
        if self._expected is None or len(self._guests) >= MOST_GUESTS:
            return False
        self._guests.add(guest)
        return True

    def leaves(self, guest: _Guest) -> None:
        """It has gone, or become a line."""
        self._guests.discard(guest)

    def proven(self, transport: asyncio.Transport, nonce: bytes, said: bytes) -> bool:
        """Whether this is who was expected: then it is served, and nobody else will be in this life."""
        expected = self._expected
        if expected is None:
            return False
        theirs, proof = said[:NONCE_BYTES], said[NONCE_BYTES:]
        if not hmac.compare_digest(proof, _proof(_SCHEDULER, expected.life, expected.secret, nonce, theirs)):
            return False
        self._expected = None
        transport.write(_proof(_WORKER, expected.life, expected.secret, nonce, theirs))
        self._line = Line(transport, expected.end)
        return True


class _Guest(asyncio.Protocol):
    """A connection to a worker that has proven nothing."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._nonce = secrets.token_bytes(NONCE_BYTES)
        self._said = b""
        self._transport: asyncio.Transport | None = None
        self._limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if not self._listener.receive(self):
            self._transport.abort()
            return
        self._limit = asyncio.get_running_loop().call_later(PROVE_S, self._transport.abort)
        self._transport.write(self._nonce)

    def data_received(self, data: bytes) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        wanted = NONCE_BYTES + PROOF_BYTES
        self._said += data[: wanted + 1 - len(self._said)]
        if len(self._said) < wanted:
            return
        # Whoever knows the secret waits for the other's proof before it says more.
        if len(self._said) == wanted and self._listener.proven(transport, self._nonce, self._said):
            self._leave()
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()

    def turn_away(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _leave(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
        self._listener.leaves(self)


async def connect(address: Address, life: str, secret: bytes, end: End, timeout_s: float = PROVE_S) -> Line:
    """The scheduler's side: a line to the worker that listens there, both proven. Raises `LineFailed`."""
    loop = asyncio.get_running_loop()
    caller = _Caller(life, secret, end, loop.create_future())
    try:
        async with asyncio.timeout(timeout_s):
            await loop.create_connection(lambda: caller, *address)
            try:
                return await caller.line
            except BaseException:
                caller.give_up()
                raise
    except TimeoutError as error:
        raise LineFailed(f"no answer from {address[0]} port {address[1]} within {timeout_s:g} s") from error
    except OSError as error:
        raise LineFailed(f"{address[0]} port {address[1]}: {error}") from error
    finally:
        caller.line.cancel()  # when nobody waits for it any more


class _Caller(asyncio.Protocol):
    """A connection to what ought to be the worker."""

    def __init__(self, life: str, secret: bytes, end: End, line: asyncio.Future[Line]) -> None:
        self.line = line
        self._life, self._secret, self._end = life, secret, end
        self._nonce = secrets.token_bytes(NONCE_BYTES)
        self._said = b""
        self._answered = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        transport = self._transport
        if transport is None or transport.is_closing() or self.line.done():
            return
        self._said += data
        theirs, said = self._said[:NONCE_BYTES], self._said[NONCE_BYTES:]
        if len(theirs) == NONCE_BYTES and not self._answered:
            self._answered = True
            transport.write(self._nonce + self._proof(_SCHEDULER, theirs))
        if len(said) < PROOF_BYTES:
            return
        if len(said) == PROOF_BYTES and hmac.compare_digest(said, self._proof(_WORKER, theirs)):
            self.line.set_result(Line(transport, self._end))
        else:
            self._fail("what listens there is not the worker")
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail("it was closed before anything was proven")

    def give_up(self) -> None:
        """Nobody waits any more. The line may have come in that very moment: its end is not to hear of it again."""
        if self.line.done() and not self.line.cancelled() and self.line.exception() is None:
            self.line.result().close()
        elif self._transport is not None:
            self._transport.abort()

    def _fail(self, reason: str) -> None:
        if not self.line.done():
            self.line.set_exception(LineFailed(reason))

    def _proof(self, label: bytes, theirs: bytes) -> bytes:
        return _proof(label, self._life, self._secret, theirs, self._nonce)


def _bound_silence(connection: socket.socket) -> None:
    for level, option, value in (
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, max(SILENCE_S // 3, 1)),
        (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, max(SILENCE_S // 6, 1)),
        (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENCE_S * 1000),
    ):
        with contextlib.suppress(OSError):  # a system that has it not is no worse than before
            connection.setsockopt(level, option, value)


def _proof(label: bytes, life: str, secret: bytes, workers_nonce: bytes, schedulers_nonce: bytes) -> bytes:
    # Only the last part can vary in length, so no two sets of parts are the same text.
    text = label.ljust(NONCE_BYTES, b"\0") + workers_nonce + schedulers_nonce + life.encode()
    return hmac.digest(secret, text, "sha256")
