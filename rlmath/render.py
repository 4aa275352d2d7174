"""An `EpisodeResult` for people: a stage-by-stage table, as plain text and as HTML.

`ScoredResult` is the behaviour half of `EpisodeResult` (the wire half): the same data, which prints itself this way in
a terminal and in a notebook, where each Lean message is linked to the line that it is about.
"""

from __future__ import annotations

import re
import secrets
import textwrap
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any, Self

from rlmath.plan import PlanFormatError, parse_plan
from rlmath.types import EpisodeResult, LemmaOutcome, LemmaStatus, StageStatus, Status

MARKS = {StageStatus.PASSED: "ok", StageStatus.FAILED: "FAILED", StageStatus.SKIPPED: "-"}
COLOURS = {
    "ok": "#1a7f37", "proved": "#1a7f37", "verified": "#1a7f37",
    "-": "#6e7781", "untried": "#6e7781", "error": "#9a6700", "context_window_exceeded": "#9a6700",
}  # fmt: skip
FAILED_COLOUR = "#b35900"
PLACE = re.compile(r"(?P<label>[^:]+?) (?P<line>[0-9]+):(?P<column>[0-9]+)(?=: )")
"""How `rlmath.explain` begins a detail that has a place: `assembly 2:5: …`, 1-based."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoredResult(EpisodeResult):
    """An `EpisodeResult` that prints itself. Equal to any `EpisodeResult` with the same verdict."""

    completion: str = field(default="", compare=False)
    """What was judged, for the places that messages point to; not part of the result's JSON."""

    @classmethod
    def of(cls, result: EpisodeResult, completion: str | bytes = "") -> Self:
        """The same result, with its completion."""
        text = completion if isinstance(completion, str) else completion.decode(errors="replace")
        return cls(**{f.name: getattr(result, f.name) for f in fields(EpisodeResult)}, completion=text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EpisodeResult):
            return NotImplemented
        return all(getattr(self, f.name) == getattr(other, f.name) for f in fields(EpisodeResult) if f.compare)

    __hash__ = None  # type: ignore[assignment]  # as EpisodeResult: it holds dicts

    def to_json(self) -> dict[str, Any]:
        """As `EpisodeResult.to_json`."""
        row = super().to_json()
        del row["completion"]
        return row

    def __str__(self) -> str:
        return render_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return render_html(self, self.completion)


def render_text(result: EpisodeResult, *, width: int = 120) -> str:
    """The table as text, at most `width` columns wide (where words allow it), no final newline."""
    lines = [_headline(result)]
    if result.detail:
        lines += _wrap("  ", result.detail, width)
    if result.stages:
        lines += ["", *_columns(_stage_rows(result), width)]
    if result.lemma_outcomes:
        lines += ["", *_columns([("lemma", "outcome", "attempts", ""), *map(_lemma_row, result.lemma_outcomes)], width)]
    footer = _footer(result)
    return "\n".join([*lines, "", footer] if footer else lines)


def render_html(result: EpisodeResult, completion: str = "") -> str:
    """The table as an HTML fragment. With the completion, each message links to the line of the plan it is about."""
    excerpts = _Excerpts(result, completion)
    parts = [f"<p><b>{escape(result.goal_id)}</b>: {_coloured(result.status.value)} {escape(_reward(result))}</p>"]
    if result.detail and not any(s.detail == result.detail for s in result.stages):
        parts.append(f"<p>{excerpts.linked(result.detail)}</p>")
    if result.stages:
        parts.append(_html_table(_stage_rows(result), marked=1, linked=3, excerpts=excerpts))
    if result.lemma_outcomes:
        rows = [("lemma", "outcome", "attempts", ""), *map(_lemma_row, result.lemma_outcomes)]
        parts.append(_html_table(rows, marked=1, linked=3, excerpts=excerpts))
    parts += excerpts.blocks
    if footer := _footer(result):
        parts.append(f'<p style="color:#6e7781">{escape(footer)}</p>')
    return f"<div>{''.join(parts)}</div>"


def _headline(result: EpisodeResult) -> str:
    return f"{result.goal_id}: {result.status.value} {_reward(result)}"


