"""Namespaces without the filter, and users without either: each holds alone against attacks from inside a check."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
import statistics
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from isolation_kit import (
    exist,
    family,
    hostile_kernel,
    image_pid,
    python,
    run,
    said,
    text_of,
    wait_until_idle,
)
from waiting import until

from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.embedded.confine import CHECK_USERS
from rlmath.kernel.protocol import CheckResult

pytestmark = pytest.mark.root


@pytest.fixture(scope="module")
async def unfiltered() -> AsyncIterator[EmbeddedKernel]:
    """Every system call is allowed; namespaces and user have to hold."""
    async with hostile_kernel(without=("system_calls",)) as kernel:
        yield kernel


@pytest.fixture(scope="module")
async def user_alone() -> AsyncIterator[EmbeddedKernel]:
    """Neither a filter nor PID, IPC or mount namespaces; the user has to hold."""
    async with hostile_kernel(without=("system_calls", "processes", "ipc", "files")) as kernel:
        yield kernel


@pytest.fixture(scope="module")
async def files_alone() -> AsyncIterator[EmbeddedKernel]:
    """Root's files without a filter: the mount namespace has to hold."""
    async with hostile_kernel(without=("system_calls", "processes", "ipc", "user")) as kernel:
        yield kernel


@pytest.fixture(scope="module")
async def defenceless() -> AsyncIterator[EmbeddedKernel]:
    """Nothing holds, so that attacks are seen to be ones."""
    async with hostile_kernel(without=("system_calls", "processes", "ipc", "files", "user")) as kernel:
        yield kernel


# -- namespaces, without the filter


SLEEPER = """
middle = os.fork()
if middle == 0:
    os.setsid()
    for number in range(1, 64):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        while True:
            time.sleep(100)
    os._exit(0)
os.waitpid(middle, 0)
say("left behind")
"""
"""Leaves a process behind that has nothing to do with its parents, holds all their pipes, and ignores every signal."""


async def test_the_attack_works_where_nothing_holds(defenceless: EmbeddedKernel) -> None:
    wait_until_idle(defenceless)
    before = family(defenceless)
    assert await run(defenceless, SLEEPER) == ["left behind"]
    left = await until(lambda: left_behind(defenceless) - before)
    assert len(left) == 1
    os.kill(*left, signal.SIGKILL)


def left_behind(kernel: EmbeddedKernel) -> set[int]:
    """Those of a kernel's processes that are in another one's session, but not in ours or the image's, and have another
    parent than the image, as orphans have."""
    image, found = image_pid(kernel), set()
    for pid in family(kernel):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            if os.getpgid(pid) != pid and os.getsid(pid) != os.getsid(0) and parent != image:
                found.add(pid)
    return found


@pytest.mark.parametrize("ending", ["", "time.sleep(100)", "os.abort()", "while True: say('x' * 10000)"])
async def test_a_process_left_behind_dies_with_its_check(unfiltered: EmbeddedKernel, ending: str) -> None:
    elapsed, gone_after = [], []
    for _ in range(5):
        result = await unfiltered.check(python(SLEEPER + ending), timeout_s=1.0)
        assert said(result)[:1] == ["left behind"] or result.crashed == "output limit"
        elapsed.append(result.elapsed_s)
        gone_after.append(wait_until_idle(unfiltered))
    assert statistics.median(elapsed) <= 1.0 + 0.1, elapsed
    assert statistics.median(gone_after) <= 0.1, gone_after


async def test_a_process_left_behind_dies_with_a_cancelled_check_and_with_the_image() -> None:
    async with hostile_kernel(without=("system_calls",)) as kernel:
        cancelled, killed = (
            asyncio.ensure_future(kernel.check(python(SLEEPER + "time.sleep(100)"), timeout_s=100)) for _ in range(2)
        )
        await until(lambda: len(left_behind(kernel)) == 2, shows=lambda: family(kernel))
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        # The image, two ahead, one check, and what it left.
        await until(lambda: len(family(kernel)) == 1 + 2 + 2, shows=lambda: family(kernel))
        before = family(kernel)
        assert len(left_behind(kernel) & before) == 1
        os.kill(image_pid(kernel), signal.SIGKILL)
        await asyncio.gather(killed, return_exceptions=True)
        await until(lambda: not exist(f"/proc/{pid}" for pid in before), shows=lambda: before)


async def started(kernel: EmbeddedKernel, code: str) -> asyncio.Future[CheckResult]:
    """A check that has a process."""
    wait_until_idle(kernel)
    check = asyncio.ensure_future(kernel.check(python(code), timeout_s=60))
    await until(lambda: len(family(kernel)) > 1 + kernel.slots)
    return check


async def test_a_check_can_name_no_process_but_its_own(unfiltered: EmbeddedKernel) -> None:
    victim = await started(unfiltered, "time.sleep(2)\nsay('lived')")
    everybody = sorted(family(unfiltered) | {os.getpid()})
    code = f"""
say([os.getpid(), os.getppid()])
refusals = set()
for pid in [-1, *{everybody}]:
    for number in (0, 9, 15):
        try:
            os.kill(pid, number)
        except OSError as error:
            refusals.add(errno.errorcode[error.errno])
    with contextlib.suppress(FileNotFoundError):
        os.stat(f"/proc/{{pid}}")
        refusals.add("seen")
say(sorted(refusals))
"""
    assert await run(unfiltered, code) == [[1, 0], ["ESRCH"]]
    assert said(await victim) == ["lived"]


