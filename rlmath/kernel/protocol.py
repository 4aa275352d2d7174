"""What a Lean kernel is to the pipeline: a thing that checks one `Source` and says what Lean said.

The kernel reports; it never judges. Whether a sorry, a warning or a timeout matters is the caller's rule
(`rlmath.episode`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from rlmath.types import KernelIdentity


@dataclass(frozen=True)
class Part:
    """A piece of untrusted text inside a `Source`: it must parse, alone, as one `term` up to its end."""

    hole: str
    """The identifier that stands for it in the template."""
    text: str
    """Exactly as it stands in the command (for a tactic block: `by`, newline, indented lines)."""
    label: str
    """How people know it: `assembly`, `lemma h1`, `proof of h1`, `goal`."""
    line: int
    """Line of the command (1-based) on which the policy's own text begins."""
    column: int
    """Column (0-based, in code points) that the policy's column 0 has in the command, on every line of the part."""
    lines: int = 1
    """How many lines the policy's text has."""
    declares: bool = False
    """Whether it may declare auxiliary functions (`let rec`). They get the theorem's name in front, so two parts that
    declare one would get in each other's way only when they are put together."""


@dataclass(frozen=True)
class Source:
    """Lean text to check, with what is needed to tell our template from the policy's text. Built by `rlmath.source`
    alone."""

    command: str
    """The text to elaborate: one command when there is a template, else anything (a trusted file)."""
    context: str = ""
    """Trusted declarations elaborated first, in the same scopes. Messages about them are an `InputError` of the
    task's author."""
    template: str | None = None
    """`command` with each part replaced by its hole. The kernel parses both and refuses a command whose tree differs
    from the template's filled with the parts parsed alone. None: no gate (trusted text)."""
    parts: tuple[Part, ...] = ()
    declaration: str | None = None
    """Name that the command declares; its axioms are asked for when `axioms` is set."""
    axioms: bool = False
    """Run `#print axioms declaration` after the command, as a command of its own."""
    reference: bool = False
    """The command is a statement by which submissions are audited: a kernel that has checked it keeps what `certify`
    needs of it."""


@dataclass(frozen=True)
class Message:
    """One message of Lean. Lines are 1-based and columns 0-based code points, in `Source.command`."""

    severity: Literal["error", "warning", "information"]
    text: str
    line: int
    column: int
    kind: str = ""
    """Lean's own tag, e.g. `hasSorry`."""
    end_line: int | None = None
    end_column: int | None = None
    """Where what the message is about ends; None when Lean does not say."""


GateRule = Literal["part", "denied", "tree"]


@dataclass(frozen=True)
class GateVerdict:
    """Outcome of the parser gate, decided before anything of the command was elaborated."""

    ok: bool
    rule: GateRule | None = None
    """`part`: a part is not one term. `denied`: a syntax node that no plan may hold. `tree`: the command is not the
    filled template."""
    label: str = ""
    """The part at fault."""
    detail: str = ""
    """What was found: the parser's message, or the name of the node kind."""
    line: int = 0
    """In `Source.command`, when known, else 0."""
    column: int = 0


@dataclass(frozen=True)
class CheckResult:
    """What became of one check. A result is evidence; trouble that is not raises `KernelUnavailable`."""

    messages: tuple[Message, ...] = ()
    """About the command, in Lean's order. Not about the context; not the axioms line."""
    gate: GateVerdict | None = None
    """None when the source had no template or the kernel has no parser gate of its own. Not ok: nothing was
    elaborated."""
    axioms_line: str | None = None
    """The text of `#print axioms`' message, exactly; None when it was not asked for or did not come."""
    context_error: str | None = None
    """Lean's first error about `Source.context`: the task's author must mend it."""
    timed_out: bool = False
    """The check used up its own time."""
    crashed: str | None = None
    """The submission brought its own process down: `stack overflow`, `memory`, `signal 11`, `output limit`, `PANIC`."""
    elapsed_s: float = 0.0
    """Wall clock, from the child taking the job to its last byte."""
    timings: dict[str, float] = field(default_factory=dict, compare=False)
    """Seconds by part: `queue`, `gate`, `context`, `elaborate`, …"""

    @property
    def errors(self) -> tuple[Message, ...]:
        """Messages of severity error."""
        return tuple(m for m in self.messages if m.severity == "error")

    @property
    def sorries(self) -> int:
        """Number of `declaration uses sorry` warnings."""
        return sum(m.kind == "hasSorry" for m in self.messages)


AuditRule = Literal["artifact", "reference", "statement", "declarations", "axioms", "kernel", "resources"]
"""Why the judge refused, by what was broken. `artifact`: the submission's process exported nothing that can be read.
`reference`: what it was to be compared with does not stand (no verdict). `statement`: the theorem is not there, or
states something else. `declarations`: something was declared that may not be, or is missing. `axioms`: it rests on an
axiom outside the whitelist. `kernel`: the kernel rejects a constant. `resources`: judging it took more time, memory or
stack than a judge has."""


@dataclass(frozen=True)
class AuditVerdict:
    """The judgement of a clean process on one theorem: see `rlmath.kernel.audit`."""

    accepted: bool
    rule: AuditRule | None = None
    """None when accepted."""
    reason: str = ""
    """Empty when accepted."""
    axioms: tuple[str, ...] = ()
    """What the theorem rests on, sorted; empty unless accepted."""
    constants: int = 0
    """New constants that went through the kernel again; 0 unless accepted."""
    exported: str | None = None
    """The accepted constants as text (docs/audit-export.md), when it was asked for."""
    timings: dict[str, float] = field(default_factory=dict, compare=False)
    """Seconds: `a` the submission's process, `b` the judge's, `c` the reference's (0 when it was known already), and of
    the judge's `decode` and `replay`."""


@dataclass(frozen=True)
class Certificate:
    """A check of a submission, and the audit's word on it."""

    check: CheckResult
    audit: AuditVerdict | None
    """None when the check was not clean: nothing to audit. Only `audit.accepted` means that the theorem is proved."""
    unaudited: tuple[str, ...] | None = None
    """Instead of an audit, from a kernel that has none and is configured to score all the same: the axioms that the
    theorem rests on, on the word of the process that ran the submission."""


class Kernel(Protocol):
    """A warm Lean. Implementations: `kernel.embedded` (in this process's care) and the cluster's proxy to it."""

    @property
    def identity(self) -> KernelIdentity:
        """Toolchain version and environment; put on every verdict."""
        ...

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        """Check one source within `timeout_s` seconds of wall clock (waiting for a free slot not counted).

        Raises `KernelUnavailable` when the kernel died or cannot be reached: no verdict, nothing to charge.
        Cancelling the call ends the check and frees its slot.
        """
        ...

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        """Check `source`, and if the check is clean have the theorem `reference.declaration` audited against
        `reference` (whose `reference` flag is set).

        `timeout_s` bounds the check, as in `check`, and the reference's; the judge has limits of its own. Raises
        `KernelUnavailable` as `check` does, and `InputError` when the reference itself does not stand.
        """
        ...
