"""The line between scheduler and worker, over real sockets: who is let in, what gets through, how it ends. No Ray."""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import hmac
import os
import secrets
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from waiting import PATIENCE_S, until

from cluster import line as line_module
from cluster.line import MOST_FRAME, MOST_GUESTS, Address, Line, LineFailed, Listener, connect

LIFE, SECRET = "3.7", secrets.token_bytes(32)
SOON_S = PATIENCE_S
SHORT_S = 0.3
LONGER_S = 1.5
"""Enough for all that two ends have to say at the beginning."""
SO_ATTACH_FILTER = 26

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Ear:
    """An end that remembers."""

    def __init__(self) -> None:
        self.line: Line | None = None
        self.frames: list[bytes] = []
        self.reasons: list[str] = []
        self.refuses = False
        self._news = asyncio.Event()

    def opened(self, line: Line) -> None:
        self.line = line

    def took(self, frame: bytes | bytearray) -> None:
        self._news.set()
        if self.refuses:
            raise ValueError("not for me")
        self.frames.append(bytes(frame))

    def broke(self, reason: str) -> None:
        self._news.set()
        self.reasons.append(reason)

    def send(self, frame: bytes) -> None:
        assert self.line is not None
        self.line.send(frame)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(SOON_S):
            while not condition():
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def listening(ear: Ear | None = None, life: str = LIFE) -> AsyncIterator[tuple[Listener, Address]]:
    listener = Listener()
    address = await listener.start("127.0.0.1")
    if ear is not None:
        listener.expect(life, SECRET, ear)
    yield listener, address
    await listener.close()


@asynccontextmanager
async def lined() -> AsyncIterator[tuple[Ear, Ear, Listener]]:
    """The worker's end, the scheduler's, and where they met."""
    worker, scheduler = Ear(), Ear()
    async with listening(worker) as (listener, address):
        line = await connect(address, LIFE, SECRET, scheduler)
        yield worker, scheduler, listener
        line.close()


def proof(label: str, workers: bytes, schedulers: bytes, life: str = LIFE, secret: bytes = SECRET) -> bytes:
    """As the module's own text describes it."""
    told = f"rlmath line 1: {label}".encode().ljust(32, b"\0") + workers + schedulers + life.encode()
    return hmac.new(secret, told, hashlib.sha256).digest()


async def rest(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the other end closes."""
    said = b""
    async with asyncio.timeout(SOON_S):
        try:
            while some := await reader.read(1 << 16):
                said += some
        except ConnectionError:
            pass
    return said


def deafen(line: Line) -> None:
    """Have this end's system drop whatever comes, without a word, as a firewall on the way would."""
    drop_all = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))  # BPF: return 0
    program = struct.pack("HP", 1, ctypes.addressof(drop_all))
    line._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


# What gets through


async def test_frames_get_through_whole_and_in_order_both_ways() -> None:
    async with lined() as (worker, scheduler, _):
        frames = [os.urandom(size) for size in (0, 1, 3, 4, 5, 1000, 3_000_000, 0, 17)]
        frames += [b"%d" % number for number in range(500)]
        for frame in frames:
            scheduler.send(frame)
            worker.send(frame[::-1])
        await worker.until(lambda: len(worker.frames) == len(frames))
        await scheduler.until(lambda: len(scheduler.frames) == len(frames))
        assert worker.frames == frames
        assert scheduler.frames == [frame[::-1] for frame in frames]
        assert worker.reasons == scheduler.reasons == []


async def test_frames_that_come_byte_by_byte_are_put_together() -> None:
    worker = Ear()
    async with listening(worker) as (_, address):
        reader, writer = await proven(address)
        for byte in struct.pack(">I", 5) + b"hello" + struct.pack(">I", 2) + b"hi":
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)
        await worker.until(lambda: len(worker.frames) == 2)
        assert worker.frames == [b"hello", b"hi"]
        writer.close()
        assert await rest(reader) == b""


async def proven(address: Address, life: str = LIFE) -> Stream:
    """A scheduler that is written down here once more."""
    reader, writer = await asyncio.open_connection(*address)
    theirs, ours = await reader.readexactly(32), secrets.token_bytes(32)
    writer.write(ours + proof("scheduler", theirs, ours, life))
    assert await reader.readexactly(32) == proof("worker", theirs, ours, life)
    return reader, writer


# Who is let in


