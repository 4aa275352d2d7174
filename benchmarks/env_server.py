"""The environment's figures, each beside a reference in the same run.

    python benchmarks/env_server.py [--only rate,taskset] [--rounds 3] [--slots 2] [--workers 1]

    rate      rollouts/s through `rlmath env-server` at 64 in flight with a model that answers at once, beside the
              gateway's own rate at 64 in flight on the same completions (ratio of rates)
    taskset   what our taskset adds to a rollout, at 64 in flight with such a model: beside a taskset whose reward is a
              constant, under the same harness; once with a verdict that is there at once in this process, and once
              with a gateway that has one at once (ms a rollout: wall clock, and CPU of the process they run in)

Every completion is another text, so that no cache helps. The server, its workers, the model, the gateway and the
client share this machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
for place in ("tests", "environments/rlmath_decomp", "benchmarks"):
    sys.path.insert(0, str(ROOT / place))

IN_FLIGHT = 64
KEY = "RLMATH_BENCH_KEY"
CONFIG = """
[env.taskset]
id = "rlmath-decomp"
[env.taskset.task]
cluster_url = "{gateway}"
[env.agent.runtime]
type = "subprocess"
[serve]
address = "tcp://127.0.0.1:*"
[serve.pool]
type = "static"
num_workers = {workers}
"""


def _model(port: Any) -> None:
    """A model that answers with what its prompt holds between two marks, or with a fixed plan."""
    from openai_stub import OpenAIStub

    def reply(body: dict[str, Any], number: int) -> str:
        said: str = body["messages"][-1]["content"]
        return said.split("-- say:\n")[1] if "-- say:\n" in said else "#assembly\nintro n\nrfl\n#end\n"

    with OpenAIStub(reply) as stub:
        port.send(stub.base_url)
        signal.pause()


def _instant_gateway(port: Any) -> None:
    """A gateway's far side of the wire that has every verdict at once."""
    import uvicorn

    from rlmath.types import EpisodeResult, Status

    verdict = json.dumps({"state": "done", "result": EpisodeResult("g", Status.VERIFIED).to_json()}).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(verdict)).encode())]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": verdict})

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off", http="httptools"))

    async def run() -> None:
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port.send(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}")
        await serving

    asyncio.run(run())


@contextlib.contextmanager
def beside(target: Callable[[Any], None]) -> Iterator[str]:
    """A server in a process of its own; its URL."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=target, args=(there,), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.kill()
        process.join()


@contextlib.asynccontextmanager
async def served(gateway: str, workers: int) -> AsyncIterator[str]:
    """`rlmath env-server`; its address."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "env-server.toml"
        path.write_text(CONFIG.format(gateway=gateway, workers=workers))
        command = [sys.executable, "-m", "rlmath.cli", "env-server", str(path)]
        packages = os.pathsep.join([str(ROOT), str(ROOT / "environments" / "rlmath_decomp")])
        process = await asyncio.create_subprocess_exec(
            *command, stderr=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": packages, KEY: "k"}
        )
        assert process.stderr is not None
        try:
            address = ""
            while not address:
                line = (await process.stderr.readline()).decode()
                assert line, "the env server did not start"
                address = line.partition("serving at ")[2].partition(": ")[0]
            yield address
        finally:
            process.terminate()
            await process.wait()


async def together(calls: Sequence[Callable[[], Any]], in_flight: int = IN_FLIGHT) -> float:
    """Calls a second, so many at a time."""
    left = iter(calls)

    async def use() -> None:
        for call in left:
            await call()

    began = time.perf_counter()
    await asyncio.gather(*(use() for _ in range(in_flight)))
    return len(calls) / (time.perf_counter() - began)


async def rate(rounds: int, count: int, slots: int, workers: int) -> None:
    """Through the env server, and straight to the gateway."""
    import verifiers.v1 as vf
    from gateway import drive, work
    from verifiers.v1.serve import EnvClient

    from cluster.local import LocalCluster
    from rlmath import envs
    from rlmath.types import GoalSpec

    def saying(body: dict[str, Any]) -> Any:
        """A task whose prompt holds the completion, for the model to say."""
        [task] = envs.build_taskset(goals=[GoalSpec(**body["goal"])])
        return task.data.model_copy(update={"prompt": f"-- say:\n{body['completion']}"})

    with LocalCluster(slots=slots, serve=True) as cluster, beside(_model) as model:
        async with served(cluster.url, workers) as address:
            client = EnvClient(address=address)
            policy = vf.EvalClientConfig(base_url=model, api_key_var=KEY)

            async def roll(body: dict[str, Any], status: Any) -> None:
                data = saying(body).model_dump(mode="json", exclude_none=True)
                sampling = vf.SamplingConfig(max_tokens=64)
                episode = await client.run(client=policy, model="m", sampling=sampling, task_data=data)
                [trace] = episode.traces
                assert trace.ok, trace.errors
                assert trace.info["rlmath"]["status"] == status, trace.info

            async def through(number: int) -> float:
                asked = [work() for _ in range(number)]
                return await together([lambda pair=pair: roll(*pair) for pair in asked])

            async def straight(number: int) -> float:
                bodies = [json.dumps(work()[0]).encode() for _ in range(number)]
                return (await drive(cluster.url, "/v1/score", bodies, IN_FLIGHT))[0]

            try:
                await client.wait_for_server_startup()
                await through(IN_FLIGHT)
                await straight(IN_FLIGHT)
                ratios = []
                for _ in range(rounds):
                    reference, ours = await straight(count), await through(count)
                    ratios.append(ours / reference)
                    print(
                        f"rate: {ours:.1f} rollouts/s, the gateway {reference:.1f} scores/s: {ratios[-1]:.2f}",
                        flush=True,
                    )
                print(
                    f"rate: {statistics.median(ratios):.2f} of the gateway's own (median of {rounds}; "
                    f"{min(ratios):.2f} to {max(ratios):.2f})",
                    flush=True,
                )
            finally:
                await client.close()


