"""A run on the real embedded kernel, without Ray: what is judged, kept, dropped and resumed."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openai_stub import OpenAIStub, Step

from rlmath.episode import run_episode
from rlmath.errors import ClusterLost, InputError, KernelUnavailable
from rlmath.evals.config import EvalConfig, load_config
from rlmath.evals.inputs import Completion, load_completions, load_goals
from rlmath.evals.progress import LineProgress
from rlmath.evals.run import EvalPlan, Session, plan_eval, run
from rlmath.evals.scorers import Score, check_goals, no_evidence
from rlmath.evals.servers import check_servers
from rlmath.evals.store import ResultsStore
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Kernel
from rlmath.leaf.config import make_prover
from rlmath.prompt import SYSTEM_PROMPT
from rlmath.types import EpisodeResult, GoalSpec, Status

GOALS = [
    {"id": "refl", "prop": "∀ n : Nat, n = n"},
    {"id": "add", "prop": "∀ n : Nat, n + 0 = n", "name": "add_zero_goal"},
]
PROVES = "#assembly\nintro n\nrfl\n#end\n"
WITH_LEMMA = "#lemma h1 : ∀ n : Nat, n = n\n#assembly\nintro n\nexact h1 n\n#end\n"
COMPLETIONS: list[dict[str, Any]] = [
    {"id": "good", "goal_id": "refl", "completion": PROVES},
    {"id": "lemma", "goal_id": "refl", "completion": WITH_LEMMA, "leaf": {"h1": ["omega?", "intro n\nrfl"]}},
    {"id": "leafless", "goal_id": "refl", "completion": WITH_LEMMA},
    {"id": "chatter", "goal_id": "add", "completion": "I would rather not."},
    {"id": "wrong", "goal_id": "add", "completion": "#assembly\nintro n\nexact n\n#end\n"},
    {"id": "sorry", "goal_id": "add", "completion": "#assembly\nsorry\n#end\n"},
]
EXPECTED = {
    "good": Status.VERIFIED,
    "lemma": Status.VERIFIED,
    "leafless": Status.LEAF_FAILED,
    "chatter": Status.FORMAT_ERROR,
    "wrong": Status.PLAN_INVALID,
    "sorry": Status.SANITIZER_REJECTED,
}


def jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def configured(tmp_path: Path, extra: str = "", completions: list[dict[str, Any]] | None = None) -> EvalConfig:
    jsonl(tmp_path / "goals.jsonl", GOALS)
    jsonl(tmp_path / "completions.jsonl", COMPLETIONS if completions is None else completions)
    source = "" if "[policy]" in extra else 'completions = "completions.jsonl"\n'
    (tmp_path / "eval.toml").write_text(f'goals = "goals.jsonl"\n{source}out = "out/r.jsonl"\n{extra}')
    return load_config(tmp_path / "eval.toml")


RECORDED = '[leaf]\ntype = "recorded"\n'


def local_score(config: EvalConfig, kernel: Kernel) -> Score:
    """The pipeline in this process, as the cluster's client presents it."""

    async def score(request_id: str, goal: GoalSpec, completion: Completion) -> EpisodeResult:
        prover = make_prover(config.leaf, recorded=completion.leaf)
        return await run_episode(goal, completion.text, kernel=kernel, leaf=prover, budgets=config.budgets)

    return score


async def judged(plan: EvalPlan, score: Score, stop: asyncio.Event | None = None) -> Session:
    with ResultsStore(plan.config.out, plan.identity) as store:
        return await run(plan, score, store, LineProgress(), stop or asyncio.Event())


def rows(config: EvalConfig) -> dict[str, dict[str, Any]]:
    found = [json.loads(line) for line in config.out.read_text().splitlines()]
    assert len({row["id"] for row in found}) == len(found)
    return {row["id"]: row for row in found}


def statuses(config: EvalConfig) -> dict[str, str]:
    return {row_id: row["status"] for row_id, row in rows(config).items()}


