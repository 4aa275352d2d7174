"""The verifiers v1 taskset: goals as tasks, a plan's verdict as the reward.

The wire half of a task is `DecompositionData`, frozen and all that travels; the behaviour half is `DecompositionTask`,
which an environment server builds anew from the data and its own `DecompositionTaskConfig`. Importing this imports
verifiers, which takes seconds: `rlmath.envs` does it on first use.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import verifiers.v1 as vf
from pydantic import Field, field_validator, model_validator

from rlmath.envs import report
from rlmath.envs.goals import resolve_goals
from rlmath.envs.remote import ClusterAddress, ClusterScorer, url_problem
from rlmath.envs.resources import EpisodeResources, get_resources, live_resources, resolve_budgets
from rlmath.envs.scoring import SCORE_TIMEOUT_S, Unscored, score_plan, window_exceeded
from rlmath.prompt import SYSTEM_PROMPT, user_message
from rlmath.types import EpisodeResult, GoalSpec

if TYPE_CHECKING:
    AnyTrace = vf.Trace[Any, Any, Any]

REWARD = "kernel_verdict"
"""The reward's name in traces: 1.0 iff the plan is verified, 0.0 for every other verdict, None without one."""
WINDOW_STOPS = frozenset({"context_length", "max_input_tokens", "max_output_tokens", "max_total_tokens"})
"""verifiers' stop conditions for a rollout that outgrew its window or its limit on tokens."""


class DecompositionData(vf.TaskData):
    """The wire half: the messages for the policy and the goal. Plain strings, so it is the same, and has the same hash,
    after any number of round trips."""

    id: str | None = None
    """The goal's id. verifiers 0.4 has this field too, and selects tasks by it."""
    goal_prop: str = ""
    goal_name: str = "goal"
    goal_context: str = ""

    @property
    def goal(self) -> GoalSpec:
        """What is to be proved."""
        return GoalSpec(id=self.id or "", prop=self.goal_prop, name=self.goal_name, context=self.goal_context)


class DecompositionTaskConfig(vf.TaskConfig):
    """How a task is scored: by what, and under which caps (those of `rlmath.types.Budgets`), to be swept from TOML or
    the command line.

    All this belongs to the task, not to the taskset: an environment server never loads a taskset, and rebuilds every
    task with this section of its own config. A cap that is None is that of the registered resources, else the default
    of `Budgets`.
    """

    max_lemmas: int | None = Field(None, ge=0)
    """Most lemmas a plan may have (default 8)."""
    leaf_attempts_per_lemma: int | None = Field(None, ge=0)
    """Attempts at one lemma (default 4)."""
    max_total_leaf_attempts: int | None = Field(None, ge=0)
    """Attempts at all lemmas of a plan together (default 64)."""
    verify_timeout_s: float | None = Field(None, gt=0, le=86_400)
    """Seconds of one kernel check (default 120). Running out of them is the plan's fault."""
    score_timeout_s: float = Field(SCORE_TIMEOUT_S, gt=0)
    """Seconds for the scoring of one rollout as a whole. Running out of them is nobody's fault: no reward."""
    cluster_url: str | None = None
    """The gateway that scores (`rlmath serve`), `http://host:port`; None: what the scoring process has registered."""
    cluster_api_key_env: str | None = Field(None, min_length=1)
    """Name of the environment variable, in the scoring process, that holds the gateway's key; None: it asks for
    none."""
    cluster_leaf: str | None = Field(None, min_length=1)
    """Leaf prover that the gateway serves by this name; None: its ladder of tactics."""

    @field_validator("cluster_url")
    @classmethod
    def _is_a_url(cls, url: str | None) -> str | None:
        if url is not None and (problem := url_problem(url)):
            raise ValueError(problem)
        return url

    @model_validator(mode="after")
    def _has_a_gateway(self) -> Self:
        for name in ("cluster_api_key_env", "cluster_leaf"):
            if self.cluster_url is None and getattr(self, name) is not None:
                raise ValueError(f"{name} goes with cluster_url, which is not set")
        return self

    def cluster(self) -> ClusterAddress | None:
        """The gateway that scores, if one is named."""
        if self.cluster_url is None:
            return None
        return ClusterAddress(self.cluster_url, self.cluster_api_key_env, self.cluster_leaf)

    def budgets(self) -> dict[str, int | float | None]:
        """The caps, by the names of `Budgets`."""
        return {
            "max_lemmas": self.max_lemmas,
            "leaf_attempts_per_lemma": self.leaf_attempts_per_lemma,
            "max_total_leaf_attempts": self.max_total_leaf_attempts,
            "verify_timeout_s": self.verify_timeout_s,
        }


