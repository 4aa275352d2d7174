"""What isolation there is for an ordinary user, and in a container that allows no namespaces. Needs root, to become the
one and to make the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.root

UNPRIVILEGED = Path(__file__).with_name("unprivileged.py")
USER = 61_234

LOOK = """
import asyncio, json, os, statistics, sys
from dataclasses import asdict
from isolation_kit import family, hostile_kernel, image_pid, python, run, wait_until_idle
from rlmath.errors import KernelUnavailable
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.embedded.selftest import theorem

ATTACKS = '''
def attempt(action):
    try:
        return [action()]
    except OSError as error:
        return errno.errorcode[error.errno]
say([
    attempt(os.fork), attempt(lambda: os.kill(%d, 9)), attempt(lambda: open("/etc/passwd").read(0)),
    attempt(lambda: open("/proc/%d/mem")), attempt(lambda: open("/tmp/new", "w")), attempt(socket.socket),
])
'''
SLEEPER = '''
if (middle := os.fork()) == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
os.waitpid(middle, 0)
say([os.getpid(), os.getuid()])
time.sleep(1000)
'''

async def look():
    found = {}
    async with hostile_kernel() as kernel:
        found["off"] = [name for name, measure in kernel.isolation if not measure.on]
        good = await kernel.check(theorem("∀ n : Nat, 0 + n = n", "intro n\\nsimp"), timeout_s=20)
        found["axioms"] = good.axioms_line
        bad = await kernel.check(theorem("True", "exact " + "(" * 100_000), timeout_s=20)
        found["overflow"] = bad.crashed
        (found["attacks"],) = await run(kernel, ATTACKS % ((image_pid(kernel),) * 2))
        ends = [await kernel.check(python(code), timeout_s=20) for code in ("os.abort()", "ctypes.string_at(0)")]
        found["crashes"] = [result.crashed for result in ends]
    if "processes" not in found["off"]:
        async with hostile_kernel(without=("system_calls",)) as kernel:
            results = []
            for _ in range(5):
                results.append(await kernel.check(python(SLEEPER), timeout_s=1.0))
            found["sleepers"] = [[r.timed_out, *json.loads(r.messages[0].text)] for r in results]
            found["late"] = statistics.median(r.elapsed_s for r in results) - 1.0
            wait_until_idle(kernel, each=2)  # the one that stepped into the namespace, and the one it left outside
    try:
        async with EmbeddedKernel(slots=1, require_isolation=True):
            found["required"] = "started"
    except KernelUnavailable as error:
        found["required"] = str(error)
    print(json.dumps(found))

asyncio.run(look())
"""


def look(user: int, namespaces: bool) -> dict[str, Any]:
    """What there is for this user."""
    directory = tempfile.mkdtemp()
    try:
        command = [sys.executable, str(UNPRIVILEGED), directory, str(user), str(int(namespaces)), LOOK]
        repository = str(UNPRIVILEGED.parents[1])
        environment = {**os.environ, "PYTHONPATH": repository}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found
    finally:
        os.rmdir(directory)


def test_an_ordinary_user_has_all_but_users_of_its_own() -> None:
    found = look(USER, namespaces=True)
    assert found["off"] == ["user", "memory"]
    assert found["axioms"] == "'probe' depends on axioms: [propext]"
    assert (found["overflow"], found["crashes"]) == ("stack overflow", ["PANIC", "signal 11"])
    assert found["attacks"] == ["EPERM", "EPERM", "ENOENT", "ENOENT", "EPERM", "EPERM"]
    assert found["sleepers"] == [[True, 1, USER]] * 5
    assert found["late"] <= 0.1
    assert "user (not root: every check runs as user 61234)" in found["required"]


def test_an_ordinary_user_without_namespaces_has_the_filter() -> None:
    found = look(USER, namespaces=False)
    assert found["off"] == ["processes", "files", "network", "ipc", "user", "memory"]
    assert found["axioms"] == "'probe' depends on axioms: [propext]"
    # What tells a stack overflow from another fault is in a file, and none can be opened.
    assert (found["overflow"], found["crashes"]) == ("signal 11", ["PANIC", "signal 11"])
    assert found["attacks"] == ["EPERM"] * 6
    for name in ("processes", "files", "network", "ipc", "user"):
        assert f"{name} (" in found["required"]


def test_root_without_namespaces_has_filter_and_users() -> None:
    found = look(0, namespaces=False)
    assert found["off"][:4] == ["processes", "files", "network", "ipc"]
    assert "user" not in found["off"]
    assert "system_calls" not in found["off"]
    assert found["axioms"] == "'probe' depends on axioms: [propext]"
    assert found["attacks"] == ["EPERM"] * 6
    assert "processes (unshare: Operation not permitted)" in found["required"]
