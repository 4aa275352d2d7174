"""Looks at this machine: what is there to judge with, how fast it is, what is missing and how to get it."""

from __future__ import annotations

import asyncio
import os
import platform
import statistics
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version

from rlmath.errors import KernelUnavailable, RlmathError
from rlmath.kernel.config import Config
from rlmath.kernel.embedded.isolation import Isolation
from rlmath.kernel.protocol import Kernel, Source
from rlmath.types import GoalSpec, Status

TINY = Source(command="theorem tiny : 2 + 2 = 4 := rfl")
"""What the check latency is measured on."""

PYTHONS = ((3, 11), (3, 13))
"""First and last supported version."""


class State(StrEnum):
    """How a finding counts."""

    OK = "ok"
    ABSENT = "absent"
    """Not there, and not needed for scoring on the embedded kernel."""
    FAILED = "failed"
    """Scoring does not work without it."""


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    name: str
    state: State
    text: str
    """What was found."""
    fix: str = ""
    """What to do about it; empty when it is fine."""


async def examine(*, checks: int, ray: bool, kernel: Config | None = None) -> AsyncIterator[Finding]:
    """All findings, each as soon as it is known. `checks`: how many tiny checks the latency is the median of. `ray`:
    also start a local cluster and judge one plan on it (some 10 s). `kernel`: also try this one."""
    yield _python()
    yield _machine()
    kernel_works = True
    async for finding in _kernel(checks):
        kernel_works &= finding.state is not State.FAILED
        yield finding
    if kernel is not None:
        async for finding in _chosen_kernel(kernel, checks):
            yield finding
    yield _package("ray", "the cluster: rlmath eval", "rlmath")
    if ray and kernel_works:
        yield await asyncio.to_thread(_cluster)
    yield _package("openai", "leaf provers and policies behind OpenAI-compatible servers", "rlmath")
    yield _package("lean-interact", "kernels of Lake projects", "rlmath")
    yield _package("verifiers", "the verifiers environment", "rlmath[envhub]", optional=True)


def _python() -> Finding:
    running = sys.version_info[:2]
    first, last = (".".join(map(str, edge)) for edge in PYTHONS)
    if PYTHONS[0] <= running <= PYTHONS[1]:
        return Finding("python", State.OK, platform.python_version())
    return Finding("python", State.FAILED, platform.python_version(), f"use Python {first} to {last}")


def _machine() -> Finding:
    from rlmath.kernel.embedded.shared_object import check_platform, glibc_version

    glibc = glibc_version()
    left = _available_memory()
    memory = f", {left / 2**30:.1f} GiB of memory available" if left else ""
    libc = f"glibc {'.'.join(map(str, glibc))}" if glibc else "no glibc"
    text = f"{platform.system()} {platform.machine()}, {libc}, {usable_cores()} cores{memory}"
    try:
        check_platform(sys.platform, platform.machine(), glibc)
    except RlmathError as error:
        return Finding("machine", State.FAILED, text, str(error))
    return Finding("machine", State.OK, text)


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _available_memory() -> int:
    """Bytes that may still be allocated. 0: not known."""
    from rlmath.kernel.embedded.cgroup import memory_left

    try:
        left = memory_left()
    except (OSError, ValueError):  # not Linux, or a /proc that says other things
        return 0
    return left if left < sys.maxsize else 0


async def _kernel(checks: int) -> AsyncIterator[Finding]:
    """Library, prelude, kernel and latency; the first that fails is the last that is told."""
    from rlmath.kernel.embedded import EmbeddedKernel
    from rlmath.kernel.embedded.build import ensure_prelude
    from rlmath.kernel.embedded.shared_object import LEAN_VERSION, find_shared_object

    name = "lean"
    try:
        library = await asyncio.to_thread(find_shared_object)
        yield Finding(name, State.OK, f"{LEAN_VERSION} from {library.package}")
        name = "prelude"
        prelude = await asyncio.to_thread(ensure_prelude)
        how = "was built before" if prelude.built_in_s is None else f"built in {prelude.built_in_s:.1f} s"
        yield Finding(name, State.OK, f"{prelude.environment}, {how}, in {prelude.path}")
        name = "kernel"
        started = time.perf_counter()
        async with EmbeddedKernel(slots=1) as kernel:
            yield Finding(
                name,
                State.OK,
                f"{kernel.identity}; warm and past its self-test in {time.perf_counter() - started:.2f} s",
            )
            yield _isolation(kernel.isolation)
            name = "check"
            times = [await _timed(kernel) for _ in range(checks)]
            middle, slowest = statistics.median(times) * 1000, max(times) * 1000
            yield Finding(
                name, State.OK, f"{middle:.1f} ms for a tiny theorem (median of {checks}; slowest {slowest:.1f} ms)"
            )
    except RlmathError as error:
        yield Finding(name, State.FAILED, "does not work", str(error))


