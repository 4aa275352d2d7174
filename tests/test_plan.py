"""The wire format: what is a plan, what is not and why, and that reading is total, exact and linear."""

from __future__ import annotations

import pickle
import re
import unicodedata
from collections.abc import Callable

import pytest
from corpus import Case, load_cases
from cost import grows_linearly
from hypothesis import given
from hypothesis import strategies as st

from rlmath.errors import InputError
from rlmath.lexer import FORBIDDEN, word_set
from rlmath.plan import PlanFormatError, PlanLimits, check_names, parse_plan, render_plan
from rlmath.types import GoalSpec, Lemma, Plan

CASES = load_cases()
DIRECT = "#assembly\nintro n\nrfl\n#end\n"
DIRECT_PLAN = Plan((), "intro n\nrfl")


def ids(keep: Callable[[Case], bool]) -> list[str]:
    return [name for name, case in CASES.items() if keep(case)]


# --- the corpus


@pytest.mark.parametrize("name", ids(lambda case: case.expect == {"format_error"}))
def test_what_can_only_be_a_format_error_is_one(name: str) -> None:
    with pytest.raises(PlanFormatError):
        parse_plan(CASES[name].completion)


@pytest.mark.parametrize("name", ids(lambda case: "format_error" not in case.expect))
def test_what_cannot_be_a_format_error_parses_and_renders_to_itself(name: str) -> None:
    case = CASES[name]
    plan = parse_plan(case.completion)
    assert check_names(plan, case.goal) is None
    text = render_plan(plan)
    assert parse_plan(text) == plan
    assert render_plan(parse_plan(text)) == text


# --- what a plan is


def test_the_format_as_documented() -> None:
    completion = """Here is a plan.
#lemma h1 : ∀ x : ℝ, 0 ≤ (x + 1) ^ 2
#lemma h2 : ∀ x : ℝ, (x + 1) ^ 2 = x ^ 2 + 2 * x + 1
#assembly
intro x
have h := h1 x
rw [h2 x] at h
exact h
#end
It works.
"""
    assert parse_plan(completion) == Plan(
        (Lemma("h1", "∀ x : ℝ, 0 ≤ (x + 1) ^ 2"), Lemma("h2", "∀ x : ℝ, (x + 1) ^ 2 = x ^ 2 + 2 * x + 1")),
        "intro x\nhave h := h1 x\nrw [h2 x] at h\nexact h",
    )


@pytest.mark.parametrize(
    "completion",
    [
        DIRECT,
        DIRECT.removesuffix("\n"),
        DIRECT.replace("\n", "\r\n"),
        "\ufeff" + DIRECT,
        "<think>\nI could try #assembly with rfl.\n</think>\n\n" + DIRECT,
        "# Plan\n#lemmas: none\n#assembly2\n## end\n" + DIRECT,
        "```lean\n" + DIRECT + "```\nDone.",
        DIRECT + "Or rather:\n#assembly\nexact nonsense\n#end\n",
        DIRECT + "#lemma broken\n#end\n\x00",
        "chatter \x00 \ud800 \u200b\n" + DIRECT,
        "  #assembly  \nintro n\nrfl\n\t#end \t\n",
        "\n \t\n" + DIRECT,
        b"\xff\xfe broken bytes \xed\xa0\x80\n" + DIRECT.encode() + b"\xff",
        b"\xef\xbb\xbf" + DIRECT.encode(),
    ],
)
def test_chatter_and_line_ends_do_not_count(completion: str | bytes) -> None:
    assert parse_plan(completion) == DIRECT_PLAN


def test_the_assembly_is_verbatim() -> None:
    assembly = "\n  intro n  \n\n    -- #end is not at the line's start, nor is this: #lemma\n  #endgame\n rfl\n\n"
    assert parse_plan(f"#assembly\n{assembly}\n#end").assembly == assembly


