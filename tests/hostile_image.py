"""The warm image with a back door for tests of isolation: a command that begins with `MARK` is not given to Lean but
run as Python, in the child that a check has, behind everything that shuts it in.

    python tests/hostile_image.py NAMES ARGUMENTS-AS-JSON

NAMES: measures of isolation to leave out, with commas between, so that each can be seen to hold alone. Python runs with
the names in `TOOLS`; what it says with `say` becomes a message of the check.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import signal
import socket
import sys
import threading
import time
from dataclasses import replace
from typing import Any

from rlmath.kernel.embedded import child, confine, image
from rlmath.kernel.embedded.isolation import Measure
from rlmath.kernel.embedded.wire import Piece

MARK = "#python\n"
TOOLS = {
    "contextlib": contextlib,
    "ctypes": ctypes,
    "errno": errno,
    "fcntl": fcntl,
    "libc": ctypes.CDLL(None, use_errno=True),
    "mmap": mmap,
    "os": os,
    "signal": signal,
    "socket": socket,
    "sys": sys,
    "threading": threading,
    "time": time,
}

honest_check, honest_seal = child._check, confine.seal


def check(*arguments: Any) -> None:
    """In place of `child._check`."""
    source, report = arguments[2:4]
    if not source.command.startswith(MARK):
        honest_check(*arguments)
        return

    def say(value: object) -> None:
        message = {"severity": "information", "data": json.dumps(value), "pos": {"line": 1, "column": 0}, "kind": ""}
        report.add(Piece.MESSAGE, json.dumps(message).encode())
        report.send()

    try:
        exec(source.command, {**TOOLS, "say": say})
    except OSError as error:
        say(errno.errorcode[error.errno or 0])


def seal(prepared: confine.Prepared) -> confine.Enclosure:
    """In place of `confine.seal`."""
    out = set(filter(None, sys.argv[1].split(",")))
    if "files" in out:
        prepared = replace(prepared, mounts="left out by a test")
    enclosure = honest_seal(prepared)
    off = {name: Measure(False, "left out by a test") for name in out}
    return replace(
        enclosure,
        isolation=replace(enclosure.isolation, **off),
        filter=None if "system_calls" in out else enclosure.filter,
        users=None if "user" in out else enclosure.users,
    )


setattr(child, honest_check.__name__, check)
setattr(image, honest_seal.__name__, seal)
image.main(json.loads(sys.argv[2]))