async def _chosen_kernel(config: Config, checks: int) -> AsyncIterator[Finding]:
    """The kernel of a `[kernel]` section: does it start, what is its word worth, how fast is it."""
    from rlmath.kernel.select import make_kernel
    from rlmath.kernel.unaudited import UNAUDITED

    name = f"kernel {config.name}"
    started = time.perf_counter()
    try:
        async with make_kernel(config, slots=1) as kernel:
            seconds = time.perf_counter() - started
            yield Finding(name, State.OK, f"{kernel.identity}; ready in {seconds:.1f} s")
            if UNAUDITED in kernel.identity.kernel:
                scores = getattr(config, "accept_unaudited", False)
                text = "verdicts rest on the word of the process that ran the submission"
                fix = "" if scores else "it checks files and scores no plans unless accept_unaudited = true"
                yield Finding("audit", State.ABSENT, text, fix)
            else:
                yield Finding("audit", State.OK, "a clean process has the last word on every theorem")
            times = [await _timed(kernel) for _ in range(checks)]
            middle, slowest = statistics.median(times) * 1000, max(times) * 1000
            yield Finding(
                "check", State.OK, f"{middle:.1f} ms for a tiny theorem (median of {checks}; slowest {slowest:.1f} ms)"
            )
    except RlmathError as error:
        yield Finding(name, State.FAILED, "does not work", str(error))


def _isolation(isolation: Isolation) -> Finding:
    """Which measures are on, and why not the others."""
    measures = "; ".join(f"{name}: {measure.note}" for name, measure in isolation if measure.on)
    off = "; ".join(f"{name}: {measure.note}" for name, measure in isolation if not measure.on)
    text = (measures or "nothing") + (f". OFF: {off}" if off else "")
    if not isolation.missing:
        return Finding("isolation", State.OK, text)
    return Finding(
        "isolation",
        State.ABSENT,
        text,
        "run as root, in a container with CAP_SYS_ADMIN, or where ordinary users may make namespaces; "
        "require_isolation refuses to score here",
    )


async def _timed(kernel: Kernel) -> float:
    """Seconds from asking for a tiny check to having its result."""
    started = time.perf_counter()
    result = await kernel.check(TINY, timeout_s=60.0)
    elapsed = time.perf_counter() - started
    if result.messages or result.timed_out or result.crashed:
        raise KernelUnavailable(f"a true theorem did not pass: {result}")
    return elapsed


def _package(name: str, use: str, requirement: str, *, optional: bool = False) -> Finding:
    try:
        return Finding(name, State.OK, version(name))
    except PackageNotFoundError:
        state = State.ABSENT if optional else State.FAILED
        return Finding(name, state, f"not installed; it is for {use}", f"pip install '{requirement}'")


def _cluster() -> Finding:
    """Start a local cluster, judge one plan on it, stop it."""
    from cluster.local import LocalCluster

    goal = GoalSpec(id="doctor", prop="∀ n : Nat, n + 0 = n")
    started = time.perf_counter()
    try:
        with LocalCluster() as cluster:
            up = time.perf_counter() - started
            result = cluster.score(goal, "#assembly\nintro n\nrfl\n#end\n")
    except RlmathError as error:
        return Finding("cluster", State.FAILED, "a local cluster does not start", str(error))
    if result.status is not Status.VERIFIED:
        return Finding("cluster", State.FAILED, f"a good plan came back as {result.status.value}", result.detail)
    return Finding("cluster", State.OK, f"a local cluster was up in {up:.1f} s and verified a plan")
