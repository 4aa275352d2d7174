"""How each known prover wants to be asked for a whole proof: one template a format, chosen by name in `[leaf]
template`.

The wording is the publishers' own, from the model cards and repositories named in each `source`: these models were
trained on it, to the letter. The lemma's own name never enters a prompt (the cache would then miss for the same
statement under another name): the theorem to prove is always called `THEOREM_NAME`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Literal

from rlmath.errors import InputError
from rlmath.leaf.protocol import LeafTask

THEOREM_NAME = "leaf_goal"
"""What the theorem is called in every prompt."""

MATHLIB_HEADER = (
    "import Mathlib\nimport Aesop\n\nset_option maxHeartbeats 0\n\nopen BigOperators Real Nat Topology Rat\n"
)
"""The header that the known provers saw in training (DeepSeek-Prover-V2's and Goedel-Prover-V2's quick starts)."""


@dataclass(frozen=True)
class Template:
    """A prompt format. `{code}` stands for header, context and theorem; `{prop}` for the bare statement."""

    name: str
    source: str
    """Where the format is published."""
    user: str
    """The user's message, or the whole prompt of the `completions` endpoint."""
    system: str | None = None
    endpoint: Literal["chat", "completions"] = "chat"
    header: str = MATHLIB_HEADER
    """Stands before the goal's context unless the config gives another."""
    code_end: str = "\n  sorry"
    """What follows `:= by` in `{code}`."""
    opening: str = ""
    """Lean text that the reply continues (`completions`): joined to it before a proof is looked for."""
    stop: tuple[str, ...] = ()
    """Stop sequences that the format needs, besides the config's own."""


@dataclass(frozen=True)
class Prompt:
    """One rendered prompt, ready to send."""

    endpoint: Literal["chat", "completions"]
    system: str | None
    user: str
    opening: str
    stop: tuple[str, ...]


_PLAN_FIRST = (
    "Before producing the Lean 4 code to formally prove the given theorem, provide a detailed proof plan outlining the "
    "main proof steps and strategies.\nThe plan should highlight key ideas, intermediate lemmas, and proof structures "
    "that will guide the construction of the final formal proof."
)
_OPEN_FENCE = "```lean4\n{code}\n"

TEMPLATES: dict[str, Template] = {
    template.name: template
    for template in (
        Template(
            name="generic",
            source="ours: for instruction-tuned models that no format is known of",
            system="You are an expert in the Lean 4 theorem prover.",
            user=(
                "Prove this Lean 4 theorem:\n\n```lean4\n{code}\n```\n\nThink first if you need to. Then end your "
                "reply with one ```lean4 code block that holds the theorem, stated exactly as above, with its complete "
                "tactic proof in place of `sorry`. The proof must stand alone: no other declarations, no `sorry`, no "
                "new imports or options."
            ),
            header="",
        ),
        Template(
            name="deepseek-prover-v2",
            source="github.com/deepseek-ai/DeepSeek-Prover-V2, README, quick start",
            user="Complete the following Lean 4 code:\n\n```lean4\n{code}\n```\n\n" + _PLAN_FIRST,
        ),
        Template(
            name="goedel-prover-v2",
            source="github.com/Goedel-LM/Goedel-Prover-V2, README, quick start; the fence closes on the last line",
            user="Complete the following Lean 4 code:\n\n```lean4\n{code}```\n\n" + _PLAN_FIRST,
        ),
        Template(
            name="kimina-prover",
            source="huggingface.co/AI-MO/Kimina-Prover-72B, model card; the informal problem is left empty",
            system="You are an expert in mathematics and Lean 4.",
            user=(
                "Think about and solve the following problem step by step in Lean 4.\n# Problem:\n# Formal statement:\n"
                "```lean4\n{code}\n```\n"
            ),
            code_end="",
        ),
        Template(
            name="deepseek-prover-v1.5",
            source="github.com/deepseek-ai/DeepSeek-Prover-V1.5, quick start; also for STP, which is built on it",
            endpoint="completions",
            user="Complete the following Lean 4 code:\n\n" + _OPEN_FENCE,
            code_end="",
            opening=_OPEN_FENCE,
            stop=("```",),
        ),
        Template(
            name="goedel-prover-sft",
            source="github.com/Goedel-LM/Goedel-Prover, inference script",
            endpoint="completions",
            user="Complete the following Lean 4 code with explanatory comments preceding each line of code:\n\n"
            + _OPEN_FENCE,
            code_end="",
            opening=_OPEN_FENCE,
            stop=("```",),
        ),
        Template(
            name="bfs-prover",
            source="huggingface.co/ByteDance-Seed/BFS-Prover-V1-7B, model card; only proofs of one tactic",
            endpoint="completions",
            user="⊢ {prop}:::",
            header="",
            code_end="",
            opening=_OPEN_FENCE + "  ",
        ),
    )
}


def template(name: str) -> Template:
    """The template of that name; `InputError` names the known ones."""
    try:
        return TEMPLATES[name]
    except KeyError:
        raise InputError("leaf.template", f"{name!r} is not known: one of {', '.join(TEMPLATES)}") from None


def render(template: Template, task: LeafTask, *, header: str | None = None) -> Prompt:
    """The prompt for one statement. `header` replaces the template's own (imports and `open`s, before the goal's
    context)."""
    parts = [part.strip("\n") for part in (template.header if header is None else header, task.context) if part.strip()]
    code = "\n\n".join([*parts, f"theorem {THEOREM_NAME} : {task.prop} := by{template.code_end}"])

    def fill(text: str) -> str:
        return text.format(code=code, prop=task.prop)

    return Prompt(template.endpoint, template.system, fill(template.user), fill(template.opening), template.stop)


def digest(template: Template) -> str:
    """Changes whenever anything of the template does."""
    return hashlib.sha256(json.dumps(asdict(template), sort_keys=True).encode()).hexdigest()[:12]
