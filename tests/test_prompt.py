"""What the policy is told agrees with what is enforced."""

from __future__ import annotations

import re

from rlmath.plan import check_names, parse_plan, render_plan
from rlmath.prompt import SYSTEM_PROMPT, user_message
from rlmath.sanitize import PLAN_FORMAT_WORDS, scan
from rlmath.types import GoalSpec

EXAMPLE = SYSTEM_PROMPT[SYSTEM_PROMPT.rindex("Example") :]


def test_the_example_is_a_plan_for_its_goal() -> None:
    statement = re.search(r"`theorem (\w+) : (.+)`", EXAMPLE)
    assert statement is not None
    plan = parse_plan(EXAMPLE)
    assert [lemma.name for lemma in plan.lemmas] == ["h1", "h2"]
    assert check_names(plan, GoalSpec("g", statement[2], statement[1])) is None
    assert scan(plan.assembly) is None
    assert render_plan(plan) in EXAMPLE


def test_every_banned_word_of_the_format_is_named() -> None:
    assert set(re.findall(r"\w+", SYSTEM_PROMPT)) >= PLAN_FORMAT_WORDS


def test_the_prompt_has_no_braces_left() -> None:
    assert "{" not in SYSTEM_PROMPT


def test_the_user_message_has_the_statement_and_its_context_and_nothing_else_of_the_goal() -> None:
    bare = user_message(GoalSpec("id-7", "1 + 1 = 2", "two"))
    assert "theorem two : 1 + 1 = 2" in bare
    assert "id-7" not in bare
    assert "declarations" not in bare
    full = user_message(GoalSpec("id-7", "P", "two", "\ndef P := True\n"))
    assert "```lean\ndef P := True\n```" in full
    assert full.index("def P") < full.index("theorem two")
