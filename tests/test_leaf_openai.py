"""The OpenAI prover: the real openai SDK against a real HTTP server (`openai_stub`)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from openai_stub import OpenAIStub, Step
from waiting import until

from rlmath.errors import InputError, LeafUnavailable
from rlmath.leaf.config import OpenAILeaf
from rlmath.leaf.openai import OpenAIProver
from rlmath.leaf.prompts import TEMPLATES, render
from rlmath.leaf.protocol import LeafTask

TASK = LeafTask("∀ n : Nat, n + 0 = n", name="h1")


def numbered(request: dict[str, Any], number: int) -> str:
    return f"Plan.\n```lean4\ntheorem leaf_goal : P := by\n  exact p{number}\n```"


@asynccontextmanager
async def prover(stub: OpenAIStub, **settings: Any) -> AsyncIterator[OpenAIProver]:
    made = OpenAIProver(
        OpenAILeaf(**{"base_url": stub.base_url, "model": "m", "max_retries": 2, "timeout_s": 20.0, **settings})
    )
    try:
        yield made
    finally:
        await made.aclose()


async def test_one_request_brings_all_samples() -> None:
    with OpenAIStub(numbered) as stub:
        async with prover(stub, top_p=0.9, max_tokens=77, stop=("END",), extra_body={"top_k": 5}) as leaf:
            attempts = await leaf.attempts(TASK, [0, 1, 2, 3])
    assert [(a.index, a.proof, a.detail) for a in attempts] == [(i, f"exact p{i}", "") for i in range(4)]
    (request,) = stub.requests
    assert (
        request.body.items()
        >= {"n": 4, "temperature": 1.0, "top_p": 0.9, "max_tokens": 77, "stop": ["END"], "top_k": 5}.items()
    )
    assert request.path == "/v1/chat/completions"
    assert sum(a.completion_tokens for a in attempts) == stub.completion_tokens
    assert sum(a.prompt_tokens for a in attempts) == stub.prompt_tokens
    assert not any(a.cached for a in attempts)


@pytest.mark.parametrize("reject", [False, True], ids=["fewer-choices", "http-400"])
async def test_a_server_that_makes_one_sample_at_a_time_is_asked_again_and_remembered(reject: bool) -> None:
    with OpenAIStub(numbered, max_n=1, reject_n=reject) as stub:
        async with prover(stub) as leaf:
            first = await leaf.attempts(TASK, [0, 1, 2, 3])
            asked = len(stub.requests)
            second = await leaf.attempts(TASK, [4, 5])
    assert sorted(a.proof or "" for a in [*first, *second]) == [f"exact p{i}" for i in range(6)]
    assert asked == (5 if reject else 4)
    assert len(stub.requests) == asked + 2, "the second call does not ask for n again"
    assert stub.generations == 6


async def test_a_server_that_makes_some_of_them_is_asked_for_the_rest() -> None:
    with OpenAIStub(numbered, max_n=3) as stub:
        async with prover(stub) as leaf:
            attempts = await leaf.attempts(TASK, range(5))
    assert len({a.proof for a in attempts}) == 5
    assert [request.body.get("n", 1) for request in stub.requests] == [5, 1, 1]


async def test_a_seed_counts_on_with_the_index() -> None:
    with OpenAIStub(numbered) as stub:
        async with prover(stub, seed=100) as leaf:
            await leaf.attempts(TASK, [0, 1, 5, 6])
    assert sorted((r.body["seed"], r.body["n"]) for r in stub.requests) == [(100, 2), (105, 2)]


async def test_temperature_zero_is_an_error_with_more_than_one_attempt() -> None:
    with OpenAIStub(numbered) as stub:
        async with prover(stub, temperature=0.0) as leaf:
            assert [a.proof for a in await leaf.attempts(TASK, [0])] == ["exact p0"]
            with pytest.raises(InputError, match=r"leaf\.temperature.*above 0"):
                await leaf.attempts(TASK, [1])
            assert list(await leaf.attempts(TASK, [])) == []
    assert len(stub.requests) == 1


@pytest.mark.parametrize(
    ("step", "reply", "detail"),
    [
        (Step(), "I am sorry.", "no Lean proof"),
        (Step(), "", "empty"),
        (Step(no_content=True, finish_reason="content_filter"), "x", "'content_filter'"),
        (Step(finish_reason="length"), "<think> so", "inside <think> (finish_reason 'length')"),
    ],
)
async def test_a_reply_without_a_proof_is_a_spent_attempt(step: Step, reply: str, detail: str) -> None:
    with OpenAIStub(reply, [step]) as stub:
        async with prover(stub) as leaf:
            (attempt,) = await leaf.attempts(TASK, [0])
    assert attempt.proof is None
    assert detail in attempt.detail
    assert attempt.prompt_tokens == stub.prompt_tokens > 0


@pytest.mark.parametrize(
    "fault",
    [
        Step(status=429, headers=(("retry-after-ms", "5"),)),
        Step(status=503, headers=(("retry-after", "0.01"),)),
        Step(drop=True),
    ],
    ids=["429", "503", "lost-connection"],
)
async def test_passing_faults_are_retried(fault: Step) -> None:
    with OpenAIStub(numbered, [fault, fault]) as stub:
        async with prover(stub) as leaf:
            (attempt,) = await leaf.attempts(TASK, [0])
    assert attempt.proof == f"exact p{stub.generations - 1}", (
        "the last generation: a connection lost half-way had cost one, too"
    )
    assert len(stub.requests) == 3
    assert stub.generations == (3 if fault.drop else 1)


async def test_retry_after_is_honoured() -> None:
    with OpenAIStub(numbered, [Step(status=429, headers=(("retry-after", "1.2"),))]) as stub:
        async with prover(stub) as leaf:
            started = time.monotonic()
            await leaf.attempts(TASK, [0])
            # The SDK's own first backoff is at most 0.5 s.
            assert time.monotonic() - started >= 1.2


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
async def test_a_fault_that_stays_is_unavailable_and_names_server_and_model(status: int) -> None:
    fault = Step(status=status, message="overloaded", headers=(("retry-after-ms", "1"),))
    with OpenAIStub(numbered, [fault] * 3) as stub:
        async with prover(stub) as leaf:
            with pytest.raises(
                LeafUnavailable, match=f"'m' at {stub.base_url}: HTTP {status} after 3 tries: overloaded"
            ):
                await leaf.attempts(TASK, [0, 1])
    assert len(stub.requests) == 3
    assert stub.generations == 0


@pytest.mark.parametrize(
    "step",
    [
        Step(raw=b"<html>maintenance</html>", content_type="text/html"),
        Step(raw=b"{nope"),
        Step(raw=b""),
        Step(raw=b"\xff\xfe"),
        Step(raw=b"null"),
        Step(raw=b"[1]"),
        Step(raw=b'{"choices": []}'),
        Step(raw=b'{"choices": [1]}'),
        Step(raw=b'{"choices": {"a": 1}}'),
        Step(raw=b'{"choices": [{"message": "x"}]}'),
        Step(raw=b'{"error": {"message": "broken"}}'),
        Step(drop=True),
        Step(hang=True),
        Step(drip_s=0.05),
    ],
    ids=repr,
)
async def test_an_answer_that_is_no_completion_is_unavailable(step: Step) -> None:
    with OpenAIStub(numbered, [step]) as stub:
        async with prover(stub, max_retries=0, timeout_s=0.4) as leaf:
            with pytest.raises(LeafUnavailable, match=stub.base_url):
                await leaf.attempts(TASK, [0])


async def test_no_server_is_unavailable() -> None:
    with OpenAIStub() as stub:
        pass
    async with prover(stub, max_retries=0) as leaf:
        with pytest.raises(LeafUnavailable, match=stub.base_url):
            await leaf.attempts(TASK, [0])


@pytest.mark.parametrize(
    ("status", "field"),
    [(401, "leaf.api_key_env"), (403, "leaf.api_key_env"), (404, "leaf.model"), (400, "leaf"), (422, "leaf")],
)
async def test_a_refusal_is_the_configs_fault_until_the_server_has_answered_once(status: int, field: str) -> None:
    refusal = Step(status=status, message="no such thing")
    with OpenAIStub(numbered, [refusal, Step(), refusal]) as stub:
        async with prover(stub) as leaf:
            with pytest.raises(InputError) as caught:
                await leaf.attempts(TASK, [0])
            assert caught.value.field == field
            assert stub.base_url in str(caught.value)
            assert "no such thing" in str(caught.value)
            await leaf.attempts(TASK, [0])
            with pytest.raises(LeafUnavailable, match="no such thing"):
                await leaf.attempts(TASK, [0])


async def test_the_key_comes_from_the_environment_and_stays_out_of_everything(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("LEAF_TEST_KEY", "sk-very-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-this-server")
    caplog.set_level(logging.DEBUG)
    with OpenAIStub(numbered, [Step(), Step(status=401, message="Incorrect API key: sk-very-secret.")]) as stub:
        async with prover(stub, api_key_env="LEAF_TEST_KEY") as leaf, prover(stub) as keyless:
            await leaf.attempts(TASK, [0])
            with pytest.raises(LeafUnavailable, match=r"\$LEAF_TEST_KEY.*Incorrect API key: \*\*\*") as caught:
                await leaf.attempts(TASK, [0])
            await keyless.attempts(TASK, [0])
            said = [str(caught.value), repr(caught.value), repr(leaf), leaf.identity, leaf.cache_key(TASK), caplog.text]
    assert [r.headers["authorization"] for r in stub.requests] == ["Bearer sk-very-secret"] * 2 + ["Bearer none"]
    assert not any("sk-very-secret" in text for text in said)


def test_a_missing_key_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEAF_TEST_KEY", raising=False)
    with pytest.raises(InputError, match=r"leaf\.api_key_env: the environment variable LEAF_TEST_KEY is not set"):
        OpenAIProver(OpenAILeaf(base_url="http://127.0.0.1:1/v1", model="m", api_key_env="LEAF_TEST_KEY"))


async def test_a_statement_beyond_the_context_window_is_a_spent_attempt() -> None:
    huge = LeafTask("True ∧ " * 2000 + "True")
    with OpenAIStub(numbered, context_tokens=1000) as stub:
        async with prover(stub, max_tokens=500) as leaf:
            attempts = await leaf.attempts(huge, [0, 1])
            assert (await leaf.attempts(TASK, [0]))[0].proof == "exact p0"
    assert [a.proof for a in attempts] == [None, None]
    assert "refuses this statement: This model's maximum context length" in attempts[0].detail
    assert stub.streams == 1, "one probe with the statement True, as a stream that is dropped at once"
    assert stub.generations == 1


async def test_a_config_that_leaves_no_room_for_any_prompt_charges_nobody() -> None:
    with OpenAIStub(numbered, context_tokens=1000) as stub:
        async with prover(stub, max_tokens=1000) as leaf:
            with pytest.raises(InputError, match=r"leaf\.max_tokens: the server refuses even the statement True"):
                await leaf.attempts(TASK, [0])
        async with prover(stub, max_tokens=500) as leaf:
            await leaf.attempts(TASK, [0])
            with pytest.raises(LeafUnavailable, match="even the statement True"):
                await leaf.attempts(LeafTask(TASK.prop, context="def x := 1 " * 2000), [0])


async def test_a_content_filter_is_a_spent_attempt() -> None:
    with OpenAIStub(numbered, [Step(status=400, message="filtered", code="content_filter")]) as stub:
        async with prover(stub) as leaf:
            (attempt,) = await leaf.attempts(TASK, [0])
    assert attempt.proof is None
    assert "refuses this statement: filtered" in attempt.detail


async def test_cancelling_hangs_up_and_frees_the_slot() -> None:
    with OpenAIStub(numbered, [Step(hang=True)]) as stub:
        async with prover(stub, max_in_flight=1) as leaf:
            call = asyncio.create_task(leaf.attempts(TASK, [0, 1]))
            await until(lambda: stub.in_flight == 1)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await until(lambda: stub.disconnects == 1)
            assert (await leaf.attempts(TASK, [0]))[0].proof == "exact p0"


async def test_the_first_of_several_requests_to_fail_stops_the_others() -> None:
    with OpenAIStub(numbered, [Step(), Step(hang=True), Step(status=400, message="nope")], max_n=1) as stub:
        async with prover(stub) as leaf:
            with pytest.raises(LeafUnavailable, match="nope"):
                await leaf.attempts(TASK, [0, 1, 2])
            await until(lambda: stub.disconnects == 1)


async def test_requests_in_flight_are_bounded() -> None:
    with OpenAIStub(numbered, [Step(delay_s=0.05)] * 12, max_n=1) as stub:
        async with prover(stub, max_in_flight=3) as leaf:
            await asyncio.gather(*(leaf.attempts(TASK, [0, 1]) for _ in range(6)))
    assert stub.max_in_flight == 3
    assert len(stub.requests) == 12


async def test_requests_a_minute_are_bounded_repeats_included() -> None:
    with OpenAIStub(numbered, [Step(status=503, headers=(("retry-after-ms", "1"),))] * 2, max_n=1) as stub:
        async with prover(stub, max_requests_per_minute=300.0) as leaf:
            began = time.monotonic()
            await asyncio.gather(*(leaf.attempts(TASK, [0, 1]) for _ in range(4)))
            took_s = time.monotonic() - began
    assert len(stub.requests) == 10
    assert took_s >= 0.95 * (10 - 5) / 5  # five at once, then five a second


def test_a_prover_outlives_its_event_loop() -> None:
    with OpenAIStub(numbered) as stub:
        leaf = OpenAIProver(OpenAILeaf(base_url=stub.base_url, model="m"))

        async def once() -> str | None:
            try:
                return (await leaf.attempts(TASK, [0]))[0].proof
            finally:
                await leaf.aclose()

        assert [asyncio.run(once()) for _ in range(3)] == ["exact p0", "exact p1", "exact p2"]


@pytest.mark.parametrize("name", TEMPLATES)
async def test_every_template_goes_over_the_wire_and_its_replies_come_back(name: str) -> None:
    prompt = render(TEMPLATES[name], TASK)
    # What each kind of model writes: completions go on inside the code, chats restate it.
    reply = (
        "  intro n\n  rfl\n```"
        if prompt.endpoint == "completions"
        else "```lean4\ntheorem leaf_goal : P := by\n  intro n\n  rfl\n```"
    )
    reply = "intro n" if name == "bfs-prover" else reply
    with OpenAIStub(reply) as stub:
        async with prover(stub, template=name, stop=("END",)) as leaf:
            (attempt,) = await leaf.attempts(TASK, [0])
    assert attempt.proof == ("intro n" if name == "bfs-prover" else "intro n\nrfl")
    body = stub.requests[0].body
    assert stub.requests[0].path == ("/v1/completions" if prompt.endpoint == "completions" else "/v1/chat/completions")
    sent = body["prompt"] if prompt.endpoint == "completions" else body["messages"][-1]["content"]
    assert sent == prompt.user
    assert body["stop"] == [*prompt.stop, "END"]


def test_identity_and_cache_key_tell_distributions_apart() -> None:
    base: dict[str, Any] = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
    changes: list[dict[str, Any]] = [
        {"model": "n"},
        {"base_url": "http://127.0.0.1:2/v1"},
        {"weights": "rev-1"},
        {"temperature": 0.5},
        {"top_p": 0.5},
        {"max_tokens": 5},
        {"stop": ("x",)},
        {"seed": 1},
        {"extra_body": {"top_k": 1}},
        {"template": "kimina-prover"},
        {"header": "import Mathlib"},
    ]
    made = [OpenAIProver(OpenAILeaf(**{**base, **change})) for change in [{}, *changes]]
    assert len({leaf.identity for leaf in made}) == len(made)
    assert len({leaf.cache_key(TASK) for leaf in made}) == len(made)
    same: list[dict[str, Any]] = [{"timeout_s": 5.0}, {"max_retries": 1}, {"max_in_flight": 2}, {"api_key_env": "PATH"}]
    assert {OpenAIProver(OpenAILeaf(**{**base, **change})).identity for change in same} == {made[0].identity}
    assert made[0].identity.startswith("openai:m@127.0.0.1:1#")
    moved = [
        OpenAIProver(OpenAILeaf(base_url=url, model=model, weights="w"))
        for url, model in [("http://a/v1", "x"), ("http://b/v1", "y")]
    ]
    assert len({leaf.cache_key(TASK) for leaf in moved}) == 1
