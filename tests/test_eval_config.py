"""The config file of `rlmath eval`: what is accepted, and what each mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlmath.errors import InputError
from rlmath.evals.config import load_config
from rlmath.evals.inputs import load_completions, load_goals
from rlmath.leaf.config import OpenAILeaf, RecordedLeaf, TacticsLeaf
from rlmath.types import Budgets

MINIMAL = 'goals = "g.jsonl"\ncompletions = "sub/c.jsonl"\nout = "../r.jsonl"\n'
POLICY = '[policy]\nbase_url = "http://localhost:1/v1"\nmodel = "m"\n'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "conf" / "eval.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(tmp_path: Path, text: str) -> str:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_config(path)
    assert caught.value.field.startswith(str(path))
    return str(caught.value).removeprefix(str(path)).removeprefix(": ")


def test_paths_are_relative_to_the_file_and_sections_have_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, MINIMAL)
    monkeypatch.chdir(tmp_path)
    config = load_config(path.relative_to(tmp_path))
    base = path.resolve().parent
    assert (config.goals, config.completions, config.out) == (
        base / "g.jsonl",
        base / "sub/c.jsonl",
        base.parent / "r.jsonl",
    )
    assert config.budgets == Budgets()
    assert config.leaf == TacticsLeaf()
    assert config.policy is None
    assert config.cluster.address is None


def test_every_section_is_read(tmp_path: Path) -> None:
    text = MINIMAL.replace('completions = "sub/c.jsonl"\n', "") + (
        "[budgets]\nmax_lemmas = 3\nverify_timeout_s = 5\n"
        '[leaf]\ntype = "openai"\nbase_url = "http://localhost:2/v1"\nmodel = "prover"\n'
        f'{POLICY}samples = 4\nsystem_prompt = "prompt.txt"\n'
        '[cluster]\naddress = "auto"\nmax_in_flight = 7\n'
    )
    config = load_config(written(tmp_path, text))
    assert config.budgets == Budgets(max_lemmas=3, verify_timeout_s=5)
    assert isinstance(config.leaf, OpenAILeaf)
    assert config.policy is not None
    assert config.policy.samples == 4
    assert config.policy.system_prompt == tmp_path.resolve() / "conf" / "prompt.txt"
    assert (config.cluster.address, config.cluster.max_in_flight) == ("auto", 7)


def test_recorded_leaf(tmp_path: Path) -> None:
    assert load_config(written(tmp_path, MINIMAL + '[leaf]\ntype = "recorded"\n')).leaf == RecordedLeaf()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MINIMAL + 'compltions = "x"\n', "compltions: unknown key; did you mean 'completions'?"),
        (MINIMAL.replace("completions", "compltions"), "compltions: unknown key; did you mean 'completions'?"),
        (MINIMAL + "[budgets]\nmax_lemma = 1\n", "budgets.max_lemma: unknown key; did you mean 'max_lemmas'?"),
        (MINIMAL + '[cluster]\nadress = "auto"\n', "cluster.adress: unknown key; did you mean 'address'?"),
        (
            MINIMAL + '[leaf]\ntype = "tactics"\nscript = []\n',
            "leaf.script: unknown key; did you mean 'scripts'?",
        ),
        (MINIMAL + '[leaf]\ntype = "recorded"\nqqq = 1\n', "leaf.qqq: unknown key; known: type"),
        (
            MINIMAL + '[leaf]\ntype = "magic"\n',
            "leaf: type 'magic' is not known: one of 'tactics', 'openai', 'recorded'",
        ),
        (MINIMAL + "[leaf]\n", "leaf: missing key \"type\": one of 'tactics', 'openai', 'recorded'"),
        (MINIMAL + '[leaf]\ntype = "openai"\nmodel = "m"\n', "leaf.base_url: missing, and has no default"),
        (
            MINIMAL + '[leaf]\ntype = "openai"\nmodel = "m"\nbase_url = "http://h"\ntemplate = "x"\n',
            "leaf.template: 'x' is not known: one of",
        ),
        (MINIMAL + "[budgets]\nmax_lemmas = -1\n", "budgets.max_lemmas: must be a whole number of at least 0, got -1"),
        (
            MINIMAL + '[budgets]\nmax_lemmas = "8"\n',
            "budgets.max_lemmas: must be a whole number of at least 0, got '8'",
        ),
        (
            MINIMAL + "[budgets]\nverify_timeout_s = 0\n",
            "budgets.verify_timeout_s: must be seconds between 0 and 86400",
        ),
        ("budgets = 3\n" + MINIMAL, "budgets: must be a section, got 3"),
        (
            MINIMAL + '[cluster]\nmax_in_flight = "8"\n',
            "cluster.max_in_flight: input should be a valid integer, got '8'",
        ),
        ('completions = "c"\nout = "r"\n', "goals: missing, and has no default"),
        ("goals = 3\n" + MINIMAL.partition("\n")[2], "goals: "),
        (MINIMAL + POLICY, "completions: there, and so is [policy]"),
        ('goals = "g"\nout = "r"\n', "completions: missing, and so is [policy]"),
        (
            'goals = "g"\nout = "r"\n' + POLICY.replace("http://", "ftp://"),
            "policy.base_url: must be an http or https URL",
        ),
        (
            'goals = "g"\nout = "r"\n' + POLICY + "samples = 0\n",
            "policy.samples: input should be greater than or equal to 1, got 0",
        ),
        ('goals = "g"\nout = "r\n', "is not TOML: "),
    ],
)
def test_a_mistake_is_one_error_that_names_the_key(tmp_path: Path, text: str, expected: str) -> None:
    assert refusal(tmp_path, text).startswith(expected)


CONFIGS = sorted((Path(__file__).parents[1] / "configs" / "eval").glob("*.toml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_the_configs_that_come_along_load_and_their_inputs_are_valid(path: Path) -> None:
    config = load_config(path)
    goals = load_goals(config.goals)
    assert len(goals) >= 60
    if config.completions is not None:
        assert len(load_completions(config.completions, goals)) >= 60


def test_the_demo_comes_along() -> None:
    assert "demo.toml" in [path.name for path in CONFIGS]


def test_a_toml_error_names_the_line(tmp_path: Path) -> None:
    assert "line 3" in refusal(tmp_path, 'goals = "g"\nout = "r"\ncompletions = = 3\n')


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the config file: No such file"):
        load_config(tmp_path / "no.toml")
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"goals = '\xff'")
    with pytest.raises(InputError, match="is not UTF-8"):
        load_config(path)