@pytest.mark.parametrize(
    ("life", "secret"),
    [(LIFE, secrets.token_bytes(32)), ("3.6", SECRET), ("", SECRET), (LIFE, b"")],
    ids=["another secret", "an earlier life", "no life", "no secret"],
)
async def test_whoever_cannot_prove_the_secret_of_this_life_gets_nothing(life: str, secret: bytes) -> None:
    worker, stranger, scheduler = Ear(), Ear(), Ear()
    async with listening(worker) as (_, address):
        with pytest.raises(LineFailed, match="before anything was proven"):
            await connect(address, life, secret, stranger)
        assert worker.line is stranger.line is None
        await connect(address, LIFE, SECRET, scheduler)
        scheduler.send(b"the right one is still welcome")
        await worker.until(lambda: len(worker.frames) == 1)


@pytest.mark.parametrize("size", [64, 65, 1 << 20])
async def test_garbage_is_not_looked_at_further_than_a_proof_is_long(size: int) -> None:
    worker = Ear()
    async with listening(worker) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(os.urandom(size))
        assert len(await rest(reader)) <= 32, "a nonce, or not even that"
        writer.close()
        assert worker.line is None
        assert worker.frames == []


async def test_a_frame_behind_the_proof_does_not_wait_for_the_others_proof_and_is_refused() -> None:
    worker = Ear()
    async with listening(worker) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        theirs, ours = await reader.readexactly(32), secrets.token_bytes(32)
        writer.write(ours + proof("scheduler", theirs, ours) + struct.pack(">I", 1) + b"x")
        assert await rest(reader) == b""
        writer.close()
        assert worker.line is None


async def test_a_proof_serves_once() -> None:
    worker = Ear()
    async with listening(worker) as (listener, address):
        reader, writer = await asyncio.open_connection(*address)
        theirs, ours = await reader.readexactly(32), secrets.token_bytes(32)
        said = ours + proof("scheduler", theirs, ours)
        writer.write(said)
        answer = await reader.readexactly(32)
        writer.close()
        await worker.until(lambda: worker.reasons != [])
        again = Ear()
        listener.expect(LIFE, SECRET, again)  # the very same, to be as kind as can be
        for replay in (said, theirs + answer, ours + answer):
            reader, writer = await asyncio.open_connection(*address)
            assert await reader.readexactly(32) != theirs
            writer.write(replay)
            assert await rest(reader) == b""
            writer.close()
        assert again.line is None


async def test_silence_ends_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "PROVE_S", SHORT_S)
    worker = Ear()
    async with listening(worker) as (_, address):
        for begun in (b"", b"x" * 63):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(begun)
            assert len(await rest(reader)) == 32
            writer.close()


async def test_strangers_are_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "PROVE_S", SHORT_S * 3)
    worker, scheduler = Ear(), Ear()
    async with listening(worker) as (_, address):
        held = [await asyncio.open_connection(*address) for _ in range(MOST_GUESTS)]
        for reader, _ in held:
            assert len(await reader.readexactly(32)) == 32
        reader, writer = await asyncio.open_connection(*address)
        assert await rest(reader) == b"", "not even a nonce"
        writer.close()
        for reader, writer in held:
            assert await rest(reader) == b""
            writer.close()
        await connect(address, LIFE, SECRET, scheduler)
        scheduler.send(b"there is room again")
        await worker.until(lambda: len(worker.frames) == 1)


async def test_a_life_has_one_connection() -> None:
    async with lined() as (worker, scheduler, listener):
        address = await listener.start("127.0.0.1")
        with pytest.raises(LineFailed):
            await connect(address, LIFE, SECRET, Ear())
        scheduler.send(b"the first is not disturbed")
        await worker.until(lambda: len(worker.frames) == 1)


async def test_a_new_life_ends_the_line_of_the_old_one_and_is_closed_to_it() -> None:
    async with lined() as (worker, scheduler, listener):
        secret, new, late = secrets.token_bytes(32), Ear(), Ear()
        address = await listener.start("127.0.0.1")
        listener.expect("3.8", secret, new)
        await scheduler.until(lambda: scheduler.reasons != [])
        assert worker.reasons == [], "this end closed it"
        for life, known in ((LIFE, SECRET), ("3.8", SECRET), (LIFE, secret)):
            with pytest.raises(LineFailed):
                await connect(address, life, known, late)
        await connect(address, "3.8", secret, late)
        late.send(b"x")
        await new.until(lambda: new.frames == [b"x"])
        assert worker.frames == []


async def test_nobody_is_let_in_where_nobody_is_expected() -> None:
    async with listening() as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        assert await rest(reader) == b""
        writer.close()
        with pytest.raises(LineFailed):
            await connect(address, LIFE, SECRET, Ear())


# What passes for a worker


