"""One warm REPL: the header elaborated once, each check run on what came of it, and every reply confirmed."""

from __future__ import annotations

import secrets
import signal
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from rlmath.blank import is_blank
from rlmath.errors import KernelUnavailable
from rlmath.kernel.lean_reply import Answer, Question, Reply, read_reply
from rlmath.kernel.protocol import Source
from rlmath.kernel.repl_process import ProcessEnded, ReplProcess, WireDoubt
from rlmath.kernel.unaudited import Ran

ANSWER_TIMEOUT_S: Final = 30.0
"""For the question after a check, beyond the check's own time: looking up names and walking a proof."""
CONTEXTS_KEPT: Final = 64
"""Goals' contexts whose environment is remembered."""
OUTSIDE_SIGNALS: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
"""Signals that nothing a check does raises by itself."""


class Crashed(Exception):
    """The process ended under a check, by no signal from outside. Its argument says how."""


class ReplWorker:
    """A warm REPL. After any exception of `run`, a cancellation included, it must be killed."""

    def __init__(self, process: ReplProcess, header: int, echoes: bool) -> None:
        """`header`: the environment that the header left. `echoes`: the REPL names a file that it does not find."""
        self._process = process
        self._header = header
        self._echoes = echoes
        self._contexts: OrderedDict[str, int] = OrderedDict()
        self.checks = 0
        """How many it has taken."""

    @classmethod
    async def warm(cls, process: ReplProcess, header: str, timeout_s: float) -> ReplWorker:
        """Have the header elaborated. Raises `KernelUnavailable`, the process being killed, when that does not come to
        a good end in time."""
        try:
            started = time.monotonic()
            reply = read_reply(await process.request({"cmd": header}, timeout_s))
            if errors := [m for m in reply.messages if m.severity == "error"]:
                raise KernelUnavailable(f"the header does not elaborate: {errors[0].text}")
            if reply.environment is None:
                raise KernelUnavailable("the REPL names no environment")
            left = max(timeout_s - (time.monotonic() - started), 1.0)
            question = Question(None, f"rlmath_{secrets.token_hex(16)}")
            worker = cls(process, reply.environment, _echoed(question, await process.request(_echo(question), left)))
            await worker._ask(question, reply.environment, left)
            return worker
        except BaseException as error:
            await process.kill()
            if isinstance(error, TimeoutError):
                raise KernelUnavailable(f"the REPL was not ready after {timeout_s:g} s") from None
            if isinstance(error, ProcessEnded):
                how = f" (exit code {error.code})" if error.code is not None else ""
                raise KernelUnavailable(f"the REPL ended at its start{how}: {error.stderr.strip()[-1000:]}") from None
            if isinstance(error, WireDoubt | ValueError):
                raise KernelUnavailable(f"the REPL does not start: {error}") from None
            raise

    @property
    def usable(self) -> bool:
        """Whether it may take a check."""
        return self._process.usable

    @property
    def fresh(self) -> bool:
        """Whether it has taken none yet."""
        return self.checks == 0

    @property
    def pid(self) -> int:
        """Of the process that was started."""
        return self._process.pid

    def resident_bytes(self) -> int:
        """Memory of it and its children."""
        return self._process.resident_bytes()

    async def kill(self) -> None:
        """End it."""
        await self._process.kill()

    async def run(self, source: Source, question: Question, timeout_s: float) -> Ran:
        """See `Backend.run`. Raises `KernelUnavailable`, and `Crashed` when the check took the process with it.

        When the result says `timed_out` the process must be killed too."""
        self.checks += 1
        timings: dict[str, float] = {}
        try:
            started = time.perf_counter()
            base = self._header
            if not is_blank(source.context):
                context = await self._context(source.context, timeout_s)
                timings["context"] = time.perf_counter() - started
                if isinstance(context, str):
                    return Ran(context_error=context, elapsed_s=timings["context"], timings=timings)
                base = context
            begun = time.perf_counter()
            reply = await self._elaborate(source.command, base, timeout_s)
            timings["elaborate"] = time.perf_counter() - begun
        except TimeoutError:
            return Ran(timed_out=True, elapsed_s=time.perf_counter() - started, timings=timings)
        elapsed_s = time.perf_counter() - started
        begun = time.perf_counter()
        answer = await self._ask(question, reply.environment, ANSWER_TIMEOUT_S)
        timings["confirm"] = time.perf_counter() - begun
        return Ran(reply.messages, answer, elapsed_s=elapsed_s, timings=timings)

    async def _context(self, text: str, timeout_s: float) -> int | str:
        """The environment that a context leaves, or its first error."""
        if (known := self._contexts.get(text)) is not None:
            self._contexts.move_to_end(text)
            return known
        reply = await self._elaborate(text, self._header, timeout_s)
        if errors := [m for m in reply.messages if m.severity == "error"]:
            await self._ask(Question(None, f"rlmath_{secrets.token_hex(16)}"), reply.environment, ANSWER_TIMEOUT_S)
            return f"{errors[0].line}:{errors[0].column}: {errors[0].text}"
        if reply.environment is None:
            raise KernelUnavailable("the REPL names no environment")
        self._contexts[text] = reply.environment
        if len(self._contexts) > CONTEXTS_KEPT:
            self._contexts.popitem(last=False)
        return reply.environment

    async def _elaborate(self, text: str, base: int, timeout_s: float) -> Reply:
        try:
            return read_reply(await self._process.request({"cmd": text, "env": base}, timeout_s))
        except (WireDoubt, ValueError) as doubt:
            raise KernelUnavailable(f"the REPL answered out of turn: {doubt}") from None
        except ProcessEnded as end:
            raise blame(end) from None

    async def _ask(self, question: Question, environment: int | None, timeout_s: float) -> Answer:
        """Ask in the environment that a reply named. Only with its answer the reply counts."""
        try:
            if question.declaration is None and self._echoes:
                echo = await self._process.request(_echo(question), timeout_s)
                answer = Answer(None, None) if _echoed(question, echo) else None
            else:
                request = {"cmd": question.text, "env": environment}
                answer = question.answer(read_reply(await self._process.request(request, timeout_s)).messages)
        except TimeoutError:
            raise KernelUnavailable(f"the REPL did not answer within {timeout_s:g} s after a check") from None
        except (WireDoubt, ValueError) as doubt:
            raise KernelUnavailable(f"the REPL answered out of turn: {doubt}") from None
        except ProcessEnded as end:
            raise KernelUnavailable(f"the REPL ended after a check: exit code {end.code}") from None
        if answer is None:
            raise KernelUnavailable("the REPL answered out of turn: what it said is not about what it was asked")
        return answer


def _echo(question: Question) -> dict[str, Any]:
    """A request that costs no elaboration and leaves no environment: a REPL tells which file it did not find."""
    return {"path": f"/nowhere/{question.nonce}.lean"}


def _echoed(question: Question, reply: Mapping[str, Any]) -> bool:
    return list(reply) == ["message"] and question.nonce in str(reply["message"])


def blame(end: ProcessEnded) -> Crashed | KernelUnavailable:
    """Whose fault it is that the process ended under a check."""
    code = end.code
    if code is not None and 128 < code < 128 + 65:
        code = 128 - code  # `lake env` and shells tell a signal so
    if code is None or -code in OUTSIDE_SIGNALS:
        how = signal.Signals(-code).name if code is not None else "it closed its output"
        return KernelUnavailable(f"the REPL was ended from outside ({how})")
    if any(sign in end.stderr for sign in ("out of memory", "Cannot allocate memory", "std::bad_alloc")):
        return Crashed("memory")
    if "Stack overflow detected" in end.stderr:
        return Crashed("stack overflow")
    if "PANIC" in end.stderr and code == -signal.SIGABRT:
        return Crashed("PANIC")
    return Crashed(f"signal {-code}" if code < 0 else f"exit code {code}")
