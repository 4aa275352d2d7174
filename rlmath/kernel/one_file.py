"""Everything that one check needs as one Lean file, for a Lean that keeps nothing between two texts; and whose message
is whose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rlmath.errors import KernelUnavailable
from rlmath.header import Preamble
from rlmath.kernel.lean_reply import Answer, Question
from rlmath.kernel.protocol import Message, Source
from rlmath.kernel.unaudited import Ran


@dataclass(frozen=True)
class OneFile:
    """The file, and where its pieces stand: lines of its body (the part after the imports), 1-based."""

    text: str
    import_lines: int
    context: int
    command: int
    question: int


def lay_out(preamble: Preamble, source: Source, question: Question) -> OneFile:
    """Imports, the header's commands, context, command, question."""
    starts = []
    body = ""
    for piece in (preamble.commands, source.context, source.command, question.text):
        starts.append(body.count("\n") + 1)
        body += f"{piece}\n" if piece else ""
    head = "".join(f"import {module}\n" for module in preamble.imports)
    return OneFile(head + body, len(preamble.imports), *starts[1:])


def sort_out(
    file: OneFile, messages: Sequence[Message], source: Source, question: Question, *, imports_count: bool
) -> Ran:
    """What became of the file, from all of its messages.

    Servers differ on whether the lines of the imports count: where the question's answer stands tells, and without one
    `imports_count`. Raises `KernelUnavailable` when the header is at fault, or when the question has no answer, unless
    a file that was checked ungated has errors, for it may have swallowed the question.
    """
    shift, answer = _find_answer(file, messages, question) or (file.import_lines if imports_count else 0, None)
    failed = any(message.severity == "error" for message in messages)
    if answer is None and (source.template is not None or not failed):
        raise KernelUnavailable("Lean answered out of turn: what it said is not about what it was asked")
    context, command, end = (line + shift for line in (file.context, file.command, file.question))
    for message in messages:
        known = answer is not None or imports_count  # what the lines are counted from
        if known and message.severity == "error" and message.line < context:
            raise KernelUnavailable(f"the header does not elaborate: {message.text}")
        if message.severity == "error" and message.line < command:
            return Ran(context_error=f"{message.line - context + 1}:{message.column}: {message.text}", answer=answer)
    return Ran(tuple(_counted_from(command, m) for m in messages if command <= m.line < end), answer)


def _find_answer(file: OneFile, messages: Sequence[Message], question: Question) -> tuple[int, Answer] | None:
    for shift in (file.import_lines, 0):
        answer = question.answer([_counted_from(file.question + shift, m) for m in messages])
        if answer is not None:
            return shift, answer
    return None


def _counted_from(first_line: int, message: Message) -> Message:
    end = None if message.end_line is None else message.end_line - first_line + 1
    return replace(message, line=message.line - first_line + 1, end_line=end)
