"""White space and comments between the commands of a Lean file."""

from __future__ import annotations

import re

_BLANK = re.compile(r"\s+|--[^\n]*")
_COMMENT_EDGE = re.compile(r"/-|-/")


def is_blank(text: str) -> bool:
    """Whether there is nothing but white space and comments, each with its end."""
    # What follows an open comment would be in it, or close it.
    return skip_blank(f"{text}\n-/", 0) == len(text) + 1


def skip_blank(text: str, position: int) -> int:
    """The position after whitespace and comments, which nest. A documentation comment belongs to what follows it."""
    while position < len(text):
        if (match := _BLANK.match(text, position)) is not None:
            position = match.end()
        elif text.startswith("/-", position) and not text.startswith(("/--", "/-!"), position):
            position = _skip_comment(text, position)
        else:
            break
    return position


def _skip_comment(text: str, position: int) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, position):
        depth += 1 if edge[0] == "/-" else -1
        if depth == 0:
            return edge.end()
    return len(text)
