"""The v1 taskset and harness in verifiers' own machinery, on whichever release is installed (CI runs both)."""

from __future__ import annotations

import asyncio
import json
import re
import textwrap
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from env_kit import GOAL, PLAN, REWARD, ROOT, Faulty, assert_unscored, env_config, one_trace, rollouts, scores
from openai_stub import OpenAIStub, Step
from waiting import until

from rlmath import envs
from rlmath.envs import EpisodeResources, LocalScorer, set_resources
from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.recorded import RecordedProver
from rlmath.leaf.tactics import TacticsProver
from rlmath.prompt import SYSTEM_PROMPT, user_message
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Status

pytestmark = pytest.mark.slow  # importing verifiers.v1 alone takes 6 to 9 s


@pytest.fixture(autouse=True)
def _nothing_registered() -> Iterator[None]:
    set_resources(None)
    yield
    set_resources(None)


async def verified(goal: GoalSpec, completion: str) -> EpisodeResult:
    return EpisodeResult(goal.id, Status.VERIFIED)


# --- tasks -----------------------------------------------------------------------------------------------------------


def test_a_bare_taskset_loads_the_demo_goals() -> None:
    import verifiers.v1 as vf

    config = vf.taskset_config_type("rlmath-decomp").model_validate({"id": "rlmath-decomp"})
    for taskset in (vf.load_taskset(config), envs.build_taskset()):
        tasks = list(taskset)
        assert [task.key for task in tasks] == [f"demo-{number:02}" for number in range(4)]
        assert [task.data.idx for task in tasks] == [0, 1, 2, 3]
        assert [task.data.goal for task in tasks] == envs.demo_goals()


def test_the_format_stands_in_the_system_slot_and_nowhere_else(tmp_path: Path) -> None:
    goal = replace(GOAL, context="def x := 1")
    [task] = envs.build_taskset(goals=[goal])
    assert task.data.system_prompt == SYSTEM_PROMPT
    assert task.data.prompt == user_message(goal)
    other = tmp_path / "prompt.txt"
    other.write_text("Decompose, please.", encoding="utf-8")
    [task] = envs.build_taskset(goals=[goal], system_prompt=other)
    assert task.data.system_prompt == "Decompose, please."
    assert task.data.prompt == user_message(goal)


def test_task_data_keeps_its_hash_on_the_wire() -> None:
    goal = GoalSpec("ünï", '∀ n : ℕ, "a\\b" = "\u2028" ∨ n = n', "t'", "inductive C | r | b\n")
    [task] = envs.build_taskset(goals=[goal])
    config = envs.DecompositionTaskConfig(max_lemmas=1)
    wire: Any = task.data
    for exclude_none in (True, False, True):
        sent = json.loads(json.dumps(wire.model_dump(mode="json", exclude_none=exclude_none)))
        wire = type(task).data_type().model_validate(sent)
        rebuilt = type(task)(wire, config)
        assert (rebuilt.hash, rebuilt.key) == (task.hash, "ünï")
        assert rebuilt.data.goal == goal


def test_goals_come_from_the_config_then_the_registry(tmp_path: Path) -> None:
    path = tmp_path / "goals.jsonl"
    path.write_text('{"id": "filed", "prop": "True"}\n', encoding="utf-8")
    set_resources(EpisodeResources(goals=[GOAL]))
    config = envs.DecompositionConfig(id="rlmath-decomp")
    assert [task.key for task in envs.DecompositionTaskset(config)] == ["adds"]
    config = envs.DecompositionConfig(id="rlmath-decomp", goals=path)
    assert [task.key for task in envs.DecompositionTaskset(config)] == ["filed"]
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no goals"):
        list(envs.DecompositionTaskset(config))


def test_build_taskset_registers_what_it_is_given_and_keeps_its_own_goals() -> None:
    kernel, leaf, scorer = EmbeddedKernel(), TacticsProver(), Faulty(verified)
    mine = envs.build_taskset(goals=iter([GOAL]), backend=kernel, leaf=leaf, budgets=Budgets(max_lemmas=2))
    registered = envs.live_resources()
    assert (registered.backend, registered.leaf, registered.goals) == (kernel, leaf, (GOAL,))
    assert registered.budgets == Budgets(max_lemmas=2)
    assert mine.config.task.max_lemmas == 2
    envs.build_taskset(goals=[{"prop": "True"}], scorer=scorer)
    assert envs.live_resources().scorer is scorer
    assert [task.key for task in mine] == [task.key for task in mine] == ["adds"]
    envs.build_taskset(backend=kernel, leaf=leaf)
    assert envs.live_resources().scorer is None
    assert envs.get_resources() == replace(envs.live_resources())
    before = envs.get_resources()
    envs.build_taskset()
    assert envs.get_resources() is before


