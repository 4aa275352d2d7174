"""The texts of the race (`peers.py`), and what may be said of each."""

from __future__ import annotations

from dataclasses import dataclass

DEEP = 30_000
"""Terms in one another that take all of a check's stack."""


@dataclass(frozen=True)
class Snippet:
    """A text, and what may be said of it."""

    text: str
    expected: frozenset[str]


def snippet(kind: str, number: int) -> Snippet:
    """The `number`th of its kind; no two are equal."""
    name = f"t{number}"
    axioms = f"\n#print axioms {name}"
    match kind:
        case "valid":
            return Snippet(f"theorem {name} : {number} + 2 = {number + 2} := rfl{axioms}", frozenset({"valid"}))
        case "invalid":
            return Snippet(f"theorem {name} : {number} + 2 = {number + 3} := rfl{axioms}", frozenset({"invalid"}))
        case "slow":
            lemmas = (
                f"theorem s{n} (a b c : Nat) (h : a < b) : a + c < b + c + {number + n} := by omega" for n in range(8)
            )
            return Snippet("\n".join((*lemmas, f"theorem {name} : True := trivial{axioms}")), frozenset({"valid"}))
        case "endless":
            text = f"theorem {name} : {number} = {number + 1} := by repeat (have h : True := trivial)"
            return Snippet(text, frozenset({"timeout"}))
        case _:
            deep = "id (" * DEEP + "trivial" + ")" * DEEP
            text = f"set_option maxRecDepth 10000000\ntheorem {name} : True := {deep}"
            return Snippet(text, frozenset({"crash", "lost", "timeout", "invalid"}))


def valid_set(count: int, start: int = 0) -> list[Snippet]:
    """Short proofs, from the `start`th on: another start gives other texts, which no cache knows."""
    return [snippet("valid", n) for n in range(start, start + count)]


def mixed_set(count: int) -> list[Snippet]:
    """See the head of this file. The same order every time, the expensive ones spread over all of it."""

    def kind(n: int) -> str:
        if n % 20 == 7:
            return "endless"
        if n % 50 == 13:
            return "crash"
        return "invalid" if n % 5 == 1 else "slow" if n % 15 == 4 else "valid"

    return [snippet(kind(n), n) for n in range(count)]
