"""The `[leaf]` section of a config, and the prover it describes. Importing this imports no SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from rlmath.errors import InputError
from rlmath.leaf.prompts import TEMPLATES
from rlmath.leaf.protocol import LeafProver


class _Section(BaseModel):
    """Unknown keys are errors, values are not coerced, instances do not change."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TacticsLeaf(_Section):
    """`type = "tactics"`: a fixed ladder of tactic scripts; needs no model."""

    type: Literal["tactics"] = "tactics"
    scripts: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    """Scripts to try instead of `rlmath.leaf.tactics.LADDER`, in order (with Mathlib: `norm_num`, `nlinarith`, …)."""


class RecordedLeaf(_Section):
    """`type = "recorded"`: each completion brings its lemmas' proof texts (key `leaf` of its row)."""

    type: Literal["recorded"] = "recorded"


class ModelServer(_Section):
    """A model behind an OpenAI-compatible server, and how it is sampled. What a leaf prover and a policy have in
    common."""

    base_url: str
    """E.g. `http://localhost:8000/v1`. No credentials in it."""
    model: str = Field(min_length=1)
    """As the server knows it."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key; None: the server asks for none."""
    temperature: float = Field(default=1.0, ge=0, le=10)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=4096, ge=1)
    """Most tokens of one reply; None: not sent, the server's own limit."""
    stop: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Stop sequences, besides those of the template."""
    seed: int | None = None
    """Sample `i` of a prompt asks for seed + i. None: the server's choice."""
    extra_body: dict[str, Any] = {}
    """Further fields of the request, for the server's own extensions (`top_k`, `chat_template_kwargs`, …)."""
    timeout_s: float = Field(default=600.0, gt=0)
    """Seconds that one request may take."""
    max_retries: int = Field(default=4, ge=0, le=100)
    """Repeats of a request after 408, 409, 429, 5xx, a timeout or a lost connection, with backoff or as `Retry-After`
    says (up to 120 s)."""
    max_in_flight: int = Field(default=16, ge=1)
    """Requests open at the same time."""
    max_requests_per_minute: float | None = Field(default=None, gt=0, le=1e6)
    """Repeats included, evenly over the minute; None: as many as `max_in_flight` lets through. For a server that
    answers 429 beyond some rate: waiting here costs no retries."""

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be an http or https URL, e.g. http://localhost:8000/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError(
                "must hold no credentials, query or fragment: name the key's environment variable in api_key_env"
            )
        return url.rstrip("/")

    @field_validator("extra_body")
    @classmethod
    def _no_field_of_ours(cls, body: dict[str, Any]) -> dict[str, Any]:
        ours = sorted(
            body.keys()
            & {"model", "messages", "prompt", "n", "seed", "stream", "stop", "temperature", "top_p", "max_tokens"}
        )
        if ours:
            raise ValueError(f"must not hold {', '.join(ours)}: the section's own keys, or fields that rlmath sets")
        try:
            json.dumps(body, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"must be JSON: {error}") from None
        return body


class OpenAILeaf(ModelServer):
    """`type = "openai"`: a model behind any OpenAI-compatible server. With temperature 0 the text is the same again and
    again: an error with more than one attempt a lemma."""

    type: Literal["openai"] = "openai"
    template: str = "generic"
    """The prompt format, by name (`rlmath.leaf.prompts.TEMPLATES`)."""
    header: str | None = None
    """Lean text before the goal's context in the prompt, e.g. `import Mathlib`; None: the template's own."""
    cache: Annotated[Path, Field(strict=False)] | None = None
    """SQLite file that keeps every attempt (`rlmath.leaf.cache`); None: none is kept."""
    weights: str | None = Field(default=None, min_length=1)
    """Names the weights (a revision, a hash). Given, it stands in the cache's key for `base_url` and `model`, so that
    servers can share attempts."""

    @field_validator("template")
    @classmethod
    def _known_template(cls, name: str) -> str:
        if name not in TEMPLATES:
            raise ValueError(f"{name!r} is not known: one of {', '.join(TEMPLATES)}")
        return name


LeafConfig = Annotated[TacticsLeaf | OpenAILeaf | RecordedLeaf, Field(discriminator="type")]
"""What `[leaf]` may be; `type` tells which."""


def check_attempts(config: TacticsLeaf | OpenAILeaf | RecordedLeaf, attempts_per_lemma: int) -> None:
    """Raise `InputError` when this prover cannot give that many different attempts: to be called once, before a run."""
    if isinstance(config, OpenAILeaf) and config.temperature == 0 and attempts_per_lemma > 1:
        raise InputError(
            "leaf.temperature",
            f"must be above 0 with {attempts_per_lemma} attempts a lemma: at 0 all of them are the same text "
            "(or set budgets.leaf_attempts_per_lemma to 1)",
        )


def make_prover(
    config: TacticsLeaf | OpenAILeaf | RecordedLeaf, *, recorded: Mapping[str, str | Sequence[str]] | None = None
) -> LeafProver:
    """The prover that `config` describes. `recorded` are the completion's own proof texts, for `RecordedLeaf` (None: it
    has none).

    An OpenAI prover holds connections and perhaps a cache file: make it once, share it, and `await prover.aclose()` at
    the end. Raises `InputError` (a missing environment variable, an unusable cache file).
    """
    match config:
        case TacticsLeaf():
            from rlmath.leaf.tactics import TacticsProver

            return TacticsProver() if config.scripts is None else TacticsProver(config.scripts)
        case RecordedLeaf():
            from rlmath.leaf.recorded import RecordedProver

            return RecordedProver(recorded or {})
        case OpenAILeaf():
            from rlmath.leaf.cache import AttemptCache, CachedProver
            from rlmath.leaf.openai import OpenAIProver

            prover = OpenAIProver(config)
            return prover if config.cache is None else CachedProver(prover, AttemptCache(config.cache))