def _reward(result: EpisodeResult) -> str:
    return "(no evidence, no reward)" if result.reward is None else f"(reward {result.reward})"


def _stage_rows(result: EpisodeResult) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("stage", "", "seconds", "")]
    for report in result.stages:
        seconds = result.timings.get(f"{report.stage}_s")
        rows.append((report.stage, MARKS[report.status], "" if seconds is None else f"{seconds:.3f}", report.detail))
    return rows


def _lemma_row(outcome: LemmaOutcome) -> tuple[str, ...]:
    attempts = str(outcome.attempts_used) if outcome.status is not LemmaStatus.UNTRIED else "-"
    return outcome.name, outcome.status.value, attempts, outcome.detail or outcome.prop


def _footer(result: EpisodeResult) -> str:
    said = []
    if result.kernel is not None:
        said.append(str(result.kernel))
    if result.axioms is not None:
        said.append(f"axioms: {', '.join(result.axioms) or 'none'}")
    if "total_s" in result.timings:
        said.append(f"{result.timings['total_s']:.3f} s")
    return " · ".join(said)


def _wrap(lead: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, max(width, len(lead) + 20), initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False
    ) or [lead.rstrip()]


def _columns(rows: list[tuple[str, ...]], width: int) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines: list[str] = []
    for row in rows:
        lead = "  ".join(cell.ljust(w) for cell, w in zip(row[:-1], widths, strict=True)) + "  "
        lines += _wrap(lead, row[-1], width)
    return lines


def _coloured(word: str) -> str:
    return f'<span style="color:{COLOURS.get(word, FAILED_COLOUR)}">{escape(word)}</span>'


def _html_table(rows: list[tuple[str, ...]], *, marked: int, linked: int, excerpts: _Excerpts) -> str:
    head = "".join(f'<th style="text-align:left">{escape(cell)}</th>' for cell in rows[0])
    body = []
    for row in rows[1:]:
        cells = [
            _coloured(cell) if i == marked else excerpts.linked(cell) if i == linked else escape(cell)
            for i, cell in enumerate(row)
        ]
        body.append("<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


class _Excerpts:
    """The lines that messages point to, gathered while a page is written: `linked` makes the link, `blocks` are its
    targets.
    """

    def __init__(self, result: EpisodeResult, completion: str) -> None:
        self._texts: dict[str, str] = {}
        if result.status is not Status.FORMAT_ERROR:
            self._read(completion)
        if result.artifact is not None:
            self._texts["theorem"] = result.artifact
        self._page = secrets.token_hex(4)  # a notebook is one page of many results
        self._anchors: dict[str, str] = {}
        self.blocks: list[str] = []

    def _read(self, completion: str) -> None:
        try:
            plan = parse_plan(completion)
        except PlanFormatError:
            return
        self._texts["assembly"] = plan.assembly
        self._texts |= {f"lemma {lemma.name}": lemma.prop for lemma in plan.lemmas}

    def linked(self, detail: str) -> str:
        """The detail as HTML, its place a link when the text is at hand."""
        found = PLACE.search(detail)
        lines = self._texts.get(found["label"], "").split("\n") if found else []
        if found is None or not 1 <= int(found["line"]) <= len(lines):
            return escape(detail)
        if detail not in self._anchors:
            self._anchors[detail] = anchor = f"rlmath-{self._page}-{len(self._anchors)}"
            self.blocks.append(_excerpt(anchor, detail, lines, int(found["line"]), int(found["column"])))
        link = f'<a href="#{self._anchors[detail]}">{escape(found[0])}</a>'
        return escape(detail[: found.start()]) + link + escape(detail[found.end() :])


def _excerpt(anchor: str, detail: str, lines: list[str], line: int, column: int) -> str:
    shown = []
    for number in range(max(1, line - 2), min(len(lines), line + 2) + 1):
        shown.append(f"{number:4} {escape(lines[number - 1])}")
        if number == line:
            shown.append("     " + " " * (column - 1) + f'<b style="color:{FAILED_COLOUR}">^</b>')
    return f'<div id="{anchor}"><p>{escape(detail)}</p><pre>{chr(10).join(shown)}</pre></div>'
