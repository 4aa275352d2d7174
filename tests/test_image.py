"""The warm image against a live Lean: what a check reports, how it ends, and what becomes of processes."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import warnings
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from isolation_kit import alive, busy_children_of, children_of, wardens_of
from waiting import PATIENCE_S, until, wait_until

from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.embedded import EmbeddedKernel, Limits
from rlmath.kernel.embedded.selftest import theorem
from rlmath.kernel.protocol import Part, Source
from rlmath.source import plain

ENDLESS = theorem("1 = 2", "repeat (have h : True := trivial)")
EASY = theorem("∀ n : Nat, 0 + n = n", "intro n\nsimp")
FLOOD = Source("\n".join("#check Nat" for _ in range(300)))


def power_of_two(exponent: int) -> Source:
    """Has Lean compute 2 ^ exponent, which takes exponent / 8 bytes."""
    return Source(
        "set_option exponentiation.threshold 99999999999999 in\n"
        f"theorem t : (2 : Nat) ^ {exponent} = (2 : Nat) ^ {exponent + 1} := by simp only [Nat.reducePow]"
    )


@pytest.fixture(scope="module")
async def kernel() -> AsyncIterator[EmbeddedKernel]:
    limits = Limits(messages=200, memory_bytes=1 << 29)
    async with EmbeddedKernel(slots=2, limits=limits) as kernel:
        yield kernel


def wait_until_gone(pids: set[int]) -> None:
    wait_until(lambda: not any(map(alive, pids)), shows=lambda: {pid for pid in pids if alive(pid)})


async def busy(image: int, count: int) -> set[int]:
    """Wait until so many children compute."""
    await until(lambda: len(busy_children_of(image)) == count, shows=lambda: children_of(image))
    return busy_children_of(image)


# -- what a check reports


async def test_a_true_theorem(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(EASY, timeout_s=20)
    assert result.messages == ()
    assert result.gate is not None
    assert result.gate.ok
    assert result.axioms_line == "'probe' depends on axioms: [propext]"
    assert not result.timed_out
    assert result.crashed is None
    assert 0 < result.elapsed_s < 20
    assert {"queue", "gate", "elaborate", "axioms"} <= result.timings.keys()


async def test_identity_names_version_and_environment(kernel: EmbeddedKernel) -> None:
    assert kernel.identity.kernel == "embedded"
    assert kernel.identity.lean_version == "4.35.0"
    assert kernel.identity.environment.startswith("prelude@")


async def test_positions_count_code_points_from_the_commands_own_first_line(kernel: EmbeddedKernel) -> None:
    context = "def a := 1\n" * 1 + "-- a comment\n" * 20
    result = await kernel.check(
        theorem("a = 1", "have hé : a = 1 := rfl\nexact nowhere", context=context), timeout_s=20
    )
    (error,) = result.errors
    assert "nowhere" in error.text
    assert (error.line, error.column) == (3, 8)


async def test_scopes_of_the_context_reach_the_command(kernel: EmbeddedKernel) -> None:
    context = "namespace Foo\ndef seven := 7\nend Foo\nopen Foo\nvariable (n : Nat)"
    result = await kernel.check(theorem("n + seven = n + 7", "rfl", context=context), timeout_s=20)
    assert result.messages == ()
    assert result.axioms_line == "'probe' does not depend on any axioms"


async def test_an_error_in_the_context_is_the_authors(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(theorem("True", "trivial", context="def a := 1\ndef b := nowhere"), timeout_s=20)
    assert result.context_error is not None
    assert result.context_error.startswith("2:9: Unknown identifier `nowhere`")
    assert result.messages == ()


async def test_warnings_of_the_context_are_not_the_commands(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(theorem("True", "trivial", context="theorem t : 1 = 2 := sorry"), timeout_s=20)
    assert result.context_error is None
    assert result.messages == ()


async def test_sorry_is_a_warning_of_its_own_kind(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(Source("theorem t : 1 = 2 := sorry", declaration="t", axioms=True), timeout_s=20)
    assert result.sorries == 1
    assert result.errors == ()
    assert result.axioms_line == "'t' depends on axioms: [sorryAx]"


async def test_a_trusted_file_has_all_its_messages_in_order(kernel: EmbeddedKernel) -> None:
    text = "theorem t : 1 = 2 := sorry\n#print axioms t\ntheorem u : 1 = 2 := rfl\n def"
    result = await kernel.check(Source(text), timeout_s=20)
    assert result.gate is None
    assert [(m.severity, m.line) for m in result.messages][:2] == [("warning", 1), ("information", 2)]
    assert {m.line for m in result.errors} == {3, 4}


async def test_messages_of_proofs_that_run_on_the_side_come_once_and_with_their_command(kernel: EmbeddedKernel) -> None:
    proofs = "theorem t : 1 = 2 := by decide\ntheorem u : 2 = 3 := by decide\ntheorem v : 1 = 2 := sorry\n#check t"
    result = await kernel.check(Source("set_option Elab.async true\n" + proofs), timeout_s=20)
    assert sorted((m.severity, m.line) for m in result.messages) == [
        ("error", 2),
        ("error", 3),
        ("information", 5),
        ("warning", 4),
    ]
    context = "set_option Elab.async true\ntheorem w : 1 = 2 := sorry"
    good = await kernel.check(theorem("1 = 1", "decide", context=context), timeout_s=20)
    assert good.messages == ()
    assert good.axioms_line == "'probe' does not depend on any axioms"
    bad = await kernel.check(theorem("1 = 2", "decide", context=context), timeout_s=20)
    assert len(bad.errors) == 1


async def test_definitions_that_leave_work_on_the_side(kernel: EmbeddedKernel) -> None:
    define = "def f : Nat → Nat | 0 => 0 | n+1 => f n\n"
    text = define + "theorem t : f 3 = 0 := by simp [f]\ntheorem u : f 3 = 1 := by simp [f]"
    result = await kernel.check(Source(text), timeout_s=20)
    assert [m.line for m in result.messages] == [3]


async def test_unbound_names_are_not_bound_by_themselves(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(theorem("x = x", "rfl"), timeout_s=20)
    assert "Unknown identifier `x`" in result.errors[0].text


async def test_no_axioms_line_when_the_theorem_did_not_come_to_be(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(Source("theorem t : nowhere := trivial", declaration="t", axioms=True), timeout_s=20)
    assert result.errors
    assert result.axioms_line is None


async def test_nothing_outlives_a_check(kernel: EmbeddedKernel) -> None:
    declare = Source("theorem kept : True := trivial")
    for _ in range(4):
        assert (await kernel.check(declare, timeout_s=20)).messages == ()
    assert (await kernel.check(Source("#check kept"), timeout_s=20)).errors


async def test_definitions_by_recursion_need_threads_and_get_them(kernel: EmbeddedKernel) -> None:
    text = (
        "mutual\ndef ev : Nat → Bool | 0 => true | n+1 => od n\ndef od : Nat → Bool | 0 => false | n+1 => ev n\nend\n"
        "inductive T | a | b (t : T)\n  deriving DecidableEq\n"
        "theorem t : ev 10 = true := by decide"
    )
    assert (await kernel.check(Source(text), timeout_s=60)).messages == ()


async def test_text_larger_than_a_pipe(kernel: EmbeddedKernel) -> None:
    comment = "/- " + "long " * 200_000 + "-/\n"
    result = await kernel.check(Source(comment + "theorem t : 1 = 2 := rfl"), timeout_s=20)
    assert {m.line for m in result.errors} == {2}


async def test_a_lone_surrogate_in_a_part_is_that_parts_fault(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(theorem("True", "trivial -- \ud800"), timeout_s=20)
    assert result.gate is not None
    assert (result.gate.ok, result.gate.rule, result.gate.label) == (False, "part", "proof")
    with pytest.raises(InputError, match="surrogate"):
        await kernel.check(Source("-- \ud800"), timeout_s=20)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
async def test_no_time_at_all_is_bad_input(kernel: EmbeddedKernel, seconds: float) -> None:
    with pytest.raises(InputError, match="timeout_s"):
        await kernel.check(EASY, timeout_s=seconds)


# -- how a check ends


async def test_an_endless_tactic_ends_at_its_time(kernel: EmbeddedKernel) -> None:
    elapsed = []
    for _ in range(5):
        result = await kernel.check(ENDLESS, timeout_s=0.3)
        assert result.timed_out
        assert result.crashed is None
        assert result.gate is not None
        assert result.gate.ok
        elapsed.append(result.elapsed_s)
    assert min(elapsed) >= 0.3
    assert statistics.median(elapsed) <= 0.4, elapsed


async def test_time_counts_from_taking_the_job_not_from_waiting_for_a_slot(kernel: EmbeddedKernel) -> None:
    results = await asyncio.gather(*(kernel.check(ENDLESS, timeout_s=0.3) for _ in range(6)))
    assert min(r.elapsed_s for r in results) >= 0.3
    assert statistics.median(r.elapsed_s for r in results) <= 0.4, results
    assert max(r.timings["queue"] for r in results) > 0.5


async def test_a_stack_overflow_is_the_texts_fault(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(theorem("True", "exact " + "(" * 100_000), timeout_s=30)
    assert result.crashed == "stack overflow"


async def test_a_deep_but_sound_term_is_an_ordinary_error(kernel: EmbeddedKernel) -> None:
    depth = 5_000
    result = await kernel.check(theorem("True", "exact " + "(" * depth + "trivial" + ")" * depth), timeout_s=30)
    assert result.crashed is None
    assert "maximum recursion depth" in result.errors[0].text


async def test_a_memory_hog_is_the_texts_fault(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(power_of_two(4_000_000_000), timeout_s=30)
    assert result.crashed == "memory"


async def test_a_panic_of_lean_is_the_texts_fault(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(power_of_two(40_000_000_000), timeout_s=30)
    assert result.crashed == "PANIC"


async def test_too_many_messages_are_the_texts_fault(kernel: EmbeddedKernel) -> None:
    result = await kernel.check(FLOOD, timeout_s=30)
    assert result.crashed == "output limit"
    assert len(result.messages) <= 200


async def test_after_all_that_a_check_is_what_it_was(kernel: EmbeddedKernel) -> None:
    before = kernel.stats()
    assert (await kernel.check(ENDLESS, timeout_s=0.3)).timed_out
    assert (await kernel.check(FLOOD, timeout_s=30)).crashed
    assert (await kernel.check(EASY, timeout_s=20)).axioms_line == "'probe' depends on axioms: [propext]"
    stats = kernel.stats()
    assert (stats.timed_out - before.timed_out, stats.crashed - before.crashed) == (1, 1)
    assert (stats.restarts, stats.unavailable) == (0, 0)


# -- slots, cancelling, outside trouble


async def test_two_clients_at_once_each_get_their_own_result(kernel: EmbeddedKernel) -> None:
    async def client(start: int) -> None:
        for number in range(start, start + 20):
            result = await kernel.check(Source(f"theorem t{number} : True := nowhere{number}"), timeout_s=20)
            assert f"nowhere{number}`" in result.errors[0].text

    await asyncio.gather(client(0), client(1000), client(2000))


async def test_cancelling_frees_the_slot_and_ends_the_process(kernel: EmbeddedKernel) -> None:
    image = kernel.stats().image_pid
    assert image is not None
    await until(lambda: not busy_children_of(image))
    checks = [asyncio.ensure_future(kernel.check(ENDLESS, timeout_s=600)) for _ in range(2)]
    waiting = asyncio.ensure_future(kernel.check(ENDLESS, timeout_s=600))
    running = await busy(image, 2)
    for task in (*checks, waiting):
        task.cancel()
    results = await asyncio.gather(*checks, waiting, return_exceptions=True)
    assert all(isinstance(r, asyncio.CancelledError) for r in results)
    async with asyncio.timeout(PATIENCE_S):  # the endless ones would have their slots for ten times as long
        assert (await kernel.check(EASY, timeout_s=20)).messages == ()
    await until(lambda: not children_of(image) & running)
    assert kernel.stats().in_flight == 0


async def test_children_are_forked_ahead_and_serve_one_check_each(kernel: EmbeddedKernel) -> None:
    image = kernel.stats().image_pid
    assert image is not None
    await until(lambda: len(children_of(image)) == kernel.slots, shows=lambda: children_of(image))
    before = children_of(image)
    await asyncio.gather(*(kernel.check(EASY, timeout_s=20) for _ in range(4)))
    await until(lambda: not before & children_of(image), shows=lambda: (before, children_of(image)))
    await until(lambda: len(children_of(image)) == kernel.slots, shows=lambda: children_of(image))


async def kill_a_check(kernel: EmbeddedKernel) -> None:
    """From outside, in the middle of it: it has no verdict."""
    image = kernel.stats().image_pid
    assert image is not None
    await until(lambda: not busy_children_of(image))
    check = asyncio.ensure_future(kernel.check(ENDLESS, timeout_s=60))
    (pid,) = await busy(image, 1)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(KernelUnavailable, match="killed from outside"):
        await check


async def test_a_check_killed_from_outside_has_no_verdict(kernel: EmbeddedKernel) -> None:
    await kill_a_check(kernel)
    assert (await kernel.check(EASY, timeout_s=20)).messages == ()


async def test_what_the_image_hands_on_is_not_held_against_a_check_that_may_have_little() -> None:
    async with EmbeddedKernel(slots=1, limits=Limits(memory_bytes=144 << 20)) as kernel:
        await kill_a_check(kernel)


async def test_idle_children_killed_from_outside_are_replaced(kernel: EmbeddedKernel) -> None:
    image = kernel.stats().image_pid
    assert image is not None
    await until(lambda: len(children_of(image)) == kernel.slots, shows=lambda: children_of(image))
    killed = children_of(image)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    await until(lambda: len(children_of(image) - killed) == kernel.slots, shows=lambda: (killed, children_of(image)))
    assert (await kernel.check(EASY, timeout_s=20)).messages == ()


async def test_a_killed_image_takes_no_verdict_with_it_and_comes_back() -> None:
    async with EmbeddedKernel(slots=2) as kernel:
        image = kernel.stats().image_pid
        assert image is not None
        checks = [asyncio.ensure_future(kernel.check(ENDLESS, timeout_s=60)) for _ in range(3)]
        await busy(image, 2)
        family = {image, *children_of(image), *wardens_of(image)}
        os.kill(image, signal.SIGKILL)
        results = await asyncio.gather(*checks, return_exceptions=True)
        assert all(isinstance(r, KernelUnavailable) for r in results)
        wait_until_gone(family)
        assert (await kernel.check(EASY, timeout_s=20)).messages == ()
        stats = kernel.stats()
        assert stats.restarts == 1
        assert stats.unavailable == 3
        assert stats.image_pid != image


async def test_closing_leaves_no_process_and_no_check_hanging() -> None:
    kernel = EmbeddedKernel(slots=2)
    await kernel.start()
    image = kernel.stats().image_pid
    assert image is not None
    check = asyncio.ensure_future(kernel.check(ENDLESS, timeout_s=60))
    await busy(image, 1)
    family = {image, *children_of(image), *wardens_of(image)}
    assert len(family) >= 3
    await kernel.aclose()
    with pytest.raises(KernelUnavailable, match="closed"):
        await check
    wait_until_gone(family)
    with pytest.raises(KernelUnavailable, match="closed"):
        await kernel.check(EASY, timeout_s=20)
    await kernel.aclose()


OWNER = """
import asyncio, sys
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.embedded.selftest import theorem
async def main():
    kernel = EmbeddedKernel(slots=2)
    await kernel.start()
    print(kernel.stats().image_pid, flush=True)
    await kernel.check(theorem("1 = 2", "repeat (have h : True := trivial)"), timeout_s=600)
