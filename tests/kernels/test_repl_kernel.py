"""The REPL kernel: real verdicts over a real wire, and a wire on which nothing is as it should be."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from kernel_kit import REPL, Workspace, make_workspace, write_program
from waiting import until

from rlmath import source as lean
from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.config import BareProject, LocalProject
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.process_tree import tree
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.kernel.repl import make_repl_kernel
from rlmath.kernel.unaudited import UnauditedKernel
from rlmath.types import GoalSpec, Lemma, Plan

GOAL = GoalSpec("g", "∀ n : Nat, n + 0 = n")
TRUE = Source("theorem t : 2 + 2 = 4 := rfl", declaration="t", axioms=True)
FALSE = Source("theorem t : 2 + 2 = 5 := rfl", declaration="t", axioms=True)
ENDLESS = Source("theorem t : 1 = 2 := by repeat (have h : True := trivial)")


def proof(goal: GoalSpec, assembly: str) -> Source:
    return lean.compose(goal, Plan((), assembly), {})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def repl(workspace: Workspace) -> AsyncIterator[UnauditedKernel]:
    async with make_repl_kernel(workspace.config(), slots=2) as kernel:
        yield kernel


async def test_identity_says_what_it_is(repl: UnauditedKernel) -> None:
    identity = repl.identity
    assert identity.kernel == "repl (unaudited)"
    assert identity.lean_version == "4.35.0"
    assert identity.environment.startswith("mathlib@0123456789ab+")


async def test_verdicts_are_those_of_the_embedded_kernel(repl: UnauditedKernel, kernel: EmbeddedKernel) -> None:
    """What is read off the wire is what the same Lean says without one."""
    plan = Plan((Lemma("h1", "∀ n : Nat, 0 + n = n"), Lemma("h2", "∀ p q : Prop, p ∧ q → q ∧ p")), "intro n\nrfl")
    context = GoalSpec("c", "five = 5", context="namespace A\ndef five := 5\nend A\nopen A")
    sources = [
        lean.goal_check(GOAL),
        lean.goal_check(GoalSpec("bad", "nowhere = 1")),
        lean.goal_check(context),
        proof(context, "rfl"),
        *(lean.statement_check(GOAL, lemma, "tag") for lemma in plan.lemmas),
        lean.plan_check(GOAL, plan, "tag"),
        lean.leaf_check(GOAL, plan.lemmas[0], "intro n\n  simp", "tag", "tactics"),
        lean.leaf_check(GOAL, plan.lemmas[0], "intro n\nomega", "tag", "tactics"),
        proof(GOAL, "intro n\nexact nowhere"),
        TRUE,
        FALSE,
        Source("theorem t : 1 = 2 := sorry\ntheorem u (p : Prop) : p := by\n  skip", declaration="t", axioms=True),
        Source("#check Nat\n#print axioms propext"),
        Source("def x : Nat := y\n", context="variable (y : Nat)"),
        Source("x", context="def y := 1\ntheorem u : y = 2 := rfl"),
    ]
    ours = await asyncio.gather(*(repl.check(source, timeout_s=60) for source in sources))
    theirs = await asyncio.gather(*(kernel.check(source, timeout_s=60) for source in sources))
    assert [telling(result) for result in ours] == [telling(result) for result in theirs]


def telling(result: CheckResult) -> object:
    """What must not depend on the way to Lean: of Lean's tags only the one that counts goes over the wire."""
    messages = [replace(m, kind=m.kind if m.kind == "hasSorry" else "", text=m.text.strip()) for m in result.messages]
    return messages, result.axioms_line, result.context_error, result.timed_out, result.crashed


@pytest.mark.parametrize(
    ("assembly", "rule"),
    [
        ("trivial) theorem x : True := (trivial", "denied"),
        ("exact id (rfl) ) (h : False", "part"),
        ("exact (rfl", "part"),
        ("rfl /- ", "denied"),
        ("set_option debug.skipKernelTC true in decide", "denied"),
        ("exact sorry", "denied"),
        ('exact (fun _ => ")") |> fun _ => rfl', None),
        ("intro n -- )\nrfl", None),
    ],
)
async def test_the_lexical_gate(repl: UnauditedKernel, assembly: str, rule: str | None) -> None:
    result = await repl.check(proof(GOAL, assembly), timeout_s=60)
    assert result.gate is not None
    assert result.gate.rule == rule
    if rule is not None:
        assert (result.gate.label, result.messages) == ("assembly", ())


