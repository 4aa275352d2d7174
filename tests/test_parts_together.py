"""What holds part by part, put together: limits, auxiliary names, lengths; and contexts that are at fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rlmath.blank import is_blank
from rlmath.episode import run_episode
from rlmath.errors import InputError
from rlmath.kernel.embedded import EmbeddedKernel, Limits
from rlmath.kernel.embedded.limits import LEAST_MEMORY_BYTES, machine_memory
from rlmath.kernel.protocol import Part, Source
from rlmath.leaf.recorded import RecordedProver
from rlmath.leaves import MAX_PROOF_CHARS
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Status

ONE = GoalSpec("one", "1 = 1", "one")
TWO_LEMMAS = "#lemma a : 1 = 1\n#lemma b : 1 = 1\n#assembly\nexact a\n#end\n"
LET_REC = "let rec f : 1 = 1 := rfl\nexact f"
OMEGA = "\n".join(f"have h{i} : ∀ a b c : Nat, a < b → b < c → a + {i} < c + b + {i} := by omega" for i in range(8))


async def judged(kernel: EmbeddedKernel, goal: GoalSpec, completion: str, **leaves: str | list[str]) -> EpisodeResult:
    budgets = Budgets(leaf_attempts_per_lemma=2, verify_timeout_s=60)
    return await run_episode(goal, completion, kernel=kernel, leaf=RecordedProver(leaves), budgets=budgets)


async def test_two_proofs_that_declare_one_name_never_meet(kernel: EmbeddedKernel) -> None:
    result = await judged(kernel, ONE, TWO_LEMMAS, a=LET_REC, b=["rfl"])
    assert result.status is Status.LEAF_FAILED
    assert "only the assembly may" in result.detail
    result = await judged(kernel, ONE, TWO_LEMMAS, a=[LET_REC, "rfl"], b="rfl")
    assert (result.status, result.leaf_attempts_used) == (Status.VERIFIED, 3)
    declares = TWO_LEMMAS.replace("exact a", LET_REC)
    assert (await judged(kernel, ONE, declares, a="rfl", b="rfl")).status is Status.VERIFIED
    in_statement = TWO_LEMMAS.replace("#lemma a : 1 = 1", "#lemma a : let rec f : Nat := 1; f = 1")
    assert (await judged(kernel, ONE, in_statement)).status is Status.SANITIZER_REJECTED


async def test_a_proof_is_no_longer_than_an_assembly_may_be(kernel: EmbeddedKernel) -> None:
    long = "rfl --" + "a" * MAX_PROOF_CHARS
    result = await judged(kernel, ONE, TWO_LEMMAS, a=[long, "rfl"], b="rfl")
    assert (result.status, result.leaf_attempts_used) == (Status.VERIFIED, 3)
    result = await judged(kernel, ONE, TWO_LEMMAS, a=long, b="rfl")
    assert result.status is Status.LEAF_FAILED
    assert f"proof of a: has more than {MAX_PROOF_CHARS} characters" in result.detail


async def test_a_policys_text_beyond_what_a_check_takes_is_its_own_fault(kernel: EmbeddedKernel) -> None:
    text = "a" * (33 << 20)
    part = Part(hole="_hole_0", text=text, label="assembly", line=1, column=0)
    source = Source(text, template="_hole_0", parts=(part,))
    assert (await kernel.check(source, timeout_s=10)).crashed == "more text than a check may have"
    with pytest.raises(InputError, match="is 69206"):
        await kernel.check(Source(text * 2), timeout_s=10)


async def test_a_limit_of_the_contexts_own_counts_once_for_each_part(kernel: EmbeddedKernel) -> None:
    leaf = f"{OMEGA}\nrfl"
    tight = replace(ONE, context="set_option maxHeartbeats 800")
    alone = "#lemma a : 1 = 1\n#assembly\nexact a\n#end\n"
    assert (await judged(kernel, replace(ONE, context="set_option maxHeartbeats 100"), alone, a=leaf)).status is (
        Status.LEAF_FAILED
    )
    assert (await judged(kernel, tight, alone, a=leaf)).status is Status.VERIFIED
    assert (await judged(kernel, tight, TWO_LEMMAS, a=leaf, b=leaf)).status is Status.VERIFIED


async def test_a_statement_that_is_deep_alone_may_stand_in_a_plan(kernel: EmbeddedKernel) -> None:
    deep = "Nat.succ (" * 240 + "0" + ")" * 240
    lemmas = [f"#lemma h{i} : True" for i in range(7)]
    plan = "\n".join([*lemmas, f"#lemma deep : {deep} = {deep}", "#assembly", "rfl", "#end"])
    leaves = {f"h{i}": "trivial" for i in range(7)}
    assert (await judged(kernel, ONE, plan, deep="rfl", **leaves)).status is Status.VERIFIED


@pytest.mark.parametrize(
    "context",
    [
        "structure S where\n  rec_1 : Nat",
        "inductive T | a\ndef T.rec_1 : Nat := 1",
        "def String.ofByteArray : Nat := 1",
    ],
)
async def test_a_context_that_takes_the_kernels_names_is_its_authors_fault(
    kernel: EmbeddedKernel, context: str
) -> None:
    with pytest.raises(InputError, match="a name that is the kernel's own: choose another"):
        await judged(kernel, replace(ONE, context=context), "#assembly\nrfl\n#end")


@pytest.mark.parametrize(
    "context", ["\n", "  ", "-- c", "/- x -/", "/- a /- b -/ c -/ -- d\n\n", "-- c\ndef x := 1 -- d"]
)
async def test_a_context_of_comments_is_no_context(kernel: EmbeddedKernel, context: str) -> None:
    assert (await judged(kernel, replace(ONE, context=context), "#assembly\nrfl\n#end")).status is Status.VERIFIED
    assert (await judged(kernel, replace(ONE, context=context), TWO_LEMMAS, a="rfl", b="rfl")).status is Status.VERIFIED


async def test_a_comment_without_an_end_is_an_error(kernel: EmbeddedKernel) -> None:
    for context in ("/- a", "/- a /- b -/"):
        with pytest.raises(InputError, match="comment"):
            await judged(kernel, replace(ONE, context=context), "#assembly\nrfl\n#end")


@pytest.mark.parametrize("text", ["/- a", "/- a /- b -/", "/-- doc -/", "x", "-- c\nx", "/- a -/ -/"])
def test_what_is_not_blank(text: str) -> None:
    assert not is_blank(text)


def test_checks_that_are_greedy_together_fit_into_the_machine() -> None:
    wide = Limits().fitted(128, 256 << 30)
    assert wide.memory_bytes == wide.judge_memory_bytes == int(0.8 * (256 << 30)) // 128
    assert Limits().fitted(2, 256 << 30) == Limits()
    assert Limits().fitted(64, 8 << 30).memory_bytes == LEAST_MEMORY_BYTES


def test_a_containers_bound_is_the_machines(tmp_path: Path) -> None:
    groups = tmp_path
    installed = machine_memory(groups)
    (groups / "memory.max").write_text("max\n")
    assert machine_memory(groups) == installed
    (groups / "memory.max").write_text("1073741824\n")
    assert machine_memory(groups) == 1 << 30
    (groups / "memory").mkdir()
    (groups / "memory" / "memory.limit_in_bytes").write_text("536870912\n")
    assert machine_memory(groups) == 1 << 29
