"""What `rlmath env-server` refuses, in one line, and what its probe says."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq
from env_kit import PACKAGE, ROOT
from env_server_kit import config_text
from gateway_kit import keyed, listening

from cluster.gateway.settings import GatewaySettings
from rlmath.commands import env_server as command
from rlmath.envs.server import config as configs
from rlmath.envs.server.config import load_config
from rlmath.envs.server.wire import WIRE_03, WIRE_04, Wire, healthy, installed_wire
from rlmath.envs.server.worker import _checked
from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.embedded import EmbeddedKernel


def env_server(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, (ROOT, PACKAGE)))
    return subprocess.run(
        [sys.executable, "-m", "rlmath.cli", "env-server", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path, **environment},
        check=False,
    )


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a refusal."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    [line] = [line for line in done.stderr.splitlines() if "rlmath: error:" in line]
    return line.removeprefix("rlmath: error: ")


URL = "http://127.0.0.1:9"
GOOD = config_text(URL)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "env: missing, and has no default"),
        ("[env", "is not TOML"),
        (GOOD.replace("[serve]", "[server]"), "server: unknown key; did you mean 'serve'?"),
        (GOOD.replace("num_workers", "workers"), "serve.pool.workers: unknown key; did you mean 'num_workers'?"),
        (GOOD.replace('"static"', '"stat"'), "serve.pool: type 'stat' is not known: one of 'static', 'elastic'"),
        (GOOD.replace("max_concurrent = 300", "max_concurrent = 0"), "serve.max_concurrent: input should be greater"),
        (GOOD.replace("cluster_url", "max_lemmas_"), "env.taskset.task.cluster_url: is missing, and so is [cluster]"),
        (GOOD.replace(":*", ":22222222"), "serve.address: must be tcp://host:port, as tcp://127.0.0.1:5000"),
        (GOOD.replace("tcp://127.0.0.1:*", "127.0.0.1:5055"), "serve.address: must be tcp://host:port"),
        (GOOD + "[cluster]\n", "env.taskset.task.cluster_url: is there, and so is [cluster]"),
        (GOOD + '[cluster]\nadress = "auto"\n', "cluster.adress: unknown key; did you mean 'address'?"),
        ('env = {taskset = "rlmath-decomp"}', "env.taskset: must be a section"),
    ],
)
def test_a_config_that_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "env-server.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_config(path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_gateway_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "env-server.toml"
    for url, said in [('"localhost"', "cluster_url: must be http://host:port"), ("8000", "must be a string, got 8000")]:
        path.write_text(GOOD.replace(f'"{URL}"', url), encoding="utf-8")
        with pytest.raises(InputError, match=said):
            load_config(path).gateway()


def test_the_leaf_files_of_a_cluster_are_relative_to_the_config(tmp_path: Path) -> None:
    path = tmp_path / "env-server.toml"
    text = re.sub("cluster_url.*", "", GOOD)
    path.write_text(text + '[cluster]\nslots = 2\nleaves = {big = "big.toml"}\n', encoding="utf-8")
    config = load_config(path)
    assert config.cluster is not None
    assert config.cluster.leaves == {"big": tmp_path / "big.toml"}
    scored = config.scored_at(URL)
    assert (scored.cluster, scored.gateway().url) == (None, URL)
    assert scored.env["agent"] == config.env["agent"]


def test_the_helps_example_is_a_config_that_loads(tmp_path: Path) -> None:
    text = env_server("--help").stdout
    path = tmp_path / "env-server.toml"
    blocks = re.findall(r"(?m)(?:^  [\[a-z].*\n|^\n(?=  \[))+", text)
    url = next(block for block in blocks if "cluster_url" in block)
    cluster = next(block for block in blocks if "[cluster]" in block)
    for number, example in enumerate((url, re.sub("cluster_url.*", "", url) + cluster)):
        path.write_text(example, encoding="utf-8")
        config = load_config(path)
        assert (config.cluster is None) == (number == 0)
        assert config.serve.address == "tcp://127.0.0.1:5055"


@pytest.mark.slow
def test_the_serve_section_is_verifiers() -> None:
    from verifiers.v1.configs import serve as theirs

    for mine, their in [
        (configs.ServeSection, theirs.ServeConfig),
        (configs.StaticPool, theirs.StaticPoolConfig),
        (configs.ElasticPool, theirs.ElasticPoolConfig),
    ]:
        assert set(mine.model_fields) == set(their.model_fields)
        for name in set(mine.model_fields) - {"pool", "address"}:
            assert mine.model_fields[name].default == their.model_fields[name].default


@pytest.mark.slow
async def test_an_environment_that_is_none_is_refused(tmp_path: Path, kernel: EmbeddedKernel) -> None:
    async with listening(kernel) as (_, server):
        path = tmp_path / "env-server.toml"
        path.write_text(config_text(server.url).replace('"rlmath-decomp"', '"rlmath-decomb"'), encoding="utf-8")
        line = refused(await asyncio.to_thread(env_server, path))
    assert line.startswith(f"{path}: env: ")
    assert "rlmath-decomb" in line


@pytest.mark.slow
def test_a_wrong_environment_is_told_though_the_gateway_does_not_answer(tmp_path: Path) -> None:
    path = tmp_path / "env-server.toml"
    path.write_text(config_text(URL, task="max_lemma = 3"), encoding="utf-8")
    assert refused(env_server(path)) == f"{path}: env.taskset.task.max_lemma: unknown key"


@pytest.mark.slow
def test_a_wrong_key_of_the_environment_is_named() -> None:
    env = {"taskset": {"id": "rlmath-decomp", "task": {"max_lemma": 3}}, "agent": {"runtime": {"type": "subprocess"}}}
    with pytest.raises(InputError, match=r"env\..*max_lemma"):
        _checked(env)
    with pytest.raises(InputError, match=r"env: .*nowhere"):
        _checked({"taskset": {"id": "rlmath-decomp"}, "agent": {"harness": {"id": "nowhere"}}})


async def test_a_gateway_that_refuses_the_key_or_is_not_there(
    tmp_path: Path, kernel: EmbeddedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "env-server.toml"
    settings, _ = keyed(tmp_path / "keys.json", "trainer")
    async with listening(kernel, GatewaySettings(port=0, api_keys=settings.api_keys)) as (_, server):
        path.write_text(config_text(server.url, task='cluster_api_key_env = "RLMATH_NO_KEY"'), encoding="utf-8")
        assert "RLMATH_NO_KEY is not set" in refused(await asyncio.to_thread(env_server, path))
        done = await asyncio.to_thread(env_server, path, RLMATH_NO_KEY="rlm_wrong")
        assert refused(done).startswith(f"{path}: api_key: ")
    monkeypatch.setattr(command, "GATEWAY_S", 0.5)
    path.write_text(config_text(server.url), encoding="utf-8")
    with pytest.raises(KernelUnavailable, match="gateway at"):
        await command._gateway(load_config(path))


async def test_an_address_that_is_taken(tmp_path: Path, kernel: EmbeddedKernel) -> None:
    async with listening(kernel) as (_, server):
        with answering(None) as address:
            path = tmp_path / "env-server.toml"
            path.write_text(config_text(server.url).replace("tcp://127.0.0.1:*", address), encoding="utf-8")
            line = refused(await asyncio.to_thread(env_server, path))
    assert line == f"{path}: serve.address: cannot listen at {address}: Address already in use"


# --- the probe -------------------------------------------------------------------------------------------------------


@contextmanager
def answering(frames: list[bytes] | None) -> Iterator[str]:
    """A ZeroMQ server that answers each request with these frames after its id; None: with nothing."""
    context = zmq.Context()
    socket = context.socket(zmq.ROUTER)
    socket.bind("tcp://127.0.0.1:*")
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            if socket.poll(50):
                client, request_id, *_ = socket.recv_multipart()
                if frames is not None:
                    socket.send_multipart([client, request_id, *frames])

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield socket.getsockopt_string(zmq.LAST_ENDPOINT)
    finally:
        over.set()
        thread.join()
        socket.close(linger=0)
        context.term()


def _frames(wire: Wire) -> list[bytes]:
    return wire.reply(b"", healthy())[1:]


def test_a_server_of_the_same_release_is_up() -> None:
    wire = installed_wire()
    with answering(_frames(wire)) as address:
        done = env_server("--probe", address)
    assert (done.returncode, done.stdout) == (0, f"{address}: up, with the wire of verifiers {wire.release}\n")


def test_a_server_of_the_other_release_is_named() -> None:
    here = installed_wire()
    there = WIRE_03 if here == WIRE_04 else WIRE_04
    with answering(_frames(there)) as address:
        done = env_server("--probe", address)
    assert done.returncode == 1
    assert f"speaks the wire of verifiers {there.release}, and {here.release} is installed here" in done.stderr
    assert "Install the same release on both sides" in done.stderr


def test_what_is_no_server_is_not_up(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from rlmath import cli

    monkeypatch.setattr(command, "PROBE_S", 0.3)
    said: list[Any] = []
    for frames in (None, [b""] * 5):
        with answering(frames) as address:
            assert cli.main(["env-server", "--probe", address]) == 1
        said.append(capsys.readouterr().err)
    assert "no environment server answers" in said[0]
    assert "is no environment server of verifiers" in said[1]
    assert cli.main(["env-server", "--probe", "localhost:5000"]) == 2
    assert "is no address" in capsys.readouterr().err
