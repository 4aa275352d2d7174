"""From what the image saw of a check's end to a `CheckResult`: whose fault it was, and what the report says.

A check that ran out of its time, memory, stack or output, or made Lean panic, brought that upon itself: evidence. One
whose process was killed by somebody else, or failed by a fault of ours, has no verdict: `KernelUnavailable`.
"""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from typing import Any

from rlmath.errors import KernelUnavailable
from rlmath.kernel.embedded.child import BROKEN
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.embedded.wire import End, Outcome, Piece, parts
from rlmath.kernel.protocol import AuditVerdict, CheckResult, GateVerdict, Message

STACK, MEMORY, PANIC, OUTPUT, MALFORMED = "stack overflow", "memory", "PANIC", "output limit", "malformed report"
TOO_LONG = "more text than a check may have"

ABORTED = int(signal.SIGABRT)
"""Exit code in place of death by SIGABRT, see `system.exiting_when_aborted`."""

OUTSIDE_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
"""Signals that nothing a check does raises by itself."""


def result_of(outcome: Outcome, limits: Limits, timeout_s: float, *, gated: bool) -> CheckResult:
    """The result of a check. Raises `KernelUnavailable` when its end says nothing about its text.

    A whole report of a `gated` source must hold the gate's verdict, unless it stopped at the context.
    """
    timed_out = outcome.end is End.TIMED_OUT
    crashed: str | None = None
    if outcome.end is End.FLOODED:
        crashed = OUTPUT
    elif outcome.end is End.DIED:
        cause = cause_of_death(outcome, limits, timeout_s)
        timed_out = cause == "time"
        crashed = None if timed_out else cause
    try:
        result = _read_report(outcome, timed_out, crashed)
        if gated and outcome.end is End.REPORTED and result.gate is None and result.context_error is None:
            raise ValueError("no verdict of the gate")
        return result
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
        return CheckResult(crashed=crashed or MALFORMED, timed_out=timed_out, elapsed_s=outcome.elapsed_s)


def export_of(outcome: Outcome) -> bytes | None:
    """The new constants that a check exported; None when none came, or not whole."""
    if outcome.end is not End.REPORTED:
        return None
    return next((payload for kind, payload in parts(outcome.report) if kind == Piece.EXPORT), None)


def verdict_of(outcome: Outcome, limits: Limits, timeout_s: float) -> AuditVerdict:
    """A judge's verdict. One that came to its end without a word ran out of something that the submission made it use
    up: refused. Raises `KernelUnavailable` when its end says nothing about the submission."""
    if outcome.end is End.REPORTED:
        for kind, payload in parts(outcome.report):
            if kind == Piece.VERDICT:
                said = json.loads(payload)
                export = export_of(outcome)
                return AuditVerdict(
                    **{
                        **said,
                        "axioms": tuple(said["axioms"]),
                        "exported": None if export is None else export.decode("utf-8"),
                    }
                )
        raise KernelUnavailable("the judge reported no verdict")
    if outcome.end is End.DIED:
        cause = cause_of_death(outcome, replace(limits, memory_bytes=limits.judge_memory_bytes), timeout_s)
    else:
        cause = "time" if outcome.end is End.TIMED_OUT else OUTPUT
    return AuditVerdict(False, "resources", f"the judge came to its end: {cause}")


def cause_of_death(outcome: Outcome, limits: Limits, timeout_s: float) -> str:
    """Why a check's process ended without a whole report: `time`, or what `CheckResult.crashed` says.

    Raises `KernelUnavailable` when the check is not to blame.
    """
    code = os.waitstatus_to_exitcode(outcome.wait_status)
    said = outcome.stderr.decode("utf-8", "replace")
    if code == ABORTED:
        code = -signal.SIGABRT
    if code >= 0:
        if _out_of_memory(said):
            return MEMORY
        if code == BROKEN:
            raise KernelUnavailable(f"the check failed inside the kernel, by no fault of its text: {said[-2000:]}")
        return f"exit code {code}"
    number = -code
    if "failed to create thread" in said and outcome.grown_bytes < limits.memory_bytes // 4:
        raise KernelUnavailable(f"this machine gives a check no threads: {said[-200:]}")
    if number == signal.SIGXCPU or (number == signal.SIGKILL and outcome.cpu_s > timeout_s + 1):
        return "time"
    if number == signal.SIGKILL and outcome.grown_bytes > limits.memory_bytes // 2:
        return MEMORY
    if number in OUTSIDE_SIGNALS:
        raise KernelUnavailable(f"the check's process was killed from outside ({signal.Signals(number).name})")
    if "Stack overflow detected" in said:
        return STACK
    if number == signal.SIGABRT:
        return MEMORY if _out_of_memory(said) else PANIC
    return f"signal {number}"


def _out_of_memory(said: str) -> bool:
    return any(sign in said for sign in ("out of memory", "Cannot allocate memory", "std::bad_alloc", "MemoryError"))


def _read_report(outcome: Outcome, timed_out: bool, crashed: str | None) -> CheckResult:
    """Raises ValueError, KeyError, TypeError, ArithmeticError or RecursionError on a report that is not one."""
    messages: list[Message] = []
    axioms: list[Message] = []
    gate: GateVerdict | None = None
    context_error: str | None = None
    timings = {"queue": outcome.queued_s}
    for kind, payload in parts(outcome.report):
        if kind == Piece.MESSAGE:
            messages.append(_message(json.loads(payload)))
        elif kind == Piece.AXIOMS:
            axioms.append(_message(json.loads(payload)))
        elif kind == Piece.GATE:
            gate = GateVerdict(**json.loads(payload))
        elif kind == Piece.CONTEXT_ERROR:
            error = _message(json.loads(payload))
            context_error = f"{error.line}:{error.column}: {error.text}"
        elif kind == Piece.TIMINGS:
            timings |= _timings(json.loads(payload))
        elif kind == Piece.FULL:
            crashed = crashed or OUTPUT
    return CheckResult(
        messages=tuple(messages),
        gate=gate,
        axioms_line=axioms[0].text if [m.severity for m in axioms] == ["information"] else None,
        context_error=context_error,
        timed_out=timed_out,
        crashed=crashed,
        elapsed_s=outcome.elapsed_s,
        timings=timings,
    )


def _timings(raw: Any) -> dict[str, float]:
    if not isinstance(raw, dict):
        raise ValueError("no clocks")
    return {str(name): nanoseconds / 1e9 for name, nanoseconds in raw.items()}


def _message(raw: dict[str, Any]) -> Message:
    severity, text, position, kind = raw["severity"], raw["data"], raw["pos"], raw["kind"]
    if severity not in ("error", "warning", "information") or not isinstance(text, str):
        raise ValueError("not a message of Lean")
    kind = "" if kind == "[anonymous]" else str(kind)
    end = raw.get("endPos") or {"line": None, "column": None}
    ends = [None if end[key] is None else int(end[key]) for key in ("line", "column")]
    return Message(severity, text, int(position["line"]), int(position["column"]), kind, *ends)
