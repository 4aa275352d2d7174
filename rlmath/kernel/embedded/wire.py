"""The bytes between the owner, the image's warden and its children. Nothing here trusts what a child wrote.

Owner and warden exchange frames over one stream socket: header `FRAME` (payload length, kind, id of the check), then
the payload. A child gets its job as `JOB` (length, seconds, kind) and what `encode_source` or `encode_trial` made, and
reports in parts: header `PART` (kind, length), then the payload. The warden reads no more of a report than these
headers, and hands it on as it came.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from rlmath.kernel.protocol import Part, Source

FRAME = struct.Struct("<IBQ")
PART = struct.Struct("<BI")
JOB = struct.Struct("<IdB")
TRIAL = struct.Struct("<II")
OUTCOME = struct.Struct("<BidddQI")

_DECODER = json.JSONDecoder()
"""Its `raw_decode` is what `json.loads` comes to: the steps before it are memory that a fresh child would copy."""

MAX_FRAME = 256 << 20
"""A longer frame is taken for a broken stream."""


class ToImage(IntEnum):
    """Kinds of frames that the owner sends."""

    CHECK = 1
    """Payload: the job, as the child gets it."""
    CANCEL = 2
    """No payload. The check gets no RESULT, unless it is on its way already."""


class FromImage(IntEnum):
    """Kinds of frames that the image sends."""

    HELLO = 1
    """Payload: JSON. The environment is imported."""
    RESULT = 2
    """Payload: `Outcome`."""
    REFUSED = 3
    """Payload: text. The image cannot start, and ends."""


class JobKind(IntEnum):
    """What a child is to do."""

    CHECK = 1
    """Elaborate a source."""
    EXPORT = 2
    """Elaborate a source, and if there was no error export the new constants."""
    JUDGE = 3
    """Judge an export: see `Trial`."""


class Piece(IntEnum):
    """Kinds of parts of a child's report."""

    READY = 1
    """The child waits for a job. No payload."""
    GATE = 2
    """JSON of a gate verdict: written before anything of the command was elaborated."""
    CONTEXT_ERROR = 3
    """JSON of Lean's first error about the context."""
    MESSAGE = 4
    """JSON of one message, as Lean prints it."""
    AXIOMS = 5
    """JSON of the message of `#print axioms`."""
    TIMINGS = 6
    """JSON: nanoseconds by name."""
    FULL = 7
    """The report grew over its limits and was cut off. No payload."""
    END = 8
    """The report is whole. No payload."""
    EXPORT = 9
    """The new constants, in Lean's compacted form; of a judge, the accepted ones as text."""
    VERDICT = 10
    """JSON of a judge's verdict."""


class End(IntEnum):
    """How a check's process came to its end, as far as the image can say."""

    REPORTED = 1
    """It sent a whole report."""
    TIMED_OUT = 2
    """It was killed at its deadline."""
    DIED = 3
    """It ended without a whole report; `Outcome.wait_status` says how."""
    FLOODED = 4
    """It was killed because its report was too long."""


@dataclass(frozen=True)
class Outcome:
    """All that the image knows of a finished check."""

    end: End
    wait_status: int
    """As from waitpid; 0 unless DIED."""
    elapsed_s: float
    """Wall clock from handing over the job to the last byte."""
    queued_s: float
    """Wall clock the job waited in the image."""
    cpu_s: float
    """CPU time of the process and its children; 0.0 unless DIED."""
    grown_bytes: int
    """Most memory it had in use, beyond what the image hands on to each child; 0 unless DIED."""
    stderr: bytes
    """The end of what it wrote to its standard output and error."""
    report: bytes

    @classmethod
    def decode(cls, payload: bytes) -> Outcome:
        """From the payload of a RESULT frame."""
        end, status, elapsed, queued, cpu, rss, length = OUTCOME.unpack_from(payload)
        split = OUTCOME.size + length
        return cls(End(end), status, elapsed, queued, cpu, rss, payload[OUTCOME.size : split], payload[split:])


def frame(kind: ToImage | FromImage, check: int, payload: bytes = b"") -> bytes:
    """One frame of the owner's socket."""
    return FRAME.pack(len(payload), kind, check) + payload


def take_frames(buffer: bytearray) -> Iterator[tuple[int, int, bytes]]:
    """Take all whole frames (kind, check, payload) off the front of `buffer`. Raises ValueError on a broken stream."""
    while len(buffer) >= FRAME.size:
        length, kind, check = FRAME.unpack_from(buffer)
        if length > MAX_FRAME:
            raise ValueError(f"a frame of {length} bytes")
        if len(buffer) < FRAME.size + length:
            return
        payload = bytes(buffer[FRAME.size : FRAME.size + length])
        del buffer[: FRAME.size + length]
        yield kind, check, payload


def result_head(
    check: int,
    end: End,
    *,
    wait_status: int,
    elapsed_s: float,
    queued_s: float,
    cpu_s: float,
    grown_bytes: int,
    stderr_length: int,
    report_length: int,
) -> bytes:
    """A RESULT frame up to the standard error and the report, which follow. The arguments: see `Outcome`."""
    head = OUTCOME.pack(end, wait_status, elapsed_s, queued_s, cpu_s, grown_bytes, stderr_length)
    return FRAME.pack(len(head) + stderr_length + report_length, FromImage.RESULT, check) + head


def part(kind: Piece, payload: bytes = b"") -> bytes:
    """One part of a child's report."""
    return PART.pack(kind, len(payload)) + payload


def parts(report: bytes) -> Iterator[tuple[int, bytes]]:
    """The whole parts (kind, payload) of a report, as far as they go."""
    at = 0
    while at + PART.size <= len(report):
        kind, length = PART.unpack_from(report, at)
        at += PART.size
        if at + length > len(report):
            return
        yield kind, report[at : at + length]
        at += length


def encode_source(source: Source) -> bytes:
    """A source as a job's JSON. Raises UnicodeEncodeError when its text holds a lone surrogate, which Lean strings
    cannot."""
    pieces = [[p.hole, p.text, p.label, p.line, p.column, p.lines, p.declares] for p in source.parts]
    job: list[Any] = [source.command, source.context, source.template, pieces, source.declaration, source.axioms]
    return json.dumps(job, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def decode_source(job: bytes) -> Source:
    """The inverse of `encode_source`."""
    (command, context, template, pieces, declaration, axioms), _ = _DECODER.raw_decode(job.decode("utf-8"))
    return Source(command, context, template, tuple(Part(*p) for p in pieces), declaration, axioms)


@dataclass(frozen=True)
class Trial:
    """A judge's job."""

    goal: str
    """Full name of the theorem."""
    allowed: tuple[str, ...]
    """Axioms that it may rest on."""
    submission: bytes
    """What the submission's process exported."""
    reference: bytes
    """What the reference's process exported."""
    as_text: bool = False
    """Whether the accepted constants are wanted as text."""


def encode_trial(trial: Trial) -> bytes:
    """A judge's job, as bytes."""
    head = json.dumps([trial.goal, trial.allowed, trial.as_text]).encode()
    return TRIAL.pack(len(head), len(trial.submission)) + head + trial.submission + trial.reference


def decode_trial(job: bytes) -> Trial:
    """The inverse of `encode_trial`."""
    head_size, size = TRIAL.unpack_from(job)
    middle = TRIAL.size + head_size
    goal, allowed, as_text = json.loads(job[TRIAL.size : middle])
    return Trial(goal, tuple(allowed), job[middle : middle + size], job[middle + size :], as_text)
