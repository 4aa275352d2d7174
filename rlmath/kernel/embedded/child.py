"""What a forked child does: confine itself, get ready, take one job, report, and end. It serves one check, or judges
one export, and no more."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeVar

from rlmath.blank import is_blank
from rlmath.kernel.audit.base import Base
from rlmath.kernel.audit.export import Exporter
from rlmath.kernel.audit.judge import judge
from rlmath.kernel.embedded import gate
from rlmath.kernel.embedded.confine import Confinement, confine_job, confine_judge
from rlmath.kernel.embedded.elaborator import Elaborator, Parsed, State
from rlmath.kernel.embedded.ffi import LeanError, Obj, byte_length, field, raw_text
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.embedded.wire import JOB, JobKind, Piece, Trial, decode_source, decode_trial, encode_source, part
from rlmath.kernel.protocol import Source

Result = TypeVar("Result")

BROKEN = 70
"""Exit code of a child that failed by a fault of ours, not of the text it was given."""


@dataclass(frozen=True)
class Tools:
    """What a child inherits from the image."""

    elaborator: Elaborator
    exporter: Exporter
    base: Base


def serve(tools: Tools, limits: Limits, confinement: Confinement, *, job: int, result: int, stderr: int) -> NoReturn:
    """Serve one check read from the pipe `job`, reporting to the pipe `result`. Never returns; the process ends."""
    code = BROKEN
    try:
        confinement.take(keep=(job, result), stderr=stderr)
        tools.elaborator.lean.start_tasks()
        state = tools.elaborator.fresh()
        report = Report(result, limits)
        report.add(Piece.READY)
        report.send()
        if (task := _read_job(job)) is not None:
            kind, payload, timeout_s = task
            confine_job(timeout_s)
            if kind == JobKind.JUDGE:
                confine_judge(limits)
                _judge(tools, decode_trial(payload), report)
            else:
                exporter = tools.exporter if kind == JobKind.EXPORT else None
                with contextlib.suppress(ReportFull):
                    _check(tools.elaborator, state, decode_source(payload), report, exporter)
            report.add(Piece.END)
            report.send()
        code = 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(code)


class ReportFull(Exception):
    """The report has reached its limits."""


class Report:
    """The way out: everything a child says goes through here, counted."""

    def __init__(self, fd: int, limits: Limits) -> None:
        self._fd = fd
        self._limits = limits
        self._bytes_left = limits.result_bytes
        self._messages_left = limits.messages
        self._unsent: list[bytes] = []

    def add(self, kind: Piece, payload: bytes = b"") -> None:
        """One more part, for the next `send`."""
        self._unsent.append(part(kind, payload))

    def send(self) -> None:
        """Write what was added since the last time. One write wakes the warden once, so as few as can be: when the
        warden waits for it, and before Lean gets to run again and might be killed, or worse, with it unsaid."""
        rest = b"".join(self._unsent)
        self._unsent.clear()
        while rest:
            rest = rest[os.write(self._fd, rest) :]

    def message(self, kind: Piece, json_text: Obj) -> None:
        """Add a message's JSON. Raises `ReportFull`, having said so, when it is more than the limits allow."""
        self._bytes_left -= byte_length(json_text)
        self._messages_left -= 1
        if self._bytes_left < 0 or self._messages_left < 0:
            self.add(Piece.FULL)
            raise ReportFull
        self.add(kind, raw_text(json_text))

    def export(self, constants: bytes) -> None:
        """Add the new constants. Raises `ReportFull`, having said so, when they are more than the limits allow."""
        if len(constants) > self._limits.export_bytes:
            self.add(Piece.FULL)
            raise ReportFull
        self.add(Piece.EXPORT, constants)


def _read_job(fd: int) -> tuple[int, bytes, float] | None:
    """The job, or None when there is none to come."""
    data = bytearray()
    needed = JOB.size
    while len(data) < needed:
        piece = os.read(fd, 1 << 16)
        if not piece:
            return None
        data += piece
        if needed == JOB.size and len(data) >= JOB.size:
            needed += JOB.unpack_from(data)[0]
    _, timeout_s, kind = JOB.unpack_from(data)
    return kind, bytes(data[JOB.size :]), timeout_s


def _judge(tools: Tools, trial: Trial, report: Report) -> None:
    verdict = judge(tools.elaborator.lean, tools.base, trial)
    if verdict.exported is not None:
        report.add(Piece.EXPORT, verdict.exported.encode())
    report.add(Piece.VERDICT, json.dumps({**vars(verdict), "exported": None}).encode())