async def taskset(rounds: int, count: int) -> None:
    """Ours beside one that does nothing."""
    import verifiers.v1 as vf

    from rlmath.envs import EpisodeResources, build_taskset, set_resources
    from rlmath.types import Budgets, EpisodeResult, GoalSpec, Status

    class Constant(vf.Task[vf.TaskData, vf.State, vf.TaskConfig]):
        @vf.reward(weight=1.0)
        async def constant(self, trace: Any) -> float:
            return 1.0

    class Instant:
        async def score(self, goal: GoalSpec, completion: str, budgets: Budgets, request_id: str) -> EpisodeResult:
            return EpisodeResult(goal.id, Status.VERIFIED)

    goals = [GoalSpec(f"g-{i}", f"∀ n : Nat, n + {i} = {i} + n") for i in range(count)]
    set_resources(EpisodeResources(scorer=Instant(), goals=goals))
    ours = [task.data for task in build_taskset()]
    agent = {"runtime": {"type": "subprocess"}}
    with beside(_model) as model, beside(_instant_gateway) as gateway:
        context = vf.ModelContext(
            model="m",
            client=vf.EvalClientConfig(base_url=model, api_key_var=KEY),
            sampling=vf.SamplingConfig(max_tokens=64),
        )

        def environment(task: dict[str, Any]) -> Any:
            return vf.load_environment(
                vf.resolve_env_config({"taskset": {"id": "rlmath-decomp", "task": task}, "agent": agent})
            )

        kinds: dict[str, dict[str, Any]] = {"constant": {}, "process": {}, "gateway": {"cluster_url": gateway}}
        environments = {kind: environment(task) for kind, task in kinds.items()}
        bare = [
            Constant(vf.TaskData(idx=i, prompt=data.prompt, system_prompt=data.system_prompt), vf.TaskConfig())
            for i, data in enumerate(ours)
        ]
        async with contextlib.AsyncExitStack() as stack:
            for env in environments.values():
                await stack.enter_async_context(env.serving())

            async def roll(env: Any, task: Any) -> None:
                [slot] = env.slots(task, 1)
                episode = await env.run_slot(slot, context)
                [trace] = episode.traces
                assert trace.reward == 1.0, trace.errors

            async def each(kind: str, number: int) -> tuple[float, float]:
                """Milliseconds a rollout, and of this process's CPU."""
                env, began = environments[kind], time.process_time()
                tasks = bare if kind == "constant" else list(env.taskset)
                wall = 1e3 / await together([lambda task=task: roll(env, task) for task in tasks[:number]])
                return wall, (time.process_time() - began) / number * 1e3

            for kind in kinds:
                await each(kind, IN_FLIGHT)
            added: dict[tuple[str, str], list[float]] = {}
            for _ in range(rounds):
                took = {kind: await each(kind, count) for kind in kinds}
                for kind in ("process", "gateway"):
                    for unit, ours, reference in zip(("wall", "CPU"), took[kind], took["constant"], strict=True):
                        added.setdefault((kind, unit), []).append(ours - reference)
                told = ", ".join(f"{kind} {wall:.2f} ms ({cpu:.2f} CPU)" for kind, (wall, cpu) in took.items())
                print(f"taskset: {told}", flush=True)
    for (kind, unit), found in added.items():
        print(
            f"taskset: a verdict from the {kind} adds {statistics.median(found):+.2f} ms of {unit} time a rollout "
            f"(median of {rounds}; {min(found):+.2f} to {max(found):+.2f})",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rollouts", type=int, default=256, help="a round (default: 256)")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1, help="of the env server (default: 1)")
    parser.add_argument("--only", default="rate,taskset", metavar="NAMES")
    given = parser.parse_args()
    os.environ[KEY] = "k"
    if "rate" in given.only.split(","):
        asyncio.run(rate(given.rounds, given.rollouts, given.slots, given.workers))
    if "taskset" in given.only.split(","):
        asyncio.run(taskset(given.rounds, given.rollouts))
