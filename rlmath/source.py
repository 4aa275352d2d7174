"""Every line of Lean that rlmath generates, and nothing else does.

Each function takes parsed, trusted-or-not text and returns a `Source` for the kernel; nothing here talks to one.

How untrusted text is placed, in every source alike:

- Each part stands in parentheses of its own, and the closing one starts a line of its own, so that a trailing line
  comment ends with its part and what was checked alone is read the same way when it is composed.
- Each non-blank line of a part gets the same four spaces in front and no other change: blank lines, deeper lines
  and a first line that holds `by` stay as they are. (So a string literal that spans lines has four more spaces on
  its later lines, in every check alike.)
- No lemma name is in scope where a proposition is elaborated: the assembly is a function of type `(P1) → … →
  (PROP)`. A lemma called `False` changes the meaning of the assembly, which its author wrote, and never of a
  statement.
- Check theorems carry a name that the policy cannot guess (`tag` comes from the caller) in the goal's own
  namespace, so that names resolve as they will in the composed theorem.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rlmath.kernel.protocol import Message, Part, Source
from rlmath.types import GoalSpec, Lemma, Plan

INDENT = "    "
GOAL = "goal"
"""Label of the goal's own proposition."""
ASSEMBLY = "assembly"
"""Label of the plan's assembly."""
THEOREM = "theorem"
"""Label of everything that is ours: a message there has no place in the policy's text."""

HEARTBEATS = 200_000
"""Lean's own `maxHeartbeats` for one declaration."""

_HEARTBEAT_LIMIT = re.compile(r"^set_option maxHeartbeats (\d+)[ \t]*(?:--.*)?$", re.MULTILINE)
"""A limit for all that follows: one with `in` is for a single declaration."""
RECURSION = 1_024
"""Twice Lean's own `maxRecDepth`."""

ProofForm = Literal["tactics", "term"]


def lemma_label(name: str) -> str:
    """Label of a lemma's proposition."""
    return f"lemma {name}"


def proof_label(name: str) -> str:
    """Label of a leaf proof of a lemma."""
    return f"proof of {name}"


def goal_check(goal: GoalSpec) -> Source:
    """`theorem NAME : PROP := sorry` under the goal's own name: its context, name and proposition must elaborate.

    It is the audit's reference too. The axioms line is asked for, so that a context that leaves a namespace open shows
    itself.
    """
    source = _source(
        goal, goal.name, ["theorem ", goal.name, " :", _term(GOAL, goal.prop), "\n  := sorry"], axioms=True
    )
    return replace(source, reference=True)


def statement_check(goal: GoalSpec, lemma: Lemma, tag: str) -> Source:
    """`theorem … : (PROP) := sorry`: the lemma's proposition must elaborate, closed, with exactly one sorry."""
    name = check_name(goal, tag)
    return _source(goal, name, ["theorem ", name, " : ", *_statement(lemma), " := sorry"])


def plan_check(goal: GoalSpec, plan: Plan, tag: str) -> Source:
    """The assembly, granting the lemmas: a function from proofs of the lemmas to a proof of the goal.

    The function stands in a body, as in the composed theorem, and its lemmas are granted by a `False` that it cannot
    see. As hypotheses of the check theorem itself they would be more rigid than they will be: `∀ α : Type _, …`
    would be granted in one universe that nothing else can be in.
    """
    name = check_name(goal, tag)
    target = ["False → (\n", _indented(goal.prop), "\n  )"]
    grant = ["fun use granted => use", *(" granted.elim" for _ in plan.lemmas)]
    body = ["(", *grant, " : (", *_function_type(goal, plan), ") → ", *target, ") (", *_function(plan), ")"]
    source = _source(goal, name, ["theorem ", name, " : ", *target, " :=\n  ", *body], axioms=True)
    return _for_many_parts(source, plan)


def leaf_check(goal: GoalSpec, lemma: Lemma, proof: str, tag: str, form: ProofForm = "tactics") -> Source:
    """One leaf proof of one lemma, alone. `form` says whether the text is a tactic block (without `by`) or a term."""
    name = check_name(goal, tag)
    return _source(
        goal, name, ["theorem ", name, " : ", *_statement(lemma), " := ", *_proof(lemma, proof, form)], axioms=True
    )


def compose(goal: GoalSpec, plan: Plan, proofs: Mapping[str, tuple[str, ProofForm]]) -> Source:
    """The composed theorem, under the goal's own name: the plan check's function applied to the leaf proofs.

    Its axioms are the audit's business (`Kernel.certify`), and not asked for here. `proofs` has the accepted text and
    its form for each lemma name; with zero lemmas the assembly is the whole proof.
    """
    header = ["theorem ", goal.name, " :\n", _indented(goal.prop), "\n  := "]
    if not plan.lemmas:
        return _source(goal, goal.name, [*header, *_assembly(plan)])
    arguments: list[str | _Untrusted] = []
    for lemma in plan.lemmas:
        text, form = proofs[lemma.name]
        arguments += [" ", *_proof(lemma, text, form)]
    body = ["(", *_function(plan), " : ", *_function_type(goal, plan), ")", *arguments]
    return _for_many_parts(_source(goal, goal.name, [*header, *body]), plan)


