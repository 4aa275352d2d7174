"""The recorded leaf prover: proof texts written beforehand, by the lemma's name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from rlmath.errors import InputError
from rlmath.leaf.extract import is_unicode
from rlmath.leaf.protocol import LeafAttempt, LeafTask


class RecordedProver:
    """Attempt `i` of a lemma is the `i`-th text recorded under its name; a single string is attempt 0.

    Texts are handed on exactly as they stand, tactics or a term: they are as untrusted as the completion they came
    with, and nothing of them may be mended before it is judged. A lemma or an index that nothing was recorded for is an
    attempt without a proof.
    """

    def __init__(self, leaf: Mapping[str, str | Sequence[str]]) -> None:
        self._texts = {name: _texts(name, value) for name, value in leaf.items()}
        canonical = json.dumps(self._texts, sort_keys=True)
        self._identity = f"recorded@{hashlib.sha256(canonical.encode()).hexdigest()[:8]}"

    @property
    def identity(self) -> str:
        """`recorded@` and a digest of all texts."""
        return self._identity

    @property
    def max_attempts(self) -> int:
        """The longest sequence of texts of any lemma, at least 1."""
        return max((len(texts) for texts in self._texts.values()), default=1) or 1

    async def attempts(self, task: LeafTask, indices: Sequence[int]) -> Sequence[LeafAttempt]:
        """The recorded texts with these indices."""
        return [self._attempt(task.name, index) for index in indices]

    def _attempt(self, name: str, index: int) -> LeafAttempt:
        texts = self._texts.get(name)
        if texts is None:
            return LeafAttempt(index, None, f"no proof of {name} is recorded")
        if index >= len(texts):
            return LeafAttempt(index, None, f"no proof of {name} is recorded for attempt {index}")
        if not is_unicode(texts[index]):
            return LeafAttempt(index, None, f"the recorded proof of {name} is not valid Unicode")
        return LeafAttempt(index, texts[index])


def _texts(name: object, value: object) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(name, str) or not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"leaf.{name}", f"must be a proof text or a list of proof texts, got {type(value).__name__}")
    return list(texts)
