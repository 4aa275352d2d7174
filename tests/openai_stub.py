"""An OpenAI-compatible server for tests, at the far side of a real TCP connection: scripted replies, faults, and counts
of what it was asked.

    with OpenAIStub(lambda request, number: f"```lean4\nexact proof_{number}\n```") as stub:
        client = openai.AsyncOpenAI(base_url=stub.base_url, api_key="…")

`script` is a list of `Step`s, one for each request in the order they come; when it is used up, requests are answered
well. It runs on a thread with an event loop of its own, so tests may be sync or async, in this process or in another.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

Reply = Callable[[dict[str, Any], int], str]
"""From the request's body and the number of generations so far to the text of one choice."""


@dataclass(frozen=True)
class Step:
    """What becomes of one request. With nothing set, it is answered well."""

    delay_s: float = 0.0
    status: int = 200
    message: str = "scripted"
    """Of the error body, with a status other than 200."""
    code: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    raw: bytes | None = None
    """The body itself, instead of a completion or an error."""
    content_type: str = "application/json"
    hang: bool = False
    """Never answer; the connection stays open."""
    drop: bool = False
    """Close the connection in the middle of the answer."""
    drip_s: float = 0.0
    """Seconds between the bytes of the answer's head."""
    finish_reason: str = "stop"
    no_content: bool = False
    """Choices whose content is null."""


@dataclass(frozen=True)
class Seen:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class OpenAIStub:
    """The server, from `__enter__` to `__exit__`. Its counters may be read at any time."""

    reply: Reply | str = "```lean4\nomega\n```"
    script: Sequence[Step] = ()
    max_n: int | None = None
    """Choices that one request may bring: more are silently not made."""
    reject_n: bool = False
    """Answer 400 to `n` above `max_n` instead."""
    context_tokens: int | None = None
    """The window: 400, worded as vLLM does, when the words of the prompt plus `max_tokens` exceed it."""
    hold_until: int = 0
    """Answer nobody before so many requests are here at once."""
    requests: list[Seen] = field(default_factory=list)
    generations: int = 0
    """Choices made."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    """Words of all choices made."""
    streams: int = 0
    disconnects: int = 0
    """Requests whose client went away before the answer."""
    in_flight: int = 0
    max_in_flight: int = 0
    port: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> OpenAIStub:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="openai-stub", daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop
        ).result(10)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._one_request(reader, writer):
                pass
        writer.close()

    async def _one_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {key.lower(): value.strip() for key, _, value in (line.partition(":") for line in head[1:] if line)}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        seen = Seen(head[0].split(" ")[1], headers, body)
        step = self.script[len(self.requests)] if len(self.requests) < len(self.script) else Step()
        self.requests.append(seen)
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            while self.max_in_flight < self.hold_until:
                await asyncio.sleep(0.01)
            return await self._answer(seen, step, reader, writer)
        finally:
            self.in_flight -= 1

    async def _answer(self, seen: Seen, step: Step, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if step.hang or step.delay_s:
            gone = asyncio.ensure_future(reader.read(1))
            done, _ = await asyncio.wait({gone}, timeout=None if step.hang else step.delay_s)
            if done:
                self.disconnects += 1
                return False
            gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await gone
        status, payload, content_type = self._payload(seen, step)
        head = [
            f"HTTP/1.1 {status} Scripted",
            f"content-type: {content_type}",
            f"content-length: {len(payload) + (1 if step.drop else 0)}",
            *(f"{key}: {value}" for key, value in step.headers),
        ]
        head_bytes = ("\r\n".join(head) + "\r\n\r\n").encode("latin-1")
        if step.drip_s:
            for byte in head_bytes:
                if reader.at_eof():
                    self.disconnects += 1
                    return False
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(step.drip_s)
        else:
            writer.write(head_bytes)
        writer.write(payload)
        await writer.drain()
        return not step.drop

    def _payload(self, seen: Seen, step: Step) -> tuple[int, bytes, str]:
        if step.raw is not None:
            return step.status, step.raw, step.content_type
        if step.status != 200:
            return self._error(step.status, step.message, step.code)
        body, chat = seen.body, seen.path.endswith("/chat/completions")
        if not chat and not seen.path.endswith("/completions"):
            return self._error(404, f"no route {seen.path}", None)
        prompt = " ".join(message["content"] for message in body["messages"]) if chat else body["prompt"]
        words, count = len(prompt.split()), body.get("n", 1)
        if self.context_tokens is not None and words + body.get("max_tokens", 0) > self.context_tokens:
            wanted = f"you requested {words + body.get('max_tokens', 0)} tokens"
            return self._error(
                400, f"This model's maximum context length is {self.context_tokens} tokens. However, {wanted}.", None
            )
        if self.max_n is not None and count > self.max_n:
            if self.reject_n:
                return self._error(400, f"'n' : number must be at most {self.max_n}", None)
            count = self.max_n
        if body.get("stream"):
            self.streams += 1
            chunk = {"id": "s", "object": "chat.completion.chunk", "created": 0, "model": body["model"], "choices": []}
            return 200, f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode(), "text/event-stream"
        choices, tokens = [], 0
        for index in range(count):
            text = self.reply if isinstance(self.reply, str) else self.reply(body, self.generations)
            self.generations += 1
            tokens += len(text.split())
            content = None if step.no_content else text
            said = {"message": {"role": "assistant", "content": content}} if chat else {"text": content}
            choices.append({"index": index, "finish_reason": step.finish_reason, **said})
        self.prompt_tokens += words
        self.completion_tokens += tokens
        usage = {"prompt_tokens": words, "completion_tokens": tokens, "total_tokens": words + tokens}
        kind = "chat.completion" if chat else "text_completion"
        answer = {"id": "c", "object": kind, "created": 0, "model": body["model"], "choices": choices, "usage": usage}
        return 200, json.dumps(answer).encode(), "application/json"

    def _error(self, status: int, message: str, code: str | None) -> tuple[int, bytes, str]:
        error = {"message": message, "type": "scripted_error", "param": None, "code": code}
        return status, json.dumps({"error": error}).encode(), "application/json"
