"""Results as people see them."""

from __future__ import annotations

import pytest

from rlmath.render import ScoredResult, render_html, render_text
from rlmath.types import (
    EpisodeResult,
    KernelIdentity,
    LemmaOutcome,
    LemmaStatus,
    StageReport,
    StageStatus,
    Status,
)

COMPLETION = "Some thoughts.\n#lemma h1 : 1 < 2\n#assembly\nintro n\nexact <b>x</b>\nrfl\n#end\n"
DETAIL = "assembly 2:7: Unknown identifier `<b>x</b>`"
FAILED = EpisodeResult(
    "g1",
    Status.PLAN_INVALID,
    DETAIL,
    stages=(
        StageReport("parse", StageStatus.PASSED),
        StageReport("plan", StageStatus.FAILED, DETAIL),
        StageReport("leaves", StageStatus.SKIPPED),
    ),
    lemma_outcomes=(LemmaOutcome("h1", "1 < 2", LemmaStatus.PROVED, 2, 1),),
    kernel=KernelIdentity("embedded", "4.35.0", "prelude@12"),
    timings={"parse_s": 0.25, "total_s": 1.5},
)


def test_the_text_has_a_row_a_stage_and_a_row_a_lemma() -> None:
    lines = render_text(FAILED).splitlines()
    assert lines[0] == "g1: plan_invalid (reward 0.0)"
    rows = [line.split() for line in lines]
    assert ["parse", "ok", "0.250"] in rows
    assert ["leaves", "-"] in rows
    assert any(row[:2] == ["plan", "FAILED"] and row[2:] == DETAIL.split() for row in rows)
    assert ["h1", "proved", "2", "1", "<", "2"] in rows
    assert lines[-1] == "embedded Lean 4.35.0 prelude@12 · 1.500 s"


def test_long_details_are_wrapped_under_their_column() -> None:
    long = "assembly 1:1: " + "word " * 100
    result = EpisodeResult("g", Status.PLAN_INVALID, long, stages=(StageReport("plan", StageStatus.FAILED, long),))
    lines = render_text(result, width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert " ".join(" ".join(lines).split()).count("word") == 200


def test_a_result_without_evidence_has_no_reward() -> None:
    assert render_text(EpisodeResult("g", Status.ERROR, "worker lost")).splitlines() == [
        "g: error (no evidence, no reward)",
        "  worker lost",
    ]
    assert "no reward" in render_html(EpisodeResult("g", Status.ERROR, "a <b> worker"))
    assert "a &lt;b&gt; worker" in render_html(EpisodeResult("g", Status.ERROR, "a <b> worker"))


def test_html_links_a_message_to_its_line_and_escapes_everything() -> None:
    html = render_html(FAILED, COMPLETION)
    anchor = html.split('href="#')[1].split('"')[0]
    assert f'id="{anchor}"' in html
    assert "assembly 2:7</a>" in html
    assert "   2 exact &lt;b&gt;x&lt;/b&gt;\n           <b style" in html
    assert "<b>x</b>" not in html


def test_two_renderings_on_one_page_do_not_share_anchors() -> None:
    anchors = {render_html(FAILED, COMPLETION).split('href="#')[1].split('"')[0] for _ in range(2)}
    assert len(anchors) == 2


@pytest.mark.parametrize("completion", ["", "no plan", "#assembly\nrfl\n#end\n"])
def test_a_place_that_is_not_at_hand_is_no_link(completion: str) -> None:
    html = render_html(FAILED, completion)
    assert "href" not in html
    assert "assembly 2:7: Unknown identifier" in html


def test_a_scored_result_is_the_result_and_prints_itself() -> None:
    scored = ScoredResult.of(FAILED, COMPLETION)
    assert scored == FAILED
    assert scored == FAILED
    assert scored == ScoredResult.of(FAILED, "something else")
    assert scored != EpisodeResult("g1", Status.VERIFIED)
    assert scored.to_json() == FAILED.to_json()
    assert EpisodeResult.from_json(scored.to_json()) == FAILED
    assert str(scored) == repr(scored) == render_text(FAILED)
    assert "href" in scored._repr_html_()
    assert ScoredResult.of(FAILED, COMPLETION.encode() + b"\xff").completion.startswith(COMPLETION)