asyncio.run(main())
"""


def test_a_killed_owner_leaves_no_process() -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        image = int(owner.stdout.readline())
        wait_until(lambda: busy_children_of(image))
        family = {image, *children_of(image), *wardens_of(image)}
        assert len(family) >= 3
        owner.kill()
    wait_until_gone(family)


async def test_the_image_lives_as_long_as_its_kernel_not_as_the_thread_that_started_it() -> None:
    started: list[EmbeddedKernel] = []

    async def start() -> None:
        kernel = EmbeddedKernel(slots=1)
        await kernel.start()
        started.append(kernel)

    thread = threading.Thread(target=lambda: asyncio.run(start()))
    thread.start()
    await asyncio.to_thread(thread.join)
    image = started[0].stats().image_pid
    assert image is not None
    await asyncio.sleep(0.3)
    assert alive(image)
    with pytest.raises(RuntimeError, match="event loop"):
        await started[0].check(EASY, timeout_s=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the kernel is dropped without being closed
        started.clear()
        gc.collect()
    await asyncio.to_thread(wait_until_gone, {image})


async def test_an_image_that_cannot_start_says_why() -> None:
    kernel = EmbeddedKernel(slots=1, modules=("No.Such.Module",))
    with pytest.raises(KernelUnavailable, match=r"unknown module prefix|No\.Such"):
        await kernel.start()
    await kernel.aclose()


@pytest.mark.parametrize("slots", [0, -1, 1025, True])
async def test_slots_out_of_range_are_bad_input(slots: int) -> None:
    with pytest.raises(InputError, match="slots"):
        EmbeddedKernel(slots=slots)


async def test_messages_of_a_part_stay_apart_from_axioms(kernel: EmbeddedKernel) -> None:
    part = Part("hole", "(by exact ⟨trivial, trivial⟩)", "proof", 1, 30)
    source = Source(
        "theorem t : True ∧ True := (by exact ⟨trivial, trivial⟩)",
        template="theorem t : True ∧ True := hole",
        parts=(part,),
    )
    result = await kernel.check(source, timeout_s=20)
    assert result.messages == ()
    assert result.axioms_line is None


async def test_an_image_that_dies_at_once_is_unavailable_and_not_waited_for() -> None:
    kernel = EmbeddedKernel(slots=1, limits=Limits(stack_bytes=4096))
    with pytest.raises(KernelUnavailable, match="died"):
        await asyncio.wait_for(kernel.start(), 30)
    await kernel.aclose()


def epolled_and_open(pid: int) -> tuple[set[str], set[str]]:
    """Descriptors that a process's epolls watch, and those that it has open, at one moment."""
    descriptors = Path(f"/proc/{pid}/fd")
    os.kill(pid, signal.SIGSTOP)
    try:
        stat = Path(f"/proc/{pid}/stat")  # it stops once it is through with the system call that it is in
        wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T")
        held = {entry.name: os.readlink(entry) for entry in descriptors.iterdir()}
        polls = [Path(f"/proc/{pid}/fdinfo/{name}").read_text() for name, kind in held.items() if "eventpoll" in kind]
    finally:
        os.kill(pid, signal.SIGCONT)
    return set(re.findall(r"^tfd:\s*(\d+)", "".join(polls), re.MULTILINE)), set(held)


async def test_a_pipe_that_was_closed_wakes_nobody(kernel: EmbeddedKernel) -> None:
    """A child that was just forked has copies of the image's pipes. One that the image has closed, but not taken out of
    its epoll, reports through such a copy again and again."""
    await kernel.check(plain("example : True := trivial"), timeout_s=20)
    pid = kernel.stats().image_pid
    assert pid is not None
    looks: list[tuple[set[str], set[str]]] = []

    async def look() -> None:
        while True:
            looks.append(epolled_and_open(pid))
            await asyncio.sleep(0.001)

    watching = asyncio.create_task(look())
    for number in range(600):
        if number >= 60 and len(looks) > 50:
            break
        pair = (plain(f"example : {number} = {number + part} - {part} := rfl") for part in (1, 2))
        await asyncio.gather(*(kernel.check(source, timeout_s=20) for source in pair))
    assert not watching.done(), watching
    watching.cancel()
    assert len(looks) > 50
    assert all(watched for watched, _ in looks)
    assert [watched - held for watched, held in looks if not watched <= held] == []