@pytest.mark.parametrize(
    ("line", "lemma"),
    [
        ("#lemma h : True", Lemma("h", "True")),
        ("#lemma   h1'   :   ∀ n : Nat, n = n   ", Lemma("h1'", "∀ n : Nat, n = n")),
        ("#lemma\th\t:\tTrue\t", Lemma("h", "True")),
        ("  #lemma h:True", Lemma("h", "True")),
        ("#lemma A_0 : let n := 3; n = 3", Lemma("A_0", "let n := 3; n = 3")),
        ("#lemma rfl : True", Lemma("rfl", "True")),
        ("#lemma exact : True", Lemma("exact", "True")),
        ("#lemma unsafe' : True", Lemma("unsafe'", "True")),
        ("#lemma h : #s = 3", Lemma("h", "#s = 3")),
    ],
)
def test_lemma_lines(line: str, lemma: Lemma) -> None:
    assert parse_plan(f"{line}\n\n#assembly\nskip\n#end").lemmas == (lemma,)


# --- what a plan is not


@pytest.mark.parametrize(
    ("completion", "rule", "line"),
    [
        ("", "no-plan", None),
        ("no plan here, only #assembly in a line\n", "no-plan", None),
        ("a\r#assembly\rrfl\r#end", "no-plan", None),
        ("a\n#end\n" + DIRECT, "order", 2),
        ("a\n#lemma h : True\n#end", "order", 3),
        ("#assembly\nrfl\n#assembly\nrfl\n#end", "order", 3),
        ("#assembly\nrfl\n#lemma h : True\n#end", "order", 3),
        ("#assembly\nrfl\n  #lemma h : True\n#end", "order", 3),
        ("#lemma h : True\nNow:\n#assembly\nrfl\n#end", "stray", 2),
        ("#lemma h : True\n-- comment\n#assembly\nrfl\n#end", "stray", 2),
        ("#assembly intro n\nrfl\n#end", "marker", 1),
        ("#assembly:\nrfl\n#end", "marker", 1),
        ("#assembly\nrfl\n#end.", "marker", 3),
        ("#assembly\nrfl\n#end -- done", "marker", 3),
        ("#assembly\nrfl\n#end\u200b", "marker", 3),
        ("\u200b#assembly\nrfl\n#end", "marker", 1),
        ("\xa0#lemma h : False\n" + DIRECT, "marker", 1),
        ("chatter\n\ufeff#lemma h : False\n" + DIRECT, "marker", 2),
        ("#assembly\nrfl\n\x0c#end", "marker", 3),
        ("#lemma", "lemma", 1),
        ("#lemma\xa0h : False\n" + DIRECT, "lemma", 1),
        ("#lemma h1 h2 : False\n" + DIRECT, "lemma", 1),
        ("#lemma h (n : Nat) : n = n\n" + DIRECT, "lemma", 1),
        ("#lemma : False\n" + DIRECT, "lemma", 1),
        ("#lemma h False\n" + DIRECT, "lemma", 1),
        ("#lemma h :\n" + DIRECT, "lemma", 1),
        ("#lemma h := False\n" + DIRECT, "lemma", 1),
        ("#lemma h :: False\n" + DIRECT, "lemma", 1),
        ("#lemma: h : False\n" + DIRECT, "lemma", 1),
        ("#lemma h : True\n#lemma g : True\n#lemma h : False\n" + DIRECT, "duplicate", 3),
        ("#lemma h : a\tb\n" + DIRECT, "character", 1),
        ("#lemma h : True\r#lemma g : False\n" + DIRECT, "character", 1),
        ("#assembly\nrfl\n\ttrivial\n#end", "character", 3),
        ("#assembly\nexact rfl --\x85sorry\n#end", "character", 2),
        ("#assembly\nexact rfl\x00 sorry\n#end", "character", 2),
        ("#assembly\nexact 'a\ud800'\n#end", "character", 2),
        (b"#assembly\nexact \xff\n#end", "character", 2),
        ("#assembly\nrfl\r\r\n#end", "character", 2),
        ("#assembly\n#end", "empty", 2),
        ("#assembly\n \n\n#end", "empty", 2),
        ("a\n\n#assembly\nrfl\n", "end", 5),
        ("#lemma h : True", "end", 1),
    ],
)
def test_what_is_refused_and_where(completion: str | bytes, rule: str, line: int | None) -> None:
    with pytest.raises(PlanFormatError) as caught:
        parse_plan(completion)
    assert (caught.value.rule, caught.value.line) == (rule, line)
    assert isinstance(caught.value, InputError)
    assert str(caught.value).startswith("completion: " if line is None else f"completion line {line}: ")


