"""Each measure of isolation against attacks from inside a check, with the other measures left out so that it is seen to
hold alone. On a machine where all measures are on: Linux, as root.

The attacks run as Python in the process that a check has (see `hostile_image.py`); two of them as Lean.
"""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
import signal
import socket
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from isolation_kit import (
    commands,
    exist,
    family,
    hostile_kernel,
    image_pid,
    memory_holds,
    python,
    run,
    said,
    text_of,
    wait_until_idle,
)

from rlmath.kernel.embedded import EmbeddedKernel, Limits
from rlmath.kernel.embedded.confine import CHECK_USERS
from rlmath.kernel.protocol import Source

pytestmark = pytest.mark.root

REFUSED = {
    # name: number on x86_64, on aarch64 (None: there is no such call)
    "fork": (57, None),
    "vfork": (58, None),
    "clone": (56, 220),
    "execve": (59, 221),
    "execveat": (322, 281),
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "sendmsg": (46, 211),
    "recvmsg": (47, 212),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "open": (2, None),
    "openat2": (437, 437),
    "open_by_handle_at": (304, 265),
    "mkdirat": (258, 34),
    "mknodat": (259, 33),
    "unlinkat": (263, 35),
    "linkat": (265, 37),
    "symlinkat": (266, 36),
    "fchmodat": (268, 53),
    "getdents64": (217, 61),
    "flock": (73, 32),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "pipe2": (293, 59),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "prctl": (157, 167),
    "seccomp": (317, 277),
    "setuid": (105, 146),
    "setresuid": (117, 147),
    "capset": (126, 91),
    "personality": (135, 92),
    "setpriority": (141, 140),
    "sched_setscheduler": (144, 119),
    "init_module": (175, 105),
    "kexec_load": (246, 104),
    "reboot": (169, 142),
    "pkey_mprotect": (329, 288),
    "remap_file_pages": (216, 234),
    "no such call": (1999, 1999),
    "x32 read": (0x4000_0000, None),
}


@pytest.fixture(scope="module")
async def shut_in() -> AsyncIterator[EmbeddedKernel]:
    """All measures."""
    async with hostile_kernel() as kernel:
        yield kernel


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


# -- all together


async def test_all_measures_are_on(shut_in: EmbeddedKernel) -> None:
    assert [name for name, measure in shut_in.isolation if not measure.on] == []
    assert shut_in.isolation.missing == ()


async def test_isolation_can_be_required() -> None:
    async with EmbeddedKernel(slots=1, require_isolation=True) as kernel:
        assert (await kernel.check(Source("theorem t : 1 = 1 := rfl"), timeout_s=20)).messages == ()


async def test_a_check_has_no_descriptor_but_its_own_pipes(shut_in: EmbeddedKernel) -> None:
    code = """
kinds = []
for fd in range(4096):
    with contextlib.suppress(OSError):
        kinds.append(os.fstat(fd).st_mode >> 12)
say(kinds)
"""
    device, pipe = 2, 1
    assert await run(shut_in, code) == [[device, pipe, pipe, pipe, pipe]]


async def test_a_check_has_nothing_of_its_owners_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = secrets.token_hex(16)
    monkeypatch.setenv("RLMATH_TEST_SECRET", secret)
    async with hostile_kernel(slots=1) as kernel:
        (environment,) = await run(kernel, "say(dict(os.environ))")
        assert secret not in environment.values()
        assert [pid for pid in family(kernel) if memory_holds(pid, secret.encode())] == []


async def test_a_memory_shortage_of_the_machine_ends_checks_and_not_the_image(shut_in: EmbeddedKernel) -> None:
    image = image_pid(shut_in)
    children = family(shut_in) - {image}
    assert children
    assert {text_of(f"/proc/{pid}/oom_score_adj") for pid in children} == {"1000"}
    assert int(text_of(f"/proc/{image}/oom_score_adj")) < 1000


# -- the filter of system calls


async def test_what_lean_does_not_need_is_refused(shut_in: EmbeddedKernel) -> None:
    column = ("x86_64", "aarch64").index(platform.machine())
    numbers = {name: both[column] for name, both in REFUSED.items() if both[column] is not None}
    code = f"""
allowed = {{}}
for name, number in {numbers}.items():
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), 0, 0, 0, 0, 0, 0)
    if (result, ctypes.get_errno()) != (-1, errno.EPERM):
        allowed[name] = [result, ctypes.get_errno()]
say(allowed)
"""
    assert await run(shut_in, code) == [{}]


