"""The contestants of `peers.py` that are ours, and Kimina's as seen by a client. Each runs in a process of its own.

    python peer_runner.py embedded SLOTS
    python peer_runner.py repl SLOTS LAKE REPL PROJECT
    python peer_runner.py lean SLOTS LIBRARY LEAN_PATH
    python peer_runner.py http URL

The protocol is that of `peer_interact.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx

from rlmath.errors import KernelUnavailable
from rlmath.kernel.config import LocalProject, ReplKernelConfig
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.process_tree import kill_tree
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.kernel.repl import make_repl_kernel

NO_AXIOMS = "does not depend on any axioms"
LEAN = Path(__file__).parents[1] / "rlmath" / "kernel" / "embedded" / "lean_command.py"
Check = Callable[[str, float], Awaitable[str]]


@contextlib.asynccontextmanager
async def ours(kernel: Any) -> AsyncIterator[Check]:
    """One of our kernels, as a contestant."""

    async def check(text: str, timeout_s: float) -> str:
        try:
            return judge(await kernel.check(Source(text), timeout_s=timeout_s))
        except KernelUnavailable as error:
            print(error, file=sys.stderr)
            return "lost"

    async with kernel:
        yield check


def judge(result: CheckResult) -> str:
    """The verdict on a theorem whose axioms were asked for in the text itself, as the others are."""
    if result.timed_out:
        return "timeout"
    if result.crashed is not None:
        return "crash"
    if result.errors:
        return "invalid"
    return "valid" if any(NO_AXIOMS in message.text for message in result.messages) else "invalid"


@contextlib.asynccontextmanager
async def one_shot(slots: int, library: str, lean_path: str) -> AsyncIterator[Check]:
    """A `lean` process for each check."""
    free = asyncio.Semaphore(slots)

    async def check(text: str, timeout_s: float) -> str:
        async with free:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, str(LEAN), library, "--json", "--stdin"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "LEAN_PATH": lean_path},
                start_new_session=True,
            )
            try:
                async with asyncio.timeout(timeout_s):
                    out, _ = await process.communicate(text.encode())
            except TimeoutError:
                return "timeout"
            finally:
                if process.returncode is None:
                    kill_tree(process.pid)
                    await process.wait()
        if process.returncode not in (0, 1):
            return "crash"
        messages = [json.loads(line) for line in out.splitlines()]
        if any(message["severity"] == "error" for message in messages):
            return "invalid"
        return "valid" if any(NO_AXIOMS in message["data"] for message in messages) else "invalid"

    yield check


@contextlib.asynccontextmanager
async def over_http(url: str) -> AsyncIterator[Check]:
    """A server with Kimina's `/api/check`, one snippet a request, as its users do."""
    async with httpx.AsyncClient(base_url=url, timeout=600, limits=httpx.Limits(max_connections=64)) as client:

        async def check(text: str, timeout_s: float) -> str:
            # Without an import the server counts the start of a REPL as time of the snippet.
            snippet = {"id": os.urandom(8).hex(), "code": f"import Init\n{text}"}
            body = {"snippets": [snippet], "timeout": math.ceil(timeout_s), "reuse": True}
            try:
                response = await client.post("/api/check", json=body)
                [result] = response.raise_for_status().json()["results"]
            except (httpx.HTTPError, ValueError, KeyError) as error:
                print(repr(error), file=sys.stderr)
                return "lost"
            if (error := result.get("error")) is not None:
                print(error, file=sys.stderr)
                return "timeout" if "timed out" in error and "header" not in error else "lost"
            said = result["response"]
            if "message" in said:
                return "crash"
            messages = said.get("messages") or []
            if any(message["severity"] == "error" for message in messages):
                return "invalid"
            return "valid" if any(NO_AXIOMS in message["data"] for message in messages) else "invalid"

        yield check


def contestant(arguments: list[str]) -> contextlib.AbstractAsyncContextManager[Check]:
    """What the command line names."""
    match arguments:
        case ["embedded", slots]:
            return ours(EmbeddedKernel(slots=int(slots)))
        case ["repl", slots, lake, repl, project]:
            config = ReplKernelConfig(
                project=LocalProject(directory=Path(project)),
                lake=Path(lake),
                repl_path=Path(repl),
                header="",
                spares=int(slots),
            )
            return ours(make_repl_kernel(config, slots=int(slots)))
        case ["lean", slots, library, lean_path]:
            return one_shot(int(slots), library, lean_path)
        case ["http", url]:
            return over_http(url)
        case _:
            raise SystemExit(__doc__)


async def main() -> None:
    """Serve standard input."""
    async with contestant(sys.argv[1:]) as check:
        print(json.dumps({"versions": {}}), flush=True)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            request = json.loads(line)
            window = asyncio.Semaphore(request["in_flight"])

            async def timed(text: str, timeout_s: float, window: asyncio.Semaphore = window) -> tuple[str, float]:
                async with window:
                    started = time.perf_counter()
                    return await check(text, timeout_s), time.perf_counter() - started

            started = time.perf_counter()
            results = await asyncio.gather(*(timed(*pair) for pair in request["checks"]))
            print(json.dumps({"results": results, "wall_s": time.perf_counter() - started}), flush=True)


asyncio.run(main())
