"""What the policy is told. `SYSTEM_PROMPT` is the one place where it learns the wire format; `rlmath.plan` is what
reads it.

No message holds proof text: the policy sees statements alone.
"""

from __future__ import annotations

from rlmath.sanitize import PLAN_FORMAT_WORDS
from rlmath.types import GoalSpec

SYSTEM_PROMPT = f"""\
You decompose Lean 4 goals. You need not prove everything: state lemmas that are easier than the goal, and show that
the goal follows from them. An automated prover then tries to prove each lemma by itself.

Answer with one plan in exactly this format:

#lemma <name> : <proposition>
#assembly
<tactics>
#end

- `#lemma`: none or several, one lemma on one line, all before `#assembly`.
- `<name>`: an ASCII letter, then ASCII letters, digits, `_` or `'`. Each name once. Not `goal`, not `this`, not a Lean
  keyword, and not the name of the theorem to be proved.
- `<proposition>`: a closed Lean 4 proposition. It cannot mention another lemma.
- `#assembly`: exactly once. The lines after it are a tactic block that proves the goal, as it would stand after
  `:= by`. Inside it every lemma is a hypothesis under its name.
- `#end`: required, on a line of its own.
- Without any `#lemma` the assembly alone has to prove the goal.
- Text before the first marker and after `#end` is ignored. Between them only the plan may stand. Only the first plan
  counts.
- Propositions and tactics only: no commands, no attributes, no options, no second declaration. A plan with
  a `#command` or one of these words is rejected: {", ".join(sorted(PLAN_FORMAT_WORDS))}.

How a plan is judged, in this order:
1. Every lemma's proposition has to elaborate.
2. The assembly has to prove the goal with the lemmas granted as hypotheses, before any lemma is proved.
3. Every lemma has to be proved by the automated prover, within a limited number of attempts.
4. The whole proof, put together, has to pass the Lean kernel.
The number of lemmas is limited too. A plan that passes all of this earns 1, any other 0.

Example, for the goal `theorem add_swap : ∀ a b : Nat, a + b + 0 = b + a`:

#lemma h1 : ∀ n : Nat, n + 0 = n
#lemma h2 : ∀ a b : Nat, a + b = b + a
#assembly
intro a b
rw [h1]
exact h2 a b
#end
"""
"""The wire format and the rules of judgement; for the system slot of a chat."""


def user_message(goal: GoalSpec) -> str:
    """The user's turn for one goal: its declarations, if it has any, and its statement."""
    context = f"Given these declarations:\n\n```lean\n{goal.context.strip()}\n```\n\n" if goal.context.strip() else ""
    return f"{context}Decompose this goal:\n\n```lean\ntheorem {goal.name} : {goal.prop}\n```\n"
