"""The Lean text that rlmath writes, and the way back from Lean's positions to the policy's text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmath.explain import DETAIL_CHARS, explain_gate, explain_message, one_line
from rlmath.kernel.protocol import GateVerdict, Message, Part, Source
from rlmath.source import (
    Location,
    ProofForm,
    check_name,
    compose,
    goal_check,
    leaf_check,
    locate,
    plain,
    plan_check,
    split_name,
    statement_check,
)
from rlmath.types import GoalSpec, Lemma, Plan

GOAL = GoalSpec(id="g", prop="∀ n : Nat, n + 0 = n", name="add_zero", context="inductive T | a")
H1, H2 = Lemma("h1", "0 = 0"), Lemma("h2", "∀ k : Nat, k = k -- clear")
PLAN = Plan((H1, H2), "intro n\n\n· exact rfl  \n-- done")


def test_the_composed_theorem_to_the_letter() -> None:
    source = compose(GOAL, PLAN, {"h1": ("rfl", "tactics"), "h2": ("fun k => by\n  rfl", "term")})
    assert source.command == (
        "theorem add_zero :\n"
        "    ∀ n : Nat, n + 0 = n\n"
        "  := (fun h1 h2 => (by\n"
        "    intro n\n"
        "\n"
        "    · exact rfl  \n"
        "    -- done\n"
        "  ) : (\n"
        "    0 = 0\n"
        "  ) → (\n"
        "    ∀ k : Nat, k = k -- clear\n"
        "  ) → (\n"
        "    ∀ n : Nat, n + 0 = n\n"
        "  )) (by\n"
        "    rfl\n"
        "  ) (\n"
        "    fun k => by\n"
        "      rfl\n"
        "  )"
    )
    assert source.template == (
        "theorem add_zero :\n"
        "    ∀ n : Nat, n + 0 = n\n"
        "  := (fun h1 h2 => (_hole_0\n"
        "  ) : (_hole_1\n"
        "  ) → (_hole_2\n"
        "  ) → (\n"
        "    ∀ n : Nat, n + 0 = n\n"
        "  )) (_hole_3\n"
        "  ) (_hole_4\n"
        "  )"
    )
    assert (source.declaration, source.axioms) == ("add_zero", False)


@pytest.mark.parametrize(
    ("context", "limits"),
    [
        ("", ["set_option maxHeartbeats 600000", "set_option maxRecDepth 1024"]),
        ("set_option maxHeartbeats 500", ["set_option maxHeartbeats 1500", "set_option maxRecDepth 1024"]),
        ("set_option maxHeartbeats 0 -- none", ["set_option maxHeartbeats 0", "set_option maxRecDepth 1024"]),
        (
            "set_option maxHeartbeats 9 in def x:=1",
            ["set_option maxHeartbeats 600000", "set_option maxRecDepth 1024"],
        ),
        (
            "set_option synthInstance.maxHeartbeats 9",
            ["set_option maxHeartbeats 600000", "set_option maxRecDepth 1024"],
        ),
        ("set_option maxRecDepth 9999", ["set_option maxHeartbeats 600000"]),
    ],
)
def test_what_is_put_together_may_use_the_limits_once_for_each_part(context: str, limits: list[str]) -> None:
    goal = replace(GOAL, context=context)
    proofs: dict[str, tuple[str, ProofForm]] = {"h1": ("rfl", "tactics"), "h2": ("fun k => rfl", "term")}
    expected = "\n".join([context, *limits] if context else limits)
    assert compose(goal, PLAN, proofs).context == expected
    assert plan_check(goal, PLAN, "x").context == expected
    assert compose(goal, Plan((), "rfl"), {}).context == context


def test_without_lemmas_the_assembly_is_the_whole_proof() -> None:
    source = compose(GOAL, Plan((), "intro n\nrfl"), {})
    assert source.command == ("theorem add_zero :\n    ∀ n : Nat, n + 0 = n\n  := (by\n    intro n\n    rfl\n  )")


def test_the_checks_to_the_letter() -> None:
    assert goal_check(GOAL).command == "theorem add_zero :\n    ∀ n : Nat, n + 0 = n\n  := sorry"
    assert statement_check(GOAL, H1, "x").command == "theorem check_x : (\n    0 = 0\n  ) := sorry"
    assert plan_check(GOAL, Plan((H1,), "skip"), "x").command == (
        "theorem check_x : False → (\n"
        "    ∀ n : Nat, n + 0 = n\n"
        "  ) :=\n"
        "  (fun use granted => use granted.elim : ((\n"
        "    0 = 0\n"
        "  ) → (\n"
        "    ∀ n : Nat, n + 0 = n\n"
        "  )) → False → (\n"
        "    ∀ n : Nat, n + 0 = n\n"
        "  )) (fun h1 => (by\n"
        "    skip\n"
        "  ))"
    )
    assert leaf_check(GOAL, H1, "rfl", "x").command == "theorem check_x : (\n    0 = 0\n  ) := (by\n    rfl\n  )"


@pytest.mark.parametrize(
    ("source", "declaration", "axioms", "labels"),
    [
        (goal_check(GOAL), "add_zero", True, ["goal"]),
        (statement_check(GOAL, H1, "x"), "check_x", False, ["lemma h1"]),
        (plan_check(GOAL, PLAN, "x"), "check_x", True, ["lemma h1", "lemma h2", "assembly"]),
        (leaf_check(GOAL, H1, "rfl", "x"), "check_x", True, ["lemma h1", "proof of h1"]),
        (
            compose(GOAL, PLAN, {"h1": ("rfl", "tactics"), "h2": ("rfl", "tactics")}),
            "add_zero",
            False,
            ["assembly", "lemma h1", "lemma h2", "proof of h1", "proof of h2"],
        ),
    ],
)
def test_what_each_source_declares(source: Source, declaration: str, axioms: bool, labels: list[str]) -> None:
    assert (source.declaration, source.axioms) == (declaration, axioms)
    assert [part.label for part in source.parts] == labels
    assert source.context.startswith(GOAL.context)
    assert source.reference == (labels == ["goal"])


def test_a_trusted_file_has_no_gate() -> None:
    assert plain("#eval 1", context="-- c") == Source(command="#eval 1", context="-- c")


texts = st.text(st.sampled_from("ab «»·∀\"'\\(-/\r\n\n\n   "), max_size=40)
forms: st.SearchStrategy[ProofForm] = st.sampled_from(["tactics", "term"])
props = st.text(st.sampled_from("ab ∀=-()\"'"), min_size=1, max_size=20)


@st.composite
def sources(draw: st.DrawFn) -> tuple[Source, dict[str, str]]:
    """Any source, with the policy's own text of each of its labels."""
    lemmas = tuple(Lemma(f"h{i}", draw(props)) for i in range(draw(st.integers(0, 3))))
    plan = Plan(lemmas, draw(texts))
    own = {"assembly": plan.assembly, "goal": GOAL.prop} | {f"lemma {m.name}": m.prop for m in lemmas}
    kinds = ["plan", "compose", "goal"] + (["leaf", "statement"] if lemmas else [])
    match draw(st.sampled_from(kinds)):
        case "plan":
            return plan_check(GOAL, plan, "t"), own
        case "goal":
            return goal_check(GOAL), own
        case "statement":
            return statement_check(GOAL, lemmas[0], "t"), own
        case "leaf":
            proof = draw(texts)
            return leaf_check(GOAL, lemmas[0], proof, "t", draw(forms)), own | {"proof of h0": proof}
        case _:
            proofs: dict[str, tuple[str, ProofForm]] = {m.name: (draw(texts), draw(forms)) for m in lemmas}
            return compose(GOAL, plan, proofs), own | {f"proof of {name}": text for name, (text, _) in proofs.items()}


