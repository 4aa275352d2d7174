"""`rlmath-direct`: a harness that asks the model once, from within the framework's own process.

It is verifiers' `null` for one turn without tools, and needs neither uv nor a package index nor a child process. The
policy gets no shell: with a harness that executes code, writing a plan would become writing programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import verifiers.v1 as vf
from verifiers.v1.runtimes import SubprocessRuntime

from rlmath.leaf.sampler import outgrows_window

if TYPE_CHECKING:
    from rlmath.envs.taskset import AnyTrace


class DirectHarnessConfig(vf.HarnessConfig):
    """No knobs beyond those of every harness."""


class DirectHarness(vf.Harness[DirectHarnessConfig]):
    """One system message, one user message, one reply. How long that may take is `agent.timeout.rollout`."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def setup(self, runtime: vf.Runtime) -> None:
        """Raises `ValueError` for a runtime whose programs run somewhere else: the model's endpoint need not be
        reachable from here then."""
        if not isinstance(runtime, SubprocessRuntime):
            raise ValueError(
                f"rlmath-direct runs in the framework's process, not in a {type(runtime).__name__}: set "
                'agent.runtime.type to "subprocess", or use the harness null'
            )

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: AnyTrace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Ask the model. The interception server at `endpoint` records the exchange and adds the sampling settings."""
        import openai

        # The endpoint is on this machine: no proxy must stand before it, and loading certificates for plain HTTP
        # would take longer than everything else here.
        transport = openai.DefaultAsyncHttpxClient(trust_env=False, verify=endpoint.startswith("https:"))
        async with openai.AsyncOpenAI(
            base_url=endpoint, api_key=secret, timeout=openai.Timeout(None, connect=5.0), http_client=transport
        ) as client:
            try:
                await client.chat.completions.create(model=ctx.model, messages=self._messages(data))
            except openai.APIStatusError as error:
                if trace.stop_condition is None:  # else the framework itself ended the rollout
                    if not outgrows_window(error):
                        raise
                    trace.stop("context_length")  # as 0.3.1 does itself; 0.4 leaves it to the harness
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    def _messages(self, data: vf.TaskData) -> list[Any]:
        system, user = self.resolve_text_prompt(data)
        messages = [{"role": "user", "content": user or ""}]
        return [{"role": "system", "content": system}, *messages] if system is not None else messages
