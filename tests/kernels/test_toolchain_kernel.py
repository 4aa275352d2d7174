"""An installed toolchain as a kernel: the package's own shared library laid out as elan lays out a Lean, with a Lake
project that has a module of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from kernel_kit import make_lake_project, make_toolchain, write_program
from waiting import until

from rlmath import source as lean
from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.config import AutoKernelConfig, EmbeddedKernelConfig, ToolchainKernelConfig
from rlmath.kernel.embedded.build import Prelude
from rlmath.kernel.process_tree import tree
from rlmath.kernel.protocol import Source
from rlmath.kernel.select import make_kernel, resolve
from rlmath.types import GoalSpec, Plan

DEMO = "import Init\ndef Demo.five : Nat := 5\ntheorem Demo.five_eq : Demo.five = 5 := rfl\n"
HEADER = "import Demo\nopen Demo\nset_option maxHeartbeats 400000\n"
GOAL = GoalSpec("g", "five + 0 = 5")
ENDLESS = Source("theorem t : 1 = 2 := by repeat (have h : True := trivial)")


@dataclass(frozen=True)
class Installed:
    """A toolchain, a project and its `lake`."""

    root: Path
    lean: Path
    project: Path
    lake: Path

    def config(self, **changes: object) -> ToolchainKernelConfig:
        """The kernel on it."""
        settings = {"project": self.project, "lake": self.lake, "header": HEADER, "start_timeout_s": 60.0, **changes}
        return ToolchainKernelConfig.model_validate(settings)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, prelude: Prelude) -> Installed:
    root = tmp_path_factory.mktemp("toolchain")
    program = make_toolchain(root / "lean", prelude)
    return Installed(root, program, *make_lake_project(root, program, {"Demo": DEMO}))


def proof(assembly: str, goal: GoalSpec = GOAL) -> Source:
    return lean.compose(goal, Plan((), assembly), {})


async def test_its_own_version_is_warm_and_audited(installed: Installed) -> None:
    async with make_kernel(installed.config(), slots=2) as kernel:
        assert kernel.identity.kernel == "toolchain"
        assert kernel.identity.lean_version == "4.35.0"
        assert kernel.identity.environment.startswith("project@unpinned+")
        assert kernel.stats().image_pid is not None
        reference = lean.goal_check(GOAL)
        certificate = await kernel.certify(proof("exact five_eq"), reference, timeout_s=60)
        assert certificate.audit is not None
        assert certificate.audit.accepted
        assert certificate.unaudited is None
        # What plain Lean lets through.
        attack = Source("set_option debug.skipKernelTC true in\ntheorem goal : five + 0 = 5 := by decide +kernel", "")
        wrong = GoalSpec("w", "five + 0 = 6")
        skipped = Source(attack.command.replace("= 5", "= 6"), declaration="goal")
        refused = await kernel.certify(skipped, lean.goal_check(wrong), timeout_s=60)
        assert refused.audit is None or not refused.audit.accepted
        gated = await kernel.check(proof("trivial) theorem x : True := (trivial"), timeout_s=60)
        assert gated.gate is not None
        assert not gated.gate.ok


async def test_context_errors_are_placed_in_the_context(installed: Installed) -> None:
    source = Source("theorem t : x = 1 := rfl", context="def x := 1\ntheorem u : x = 2 := rfl")
    for changes in ({}, {"warm": False}):
        async with make_kernel(installed.config(**changes), slots=1) as kernel:
            result = await kernel.check(source, timeout_s=60)
            assert result.context_error is not None
            assert result.context_error.startswith("2:")


async def test_another_version_falls_back_with_one_line(
    tmp_path: Path, prelude: Prelude, caplog: pytest.LogCaptureFixture
) -> None:
    program = make_toolchain(tmp_path / "lean", prelude, version="4.99.0")
    project, lake = make_lake_project(tmp_path, program, {"Demo": DEMO})
    config = Installed(tmp_path, program, project, lake).config(accept_unaudited=True)
    with caplog.at_level(logging.WARNING, "rlmath.kernel.toolchain"):
        async with make_kernel(config, slots=2) as kernel:
            [record] = caplog.records
            assert "it is Lean 4.99.0, and the warm image is written for Lean 4.35.0" in record.getMessage()
            assert kernel.identity.kernel == "toolchain (unaudited)"
            assert kernel.identity.lean_version == "4.99.0"
            good = await kernel.certify(proof("exact five_eq"), lean.goal_check(GOAL), timeout_s=60)
            assert (good.audit, good.unaudited) == (None, ())


async def test_one_shot_verdicts(installed: Installed) -> None:
    sources = [
        proof("exact five_eq"),
        proof("exact nowhere"),
        lean.goal_check(GOAL),
        Source("theorem t : five = 5 := by\n  simp [five]\n#print axioms t"),
        Source("theorem t : 1 = 2 := sorry\n\n#check t"),
    ]
    async with (
        make_kernel(installed.config(warm=False, accept_unaudited=True), slots=2) as once,
        make_kernel(installed.config(), slots=2) as warm,
    ):
        ours = await asyncio.gather(*(once.check(source, timeout_s=60) for source in sources))
        theirs = await asyncio.gather(*(warm.check(source, timeout_s=60) for source in sources))
        assert [(r.messages, r.axioms_line) for r in ours] == [(r.messages, r.axioms_line) for r in theirs]
        endless = asyncio.create_task(once.check(ENDLESS, timeout_s=2.0))
        running = await until(one_shot_processes)
        assert (await endless).timed_out
        assert running
        await until(lambda: not one_shot_processes(), shows=one_shot_processes)


def one_shot_processes() -> list[int]:
    """Those that serve one check each."""
    found = []
    for pid in tree(os.getpid()):
        with contextlib.suppress(OSError):
            if b"\0--stdin\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


MORTAL = """\
#!/bin/sh
case "$*" in *--stdin*) ;; *) exec {lean} "$@" ;; esac
text=$(cat)
case "$text" in
  *die_by_segfault*) kill -SEGV $$ ;;
  *die_from_outside*) kill -KILL $$ ;;
  *speak_otherwise*) echo something else ;;
