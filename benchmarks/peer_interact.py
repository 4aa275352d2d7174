"""LeanInteract as a contestant of `peers.py`, run by the Python of an environment that has nothing else in it.

    python peer_interact.py LAKE REPL PROJECT WORKERS

WORKERS 0: one `AutoLeanServer`; else a `LeanServerPool`. For each line of JSON {"checks": [[text, timeout_s], …],
"in_flight": n} on standard input, one line {"results": [[verdict, seconds], …], "wall_s": s} on standard output.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

from lean_interact import AutoLeanServer, Command, LeanREPLConfig, LeanServerPool, LocalProject
from lean_interact.interface import CommandResponse

NO_AXIOMS = "does not depend on any axioms"


def main() -> None:
    """Serve standard input."""
    lake, repl, project, workers = sys.argv[1:]
    config = LeanREPLConfig(
        project=LocalProject(directory=project, lake_path=lake, auto_build=False),
        local_repl_path=repl,
        build_repl=False,
        lake_path=lake,
    )
    server: Any = LeanServerPool(config, num_workers=int(workers)) if int(workers) else AutoLeanServer(config)

    def check(pair: tuple[str, float]) -> tuple[str, float]:
        text, timeout_s = pair
        started = time.perf_counter()
        try:
            reply = server.run(Command(cmd=text), timeout=timeout_s)
            verdict = judge(reply) if isinstance(reply, CommandResponse) else "crash"
        except TimeoutError:
            verdict = "timeout"
        except Exception as error:
            print(repr(error)[:300], file=sys.stderr)
            verdict = "lost"
        return verdict, time.perf_counter() - started

    print(json.dumps({"versions": {"lean-interact": version("lean-interact")}}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        started = time.perf_counter()
        with ThreadPoolExecutor(request["in_flight"]) as threads:
            results = list(threads.map(check, request["checks"]))
        print(json.dumps({"results": results, "wall_s": time.perf_counter() - started}), flush=True)


def judge(reply: CommandResponse) -> str:
    """The verdict on a theorem whose axioms were asked for."""
    if reply.has_errors():
        return "invalid"
    return "valid" if any(NO_AXIOMS in message.data for message in reply.messages) else "invalid"


main()
