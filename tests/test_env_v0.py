"""The v0 environment, for verifiers before 0.4. On 0.4, which has no v0, all there is to it is a clear refusal."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from env_kit import GOAL, PLAN, Faulty
from gateway_kit import listening
from openai_stub import OpenAIStub, Step

from rlmath import envs
from rlmath.envs import EpisodeResources, load_environment, set_resources
from rlmath.errors import CapReached, InputError, Unavailable
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.tactics import TacticsProver
from rlmath.prompt import SYSTEM_PROMPT, user_message
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Status

pytestmark = pytest.mark.slow  # importing verifiers' v0 stack and datasets takes several seconds


@pytest.fixture(autouse=True)
def _nothing_registered() -> Iterator[None]:
    set_resources(None)
    yield
    set_resources(None)


async def _evaluate(stub: OpenAIStub, environment: Any, **settings: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """verifiers' own evaluation: the rows it saves, and its summary."""
    import verifiers as vf

    client = vf.ClientConfig(
        client_type="openai_chat_completions", api_base_url=stub.base_url, api_key_var="RLMATH_TEST_KEY"
    )
    with tempfile.TemporaryDirectory() as folder:
        done = await environment.evaluate(
            client=client,
            model="stub",
            state_columns=["rlmath"],
            save_results=True,
            results_path=Path(folder) / "run",
            **settings,
        )
        lines = (Path(folder) / "run" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    rows = sorted(map(json.loads, lines), key=lambda row: int(row["example_id"]))
    return rows, done["metadata"]


def _refused() -> bool:
    """Whether this verifiers has no v0; checks then that we say so."""
    if envs.HAS_VERIFIERS_V0:
        return False
    with pytest.raises(ImportError, match=r"verifiers 0\.4 has dropped"):
        load_environment()
    return True


async def test_a_row_has_reward_metrics_and_the_json_column(kernel: EmbeddedKernel) -> None:
    if _refused():
        return
    bad = GoalSpec("bad", "∀ n : Nat, n = 0")
    environment = load_environment(goals=[GOAL, bad], backend=kernel, leaf=TacticsProver())
    with OpenAIStub(PLAN) as stub:
        rows, summary = await _evaluate(stub, environment, rollouts_per_example=2)
    assert [row["reward"] for row in rows] == [1.0, 1.0, 0.0, 0.0]
    assert summary["avg_reward"] == 0.5
    assert summary["avg_error"] == 0.0
    for row in rows:
        status = "verified" if row["reward"] else "plan_invalid"
        blob, metrics = row["rlmath"], row["metrics"]
        assert (blob["status"], blob["reward"]) == (status, row["reward"])
        assert {name for name, value in metrics.items() if name.startswith("status_") and value} == {f"status_{status}"}
        assert metrics["plan_n_lemmas"] == blob["plan_stats"]["plan_n_lemmas"] == 1.0
        assert metrics["leaf_attempts_used"] == blob["leaf_attempts_used"]
        assert metrics["elapsed_s"] == blob["elapsed_s"] > 0.0
    assert sum(name.startswith("status_") for name in rows[0]["metrics"]) == 10
    asked = [[(m["role"], m["content"]) for m in request.body["messages"]] for request in stub.requests]
    expected = [[("system", SYSTEM_PROMPT), ("user", user_message(goal))] for goal in (GOAL, GOAL, bad, bad)]
    assert sorted(asked) == sorted(expected), "in whatever order they come"


async def test_an_unparsed_plan_has_zeros_in_the_shape_columns(kernel: EmbeddedKernel) -> None:
    if _refused():
        return
    environment = load_environment(goals=[GOAL], backend=kernel, leaf=TacticsProver())
    with OpenAIStub("no plan") as stub:
        [row], _ = await _evaluate(stub, environment)
    assert row["metrics"]["status_format_error"] == 1.0
    assert row["metrics"]["plan_n_lemmas"] == 0.0
    assert row["rlmath"]["plan_stats"] == {}


async def test_the_environment_loads_bare_and_scores_with_what_is_registered_later(kernel: EmbeddedKernel) -> None:
    if _refused():
        return
    import verifiers as vf

    bare = vf.load_environment("rlmath-decomp")
    assert [row["info"]["id"] for row in bare.get_eval_dataset()] == [f"demo-{number:02}" for number in range(4)]
    plan = "#assembly\nintro n\nrfl\n#end"
    with OpenAIStub(plan) as stub:
        [row], summary = await _evaluate(stub, bare, num_examples=1)
        assert "set_resources" in row["error"]["error_chain_repr"]
        assert (row["rlmath"]["status"], row["rlmath"]["reward"]) == ("error", None)
        assert row["metrics"]["status_error"] == summary["avg_error"] == 1.0
        set_resources(EpisodeResources(backend=kernel, leaf=TacticsProver()))
        [row], summary = await _evaluate(stub, bare, num_examples=1)
    assert (row["reward"], row["rlmath"]["status"], summary["avg_error"]) == (1.0, "verified", 0.0)


async def test_a_scorers_failure_is_an_error_that_max_retries_runs_again() -> None:
    if _refused():
        return

    async def flaky(goal: GoalSpec, completion: str) -> EpisodeResult:
        if len(scorer.calls) == 1:
            raise Unavailable("HTTP 503")
        return EpisodeResult(goal.id, Status.VERIFIED)

    scorer = Faulty(flaky)
    with OpenAIStub(PLAN) as stub:
        [row], _ = await _evaluate(stub, load_environment(goals=[GOAL], scorer=scorer))
        assert row["error"]["error"] == "InfraError"
        assert row["rlmath"]["reward"] is None
        scorer.calls.clear()
        [row], _ = await _evaluate(stub, load_environment(goals=[GOAL], scorer=scorer), max_retries=1)
    assert (row["reward"], row.get("error")) == (1.0, None)


async def test_what_outgrows_the_window_is_marked_and_not_run_again() -> None:
    if _refused():
        return

    async def verified(goal: GoalSpec, completion: str) -> EpisodeResult:
        return EpisodeResult(goal.id, Status.VERIFIED)

    scorer = Faulty(verified)
    environment = load_environment(goals=[GOAL], scorer=scorer)
    for stub in (
        OpenAIStub(PLAN, context_tokens=50),
        OpenAIStub("thinking", script=[Step(finish_reason="length")]),
    ):
        with stub:
            [row], _ = await _evaluate(stub, environment, max_retries=3)
        assert row["rlmath"]["status"] == "context_window_exceeded"
        assert row["error"]["error"] == "OverlongPromptError"
        assert len(stub.requests) == 1
    assert scorer.calls == []


async def test_budgets_and_prompt_may_come_from_a_command_line(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    if _refused():
        return
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Decompose, please.", encoding="utf-8")
    set_resources(EpisodeResources(backend=kernel, leaf=TacticsProver(), budgets=Budgets(), goals=[GOAL]))
    environment = load_environment(budgets={"max_lemmas": 0}, system_prompt=str(prompt))
    with OpenAIStub(PLAN) as stub:
        [row], _ = await _evaluate(stub, environment)
    assert row["rlmath"]["status"] == "budget_exhausted"
    assert stub.requests[0].body["messages"][0] == {"role": "system", "content": "Decompose, please."}
    with pytest.raises(InputError, match="budgets: takes max_lemmas"):
        load_environment(budgets={"max_lemma": 1})
    with pytest.raises(InputError, match="system_prompt: cannot read"):
        load_environment(system_prompt=tmp_path / "nowhere.txt")


async def test_a_gateway_may_score_and_its_refusal_is_an_error(kernel: EmbeddedKernel) -> None:
    if _refused():
        return

    async def refuses(*_: object) -> Any:
        raise CapReached("client a", "kernel_s", 10.0, 9.5)

    async with listening(kernel) as (backend, server):
        environment = load_environment(goals=[GOAL], cluster_url=server.url, budgets={"max_lemmas": 1})
        with OpenAIStub(PLAN) as stub:
            [row], _ = await _evaluate(stub, environment)
            assert (row["reward"], row["rlmath"]["status"], row.get("error")) == (1.0, "verified", None)
            assert backend.judged == 1
            backend.judge = refuses  # type: ignore[method-assign]
            [row], summary = await _evaluate(stub, environment)
    assert (row["rlmath"]["status"], row["rlmath"]["reward"], summary["avg_error"]) == ("error", None, 1.0)
    assert "kernel_s" in row["error"]["error_chain_repr"]
    for wrong, said in [
        ({"cluster_url": "here"}, "cluster_url: must be http"),
        ({"cluster_leaf": "big"}, "cluster_url: is missing"),
        ({"cluster_url": "http://here", "leaf": TacticsProver()}, "cluster_url: scores instead of"),
    ]:
        with pytest.raises(InputError, match=said):
            load_environment(**wrong)  # type: ignore[arg-type]
