"""Where an environment's goals and its means of scoring come from; all without verifiers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from env_kit import GOAL, Faulty

from rlmath import envs
from rlmath.envs import (
    EpisodeResources,
    demo_goals,
    get_resources,
    live_resources,
    load_environment,
    load_goals,
    resolve_goals,
    set_resources,
)
from rlmath.envs.resources import resolve_budgets
from rlmath.errors import InputError, Unavailable
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.tactics import TacticsProver
from rlmath.types import Budgets, EpisodeResult, GoalSpec


@pytest.fixture(autouse=True)
def _nothing_registered() -> Iterator[None]:
    set_resources(None)
    yield
    set_resources(None)


async def _never(goal: GoalSpec, completion: str) -> EpisodeResult:
    raise Unavailable("not asked for")


def _file(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "goals.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_goals_of_a_file_and_of_rows_are_the_same(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "prop": "True", "name": "t", "context": "def x := 1", "note": 7},
        {"source_id": "b", "prop": "True"},
        {"statement_key": "c", "prop": "True"},
        {"prop": "1 = 1"},
    ]
    expected = [
        GoalSpec("a", "True", "t", "def x := 1"),
        GoalSpec("b", "True"),
        GoalSpec("c", "True"),
        GoalSpec("3", "1 = 1"),
    ]
    assert load_goals(_file(tmp_path, *rows)) == expected
    assert load_goals(str(_file(tmp_path, *rows))) == expected
    assert load_goals(rows) == expected
    assert load_goals(iter(expected)) == expected


@pytest.mark.parametrize(
    ("source", "field"),
    [
        ([{"id": "a"}], r"goals\[0\]"),
        ([GOAL, {"id": "b", "prop": "  "}], r"goals\[1\]"),
        ([GOAL, GOAL], r"goals\[1\]: id 'adds'"),
        ([GOAL, 3], r"goals\[1\]: must be"),
        ([], "goals: has no goals"),
        ("/nowhere/goals.jsonl", "goals: cannot read /nowhere/goals.jsonl"),
    ],
)
def test_an_unusable_source_is_refused(source: Any, field: str) -> None:
    with pytest.raises(InputError, match=field):
        load_goals(source)


def test_argument_then_registered_then_demo() -> None:
    other = GoalSpec("other", "True")
    assert [goal.id for goal in resolve_goals()] == ["demo-00", "demo-01", "demo-02", "demo-03"]
    set_resources(EpisodeResources())
    assert resolve_goals() == demo_goals()
    set_resources(EpisodeResources(goals=iter([GOAL])))
    assert resolve_goals() == [GOAL]
    assert resolve_goals() == [GOAL], "goals of an iterator are there the second time too"
    assert resolve_goals([other]) == [other]


def test_an_empty_source_is_not_replaced_by_the_demo_set(tmp_path: Path) -> None:
    set_resources(EpisodeResources(goals=[]))
    with pytest.raises(InputError, match="has no goals"):
        resolve_goals()
    set_resources(EpisodeResources(goals=_file(tmp_path)))
    with pytest.raises(InputError, match="has no goals"):
        resolve_goals()
    set_resources(EpisodeResources(goals=[GOAL]))
    with pytest.raises(InputError, match="has no goals"):
        resolve_goals([])


def test_scoring_has_no_fallback() -> None:
    kernel, leaf = EmbeddedKernel(), TacticsProver()
    for resources, missing in [
        (None, "no backend and leaf "),
        (EpisodeResources(goals=[GOAL]), "no backend and leaf "),
        (EpisodeResources(leaf=leaf), "no backend "),
        (EpisodeResources(backend=kernel), "no leaf "),
    ]:
        set_resources(resources)
        assert get_resources() is resources
        with pytest.raises(RuntimeError, match=f"^{missing}to score with.*set_resources"):
            live_resources()
    for complete in (EpisodeResources(backend=kernel, leaf=leaf), EpisodeResources(scorer=Faulty(_never))):
        set_resources(complete)
        assert live_resources() is complete


def test_a_scorer_stands_instead_of_a_kernel() -> None:
    with pytest.raises(InputError, match=r"resources\.scorer"):
        EpisodeResources(scorer=Faulty(_never), leaf=TacticsProver())


def test_budgets_come_from_the_config_then_the_resources_then_the_defaults() -> None:
    unset = {"max_lemmas": None, "verify_timeout_s": None}
    registered = EpisodeResources(budgets=Budgets(max_lemmas=3, leaf_attempts_per_lemma=2))
    assert resolve_budgets(unset, None) == Budgets()
    assert resolve_budgets(unset, EpisodeResources()) == Budgets()
    assert resolve_budgets(unset, registered) == Budgets(max_lemmas=3, leaf_attempts_per_lemma=2)
    knobs = {"max_lemmas": 0, "verify_timeout_s": 5.0}
    assert resolve_budgets(knobs, registered) == Budgets(0, 2, 64, 5.0)


def test_importing_the_environments_imports_no_framework() -> None:
    code = (
        "import sys, rlmath.envs.decomp as d, rlmath.envs as e; e.build_taskset; d.resolve_goals(); "
        "sys.exit(str([m for m in ('verifiers', 'ray', 'openai', 'datasets') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"


def test_without_verifiers_the_module_imports_and_says_what_to_install() -> None:
    code = """
import sys
sys.modules["verifiers"] = None
import rlmath.envs as envs
print(envs.HAS_VERIFIERS, envs.HAS_VERIFIERS_V0, envs.HAS_VERIFIERS_V1, len(envs.resolve_goals()))
for use in (lambda: envs.build_taskset(), lambda: envs.load_environment(), lambda: envs.DecompositionTaskset,
            lambda: envs.decomp.DirectHarness):
    try:
        use()
    except ImportError as error:
        print("rlmath[envhub]" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False False False 4", "True", "True", "True", "True"]


def test_a_stack_that_verifiers_dropped_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envs.decomp, "HAS_VERIFIERS_V0", False)
    monkeypatch.setattr(envs.decomp, "HAS_VERIFIERS_V1", True)
    with pytest.raises(ImportError, match=r"verifiers 0\.4 has dropped.*build_taskset.*verifiers<0\.4"):
        load_environment()


def test_names_that_are_not_there_are_attribute_errors() -> None:
    for module in (envs, envs.decomp):
        with pytest.raises(AttributeError, match="no_such_name"):
            module.no_such_name  # noqa: B018
    assert set(envs.__all__) == set(envs.decomp.__all__)
