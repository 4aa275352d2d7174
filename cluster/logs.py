"""Structured logs of the actors: one JSON object a line, with the request it is about.

Ray keeps what an actor writes to its standard error in a file of its own, under the session's `logs` directory.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from contextvars import ContextVar

_request: ContextVar[str] = ContextVar("request", default="")

OURS = ("cluster", "rlmath")
"""Loggers that are ours."""


@contextlib.contextmanager
def about(request: str) -> Iterator[None]:
    """Whatever is logged in here, and in tasks that are begun in here, is about this request."""
    token = _request.set(request)
    try:
        yield
    finally:
        _request.reset(token)


class JsonFormatter(logging.Formatter):
    """One line of JSON a record. Keys: `time` (UTC), `level`, `logger`, `pid`, `message`; `request` and `error` where
    there is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        told = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "pid": os.getpid(),
            "message": record.getMessage(),
        }
        if request := _request.get():
            told["request"] = request
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


def log_as_json(level: int = logging.INFO) -> None:
    """Have all that our loggers say in this process written to its standard error as JSON. May be called again."""
    for name in OURS:
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.propagate = False
        if not any(isinstance(handler.formatter, JsonFormatter) for handler in logger.handlers):
            handler = logging.StreamHandler(sys.stderr)
            handler.setFormatter(JsonFormatter())
            logger.addHandler(handler)
