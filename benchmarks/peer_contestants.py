"""The contestants of the race (`peers.py`): installing them, starting them, and what is measured of one."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests" / "kernels")]

from kernel_kit import Workspace  # noqa: E402
from peer_snippets import Snippet  # noqa: E402

from rlmath.kernel.embedded.build import Prelude  # noqa: E402
from rlmath.kernel.process_tree import tree  # noqa: E402

PINNED = {
    "interact": ("lean-interact==0.11.6",),
    # A newer FastAPI breaks this server.
    "kimina": ("kimina-ast-server==2.1.3", "kimina-client==0.2.1", "fastapi==0.115.13"),
}
START_S = 120.0


@dataclass
class Contestant:
    """A running contestant and what was measured of it."""

    name: str
    process: subprocess.Popen[str]
    servers: list[int] = field(default_factory=list)
    """Processes that belong to it besides its own."""
    rates: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    mixed: list[float] = field(default_factory=list)
    wrong: int = 0
    lost: int = 0
    after_timeout_ms: float = float("nan")
    recovery_ms: float = float("nan")
    memory_mb: float = float("nan")

    def run(self, snippets: Sequence[Snippet], in_flight: int, timeout_s: float) -> tuple[float, list[float]]:
        """Wall seconds and each check's seconds; verdicts are looked at."""
        # An AutoLeanServer serves one thread: a timeout of one takes the process from under the others.
        in_flight = 1 if self.name == "auto" else in_flight
        answer = self.ask([[s.text, timeout_s] for s in snippets], in_flight)
        for each, (verdict, _) in zip(snippets, answer["results"], strict=True):
            self.lost += verdict == "lost" and "lost" not in each.expected
            self.wrong += verdict not in each.expected and verdict != "lost"
        return answer["wall_s"], [seconds for _, seconds in answer["results"]]

    def ask(self, checks: Sequence[Sequence[object]], in_flight: int) -> dict[str, Any]:
        """One request to its process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"checks": checks, "in_flight": in_flight}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} has died")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def family(self) -> list[int]:
        """All its processes."""
        return [pid for first in (self.process.pid, *self.servers) for pid in tree(first)]

    def leans(self) -> list[int]:
        """Those that hold or run Lean, and nothing that a contestant's own code runs in."""
        words = ("rlmath.cli\0repl", "embedded.image", "rlmath.repl.environment", "lean_command")
        return [pid for pid in self.family() if any(word in _command_line(pid) for word in words)]


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def proportional_mb(pids: Sequence[int]) -> float:
    """Memory of processes, what they share counted once."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += int(next(line for line in rollup.splitlines() if line.startswith("Pss:")).split()[1])
    return total / 1024


def environment(cache: Path, name: str) -> Path:
    """The Python of a peer's own environment, made when it is not there."""
    home = cache / f"{name}-py{sys.version_info.major}.{sys.version_info.minor}"
    python = home / "bin" / "python"
    ready = home / "ready"
    wanted = "\n".join(PINNED[name])
    if not ready.is_file() or ready.read_text() != wanted:
        print(f"installing {', '.join(PINNED[name])} into {home}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
        install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", *PINNED[name]]
        subprocess.run(install, check=True)
        ready.write_text(wanted)
    return python


def wait_for(url: str) -> None:
    """Until a server answers."""
    deadline = time.monotonic() + START_S
    while True:
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


@contextlib.contextmanager
def started(name: str, argv: Sequence[str]) -> Iterator[Contestant]:
    """A contestant from its first line of output to its end."""
    # Standard error is part of the story only when something goes wrong.
    with open(os.devnull if "QUIET" in os.environ else "/dev/stderr", "w") as errors:
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise RuntimeError(f"{name} did not start")
        yield Contestant(name, process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            for pid in reversed(tree(process.pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def kimina_server(python: Path, workspace: Workspace, slots: int) -> Iterator[tuple[str, int]]:
    """The published server on a free port: its address and process id."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {
        "SKIP_VALIDATION": "1",
        "WORKSPACE": workspace.repl.parent,
        "REPL_PATH": workspace.repl / ".lake" / "build" / "bin" / "repl",
        "PROJECT_DIR": workspace.project,
        "HOST": "127.0.0.1",
        "PORT": port,
        "MAX_REPLS": slots,
        "ENVIRONMENT": "prod",
        "LOG_LEVEL": "ERROR",
    }
    variables = {f"LEAN_SERVER_{key}": str(value) for key, value in settings.items()}
    path = f"{workspace.lake.parent}:{os.environ['PATH']}"
    process = subprocess.Popen(
        [python, str(HERE / "peer_kimina.py")],
        env={**os.environ, **variables, "PATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        for pid in reversed(tree(process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def contestants(args: argparse.Namespace, prelude: Prelude, workspace: Workspace) -> Iterator[list[Contestant]]:
    """Those that were asked for, running."""
    slots = str(args.slots)
    runner = (sys.executable, str(HERE / "peer_runner.py"))
    places = (str(workspace.lake), str(workspace.repl), str(workspace.project))
    with contextlib.ExitStack() as stack:

        def enter(name: str, argv: Sequence[str], servers: Sequence[int] = ()) -> None:
            contestant = stack.enter_context(started(name, argv))
            contestant.servers += servers
            running.append(contestant)

        running: list[Contestant] = []
        make: dict[str, Callable[[], None]] = {
            "embedded": lambda: enter("embedded", [*runner, "embedded", slots]),
            "repl": lambda: enter("repl", [*runner, "repl", slots, *places]),
            "gateway": lambda: enter("gateway", [*runner, "http", args.gateway]),
            "pool": lambda: enter("pool", [str(interact()), str(HERE / "peer_interact.py"), *places, slots]),
            "auto": lambda: enter("auto", [str(interact()), str(HERE / "peer_interact.py"), *places, "0"]),
            "kimina": lambda: kimina(),
            "lean": lambda: enter("lean", [*runner, "lean", slots, str(prelude.shared_library), str(prelude.path)]),
        }

        def interact() -> Path:
            return environment(args.cache, "interact")

        def kimina() -> None:
            python = environment(args.cache, "kimina")
            url, pid = stack.enter_context(kimina_server(python, workspace, args.slots))
            enter("kimina", [*runner, "http", url], [pid])

        for name in args.only:
            make[name]()
        yield running
