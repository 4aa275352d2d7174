"""The Kimina kernel, over HTTP. The server's side is a stand-in for the published one, which is no dependency of ours:
it splits a snippet as that does, has the embedded kernel judge it, and reports its troubles in that server's words.
`benchmarks/peers.py` drives the published one."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import pytest_asyncio
import uvicorn
from fastapi import FastAPI, Request, Response

from rlmath import source as lean
from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.config import KiminaKernelConfig
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.kimina import make_kimina_kernel
from rlmath.kernel.protocol import Source
from rlmath.types import GoalSpec, Plan

GOAL = GoalSpec("g", "∀ n : Nat, n + 0 = n")
TRUE = Source("theorem t : 2 + 2 = 4 := rfl", declaration="t", axioms=True)
FALSE = Source("theorem t : 2 + 2 = 5 := rfl", declaration="t", axioms=True)
ENDLESS = Source("theorem t : 1 = 2 := by repeat (have h : True := trivial)")
SEVERITY = {"information": "info", "warning": "warning", "error": "error"}


@dataclass
class Server:
    """A Kimina server for one test."""

    kernel: EmbeddedKernel
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    counts_imports: bool = False
    """Whether lines of imports count."""

    def app(self) -> FastAPI:
        """Its `/api/check`."""
        app = FastAPI()

        @app.post("/api/check")
        async def check(request: Request) -> Response:
            body = await request.json()
            self.requests.append({**body, "authorization": request.headers.get("authorization")})
            results = await asyncio.gather(*(self.run(s, body["timeout"]) for s in body["snippets"]))
            if any("HTTP 500" in s["code"] for s in body["snippets"]):
                return Response("no good", status_code=500)
            if any("no JSON" in s["code"] for s in body["snippets"]):
                return Response("fine")
            kept = [r for r in results if r is not None]
            return Response(httpx.Response(200, json={"results": kept}).text, media_type="application/json")

        return app

    async def run(self, snippet: dict[str, str], timeout: int) -> dict[str, Any] | None:
        """One snippet's result."""
        code = snippet["code"]
        lines = code.split("\n")
        imports = next(n for n, line in enumerate(lines) if line.strip() and not line.startswith("import "))
        body = "\n".join([""] * imports + lines[imports:] if self.counts_imports else lines[imports:])
        result: dict[str, Any] = {"id": snippet["id"]}
        for word, error in (
            ("no REPL", "No available REPLs"),
            ("slow header", f"Lean REPL header command timed out in {timeout} seconds"),
            ("dead REPL", "Snippet execution failed: Failed to read from REPL stdout"),
        ):
            if word in code:
                return {**result, "error": error}
        if "left out" in code:
            return None
        if "REPL error" in code:
            return {**result, "response": {"message": "Unknown environment."}}
        if "forged" in code:
            return {**result, "response": {"env": 0}, "time": 0.1}
        checked = await self.kernel.check(Source(body), timeout_s=timeout)
        if checked.timed_out:
            error = f"Lean REPL command timed out in {timeout} seconds"
            return {**result, "error": error, "time": float(timeout)}
        messages = [
            {
                "severity": SEVERITY[m.severity],
                "pos": {"line": m.line, "column": m.column},
                "endPos": {"line": m.end_line, "column": m.end_column},
                "data": m.text,
            }
            for m in checked.messages
        ]
        return {**result, "response": {"env": 1, "messages": messages}, "time": checked.elapsed_s}


@pytest_asyncio.fixture(loop_scope="session")
async def server(kernel: EmbeddedKernel) -> AsyncIterator[Server]:
    server = Server(kernel)
    listening = socket.create_server(("127.0.0.1", 0))
    server.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    running = uvicorn.Server(uvicorn.Config(server.app(), log_level="warning", lifespan="off"))
    task = asyncio.create_task(running.serve(sockets=[listening]))
    yield server
    running.should_exit = True
    await task


def config(server: Server, **changes: Any) -> KiminaKernelConfig:
    settings = {
        "base_url": server.url,
        "lean_version": "v4.35.0",
        "environment": "mathlib@0123",
        "header": "import Init\nset_option maxHeartbeats 400000",
        "accept_unaudited": True,
        **changes,
    }
    return KiminaKernelConfig.model_validate(settings)


def proof(goal: GoalSpec, assembly: str) -> Source:
    return lean.compose(goal, Plan((), assembly), {})