@given(sources())
def test_the_command_is_the_template_with_the_parts_in_its_holes(drawn: tuple[Source, dict[str, str]]) -> None:
    source, _ = drawn
    assert source.template is not None
    filled = source.template
    for part in source.parts:
        assert filled.count(part.hole) == 1
        filled = filled.replace(part.hole, part.text)
    assert filled == source.command


@given(sources())
def test_each_part_stands_on_lines_of_its_own_where_the_map_says(drawn: tuple[Source, dict[str, str]]) -> None:
    source, own = drawn
    lines = source.command.split("\n")
    for part in source.parts:
        policy = [line.removesuffix("\r") for line in own[part.label].split("\n")]
        assert part.lines == len(policy)
        for offset, text in enumerate(policy):
            line = lines[part.line - 1 + offset]
            assert line == (" " * part.column + text if text.strip(" ") else "")
        # Nothing of ours follows on the part's last line, where a comment could hide it.
        assert lines[part.line - 1 + part.lines].startswith("  ")


@given(sources(), st.data())
def test_every_position_finds_its_way_back(drawn: tuple[Source, dict[str, str]], data: st.DataObject) -> None:
    source, own = drawn
    part: Part = data.draw(st.sampled_from(source.parts))
    policy = own[part.label].split("\n")
    line = data.draw(st.integers(0, len(policy) - 1))
    column = data.draw(st.integers(0, len(policy[line])))
    message = Message("error", "", part.line + line, part.column + column)
    assert locate(source, message) == Location(part.label, line + 1, column + 1)


