"""From bytes and wait statuses to results: whose fault an end was, and that no report can do more than be malformed."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmath.errors import KernelUnavailable
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.embedded.outcome import cause_of_death, result_of
from rlmath.kernel.embedded.selftest import PROBES, run_self_test, theorem
from rlmath.kernel.embedded.wire import (
    End,
    FromImage,
    Outcome,
    Piece,
    ToImage,
    decode_source,
    encode_source,
    frame,
    part,
    parts,
    result_head,
    take_frames,
)
from rlmath.kernel.protocol import CheckResult, GateVerdict, Message, Part, Source

LIMITS = Limits(memory_bytes=1 << 30)


def outcome(
    end: End, report: bytes = b"", *, status: int = 0, stderr: bytes = b"", cpu_s: float = 0.1, rss: int = 1 << 20
) -> Outcome:
    return Outcome(end, status, 1.0, 0.5, cpu_s, rss, stderr, report)


def message(text: str, severity: str = "error", kind: str = "[anonymous]") -> bytes:
    return json.dumps({"severity": severity, "data": text, "pos": {"line": 3, "column": 1}, "kind": kind}).encode()


@pytest.mark.parametrize(
    ("status", "stderr", "cause"),
    [
        (signal.SIGABRT, b"\nStack overflow detected. Aborting.\n", "stack overflow"),
        (signal.SIGABRT, b"INTERNAL PANIC: unreachable code", "PANIC"),
        (signal.SIGABRT, b"", "PANIC"),
        (signal.SIGABRT, b"terminating due to uncaught exception of type std::bad_alloc", "memory"),
        (signal.SIGABRT, b"GNU MP: Cannot allocate memory (size=500000008)\n", "memory"),
        (1 << 8, b"INTERNAL PANIC: out of memory", "memory"),
        (70 << 8, b"MemoryError", "memory"),
        (3 << 8, b"", "exit code 3"),
        (signal.SIGSEGV, b"", "signal 11"),
        (signal.SIGBUS, b"", "signal 7"),
        (signal.SIGXFSZ, b"", "signal 25"),
        (signal.SIGXCPU, b"", "time"),
    ],
)
def test_an_end_that_the_text_brought_about(status: int, stderr: bytes, cause: str) -> None:
    assert cause_of_death(outcome(End.DIED, status=status, stderr=stderr), LIMITS, 5.0) == cause


@pytest.mark.parametrize(
    ("cpu_s", "rss", "cause"), [(7.0, 1 << 20, "time"), (0.1, 900 << 20, "memory"), (0.1, 1 << 20, None)]
)
def test_a_kill_that_the_image_did_not_send(cpu_s: float, rss: int, cause: str | None) -> None:
    killed = outcome(End.DIED, status=signal.SIGKILL, cpu_s=cpu_s, rss=rss)
    if cause is not None:
        assert cause_of_death(killed, LIMITS, 5.0) == cause
        return
    with pytest.raises(KernelUnavailable, match="SIGKILL"):
        cause_of_death(killed, LIMITS, 5.0)


@pytest.mark.parametrize(
    ("status", "stderr"),
    [
        (signal.SIGTERM, b""),
        (signal.SIGHUP, b""),
        (signal.SIGINT, b""),
        (70 << 8, b"Traceback: KeyError"),
        (signal.SIGABRT, b"uncaught exception of type lean::exception: failed to create thread"),
    ],
)
def test_an_end_that_says_nothing_about_the_text(status: int, stderr: bytes) -> None:
    with pytest.raises(KernelUnavailable):
        result_of(outcome(End.DIED, status=status, stderr=stderr), LIMITS, 5.0, gated=False)


def test_a_whole_report() -> None:
    report = b"".join(
        [
            part(Piece.READY),
            part(Piece.GATE, json.dumps({"ok": True}).encode()),
            part(Piece.MESSAGE, message("one")),
            part(Piece.MESSAGE, message("declaration uses `sorry`", "warning", "hasSorry")),
            part(Piece.AXIOMS, message("'t' depends on axioms: [propext]", "information")),
            part(Piece.TIMINGS, b'{"gate": 250000000}'),
            part(Piece.END),
        ]
    )
    result = result_of(outcome(End.REPORTED, report), LIMITS, 5.0, gated=False)
    assert result == CheckResult(
        messages=(Message("error", "one", 3, 1), Message("warning", "declaration uses `sorry`", 3, 1, "hasSorry")),
        gate=GateVerdict(True),
        axioms_line="'t' depends on axioms: [propext]",
        elapsed_s=1.0,
    )
    assert result.timings == {"queue": 0.5, "gate": 0.25}


def test_what_was_reported_before_the_end_is_kept() -> None:
    report = part(Piece.READY) + part(Piece.GATE, json.dumps({"ok": True}).encode())
    crashed = result_of(outcome(End.DIED, report, status=signal.SIGSEGV), LIMITS, 5.0, gated=False)
    assert crashed.gate == GateVerdict(True)
    assert crashed.crashed == "signal 11"
    late = result_of(outcome(End.TIMED_OUT, report + part(Piece.MESSAGE, message("x"))[:-1]), LIMITS, 5.0, gated=False)
    assert late.gate == GateVerdict(True)
    assert late.timed_out
    assert late.messages == ()


def test_a_report_that_was_cut_off_has_crashed() -> None:
    report = part(Piece.MESSAGE, message("one")) + part(Piece.FULL) + part(Piece.END)
    assert result_of(outcome(End.REPORTED, report), LIMITS, 5.0, gated=False).crashed == "output limit"
    assert result_of(outcome(End.FLOODED), LIMITS, 5.0, gated=False).crashed == "output limit"


@pytest.mark.parametrize(
    "axioms",
    [
        [],
        [message("'t' depends on axioms: [propext]", "error")],
        [message("'t' does not depend on any axioms", "information")] * 2,
    ],
)
def test_an_axioms_line_that_is_not_one(axioms: Iterable[bytes]) -> None:
    report = b"".join(part(Piece.AXIOMS, a) for a in axioms) + part(Piece.END)
    assert result_of(outcome(End.REPORTED, report), LIMITS, 5.0, gated=False).axioms_line is None


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        message("x", "verified"),
        b'{"severity":"error","data":1,"pos":{"line":1,"column":0},"kind":""}',
        b'{"severity":"error","data":"x","pos":7,"kind":""}',
    ],
)
def test_a_malformed_message_is_a_crash_not_an_exception(payload: bytes) -> None:
    report = part(Piece.MESSAGE, payload) + part(Piece.END)
    assert result_of(outcome(End.REPORTED, report), LIMITS, 5.0, gated=False).crashed == "malformed report"


@pytest.mark.parametrize("payload", [b"", b"0", b"[]", b'{"gate": "x"}', b'{"gate": null}', b'{"gate": %d}' % 10**400])
def test_malformed_clocks_are_a_crash_not_an_exception(payload: bytes) -> None:
    report = part(Piece.TIMINGS, payload) + part(Piece.END)
    assert result_of(outcome(End.REPORTED, report), LIMITS, 5.0, gated=False).crashed == "malformed report"


def test_a_report_without_the_gates_verdict_is_malformed() -> None:
    report = part(Piece.READY) + part(Piece.END)
    assert result_of(outcome(End.REPORTED, report), LIMITS, 5.0, gated=True).crashed == "malformed report"
    stopped = part(Piece.CONTEXT_ERROR, message("Unknown identifier")) + part(Piece.END)
    assert result_of(outcome(End.REPORTED, stopped), LIMITS, 5.0, gated=True).context_error == "3:1: Unknown identifier"


@given(st.lists(st.tuples(st.sampled_from([*Piece, 0, 99]), st.binary(max_size=60))), st.binary(max_size=8))
def test_no_report_raises(pieces: list[tuple[int, bytes]], tail: bytes) -> None:
    report = b"".join(bytes([kind]) + len(payload).to_bytes(4, "little") + payload for kind, payload in pieces) + tail
    result = result_of(outcome(End.REPORTED, report), LIMITS, 5.0, gated=False)
    assert not result.timed_out


# -- the wire


@given(
    st.lists(st.tuples(st.sampled_from(list(ToImage)), st.integers(0, 2**64 - 1), st.binary(max_size=40))),
    st.integers(1, 17),
)
def test_frames_survive_any_chopping(frames: list[tuple[ToImage, int, bytes]], size: int) -> None:
    stream = b"".join(frame(*f) for f in frames)
    buffer = bytearray()
    got = []
    for at in range(0, len(stream), size):
        buffer += stream[at : at + size]
        got += list(take_frames(buffer))
    assert got == frames
    assert not buffer


def test_a_broken_stream_is_noticed() -> None:
    with pytest.raises(ValueError, match="frame"):
        list(take_frames(bytearray(b"\xff" * 40)))


@given(st.lists(st.tuples(st.sampled_from(list(Piece)), st.binary(max_size=40))), st.integers(0, 60))
def test_parts_of_a_cut_report_are_a_prefix(pieces: list[tuple[Piece, bytes]], cut: int) -> None:
    whole = b"".join(part(*p) for p in pieces)
    assert list(parts(whole)) == pieces
    got = list(parts(whole[: max(len(whole) - cut, 0)]))
    assert got == pieces[: len(got)]


@given(st.binary(max_size=50), st.binary(max_size=50), st.floats(0, 1e6), st.integers(0, 2**63))
def test_outcomes_survive_the_wire(stderr: bytes, report: bytes, seconds: float, rss: int) -> None:
    sent = Outcome(End.DIED, 9, seconds, 0.0, seconds, rss, stderr, report)
    head = result_head(
        7,
        End.DIED,
        wait_status=9,
        elapsed_s=seconds,
        queued_s=0.0,
        cpu_s=seconds,
        grown_bytes=rss,
        stderr_length=len(stderr),
        report_length=len(report),
    )
    ((kind, check, payload),) = take_frames(bytearray(head + stderr + report))
    assert (kind, check) == (FromImage.RESULT, 7)
    assert Outcome.decode(payload) == sent


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(text, text, st.none() | text, st.lists(st.builds(Part, text, text, text, st.integers(), st.integers())), text)
def test_sources_survive_the_wire(command: str, context: str, template: str | None, ps: list[Part], name: str) -> None:
    source = Source(command, context, template, tuple(ps), name, axioms=True)
    assert decode_source(encode_source(source)) == source


# -- the self-test


@pytest.mark.parametrize("probe", PROBES, ids=[p.name for p in PROBES])
async def test_each_probe_notices_a_kernel_that_says_yes_or_no_to_everything(probe: object) -> None:
    (index,) = [i for i, p in enumerate(PROBES) if p is probe]
    yes = CheckResult(gate=GateVerdict(True), axioms_line="'probe' does not depend on any axioms")
    shut = CheckResult(gate=GateVerdict(False, "part", "x", "no"))
    crashed = CheckResult(crashed="PANIC")
    noticed = [PROBES[index].problem(result) is not None for result in (yes, shut, crashed)]
    assert noticed[2]
    assert any(noticed[:2])


async def test_a_kernel_that_fails_one_probe_refuses_to_score() -> None:
    async def says_yes(source: Source, timeout_s: float) -> CheckResult:
        return CheckResult(gate=GateVerdict(True), axioms_line="'probe' does not depend on any axioms")

    with pytest.raises(KernelUnavailable, match="self-test `proof by simp`"):
        await run_self_test(says_yes)


def test_the_probes_source_is_its_template_filled() -> None:
    source = theorem("1 = 1", "rfl\nrfl")
    filled = source.template
    assert filled is not None
    for piece in source.parts:
        filled = filled.replace(piece.hole, piece.text)
    assert filled == source.command
