"""One worker of an environment server: verifiers' own `serve_env` in a process of its own.

    python -m rlmath.envs.server.worker < job

The job is one line of JSON on standard input (`Job`). The process ends when its standard input does, so it never
outlives the supervisor. A job that cannot be served is one line of JSON on standard output, `{"field", "problem"}`, and
exit code 2.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from rlmath.envs.server.trust import share_trust
from rlmath.errors import InputError

BAD_JOB = 2
"""Exit code."""


@dataclass(frozen=True)
class Job:
    """What a worker is to serve."""

    env: dict[str, Any]
    """verifiers' environment config."""
    address: str | None
    """ZeroMQ address to listen at; None: only see whether it could be served."""
    max_concurrent: int | None
    """Rollouts at the same time."""
    log_level: str

    def line(self) -> bytes:
        """As it travels."""
        return json.dumps(asdict(self)).encode() + b"\n"


class _Input:
    """Standard input as what verifiers calls a death pipe: its end is the supervisor's."""

    def recv(self) -> None:
        while os.read(0, 4_096):  # unbuffered: a buffer's lock, held here, would stop the interpreter from ending
            pass
        raise EOFError


def main() -> int:
    """Serve until told to stop."""
    told = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no word of ours
    job = Job(**json.loads(sys.stdin.buffer.readline()))
    try:
        if job.address is None:
            _checked(job.env)
        else:
            _serve(job, job.address)
    except InputError as error:
        os.write(told, json.dumps({"field": error.field, "problem": error.problem}).encode() + b"\n")
        return BAD_JOB
    return 0


def _serve(job: Job, address: str) -> None:
    from verifiers.v1.serve import serve_env

    share_trust()
    serve_env(
        max_workers=1,
        address=address,
        death_pipe=_Input(),
        log_setup=partial(_set_up_logging, job.log_level),
        config=_checked(job.env),
        max_concurrent=job.max_concurrent,
    )


def _set_up_logging(level: str) -> None:
    from verifiers.v1.utils.logging import LIBRARY_LOGGER, setup_logging

    setup_logging(level)
    for handler in logging.getLogger(LIBRARY_LOGGER).handlers:
        handler.addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Not: that a rollout which the stop cuts off can send nothing any more. verifiers 0.4 closes its socket first,
    cancels what runs, and then complains about the socket, with a traceback. From then on it ignores SIGTERM.
    """
    stopping = signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    return not (stopping and record.name.startswith("verifiers.v1.serve."))


def _checked(env: dict[str, Any]) -> Any:
    """The config as verifiers' own classes, for an environment that can be loaded. Raises `InputError`."""
    import verifiers.v1 as vf
    from pydantic import ValidationError

    try:
        config = vf.resolve_env_config(env)
        vf.load_environment(config)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        problem = "unknown key" if first["type"] == "extra_forbidden" else first["msg"]
        # Some complaints are about what a name stands for, and have no field of their own.
        raise InputError(".".join(["env", *map(str, first["loc"])]), problem) from None
    except (ImportError, AttributeError, TypeError, ValueError, OSError) as error:
        raise InputError("env", f"{type(error).__name__}: {error}") from None
    return config


if __name__ == "__main__":
    sys.exit(main())
