"""All measures of isolation together, and the filter of system calls, attacked from inside a check.

Here and in the other files of this name that need root: on a machine where all measures are on, attacks run as Python
in the process that a check has (see `hostile_image.py`).
"""

from __future__ import annotations

import platform
import secrets
from collections.abc import AsyncIterator

import pytest
from isolation_kit import (
    family,
    hostile_kernel,
    image_pid,
    memory_holds,
    python,
    run,
    text_of,
)

from rlmath.kernel.embedded import EmbeddedKernel
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