@pytest.mark.parametrize(
    ("code", "refusal"),
    [
        ("os.fork()", "EPERM"),
        ("os.execv('/bin/true', ['true'])", "EPERM"),
        ("os.kill(os.getpid(), signal.SIGSTOP)", "EPERM"),
        ("check(libc.syscall(TGKILL, 2, 2, 6))", "EPERM"),
        ("check(libc.syscall(CLONE3, 0, 0))", "ENOSYS"),
        ("check(libc.syscall(PRLIMIT, 2, 7, 0, 0))", "EPERM"),
        ("open('/new', 'w')", "EPERM"),
        ("open('/proc/self/maps', 'r+')", "EPERM"),
        ("open('/etc/passwd')", "ENOENT"),
        ("mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)", "EPERM"),
        ("check(libc.mprotect(ctypes.c_void_p(HERE), 4096, 7))", "EPERM"),
        ("socket.socket(socket.AF_UNIX)", "EPERM"),
        ("os.memfd_create('x')", "EPERM"),
    ],
)
async def test_calls_that_are_looked_at_more_closely(shut_in: EmbeddedKernel, code: str, refusal: str) -> None:
    tgkill, clone3, prlimit = (234, 435, 302) if platform.machine() == "x86_64" else (131, 435, 261)
    preamble = f"""
TGKILL, CLONE3, PRLIMIT = {tgkill}, {clone3}, {prlimit}
HERE = ctypes.addressof(ctypes.create_string_buffer(16384)) // 4096 * 4096 + 4096
def check(result):
    if result:
        raise OSError(ctypes.get_errno(), "refused")
"""
    assert await run(shut_in, preamble + code) == [refusal]


async def test_threads_are_allowed_as_many_as_the_limit_says(shut_in: EmbeddedKernel) -> None:
    code = """
threads = [threading.Thread(target=time.sleep, args=(0,)) for _ in range(4)]
for thread in threads:
    thread.start()
say(len(threads))
"""
    assert await run(shut_in, code) == [4]


async def test_an_abort_is_still_seen_as_one(shut_in: EmbeddedKernel) -> None:
    result = await shut_in.check(python("os.abort()"), timeout_s=20)
    assert result.crashed == "PANIC"


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
    before = family(defenceless)
    assert await run(defenceless, SLEEPER) == ["left behind"]
    await asyncio.sleep(0.3)
    # It is its own session's, and has the same parent as an orphan has.
    left = [pid for pid in family(defenceless) - before if os.getpgid(pid) != pid and os.getsid(pid) != os.getsid(0)]
    image = image_pid(defenceless)
    orphans = [pid for pid in left if parent_of(pid) != image]
    assert len(orphans) == 1
    os.kill(orphans[0], signal.SIGKILL)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.parametrize("ending", ["", "time.sleep(100)", "os.abort()", "while True: say('x' * 10000)"])
async def test_a_process_left_behind_dies_with_its_check(unfiltered: EmbeddedKernel, ending: str) -> None:
    gone_after = []
    for _ in range(5):
        result = await unfiltered.check(python(SLEEPER + ending), timeout_s=0.5)
        assert said(result)[:1] == ["left behind"] or result.crashed == "output limit"
        assert result.elapsed_s <= 0.5 + 0.1
        gone_after.append(wait_until_idle(unfiltered, 5))
    assert sorted(gone_after)[2] <= 0.1, gone_after


async def test_a_process_left_behind_dies_with_a_cancelled_check_and_with_the_image() -> None:
    async with hostile_kernel(without=("system_calls",)) as kernel:
        cancelled, killed = (
            asyncio.ensure_future(kernel.check(python(SLEEPER + "time.sleep(100)"), timeout_s=100)) for _ in range(2)
        )
        await asyncio.sleep(0.5)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        await asyncio.sleep(0.5)
        before = family(kernel)
        assert len(before) == 1 + 2 + 2, "the image, two ahead, one check, and what it left"
        os.kill(image_pid(kernel), signal.SIGKILL)
        await asyncio.gather(killed, return_exceptions=True)
        deadline = time.monotonic() + 5
        while left := exist(f"/proc/{pid}" for pid in before):
            assert time.monotonic() < deadline, left
            await asyncio.sleep(0.01)


