"""The model-backed leaf prover: a prompt to an OpenAI-compatible server, a proof out of each reply.

A reply without a proof in it is a spent attempt. So is a statement that the server will not take, because it outgrows
the model's context window or its content filter stops it, as long as the server takes the statement `True` in its
place: a policy must not escape its 0.0 by monstrous lemmas. When it refuses `True` as well, the config (`max_tokens`,
`header`) or the goal's context is at fault: no attempt is charged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlsplit

from rlmath.leaf.config import OpenAILeaf, check_attempts
from rlmath.leaf.extract import EXTRACTION_VERSION, extract_proof
from rlmath.leaf.prompts import THEOREM_NAME, Prompt, digest, render, template
from rlmath.leaf.protocol import LeafAttempt, LeafTask
from rlmath.leaf.sampler import PromptRefused, Sample, Sampler


class OpenAIProver:
    """Each attempt is one sample of the model. Deterministic only through `rlmath.leaf.cache` (or a server that honours
    `seed`)."""

    def __init__(self, settings: OpenAILeaf) -> None:
        """Raises `InputError` when the key's environment variable is not set. The openai SDK is imported here, not
        before."""
        self._settings = settings
        self._template = template(settings.template)
        self._sampler = Sampler(settings)

    @property
    def identity(self) -> str:
        """`openai:<model>@<host>#<digest of all that changes the distribution>`."""
        parts = {**self._distribution(), "template": digest(self._template), "header": self._settings.header}
        canonical = json.dumps(parts, sort_keys=True)
        host = urlsplit(self._settings.base_url).netloc
        return f"openai:{self._settings.model}@{host}#{hashlib.sha256(canonical.encode()).hexdigest()[:8]}"

    @property
    def max_attempts(self) -> None:
        """A model can be sampled without end."""
        return None

    def cache_key(self, task: LeafTask) -> str:
        """All that decides how an attempt at `task` is distributed, the exact prompt included, as canonical JSON."""
        return json.dumps({**self._distribution(), "prompt": asdict(self._prompt(task))}, sort_keys=True)

    async def attempts(self, task: LeafTask, indices: Sequence[int]) -> Sequence[LeafAttempt]:
        """Sample the model once for each index. Raises `LeafUnavailable`, or `InputError` when the config cannot
        work."""
        if not indices:
            return []
        check_attempts(self._settings, max(indices) + 1)
        prompt = self._prompt(task)
        try:
            samples = await self._sampler.sample(prompt, indices)
        except PromptRefused as refusal:
            if not await self._sampler.accepts(self._prompt(replace(task, prop="True"))):
                raise self._sampler.fault(
                    ".max_tokens",
                    f"the server refuses even the statement True, so it is not the lemma's doing: {refusal}",
                ) from None
            return [LeafAttempt(index, None, f"the server refuses this statement: {refusal}") for index in indices]
        return [_attempt(prompt, index, sample) for index, sample in zip(indices, samples, strict=True)]

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._sampler.aclose()

    def _prompt(self, task: LeafTask) -> Prompt:
        return render(self._template, task, header=self._settings.header)

    def _distribution(self) -> dict[str, Any]:
        settings = self._settings
        return {
            "weights": settings.weights or [settings.base_url, settings.model],
            "sampling": settings.model_dump(
                mode="json", include={"temperature", "top_p", "max_tokens", "stop", "seed", "extra_body"}
            ),
            "extraction": EXTRACTION_VERSION,
        }


def _attempt(prompt: Prompt, index: int, sample: Sample) -> LeafAttempt:
    if sample.text is None or not sample.text.strip():
        proof, detail = None, "the reply is empty"
    else:
        extraction = extract_proof(prompt.opening + sample.text, name=THEOREM_NAME)
        proof, detail = extraction.proof, extraction.detail
    if proof is None and sample.finish_reason not in ("", "stop"):
        detail += f" (finish_reason {sample.finish_reason!r})"
    return LeafAttempt(index, proof, detail, sample.prompt_tokens, sample.completion_tokens)