BAD_NAMES = word_set(
    """
    _plan _stmt_check _proof_check goal this _x 1h h.x h₁ ε «h» h! h-1 'h fun at with end theorem lemma sorry Type
    Prop open have match by where exists calc
    """
)


@pytest.mark.parametrize("name", sorted(BAD_NAMES))
def test_names_that_a_lemma_cannot_have(name: str) -> None:
    with pytest.raises(PlanFormatError) as caught:
        parse_plan(f"\n#lemma {name} : True\n{DIRECT}")
    assert (caught.value.rule, caught.value.line) == ("name", 2)


@pytest.mark.parametrize(
    ("goal_name", "lemma", "clash"),
    [
        ("thm", "thm", True),
        ("My.Space.thm", "thm", True),
        ("My.«thm»", "thm", True),
        ("My.thm", "My", False),
        ("thm", "thm'", False),
        ("thm", "h", False),
    ],
)
def test_a_lemma_does_not_shadow_the_goal(goal_name: str, lemma: str, clash: bool) -> None:
    problem = check_names(Plan((Lemma("g0", "True"), Lemma(lemma, "True")), "skip"), GoalSpec("g", "True", goal_name))
    assert (problem is not None) == clash
    assert problem is None or (lemma in problem and goal_name in problem)


def test_sizes_are_capped_before_any_lean() -> None:
    limits = PlanLimits(max_plan_chars=200, max_prop_chars=20, max_assembly_chars=30, max_lemmas=2)

    def rule(completion: str) -> tuple[str, int | None]:
        with pytest.raises(PlanFormatError) as caught:
            parse_plan(completion, limits=limits)
        return caught.value.rule, caught.value.line

    assert parse_plan("x" * 1000 + f"\n#lemma h : {'p' * 20}\n#assembly\n{'a' * 30}\n#end", limits=limits)
    assert parse_plan(f"#assembly\n{'a' * 30}\n#end\n" + "y" * 1000, limits=limits)
    assert rule(f"\n#lemma h : {'p' * 21}\n#assembly\na\n#end") == ("size", 2)
    assert rule(f"#assembly\na\n{'a' * 29}\n#end") == ("size", 2)
    assert rule("#lemma a : p\n#lemma b : p\n#lemma c : p\n#assembly\na\n#end") == ("size", 3)
    assert rule("#assembly\n" + "a\n" * 200 + "#end")[0] == "size"
    assert rule("#assembly " + "a" * 200) == ("size", 1)


def test_five_thousand_lemmas_are_a_matter_of_the_budget() -> None:
    assert len(parse_plan(CASES["budget-lemmas"].completion).lemmas) == 5000


def test_forbidden_code_points_are_those_of_unicode() -> None:
    forbidden = re.compile(f"[{FORBIDDEN}]")
    for code in range(0x110000):
        character = chr(code)
        category = unicodedata.category(character)
        if category in ("Cc", "Cf", "Zl", "Zp", "Cs"):
            assert bool(forbidden.match(character)) == (character not in "\t\n"), hex(code)
        elif category != "Cn":  # unassigned to this Python, maybe assigned in a later Unicode
            assert not forbidden.match(character), hex(code)


# --- properties

MARKERS = ["#lemma ", "#lemma h : ", "#assembly", "#end", "\n", "\r\n", "\t", " ", ":", "h", "True", "\ufeff", "\x00"]
MARKER_SOUP = st.lists(st.sampled_from(MARKERS) | st.text(max_size=3), max_size=30).map("".join)
ANY_TEXT = st.text(st.characters(codec=None), max_size=200)
COMPLETIONS = ANY_TEXT | MARKER_SOUP | st.binary(max_size=200) | MARKER_SOUP.map(lambda s: s.encode("utf-8", "replace"))