async def test_a_check_can_name_no_process_but_its_own(unfiltered: EmbeddedKernel) -> None:
    victim = asyncio.ensure_future(unfiltered.check(python("time.sleep(1)\nsay('lived')"), timeout_s=20))
    await asyncio.sleep(0.2)
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
    victim = asyncio.ensure_future(user_alone.check(python("time.sleep(1)\nsay('lived')"), timeout_s=20))
    await asyncio.sleep(0.2)
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


# -- what is left in memory


async def test_a_check_cannot_find_the_text_of_an_earlier_one_in_its_memory() -> None:
    marker = f"zq{secrets.token_hex(16)}"
    text = f"theorem {marker} : {marker} = 1 := by simp\n"
    noise = f"os.write(1, b'{marker}' * 100)\n"
    async with hostile_kernel(limits=Limits(messages=100)) as kernel:

        async def all_at_once(*sources: Source, timeout_s: float = 20.0) -> None:
            await asyncio.gather(*(kernel.check(source, timeout_s=timeout_s) for source in sources))

        holding = asyncio.ensure_future(kernel.check(python(f"x = '{marker}'\ntime.sleep(60)"), timeout_s=60))
        while not any(memory_holds(pid, marker.encode()) for pid in family(kernel)):
            await asyncio.sleep(0.05)
            assert not holding.done(), "the search does not find what is there"
        holding.cancel()
        await all_at_once(*[Source(text)] * 6)
        await all_at_once(Source(f"-- {marker * 20_000}\n{text}"), Source(text * 50), Source(text * 500))
        await all_at_once(*[python(f"{noise}say('{marker}' * 1000)\nos.abort()")] * 3)
        await all_at_once(python(f"{noise}say('{marker}')\ntime.sleep(9)"), timeout_s=0.2)
        await all_at_once(python(f"while True: say('{marker}' * 1000)"))
        await all_at_once(*[Source("#check Nat")] * (2 * kernel.slots))
        wait_until_idle(kernel, 5)
        for pid in family(kernel):
            assert memory_holds(pid, marker.encode()) == [], f"{pid}, the image is {image_pid(kernel)}"


async def test_a_check_cannot_find_the_text_of_one_that_waits() -> None:
    marker = f"zq{secrets.token_hex(16)}"
    async with hostile_kernel() as kernel:
        wait_until_idle(kernel, 5)
        ahead = family(kernel) - {image_pid(kernel)}
        running = [asyncio.ensure_future(kernel.check(python("time.sleep(60)"), timeout_s=60)) for _ in range(2)]
        await asyncio.sleep(0.5)
        waiting = asyncio.ensure_future(kernel.check(Source(f"-- {marker}"), timeout_s=60))
        await asyncio.sleep(0.2)
        for pid in family(kernel) - ahead - {image_pid(kernel)}:
            os.kill(pid, signal.SIGKILL)  # those that were forked when the two began; others take their place
        await asyncio.sleep(0.5)
        forked_since = family(kernel) - ahead - {image_pid(kernel)}
        assert len(forked_since) == 2
        assert memory_holds(image_pid(kernel), marker.encode()) != []
        assert [pid for pid in forked_since if memory_holds(pid, marker.encode())] == []
        for check in (*running, waiting):
            check.cancel()
        await asyncio.gather(*running, waiting, return_exceptions=True)


# -- the control group


async def test_checks_are_in_a_bounded_control_group() -> None:
    limits = Limits(memory_bytes=1 << 30, processes=50)
    kernel = EmbeddedKernel(slots=2, limits=limits)
    await kernel.start()
    wait_until_idle(kernel, 5)
    groups = control_groups(kernel)
    assert {name for name, _ in groups} == {"memory", "pids"}
    for name, directory in groups:
        file, value = {"memory": ("memory.limit_in_bytes", 2 << 30), "pids": ("pids.max", 3 * 2 * 50)}[name]
        assert int((directory / file).read_text()) == value
        deadline = time.monotonic() + 5
        while members_of(directory) != family(kernel) - {image_pid(kernel)}:  # a fork enters it a little later
            assert time.monotonic() < deadline, (members_of(directory), family(kernel))
            await asyncio.sleep(0.01)
    os.kill(image_pid(kernel), signal.SIGKILL)
    while kernel.stats().image_pid is None or kernel.stats().restarts == 0:
        await asyncio.sleep(0.05)
    assert [directory for _, directory in groups if directory.exists()] == []
    groups = control_groups(kernel)
    await kernel.aclose()
    assert [directory for _, directory in groups if directory.exists()] == []