async def reflected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Gives back what it was told: each direction has a proof of its own."""
    writer.write(secrets.token_bytes(32))
    writer.write((await reader.readexactly(64))[32:])


async def another(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A worker in another life."""
    ours = secrets.token_bytes(32)
    writer.write(ours)
    theirs = (await reader.readexactly(64))[:32]
    writer.write(proof("worker", ours, theirs, life="3.6"))


async def chatty(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(os.urandom(1 << 20))


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def shut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


@pytest.mark.parametrize("impostor", [reflected, another, chatty, silent, shut])
async def test_an_impostor_is_found_out(
    impostor: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]],
) -> None:
    server = await asyncio.start_server(impostor, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    scheduler = Ear()
    with pytest.raises(LineFailed):
        await connect((host, port), LIFE, SECRET, scheduler, timeout_s=SHORT_S)
    assert scheduler.line is None
    assert scheduler.frames == []
    server.close()


async def test_a_line_that_comes_as_its_time_is_over_ends_without_a_word() -> None:
    class Slow(Ear):
        def opened(self, line: Line) -> None:
            super().opened(line)
            time.sleep(2 * LONGER_S)  # the scheduler's loop has much else to do; the proof is on its way already

    worker, scheduler = Slow(), Ear()
    async with listening(worker) as (_, address):
        with pytest.raises(LineFailed, match="within"):
            await connect(address, LIFE, SECRET, scheduler, timeout_s=LONGER_S)
        await worker.until(lambda: worker.reasons != [])
    assert scheduler.line is not None, "it came"
    assert scheduler.reasons == [], "else a life that goes on by calls is lost for it"


async def test_a_port_where_nobody_listens_is_named() -> None:
    async with listening() as (_, address):
        pass
    with pytest.raises(LineFailed, match=f"port {address[1]}"):
        await connect(address, LIFE, SECRET, Ear())


# How it ends


async def test_either_end_hears_of_the_others_end_once() -> None:
    async with lined() as (worker, scheduler, _):
        assert scheduler.line is not None
        scheduler.line.close()
        await worker.until(lambda: worker.reasons != [])
        worker.send(b"nobody hears this")
    assert len(worker.reasons) == 1
    assert worker.reasons[0].startswith("the line broke")
    assert scheduler.reasons == []


@pytest.mark.parametrize("size", [MOST_FRAME + 1, (1 << 32) - 1])
async def test_a_length_that_no_frame_has_breaks_the_line(size: int) -> None:
    worker = Ear()
    async with listening(worker) as (_, address):
        reader, writer = await proven(address)
        writer.write(struct.pack(">I", 1) + b"x" + struct.pack(">I", size) + b"y" * 100)
        assert await rest(reader) == b""
        writer.close()
        assert worker.frames == [b"x"]
        assert worker.reasons == [f"the line broke: a frame of {size} bytes"]


async def test_a_frame_that_cannot_be_taken_breaks_the_line_and_no_later_one_is_taken() -> None:
    async with lined() as (worker, scheduler, _):
        worker.refuses = True
        for frame in (b"bad", b"good", b"good"):
            scheduler.send(frame)
        await worker.until(lambda: worker.reasons != [])
        await scheduler.until(lambda: scheduler.reasons != [])
        assert worker.reasons == ["the line broke: a frame that could not be taken: ValueError"]
        assert worker.frames == []


async def test_a_line_on_which_nothing_comes_through_any_more_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "SILENCE_S", 2)
    async with lined() as (idle_worker, idle_scheduler, _), lined() as (worker, scheduler, _):
        ears = (idle_worker, idle_scheduler, worker, scheduler)
        for ear in ears:
            assert ear.line is not None
            deafen(ear.line)
        scheduler.send(b"a check")
        worker.send(b"an answer")
        for ear in ears:
            await ear.until(lambda ear=ear: ear.reasons != [])
            assert ear.reasons[0].startswith("the line broke: TimeoutError")


async def test_closing_leaves_no_task_and_frees_the_port() -> None:
    before = asyncio.all_tasks()
    async with lined() as (_, scheduler, listener):
        address = await listener.start("127.0.0.1")
        assert await listener.start("127.0.0.1") == address, "once"
        stranger = await asyncio.open_connection(*address)
        await listener.close()
        await scheduler.until(lambda: scheduler.reasons != [])
        assert await rest(stranger[0]) == b""
        stranger[1].close()
        with pytest.raises(LineFailed):
            await connect(address, LIFE, SECRET, Ear())
        again = await listener.start("127.0.0.1")
        listener.expect(LIFE, SECRET, Ear())
        await connect(again, LIFE, SECRET, Ear())
    await until(lambda: asyncio.all_tasks() <= before, shows=asyncio.all_tasks)
