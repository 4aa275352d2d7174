"""configs/ray, configs/kuberay and configs/grafana: Ray's own validators accept them, and what they name is there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from ray.autoscaler._private.kuberay.autoscaling_config import _derive_autoscaling_config_from_ray_cr
from ray.autoscaler._private.util import prepare_config, validate_config

from cluster import metrics
from rlmath.cli import _parser

CONFIGS = Path(__file__).parents[2] / "configs"
RAY = sorted((CONFIGS / "ray").glob("*.yaml"))
KUBERAY = CONFIGS / "kuberay" / "raycluster.yaml"


def commands(path: Path) -> list[list[str]]:
    """The `rlmath` command lines that a file's comments tell people to run."""
    text = path.read_text().replace("\\\n#", "")
    return [shlex.split(line.rstrip("'"))[1:] for line in re.findall(r"\brlmath serve [^\n]*", text)]


@pytest.mark.parametrize("path", RAY, ids=lambda path: path.stem)
def test_ray_accepts_it(path: Path) -> None:
    config: dict[str, Any] = yaml.safe_load(path.read_text())
    validate_config(prepare_config(config))


def test_there_is_one_for_each_place() -> None:
    assert [path.stem for path in RAY] == ["aws", "fake", "gcp", "local"]


@pytest.mark.parametrize("name", ["aws", "gcp"])
def test_a_worker_takes_up_a_whole_box_and_the_head_makes_no_checks(name: str) -> None:
    path = CONFIGS / "ray" / f"{name}.yaml"
    config = prepare_config(yaml.safe_load(path.read_text()))
    box = config["available_node_types"]["cpu64"]
    assert config["available_node_types"]["head"]["resources"] == {"CPU": 0}
    assert (box["min_workers"], box["max_workers"]) == (0, 8)
    (command,) = commands(path)
    asked = _parser().parse_args(command)
    assert (asked.slots, asked.max_workers) == (box["resources"]["lean"], box["max_workers"])
    # What the checks may use at most, and Ray's own things.
    assert box["resources"]["memory"] >= asked.slots * (4 << 30)


def test_the_other_commands_are_there_too() -> None:
    (command,) = commands(CONFIGS / "ray" / "local.yaml")
    assert _parser().parse_args(command).cluster == "auto"


def test_kuberay_makes_of_it_what_was_meant() -> None:
    cluster = yaml.safe_load(KUBERAY.read_text())
    cluster["metadata"]["namespace"] = "default"
    derived = _derive_autoscaling_config_from_ray_cr(cluster)
    types = derived["available_node_types"]
    assert types["headgroup"]["resources"]["CPU"] == 0
    assert (types["cpu30"]["min_workers"], types["cpu30"]["max_workers"]) == (0, 8)
    (command,) = commands(KUBERAY)
    asked = _parser().parse_args(command)
    assert (asked.slots, asked.max_workers) == (types["cpu30"]["resources"]["lean"], 8)
    assert types["cpu30"]["resources"]["memory"] >= asked.slots * (4 << 30)


def test_the_dashboard_shows_every_metric_and_no_other() -> None:
    dashboard = json.loads((CONFIGS / "grafana" / "rlmath.json").read_text())
    shown = {
        name
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in re.findall(r"\bray_\w+", target["expr"])
    }
    series = {metric.name: set(metric.series) for metric in metrics.ALL}
    assert shown <= set().union(*series.values())
    assert [name for name, of in series.items() if not of & shown] == []


def test_the_dashboard_asks_for_tags_that_there_are() -> None:
    dashboard = json.loads((CONFIGS / "grafana" / "rlmath.json").read_text())
    tags = {series: set(metric.tags) for metric in metrics.ALL for series in metric.series}
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            named = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            (series, *_) = re.findall(r"\bray_\w+", target["expr"])
            assert named <= tags[series], target


def test_every_metric_is_told_by_somebody() -> None:
    names = [metric.name for metric in metrics.ALL]
    assert len(set(names)) == len(names)
    declared = {value for value in vars(metrics).values() if isinstance(value, metrics.Metric)}
    assert declared == set(metrics.ALL)
    told = (Path(metrics.__file__).parent / "telemetry.py").read_text()
    constants = {name for name, value in vars(metrics).items() if isinstance(value, metrics.Metric)}
    assert [name for name in constants if f"names.{name}" not in told] == []
