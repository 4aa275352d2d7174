"""The `[leaf]` section, the provers without a model, and what may not be imported for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from rlmath.errors import InputError
from rlmath.leaf.cache import CachedProver
from rlmath.leaf.config import LeafConfig, OpenAILeaf, RecordedLeaf, TacticsLeaf, check_attempts, make_prover
from rlmath.leaf.openai import OpenAIProver
from rlmath.leaf.prompts import TEMPLATES, THEOREM_NAME, digest, render, template
from rlmath.leaf.protocol import LeafAttempt, LeafTask
from rlmath.leaf.recorded import RecordedProver
from rlmath.leaf.tactics import LADDER, TacticsProver

ADAPTER: TypeAdapter[Any] = TypeAdapter(LeafConfig)
TASK = LeafTask("∀ n : Nat, n = n", context="def k : Nat := 1", name="h1")
URL = "http://localhost:8000/v1"


def test_type_tells_which_section_it_is() -> None:
    assert ADAPTER.validate_python({"type": "tactics"}) == TacticsLeaf()
    assert ADAPTER.validate_python({"type": "recorded"}) == RecordedLeaf()
    section = ADAPTER.validate_python(
        {"type": "openai", "base_url": URL + "/", "model": "m", "temperature": 1, "stop": ["x"], "cache": "a.sqlite"}
    )
    assert section == OpenAILeaf(base_url=URL, model="m", temperature=1.0, stop=("x",), cache=Path("a.sqlite"))
    assert ADAPTER.validate_json(section.model_dump_json()) == section, "it travels as JSON"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tempreature": 1.0}, "Extra inputs"),
        ({"temperature": -0.1}, "greater than or equal to 0"),
        ({"max_tokens": 0}, "greater than or equal to 1"),
        ({"max_tokens": "12"}, "valid integer"),
        ({"max_retries": -1}, "greater than or equal to 0"),
        ({"base_url": "localhost:8000"}, "must be an http or https URL"),
        ({"base_url": "http://me:secret@host/v1"}, "no credentials"),
        ({"base_url": "http://host/v1?key=secret"}, "no credentials"),
        ({"template": "kimina"}, "one of generic, deepseek-prover-v2"),
        ({"extra_body": {"n": 3, "seed": 1}}, "must not hold n, seed"),
        ({"extra_body": {"x": object()}}, "must be JSON"),
        ({"model": ""}, "at least 1 character"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        ADAPTER.validate_python({"type": "openai", "base_url": URL, "model": "m", **change})


def test_make_prover(tmp_path: Path) -> None:
    assert isinstance(make_prover(TacticsLeaf()), TacticsProver)
    assert make_prover(TacticsLeaf(scripts=("norm_num",))).max_attempts == 1
    assert isinstance(make_prover(RecordedLeaf(), recorded={"h": "rfl"}), RecordedProver)
    assert isinstance(make_prover(OpenAILeaf(base_url=URL, model="m")), OpenAIProver)
    assert isinstance(make_prover(OpenAILeaf(base_url=URL, model="m", cache=tmp_path / "a.sqlite")), CachedProver)


def test_check_attempts_wants_temperature_for_more_than_one() -> None:
    cold = OpenAILeaf(base_url=URL, model="m", temperature=0.0)
    check_attempts(cold, 1)
    check_attempts(TacticsLeaf(), 8)
    check_attempts(OpenAILeaf(base_url=URL, model="m", temperature=0.1), 8)
    with pytest.raises(InputError, match=r"leaf\.temperature: must be above 0 with 4 attempts"):
        check_attempts(cold, 4)


def test_the_section_and_the_provers_without_a_model_import_no_sdk() -> None:
    code = (
        "import sys; from rlmath.leaf.config import *; make_prover(TacticsLeaf()); make_prover(RecordedLeaf());"
        "assert not {'openai', 'ray', 'verifiers', 'httpx', 'httpx2'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )


# --- recorded ---------------------------------------------------------------------------------------------------------


async def test_recorded_attempts_are_the_recorded_texts() -> None:
    texts = ["by\n  intro n\n  rfl", "fun n => rfl /-", "a\ud800"]
    leaf = RecordedProver({"h1": texts, "h2": "omega"})
    assert leaf.max_attempts == 3
    assert await leaf.attempts(TASK, [0, 1, 2, 3]) == [
        LeafAttempt(0, texts[0]),
        LeafAttempt(1, texts[1]),
        LeafAttempt(2, None, "the recorded proof of h1 is not valid Unicode"),
        LeafAttempt(3, None, "no proof of h1 is recorded for attempt 3"),
    ]
    assert await leaf.attempts(LeafTask("True", name="h2"), [0]) == [LeafAttempt(0, "omega")]
    assert await leaf.attempts(LeafTask("True", name="x"), [0]) == [LeafAttempt(0, None, "no proof of x is recorded")]


def test_recorded_identity_and_bounds() -> None:
    assert RecordedProver({}).max_attempts == 1
    assert RecordedProver({"h": []}).max_attempts == 1
    assert (
        RecordedProver({"h": "a"}).identity
        == RecordedProver({"h": ["a"]}).identity
        != RecordedProver({"h": "b"}).identity
    )
    for wrong in (5, ["a", 5], None):
        with pytest.raises(InputError, match=r"leaf\.h: must be a proof text or a list"):
            RecordedProver({"h": wrong})  # type: ignore[dict-item]


# --- tactics ----------------------------------------------------------------------------------------------------------


async def test_attempt_i_is_script_i() -> None:
    leaf = TacticsProver()
    assert leaf.max_attempts == len(LADDER)
    assert await leaf.attempts(TASK, [2, 0, len(LADDER)]) == [
        LeafAttempt(2, LADDER[2].script),
        LeafAttempt(0, LADDER[0].script),
        LeafAttempt(len(LADDER), None, f"the ladder has {len(LADDER)} scripts"),
    ]


def test_the_ladders_identity_is_that_of_its_scripts() -> None:
    assert TacticsProver(["rfl", "omega"]).identity != TacticsProver(["omega", "rfl"]).identity
    assert TacticsProver().identity == TacticsProver([rung.script for rung in LADDER]).identity
    with pytest.raises(InputError, match=r"leaf\.scripts: must hold"):
        TacticsProver([])
    with pytest.raises(InputError, match=r"leaf\.scripts\[1\]: must be tactics"):
        TacticsProver(["rfl", " "])


# --- prompts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_prompt_holds_header_context_and_statement_in_their_order_and_never_the_lemmas_name(name: str) -> None:
    task = LeafTask("∀ s : {n : Nat // n = k}, s.1 = 1", context="def k : Nat := 1\n", name="a_telling_name")
    prompt = render(TEMPLATES[name], task, header="import Some.Header")
    assert task.prop in prompt.user
    assert task.name not in prompt.user + (prompt.system or "")
    if name != "bfs-prover":
        places = [
            prompt.user.index(part)
            for part in ("import Some.Header", "def k : Nat := 1", f"theorem {THEOREM_NAME} : ∀ s")
        ]
        assert places == sorted(places)
    if prompt.endpoint == "completions" and name != "bfs-prover":
        assert prompt.user.endswith(prompt.opening), "the reply goes on where the prompt ends"


def test_the_formats_are_the_published_ones() -> None:
    code = "theorem leaf_goal : True := by"
    task = LeafTask("True")
    deepseek, goedel, kimina, old = (
        render(TEMPLATES[name], task, header="")
        for name in ("deepseek-prover-v2", "goedel-prover-v2", "kimina-prover", "deepseek-prover-v1.5")
    )
    assert deepseek.user.startswith(
        f"Complete the following Lean 4 code:\n\n```lean4\n{code}\n  sorry\n```\n\nBefore producing the Lean 4 code"
    )
    assert goedel.user == deepseek.user.replace("sorry\n```", "sorry```")
    assert kimina.system == "You are an expert in mathematics and Lean 4."
    assert kimina.user == (
        "Think about and solve the following problem step by step in Lean 4.\n# Problem:\n# Formal statement:\n"
        f"```lean4\n{code}\n```\n"
    )
    assert old.user == f"Complete the following Lean 4 code:\n\n```lean4\n{code}\n"
    assert (
        render(TEMPLATES["deepseek-prover-v2"], task).user.count(
            "import Mathlib\nimport Aesop\n\nset_option maxHeartbeats"
        )
        == 1
    )


def test_digests_tell_templates_apart_and_an_unknown_name_is_an_input_error() -> None:
    assert len({digest(each) for each in TEMPLATES.values()}) == len(TEMPLATES)
    with pytest.raises(InputError, match=r"leaf\.template: 'gpt' is not known: one of generic, "):
        template("gpt")
