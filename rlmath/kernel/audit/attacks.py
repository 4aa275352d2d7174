"""Attacks that the audit of a freshly started image must stop before it may score anything.

A kernel whose audit lets one pass, or refuses an honest theorem, is not to be believed about any other: object layouts
belong to one Lean version, and a judge that accepts everything looks just like one that works. Each attack goes the
whole way, and must be stopped by the rule that is there for it; so a rule that stopped working shows even where
another still catches its attacks. The texts are elaborated with no gate before them, as if all gates had been passed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rlmath.errors import InputError, KernelUnavailable
from rlmath.kernel.audit.certify import ALLOWED, Auditor
from rlmath.kernel.audit.constants import CONSTRUCTOR, DEFINITION, INDUCTIVE, THEOREM, Constant
from rlmath.kernel.audit.forge import NIL, Writer
from rlmath.kernel.audit.tables import APP, BVAR, CONST, FORALL, LITERAL, SORT, SUCC, Tables
from rlmath.kernel.embedded.wire import Trial, encode_source
from rlmath.kernel.protocol import AuditRule, AuditVerdict, CheckResult, Source

ATTACK_TIMEOUT_S = 30.0
"""Generous: a loaded machine must not look like a broken kernel."""

GOAL: Final = "goal"


@dataclass(frozen=True)
class TextAttack:
    """A submission as source text. `rule` says what must stop it; None: it is honest and must be accepted."""

    name: str
    prop: str
    command: str
    rule: AuditRule | None
    context: str = ""
    """The author's."""
    own_context: str | None = None
    """What the submission's process elaborated in its place; None: the author's."""


@dataclass(frozen=True)
class ByteAttack:
    """A submission as exported bytes."""

    name: str
    build: Callable[[], bytes]
    rule: AuditRule | None
    prop: str


async def run_attacks(auditor: Auditor) -> None:
    """Raise `KernelUnavailable`, naming the attack, unless each is judged as it must be."""
    attacks: Sequence[TextAttack | ByteAttack] = (*TEXT_ATTACKS, *BYTE_ATTACKS)
    verdicts = await asyncio.gather(*(_verdict(auditor, attack) for attack in attacks))
    for attack, verdict in zip(attacks, verdicts, strict=True):
        if (verdict.rule, verdict.accepted) != (attack.rule, attack.rule is None):
            said = "accepted it" if verdict.accepted else f"stopped it by the rule {verdict.rule}: {verdict.reason}"
            wanted = "is honest" if attack.rule is None else f"must be stopped by the rule {attack.rule}"
            raise KernelUnavailable(
                f"the kernel failed the built-in attack `{attack.name}` and will not score: it {wanted}, "
                f"but the audit {said}"
            )


async def _verdict(auditor: Auditor, attack: TextAttack | ByteAttack) -> AuditVerdict:
    reference = reference_of(attack.prop, attack.context if isinstance(attack, TextAttack) else "")
    try:
        if isinstance(attack, TextAttack):
            source = Source(attack.command, attack.context if attack.own_context is None else attack.own_context)
            certificate = await auditor.certify(source, encode_source(source), reference, ATTACK_TIMEOUT_S)
            if certificate.audit is None:
                raise KernelUnavailable(
                    f"the built-in attack `{attack.name}` did not get as far as the audit, so nothing is known of it; "
                    f"will not score: {certificate.check}"
                )
            return certificate.audit
        check, wanted = await auditor.reference(reference, encode_source(reference), ATTACK_TIMEOUT_S)
        if wanted is None:
            raise KernelUnavailable(f"the reference of the built-in attack `{attack.name}` does not stand: {check}")
        return await auditor.judge(Trial(GOAL, ALLOWED, attack.build(), wanted), CheckResult())
    except InputError as error:
        raise KernelUnavailable(
            f"the reference of the built-in attack `{attack.name}` does not stand: {error}"
        ) from None


def reference_of(prop: str, context: str = "") -> Source:
    """The reference of an attack's goal."""
    command = f"theorem {GOAL} : {prop} := sorry"
    return Source(command, context, declaration=GOAL, reference=True)


class Forger:
    """Terms by name, for exports made by hand."""

    def __init__(self) -> None:
        self.tables = Tables()
        self.writer = Writer(self.tables)

    def const(self, name: str, *levels: int) -> int:
        """A constant."""
        return self.tables.expr((CONST, self.tables.name(name), *levels))

    def app(self, function: int, *arguments: int) -> int:
        """A function applied."""
        for argument in arguments:
            function = self.tables.expr((APP, function, argument))
        return function

    def theorem(self, name: str, type_: int, value: int) -> Constant:
        """A theorem without universe parameters."""
        return Constant(THEOREM, self.tables.name(name), (), type_, value)

    def proved(self, name: str = GOAL) -> Constant:
        """`theorem NAME : True := True.intro`."""
        return self.theorem(name, self.const("True"), self.const("True.intro"))

    def pair(self, constant: Constant) -> int:
        """An entry of the export, in the writer."""
        return self.writer.constructor(0, [self.writer.name(constant.name), self.writer.constant(constant)])

    def export(self, *constants: Constant) -> bytes:
        """The constants as a child would export them."""
        return self.writer.module(constants)


def honest() -> bytes:
    """`theorem goal : True := True.intro`, to show that what is made by hand can be accepted at all."""
    f = Forger()
    return f.export(f.proved())


def ill_typed() -> bytes:
    """A proof of another proposition."""
    f = Forger()
    return f.export(f.theorem(GOAL, f.const("False"), f.const("True.intro")))


def admitted() -> bytes:
    """`sorryAx False false`."""
    f = Forger()
    false = f.const("False")
    return f.export(f.theorem(GOAL, false, f.app(f.const("sorryAx", 0), false, f.const("Bool.false"))))


