"""The kernel around a Lean whose verdicts no clean process audits: the same for REPLs, Kimina servers and one-shot
`lean`.

What stands between a submission and `verified` here: the lexical gate (`lexical_gate.py`), the axiom report and the
statement, both asked for in a text of ours after the submission's and compared with what the goal's own check gave,
and a wire on which an answer is known by a nonce. All of it is the word of the process that ran the submission. So such
a kernel scores plans only when its configuration says so, and says itself, on every verdict, that it is unaudited.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Protocol, Self

from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel import lexical_gate
from rlmath.kernel.audit.certify import complaint, stands
from rlmath.kernel.lean_reply import Answer, Question
from rlmath.kernel.protocol import AuditVerdict, Certificate, CheckResult, GateVerdict, Message, Source
from rlmath.sanitize import AXIOM_WHITELIST, parse_axioms
from rlmath.types import KernelIdentity

UNAUDITED: Final = "unaudited"
"""Stands in the kernel's name on every verdict."""
STATEMENTS_KEPT: Final = 4_096
"""Goals whose statement is remembered."""


@dataclass(frozen=True)
class Ran:
    """What became of a source on a backend."""

    messages: tuple[Message, ...] = ()
    answer: Answer | None = None
    """To the question; None when there is none because of one of the next three."""
    context_error: str | None = None
    timed_out: bool = False
    crashed: str | None = None
    elapsed_s: float = 0.0
    timings: dict[str, float] = field(default_factory=dict)


class Backend(Protocol):
    """A Lean that runs texts. It belongs to the event loop that started it."""

    @property
    def kind(self) -> str:
        """`repl`, `kimina` or `toolchain`."""
        ...

    @property
    def lean_version(self) -> str:
        """E.g. `4.35.0`. Known once started."""
        ...

    @property
    def environment(self) -> str:
        """Names libraries and header. Known once started."""
        ...

    @property
    def restarts(self) -> int:
        """Processes started to take another's place."""
        ...

    async def start(self) -> None:
        """Raises `KernelUnavailable`. May be called again."""
        ...

    async def aclose(self) -> None:
        """Nothing is left running. May be called again."""
        ...

    async def run(self, source: Source, question: Question, timeout_s: float) -> Ran:
        """Elaborate context and command, then ask. Raises `KernelUnavailable` on any doubt about what it hears."""
        ...


@dataclass(frozen=True)
class Activity:
    """See `rlmath.kernel.select.KernelActivity`."""

    slots: int
    checks: int
    timed_out: int
    crashed: int
    unavailable: int
    in_flight: int
    restarts: int
    image_pid: int | None = None
    warden_pid: int | None = None


