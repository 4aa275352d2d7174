"""Requests with known verdicts, and the processes of a cluster."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import ray

from cluster.api import ScoreRequest
from cluster.local import LocalCluster
from rlmath.kernel.embedded import warden
from rlmath.leaf.config import RecordedLeaf
from rlmath.types import Budgets, GoalSpec, Status

GOAL = GoalSpec("add_zero", "∀ n : Nat, n + 0 = n")
TRUE = "#lemma h1 : ∀ n : Nat, n + 0 = n\n#assembly\nexact h1\n#end\n"
FALSE = "#assembly\nintro n\nexact absurd n n\n#end\n"
ILL_FORMED = "#lemma h1 : ∀ n : Nat, n + zero = n\n#assembly\nexact h1\n#end\n"
UNPROVABLE = "#lemma h1 : ∀ n : Nat, n + 1 = n\n#assembly\nintro n\nrfl\n#end\n"
ENDLESS = "#assembly\nrepeat skip\n#end\n"

KNOWN = (
    (TRUE, None, Status.VERIFIED),
    (FALSE, None, Status.PLAN_INVALID),
    (ILL_FORMED, None, Status.STATEMENT_ILL_FORMED),
    (UNPROVABLE, {"h1": ["intro n\nrfl", "intro n\nomega"]}, Status.LEAF_FAILED),
    (TRUE, {"h1": ["intro n\nexact n", "intro n\nrfl"]}, Status.VERIFIED),
)
"""Completion, recorded leaf proofs, and the verdict."""


def renamed(text: str, name: str) -> str:
    """With another name for the variable `n`: another text, so that no check of it is known, and the same verdict."""
    return re.sub(r"\bn\b", name, text)


def requests(prefix: str, count: int, verify_timeout_s: float = 60.0) -> list[ScoreRequest]:
    """Requests over all of `KNOWN`, with ids that begin with `prefix`. Each has names of its own, so that no check of
    one is a check of another.
    """
    made = []
    for number in range(count):
        completion, proofs, _ = KNOWN[number % len(KNOWN)]
        own = partial(renamed, name=f"n{number}")
        completion = own(completion)
        recorded = None if proofs is None else {name: [own(text) for text in texts] for name, texts in proofs.items()}
        leaf = {} if recorded is None else {"leaf": RecordedLeaf(), "recorded": recorded}
        made.append(
            ScoreRequest(f"{prefix}-{number}", GOAL, completion, Budgets(verify_timeout_s=verify_timeout_s), **leaf)
        )
    return made


def expected(request: ScoreRequest) -> Status:
    """The verdict that a request of `requests` has to get."""
    return KNOWN[int(request.request_id.rsplit("-", 1)[1]) % len(KNOWN)][2]


def alive(pid: int) -> bool:
    """Is there such a process, other than as a zombie?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int) -> list[int]:
    """Pids of a process's children."""
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    return found


def checks(image: int) -> list[int]:
    """Pids of an image's checks: its children but the warden."""
    found = []
    for pid in children(image):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if Path(f"/proc/{pid}/comm").read_text().strip() != warden.NAME:
                found.append(pid)
    return found


def descendants(pid: int) -> list[int]:
    """Pids of all that a process started, and what those started."""
    found: list[int] = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def until(condition: Callable[[], bool], timeout_s: float) -> bool:
    """Wait for something to become true; False when it does not."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def gone(pids: Iterable[int], timeout_s: float) -> list[int]:
    """The processes that are still there after a while."""
    left = list(pids)
    until(lambda: not any(alive(pid) for pid in left), timeout_s)
    return [pid for pid in left if alive(pid)]


def kill_scheduler(cluster: LocalCluster) -> None:
    """SIGKILL its process; Ray starts another."""
    actor = ray.get_actor("scheduler", namespace=cluster.namespace)
    os.kill(ray.get(actor.__ray_call__.remote(lambda _: os.getpid())), signal.SIGKILL)


def kernel_checks(cluster: LocalCluster) -> dict[str, int]:
    """Results that the kernels themselves have counted by now, by environment. The status has them as of a pulse that
    may be old."""
    scheduler = ray.get_actor("scheduler", namespace=cluster.namespace)
    links = ray.get(
        scheduler.__ray_call__.remote(
            lambda running: [(link.environment, link.actor) for link in running._pool._links.values()]
        )
    )
    pulses = ray.get([actor.ping.remote() for _, actor in links])
    counted: dict[str, int] = {}
    for (environment, _), pulse in zip(links, pulses, strict=True):
        counted[environment] = counted.get(environment, 0) + pulse.kernel.checks
    return counted
