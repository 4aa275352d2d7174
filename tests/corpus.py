"""The soundness corpus (data/corpus.jsonl): what a scorer of untrusted plans must refuse, and what it must not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from rlmath.types import GoalSpec

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Case:
    """One completion with the statuses that are right for it."""

    id: str
    goal: GoalSpec
    completion: str
    leaf: dict[str, str]
    """Recorded proofs by lemma name, as untrusted as the plan."""
    kind: str
    """Its class of attack, or `honest`."""
    expect: frozenset[str]
    must_not_be: str | None
    """A status that would be a disaster, or None."""
    after: tuple[str, ...]
    """Cases to be scored first, on the same scorer."""
    word_list: bool
    """Whether a plain list of banned words catches it (or, for an honest case, hits it by mistake)."""


def load_cases() -> dict[str, Case]:
    """All cases by id, with `expand` carried out."""
    cases = {}
    for line in (DATA / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        completion = row["completion"]
        if expand := row.get("expand"):
            filling = "".join(expand["unit"].replace("{i}", str(i)) for i in range(expand["count"]))
            completion = completion.replace(expand["marker"], filling)
        expect = row["expect"]
        cases[row["id"]] = Case(
            id=row["id"],
            goal=GoalSpec(**row["goal"]),
            completion=completion,
            leaf=row["leaf"],
            kind=row["class"],
            must_not_be=row["must_not_be"],
            after=tuple(row.get("after", ())),
            expect=frozenset([expect] if isinstance(expect, str) else expect),
            word_list=row["observed"].get("caught_by", {}).get("seed_word_list", False),
        )
    return cases