@given(text=st.text('()⟨ ab"-/.\n', max_size=12))
def test_what_the_lexical_gate_lets_through_closes_nothing(text: str) -> None:
    """Whatever passes is, between parentheses, one balanced group: the count that Lean's own lexer would make."""
    from rlmath.kernel.lexical_gate import judge
    from rlmath.lexer import Kind, tokens

    source = proof(GOAL, text)
    if judge(source).ok:
        depth = 0
        for token in tokens(source.parts[0].text):
            assert token.kind is not Kind.UNTERMINATED
            depth += {"(": 1, ".(": 1, ")": -1}.get(token.text, 0)
            assert depth >= 0
        assert depth == 0


async def test_certifying(repl: UnauditedKernel) -> None:
    reference = lean.goal_check(GOAL)
    good = await repl.certify(proof(GOAL, "intro n\nrfl"), reference, timeout_s=60)
    assert (good.audit, good.unaudited) == (None, ())
    with_axioms = GoalSpec("a", "∀ p q : Prop, (p ↔ q) → p = q")
    resting = await repl.certify(
        proof(with_axioms, "exact fun p q => propext"), lean.goal_check(with_axioms), timeout_s=60
    )
    assert (resting.audit, resting.unaudited) == (None, ("propext",))
    for bad in ("intro n\nexact nowhere", "exact sorry"):
        refused = await repl.certify(proof(GOAL, bad), reference, timeout_s=60)
        assert (refused.audit, refused.unaudited) == (None, None)


async def test_another_statement_is_no_proof(repl: UnauditedKernel) -> None:
    """The statement that Lean took is compared with the goal's, whatever the text looks like."""
    other = replace(proof(GOAL, "intro n\nrfl"), command="theorem goal : ∀ n : Nat, n = n := by\n  intro n\n  rfl")
    certificate = await repl.certify(other, lean.goal_check(GOAL), timeout_s=60)
    assert certificate.unaudited is None
    assert certificate.audit is not None
    assert (certificate.audit.accepted, certificate.audit.rule) == (False, "statement")


async def test_a_foreign_axiom_is_no_proof(repl: UnauditedKernel) -> None:
    source = replace(proof(GOAL, "exact cheat"), context="axiom cheat : ∀ n : Nat, n + 0 = n")
    certificate = await repl.certify(source, lean.goal_check(GOAL), timeout_s=60)
    assert certificate.unaudited is None
    assert certificate.audit is not None
    assert (certificate.audit.accepted, certificate.audit.rule) == (False, "axioms")


async def test_a_goal_that_does_not_stand(repl: UnauditedKernel) -> None:
    goal = GoalSpec("bad", "nowhere = 1")
    with pytest.raises(InputError, match="reference"):
        await repl.certify(proof(GOAL, "intro n\nrfl"), lean.goal_check(goal), timeout_s=60)


async def test_plans_are_refused_unless_asked_for(workspace: Workspace) -> None:
    async with make_repl_kernel(workspace.config(accept_unaudited=False, spares=0), slots=1) as kernel:
        assert not (await kernel.check(TRUE, timeout_s=60)).messages
        for assembly in ("intro n\nrfl", "exact nowhere"):  # a failure would be no better evidence than a success
            with pytest.raises(KernelUnavailable, match="accept_unaudited"):
                await kernel.check(proof(GOAL, assembly), timeout_s=60)
            with pytest.raises(KernelUnavailable, match="accept_unaudited"):
                await kernel.certify(proof(GOAL, assembly), lean.goal_check(GOAL), timeout_s=60)


async def test_a_timeout_loses_one_repl_and_the_spare_takes_its_place(repl: UnauditedKernel) -> None:
    before = time.monotonic()
    result = await repl.check(ENDLESS, timeout_s=0.5)
    assert result.timed_out
    assert not result.messages
    assert time.monotonic() - before < 30
    results = await asyncio.gather(*(repl.check(TRUE, timeout_s=60) for _ in range(6)))
    assert all(not r.messages and r.axioms_line == "'t' does not depend on any axioms" for r in results)


MARK = 4321
"""Megabytes of a REPL that no other test has: its processes are known by them."""


@pytest.fixture
def marked(tmp_path: Path) -> Workspace:
    """A workspace whose REPLs can be told from those of other tests."""
    return make_workspace(tmp_path, (*REPL, "--memory-mb", str(MARK)))


def marked_processes() -> list[int]:
    """Those that run."""
    words = (f"--memory-mb\0{MARK}", f'"memory_bytes": {MARK << 20}')
    return [pid for pid in tree(os.getpid()) if any(word in cmdline(pid) for word in words)]


async def test_a_cancelled_check_leaves_no_process(marked: Workspace) -> None:
    async with make_repl_kernel(marked.config(spares=0), slots=1) as kernel:
        assert not (await kernel.check(TRUE, timeout_s=60)).messages
        idle = set(marked_processes())
        check = asyncio.create_task(kernel.check(ENDLESS, timeout_s=600))
        await until(lambda: set(marked_processes()) - idle, shows=marked_processes)
        running = marked_processes()
        assert len(running) >= 3
        check.cancel()
        with pytest.raises(asyncio.CancelledError):
            await check
        assert not (await kernel.check(TRUE, timeout_s=60)).messages
        await until(lambda: not set(running) & set(marked_processes()), shows=marked_processes)


