"""The Hub package: what other tools read of this repository."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from env_kit import PACKAGE, ROOT

import rlmath
from rlmath.detectors import plan_stats
from rlmath.sanitize import PLAN_FORMAT_WORDS
from rlmath.types import Budgets, GoalSpec, Plan, Status

SCRIPT = ROOT / "environments" / "check_package.py"


def test_the_packages_readme_is_a_verbatim_copy() -> None:
    assert (PACKAGE / "README.md").read_bytes() == (ROOT / "docs" / "rlmath-decomp.md").read_bytes()


def test_the_document_names_every_status_metric_and_knob() -> None:
    text = (ROOT / "docs" / "rlmath-decomp.md").read_text(encoding="utf-8")
    shape = plan_stats(Plan((), "skip"), GoalSpec("g", "True"))
    caps = [field.name for field in dataclasses.fields(Budgets)]
    words = [*Status, *shape, *caps, *sorted(PLAN_FORMAT_WORDS), "leaf_attempts_used", "elapsed_s", "score_timeout_s"]
    words += ["cluster_url", "cluster_api_key_env", "cluster_leaf"]
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
@pytest.mark.long
def test_the_package_and_all_environments_work_with_the_other_verifiers() -> None:
    """Installed into an environment of its own, as the Hub does it; and the tests of the environments there."""
    here = importlib.metadata.version("verifiers")
    other = "0.4.0" if here.startswith("0.3.") else "0.3.1"
    command = [sys.executable, str(SCRIPT), "--verifiers", other, "--tests"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        f"rlmath_decomp: verifiers {other}, without Lean: 4 tasks, reward None",
        f"rlmath_decomp: verifiers {other}, with the embedded kernel: 4 tasks, reward 1.0",
    ]
    assert re.search(r"\b1[5-9]\d passed\b", lines[-1]), lines[-1]