def plain(text: str, context: str = "") -> Source:
    """A trusted file as it stands, with no gate: for `rlmath check FILE.lean`, never for a policy's text."""
    return Source(command=text, context=context)


def check_name(goal: GoalSpec, tag: str) -> str:
    """The full name of a check theorem: `tag` in the goal's own namespace."""
    namespace, _ = split_name(goal.name)
    return f"{namespace}check_{tag}"


def split_name(name: str) -> tuple[str, str]:
    """A Lean name as its namespace, with the final dot, and its last component; dots within `«»` do not count."""
    quoted = False
    cut = 0
    for position, character in enumerate(name):
        if character == "«":
            quoted = True
        elif character == "»":
            quoted = False
        elif character == "." and not quoted:
            cut = position + 1
    return name[:cut], name[cut:]


@dataclass(frozen=True)
class Location:
    """A place in the policy's text: `label` names the text, line and column are 1-based.

    With the label `theorem` the place is in our template, and line and column are those of the command.
    """

    label: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.label} {self.line}:{self.column}"


def locate(source: Source, message: Message) -> Location:
    """Where in the policy's text Lean's message points."""
    return place_of(source, message.line, message.column)


def place_of(source: Source, line: int, column: int) -> Location:
    """Where in the policy's text a position of the command lies (line 1-based, column 0-based, as Lean gives them)."""
    for part in source.parts:
        # The `by` of a tactic block stands on the line before the policy's first one.
        opening = part.line - 1 if part.text.startswith("by\n") else part.line
        if opening <= line < part.line + part.lines:
            if line < part.line:
                return Location(part.label, 1, 1)
            return Location(part.label, line - part.line + 1, max(column - part.column, 0) + 1)
    return Location(THEOREM, line, column + 1)


@dataclass(frozen=True)
class _Untrusted:
    """A part to be placed: its label and the policy's lines."""

    label: str
    text: str
    form: ProofForm


def _lines(text: str) -> list[str]:
    """The lines of untrusted text: `\\n` alone ends a line, and the CR of a CRLF is not part of it."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def _indented(text: str) -> str:
    return "\n".join(INDENT + line if line.strip(" ") else "" for line in _lines(text))


def _term(label: str, text: str) -> _Untrusted:
    return _Untrusted(label, text, "term")


def _statement(lemma: Lemma) -> Sequence[str | _Untrusted]:
    return "(", _term(lemma_label(lemma.name), lemma.prop), "\n  )"


def _assembly(plan: Plan) -> Sequence[str | _Untrusted]:
    return "(", _Untrusted(ASSEMBLY, plan.assembly, "tactics"), "\n  )"


def _proof(lemma: Lemma, text: str, form: ProofForm) -> Sequence[str | _Untrusted]:
    return "(", _Untrusted(proof_label(lemma.name), text, form), "\n  )"


def _function_type(goal: GoalSpec, plan: Plan) -> Sequence[str | _Untrusted]:
    pieces: list[str | _Untrusted] = []
    for lemma in plan.lemmas:
        pieces += [*_statement(lemma), " → "]
    return *pieces, "(\n", _indented(goal.prop), "\n  )"


def _function(plan: Plan) -> Sequence[str | _Untrusted]:
    return "fun", *(f" {lemma.name}" for lemma in plan.lemmas), " => ", *_assembly(plan)


def _for_many_parts(source: Source, plan: Plan) -> Source:
    """What was within Lean's limits part by part must not fail for being put together. Lean counts heartbeats for a
    whole declaration, so one with these parts may use the limit once for each (Lean's own, or the one that the context
    sets), and it may go deeper by what stands around a part.
    """
    own = _HEARTBEAT_LIMIT.findall(source.context)
    limits = [
        f"set_option maxHeartbeats {(int(own[-1]) if own else HEARTBEATS) * (len(plan.lemmas) + 1)}",
        *([] if "maxRecDepth" in source.context else [f"set_option maxRecDepth {RECURSION}"]),
    ]
    return replace(source, context="\n".join([source.context, *limits] if source.context else limits))


def _source(goal: GoalSpec, declaration: str, pieces: Iterable[str | _Untrusted], *, axioms: bool = False) -> Source:
    """Join the pieces into command and template, noting where each part came to stand."""
    command = ""
    template = ""
    parts: list[Part] = []
    for piece in pieces:
        if isinstance(piece, str):
            command += piece
            template += piece
            continue
        # No lemma name may start with an underscore, so no hole can be one.
        hole = f"_hole_{len(parts)}"
        body = _indented(piece.text)
        # The kernel's parser reads the text alone: it must see each of the policy's lines in the column it has here.
        text = f"by\n{body}" if piece.form == "tactics" else f"\n{body}"
        parts.append(
            Part(
                hole=hole,
                text=text,
                label=piece.label,
                line=command.count("\n") + 2,
                column=len(INDENT),
                lines=body.count("\n") + 1,
                declares=piece.label == ASSEMBLY,
            )
        )
        command += text
        template += hole
    return Source(
        command=command,
        context=goal.context,
        template=template,
        parts=tuple(parts),
        declaration=declaration,
        axioms=axioms,
    )
