"""The Hub package and the prime-rl configs: what other tools read of this repository."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from env_kit import PACKAGE, ROOT

import rlmath
from rlmath import envs
from rlmath.detectors import plan_stats
from rlmath.sanitize import PLAN_FORMAT_WORDS
from rlmath.types import Budgets, GoalSpec, Plan, Status

SCRIPT = ROOT / "environments" / "check_package.py"

PRIME_RL = {
    "max_steps": None,
    "seq_len": None,
    "model": {"name": None},
    "orchestrator": {
        "batch_size": None,
        "group_size": None,
        "concurrency": {"max_inflight": None},
        "train": {
            "sampling": {"max_completion_tokens": None},
            "source": {
                "name": None,
                "ratio": None,
                "group_size": None,
                "env": None,
                "serve": {
                    "address": None,
                    "max_concurrent": None,
                    "pool": {"type": None, "num_workers": None},
                },
            },
        },
        "eval": {
            "interval": None,
            "num_examples": None,
            "source": {"name": None, "env": None, "serve": {"address": None}},
        },
    },
    "trainer": {},
    "inference": {},
}
"""Keys that prime-rl's config classes accept (commit 559b447), as far as we use them. What is below `env` is verifiers'
and is checked by its classes."""


def _unknown(config: dict[str, Any], known: dict[str, Any], where: str = "") -> list[str]:
    wrong = [f"{where}{key}" for key in config if key not in known]
    for key, value in config.items():
        if isinstance(known.get(key), dict):
            for part in value if isinstance(value, list) else [value]:
                wrong += _unknown(part, known[key], f"{where}{key}.")
    return wrong


CONFIGS = sorted((ROOT / "configs" / "prime-rl").glob("*.toml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_prime_rl_configs_hold_keys_that_prime_rl_knows(path: Path) -> None:
    config = tomllib.loads(path.read_text(encoding="utf-8"))
    assert _unknown(config, PRIME_RL) == []
    assert _unknown({"orchestrator": {"train": {"source": [{"nmae": 1}]}}}, PRIME_RL) == [
        "orchestrator.train.source.nmae"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_prime_rl_sources_are_environments_of_ours(path: Path) -> None:
    import verifiers.v1 as vf

    config = tomllib.loads(path.read_text(encoding="utf-8"))["orchestrator"]
    sources = [*config["train"]["source"], *config["eval"]["source"]]
    assert sources
    for source in sources:
        resolved = vf.resolve_env_config(source["env"])
        assert type(resolved.taskset) is envs.DecompositionConfig
        assert resolved.taskset.goals is not None
        assert resolved.agent.runtime.type == "subprocess"
        assert type(vf.load_environment(resolved)._harnesses["agent"]) is envs.DirectHarness


def test_the_packages_readme_is_a_verbatim_copy() -> None:
    assert (PACKAGE / "README.md").read_bytes() == (ROOT / "docs" / "rlmath-decomp.md").read_bytes()


def test_the_document_names_every_status_metric_and_knob() -> None:
    text = (ROOT / "docs" / "rlmath-decomp.md").read_text(encoding="utf-8")
    shape = plan_stats(Plan((), "skip"), GoalSpec("g", "True"))
    caps = [field.name for field in dataclasses.fields(Budgets)]
    words = [*Status, *shape, *caps, *sorted(PLAN_FORMAT_WORDS), "leaf_attempts_used", "elapsed_s", "score_timeout_s"]
    assert [word for word in words if f"`{word}`" not in text] == []


def test_the_package_pins_the_library_it_re_exports() -> None:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    library = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"rlmath=={rlmath.__version__}" in project["dependencies"]
    assert library["version"] == rlmath.__version__
    assert set(library["optional-dependencies"]["envhub"]) <= set(project["dependencies"])
    assert project["requires-python"] == library["requires-python"]


def test_a_package_that_is_not_pinned_to_a_commit_may_not_be_pushed(tmp_path: Path) -> None:
    (tmp_path / "rlmath_decomp").mkdir()
    text = (PACKAGE / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "rlmath_decomp" / "README.md").write_bytes((PACKAGE / "README.md").read_bytes())

    def may_be_pushed(pin: str) -> bool:
        changed = text.replace(f'"rlmath=={rlmath.__version__}"', f'"{pin}"')
        (tmp_path / "rlmath_decomp" / "pyproject.toml").write_text(changed, encoding="utf-8")
        command = [sys.executable, str(SCRIPT), str(tmp_path / "rlmath_decomp"), "--for-publication"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    repository = "git+https://example.org/rlmath"
    assert may_be_pushed(f"rlmath @ {repository}@{'0123456789abcdef' * 2}01234567")
    for pin in (
        "rlmath==0.1.0",
        f"rlmath @ {repository}",
        f"rlmath @ {repository}@main",
        f"rlmath @ {repository}@0123",
    ):
        assert not may_be_pushed(pin)


def test_the_package_re_exports_and_does_nothing_else() -> None:
    code = [line for path in PACKAGE.glob("rlmath_*/*.py") for line in path.read_text(encoding="utf-8").splitlines()]
    assert not [line for line in code if line.startswith(("def ", "class ", "async "))]


@pytest.mark.slow
def test_the_package_works_where_it_is_installed_alone() -> None:
    """In an environment of its own, with the verifiers that is installed here."""
    version = importlib.metadata.version("verifiers")
    command = [sys.executable, str(SCRIPT), "--verifiers", version]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"rlmath_decomp: verifiers {version}, without Lean: 4 tasks, reward None",
        f"rlmath_decomp: verifiers {version}, with the embedded kernel: 4 tasks, reward 1.0",
    ]
