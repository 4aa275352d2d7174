"""One prompt, n samples, from any OpenAI-compatible server: the wire, its failures, and nothing of Lean.

How a failure is told:

- after the SDK's retries, 408, 409, 429, 5xx, a timeout or a lost connection: LeafUnavailable;
- an answer that is no completion (an HTML page, JSON of another shape): LeafUnavailable;
- 401, 403, 404 and other 4xx, before the server has ever answered: InputError, the config names the wrong thing; the
  same later: LeafUnavailable, the server has changed, not the config;
- 400, 413, 422 because of the context window, or a content filter: PromptRefused, about this prompt, not the server.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiolimiter import AsyncLimiter

from rlmath.concurrency import together
from rlmath.errors import InputError, LeafUnavailable
from rlmath.leaf.config import ModelServer
from rlmath.leaf.prompts import Prompt

if TYPE_CHECKING:
    import openai

RETRY_AFTER_CAP_S = 120.0
"""The longest `Retry-After` that the openai SDK waits for; a server that asks for more is not retried."""
RETRY_HEADER = "x-stainless-retry-count"
"""The openai SDK's own, in every request: how often it was sent before."""
_NO_KEY = "none"
"""Sent as the key to a server that asks for none; else the SDK would send whatever OPENAI_API_KEY holds."""

_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_CONTEXT_PHRASES = (
    "context length",
    "context window",
    "context size",
    "maximum model length",
    "max_model_len",
    "prompt is too long",
    "too many tokens",
    "`inputs` must have less than",
    "`inputs` tokens +",
)
"""What vLLM, SGLang, llama.cpp, TGI, OpenAI and Anthropic's endpoint say, lower case."""


class _CountRefused(Exception):
    """A 4xx to a request for several samples, which a server that makes one at a time may well answer so."""


class PromptRefused(Exception):
    """The server will not answer this prompt, and would not the next time: it outgrows the context window, or a content
    filter stops it."""


class WindowExceeded(PromptRefused):
    """The one of the two that is about the model's context window."""


@dataclass(frozen=True)
class Sample:
    """One choice of a reply."""

    text: str | None
    finish_reason: str
    prompt_tokens: int
    """As billed: on the first sample of its request."""
    completion_tokens: int
    """Its even share of the request's."""


@dataclass
class _Session:
    """What belongs to one event loop: connections and waiters cannot be used from another."""

    client: openai.AsyncOpenAI
    slots: asyncio.Semaphore
    rate: AsyncLimiter | None


