"""Which goals a kernel has already accepted, so that an episode need not ask again."""

from __future__ import annotations

from collections import OrderedDict

from rlmath.types import GoalSpec, KernelIdentity


class GoalsSeen:
    """A bounded memory of goals whose context, name and proposition a kernel of this identity has elaborated.

    A scorer keeps one beside its kernel and passes it to each episode. Only what passed is remembered.
    """

    def __init__(self, capacity: int = 10_000) -> None:
        self._capacity = capacity
        self._seen: OrderedDict[tuple[KernelIdentity, str, str, str], None] = OrderedDict()

    def has(self, kernel: KernelIdentity, goal: GoalSpec) -> bool:
        """Was this goal accepted by this kernel?"""
        return (kernel, goal.name, goal.prop, goal.context) in self._seen

    def add(self, kernel: KernelIdentity, goal: GoalSpec) -> None:
        """Remember that it was; the oldest is forgotten first."""
        self._seen[(kernel, goal.name, goal.prop, goal.context)] = None
        if len(self._seen) > self._capacity:
            self._seen.popitem(last=False)
