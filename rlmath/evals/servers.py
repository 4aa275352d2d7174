"""Whether the model servers of a run answer at all, asked before anything is started for it."""

from __future__ import annotations

from rlmath.errors import InputError
from rlmath.evals.config import EvalConfig
from rlmath.leaf.config import ModelServer, OpenAILeaf

ANSWER_S = 10.0
"""For a server to answer with anything."""


def check_servers(config: EvalConfig) -> None:
    """Raises `InputError` naming the key when a server that this machine is to talk to cannot be reached.

    Whatever HTTP status comes back is an answer: what it means is told when the first sample is asked for. The leaf
    prover of a cluster elsewhere is called from there, and not looked at.
    """
    if config.policy is not None:
        _check(config.policy, "policy")
    if isinstance(config.leaf, OpenAILeaf) and config.cluster.address is None:
        _check(config.leaf, "leaf")


def _check(server: ModelServer, section: str) -> None:
    import httpx

    try:
        httpx.get(f"{server.base_url.rstrip('/')}/models", timeout=ANSWER_S)
    except httpx.TransportError as error:
        raise InputError(
            f"{section}.base_url",
            f"{server.base_url} does not answer ({error or type(error).__name__}): start the server, or mend the URL",
        ) from None
