"""Samples completions from a policy behind an OpenAI-compatible server.

What comes back is a text to judge, or the news that prompt or completion did not fit the window (feasibility, no
evidence). Server trouble raises `PolicyUnavailable` after the retries: the sample gets an `error` row and is drawn
again at resume.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rlmath import prompt
from rlmath.errors import InputError, LeafUnavailable, Unavailable
from rlmath.evals.config import PolicySection
from rlmath.leaf.prompts import Prompt
from rlmath.leaf.sampler import PromptRefused, Sampler, WindowExceeded
from rlmath.plan import PlanFormatError, parse_plan
from rlmath.types import GoalSpec


class PolicyUnavailable(Unavailable):
    """The policy's server failed after its retries; nothing was sampled."""


@dataclass(frozen=True)
class Sample:
    """One answer of the policy."""

    text: str
    overflow: str | None = None
    """Why the sample is no evidence (`context_window_exceeded`); None: judge the text."""
    finish_reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def facts(self) -> dict[str, Any]:
        """What the results say of it beside the verdict."""
        return {
            "finish_reason": self.finish_reason,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
        }


class PolicySampler:
    """A bounded client of one policy.

    Raises `InputError` at construction when the key's environment variable is not set or the system prompt cannot be
    read.
    """

    def __init__(self, section: PolicySection) -> None:
        self._section = section
        self._system_prompt = system_prompt(section)
        self._server = Sampler(section, section="policy")

    async def sample(self, goal: GoalSpec, index: int) -> Sample:
        """Draw sample `index` of this goal. Raises `PolicyUnavailable`, or `InputError` when the server refuses the
        config as such."""
        try:
            [drawn] = await self._server.sample(chat(self._system_prompt, goal), [index])
        except WindowExceeded as error:
            return Sample("", overflow=f"the prompt does not fit the policy's window: {error}")
        except (PromptRefused, LeafUnavailable) as error:
            raise PolicyUnavailable(str(error)) from error
        if drawn.finish_reason == "content_filter":
            raise PolicyUnavailable("the server withheld the completion (content_filter)")
        text = drawn.text or ""
        cut = drawn.finish_reason == "length" and not _has_plan(text)
        overflow = self._cut_detail() if cut else None
        return Sample(text, overflow, drawn.finish_reason, drawn.prompt_tokens, drawn.completion_tokens)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()

    def _cut_detail(self) -> str:
        limit = self._section.max_tokens
        window = "the model's window" if limit is None else f"the model's window or max_tokens = {limit}"
        return f"the completion was cut off at {window} before its plan ended"


def chat(system: str, goal: GoalSpec) -> Prompt:
    """What is sent for one goal."""
    return Prompt(endpoint="chat", system=system, user=prompt.user_message(goal), opening="", stop=())


def system_prompt(section: PolicySection) -> str:
    """The system prompt of this policy: ours, or the file that replaces it."""
    if section.system_prompt is None:
        return prompt.SYSTEM_PROMPT
    try:
        return section.system_prompt.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("policy.system_prompt", f"cannot read {section.system_prompt}: {error}") from None


def _has_plan(text: str) -> bool:
    """A plan that ended before the cut is a plan: what follows `#end` is ignored anyway."""
    try:
        parse_plan(text)
    except PlanFormatError:
        return False
    return True
