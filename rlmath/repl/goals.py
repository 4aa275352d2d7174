"""What is to be proved at each `sorry` of a text.

A second run of the text, with each `sorry` made to show its state first, tells; its results are thrown away. Which
`sorry` is a tactic and which a term is seen in the syntax trees of the first run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from rlmath.kernel.embedded.elaborator import Elaborator, State, line_and_column
from rlmath.kernel.embedded.ffi import Obj, field, items, name_text, raw_text, tag
from rlmath.kernel.embedded.gate import NODE, first_position

TERM: Final = "Lean.Parser.Term.sorry"
TACTIC: Final = "Lean.Parser.Tactic.tacticSorry"
WORD: Final = b"sorry"
SHOWN: Final = {TERM: (b"(by ", b"; sorry)"), TACTIC: (b"(", b"; sorry)")}
"""What stands around `trace_state` in place of a `sorry` of each kind."""
SHOW: Final = b"trace_state"


@dataclass(frozen=True)
class Sorry:
    """One `sorry` of a text, by its byte position."""

    at: int
    kind: str


def find_sorries(trees: Iterable[Obj]) -> list[Sorry]:
    """All that were written as `sorry`, in the order of the text."""
    found: set[Sorry] = set()
    stack = list(trees)
    while stack:
        node = stack.pop()
        if tag(node) != NODE:
            continue
        kind = name_text(field(node, 1))
        position = first_position(node) if kind in SHOWN else None
        if position is not None:
            found.add(Sorry(position, kind))
        else:
            stack += items(field(node, 2))
    return sorted(found, key=lambda sorry: sorry.at)


def goals(elaborator: Elaborator, state: State, source: str, trees: Iterable[Obj]) -> list[dict[str, Any]]:
    """Place and goal of each `sorry` of `source` that was elaborated, as the protocol has them. `state` is the one
    that the text was run in, `trees` are those of its commands."""
    encoded = source.encode("utf-8")
    sorries = [s for s in find_sorries(trees) if encoded.startswith(WORD, s.at)]
    shown, places = _with_states_shown(encoded, sorries)
    _, messages = elaborator.run(state, shown.decode("utf-8"))
    said: dict[tuple[int, int], str] = {}
    for raw in (json.loads(raw_text(elaborator.message_json(message))) for message in messages):
        if raw["severity"] == "information":
            said.setdefault((raw["pos"]["line"], raw["pos"]["column"]), raw["data"])
    found = []
    for sorry, place in zip(sorries, places, strict=True):
        if (goal := said.get(place)) is not None:
            position = {"pos": _place(source, sorry.at), "endPos": _place(source, sorry.at + len(WORD))}
            found.append({"goal": goal.strip().split("\n\n")[0], "proofState": None, **position})
    return found


def _with_states_shown(encoded: bytes, sorries: list[Sorry]) -> tuple[bytes, list[tuple[int, int]]]:
    """The text in which each `sorry` shows its state, and the places (line, column) of what shows it."""
    shown = b""
    at = 0
    starts = []
    for sorry in sorries:
        before, after = SHOWN[sorry.kind]
        shown += encoded[at : sorry.at] + before
        starts.append(len(shown))
        shown += SHOW + after
        at = sorry.at + len(WORD)
    shown += encoded[at:]
    text = shown.decode("utf-8")
    return shown, [line_and_column(text, start) for start in starts]


def _place(source: str, byte_position: int) -> dict[str, int]:
    line, column = line_and_column(source, byte_position)
    return {"line": line, "column": column}
