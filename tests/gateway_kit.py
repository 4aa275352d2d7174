"""A gateway over a real kernel in this process, on a real socket: everything but Ray. For all tests that need one."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from cluster.api import ClusterStatus, ScoreRequest, WorkerStatus
from cluster.caps import AccountKey, Accounts, AccountStatus, Caps
from cluster.gateway.backend import Caller
from cluster.gateway.keys import add
from cluster.gateway.server import GatewayServer
from cluster.gateway.settings import GatewaySettings
from rlmath.episode import run_episode
from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.config import EmbeddedKernelConfig
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import CheckResult, Source
from rlmath.kernel.select import lean_for
from rlmath.leaf.config import make_prover
from rlmath.types import EpisodeResult, KernelIdentity, Status

TRUE = "#lemma h1 : ∀ n : Nat, n + 0 = n\n#assembly\nexact h1\n#end\n"
FALSE = "#assembly\nintro n\nexact absurd n n\n#end\n"
ENDLESS = "#assembly\nrepeat skip\n#end\n"
"""Completions for the goal `∀ n : Nat, n + 0 = n`."""


class KernelBackend:
    """A `Backend` that is one embedded kernel. `down` makes it fail as infrastructure does."""

    def __init__(self, kernel: EmbeddedKernel) -> None:
        self.kernel = kernel
        self.down: str | None = None
        self.refused = 0
        """How often it was asked while it was down."""
        self.running = 0
        self.judged = 0
        self.callers: list[Caller] = []
        self.accounts = Accounts()
        self.journal: dict[tuple[str, str], EpisodeResult] = {}
        """Of an earlier life."""
        self.kinds: list[tuple[str, str]] = []
        """Kernel and memory class that each piece of work asked for."""

    async def judge(self, request: ScoreRequest, caller: Caller) -> EpisodeResult:
        with self._work(caller):
            if caller.run is not None and not self.accounts.is_open(AccountKey(caller.client, caller.run)):
                raise InputError("run", f"{caller.run} is not open")
            self.judged += 1
            self.kinds.append((request.kernel, request.memory))
            leaf = make_prover(request.leaf, recorded=request.recorded)
            return await run_episode(
                request.goal, request.completion, kernel=self.kernel, leaf=leaf, budgets=request.budgets
            )

    async def recall(self, request_id: str, client: str) -> EpisodeResult | None:
        return self.journal.get((client, request_id))

    def lean(self, text: str, where: str, kernel: str = "") -> str:
        return lean_for(EmbeddedKernelConfig(), text, where)

    async def check(
        self, source: Source, *, timeout_s: float, caller: Caller, kernel: str = "", memory: str = ""
    ) -> CheckResult:
        with self._work(caller):
            self.kinds.append((kernel, memory))
            return await self.kernel.check(source, timeout_s=timeout_s)

    async def open_run(self, run: str, caps: Caps, client: str) -> AccountStatus:
        self.accounts.open(AccountKey(client, run), caps, time.time())
        return self.accounts.status(AccountKey(client, run))

    async def close_run(self, run: str, client: str) -> AccountStatus:
        status = await self.account(client, run)
        self.accounts.close(AccountKey(client, run))
        return replace(status, closed=True)

    async def account(self, client: str, run: str | None) -> AccountStatus:
        if AccountKey(client, run) not in self.accounts:
            raise InputError("run", "was never opened")
        return self.accounts.status(AccountKey(client, run))

    async def set_client_caps(self, client: str, caps: Caps | None) -> None:
        if caps is not None or AccountKey(client) in self.accounts:
            self.accounts.open(AccountKey(client), caps or Caps(), time.time())

    async def status(self) -> ClusterStatus:
        worker = WorkerStatus("here", "lost" if self.down else "ready", self.kernel.slots, self.running)
        return ClusterStatus((worker,), self.kernel.identity, 0, self.running, self.running, 0, self.judged, 0, 0)

    @contextlib.contextmanager
    def _work(self, caller: Caller) -> Any:
        if self.down:
            self.refused += 1
            raise KernelUnavailable(self.down)
        self.callers.append(caller)
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1


@asynccontextmanager
async def listening(
    kernel: EmbeddedKernel, settings: GatewaySettings | None = None
) -> AsyncIterator[tuple[KernelBackend, GatewayServer]]:
    """A gateway that listens on a free port of this machine."""
    backend = KernelBackend(kernel)
    server = GatewayServer(backend, settings or GatewaySettings(port=0, grace_s=0.0))
    await server.start()
    try:
        yield backend, server
    finally:
        await server.stop()


def keyed(path: Path, *clients: str, **limits: Any) -> tuple[GatewaySettings, dict[str, dict[str, str]]]:
    """Settings with a key file, and each client's headers."""
    headers = {client: {"authorization": f"Bearer {add(path, client, **limits)}"} for client in clients}
    return GatewaySettings(api_keys=path), headers


def reply_with_verdict(goal_id: str, request_id: str, /, **parts: Any) -> bytes:
    """What a gateway replies that has verified a plan for this goal, but for the parts of the result that are given."""
    row = EpisodeResult(goal_id, Status.VERIFIED, kernel=KernelIdentity("k", "4", "e"), axioms=()).to_json() | parts
    return json.dumps({"request_id": request_id, "state": "done", "result": row}).encode()