esac
printf '%s\\n' "$text" | {lean} "$@"
"""
"""A `lean` that dies when it is told to."""


async def test_whose_fault_an_end_is(installed: Installed, tmp_path: Path) -> None:
    mortal = write_program(tmp_path / "lean", MORTAL.format(lean=installed.lean))
    config = ToolchainKernelConfig(lean=mortal, header="import Init", warm=False)
    async with make_kernel(config, slots=1) as kernel:
        assert not (await kernel.check(Source("theorem t : True := trivial"), timeout_s=60)).messages
        crashed = await kernel.check(Source("theorem die_by_segfault : True := trivial"), timeout_s=60)
        assert crashed.crashed == "signal 11"
        for word, message in (("die_from_outside", "from outside"), ("speak_otherwise", "no message")):
            with pytest.raises(KernelUnavailable, match=message):
                await kernel.check(Source(f"theorem {word} : True := trivial"), timeout_s=60)
        with pytest.raises(KernelUnavailable, match="accept_unaudited"):
            await kernel.check(proof("exact five_eq"), timeout_s=60)


@pytest.mark.parametrize(
    ("header", "message"),
    [("import Nowhere", "unknown module prefix 'Nowhere'"), ("import Demo\nopen Nowhere", "Nowhere")],
)
async def test_a_header_that_does_not_elaborate(installed: Installed, header: str, message: str) -> None:
    with pytest.raises(KernelUnavailable, match=message):
        async with make_kernel(installed.config(header=header, warm=False), slots=1):
            pass


async def test_a_toolchain_that_is_not_there(installed: Installed, tmp_path: Path) -> None:
    for config, message in (
        (installed.config(project=tmp_path / "none"), "there is no directory"),
        (installed.config(lake=tmp_path / "lake"), "cannot run"),
        (ToolchainKernelConfig(lean=tmp_path / "lean"), "cannot run"),
        (installed.config(lake=write_program(tmp_path / "broken", "#!/bin/sh\necho no >&2\nexit 1\n")), "failed: no"),
    ):
        with pytest.raises(KernelUnavailable, match=message):
            async with make_kernel(config, slots=1):
                pass


async def test_isolation_is_not_given_up(installed: Installed) -> None:
    """Where full isolation is asked for, one process a check is no substitute."""
    with pytest.raises(KernelUnavailable, match="require_isolation"):
        async with make_kernel(installed.config(warm=False), slots=1, require_isolation=True):
            pass


def test_auto() -> None:
    assert resolve(AutoKernelConfig(name="a")) == EmbeddedKernelConfig(name="a")
    project = AutoKernelConfig(name="a", project=Path("/p"), header="import X", accept_unaudited=True)
    assert resolve(project) == ToolchainKernelConfig(
        name="a", project=Path("/p"), header="import X", accept_unaudited=True
    )


async def test_auto_without_a_project_is_the_embedded_kernel() -> None:
    async with make_kernel(AutoKernelConfig(), slots=1) as kernel:
        assert kernel.identity.kernel == "embedded"
        assert not (await kernel.check(Source("theorem t : 2 + 2 = 4 := rfl"), timeout_s=60)).messages


def test_other_kernels_cannot_isolate() -> None:
    from rlmath.kernel.config import KERNEL_CONFIG

    section = {"type": "kimina", "base_url": "http://h:1", "lean_version": "4.9.0", "environment": "m"}
    with pytest.raises(InputError, match="require_isolation"):
        make_kernel(KERNEL_CONFIG.validate_python(section), require_isolation=True)
