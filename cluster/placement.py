"""Where workers are to live: beside every node's cores, or wherever Ray finds (or starts) a node with room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cluster.autoscale import Autoscale
from cluster.kinds import Kinds, WorkerKind

LEAN = "lean"
"""Ray resource: how many checks a node can make at once."""


@dataclass(frozen=True)
class Placement:
    """One worker."""

    node_id: str | None
    """None: on any node that has as many `lean` left as it has slots, which it then takes up."""
    slots: int
    kind: WorkerKind


@dataclass(frozen=True)
class WorkerPlan:
    """All workers of a cluster."""

    placements: tuple[Placement, ...] = ()
    """Those that are always there."""
    scaled: tuple[tuple[WorkerKind, Autoscale], ...] = ()
    """Kinds of which there are as many as are needed."""
    kinds: Kinds = field(default_factory=Kinds)
    """All that requests may ask for."""


def on_nodes(nodes: Iterable[Mapping[str, Any]], kinds: Kinds, slots: int | None) -> WorkerPlan:
    """A worker of each kind on every node that is there. `nodes`: as `ray.nodes()` has them. `slots`: of each; None:
    the node's `lean`, or else its cores.
    """
    placements = []
    for node in nodes:
        room = node["Resources"].get(LEAN) or node["Resources"].get("CPU", 0)
        if node["Alive"] and room >= 1:
            for kind in kinds.all():
                placements.append(Placement(node["NodeID"], kind.memory.slots or slots or int(room), kind))
    return WorkerPlan(tuple(placements), kinds=kinds)


def scaled(kinds: Kinds, bounds: Autoscale) -> WorkerPlan:
    """As many workers of each kind as are needed. Of the larger memory classes none is kept warm."""
    smallest = {kinds.choose(kind.kernel.name)[0].environment for kind in kinds.all()}
    cold = Autoscale(bounds.worker_slots, bounds.max_workers, 0, bounds.idle_s)
    return WorkerPlan(
        scaled=tuple((k, bounds if k.environment in smallest else cold) for k in kinds.all()), kinds=kinds
    )