class UnauditedKernel:
    """A backend behind the `OwnedKernel` protocol."""

    def __init__(self, backend: Backend, *, slots: int | None, accept_unaudited: bool) -> None:
        """`slots`: checks at the same time (None: the cores of this process). `accept_unaudited`: see
        `UnauditedSection`. Raises `InputError`."""
        slots = len(os.sched_getaffinity(0)) if slots is None else slots
        if isinstance(slots, bool) or not isinstance(slots, int) or not 1 <= slots <= 1024:
            raise InputError("slots", f"must be a whole number from 1 to 1024, got {slots!r}")
        self.slots = slots
        self._backend = backend
        self._accept = accept_unaudited
        self._free = asyncio.Semaphore(slots)
        self._statements: OrderedDict[Source, str] = OrderedDict()
        self._checks = self._timed_out = self._crashed = self._unavailable = self._in_flight = 0

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def start(self) -> None:
        """See `OwnedKernel`."""
        await self._backend.start()

    async def aclose(self) -> None:
        """See `OwnedKernel`."""
        await self._backend.aclose()

    @property
    def identity(self) -> KernelIdentity:
        """See `Kernel`. Known once started."""
        backend = self._backend
        return KernelIdentity(f"{backend.kind} ({UNAUDITED})", backend.lean_version, backend.environment)

    def stats(self) -> Activity:
        """See `OwnedKernel`."""
        return Activity(
            slots=self.slots,
            checks=self._checks,
            timed_out=self._timed_out,
            crashed=self._crashed,
            unavailable=self._unavailable,
            in_flight=self._in_flight,
            restarts=self._backend.restarts,
        )

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        """See `Kernel`. Raises `KernelUnavailable` for a plan's source unless `accept_unaudited`; `InputError` when
        trusted text is not valid Unicode or `timeout_s` is not positive."""
        result, _ = await self._check(source, timeout_s, about=source.axioms)
        return result

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        """See `Kernel`. There is no audit here: a theorem that stands as far as this kernel can tell is in
        `Certificate.unaudited`."""
        check, answer = await self._check(source, timeout_s, about=True)
        if not stands(check) or check.sorries:
            return Certificate(check, None)
        wanted = await self._statement(reference, timeout_s)
        if answer is None or answer.statement != wanted:
            return Certificate(check, AuditVerdict(False, "statement", "what was declared states something else"))
        axioms = parse_axioms(reference.declaration or "", answer.axioms_line or "")
        if axioms is None:
            return Certificate(check, AuditVerdict(False, "axioms", "the axiom report is not believable"))
        if foreign := sorted(set(axioms) - AXIOM_WHITELIST):
            return Certificate(check, AuditVerdict(False, "axioms", f"it rests on the axiom {foreign[0]}"))
        return Certificate(check, None, unaudited=tuple(sorted(axioms)))

    async def _check(self, source: Source, timeout_s: float, *, about: bool) -> tuple[CheckResult, Answer | None]:
        """`about`: whether to ask about what the source declares."""
        if not timeout_s > 0:
            raise InputError("timeout_s", f"must be more than 0 seconds, got {timeout_s!r}")
        gate: GateVerdict | None = None
        if source.template is not None:
            if not self._accept:
                raise KernelUnavailable(
                    f"the {self._backend.kind} kernel has no audit, so it scores no plans; set accept_unaudited = true "
                    "in its section to let `verified` rest on Lean's own word"
                )
            gate = lexical_gate.judge(source)
            if not gate.ok:
                return CheckResult(gate=gate), None
        _refuse_surrogates(source)
        question = Question(source.declaration if about else None, f"rlmath_{secrets.token_hex(16)}")
        waiting = time.perf_counter()
        async with self._free:
            queued = time.perf_counter() - waiting
            self._in_flight += 1
            try:
                ran = await self._backend.run(source, question, timeout_s)
            except KernelUnavailable:
                self._unavailable += 1
                raise
            finally:
                self._in_flight -= 1
        self._checks += 1
        self._timed_out += ran.timed_out
        self._crashed += ran.crashed is not None
        if gate is not None and (unparsed := lexical_gate.parse_error(source, ran.messages)) is not None:
            return CheckResult(gate=unparsed, elapsed_s=ran.elapsed_s, timings={"queue": queued, **ran.timings}), None
        return (
            CheckResult(
                messages=ran.messages,
                gate=gate,
                axioms_line=ran.answer.axioms_line if ran.answer is not None and source.axioms else None,
                context_error=ran.context_error,
                timed_out=ran.timed_out,
                crashed=ran.crashed,
                elapsed_s=ran.elapsed_s,
                timings={"queue": queued, **ran.timings},
            ),
            ran.answer,
        )

    async def _statement(self, reference: Source, timeout_s: float) -> str:
        """What the goal's own check says that it states. Raises `InputError` when the goal does not stand."""
        if (known := self._statements.get(reference)) is not None:
            self._statements.move_to_end(reference)
            return known
        result, answer = await self._check(reference, timeout_s, about=True)
        if not stands(result) or answer is None or answer.statement is None:
            raise InputError("reference", complaint(result))
        self._statements[reference] = answer.statement
        if len(self._statements) > STATEMENTS_KEPT:
            self._statements.popitem(last=False)
        return answer.statement


def _refuse_surrogates(source: Source) -> None:
    try:
        f"{source.context}{source.command}".encode()
    except UnicodeEncodeError:
        raise InputError("source", "holds a lone surrogate, which is no character") from None
