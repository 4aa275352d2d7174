"""What a request is made of: a wrong type is one clear error, and nothing is sent."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.api import ScoreRequest
from cluster.client import ClusterClient
from cluster.local import LocalCluster
from rlmath.errors import InputError
from rlmath.types import Budgets, GoalSpec

GOAL = GoalSpec("g", "True")
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"goal": "True"}, "goal: must be a GoalSpec, as GoalSpec"),
    ({"completion": None}, "completion: must be the policy's text, got NoneType"),
    ({"budgets": {"max_lemmas": 2}}, "budgets: must be a Budgets, as Budgets"),
    ({"leaf": "tactics"}, "leaf: must be a TacticsLeaf, OpenAILeaf or RecordedLeaf, got str"),
    ({"recorded": ["rfl"]}, "recorded: must be a mapping of lemma names to proof texts, got list"),
    ({"recorded": {"h1": 3}}, "recorded: 'h1' must be a lemma's name with a proof text"),
    ({"recorded": {"h1": ["rfl", None]}}, "recorded: 'h1' must be a lemma's name with a proof text"),
    ({"request_id": 3}, "request_id: must be a string, got int"),
]


@pytest.mark.parametrize(("parts", "said"), WRONG)
def test_a_wrong_type_is_told_by_the_name_of_its_field(parts: dict[str, Any], said: str) -> None:
    whole = {"request_id": "r", "goal": GOAL, "completion": "x", "budgets": Budgets(), **parts}
    with pytest.raises(InputError) as caught:
        ScoreRequest(**whole)
    assert str(caught.value).startswith(said)
    with ClusterClient("http://127.0.0.1:9") as client, pytest.raises(InputError) as caught:  # nobody is asked
        client.score(whole.pop("goal"), whole.pop("completion"), **whole)
    assert str(caught.value).startswith(said)


def test_a_clients_own_mistakes_are_told() -> None:
    for url in ("nowhere", "ftp://x", None, 5):
        with pytest.raises(InputError, match="url: must be http"):
            ClusterClient(url)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="without /v1"):
        ClusterClient("http://127.0.0.1:9/v1/")
    client = ClusterClient("http://127.0.0.1:9")
    with pytest.raises(InputError, match="request: must be a ScoreRequest, got tuple"):
        list(client.score_many([(GOAL, "x")]))  # type: ignore[list-item]
    client.close()
    with pytest.raises(InputError, match="client: is closed"):
        client.score(GOAL, "x")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({"slots": "2"}, "slots"), ({"slots": 2.5}, "slots"), ({"slots": 0}, "slots"), ({"address": 5}, "address")],
)
def test_a_clusters_own_arguments(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        LocalCluster(**arguments)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"prop": " "}, "goal.prop: must not be empty"),
        ({"prop": 3}, "goal.prop: must be a string, got int"),
        ({"id": ""}, "goal.id: must not be empty"),
        ({"name": None}, "goal.name: must be a string, got NoneType"),
        ({"context": ["x"]}, "goal.context: must be a string, got list"),
    ],
)
def test_a_goal_is_four_texts(parts: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        GoalSpec(**{"id": "g", "prop": "True", **parts})
    assert str(caught.value) == said