class DecompositionTask(vf.Task[DecompositionData, vf.State, DecompositionTaskConfig]):
    """One goal to decompose. The last reply of a rollout is its completion.

    The scoring runs in `finalize`, and the reward only reads what was recorded there: verifiers 0.4 takes a scoring
    stage that ran out of time for a success without rewards, which a trainer reads as 0.
    """

    @property
    def key(self) -> str:
        """The goal's id, which does not change when the prompt does."""
        return self.data.id or self.hash

    async def finalize(self, trace: AnyTrace, runtime: vf.Runtime) -> None:
        """Judge the rollout and record metrics and info. Raises when it has no reward; the trace then says why, and
        its reward is None."""
        trace.rewards.setdefault(REWARD, None)
        started = time.perf_counter()
        try:
            result = await self._judge(trace)
        except Exception as error:
            _record(trace, report.no_verdict(self.data.goal.id, error), time.perf_counter() - started)
            raise
        _record(trace, result, time.perf_counter() - started)
        if result.reward is None:
            raise Unscored(f"{result.status.value}: {result.detail}")

    async def score(self, trace: AnyTrace, runtime: vf.Runtime | None = None) -> None:
        """The scoring stage: this task's reward, and metrics and judges that a config plugs in."""
        verdict = report.recorded_reward(trace.info)  # before anything that could use up the stage's time
        try:
            await super().score(trace, runtime)
        except asyncio.CancelledError:
            if trace.rewards.get(REWARD) is None:  # a plugged metric was too slow: that does not unmake the verdict
                trace.record_reward(REWARD, verdict, self._reward_weight())
            raise

    @vf.reward(weight=1.0)
    async def kernel_verdict(self, trace: AnyTrace) -> float:
        """1.0 iff the composed theorem passed the kernel and the audit. Raises when there is no verdict."""
        return report.recorded_reward(trace.info)

    async def _judge(self, trace: AnyTrace) -> EpisodeResult:
        goal, completion = self.data.goal, _completion(trace)
        if completion is None and trace.stop_condition not in WINDOW_STOPS:
            raise Unscored(f"the rollout holds no reply to judge (stopped by {trace.stop_condition})")
        overflow = window_exceeded(goal, completion, cut=_was_cut(trace))
        if overflow is not None:
            return overflow
        resources = self._resources()
        return await score_plan(
            goal,
            completion or "",
            resources=resources,
            budgets=resolve_budgets(self.config.budgets(), resources),
            request_id=trace.id,
            timeout_s=self.config.score_timeout_s,
        )

    def _resources(self) -> EpisodeResources:
        """What judges: the gateway that the config names, else what is registered. Raises `RuntimeError` when there is
        neither."""
        address = self.config.cluster()
        if address is None:
            return live_resources()
        scorer = ClusterScorer(address, self.config.score_timeout_s)
        return replace(get_resources() or EpisodeResources(), backend=None, leaf=None, scorer=scorer)

    def _reward_weight(self) -> float:
        return next(float(getattr(fn, "_vf_weight", 1.0)) for fn in self.hooks("reward") if fn.__name__ == REWARD)


class DecompositionConfig(vf.TasksetConfig):
    """Which goals are loaded, and how their tasks are scored."""

    goals: Path | None = None
    """JSONL of goals (`rlmath.envs.load_goals`), relative to the working directory; None: the registered goals, else
    the demo set."""
    task: DecompositionTaskConfig = DecompositionTaskConfig()


class DecompositionTaskset(vf.Taskset[DecompositionTask, DecompositionConfig]):
    """Goals as tasks, in their order. `system_prompt` of the config, a file, replaces `SYSTEM_PROMPT`."""

    goals: tuple[GoalSpec, ...] | None = None
    """Goals given as objects (`build_taskset`), which no config could hold."""

    def load(self) -> list[DecompositionTask]:
        """A task for each goal. Raises `InputError` when a goals file is unusable or empty."""
        source = self.goals if self.goals is not None else self.config.goals
        return [
            DecompositionTask(_data(index, goal), self.config.task) for index, goal in enumerate(resolve_goals(source))
        ]


def build(
    goals: str | Path | tuple[GoalSpec, ...] | None, budgets: dict[str, Any], system_prompt: Path | None
) -> DecompositionTaskset:
    """The taskset of `rlmath.envs.build_taskset`."""
    path = Path(goals) if isinstance(goals, str | Path) else None
    config = DecompositionConfig(
        id="rlmath-decomp",
        goals=path,
        system_prompt=system_prompt,
        task=DecompositionTaskConfig.model_validate(budgets),
    )
    taskset = DecompositionTaskset(config)
    if isinstance(goals, tuple):
        taskset.goals = goals
    return taskset


def _data(index: int, goal: GoalSpec) -> DecompositionData:
    return DecompositionData(
        idx=index,
        id=goal.id,
        name=goal.id,
        prompt=user_message(goal),
        system_prompt=SYSTEM_PROMPT,
        goal_prop=goal.prop,
        goal_name=goal.name,
        goal_context=goal.context,
    )


def _record(trace: AnyTrace, result: EpisodeResult, elapsed_s: float) -> None:
    trace.record_metrics(report.metrics(result, elapsed_s))
    trace.info[report.INFO_KEY] = report.info(result, elapsed_s)


def _completion(trace: AnyTrace) -> str | None:
    """The policy's last reply, verbatim (verifiers' own `last_reply` strips it); None when there is none."""
    root: str | None = getattr(trace, "root_reply", None)
    if root is not None:
        return root
    replies = trace.assistant_messages
    return (replies[-1].content or "") if replies else None


def _was_cut(trace: AnyTrace) -> bool:
    """Whether the rollout ended at the model's window or at a limit on tokens."""
    answered = [call for call in trace.calls if call.error is None]
    return trace.stop_condition in WINDOW_STOPS or bool(answered and answered[-1].finish_reason == "length")