def control_groups(kernel: EmbeddedKernel) -> list[tuple[str, Path]]:
    """Controllers and directories of the groups of its checks."""
    child = min(family(kernel) - {image_pid(kernel)})
    lines = [line.split(":", 2) for line in text_of(f"/proc/{child}/cgroup").splitlines()]
    return [(names, Path(f"/sys/fs/cgroup/{names}{path}")) for _, names, path in lines if "/rlmath-" in path]


def members_of(directory: Path) -> set[int]:
    return {int(pid) for pid in (directory / "cgroup.procs").read_text().split()}


# -- from Lean


NATIVE = """
inductive Result | ok (value : Nat) | error (error : Nat)
instance : Inhabited Result := ⟨.ok 0⟩
@[noinline] def succeeded : Result → Bool | .ok _ => true | .error _ => false
"""
"""A declaration with the name of one that the library has compiled is run as that one."""

WRITE = (
    NATIVE
    + """
@[extern "n"] opaque IO.FS.writeFile : String → String → Nat → Result
theorem t : succeeded (IO.FS.writeFile "FILE" "" 0) = true := by native_decide
"""
)

SPAWN = (
    NATIVE
    + """
inductive Stdio | piped | inherit | null
structure StdioConfig where
  stdin : Stdio
  stdout : Stdio
  stderr : Stdio
structure SpawnArgs extends StdioConfig where
  cmd : String
  args : Array String
  cwd : Option String
  env : Array (Prod String (Option String))
  inheritEnv : Bool
  setsid : Bool
@[extern "n"] opaque Array.push {α : Type} (a : Array α) (v : α) : Array α
@[extern "n"] opaque Array.emptyWithCapacity {α : Type} (c : Nat) : Array α
@[extern "n"] opaque IO.Process.spawn : SpawnArgs → Nat → Result
theorem t : succeeded (IO.Process.spawn {
    stdin := .null, stdout := .null, stderr := .null, cmd := "/bin/sleep",
    args := Array.push (Array.emptyWithCapacity 0) "SECONDS", cwd := .none, env := Array.emptyWithCapacity 0,
    inheritEnv := true, setsid := true } 0) = true := by native_decide
"""
)


def sleeping(seconds: str) -> list[int]:
    return [pid for pid, command in commands() if command == f"/bin/sleep\0{seconds}\0".encode()]


async def test_lean_text_that_runs_native_code_makes_no_file(
    shut_in: EmbeddedKernel, defenceless: EmbeddedKernel
) -> None:
    file = os.path.join(tempfile.gettempdir(), f"rlmath-{secrets.token_hex(8)}")
    source = Source(WRITE.replace("FILE", file))
    refused = await shut_in.check(source, timeout_s=20)
    assert "evaluated that the proposition" in refused.errors[0].text
    assert exist([file]) == []
    assert (await defenceless.check(source, timeout_s=20)).messages == ()
    os.unlink(file)


async def test_lean_text_that_runs_native_code_leaves_no_process(
    shut_in: EmbeddedKernel, defenceless: EmbeddedKernel
) -> None:
    seconds = str(secrets.randbelow(10**6) + 10**6)
    source = Source(SPAWN.replace("SECONDS", seconds))
    refused = await shut_in.check(source, timeout_s=20)
    assert "evaluated that the proposition" in refused.errors[0].text
    assert sleeping(seconds) == []
    assert (await defenceless.check(source, timeout_s=20)).messages == ()
    (left,) = sleeping(seconds)
    os.kill(left, signal.SIGKILL)
    async with hostile_kernel(without=("system_calls", "files")) as namespaces:
        assert (await namespaces.check(source, timeout_s=20)).messages == ()
        wait_until_idle(namespaces, 5)
        assert sleeping(seconds) == []