def test_the_knobs_are_the_tasks_and_are_checked() -> None:
    from pydantic import ValidationError

    config = env_config(task={"max_lemmas": 4, "verify_timeout_s": 3})
    assert (config.taskset.task.max_lemmas, config.taskset.task.verify_timeout_s) == (4, 3.0)
    for wrong in ({"max_lemmas": -1}, {"verify_timeout_s": 0}, {"score_timeout_s": 0}, {"max_lemma": 1}):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            env_config(task=wrong)


def test_the_default_harness_gives_the_policy_no_shell() -> None:
    import verifiers.v1 as vf

    environment = vf.load_environment(env_config())
    [harness] = environment._harnesses.values()
    assert type(harness) is envs.DirectHarness
    assert not harness.EXECUTES_CODE
    named = vf.load_environment(env_config(agent={"harness": {"id": "rlmath-direct"}}))
    assert [type(other) for other in named._harnesses.values()] == [envs.DirectHarness]


# --- rollouts with the real kernel --------------------------------------------------------------------------------


async def test_no_proof_text_reaches_a_message(kernel: EmbeddedKernel) -> None:
    secret = "have hidden_proof : True := trivial"
    artifacts: list[str] = []

    async def judge(goal: GoalSpec, completion: str) -> EpisodeResult:
        leaf = RecordedProver({"h1": f"intro n\n{secret}\nrfl"})
        result = await LocalScorer(kernel, leaf).score(goal, completion, Budgets(), "r")
        artifacts.append(result.artifact or "")
        return result

    set_resources(EpisodeResources(scorer=Faulty(judge), goals=[GOAL]))
    with OpenAIStub(PLAN) as stub:
        trace = await one_trace(stub, env_config())
    assert scores(trace) == {REWARD: 1.0}
    assert secret in artifacts[0]
    assert "hidden_proof" not in json.dumps(trace.to_record())
    [seen] = stub.requests
    assert [message["role"] for message in seen.body["messages"]] == ["system", "user"]
    assert [message["content"] for message in seen.body["messages"]] == [SYSTEM_PROMPT, user_message(GOAL)]


async def test_diagnostics_reach_the_traces_channels(kernel: EmbeddedKernel) -> None:
    set_resources(EpisodeResources(backend=kernel, leaf=TacticsProver(), goals=[GOAL]))
    with OpenAIStub(PLAN) as stub:
        record = json.loads(json.dumps((await one_trace(stub, env_config())).to_record()))
    assert record["rewards"] == {REWARD: {"score": 1.0, "weight": 1.0}}
    metrics, blob = record["metrics"], record["info"]["rlmath"]
    assert sum(metrics[f"status_{status}"] for status in Status) == metrics["status_verified"] == 1.0
    assert metrics["plan_restatement_max"] == metrics["plan_restates_goal"] == 1.0
    assert metrics["leaf_attempts_used"] >= 1.0
    assert metrics["elapsed_s"] > 0.0
    assert all(isinstance(value, float) for value in metrics.values())
    assert (blob["status"], blob["goal_id"], blob["kernel"]["kernel"]) == ("verified", "adds", "embedded")
    assert blob["plan_stats"] == {name: value for name, value in metrics.items() if name.startswith("plan_")}


async def test_the_configs_caps_are_the_ones_that_bite(kernel: EmbeddedKernel) -> None:
    generous = Budgets(max_lemmas=9)
    set_resources(EpisodeResources(backend=kernel, leaf=TacticsProver(), goals=[GOAL], budgets=generous))
    with OpenAIStub(PLAN) as stub:
        trace = await one_trace(stub, env_config(task={"max_lemmas": 0}))
        assert trace.info["rlmath"]["status"] == "budget_exhausted"
        assert scores(trace) == {REWARD: 0.0}
        set_resources(replace(envs.live_resources(), budgets=Budgets(max_lemmas=0)))
        assert (await one_trace(stub, env_config())).info["rlmath"]["status"] == "budget_exhausted"


async def test_the_completion_is_judged_verbatim() -> None:
    scorer = Faulty(verified)
    set_resources(EpisodeResources(scorer=scorer, goals=[GOAL]))
    said = f"\ufeff \n{PLAN}\u00a0\n\n"
    with OpenAIStub(said) as stub:
        trace = await one_trace(stub, env_config())
    assert [(goal, text, name) for goal, text, _, name in scorer.calls] == [(GOAL, said, trace.id)]


