"""Structured logs, without Ray."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import subprocess
import sys

from cluster.logs import JsonFormatter, about


def logged(stream: io.StringIO) -> list[dict[str, str]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def written() -> tuple[logging.Logger, io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.Logger("cluster.test")
    logger.addHandler(handler)
    return logger, stream


async def test_each_line_names_its_own_request_however_tasks_interleave() -> None:
    logger, stream = written()

    async def request(name: str) -> None:
        with about(name):
            logger.info("%s begins", name)
            await asyncio.gather(*(asyncio.create_task(check(name)) for _ in range(2)))

    async def check(name: str) -> None:
        await asyncio.sleep(0.001)
        logger.warning("%s is checked", name)

    await asyncio.gather(*(request(f"r{n}") for n in range(5)))
    logger.info("nobody's")
    lines = logged(stream)
    assert len(lines) == 16
    assert all(line["message"].startswith(line["request"]) for line in lines[:-1])
    assert "request" not in lines[-1]


def test_a_line_is_one_object_with_its_error_inside() -> None:
    logger, stream = written()
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logger.exception("it failed:\n%s", "ℕ")
    (line,) = logged(stream)
    assert (line["level"], line["logger"], line["message"]) == ("error", "cluster.test", "it failed:\nℕ")
    assert line["error"].endswith("ValueError: two\nlines")
    assert line["time"].endswith("Z")
    assert int(line["pid"]) > 1


def test_our_loggers_are_set_up_once() -> None:
    program = (
        "import logging; from cluster.logs import log_as_json; log_as_json(); log_as_json(); "
        "logging.getLogger('cluster.pool').info('hello'); logging.getLogger('rlmath.x').info('again'); "
        "logging.getLogger('other').info('not ours')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert [json.loads(line)["message"] for line in done.stderr.splitlines()] == ["hello", "again"]
