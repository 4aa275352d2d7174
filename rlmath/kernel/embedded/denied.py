"""The syntax nodes that no plan and no proof may hold, by Lean's own exact kind names, with the reason for each.

The list is for Lean 4.35.0 and was made by reading through every node kind its parser knows (1,594 with our prelude).
What a node cannot do needs no denying: commands cannot occur inside a term, and the gate's tree comparison keeps them
from occurring after it.

Legal on purpose, since the kernel checks what comes of them: `open … in`, `let rec` without attributes in an assembly,
search
tactics (`exact?`, `apply?`, `rw?`, `simp?`, `show_term`; where they give up they leave a `sorry`, which is reported),
`decide +kernel`, `unfold`, `classical`, `first_par`, quotations (a value like any other).
"""

from __future__ import annotations

from typing import Final

OPTION = "an option can switch off the kernel's check or hide a message"
ATTRIBUTE = "an attribute changes how other text is compiled or elaborated (`extern` calls native code)"
HOLE = "leaves the goal unproved"
NATIVE = "trusts compiled code instead of the kernel"
METAPROGRAM = "runs a program inside the elaborator"
UNSAFE = "escapes what the kernel checks"
OUTSIDE = "reaches out of the process: files, network, other programs"
NOISE = "prints, pauses or panics, and proves nothing"
DECLARES = "declares more than the one theorem, or takes on another declaration's name"
AUXILIARY = (
    "declares a function under the theorem's name, which another part may declare too: only the assembly may; "
    "prove it by induction, or state it in a lemma"
)

DENIED: Final[dict[str, str]] = {
    "Lean.Parser.Command.set_option": OPTION,
    "Lean.Parser.Term.set_option": OPTION,
    "Lean.Parser.Tactic.set_option": OPTION,
    "Lean.Parser.Term.attributes": ATTRIBUTE,
    "Lean.Parser.Term.attrInstance": ATTRIBUTE,
    "Lean.Parser.Command.attribute": ATTRIBUTE,
    "Lean.Parser.Term.sorry": HOLE,
    "Lean.Parser.Tactic.tacticSorry": HOLE,
    "Lean.Parser.Tactic.tacticAdmit": HOLE,
    "Lean.Parser.Tactic.tacticStop_": HOLE,
    "Lean.Parser.Tactic.mstop": HOLE,
    "Lean.Parser.Tactic.mstopMacro": HOLE,
    "Lean.Parser.Term.omission": HOLE,
    "Lean.Parser.Tactic.nativeDecide": NATIVE,
    "Lean.Parser.Tactic.bvDecide": NATIVE,
    "Lean.Parser.Tactic.bvCheck": NATIVE,
    "Lean.Parser.Tactic.bvTrace": NATIVE,
    "Lean.Parser.Tactic.runTac": METAPROGRAM,
    "Lean.byElab": METAPROGRAM,
    "Lean.Parser.Term.elabToSyntax": METAPROGRAM,
    "Lean.Parser.Term.leading_parser": METAPROGRAM,
    "Lean.Parser.Term.trailing_parser": METAPROGRAM,
    "Lean.Parser.Command.eval": METAPROGRAM,
    "Lean.Parser.Command.evalBang": METAPROGRAM,
    "Lean.runCmd": METAPROGRAM,
    "Lean.runElab": METAPROGRAM,
    "Lean.runMeta": METAPROGRAM,
    "Lean.Parser.Term.unsafe": UNSAFE,
    "Lean.Parser.Command.unsafe": UNSAFE,
    "Lean.includeStr": OUTSIDE,
    "Lean.Parser.Term.idbg": OUTSIDE,
    "Lean.Parser.Term.doIdbg": OUTSIDE,
    "Lean.Parser.Term.dbgTrace": NOISE,
    "Lean.Parser.Term.doDbgTrace": NOISE,
    "Lean.Parser.Tactic.dbgTrace": NOISE,
    "Lean.Parser.Term.debugAssert": NOISE,
    "Lean.Parser.Term.doDebugAssert": NOISE,
    "Lean.Parser.Tactic.traceMessage": NOISE,
    "Lean.Parser.Tactic.traceState": NOISE,
    "Lean.Parser.Tactic.Conv.convTrace_state": NOISE,
    "Lean.termMacro.trace[_]_": NOISE,
    "termPrintln!__": NOISE,
    "Lean.Parser.Tactic.sleep": NOISE,
    "Lean.Parser.Term.panic": NOISE,
    "Lean.Parser.Tactic.as_aux_lemma": DECLARES,
    "Lean.Parser.Term.withDeclName": DECLARES,
    "Lean.Parser.Term.privateDecl": DECLARES,
    "Lean.Parser.Term.whereDecls": DECLARES,
    "Lean.Parser.Term.whereFinally": DECLARES,
    "Lean.Parser.Command.declaration": DECLARES,
    "plausibleSyntax": HOLE,
    "Mathlib.Meta.eval_expr": METAPROGRAM,
    "Mathlib.Util.includeStr": OUTSIDE,
}
"""Node kind → why it is denied. The last three are of Plausible and Mathlib, which our prelude does not have."""

DENIED_ELSEWHERE: Final[dict[str, str]] = {
    "Lean.Parser.Term.letrec": AUXILIARY,
    "Lean.Parser.Tactic.letrec": AUXILIARY,
}
"""Denied in parts that may not declare anything (`Part.declares`)."""

DECIDE: Final = "Lean.Parser.Tactic.decide"
NATIVE_OPTION: Final = "native"
"""`decide +native` is `native_decide`: an option of that name is denied inside a `decide`."""