class Sampler:
    """Samples one model. Safe to share between tasks, and between event loops that run one after another."""

    def __init__(self, settings: ModelServer, *, section: str = "leaf") -> None:
        """`section`: of the config that the settings stand in, for errors. Raises `InputError` when the key's
        environment variable is not set."""
        import openai

        self._sdk = openai
        self._settings, self._section = settings, section
        self._key = api_key(settings, section)
        self._sessions: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = weakref.WeakKeyDictionary()
        self._has_answered = False
        self._one_by_one = False

    async def sample(self, prompt: Prompt, indices: Sequence[int]) -> list[Sample]:
        """A sample for each index, in their order; all in one request if the server can, else several at the same
        time."""
        batches: list[list[int]] = []
        for index in indices:
            # A seed counts on within a request, so a request with one may only hold neighbours.
            joins = bool(batches) and (self._settings.seed is None or batches[-1][-1] + 1 == index)
            if joins and not self._one_by_one:
                batches[-1].append(index)
            else:
                batches.append([index])
        sampled = await together([self._batch(prompt, batch) for batch in batches])
        return [sample for batch in sampled for sample in batch]

    async def accepts(self, prompt: Prompt) -> bool:
        """Whether the server answers this prompt. The reply is asked for as a stream and dropped as it begins: hardly a
        token is generated."""
        try:
            stream = await self._create(prompt, 1, 0, stream=True)
        except PromptRefused:
            return False
        await stream.close()
        return True

    def fault(self, key: str, problem: str) -> InputError | LeafUnavailable:
        """A refusal that is not about one prompt: the config's fault, unless the server has taken this config before.
        `key`: of the section that is at fault, as `.model`; empty: the section."""
        return (
            LeafUnavailable(f"{self._where}: {problem}")
            if self._has_answered
            else InputError(f"{self._section}{key}", problem)
        )

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.client.close()

    @property
    def _where(self) -> str:
        return f"model {self._settings.model!r} at {self._settings.base_url}"

    async def _batch(self, prompt: Prompt, indices: list[int]) -> list[Sample]:
        try:
            samples = await self._complete(prompt, len(indices), indices[0])
        except _CountRefused:
            samples = await self._complete(prompt, 1, indices[0])
        if len(samples) < len(indices):
            self._one_by_one = self._one_by_one or len(samples) == 1
            more = await together([self._complete(prompt, 1, index) for index in indices[len(samples) :]])
            samples += [sample for batch in more for sample in batch]
        return samples

    async def _complete(self, prompt: Prompt, count: int, first: int) -> list[Sample]:
        samples = _samples(await self._create(prompt, count, first))
        if not samples:
            raise LeafUnavailable(
                f"{self._where}: the answer is no completion: is the URL that of an OpenAI-compatible API?"
            )
        self._has_answered = True
        return samples[:count]

    async def _create(self, prompt: Prompt, count: int, first: int, *, stream: bool = False) -> Any:
        settings, session = self._settings, self._session()
        # The SDK's own timeout is per read: a server that sends a byte now and then would hold a slot for ever.
        deadline_s = (settings.max_retries + 1) * settings.timeout_s + settings.max_retries * RETRY_AFTER_CAP_S
        async with session.slots:
            if session.rate is not None:
                await session.rate.acquire()
            try:
                async with asyncio.timeout(deadline_s):
                    return await self._send(session.client, prompt, count, first, stream)
            except self._sdk.APIStatusError as error:
                raise self._status_fault(error, count) from None
            except self._sdk.OpenAIError as error:
                raise LeafUnavailable(f"{self._where}: {self._clean(str(error))}") from None
            except TimeoutError:
                raise LeafUnavailable(f"{self._where}: no complete answer within {deadline_s:g} s") from None
            except (ValueError, TypeError, AttributeError) as error:
                # What the SDK makes of a body that is not JSON, or JSON of another shape.
                raise LeafUnavailable(
                    f"{self._where}: the answer is no completion: {self._clean(str(error))}"
                ) from None

    async def _send(self, client: openai.AsyncOpenAI, prompt: Prompt, count: int, first: int, stream: bool) -> Any:
        settings = self._settings
        arguments: dict[str, Any] = {
            "model": settings.model,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "max_tokens": settings.max_tokens,
            "stop": [*prompt.stop, *settings.stop] or None,
            "seed": None if settings.seed is None else settings.seed + first,
            "n": count if count > 1 else None,
            "stream": stream or None,
            "extra_body": settings.extra_body or None,
        }
        given = {key: value for key, value in arguments.items() if value is not None}
        if prompt.endpoint == "completions":
            return await client.completions.create(prompt=prompt.user, **given)
        messages: list[Any] = [{"role": "user", "content": prompt.user}]
        if prompt.system is not None:
            messages.insert(0, {"role": "system", "content": prompt.system})
        return await client.chat.completions.create(messages=messages, **given)

    def _session(self) -> _Session:
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            settings = self._settings
            rate = None if settings.max_requests_per_minute is None else _limiter(settings.max_requests_per_minute)

            async def wait_to_repeat(request: Any) -> None:
                if rate is not None and request.headers.get(RETRY_HEADER) != "0":
                    await rate.acquire()

            client = self._sdk.AsyncOpenAI(
                base_url=settings.base_url,
                api_key=self._key,
                timeout=self._sdk.Timeout(settings.timeout_s, connect=min(settings.timeout_s, 10.0)),
                max_retries=settings.max_retries,
                http_client=self._sdk.DefaultAsyncHttpxClient(event_hooks={"request": [wait_to_repeat]}),
            )
            session = self._sessions[loop] = _Session(client, asyncio.Semaphore(settings.max_in_flight), rate)
        return session

    def _status_fault(self, error: openai.APIStatusError, count: int) -> Exception:
        status, settings = error.status_code, self._settings
        code, words = _refusal(error)
        message = self._clean(words)
        if status in (408, 409, 429) or status >= 500:
            tries = f" after {settings.max_retries + 1} tries" if settings.max_retries else ""
            return LeafUnavailable(f"{self._where}: HTTP {status}{tries}: {message}")
        if status in (400, 413, 422):
            if outgrows_window(error):
                return WindowExceeded(message)
            if code == "content_filter":
                return PromptRefused(message)
            if count > 1:
                return _CountRefused()
        match status:
            case 401 | 403:
                asks = (
                    f"does not accept the key in ${settings.api_key_env}" if settings.api_key_env else "asks for a key"
                )
                return self.fault(".api_key_env", f"{settings.base_url} {asks} (HTTP {status}): {message}")
            case 404:
                return self.fault(
                    ".model",
                    f"{settings.base_url} has no model {settings.model!r}, or no API there (HTTP 404): {message}",
                )
            case _:
                return self.fault(
                    "", f"{settings.base_url} refuses requests for model {settings.model!r} (HTTP {status}): {message}"
                )

    def _clean(self, message: str) -> str:
        """A server's words fit for one line of a log: servers have been known to quote the key."""
        text = " ".join(message.split())
        text = text if self._key == _NO_KEY else text.replace(self._key, "***")
        return text if len(text) <= 300 else text[:297] + "..."


