"""POST /v1/score: verdicts over HTTP, and everything that is none."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from typing import Any

import pytest
from gateway_helpers import ENDLESS, FALSE, GOAL, TRUE, served, until

from cluster.gateway.settings import GatewaySettings
from rlmath import EpisodeResult, GoalSpec, Status
from rlmath.episode import run_episode
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.leaf.config import OpenAILeaf, TacticsLeaf, make_prover

PROBLEM = "application/problem+json"


def problem(response: Any, status: int, slug: str) -> dict[str, Any]:
    """The response's problem document, which it must be."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == PROBLEM
    document: dict[str, Any] = response.json()
    assert document["type"] == f"urn:rlmath:problem:{slug}"
    assert document["status"] == status
    assert "reward" not in response.text
    return document


async def test_a_verdict_is_the_librarys_own_result(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        response = await gate.score(TRUE, request_id="a-1")
    assert response.status_code == 200, response.text
    reply = response.json()
    assert (reply["request_id"], reply["state"]) == ("a-1", "done")
    goal = GoalSpec(GOAL["id"], GOAL["prop"])
    here = await run_episode(goal, TRUE, kernel=kernel, leaf=make_prover(TacticsLeaf()))
    assert EpisodeResult.from_json(reply["result"]) == here
    assert reply["result"]["reward"] == 1.0


@pytest.mark.parametrize(
    ("completion", "status"),
    [(FALSE, "plan_invalid"), ("no plan", "format_error"), ("#assembly\nsorry\n#end", "sanitizer_rejected")],
)
async def test_what_a_policy_got_wrong_is_a_verdict_of_zero(
    kernel: EmbeddedKernel, completion: str, status: str
) -> None:
    async with served(kernel) as gate:
        response = await gate.score(completion)
    assert response.status_code == 200
    assert (response.json()["result"]["status"], response.json()["result"]["reward"]) == (status, 0.0)


async def test_bytes_that_are_no_text_are_no_plan_and_no_error(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        text = base64.b64encode(b"\xff#assembly\nintro n\nrfl\n").decode()
        response = await gate.client.post("/v1/score", json={"goal": GOAL, "completion_base64": text})
    assert response.json()["result"]["status"] == "format_error"


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        ({"goal": {"id": "g"}}, "goal.prop", "missing"),
        ({"gaol": {}}, "gaol", "did you mean 'goal'"),
        ({"completion": None}, "body", "exactly one of completion and completion_base64"),
        ({"completion": 7}, "completion", "valid string"),
        ({"budgets": {"max_lemmas": -1}}, "budgets.max_lemmas", "greater than or equal to 0"),
        ({"budgets": {"max_lemmas": "8"}}, "budgets.max_lemmas", "integer"),
        ({"budgets": {"verify_timeout_s": 0}}, "budgets.verify_timeout_s", "greater than 0"),
        ({"leaf": {"type": "openai", "base_url": "http://10.0.0.1/", "model": "m"}}, "leaf", "not known"),
        ({"leaf": {"type": "served", "name": "prover"}}, "leaf.name", "it has: none"),
        ({"recorded": {"h1": "rfl"}}, "body", "recorded goes with leaf"),
        ({"request_id": "with blank"}, "request_id", "pattern"),
        ({"wait_s": -1}, "wait_s", "greater than or equal"),
        ({"completion": None, "completion_base64": "?"}, "body", "not base64"),
    ],
)
async def test_a_wrong_field_is_named(kernel: EmbeddedKernel, change: dict[str, Any], field: str, says: str) -> None:
    async with served(kernel) as gate:
        response = (
            await gate.score(**change)
            if "completion" not in change
            else await gate.score(change.pop("completion"), **change)
        )
    document = problem(response, 422, "invalid-input")
    assert document["field"] == field
    assert says in document["detail"]