def cmdline(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


async def test_recycling_by_count(workspace: Workspace) -> None:
    """Environments are kept by a REPL for ever, so a REPL is not."""
    async with make_repl_kernel(workspace.config(spares=1, recycle_checks=3), slots=1) as kernel:
        for _ in range(10):
            assert not (await kernel.check(TRUE, timeout_s=60)).messages
        assert kernel.stats().restarts >= 2


async def test_recycling_by_memory(workspace: Workspace) -> None:
    async with make_repl_kernel(workspace.config(spares=1, recycle_rss_mb=1), slots=1) as kernel:
        for _ in range(21):
            assert not (await kernel.check(TRUE, timeout_s=60)).messages
        assert kernel.stats().restarts >= 1


async def test_nothing_is_left_running(marked: Workspace) -> None:
    async with make_repl_kernel(marked.config(), slots=2) as kernel:
        await kernel.check(TRUE, timeout_s=60)
        assert len(marked_processes()) >= 3
    await until(lambda: not marked_processes(), shows=marked_processes)
    with pytest.raises(KernelUnavailable):
        await kernel.check(TRUE, timeout_s=60)


async def test_verdicts_do_not_depend_on_what_ran_before(repl: UnauditedKernel, workspace: Workspace) -> None:
    sources = [TRUE, FALSE, proof(GOAL, "intro n\nrfl"), Source("def t := 1"), Source("theorem t : 1 = 2 := sorry")]
    forth = [telling(await repl.check(source, timeout_s=60)) for source in sources]
    back = [telling(await repl.check(source, timeout_s=60)) for source in reversed(sources)]
    async with make_repl_kernel(workspace.config(recycle_checks=1), slots=1) as used_once:
        alone = [telling(await used_once.check(source, timeout_s=60)) for source in sources]
    assert forth == back[::-1] == alone


# -- starting


async def test_a_header_that_does_not_elaborate(workspace: Workspace) -> None:
    kernel = make_repl_kernel(workspace.config(header="import Mathlib"), slots=1)
    with pytest.raises(KernelUnavailable, match="unknown module prefix 'Mathlib'"):
        async with kernel:
            pass


@pytest.mark.parametrize(
    ("repl", "message"),
    [
        ("#!/bin/sh\necho no such library >&2\nexit 3\n", "exit code 3.*no such library"),
        ("#!/bin/sh\nexec sleep 60\n", "not ready after 4 s"),
        ("#!/bin/sh\ncat\n", "names no environment"),
        ("#!/bin/sh\necho hello; echo\nexec sleep 60\n", "does not start: it wrote"),
    ],
)
async def test_a_repl_that_does_not_start(tmp_path: Path, repl: str, message: str) -> None:
    workspace = make_workspace(tmp_path)
    write_program(workspace.repl / ".lake" / "build" / "bin" / "repl", repl)
    with pytest.raises(KernelUnavailable, match=message):
        async with make_repl_kernel(workspace.config(start_timeout_s=4.0), slots=1):
            pass


async def test_what_lean_interact_cannot_set_up(workspace: Workspace, tmp_path: Path) -> None:
    for changes, message in (
        ({"project": LocalProject(directory=tmp_path / "none")}, "there is no directory"),
        ({"project": BareProject(), "repl_path": tmp_path / "none"}, "does not exist"),
        ({"lake": tmp_path / "lake"}, "lake"),
    ):
        with pytest.raises(KernelUnavailable, match=message):
            async with make_repl_kernel(workspace.config(**changes), slots=1):
                pass


async def test_setting_up_has_a_deadline(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    write_program(workspace.lake, "#!/bin/sh\nexec sleep 60\n")
    started = time.monotonic()
    with pytest.raises(KernelUnavailable, match="was not done after 2 s"):
        async with make_repl_kernel(workspace.config(setup_timeout_s=2.0), slots=1):
            pass
    assert time.monotonic() - started < 20


async def test_a_key_in_the_environment_does_not_reach_lean(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    told = tmp_path / "environment"
    binary = make_workspace(tmp_path / "w").repl / ".lake" / "build" / "bin" / "repl"
    binary.write_text(binary.read_text().replace("exec ", f"env > {told}\nexec ", 1))
    config = workspace.config(repl_path=binary.parents[3], spares=0)
    async with make_repl_kernel(config, slots=1) as kernel:
        await kernel.check(TRUE, timeout_s=60)
    assert "PATH=" in told.read_text()
    assert "SOME_API_KEY" not in told.read_text()