NAMES = st.from_regex(r"h[A-Za-z0-9_']{0,5}", fullmatch=True)
PLAIN = st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp", "Cs"])
PROPS = st.text(PLAIN, min_size=1, max_size=30).filter(lambda p: p == p.strip() and p[0] not in ":=")
ASSEMBLIES = (
    st.lists(st.text(PLAIN, max_size=20).filter(lambda line: "#" not in line), min_size=1, max_size=6)
    .map("\n".join)
    .filter(lambda a: bool(a.strip()))
)
PLANS = st.builds(
    Plan,
    st.lists(st.builds(Lemma, NAMES, PROPS), max_size=4, unique_by=lambda lemma: lemma.name).map(tuple),
    ASSEMBLIES,
)


def outcome(completion: str | bytes) -> Plan | PlanFormatError:
    try:
        return parse_plan(completion)
    except PlanFormatError as error:
        return error


@given(COMPLETIONS)
def test_reading_is_total_and_rendering_a_fixed_point(completion: str | bytes) -> None:
    plan = outcome(completion)
    if isinstance(plan, PlanFormatError):
        breaks = completion.count(b"\n") if isinstance(completion, bytes) else completion.count("\n")
        assert plan.line is None or 1 <= plan.line <= breaks + 1
        assert str(plan).isprintable()
        copy = pickle.loads(pickle.dumps(plan))
        assert (str(copy), copy.line, copy.rule) == (str(plan), plan.line, plan.rule)
    else:
        text = render_plan(plan)
        assert parse_plan(text) == plan
        assert render_plan(parse_plan(text)) == text


@given(PLANS, st.text(st.characters(exclude_characters="#"), max_size=50), ANY_TEXT)
def test_a_rendered_plan_is_read_back_whatever_stands_around_it(plan: Plan, before: str, after: str) -> None:
    text = f"{before}\n{render_plan(plan)}{after}"
    assert parse_plan(text) == plan
    assert parse_plan(text.encode("utf-8", "surrogatepass")) == plan


@given(st.text(max_size=20), st.text(max_size=40))
def test_rendering_gives_a_plan_that_reads_back_or_refuses(prop: str, assembly: str) -> None:
    plan = Plan((Lemma("h", prop),), assembly)
    try:
        text = render_plan(plan)
    except PlanFormatError:
        return
    assert parse_plan(text) == plan


@pytest.mark.parametrize(
    ("head", "unit"),
    [
        ("", "\n"),
        ("", " "),
        ("", "#"),
        ("", "\r"),
        ("", "\xa0\n"),
        ("", "#lemma\n"),
        ("", "x #lemma h : T"),
        ("", "\n #lemmas"),
        ("", "lorem ipsum dolor sit amet\n"),
        ("x #end\n", "\n"),
        ("", "x #end\n"),
        ("#lemma h : T\n", "\n"),
        ("#lemma h : ", "p "),
        ("#assembly\n", "\n"),
        ("#assembly\n", "#x\n"),
        ("#assembly\n", " #endless"),
        ("#assembly\nrfl\n#end\n", "#lemma h : T\n"),
    ],
)
def test_time_is_linear_in_the_length(head: str, unit: str) -> None:
    def read(size: int) -> Callable[[], object]:
        completion = head + unit * (size // len(unit))
        return lambda: outcome(completion)

    assert grows_linearly(read(1_000_000), read(10_000_000))


def test_time_is_linear_in_broken_bytes_too() -> None:
    def read(size: int) -> Callable[[], object]:
        completion = b"\xff\xe2" * (size // 2) + b"\n" + DIRECT.encode()
        return lambda: parse_plan(completion)

    assert grows_linearly(read(1_000_000), read(10_000_000))
