"""The image's memory: what checks need of the shared library lies in huge pages, as far as the machine has them, and
is what it was."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.embedded.build import ensure_prelude
from rlmath.kernel.embedded.residence import HUGE, MOST
from rlmath.kernel.protocol import Source

HUGE_PAGES = "[never]" not in Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
TINY = Source("theorem tiny : 1 + 1 = 2 := rfl", declaration="tiny", axioms=True)

LIBRARY = """
import ctypes, hashlib, io, os, sys
from rlmath.kernel.embedded import residence
from rlmath.kernel.embedded.ffi import Lean
from rlmath.kernel.embedded.system import prctl

path = os.path.realpath(sys.argv[1])
lean = Lean(path, 8 << 20)
areas = [m for m in residence.mappings() if m.path == path and m.permissions in residence.PROTECTION]

def touch():
    whole = hashlib.sha256()
    for area in areas:
        whole.update((ctypes.c_char * (area.end - area.start)).from_address(area.start))
    return whole.digest()

def inside():
    return [m for m in residence.mappings() for a in areas if a.start <= m.start < a.end]

before = touch()
{before}
moved = residence.settle(path, {rehearsal})
residence.open = open
assert touch() == before
assert {{m.permissions for m in inside()}} == {{"r--p", "r-xp"}}
assert sum(m.sizes["AnonHugePages"] for m in inside()) == moved
assert lean.function("l_Lean_versionString", 0) and lean.string("it still runs")
print(moved)
"""

NO_MEMORY = """
import resource
in_use = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (in_use + (16 << 20), -1))
"""


OTHER_SMAPS = """
def older(name, *how, **more):
    if not name.endswith("smaps"):
        return open(name, *how, **more)
    rows = open(name).read().replace("VmFlags", "VmFlags:\\nVmFlags").splitlines(True)
    return io.StringIO("".join(row for row in rows if not row.startswith("AnonHugePages")))
residence.open = older
"""


def moved(*, before: str = "", rehearsal: str = "touch") -> int:
    """Bytes that move when a process settles."""
    library = ensure_prelude().shared_library
    program = LIBRARY.format(before=before, rehearsal=rehearsal)
    done = subprocess.run([sys.executable, "-c", program, library], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_what_moves_is_what_it_was() -> None:
    assert moved() == (MOST * HUGE if HUGE_PAGES else 0)


@pytest.mark.parametrize(
    ("before", "rehearsal"),
    [
        ("prctl(41, 1)", "touch"),  # PR_SET_THP_DISABLE
        (NO_MEMORY, "touch"),
        ("residence.memory_left = lambda: residence.MOST * residence.HUGE", "touch"),
        ("residence.open = lambda *_, **__: open('/proc/none')", "touch"),
        (OTHER_SMAPS, "touch"),
        ("", "lambda: os._exit(1)"),
        ("", "lambda: os.abort()"),
        ("residence.REHEARSAL_S = 1", "lambda: __import__('time').sleep(60)"),
    ],
    ids=["no huge pages", "no address space", "no room", "no smaps", "other smaps", "ended early", "crashed", "hung"],
)
def test_nothing_moves_where_nothing_can(before: str, rehearsal: str) -> None:
    assert moved(before=before, rehearsal=rehearsal) == 0


def mappings_of(pid: int | None) -> list[list[str]]:
    """The words of a process's smaps."""
    return [line.split() for line in Path(f"/proc/{pid}/smaps").read_text().splitlines()]


async def test_the_image_has_moved_what_checks_need_and_its_children_have_it() -> None:
    async with EmbeddedKernel(slots=1) as kernel:
        result = await kernel.check(TINY, timeout_s=60)
        assert result.axioms_line == "'tiny' does not depend on any axioms"
        rows = await asyncio.to_thread(mappings_of, kernel.stats().image_pid)
    executable, huge = False, 0
    for row in rows:
        if "-" in row[0] and not row[0].endswith(":"):
            executable = row[1] == "r-xp"
        elif executable and row[0] == "AnonHugePages:":
            huge += int(row[1]) * 1024
    # Some of what moves is constants.
    assert (HUGE * MOST // 2 <= huge <= HUGE * MOST) if HUGE_PAGES else huge == 0
