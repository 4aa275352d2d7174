"""`rlmath env-server` as a process, and verifiers' own client of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from env_kit import PACKAGE, ROOT
from openai_stub import OpenAIStub

from rlmath import envs
from rlmath.types import GoalSpec

START_S = 120.0
"""For a server to come up or to end: importing verifiers.v1 takes 6 to 9 s, and several times that on a machine that
does something else too."""


@dataclass
class ServerProcess:
    """One process of `rlmath env-server`."""

    process: asyncio.subprocess.Process
    lines: list[str] = field(default_factory=list)
    """What it has said on standard error."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def address(self) -> str:
        """Where it serves, once it has said so."""
        [line] = [line for line in self.lines if "serving at" in line]
        return line.split("serving at ")[1].split(": ")[0]

    async def says(self, text: str) -> str:
        """The first line that has `text` in it."""
        async with asyncio.timeout(START_S):
            while not (found := [line for line in self.lines if text in line]):
                if self.process.returncode is not None:
                    raise AssertionError(f"it has ended without saying {text!r}: {self.lines}")
                self.changed.clear()
                await self.changed.wait()
        return found[0]

    async def ended(self) -> int:
        """Its exit code."""
        async with asyncio.timeout(START_S):
            return await self.process.wait()

    def workers(self) -> list[int]:
        """Process ids of its workers."""
        return _children(self.process.pid)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def is_running(pid: int) -> bool:
    """Whether there is such a process, and not merely its remains."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def config_text(gateway: str, *, task: str = "", serve: str = "max_concurrent = 300", pool: str = "") -> str:
    """A config file of one static worker on a free port."""
    return f"""
[env.taskset]
id = "rlmath-decomp"
[env.taskset.task]
cluster_url = "{gateway}"
{task}
[env.agent.runtime]
type = "subprocess"
[serve]
address = "tcp://127.0.0.1:*"
{serve}
[serve.pool]
{pool or 'type = "static"' + chr(10) + "num_workers = 1"}
"""


@asynccontextmanager
async def env_server(folder: Path, text: str, *arguments: str) -> AsyncIterator[ServerProcess]:
    """Started, perhaps not up yet; at the end it is killed if it still runs, and so are its workers."""
    path = folder / "env-server.toml"
    path.write_text(text, encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "rlmath.cli",
        "env-server",
        str(path),
        *arguments,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, PACKAGE))), "RLMATH_TEST_KEY": "k"},
    )
    server = ServerProcess(process)

    async def read() -> None:
        assert process.stderr is not None
        async for line in process.stderr:
            server.lines.append(line.decode().rstrip())
            server.changed.set()
        server.changed.set()

    reading = asyncio.create_task(read())
    try:
        yield server
    finally:
        for pid in [*server.workers(), process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await process.wait()
        reading.cancel()


@asynccontextmanager
async def env_client(address: str) -> AsyncIterator[Any]:
    """verifiers' client, which has to be closed."""
    from verifiers.v1.serve import EnvClient

    client = EnvClient(address=address)
    try:
        yield client
    finally:
        await client.close()


async def ask(client: Any, stub: OpenAIStub, goal: GoalSpec) -> Any:
    """One rollout of one goal, as a trainer has it run; its episode."""
    import verifiers.v1 as vf

    [task] = envs.build_taskset(goals=[goal])
    return await client.run(
        client=vf.EvalClientConfig(base_url=stub.base_url, api_key_var="RLMATH_TEST_KEY"),
        model="stub",
        sampling=vf.SamplingConfig(max_tokens=256),
        task_data=task.data.model_dump(mode="json", exclude_none=True),
    )


async def ask_all(client: Any, stub: OpenAIStub, goals: Iterable[GoalSpec]) -> list[Any]:
    """The trace of one rollout of each goal, all at once."""
    episodes = await asyncio.gather(*(ask(client, stub, goal) for goal in goals))
    return [trace for episode in episodes for trace in episode.traces]