async def test_nothing_of_the_network_is_there(unfiltered: EmbeddedKernel) -> None:
    name = f"rlmath-{secrets.token_hex(8)}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen()
        code = f"""
say(sorted(name for _, name in socket.if_nameindex()))
for family, address in ((socket.AF_INET, ("127.0.0.1", {tcp.getsockname()[1]})), (socket.AF_UNIX, "\\0{name}")):
    try:
        socket.socket(family).connect(address)
        say("connected")
    except OSError as error:
        say(errno.errorcode[error.errno])
"""
        assert await run(unfiltered, code) == [["lo"], "ENETUNREACH", "ECONNREFUSED"]
    assert await run(unfiltered, f"socket.socket(socket.AF_UNIX).bind('\\0{name}')\nsay('bound')") == ["bound"]
    assert name not in text_of("/proc/net/unix")


async def test_shared_memory_and_message_queues_are_gone_with_their_check(unfiltered: EmbeddedKernel) -> None:
    key, name = secrets.randbelow(1 << 30) + 1, f"/rlmath-{secrets.token_hex(8)}"
    make = f"say([libc.shmget({key}, 4096, 0o1666) >= 0, libc.mq_open(b'{name}', 0o102, 0o666, None) >= 0])"
    find = f"say([libc.shmget({key}, 4096, 0) >= 0, libc.mq_open(b'{name}', 0o2) >= 0])"
    assert await run(unfiltered, f"{make}\n{find}") == [[True, True], [True, True]]
    assert await run(unfiltered, find) == [[False, False]]
    assert f" {key} " not in text_of("/proc/sysvipc/shm")


async def test_there_is_no_file_and_none_can_be_made(files_alone: EmbeddedKernel) -> None:
    code = """
say([os.getuid(), os.listdir("/"), os.listdir("/proc"), os.listdir("/proc/self")])
refusals = []
for attempt in (
    lambda: open("/new", "w"), lambda: open("/tmp/new", "w"), lambda: open("/dev/shm/new", "w"), lambda: os.mkdir("/d"),
    lambda: open("/proc/self/maps", "a"), lambda: os.unlink("/proc/self/maps"), lambda: os.symlink("/", "/proc/link"),
    lambda: open("../../../../../../etc/passwd"), lambda: os.chroot("/proc"), lambda: os.mknod("/disk", 0o60600, 0x800),
):
    try:
        attempt()
        refusals.append("done")
    except OSError as error:
        refusals.append(errno.errorcode[error.errno])
say(refusals)
say(libc.mount(b"none", b"/", None, 32, None))
"""
    whole, refusals, mounted = await run(files_alone, code)
    assert whole == [0, ["proc"], ["self"], ["maps"]]
    assert refusals == ["EROFS", "ENOENT", "ENOENT", "EROFS", "EROFS", "EROFS", "EROFS", "ENOENT", "EPERM", "EROFS"]
    assert mounted == -1


# -- the user, without filter and namespaces


async def test_a_check_can_neither_signal_nor_read_nor_trace_another_process(user_alone: EmbeddedKernel) -> None:
    victim = await started(user_alone, "time.sleep(2)\nsay('lived')")
    others = sorted(family(user_alone) | {os.getpid(), os.getppid()})
    code = f"""
say(sorted({{os.getuid(), *os.getresuid(), os.getgid(), *os.getresgid()}}))
say(os.getgroups())
def trace(pid):
    if libc.ptrace(ctypes.c_long(16), ctypes.c_long(pid), None, None):
        raise OSError(ctypes.get_errno(), "ptrace")
succeeded = []
for pid in {others}:
    attacks = dict(
        signal=lambda: os.kill(pid, 0), kill=lambda: os.kill(pid, 9), trace=lambda: trace(pid),
        memory=lambda: open(f"/proc/{{pid}}/mem", "rb"), environment=lambda: open(f"/proc/{{pid}}/environ").read(),
        descriptors=lambda: os.listdir(f"/proc/{{pid}}/fd"), maps=lambda: open(f"/proc/{{pid}}/maps").read(),
    )
    for name, attack in attacks.items():
        if pid == os.getpid():
            continue
        try:
            attack()
            succeeded.append((pid, name))
        except PermissionError:
            pass
say(succeeded)
"""
    ids, groups, succeeded = await run(user_alone, code)
    assert len(ids) == 1
    assert ids[0] in CHECK_USERS
    assert groups == []
    assert succeeded == []
    assert said(await victim) == ["lived"]


async def test_no_two_checks_have_the_same_user(user_alone: EmbeddedKernel) -> None:
    users = [await run(user_alone, "say(os.getuid())") for _ in range(6)]
    assert len({user for (user,) in users}) == 6
