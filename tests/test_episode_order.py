"""A parallel and a sequential run of the same inputs give the same result object, whatever comes first or is lost.

The kernel is the real one. What the tests change is when its answers arrive, in which order, and whether the way to it
breaks: its answers are asked for once per text and kept, so that many orders can be tried in little time.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlmath.episode import run_episode
from rlmath.errors import KernelUnavailable, LeafUnavailable, Unavailable
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Certificate, CheckResult, Source
from rlmath.leaf.protocol import LeafAttempt, LeafTask
from rlmath.leaf.recorded import RecordedProver
from rlmath.types import Budgets, EpisodeResult, GoalSpec, KernelIdentity, LemmaStatus, Status

GOALS = [
    GoalSpec("easy", "∀ n : Nat, n + 0 = n", "easy"),
    GoalSpec("false", "1 = 2", "not_so"),
]
PROVABLE = {
    "True": "trivial",
    "∀ n : Nat, n + 0 = n": "intro n\nrfl",
    "∀ p q : Prop, p ∧ q → q ∧ p": "fun _ _ h => ⟨h.2, h.1⟩",
    "2 + 2 = 4": "decide",
}
FLAWED = ["1 = 2", "x = x", "Nat", "True)"]
WRONG_PROOFS = ["exact nonsense", "skip", "sorry", "stop\nskip", "(", "rfl", "intro n\nrfl"]
ASSEMBLIES = ["exact h0", "exact nonsense", "intro n", "(", "stop\nskip", "exact absurd h1 (by decide)"]
COMPOSED_ONLY = "first | exact easy | (intro n; rfl)"
"""An assembly that means another thing in the composed theorem: there, `easy` is the theorem itself."""


@dataclass
class Delays:
    """Waits and failures drawn from a seed."""

    seed: int
    lost: float
    """How likely a call is to be lost."""
    random: random.Random = field(init=False)
    running: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    async def pass_(self, trouble: Unavailable) -> None:
        for _ in range(self.random.choice((0, 1, 1, 2, 3, 5, 8))):
            await asyncio.sleep(0)
        if self.random.random() < self.lost:
            raise trouble


@dataclass
class LateKernel:
    """The real kernel at the far side of an unreliable way."""

    kernel: EmbeddedKernel
    answers: dict[Source, CheckResult]
    certificates: dict[Source, Certificate]
    delays: Delays

    @property
    def identity(self) -> KernelIdentity:
        return self.kernel.identity

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        self.delays.running += 1
        try:
            await self.delays.pass_(KernelUnavailable("lost"))
            if source not in self.answers:
                self.answers[source] = await self.kernel.check(source, timeout_s=timeout_s)
            return self.answers[source]
        finally:
            self.delays.running -= 1

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        self.delays.running += 1
        try:
            await self.delays.pass_(KernelUnavailable("lost"))
            if source not in self.certificates:
                self.certificates[source] = await self.kernel.certify(source, reference, timeout_s=timeout_s)
            return self.certificates[source]
        finally:
            self.delays.running -= 1


@dataclass
class LateProver:
    """Recorded proofs at the far side of another. Counts the attempts begun."""

    recorded: RecordedProver
    delays: Delays
    begun: list[tuple[str, int]] = field(default_factory=list)

    @property
    def identity(self) -> str:
        return self.recorded.identity

    @property
    def max_attempts(self) -> int:
        return self.recorded.max_attempts

    async def attempts(self, task: LeafTask, indices: Sequence[int]) -> Sequence[LeafAttempt]:
        self.begun += [(task.name, index) for index in indices]
        await self.delays.pass_(LeafUnavailable("lost"))
        return await self.recorded.attempts(task, indices)


@st.composite
def completions(draw: st.DrawFn) -> tuple[str, dict[str, list[str]]]:
    """A plan and recorded proofs. Most get to the leaves, for there is the most to go wrong there."""
    flaws = draw(st.sampled_from([False, False, False, True]))
    statements = draw(st.lists(st.sampled_from([*PROVABLE, *(FLAWED if flaws else ["1 = 2"])]), max_size=5))
    leaf: dict[str, list[str]] = {}
    for number, statement in enumerate(statements):
        wrong = draw(st.lists(st.sampled_from(WRONG_PROOFS), max_size=4))
        right = [PROVABLE[statement]] if statement in PROVABLE and draw(st.integers(0, 5)) else []
        leaf[f"h{number}"] = draw(st.permutations(wrong + right)) or ["skip"]
    assembly = draw(st.sampled_from(["intro n\nrfl", COMPOSED_ONLY, *(ASSEMBLIES if flaws else [])]))
    lemmas = [f"#lemma h{number} : {prop}" for number, prop in enumerate(statements)]
    return "\n".join([*lemmas, "#assembly", assembly, "#end"]), leaf


budget = st.builds(
    Budgets,
    max_lemmas=st.sampled_from([3, 5, 5, 5]),
    leaf_attempts_per_lemma=st.sampled_from([0, 1, 2, 3, 4, 4, 4, 5]),
    max_total_leaf_attempts=st.sampled_from([0, 1, 2, 3, 5, 8, 64, 64, 64]),
    verify_timeout_s=st.just(30.0),
)
ANSWERS: dict[Source, CheckResult] = {}
CERTIFICATES: dict[Source, Certificate] = {}


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([GOALS[0], GOALS[0], GOALS[0], GOALS[1]]),
    completions(),
    budget,
    st.integers(0, 8),
    st.integers(1, 4),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.0, 0.05, 0.2]),
)
async def test_a_parallel_run_equals_the_sequential_one(
    kernel: EmbeddedKernel,
    goal: GoalSpec,
    drawn: tuple[str, dict[str, list[str]]],
    budgets: Budgets,
    speculation: int,
    abreast: int,
    seed: int,
    lost: float,
) -> None:
    completion, leaf = drawn
    before = asyncio.all_tasks()

    async def run(delays: Delays, *, parallel: bool) -> tuple[EpisodeResult, LateProver]:
        prover = LateProver(RecordedProver(leaf), delays)
        result = await run_episode(
            goal,
            completion,
            kernel=LateKernel(kernel, ANSWERS, CERTIFICATES, delays),
            leaf=prover,
            budgets=budgets,
            parallel=parallel,
            speculation=speculation,
            abreast=abreast,
            tag_key=b"the same names for all examples",
        )
        return result, prover

    expected, alone = await run(Delays(seed, 0.0), parallel=False)
    assert expected.attempts_speculated == 0
    assert len(alone.begun) == expected.leaf_attempts_used

    delays = Delays(seed, lost)
    while True:
        try:
            result, prover = await run(delays, parallel=True)
        except (KernelUnavailable, LeafUnavailable):
            assert delays.running == 0
            assert asyncio.all_tasks() <= before
            continue
        break
    assert result == expected
    assert delays.running == 0
    assert asyncio.all_tasks() <= before
    assert len(prover.begun) <= result.leaf_attempts_used + result.attempts_speculated
    assert result.attempts_speculated <= speculation
    assert result.leaf_attempts_used <= budgets.max_total_leaf_attempts
    assert (result.status is Status.VERIFIED) <= all(o.status is LemmaStatus.PROVED for o in result.lemma_outcomes)
    assert result.status is not Status.VERIFIED or goal.id == "easy"


async def test_the_names_of_check_theorems_do_not_show_in_a_result(kernel: EmbeddedKernel) -> None:
    completions = [
        "#lemma h1 : Nat\n#assembly\nexact h1\n#end",
        "#lemma h1 : 1 = 2\n#assembly\nexact h2\n#end",
        "#lemma h1 : 1 = 2\n#assembly\nintro n\nrfl\n#end",
        "#lemma h1 : ∀ n : Nat, n + 0 = n\n#assembly\nexact h1\n#end",
    ]
    for completion in completions:
        for proof in ("exact nonsense", "exact h1", "intro n", "intro n\nrfl"):
            first, second = [
                await run_episode(GOALS[0], completion, kernel=kernel, leaf=RecordedProver({"h1": proof}))
                for _ in range(2)
            ]
            assert first == second
            assert "check_" not in str(first.to_json())