async def test_an_empty_reply_is_the_policys(kernel: EmbeddedKernel) -> None:
    set_resources(EpisodeResources(backend=kernel, leaf=TacticsProver(), goals=[GOAL]))
    with OpenAIStub(PLAN, script=[Step(no_content=True)]) as stub:
        trace = await one_trace(stub, env_config())
    assert trace.info["rlmath"]["status"] == "format_error"
    assert scores(trace) == {REWARD: 0.0}


async def test_the_documents_example_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "rlmath-decomp.md").read_text(encoding="utf-8")
    [code] = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "EmbeddedKernel()" in block]
    (tmp_path / "goals.jsonl").write_text(json.dumps({"id": "adds", "prop": GOAL.prop}), encoding="utf-8")
    with OpenAIStub(PLAN) as stub:
        code = code.replace('"goals.jsonl"', repr(str(tmp_path / "goals.jsonl")))
        code = code.replace("http://localhost:8000/v1", stub.base_url)
        names: dict[str, Any] = {}
        exec("async def example():\n" + textwrap.indent(code, "    ") + "\n    return episodes\n", names)
        [episode] = await names["example"]()
    assert [scores(trace) for trace in episode.traces] == [{REWARD: 1.0}]


# --- no reward without a verdict -------------------------------------------------------------------------------------


async def _unavailable(goal: GoalSpec, completion: str) -> EpisodeResult:
    raise KernelUnavailable("HTTP 503")


async def _own_timeout(goal: GoalSpec, completion: str) -> EpisodeResult:
    raise TimeoutError


async def _lost_future(goal: GoalSpec, completion: str) -> EpisodeResult:
    raise asyncio.CancelledError


async def _error(goal: GoalSpec, completion: str) -> EpisodeResult:
    return EpisodeResult(goal.id, Status.ERROR, "worker lost")


async def _window(goal: GoalSpec, completion: str) -> EpisodeResult:
    return EpisodeResult(goal.id, Status.CONTEXT_WINDOW_EXCEEDED, "too long")


async def _dead(goal: GoalSpec, completion: str) -> EpisodeResult:
    await asyncio.open_connection("127.0.0.1", 1)
    raise AssertionError("something listens on port 1")


async def _hangs(goal: GoalSpec, completion: str) -> EpisodeResult:
    await asyncio.sleep(60)
    raise AssertionError("nobody waits that long")


Act = Callable[[GoalSpec, str], Awaitable[EpisodeResult]]
FAILURES: dict[str, tuple[Act, dict[str, Any], str | None]] = {
    "unavailable": (_unavailable, {}, "error"),
    "its own timeout": (_own_timeout, {}, "error"),
    "a cancelled call": (_lost_future, {}, "error"),
    "status error": (_error, {}, "error"),
    "status context_window_exceeded": (_window, {}, "context_window_exceeded"),
    "a dead server": (_dead, {}, "error"),
    "our deadline": (_hangs, {"task": {"score_timeout_s": 0.5}}, "error"),
    "the framework's deadline": (_hangs, {"agent": {"timeout": {"finalize": 2.0, "scoring": 2.0}}}, None),
}
"""What the scorer does, the config, and the status that is recorded (None: there was no time to record one)."""


@pytest.mark.parametrize("case", FAILURES)
async def test_a_rollout_without_a_verdict_has_no_reward(case: str) -> None:
    act, config, status = FAILURES[case]
    scorer = Faulty(act)
    set_resources(EpisodeResources(scorer=scorer, goals=[GOAL]))
    with OpenAIStub(PLAN) as stub:
        trace = await one_trace(stub, env_config(**config))
    assert len(scorer.calls) == 1
    assert_unscored(trace, status)


async def test_a_rollout_with_nothing_to_score_with_has_no_reward() -> None:
    set_resources(EpisodeResources(goals=[GOAL]))
    with OpenAIStub(PLAN) as stub:
        trace = await one_trace(stub, env_config())
    assert_unscored(trace, "error")
    assert "set_resources" in trace.errors[-1].message