def _check(elaborator: Elaborator, state: State, source: Source, report: Report, exporter: Exporter | None) -> None:
    """Context, gate, command, axioms, export, as far as the one before lets the next."""
    timings: dict[str, int] = {}

    def timed(name: str, do: Callable[..., Result], *arguments: Any) -> Result:
        began = time.perf_counter_ns()
        result = do(*arguments)
        timings[name] = time.perf_counter_ns() - began
        return result

    try:
        # Lean's parser expects a command wherever it is not at the very end.
        if source.context and not is_blank(source.context):
            state, messages = timed("context", elaborator.run, state, source.context)
            if (error := _first_error(elaborator, messages)) is not None:
                report.message(Piece.CONTEXT_ERROR, error)
                return
        parsed: Parsed | None = None
        if source.template is not None:
            verdict, parsed = timed("gate", gate.judge, elaborator, state, source)
            report.add(Piece.GATE, gate.encode(verdict))
            report.send()
            if parsed is None:
                return
        if parsed is None:
            state, messages = timed("elaborate", elaborator.run, state, source.command)
        else:
            state, messages = timed("elaborate", elaborator.elaborate, state, parsed)
        for message in messages:
            report.message(Piece.MESSAGE, elaborator.message_json(message))
        if source.axioms and source.declaration is not None:
            report.send()
            _, answers = timed("axioms", elaborator.run, state, f"#print axioms {source.declaration}")
            for answer in answers:
                report.message(Piece.AXIOMS, elaborator.message_json(answer))
        if exporter is not None and _first_error(elaborator, messages) is None:
            report.send()
            report.export(timed("export", exporter.new_constants, field(state, 0)))
    except LeanError as failure:
        report.add(Piece.MESSAGE, _as_message(str(failure)))
    finally:
        report.add(Piece.TIMINGS, _timings(timings))


REHEARSAL: Final = (
    "theorem by_term (p q : Prop) (hp : p) (hq : q) : p ∧ q := ⟨hp, hq⟩",
    "theorem by_simp (l : List Nat) : l ++ [] = l := by simp",
    "theorem by_omega (a b : Nat) (h : a ≤ b) : a < b + 1 := by omega",
    "theorem by_steps (n : Nat) : 0 + n = n := by\n  induction n with\n"
    "  | zero => rfl\n  | succ n ih => rw [← Nat.add_assoc, ih]",
    "#print axioms by_steps",
)
"""What most checks are like."""


def rehearse(tools: Tools) -> None:
    """Do what checks do, in a process of its own, whose memory then shows what of the library checks need."""
    elaborator = tools.elaborator
    elaborator.lean.start_tasks()
    state = elaborator.fresh()
    for command in REHEARSAL:
        state, messages = elaborator.run(state, command)
        for message in messages:
            elaborator.message_json(message)
    tools.exporter.new_constants(field(state, 0))


PRACTICE: Final = 32
"""Rounds. Python 3.11 begins to specialise a function when it has been called eight times."""


def practise(tools: Tools, confinement: Confinement, limits: Limits) -> None:
    """Do in the image, some times over, what children do before and after Lean's part. Python makes code that is called
    often faster by writing on it: a child would do that anew, on copies of its own (a twentieth of its page faults,
    measured)."""
    reader, writer = os.pipe()
    job = encode_source(Source(REHEARSAL[0], declaration="by_term", axioms=True))
    for _ in range(PRACTICE):
        confinement.practise()
        os.write(writer, JOB.pack(len(job), 1.0, JobKind.CHECK) + job)
        task = _read_job(reader)
        assert task is not None
        decode_source(task[1])
        tools.elaborator.fresh()
        report = Report(writer, limits)
        report.add(Piece.TIMINGS, _timings({"elaborate": time.perf_counter_ns()}))
        report.add(Piece.END)
        report.send()
        os.read(reader, 1 << 12)
    os.close(reader)
    os.close(writer)


def _timings(nanoseconds: dict[str, int]) -> bytes:
    """As JSON, without what its encoder needs of memory that a fresh child copies."""
    return ("{" + ",".join([f'"{name}":{count}' for name, count in nanoseconds.items()]) + "}").encode()


def _first_error(elaborator: Elaborator, messages: list[Obj]) -> Obj | None:
    """The JSON of the first error among `messages`, as a Lean string."""
    for message in messages:
        text = elaborator.message_json(message)
        if json.loads(raw_text(text))["severity"] == "error":
            return text
    return None


def _as_message(text: str) -> bytes:
    """An error that Lean raised instead of logging it, as the JSON of a message."""
    return json.dumps({"severity": "error", "data": text, "pos": {"line": 1, "column": 0}, "kind": ""}).encode()