def test_unsolved_goals_at_by_are_the_first_line_of_the_block() -> None:
    source = plan_check(GOAL, PLAN, "x")
    assembly = source.parts[-1]
    column = source.command.split("\n")[assembly.line - 2].index("by")
    message = Message("error", "unsolved goals\nn : Nat\n⊢ n = n", assembly.line - 1, column)
    assert (
        explain_message(source, message, name="add_zero", label="assembly")
        == "assembly 1:1: unsolved goals n : Nat ⊢ n = n"
    )


def test_what_is_in_no_part_is_in_the_theorem() -> None:
    source = compose(GOAL, PLAN, {"h1": ("rfl", "tactics"), "h2": ("rfl", "tactics")})
    assert locate(source, Message("error", "", 1, 8)) == Location("theorem", 1, 9)


def test_the_random_name_does_not_show() -> None:
    source = statement_check(GOAL, H1, "0123456789abcdef")
    message = Message("error", "type of theorem `check_0123456789abcdef` is not a proposition", 1, 0)
    explained = explain_message(source, message, name="h1", label="lemma h1")
    assert explained == "lemma h1: type of theorem `h1` is not a proposition"


@pytest.mark.parametrize(
    ("name", "check"),
    [("goal", "check_t"), ("A.b.goal", "A.b.check_t"), ("A.«x.y»", "A.check_t"), ("«a.b».c", "«a.b».check_t")],
)
def test_check_theorems_live_in_the_goals_namespace(name: str, check: str) -> None:
    assert check_name(GoalSpec("g", "True", name), "t") == check
    assert "".join(split_name(name)) == name


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        (
            GateVerdict(False, "part", "assembly", "unexpected token 'end'; expected ')'", 14, 5),
            "assembly 2:2: does not parse: unexpected token 'end'; expected ')'",
        ),
        (
            GateVerdict(False, "denied", "assembly", "Lean.Parser.Tactic.runTac"),
            "assembly: not allowed in a plan: Lean.Parser.Tactic.runTac",
        ),
        (GateVerdict(False, "tree"), "theorem: reaches out of its place in the theorem:"),
    ],
)
def test_gate_refusals_name_the_part_and_the_rule(gate: GateVerdict, expected: str) -> None:
    source = plan_check(GOAL, PLAN, "x")
    assert source.parts[-1].line == 13
    assert explain_gate(source, gate, name="add_zero") == expected


def test_details_are_one_line_and_bounded() -> None:
    assert one_line("a\n  b\t\r\n c ") == "a b c"
    long = one_line("x" * 10_000)
    assert len(long) == DETAIL_CHARS
    assert long.endswith("…")