async def test_the_scoring_stages_deadline_does_not_touch_a_verdict() -> None:
    async def slowly(goal: GoalSpec, completion: str) -> EpisodeResult:
        await asyncio.sleep(2.5)
        return await verified(goal, completion)

    set_resources(EpisodeResources(scorer=Faulty(slowly), goals=[GOAL]))
    with OpenAIStub(PLAN) as stub:
        trace = await one_trace(stub, env_config(agent={"timeout": {"scoring": 2.0}}))
        assert trace.ok
        assert scores(trace) == {REWARD: 1.0}
        plugged = {"metrics": {"slow": {"fn": "env_kit:slow_metric"}}}
        trace = await one_trace(stub, env_config(task=plugged, agent={"timeout": {"scoring": 0.3}}))
        assert scores(trace) == {REWARD: 1.0}, "a slow metric of somebody else's must not read as a failed plan"


async def test_a_slow_metric_does_not_hide_that_there_is_no_verdict() -> None:
    set_resources(EpisodeResources(scorer=Faulty(_hangs), goals=[GOAL]))
    plugged = {"metrics": {"slow": {"fn": "env_kit:slow_metric"}}}
    with OpenAIStub(PLAN) as stub:
        trace = await one_trace(stub, env_config(task=plugged, agent={"timeout": {"finalize": 0.2, "scoring": 0.2}}))
    assert_unscored(trace, None)


async def test_a_cancelled_run_cancels_its_scoring() -> None:
    scorer = Faulty(_hangs)
    set_resources(EpisodeResources(scorer=scorer, goals=[GOAL]))
    with OpenAIStub(PLAN) as stub:
        run = asyncio.create_task(rollouts(stub, env_config()))
        await until(lambda: scorer.calls)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    assert scorer.cancelled == 1


# --- the model's side ------------------------------------------------------------------------------------------------


@pytest.fixture
def scorer() -> Faulty:
    scorer = Faulty(verified)
    set_resources(EpisodeResources(scorer=scorer, goals=[GOAL]))
    return scorer


async def test_a_completion_cut_off_before_its_plan_ended_is_no_evidence(scorer: Faulty) -> None:
    with OpenAIStub("Let me think", script=[Step(finish_reason="length")]) as stub:
        assert_unscored(await one_trace(stub, env_config()), "context_window_exceeded")
    assert scorer.calls == []
    with OpenAIStub(PLAN, script=[Step(finish_reason="length")]) as stub:
        assert scores(await one_trace(stub, env_config())) == {REWARD: 1.0}


async def test_a_prompt_that_outgrows_the_window_is_no_evidence(scorer: Faulty) -> None:
    with OpenAIStub(PLAN, context_tokens=50) as stub:
        trace = await one_trace(stub, env_config())
    assert_unscored(trace, "context_window_exceeded")
    assert trace.stop_condition == "context_length"
    assert scorer.calls == []


async def test_a_model_server_that_fails_is_asked_again_and_is_no_evidence(scorer: Faulty) -> None:
    with OpenAIStub(PLAN, script=[Step(status=503)]) as stub:
        assert scores(await one_trace(stub, env_config())) == {REWARD: 1.0}
    with OpenAIStub(PLAN, script=[Step(status=503)] * 9) as stub:
        trace = await one_trace(stub, env_config())
        assert len(stub.requests) > 1
    assert not trace.ok
    assert trace.errors[-1].type == "ProviderError"
    assert set(scores(trace).values()) <= {None}
    assert len(scorer.calls) == 1


async def test_a_model_that_never_answers_is_no_evidence(scorer: Faulty) -> None:
    with OpenAIStub(PLAN, script=[Step(hang=True)]) as stub:
        trace = await one_trace(stub, env_config(agent={"timeout": {"rollout": 0.4}}))
    assert not trace.ok
    assert set(scores(trace).values()) <= {None}
    assert scorer.calls == []


async def test_the_harness_refuses_a_runtime_it_is_not_in() -> None:
    harness = envs.DirectHarness(envs.DirectHarnessConfig(id="rlmath-direct"))
    elsewhere: Any = object()
    with pytest.raises(ValueError, match=r"agent\.runtime\.type"):
        await harness.setup(elsewhere)


async def test_a_proxy_in_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    import verifiers.v1 as vf

    [task] = envs.build_taskset(goals=[GOAL])
    harness: Any = envs.DirectHarness(envs.DirectHarnessConfig(id="rlmath-direct"))
    context = vf.ModelContext(model="stub", client=vf.EvalClientConfig(), sampling=vf.SamplingConfig.model_validate({}))
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with OpenAIStub(PLAN) as stub:
        await harness.launch(context, None, None, stub.base_url, "secret", {}, task.data)
    assert len(stub.requests) == 1
