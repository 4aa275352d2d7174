"""The tactics ladder: a leaf prover with no model, whose attempt `i` is the `i`-th of a fixed list of tactic scripts.

Scripts know nothing of the statement, so they introduce and destruct without names or under names they bring
themselves, and use no lemma that a plain Lean 4 core has not. Each alternative of a `first` stands on its own: a lemma
or a tactic that a kernel lacks costs that alternative alone. Nested `by` blocks are avoided inside `first`: Lean
recovers from errors within them, and the alternative would count as a success.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from rlmath.errors import InputError
from rlmath.leaf.extract import is_unicode
from rlmath.leaf.protocol import LeafAttempt, LeafTask

_CLOSERS = "rfl | omega | (simp_all; done)"
_NAT_RING = "Nat.mul_add, Nat.add_mul, Nat.mul_comm, Nat.mul_assoc, Nat.mul_left_comm, Nat.pow_succ"
_INT_RING = "Int.mul_add, Int.add_mul, Int.mul_comm, Int.mul_assoc, Int.mul_left_comm"


@dataclass(frozen=True)
class Rung:
    """One script of the ladder."""

    name: str
    script: str
    reason: str
    """What it is for, and why it stands where it does."""


LADDER: tuple[Rung, ...] = (
    Rung(
        "direct",
        """\
first
  | decide
  | (intros; first | rfl | assumption | omega | (simp_all; done) | contradiction)""",
        "Most leaves of a good plan are a computation, a linear fact or what simp knows. `decide` first: `intros` "
        "would take a bounded `∀` away.",
    ),
    Rung(
        "algebra",
        f"""\
intros
subst_vars
first
  | (simp [{_NAT_RING}]; done)
  | (simp_all [{_NAT_RING}] <;> omega)
  | (simp_all [{_NAT_RING}, Nat.two_mul] <;> omega)
  | (simp_all [{_INT_RING}] <;> omega)
  | (simp_all [{_INT_RING}, Int.two_mul] <;> omega)""",
        "Products of variables, which omega takes for opaque: multiplied out and put in one order, they are linear. "
        "The commonest gap after `direct`.",
    ),
    Rung(
        "induction",
        f"""\
first
  | (intro n; induction n <;> intros <;> first | {_CLOSERS})
  | (intro m n; induction n <;> intros <;> first | {_CLOSERS})
  | (intro k m n; induction n <;> intros <;> first | {_CLOSERS})
  | (intro m n; revert m; induction n <;> intros <;> first | {_CLOSERS})""",
        "A recursive fact about the first, second or third variable; a fact about an enumeration, too.",
    ),
    Rung(
        "logic",
        """\
first
  | (intro p q r; by_cases p <;> by_cases q <;> by_cases r <;> simp_all; done)
  | (intro p q; by_cases p <;> by_cases q <;> simp_all; done)
  | (intro p; by_cases p <;> simp_all; done)
  | (intros; constructor <;> intros <;> first | assumption | omega | (simp_all; done))
  | (intros; apply Classical.byContradiction; intros; simp_all; done)""",
        "Truth tables over up to three propositions, a conjunction or equivalence by halves, proof by contradiction.",
    ),
    Rung(
        "witness",
        """\
intros
first
  | exact ⟨_, rfl⟩
  | (refine ⟨0, ?_⟩; first | decide | omega | (simp_all; done))
  | (refine ⟨1, ?_⟩; first | decide | omega | (simp_all; done))
  | (refine ⟨2, ?_⟩; first | decide | omega | (simp_all; done))
  | (refine ⟨3, ?_⟩; first | decide | omega | (simp_all; done))
  | (apply Exists.intro; assumption)""",
        "An existence whose witness is forced by unification, given, or small.",
    ),
    Rung(
        "chain",
        """\
intros
first
  | solve_by_elim
  | (constructor <;> solve_by_elim)""",
        "What follows from the hypotheses by applying them to one another.",
    ),
    Rung(
        "structure",
        f"""\
first
  | (intro n; induction n <;> constructor <;> assumption)
  | (intro n h; induction h <;> intros <;> first | assumption | {_CLOSERS} | (constructor <;> assumption))
  | (intro m n h; induction h <;> intros <;> first | assumption | {_CLOSERS} | (constructor <;> assumption))
  | (intro n h; cases h <;> intros <;> first | assumption | {_CLOSERS} | (constructor <;> assumption))""",
        "Facts about inductive predicates: built constructor by constructor, or by induction on a derivation.",
    ),
    Rung(
        "cases",
        f"""\
first
  | (intro m n; cases m <;> cases n <;> intros <;> first | {_CLOSERS})
  | (intro k m n; cases k <;> cases m <;> cases n <;> intros <;> first | {_CLOSERS})
  | (intros; split <;> first | {_CLOSERS})
  | (intros; funext; first | {_CLOSERS})""",
        "Several enumerations at once, an `if` or `match` in the goal, equality of functions: rare, and dear to fail.",
    ),
)
"""Most likely and cheapest first: the default budget reaches the first four. The order was chosen by the leaves each
rung adds on the goal bank (`tests/test_leaf_ladder.py`)."""


_SCRIPTS = tuple(rung.script for rung in LADDER)


class TacticsProver:
    """Attempt `i` is script `i`, whatever the statement."""

    def __init__(self, scripts: Sequence[str] = _SCRIPTS) -> None:
        """`scripts` in the order they are to be tried. Raises `InputError` for none or an empty one."""
        if not scripts:
            raise InputError("leaf.scripts", "must hold at least one tactic script")
        for number, script in enumerate(scripts):
            if not script.strip() or not is_unicode(script):
                raise InputError(f"leaf.scripts[{number}]", "must be tactics to stand after `by`")
        self._scripts = tuple(scripts)
        self._identity = f"tactics@{hashlib.sha256(json.dumps(self._scripts).encode()).hexdigest()[:8]}"

    @property
    def identity(self) -> str:
        """`tactics@` and a digest of the scripts in their order."""
        return self._identity

    @property
    def max_attempts(self) -> int:
        """How many scripts there are."""
        return len(self._scripts)

    async def attempts(self, task: LeafTask, indices: Sequence[int]) -> Sequence[LeafAttempt]:
        """The scripts with these indices."""
        return [self._attempt(index) for index in indices]

    def _attempt(self, index: int) -> LeafAttempt:
        if index >= len(self._scripts):
            return LeafAttempt(index, None, f"the ladder has {len(self._scripts)} scripts")
        return LeafAttempt(index, self._scripts[index])
