"""What leanprover-community/repl says of a text, as the pipeline's own types; and questions asked of it afterwards.

The protocol drops Lean's tag of a message, so the tag that counts, `hasSorry`, is read off the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from rlmath.kernel.protocol import Message

_SEVERITIES: Final[dict[str, Literal["error", "warning", "information"]]] = {
    "error": "error",
    "warning": "warning",
    "info": "information",
    "trace": "information",
}
_SORRY: Final = re.compile(r"declaration uses ['`‘]?sorry['`’]?")


@dataclass(frozen=True)
class Reply:
    """The reply to one command."""

    environment: int | None
    """Number of the environment that it left; None where the server keeps none."""
    messages: tuple[Message, ...]


def read_reply(raw: Mapping[str, Any]) -> Reply:
    """Read a reply. Raises ValueError when it is not one, e.g. `{"message": "Unknown environment."}`."""
    if "messages" not in raw and "env" not in raw and "message" in raw:
        raise ValueError(str(raw["message"])[:500])
    environment = raw.get("env")
    if environment is not None and (isinstance(environment, bool) or not isinstance(environment, int)):
        raise ValueError(f"env is {environment!r}")
    try:
        messages = [read_message(message) for message in raw.get("messages") or ()]
        sorries = raw.get("sorries") or ()
        # Each `sorry` is told of twice. One that has no warning counts all the same.
        if sorries and not any(message.kind == "hasSorry" for message in messages):
            place = sorries[0].get("pos") or {"line": 1, "column": 0}
            line, column = int(place["line"]), int(place["column"])
            messages.append(Message("warning", "declaration uses `sorry`", line, column, "hasSorry"))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a message or sorry is malformed: {error!r}") from None
    return Reply(environment, tuple(messages))


def read_message(raw: Mapping[str, Any]) -> Message:
    """Read one message. Raises ValueError, KeyError or TypeError when it is none."""
    severity, text, position = _SEVERITIES[raw["severity"]], raw["data"], raw["pos"]
    if not isinstance(text, str):
        raise ValueError("data is no text")
    end = raw.get("endPos") or {"line": None, "column": None}
    ends = [None if end[key] is None else int(end[key]) for key in ("line", "column")]
    kind = "hasSorry" if severity == "warning" and _SORRY.fullmatch(text.strip()) else ""
    return Message(severity, text, int(position["line"]), int(position["column"]), kind, *ends)


@dataclass(frozen=True)
class Question:
    """Asked after a check, in the environment it left: what the declaration rests on, what it states, and, so that the
    answer is known to be to this question, something that only its answer can say."""

    declaration: str | None
    """Full name of what was declared; None: nothing to ask about."""
    nonce: str
    """A fresh name that nothing has."""

    @property
    def text(self) -> str:
        """One question a line."""
        lines = [f"#check {self.nonce}"]
        if self.declaration is not None:
            lines += [f"#print axioms {self.declaration}", f"set_option pp.all true in #check @{self.declaration}"]
        return "\n".join(lines)

    def answer(self, messages: Sequence[Message], first_line: int = 1) -> Answer | None:
        """What the messages of `text`, which stood from `first_line` on, say; None when they are not its answer."""
        by_line = [
            [m for m in messages if m.line == first_line + offset] for offset in range(self.text.count("\n") + 1)
        ]
        if [(m.severity, self.nonce in m.text) for m in by_line[0]] != [("error", True)]:
            return None
        axioms, statement = ([*by_line[1:], [], []])[:2]
        return Answer(_one(axioms), _one(statement))


@dataclass(frozen=True)
class Answer:
    """What came of a `Question`."""

    axioms_line: str | None
    """The message of `#print axioms`; None when there was none, or not that alone."""
    statement: str | None
    """`NAME : TYPE`, with nothing left out; None likewise."""


def _one(messages: Sequence[Message]) -> str | None:
    return messages[0].text if [m.severity for m in messages] == ["information"] else None