@pytest.mark.parametrize("counts_imports", [False, True])
async def test_verdicts(server: Server, kernel: EmbeddedKernel, counts_imports: bool) -> None:
    """Whose line is whose does not depend on how the server counts."""
    server.counts_imports = counts_imports
    context = GoalSpec("c", "five = 5", context="def five := 5\n")
    sources = [
        TRUE,
        FALSE,
        lean.goal_check(GOAL),
        proof(context, "rfl"),
        proof(GOAL, "intro n\nexact nowhere"),
        Source("x", context="def y := 1\n\ntheorem u : y = 2 := rfl"),
        Source("theorem t : 1 = 2 := sorry\n\n#check t"),
    ]
    async with make_kimina_kernel(config(server), slots=4) as kimina:
        assert str(kimina.identity).startswith("kimina (unaudited) Lean 4.35.0 mathlib@0123+")
        ours = await asyncio.gather(*(kimina.check(source, timeout_s=60) for source in sources))
        theirs = await asyncio.gather(*(kernel.check(source, timeout_s=60) for source in sources))
        for one, other in zip(ours, theirs, strict=True):
            assert [(m.severity, m.text, m.line, m.column, m.end_line) for m in one.messages] == [
                (m.severity, m.text, m.line, m.column, m.end_line) for m in other.messages
            ]
            assert (one.axioms_line, one.context_error, one.sorries) == (
                other.axioms_line,
                other.context_error,
                other.sorries,
            )
        good = await kimina.certify(proof(context, "rfl"), lean.goal_check(context), timeout_s=60)
        assert (good.audit, good.unaudited) == (None, ())
        timed_out = await kimina.check(ENDLESS, timeout_s=1.0)
        assert timed_out.timed_out
        assert kimina.stats().timed_out == 1


@pytest.mark.parametrize(
    "trouble",
    ["no REPL", "slow header", "dead REPL", "left out", "REPL error", "forged", "HTTP 500", "no JSON"],
)
async def test_trouble_is_no_evidence(server: Server, trouble: str) -> None:
    async with make_kimina_kernel(config(server), slots=4) as kimina:
        with pytest.raises(KernelUnavailable):
            await kimina.check(Source(f"-- {trouble}\ntheorem t : 2 + 2 = 5 := rfl"), timeout_s=5)
        assert kimina.stats().unavailable == 1
        assert (await kimina.check(FALSE, timeout_s=5)).errors


async def test_checks_travel_together(server: Server) -> None:
    async with make_kimina_kernel(config(server, batch=4), slots=8) as kimina:
        server.requests.clear()
        results = await asyncio.gather(*(kimina.check(TRUE if n % 2 else FALSE, timeout_s=30) for n in range(8)))
    assert [bool(result.errors) for result in results] == [n % 2 == 0 for n in range(8)]
    assert sorted(len(request["snippets"]) for request in server.requests) == [4, 4]
    assert len({snippet["id"] for request in server.requests for snippet in request["snippets"]}) == 8


async def test_a_file_that_swallows_the_question(server: Server) -> None:
    """A file of the user's own may; a plan may not."""
    async with make_kimina_kernel(config(server), slots=1) as kimina:
        assert (await kimina.check(Source("theorem t : 1 = 2 := rfl\n/- open"), timeout_s=30)).errors
        gated = await kimina.check(proof(GOAL, "rfl /- open"), timeout_s=30)
        assert gated.gate is not None
        assert not gated.gate.ok


async def test_no_server(server: Server, unused_tcp_port: int) -> None:
    with pytest.raises(KernelUnavailable, match=str(unused_tcp_port)):
        async with make_kimina_kernel(config(server, base_url=f"http://127.0.0.1:{unused_tcp_port}"), slots=1):
            pass


async def test_a_header_that_does_not_elaborate(server: Server) -> None:
    with pytest.raises(KernelUnavailable, match="header does not elaborate"):
        async with make_kimina_kernel(config(server, header="import Init\nopen Nowhere"), slots=1):
            pass


async def test_its_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="KIMINA_KEY"):
        make_kimina_kernel(config(server, api_key_env="KIMINA_KEY"), slots=1)
    monkeypatch.setenv("KIMINA_KEY", "s3cret")
    async with make_kimina_kernel(config(server, api_key_env="KIMINA_KEY"), slots=1):
        assert {request["authorization"] for request in server.requests} == {"Bearer s3cret"}