async def test_every_completion_gets_its_verdict_with_all_that_a_row_promises(
    kernel: EmbeddedKernel, tmp_path: Path
) -> None:
    config = configured(tmp_path, RECORDED)
    plan = plan_eval(config)
    score = local_score(config, kernel)
    session = await judged(plan, score)
    assert statuses(config) == EXPECTED
    assert (session.judged, session.kept) == (6, 0)
    row = rows(config)["lemma"]
    assert row["goal_id"] == "refl"
    assert row["reward"] == 1.0
    assert row["leaf_attempts_used"] == 2
    assert row["lemma_outcomes"][0]["winner"] == 1
    assert row["plan_stats"]["plan_n_lemmas"] == 1
    assert row["kernel"]["kernel"] == "embedded"
    assert row["timings"]["total_s"] > 0
    assert "intro n" in row["artifact"]
    assert EpisodeResult.from_json({k: v for k, v in row.items() if k != "id"}).status is Status.VERIFIED
    assert rows(config)["wrong"]["reward"] == 0.0
    assert "exact n" in COMPLETIONS[4]["completion"]
    assert "assembly" in rows(config)["wrong"]["detail"]


async def test_nothing_is_judged_twice_and_only_errors_are_judged_again(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    config = configured(tmp_path, RECORDED)
    plan = plan_eval(config)
    asked: Counter[str] = Counter()
    broken = {"lemma", "sorry"}

    real = local_score(config, kernel)

    async def score(request_id: str, goal: GoalSpec, completion: Completion) -> EpisodeResult:
        asked[completion.id] += 1
        assert request_id == f"{plan.run_id}/{completion.id}"
        if completion.id in broken:
            return no_evidence(goal.id, Status.ERROR, "the kernel's machine is on fire")
        return await real(request_id, goal, completion)

    await judged(plan, score)
    assert {row_id for row_id, status in statuses(config).items() if status == "error"} == broken
    assert all(rows(config)[row_id]["reward"] is None for row_id in broken)
    broken = set()
    session = await judged(plan, score)
    assert (session.judged, session.kept) == (2, 4)
    assert asked == {**dict.fromkeys(EXPECTED, 1), "lemma": 2, "sorry": 2}
    assert statuses(config) == EXPECTED


async def test_a_stop_keeps_what_is_done_and_drops_what_is_under_way(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    config = configured(tmp_path, f"{RECORDED}[cluster]\nmax_in_flight = 2\n")
    plan = plan_eval(config)
    stop, cancelled = asyncio.Event(), list[str]()
    real = local_score(config, kernel)

    async def score(request_id: str, goal: GoalSpec, completion: Completion) -> EpisodeResult:
        if completion.id in ("leafless", "chatter"):
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.append(completion.id)
                assert stop.is_set()
        result = await real(request_id, goal, completion)
        if completion.id == "lemma":
            asyncio.get_running_loop().call_later(0.3, stop.set)
        return result

    session = await judged(plan, score, stop)
    assert session.judged == 2
    assert statuses(config) == {"good": "verified", "lemma": "verified"}
    assert sorted(cancelled) == ["chatter", "leafless"]
    await judged(plan, real)
    assert statuses(config) == EXPECTED


async def test_no_more_than_max_in_flight_are_under_way(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    config = configured(tmp_path, f"{RECORDED}[cluster]\nmax_in_flight = 3\n")
    under_way = most = 0
    real = local_score(config, kernel)

    async def score(request_id: str, goal: GoalSpec, completion: Completion) -> EpisodeResult:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        result = await real(request_id, goal, completion)
        under_way -= 1
        return result

    await judged(plan_eval(config), score)
    assert most == 3


async def test_a_config_that_cannot_work_ends_the_run_and_keeps_what_is_done(
    kernel: EmbeddedKernel, tmp_path: Path
) -> None:
    config = configured(tmp_path, f"{RECORDED}[cluster]\nmax_in_flight = 1\n")
    real = local_score(config, kernel)

    async def score(request_id: str, goal: GoalSpec, completion: Completion) -> EpisodeResult:
        if completion.id == "leafless":
            raise InputError("leaf.model", "no such model")
        return await real(request_id, goal, completion)

    with pytest.raises(InputError, match=r"leaf\.model: no such model"):
        await judged(plan_eval(config), score)
    assert statuses(config) == {"good": "verified", "lemma": "verified"}


async def test_a_cluster_that_is_lost_ends_the_run_and_leaves_the_rest_to_the_next(
    kernel: EmbeddedKernel, tmp_path: Path
) -> None:
    config = configured(tmp_path, f"{RECORDED}[cluster]\nmax_in_flight = 2\n")
    plan, real, lost = plan_eval(config), local_score(config, kernel), True

    async def score(request_id: str, goal: GoalSpec, completion: Completion) -> EpisodeResult:
        if lost and completion.id not in ("good", "lemma"):
            raise ClusterLost("the cluster's scheduler is gone")
        return await real(request_id, goal, completion)

    session = await judged(plan, score)
    assert session.lost == "the cluster's scheduler is gone"
    assert "error" not in statuses(config).values()
    assert len(statuses(config)) == session.judged < len(EXPECTED)
    lost = False
    session = await judged(plan, score)
    assert session.lost is None
    assert statuses(config) == EXPECTED


def test_a_server_that_nobody_runs_is_told_before_anything_starts(tmp_path: Path) -> None:
    with socket.socket() as taken:  # bound and not listening: whoever connects is refused
        taken.bind(("127.0.0.1", 0))
        server = f'base_url = "http://127.0.0.1:{taken.getsockname()[1]}/v1"\nmodel = "m"\n'
        with pytest.raises(InputError, match=r"policy\.base_url: http://127.* does not answer"):
            check_servers(configured(tmp_path, f"[policy]\n{server}"))
        leaf = f'[leaf]\ntype = "openai"\n{server}'
        with pytest.raises(InputError, match=r"leaf\.base_url: http://127.* does not answer"):
            check_servers(configured(tmp_path, leaf))
        check_servers(configured(tmp_path, f'{leaf}[cluster]\naddress = "auto"\n'))  # its workers call it, not we


async def test_a_full_disk_is_told_and_loses_no_row_that_was_written(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    config = configured(tmp_path, f"{RECORDED}[cluster]\nmax_in_flight = 1\n")
    plan = plan_eval(config)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    score = local_score(config, kernel)
    await judged(plan, score)
    whole = config.out.read_bytes()
    first = whole.index(b"\n") + 1
    config.out.write_bytes(b"")
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (first + 100, hard))
        with pytest.raises(InputError, match=r"out: cannot write .*r\.jsonl: File too large"):
            await judged(plan, score)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert config.out.stat().st_size == first + 100
    session = await judged(plan, score)
    assert (session.judged, session.kept) == (5, 1)
    assert statuses(config) == EXPECTED


@pytest.mark.parametrize("name", ["goals", "completions"])
def test_results_never_overwrite_inputs(tmp_path: Path, name: str) -> None:
    configured(tmp_path)
    path = tmp_path / "eval.toml"
    path.write_text(path.read_text().replace("out/r.jsonl", f"../{tmp_path.name}/{name}.jsonl"))
    with pytest.raises(InputError, match=f"out: is the {name} file"):
        plan_eval(load_config(path))


def test_the_identity_is_what_results_depend_on(tmp_path: Path) -> None:
    def identity(extra: str = "", goals: Callable[[dict[str, Any]], None] = lambda row: None) -> dict[str, Any]:
        config = configured(tmp_path, extra)
        changed = [dict(goal) for goal in GOALS]
        goals(changed[0])
        jsonl(config.goals, changed)
        return plan_eval(config).identity

    base = identity()
    assert identity("[cluster]\nmax_in_flight = 3\n") == base
    assert identity(goals=lambda row: row.update(note="x")) == base
    assert identity(goals=lambda row: row.update(name="other"))["goals"] != base["goals"]
    assert identity("[budgets]\nmax_lemmas = 2\n")["budgets"] != base["budgets"]
    assert identity(RECORDED)["leaf"] != base["leaf"]
    model = '[leaf]\ntype = "openai"\nbase_url = "http://h/v1"\nmodel = "m"\n'
    assert identity(model) == identity(
        model + "timeout_s = 3\nmax_in_flight = 2\nmax_retries = 0\nmax_requests_per_minute = 9.5\n"
    )
    assert identity(model)["leaf"] != identity(model + "temperature = 0.5\n")["leaf"]


def policy(stub: OpenAIStub, extra: str = "") -> str:
    return f'[policy]\nbase_url = "{stub.base_url}"\nmodel = "m"\nmax_retries = 0\n{extra}'


async def test_a_policy_is_told_the_format_and_the_goal_and_its_samples_are_judged_and_kept(
    kernel: EmbeddedKernel, tmp_path: Path
) -> None:
    with OpenAIStub(PROVES) as stub:
        config = configured(tmp_path, policy(stub, "samples = 2\nseed = 10\n"))
        score = local_score(config, kernel)
        await judged(plan_eval(config), score)
    assert statuses(config) == dict.fromkeys(["refl#0", "refl#1", "add#0", "add#1"], "verified")
    sent = [request.body for request in stub.requests]
    assert {body["messages"][0]["content"] for body in sent} == {SYSTEM_PROMPT}
    assert {body["messages"][0]["role"] for body in sent} == {"system"}
    assert sorted(body["seed"] for body in sent) == [10, 10, 11, 11]
    told = Counter(body["messages"][1]["content"] for body in sent)
    assert sorted(told.values()) == [2, 2]
    assert any("theorem add_zero_goal : ∀ n : Nat, n + 0 = n" in text for text in told)
    assert rows(config)["add#1"]["sample"]["finish_reason"] == "stop"
    assert rows(config)["add#1"]["sample"]["prompt_tokens"] > 0
    kept = load_completions(config.out.with_name("r.completions.jsonl"), load_goals(config.goals))
    assert {completion.id: completion.text for completion in kept} == dict.fromkeys(statuses(config), PROVES)


async def test_a_sample_is_drawn_once_even_if_its_verdict_was_lost(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    def numbered(body: dict[str, Any], number: int) -> str:
        return f"attempt {number}\n{PROVES}"

    with OpenAIStub(numbered) as stub:
        config = configured(tmp_path, policy(stub))
        plan = plan_eval(config)

        async def broken(request_id: str, goal: GoalSpec, completion: Completion) -> EpisodeResult:
            return no_evidence(goal.id, Status.ERROR, str(KernelUnavailable("gone")))

        await judged(plan, broken)
        assert set(statuses(config).values()) == {"error"}
        judged_texts: list[str] = []
        real = local_score(config, kernel)

        async def score(request_id: str, goal: GoalSpec, completion: Completion) -> EpisodeResult:
            judged_texts.append(completion.text)
            return await real(request_id, goal, completion)

        await judged(plan, score)
        assert stub.generations == 2
    assert sorted(judged_texts) == [f"attempt 0\n{PROVES}", f"attempt 1\n{PROVES}"]
    assert set(statuses(config).values()) == {"verified"}


async def test_a_window_that_is_too_small_is_no_evidence(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    script = [Step(), Step(finish_reason="length")]
    with OpenAIStub("#assembly\nintro n\nrf", script=script) as stub:
        config = configured(tmp_path, policy(stub, "max_in_flight = 1\nmax_tokens = 5\n"))
        score = local_score(config, kernel)
        await judged(plan_eval(config), score)
        cut = rows(config)["add#0"]
        assert statuses(config) == {"refl#0": "format_error", "add#0": "context_window_exceeded"}
        assert cut["reward"] is None
        assert "max_tokens = 5" in cut["detail"]
        assert cut["sample"]["finish_reason"] == "length"
        # It is a finding about the model, not trouble: it is not drawn again.
        await judged(plan_eval(config), score)
        assert stub.generations == 2


async def test_a_prompt_beyond_the_window_is_no_evidence(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    with OpenAIStub(PROVES, context_tokens=50) as stub:
        config = configured(tmp_path, policy(stub))
        score = local_score(config, kernel)
        await judged(plan_eval(config), score)
        assert stub.generations == 0
    assert set(statuses(config).values()) == {"context_window_exceeded"}
    assert "maximum context length is 50 tokens" in rows(config)["add#0"]["detail"]


async def test_a_plan_that_ended_before_the_cut_is_judged(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    with OpenAIStub(PROVES + "and then", script=[Step(finish_reason="length")] * 2) as stub:
        config = configured(tmp_path, policy(stub))
        score = local_score(config, kernel)
        await judged(plan_eval(config), score)
    assert set(statuses(config).values()) == {"verified"}


@pytest.mark.parametrize(
    "trouble",
    [Step(status=500), Step(status=429), Step(raw=b"<html>"), Step(drop=True), Step(finish_reason="content_filter")],
    ids=["500", "429", "html", "drop", "filter"],
)
async def test_server_trouble_is_an_error_row_and_drawn_again(
    kernel: EmbeddedKernel, tmp_path: Path, trouble: Step
) -> None:
    with OpenAIStub(PROVES, script=[Step(), trouble]) as stub:
        config = configured(tmp_path, policy(stub, "max_in_flight = 1\n"))
        score = local_score(config, kernel)
        await judged(plan_eval(config), score)
        assert statuses(config) == {"refl#0": "verified", "add#0": "error"}
        assert rows(config)["add#0"]["reward"] is None
        await judged(plan_eval(config), score)
    assert statuses(config) == {"refl#0": "verified", "add#0": "verified"}


async def test_an_empty_reply_is_the_policys_own_failure(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    with OpenAIStub(PROVES, script=[Step(no_content=True)] * 2) as stub:
        config = configured(tmp_path, policy(stub))
        score = local_score(config, kernel)
        await judged(plan_eval(config), score)
    assert set(statuses(config).values()) == {"format_error"}


@pytest.mark.parametrize(("status", "field"), [(401, "policy.api_key_env"), (404, "policy.model"), (400, "policy")])
async def test_a_server_that_refuses_the_config_ends_the_run(
    kernel: EmbeddedKernel, tmp_path: Path, status: int, field: str
) -> None:
    with OpenAIStub(PROVES, script=[Step(status=status)] * 9) as stub:
        config = configured(tmp_path, policy(stub))
        score = local_score(config, kernel)
        with pytest.raises(InputError) as caught:
            await judged(plan_eval(config), score)
    assert caught.value.field == field
    assert rows(config) == {}


def test_a_policys_key_and_prompt_file_are_checked_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    section = '[policy]\nbase_url = "http://h/v1"\nmodel = "m"\n'
    with pytest.raises(InputError, match=r"policy\.api_key_env: the environment variable NO_SUCH_KEY is not set"):
        plan_eval(configured(tmp_path, section + 'api_key_env = "NO_SUCH_KEY"\n'))
    with pytest.raises(InputError, match=r"policy\.system_prompt: cannot read"):
        plan_eval(configured(tmp_path, section + 'system_prompt = "no.txt"\n'))
    (tmp_path / "own.txt").write_text("Be brief.")
    plan = plan_eval(configured(tmp_path, section + 'system_prompt = "own.txt"\n'))
    assert plan.identity["policy"] != plan_eval(configured(tmp_path, section)).identity["policy"]
    leaf = '[leaf]\ntype = "openai"\nbase_url = "http://h/v1"\nmodel = "m"\napi_key_env = "NO_SUCH_KEY"\n'
    with pytest.raises(InputError, match=r"leaf\.api_key_env"):
        plan_eval(configured(tmp_path, leaf))
    with pytest.raises(InputError, match=r"leaf\.temperature"):
        plan_eval(configured(tmp_path, leaf + "temperature = 0\n"))


def test_plain_progress_is_rate_limited(capsys: pytest.CaptureFixture[str]) -> None:
    progress = LineProgress(every_s=3600)
    progress.start(100, Counter({Status.VERIFIED: 10}))
    for _ in range(80):
        progress.advance([Status.LEAF_FAILED])
    progress.close()
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("90/100 results, ")
    assert line.endswith(": verified 10  leaf_failed 80")


async def test_goals_are_checked_by_themselves_and_all_broken_ones_named(kernel: EmbeddedKernel) -> None:
    goals = [
        GoalSpec("good", "True"),
        GoalSpec("bad", "∀ n : Foo, n = n"),
        GoalSpec("worse", "P", context="def one : Nat := true"),
    ]
    await check_goals(kernel, goals[:1], in_flight=4)
    with pytest.raises(InputError) as caught:
        await check_goals(kernel, goals, in_flight=1)
    assert caught.value.field == "goals: goal bad: prop"
    assert "Foo" in caught.value.problem
    assert caught.value.problem.endswith("(1 more do not elaborate either: goal worse: context)")
