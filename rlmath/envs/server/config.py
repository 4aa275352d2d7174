"""The config file of `rlmath env-server`. `[env]` and `[serve]` are what prime-rl's own `env-server` takes.

[env.taskset]
id = "rlmath-decomp"
[env.taskset.task]
cluster_url = "http://127.0.0.1:8000"   # the gateway that scores, unless there is a [cluster] section
[env.agent.runtime]
type = "subprocess"
[serve]
address = "tcp://127.0.0.1:5055"
max_concurrent = 128                    # rollouts at the same time in each worker
[serve.pool]
type = "static"
num_workers = 2
[cluster]                               # instead of cluster_url: score on a Ray cluster that this server joins
address = "auto"                        # left out: a cluster of its own, on this machine
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from rlmath.envs.remote import ClusterAddress
from rlmath.errors import InputError
from rlmath.validation import read_toml, validate

DEFAULT_ADDRESS = "tcp://127.0.0.1:5000"
"""verifiers' own."""


class _Section(BaseModel):
    """Unknown keys are errors, values are not coerced, instances do not change."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class StaticPool(_Section):
    """`type = "static"`: so many workers, from the start."""

    type: Literal["static"] = "static"
    num_workers: int = Field(default=4, ge=1)


class ElasticPool(_Section):
    """`type = "elastic"`: one worker, and further ones as rollouts become many."""

    type: Literal["elastic"] = "elastic"
    max_workers: int | None = Field(default=None, ge=1)
    """None: no bound."""
    multiplex: int = Field(default=128, ge=1)
    """Rollouts a worker takes: one more is started when 90 % of what all take are under way."""


class ServeSection(_Section):
    """`[serve]`: verifiers' `ServeConfig`, key by key."""

    pool: Annotated[StaticPool | ElasticPool, Field(discriminator="type")] = ElasticPool()
    address: str = DEFAULT_ADDRESS
    """ZeroMQ address to listen at, `tcp://host:port`; port 0 or `*`: any free one."""

    @field_validator("address")
    @classmethod
    def _has_a_port(cls, address: str) -> str:
        """ZeroMQ takes a port modulo 65536, and listens somewhere else."""
        kind, _, rest = address.partition("://")
        port = rest.rpartition(":")[2]
        is_port = port == "*" or (port.isdecimal() and int(port) < 1 << 16)
        if kind not in ("tcp", "ipc") or not rest or (kind == "tcp" and not is_port):
            raise ValueError(f"must be tcp://host:port, as {DEFAULT_ADDRESS}, or ipc://path, got {address!r}")
        return address

    max_concurrent: int | None = Field(default=None, ge=1)
    """Rollouts at the same time in each worker; None: as many as are asked for."""


class ClusterSection(_Section):
    """`[cluster]`: score on a Ray cluster, through a gateway that this server starts there for itself."""

    address: str | None = None
    """Ray address to join (`auto`, `host:port`); None: a local cluster for as long as the server runs."""
    slots: int | None = Field(default=None, ge=1)
    """Checks at the same time on each node; None: its cores."""
    leaves: dict[str, Annotated[Path, Field(strict=False)]] = {}
    """Leaf provers that `cluster_leaf` may name, each a TOML file with a `[leaf]` section."""


class LogSection(_Section):
    """`[log]`: verifiers' own log, to standard error."""

    level: Literal["debug", "info", "warning", "error"] = "warning"
    """`info` has two lines for each rollout."""


class EnvServerConfig(_Section):
    """One environment, how it is served, and what scores it."""

    env: dict[str, Any]
    """verifiers' environment config, for verifiers to check: the section that prime-rl has in each source."""
    serve: ServeSection = ServeSection()
    cluster: ClusterSection | None = None
    log: LogSection = LogSection()

    @model_validator(mode="after")
    def _scored_by_one(self) -> Self:
        url, key = _task(self.env).get("cluster_url"), "env.taskset.task.cluster_url"
        if url is None and self.cluster is None:
            raise InputError(
                key,
                "is missing, and so is [cluster]: set it to the gateway that scores (`rlmath serve`), or add [cluster] "
                "to score on a Ray cluster",
            )
        if url is not None and self.cluster is not None:
            raise InputError(key, "is there, and so is [cluster]: one of them says what scores")
        return self

    def scored_at(self, url: str) -> EnvServerConfig:
        """The same, with this gateway to score."""
        taskset = {**self.env["taskset"], "task": {**_task(self.env), "cluster_url": url}}
        return self.model_copy(update={"env": {**self.env, "taskset": taskset}, "cluster": None})

    def gateway(self) -> ClusterAddress:
        """The gateway that scores, for a config without `[cluster]`. Raises `InputError`."""
        task = _task(self.env)
        for name in ("cluster_url", "cluster_api_key_env", "cluster_leaf"):
            if not isinstance(task.get(name, ""), str):
                raise InputError(f"env.taskset.task.{name}", f"must be a string, got {task[name]!r}")
        return ClusterAddress(task["cluster_url"], task.get("cluster_api_key_env"), task.get("cluster_leaf"))


def load_config(path: Path) -> EnvServerConfig:
    """Read and check a config file; the paths in `[cluster]` become absolute, relative to the file. Raises
    `InputError`."""
    data = read_toml(path, "the config file")
    try:
        config = validate(EnvServerConfig, data)
    except InputError as error:
        raise InputError(f"{path}: {error.field}", error.problem) from None
    if config.cluster is None:
        return config
    base = path.resolve().parent
    leaves = {name: base / leaf for name, leaf in config.cluster.leaves.items()}
    return config.model_copy(update={"cluster": config.cluster.model_copy(update={"leaves": leaves})})


def _task(env: dict[str, Any]) -> dict[str, Any]:
    """`[env.taskset.task]`. Raises `InputError` for what is there and no section."""
    where, section = "env", env
    for name in ("taskset", "task"):
        where += f".{name}"
        section = section.get(name, {})
        if not isinstance(section, dict):
            raise InputError(where, f"must be a section, got {section!r}")
    return section