def outgrows_window(error: openai.APIStatusError) -> bool:
    """Whether a server refuses a request because it does not fit the model's context window."""
    code, message = _refusal(error)
    if error.status_code not in (400, 413, 422):
        return False
    return (
        error.status_code == 413
        or code in _CONTEXT_CODES
        or any(phrase in message.lower() for phrase in _CONTEXT_PHRASES)
    )


def _refusal(error: openai.APIStatusError) -> tuple[str, str]:
    """The code (lower case, maybe empty) and the message of an error body."""
    body = error.body if isinstance(error.body, dict) else {}
    return str(body.get("code") or body.get("type") or "").lower(), str(body.get("message") or error.message)


def api_key(settings: ModelServer, section: str) -> str:
    """The key to send. Raises `InputError` when its environment variable is not set."""
    if settings.api_key_env is None:
        return _NO_KEY
    key = os.environ.get(settings.api_key_env, "").strip()
    if not key:
        raise InputError(f"{section}.api_key_env", f"the environment variable {settings.api_key_env} is not set")
    return key


def _limiter(per_minute: float) -> AsyncLimiter:
    """Lets a second's worth through at once, or one request, not a whole minute's."""
    per_s = per_minute / 60
    return AsyncLimiter(max(1.0, per_s), max(1.0, 1 / per_s))


def _samples(response: Any) -> list[Sample]:
    """The choices of a response; none when it is no completion (the SDK does not validate what a server sends)."""
    choices = getattr(response, "choices", None)
    if not isinstance(choices, list):
        return []
    usage = getattr(response, "usage", None)
    prompt_tokens, completion_tokens = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    samples: list[Sample] = []
    for position, choice in enumerate(choices):
        holder = getattr(choice, "message", None) or choice
        if not hasattr(holder, "content") and not hasattr(holder, "text"):
            return []
        text = getattr(holder, "content", None) or getattr(holder, "text", None)
        share, rest = divmod(completion_tokens, len(choices))
        samples.append(
            Sample(
                text if isinstance(text, str) else None,
                str(getattr(choice, "finish_reason", None) or ""),
                prompt_tokens if position == 0 else 0,
                share + (rest if position == 0 else 0),
            )
        )
    return samples


def _count(usage: object, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) else 0
