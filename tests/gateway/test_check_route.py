"""POST /v1/check: sources, and statements with their proofs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from gateway_helpers import served, until

from rlmath.kernel.embedded import EmbeddedKernel


async def test_a_source_is_answered_with_what_lean_says(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        reply = (await gate.client.post("/v1/check", json={"source": "#check Nat\nexample : 1 = 2 := rfl"})).json()
    check = reply["check"]
    assert (check["ok"], check["timed_out"], check["crashed"], check["context_error"]) == (False, False, None, None)
    said = {"severity": "information", "text": "Nat : Type", "kind": ""}
    assert check["messages"][0] == {**said, "line": 1, "column": 0, "end_line": 1, "end_column": 6}
    assert (check["messages"][1]["severity"], check["messages"][1]["line"]) == ("error", 2)
    assert check["kernel"]["lean_version"] == kernel.identity.lean_version
    assert "result" not in reply, "what Lean says is no verdict"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"source": "import Init\n\nexample : 2 + 2 = 4 := rfl"}, {"ok": True, "sorries": 0}),
        ({"source": "theorem t : 1 = 2 := sorry"}, {"ok": True, "sorries": 1}),
        ({"source": "example : two = 2 := rfl", "context": "def two := 2"}, {"ok": True}),
        ({"source": "example : True := trivial", "context": "def two : Nat := true"}, {"ok": False}),
        ({"source": "example : True := by\n  repeat skip", "timeout_s": 0.5}, {"ok": False, "timed_out": True}),
    ],
)
async def test_outcomes_of_a_source(kernel: EmbeddedKernel, fields: dict[str, Any], expected: dict[str, Any]) -> None:
    async with served(kernel) as gate:
        check = (await gate.client.post("/v1/check", json=fields)).json()["check"]
    assert {key: check[key] for key in expected} == expected
    if "def two : Nat" in fields.get("context", ""):
        assert "true" in check["context_error"]


async def test_work_names_its_kernel_and_its_memory_class(kernel: EmbeddedKernel) -> None:
    kind = {"kernel": "mathlib", "memory": "large"}
    score = {"goal": {"prop": "True"}, "completion": "#assembly\ntrivial\n#end"}
    async with served(kernel) as gate:
        for path, body in (
            ("/v1/check", {"source": "#check Nat"}),
            ("/v1/check", {"prop": "True", "proof": "trivial"}),
            ("/v1/score", score),
        ):
            assert (await gate.client.post(path, json={**body, **kind})).status_code == 200
            assert gate.backend.kinds.pop() == ("mathlib", "large")
            assert (await gate.client.post(path, json=body)).status_code == 200
            assert gate.backend.kinds.pop() == ("", "")


async def test_a_statement_with_its_proof_passes_every_gate_or_is_not_verified(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:

        async def verdict(proof: str, **fields: Any) -> dict[str, Any]:
            body = {"prop": "∀ n : Nat, n < n + 1", "proof": proof, **fields}
            response = await gate.client.post("/v1/check", json=body)
            assert response.status_code == 200, response.text
            result: dict[str, Any] = response.json()["result"]
            return result

        good = await verdict("\nintro n\nomega\n")
        assert (good["status"], good["reward"], good["axioms"]) == ("verified", 1.0, ["propext"])
        assert good["audit_constants"] > 0
        assert (await verdict("intro n\nrfl"))["status"] == "plan_invalid"
        assert (await verdict("sorry"))["status"] == "sanitizer_rejected"
        body = {"prop": "True", "proof": "exact later", "context": "axiom later : True"}
        refused = await gate.client.post("/v1/check", json=body)
        assert (refused.status_code, refused.json()["field"]) == (422, "context")
        assert "declares the axiom later" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "either source, or prop and proof"),
        ({"source": "", "prop": "True", "proof": "trivial"}, "either source, or prop and proof"),
        ({"prop": "True"}, "proof is missing"),
        ({"proof": "trivial"}, "prop is missing"),
        ({"source": "import Mathlib\n#check Nat"}, "Mathlib"),
        ({"prop": "True", "proof": "trivial\n#end\ntrivial"}, "fits in no plan"),
        ({"source": "x", "timeout_s": 0}, "greater than 0"),
    ],
)
async def test_what_cannot_be_checked_is_said(kernel: EmbeddedKernel, body: dict[str, Any], says: str) -> None:
    async with served(kernel) as gate:
        response = await gate.client.post("/v1/check", json=body)
    assert response.status_code == 422, response.text
    assert says in response.json()["detail"]


async def test_a_check_can_be_polled_called_off_and_repeated(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        endless = {"source": "example : True := by\n  repeat skip", "request_id": "c"}
        assert (await gate.client.post("/v1/check", json={**endless, "wait_s": 0.01})).status_code == 202
        assert (await gate.client.delete("/v1/requests/c")).json()["state"] == "cancelled"
        await until(lambda: not gate.backend.running)
        assert (await gate.client.get("/v1/requests/c")).status_code == 409
        quick = {"source": "#check Nat", "request_id": "d"}
        first, again = await asyncio.gather(*(gate.client.post("/v1/check", json=quick) for _ in range(2)))
        assert first.text == again.text
        clash = await gate.client.post("/v1/check", json={**quick, "source": "#check Int"})
        assert clash.status_code == 409
        other_kind = await gate.score(request_id="d")
        assert other_kind.status_code == 409