def in_a_circle() -> bytes:
    """Two theorems that prove one another."""
    f = Forger()
    false = f.const("False")
    return f.export(f.theorem(GOAL, false, f.const("other")), f.theorem("other", false, f.const(GOAL)))


def twice() -> bytes:
    """One name for two constants."""
    f = Forger()
    return f.export(f.proved(), f.theorem(GOAL, f.const("False"), f.const("True.intro")))


def own_addition() -> bytes:
    """`Nat.add`, which the kernel computes by itself, declared anew."""
    f = Forger()
    nat = f.const("Nat")
    type_ = f.tables.expr((FORALL, nat, nat))
    return f.export(f.proved(), Constant(DEFINITION, f.tables.name("Nat.add"), (), type_, f.const("Nat.succ")))


def negative_inductive() -> bytes:
    """`inductive Bad | mk : (Bad → False) → Bad`, from which `False` follows."""
    f = Forger()
    bad, make = f.tables.name("Bad"), f.tables.name("Bad.mk")
    type_ = f.tables.expr((SORT, f.tables.levels.number((SUCC, 0))))
    itself = f.const("Bad")
    argument = f.tables.expr((FORALL, itself, f.const("False")))
    return f.export(
        f.proved(),
        Constant(INDUCTIVE, bad, (), type_, block=(bad,), constructors=(make,)),
        Constant(CONSTRUCTOR, make, (), f.tables.expr((FORALL, argument, itself)), belongs_to=bad),
    )


def forged_numeral() -> bytes:
    """`def one : Nat := 1` with the number in a big number's clothes, which Lean's kernel holds to be other than 1."""
    f = Forger()
    w = f.writer
    name = w.name(f.tables.name("one"))
    literal = w.constructor(LITERAL, [w.constructor(0, [w.big(1)])], b"\0" * 8)
    signature = w.constructor(0, [name, NIL, w.expr(f.const("Nat"))])
    info = w.constructor(DEFINITION, [w.constructor(0, [signature, literal, w.natural(1), w.list([name])], b"\1")])
    return w.finish([w.constructor(0, [name, info]), f.pair(f.proved())])


def inside_itself() -> bytes:
    """A proof that is a part of itself."""
    f = Forger()
    w = f.writer
    function = w.expr(f.const("id"))
    loop = w.constructor(APP, [function, len(w.data)], b"\0" * 8)
    name = w.name(f.tables.name("other"))
    signature = w.constructor(0, [name, NIL, w.expr(f.const("True"))])
    info = w.constructor(THEOREM, [w.constructor(0, [signature, loop, w.list([name])])])
    return w.finish([w.constructor(0, [name, info]), f.pair(f.proved())])


def cut_off() -> bytes:
    """An honest export without its end."""
    return honest()[:-8]


def loose_variable() -> bytes:
    """A proof that is a variable of no binder."""
    f = Forger()
    return f.export(f.theorem(GOAL, f.const("True"), f.tables.expr((BVAR, 0))))


ONE_IS_TWO: Final = "1 = 2"

TEXT_ATTACKS: Final = (
    TextAttack(
        "an honest theorem",
        "∀ p q : Prop, p ∧ q → q ∧ p",
        "theorem goal : ∀ p q : Prop, p ∧ q → q ∧ p := fun _ _ h => ⟨h.2, h.1⟩",
        None,
    ),
    TextAttack(
        "the kernel's check switched off",
        ONE_IS_TWO,
        "theorem goal : 1 = 2 := by set_option debug.skipKernelTC true in decide +kernel",
        "kernel",
    ),
    TextAttack(
        "a sorry kept quiet", ONE_IS_TWO, "set_option warn.sorry false in theorem goal : 1 = 2 := sorry", "axioms"
    ),
    TextAttack("an axiom added", ONE_IS_TWO, "axiom cheat : 1 = 2\ntheorem goal : 1 = 2 := cheat", "axioms"),
    TextAttack("the goal as an axiom", ONE_IS_TWO, "axiom goal : 1 = 2", "statement"),
    TextAttack("another statement", ONE_IS_TWO, "theorem goal : 1 = 1 := rfl", "statement"),
    TextAttack("a private goal", "True", "private theorem goal : True := trivial", "statement"),
    TextAttack(
        "another universe",
        "∀ (α : Type 1) (x : α), x = x",
        "theorem goal : ∀ (α : Type) (x : α), x = x := fun _ _ => rfl",
        "statement",
    ),
    TextAttack(
        "a word of the statement given another meaning",
        "one = 2",
        "theorem goal : one = 2 := rfl",
        "statement",
        context="def one : Nat := 1",
        own_context="def one : Nat := 2",
    ),
)

BYTE_ATTACKS: Final = (
    ByteAttack("an honest export", honest, None, "True"),
    ByteAttack("an ill-typed proof", ill_typed, "kernel", "False"),
    ByteAttack("an admission", admitted, "axioms", "False"),
    ByteAttack("theorems in a circle", in_a_circle, "declarations", "False"),
    ByteAttack("a name declared twice", twice, "artifact", "True"),
    ByteAttack("Nat.add declared anew", own_addition, "declarations", "True"),
    ByteAttack("a negative inductive type", negative_inductive, "kernel", "True"),
    ByteAttack("a forged numeral", forged_numeral, "artifact", "True"),
    ByteAttack("a term inside itself", inside_itself, "artifact", "True"),
    ByteAttack("a truncated export", cut_off, "artifact", "True"),
    ByteAttack("a loose variable", loose_variable, "artifact", "True"),
)
"""What is harmless about each is true and proved, so that nothing but the attack can be what stops it."""
