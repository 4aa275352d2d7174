"""Whose message is whose in a file of several pieces, however the far side counts its lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmath.errors import KernelUnavailable
from rlmath.header import Preamble
from rlmath.kernel.lean_reply import Question
from rlmath.kernel.one_file import lay_out, sort_out
from rlmath.kernel.protocol import Message, Source

LINES = st.integers(0, 4).map(lambda n: "\n".join(f"-- {i}" for i in range(n)))
QUESTION = Question("t", "rlmath_00")
PIECES = st.tuples(st.lists(st.just("Init"), max_size=3), LINES, LINES, LINES.filter(bool))


def error(line: int, text: str = "x") -> Message:
    return Message("error", text, line, 3, end_line=line + 1, end_column=0)


@given(PIECES, st.booleans(), st.integers(0, 3))
def test_lines_are_those_of_the_piece(pieces: tuple[list[str], str, str, str], counts: bool, at: int) -> None:
    imports, commands, context, command = pieces
    source = Source(command, context)
    file = lay_out(Preamble(tuple(imports), commands), source, QUESTION)
    lines = file.text.split("\n")[len(imports) :]
    shift = len(imports) if counts else 0
    answer = error(lines.index(f"#check {QUESTION.nonce}") + 1 + shift, "unknown identifier 'rlmath_00'")

    def ran(line: int) -> object:
        return sort_out(file, [error(line + shift), answer], source, QUESTION, imports_count=not counts)

    start = lines.index(command.split("\n")[0], file.command - 1) + 1
    assert start == file.command
    if at < command.count("\n") + 1:
        [message] = ran(start + at).messages  # type: ignore[attr-defined]
        assert (message.line, message.end_line) == (at + 1, at + 2)
    if context:
        first = ran(file.context)
        assert first.context_error == "1:3: x"  # type: ignore[attr-defined]
    if commands:
        with pytest.raises(KernelUnavailable, match="header"):
            ran(1)


@pytest.mark.parametrize("messages", [[], [error(1)], [error(2, "unknown identifier 'rlmath_01'")]])
def test_without_the_answer_nothing_counts(messages: list[Message]) -> None:
    source = Source("x", template="y")
    file = lay_out(Preamble((), ""), source, QUESTION)
    with pytest.raises(KernelUnavailable, match="out of turn"):
        sort_out(file, messages, source, QUESTION, imports_count=True)
