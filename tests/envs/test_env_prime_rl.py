"""The prime-rl configs: those for `rl` hold keys that prime-rl's classes accept and environments that verifiers' do;
those for env servers load, and fit the sources that ask them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from env_kit import ROOT

from rlmath import envs
from rlmath.envs.server.config import load_config

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


FOLDER = ROOT / "configs" / "prime-rl"
SERVERS = sorted(FOLDER.glob("env-server*.toml"))
CONFIGS = sorted(set(FOLDER.glob("*.toml")) - set(SERVERS))


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
    from verifiers.v1.configs.serve import ServeConfig

    config = tomllib.loads(path.read_text(encoding="utf-8"))["orchestrator"]
    sources = [*config["train"]["source"], *config["eval"]["source"]]
    assert sources
    for source in sources:
        resolved = vf.resolve_env_config(source["env"])
        assert type(resolved.taskset) is envs.DecompositionConfig
        assert resolved.taskset.goals is not None
        assert resolved.agent.runtime.type == "subprocess"
        assert type(vf.load_environment(resolved)._harnesses["agent"]) is envs.DirectHarness
        managed = "address" not in source.get("serve", {})
        assert (resolved.taskset.task.cluster() is not None) == managed, "it counts only where the server is prime-rl's"
        ServeConfig.model_validate(source.get("serve", {}))


@pytest.mark.slow
def test_the_sources_that_are_served_elsewhere_have_their_server() -> None:
    import verifiers.v1 as vf
    from verifiers.v1.configs.serve import ServeConfig

    servers = {config.serve.address: config for config in map(load_config, SERVERS)}
    assert servers
    orchestrator = tomllib.loads((FOLDER / "external.toml").read_text(encoding="utf-8"))["orchestrator"]
    for source in (*orchestrator["train"]["source"], *orchestrator["eval"]["source"]):
        server = servers[source["serve"]["address"]]
        there, here = vf.resolve_env_config(server.env), vf.resolve_env_config(source["env"])
        # Each side makes the tasks itself, and prime-rl compares them.
        assert type(there.taskset) is type(here.taskset)
        assert there.taskset.system_prompt == here.taskset.system_prompt
        assert there.agent.harness.id == here.agent.harness.id
        assert there.taskset.task.cluster() == server.gateway()
    for server in servers.values():
        ServeConfig.model_validate(server.serve.model_dump())


def test_a_commented_line_of_a_servers_config_is_a_key_too(tmp_path: Path) -> None:
    for path in SERVERS:
        lines = path.read_text(encoding="utf-8").splitlines()
        keys = ("# cluster_", "# [", "# slots", "# leaves", "# address")
        loose = [line.removeprefix("# ") if line.startswith(keys) else line for line in lines]
        other = tmp_path / path.name
        other.write_text("\n".join(line for line in loose if not line.startswith("cluster_url")), encoding="utf-8")
        config = load_config(other)
        assert config.cluster is not None
        assert config.cluster.leaves == {"prover": tmp_path / "prover.toml"}
        assert {"cluster_api_key_env", "cluster_leaf"} <= set(config.env["taskset"]["task"])