async def test_a_goal_that_does_not_stand_is_its_authors_fault(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        response = await gate.score("#assembly\nrfl\n#end", goal={"id": "broken", "prop": "∀ n : Foo, n = n"})
    document = problem(response, 422, "invalid-input")
    assert document["field"] == "goal.prop"
    assert "Foo" in document["detail"]


@pytest.mark.parametrize(
    ("body", "headers", "status", "slug"),
    [
        (b"{", {}, 400, "malformed-body"),
        (b'{"goal": "\\ud800"}', {}, 400, "malformed-body"),
        (b"[" * 50_000, {}, 400, "malformed-body"),
        (b'{"goal": ' + b'{"prop":' * 5_000, {}, 400, "malformed-body"),
        (b"{}", {"content-type": "text/plain"}, 415, "unsupported-media-type"),
        (b"{}", {"content-encoding": "br"}, 415, "unsupported-media-type"),
        (b"{}", {"content-encoding": "gzip"}, 400, "malformed-body"),
        (gzip.compress(b"{}", mtime=0)[:-4], {"content-encoding": "gzip"}, 400, "malformed-body"),
        (gzip.compress(b"{}", mtime=0) + b"more", {"content-encoding": "gzip"}, 400, "malformed-body"),
        (b" " * 70_000, {}, 413, "body-too-large"),
        (gzip.compress(b" " * 50_000_000), {"content-encoding": "gzip"}, 413, "body-too-large"),
        (b"\xff\xfe", {}, 400, "malformed-body"),
        (b"", {}, 400, "malformed-body"),
        (b"null", {}, 422, "invalid-input"),
    ],
)
async def test_a_body_that_cannot_be_read(
    kernel: EmbeddedKernel, body: bytes, headers: dict[str, str], status: int, slug: str
) -> None:
    async with served(kernel, GatewaySettings(max_body_bytes=60_000)) as gate:
        sent = {"content-type": "application/json", **headers}
        problem(await gate.client.post("/v1/score", content=body, headers=sent), status, slug)


async def test_gzip_is_accepted(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        body = gzip.compress(json.dumps({"goal": GOAL, "completion": TRUE}).encode())
        headers = {"content-type": "application/json; charset=utf-8", "content-encoding": "gzip"}
        response = await gate.client.post("/v1/score", content=body, headers=headers)
    assert response.json()["result"]["status"] == "verified"


async def test_infrastructure_trouble_is_no_verdict(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        gate.backend.down = "no Lean worker could start"
        response = await gate.score(TRUE, request_id="again")
        document = problem(response, 503, "unavailable")
        assert "no Lean worker" in document["detail"]
        assert int(response.headers["retry-after"]) >= 1
        gate.backend.down = None
        assert (await gate.score(TRUE, request_id="again")).json()["result"]["reward"] == 1.0


async def test_one_id_runs_once_and_answers_the_same(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        together = await asyncio.gather(*(gate.score(TRUE, request_id="one") for _ in range(5)))
        later = await gate.score(TRUE, request_id="one")
        assert gate.backend.judged == 1
        assert {response.text for response in (*together, later)} == {later.text}
        document = problem(await gate.score(FALSE, request_id="one"), 409, "conflict")
        assert document["field"] == "request_id"


async def test_a_verdict_that_takes_longer_is_asked_for_again(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        first = await gate.score(ENDLESS, request_id="slow", wait_s=0.05, budgets={"verify_timeout_s": 3.0})
        assert (first.status_code, first.json()) == (202, {"request_id": "slow", "state": "pending"})
        place = first.headers["location"]
        assert (await gate.client.get(place)).status_code == 202
        last = await gate.client.get(place, params={"wait_s": 30})
        assert (last.status_code, last.json()["result"]["status"]) == (200, "plan_invalid")
        assert (await gate.client.get(place)).text == last.text
        problem(await gate.client.get("/v1/requests/unheard-of"), 404, "not-found")


async def test_a_verdict_of_an_earlier_life_is_still_there(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        result = EpisodeResult(goal_id="old", status=Status.VERIFIED)
        gate.backend.journal["anonymous", "old/1"] = result
        reply = (await gate.client.get("/v1/requests/old%2F1")).json()
        assert (reply["request_id"], EpisodeResult.from_json(reply["result"])) == ("old/1", result)
        problem(await gate.client.get("/v1/requests/older"), 404, "not-found")


async def test_a_request_can_be_called_off(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        task = asyncio.create_task(gate.score(ENDLESS, request_id="off"))
        await until(lambda: gate.backend.running)
        response = await gate.client.delete("/v1/requests/off")
        assert response.json() == {"request_id": "off", "state": "cancelled"}
        problem(await task, 409, "cancelled")
        await until(lambda: not gate.backend.running)
        problem(await gate.client.get("/v1/requests/off"), 404, "not-found")
        assert (await gate.score(TRUE, request_id="off")).json()["result"]["status"] == "verified"
        assert (await gate.client.delete("/v1/requests/off")).json()["state"] == "done"


async def test_a_full_queue_says_how_long_it_is(kernel: EmbeddedKernel) -> None:
    async with served(kernel, GatewaySettings(max_open=2)) as gate:
        tasks = [asyncio.create_task(gate.score(ENDLESS, request_id=f"full-{i}")) for i in range(2)]
        await until(lambda: gate.gateway.book.open == 2)
        response = await gate.score(TRUE)
        assert problem(response, 429, "queue-full")["queue_length"] == 2
        assert int(response.headers["retry-after"]) >= 1
        # Who waits for what is under way adds nothing to the queue.
        joined = asyncio.create_task(gate.score(ENDLESS, request_id="full-0", wait_s=0.01))
        assert (await joined).status_code == 202
        for i in range(2):
            await gate.client.delete(f"/v1/requests/full-{i}")
        await asyncio.gather(*tasks)
        assert (await gate.score(TRUE)).status_code == 200


async def test_a_served_leaf_is_the_operators_not_the_callers(kernel: EmbeddedKernel) -> None:
    settings = GatewaySettings(leaves={"ladder": TacticsLeaf(scripts=("intro n\nrfl",))})
    async with served(kernel, settings) as gate:
        good = await gate.score(TRUE, leaf={"type": "served", "name": "ladder"})
        assert good.json()["result"]["lemma_outcomes"][0]["winner"] == 0
        document = problem(await gate.score(TRUE, leaf={"type": "served", "name": "other"}), 422, "invalid-input")
        assert document["detail"].endswith("it has: ladder")
    assert OpenAILeaf.model_fields["type"].default not in str(document)


async def test_recorded_leaves_come_with_the_request(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        response = await gate.score(TRUE, leaf={"type": "recorded"}, recorded={"h1": ["exact 0", "intro n\nrfl"]})
    outcome = response.json()["result"]["lemma_outcomes"][0]
    assert (outcome["winner"], outcome["attempts_used"]) == (1, 2)


async def test_answers_are_forgotten_by_count_and_by_age(kernel: EmbeddedKernel) -> None:
    async with served(kernel, GatewaySettings(remembered=2, remember_s=3600)) as gate:
        for i in range(3):
            await gate.score("no plan", request_id=f"k-{i}")
        book = gate.gateway.book
        assert book.kept == 2
        assert (await gate.client.get("/v1/requests/k-0")).status_code == 404
        assert (await gate.client.get("/v1/requests/k-2")).status_code == 200
        before = book.kept_bytes
        assert before > 0
        book._clock = lambda: 1e12  # far in the future
        assert (await gate.client.get("/v1/requests/k-2")).status_code == 404
        assert book.kept_bytes < before
