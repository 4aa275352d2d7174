"""The decoder of exported constants, on bytes made by hand and at random. No Lean here."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest
from cost import grows_linearly
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmath.kernel.audit import attacks
from rlmath.kernel.audit.attacks import Forger
from rlmath.kernel.audit.blob import MAX_BYTES, MAX_CONSTANTS, MAX_INDEX, decode
from rlmath.kernel.audit.constants import (
    AXIOM,
    CONSTRUCTOR,
    DEFINITION,
    INDUCTIVE,
    OPAQUE,
    RECURSOR,
    THEOREM,
    Constant,
    Module,
)
from rlmath.kernel.audit.forge import NIL, Writer
from rlmath.kernel.audit.tables import (
    APP,
    BVAR,
    CONST,
    EXPRESSIONS_IN,
    FORALL,
    IMAX,
    LAMBDA,
    LET,
    LITERAL,
    MAX,
    METADATA,
    PARAM,
    PROJECTION,
    SORT,
    SUCC,
    Key,
    Refused,
    Tables,
    name_parts,
)

# --- what was written is what is read ---------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBERS = st.integers(0, 1 << 70) | st.sampled_from([0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, 1 << 4000])


@st.composite
def modules(draw: st.DrawFn) -> tuple[Tables, list[Constant]]:
    """Constants of every kind over terms of every kind, closed; the kernel would take hardly any."""
    tables = Tables()

    def pick(numbers: list[int]) -> int:
        return draw(st.sampled_from(numbers))

    names = [0]
    for _ in range(draw(st.integers(1, 8))):
        names.append(tables.names.number((pick(names), draw(TEXTS | NUMBERS))))
    names = names[1:]
    levels = [0]
    for _ in range(draw(st.integers(0, 5))):
        tag = draw(st.sampled_from([SUCC, MAX, IMAX, PARAM]))
        parts = [pick(names)] if tag == PARAM else [pick(levels) for _ in range(1 + (tag != SUCC))]
        levels.append(tables.levels.number((tag, *parts)))
    exprs = [tables.expr((SORT, 0))]
    for _ in range(draw(st.integers(0, 25))):
        tag = draw(st.sampled_from([BVAR, SORT, CONST, APP, LAMBDA, FORALL, LET, LITERAL, PROJECTION]))
        key: Key
        if tag == BVAR:
            key = (tag, draw(st.integers(0, 3)))
        elif tag == SORT:
            key = (tag, pick(levels))
        elif tag == CONST:
            key = (tag, pick(names), *(pick(levels) for _ in range(draw(st.integers(0, 2)))))
        elif tag == LITERAL:
            key = (tag, draw(TEXTS | NUMBERS))
        elif tag == PROJECTION:
            key = (tag, pick(names), draw(st.integers(0, 3)), pick(exprs))
        else:
            key = (tag, *(pick(exprs) for _ in range(3 if tag == LET else 2)))
        exprs.append(tables.expr(key))
    closed = [number for number in exprs if tables.loose[number] == 0]
    constants = []
    for name in sorted(set(names)):
        kind = draw(st.sampled_from([AXIOM, DEFINITION, THEOREM, OPAQUE, INDUCTIVE, CONSTRUCTOR, RECURSOR]))
        parameters = tuple(draw(st.lists(st.sampled_from(names), max_size=2, unique=True)))
        made = Constant(kind, name, parameters, 0 if kind == RECURSOR else pick(closed))
        extra: dict[str, object] = {}
        if kind in (DEFINITION, THEOREM, OPAQUE):
            extra["value"] = pick(closed)
        if kind == DEFINITION:
            extra["hint"] = draw(st.sampled_from([-2, -1, 0, 7, (1 << 32) - 1]))
        if kind == INDUCTIVE:
            extra["parameters"] = draw(st.integers(0, 3))
            extra["block"] = tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=2)))
            extra["constructors"] = tuple(draw(st.lists(st.sampled_from(names), max_size=2)))
        if kind in (CONSTRUCTOR, RECURSOR):
            extra["belongs_to"] = pick(names)
        constants.append(Constant(**{**vars(made), **extra}))
    return tables, constants


@given(modules())
def test_what_was_written_is_what_is_read(written: tuple[Tables, list[Constant]]) -> None:
    tables, constants = written
    data = Writer(tables).module(constants)
    found = decode(data, tables)
    assert found == Module({constant.name: constant for constant in constants})


@given(modules())
def test_equal_terms_have_equal_numbers_whoever_wrote_them(written: tuple[Tables, list[Constant]]) -> None:
    tables, constants = written
    fresh = Tables()
    first = decode(Writer(tables).module(constants), fresh)
    sizes = len(fresh.names.keys), len(fresh.levels.keys), len(fresh.exprs.keys)
    backwards = decode(Writer(tables).module(constants[::-1]), fresh)
    assert backwards == first
    assert (len(fresh.names.keys), len(fresh.levels.keys), len(fresh.exprs.keys)) == sizes


def loose_range(tables: Tables, number: int) -> int:
    """As `Tables.loose`, in the plainest way."""
    key = tables.exprs.keys[number]
    if key[0] == BVAR:
        return int(key[1]) + 1
    ranges = [loose_range(tables, part) for part in key[EXPRESSIONS_IN.get(key[0], slice(0, 0))]]
    if key[0] in (LAMBDA, FORALL, LET):
        ranges[-1] = max(0, ranges[-1] - 1)
    return max(ranges, default=0)


@given(modules())
def test_variables_are_counted_to_the_binder_that_binds_them(written: tuple[Tables, list[Constant]]) -> None:
    tables, _ = written
    for number in range(1, min(len(tables.exprs.keys), 12)):
        assert tables.loose[number] == loose_range(tables, number)


@pytest.mark.parametrize(
    ("dotted", "parts"),
    [
        ("goal", ["goal"]),
        ("A.b.goal", ["A", "b", "goal"]),
        ("A.«b.c d».e", ["A", "b.c d", "e"]),
        ("«»", [""]),
        ("x».y", ["x»", "y"]),
    ],
)
def test_names_as_people_write_them(dotted: str, parts: list[str]) -> None:
    assert name_parts(dotted) == parts
    tables = Tables()
    assert tables.show_name(tables.name(dotted)) == ".".join(parts)


def test_a_name_made_to_fill_a_message_is_cut() -> None:
    tables = Tables()
    number = tables.name("a.b")
    for part in ("x" * 1_000_000, 1 << 20_000, "end"):
        number = tables.names.number((number, part))
    assert len(tables.show_name(number)) == 201
    assert tables.show_name(number).endswith(".end")
    for _ in range(10_000):
        number = tables.names.number((number, "y"))
    assert tables.show_name(number) == "…" + ".y" * 100


# --- what is refused --------------------------------------------------------------------------------------------------


def one_constant(build: Callable[[Forger, Writer, int], int], kind: int = THEOREM) -> bytes:
    """An export of the single constant `other`, whose info is what `build` makes of its signature."""
    f = Forger()
    w = f.writer
    name = w.name(f.tables.name("other"))
    signature = w.constructor(0, [name, NIL, w.expr(f.const("True"))])
    return w.finish([w.constructor(0, [name, w.constructor(kind, [build(f, w, signature)])])])


def theorem_with(build: Callable[[Forger, Writer], int]) -> bytes:
    """`theorem other : True := …` with a value made by hand."""
    return one_constant(lambda f, w, s: w.constructor(0, [s, build(f, w), w.list([w.name(f.tables.name("other"))])]))


def literal(value: Callable[[Writer], int]) -> bytes:
    """A theorem whose value is a numeral made by hand."""
    return theorem_with(lambda f, w: w.constructor(LITERAL, [w.constructor(0, [value(w)])], bytes(8)))


def patched(data: bytes, at: int, word: int) -> bytes:
    return data[:at] + struct.pack("<Q", word) + data[at + 8 :]


def numeral(used: int, where: int, limbs: bytes) -> bytes:
    """A numeral whose header says something else than what it holds; `where` is relative to the right place."""

    def put(w: Writer) -> int:
        at = w.big(1 << 64)
        struct.pack_into("<iiQ", w.data, at + 8, used, used, at + 24 + where)
        w.data[at + 24 : at + 24 + len(limbs)] = limbs
        return at

    return literal(put)


def two_universes_of_one_name() -> bytes:
    f = Forger()
    u = f.tables.name("u")
    return f.export(Constant(THEOREM, f.tables.name("other"), (u, u), f.const("True"), f.const("True.intro")))


def under_another_name() -> bytes:
    f = Forger()
    w = f.writer
    return w.finish([w.constructor(0, [w.name(f.tables.name("goal")), w.constant(f.proved("other"))])])


def string_of(length: int) -> bytes:
    def put(f: Forger, w: Writer) -> int:
        at = w.text("abc")
        struct.pack_into("<Q", w.data, at + 8, length)
        return w.constructor(LITERAL, [w.constructor(1, [at])], bytes(8))

    return theorem_with(put)


def text_of(raw: bytes) -> bytes:
    def put(f: Forger, w: Writer) -> int:
        at = w.text("a" * len(raw))
        w.data[at + 32 : at + 32 + len(raw)] = raw
        return w.constructor(LITERAL, [w.constructor(1, [at])], bytes(8))

    return theorem_with(put)


HONEST = attacks.honest()
ROOT = struct.unpack_from("<Q", HONEST)[0]
REFUSED: dict[str, bytes] = {
    "nothing": b"",
    "one word": bytes(8),
    "a byte too many": HONEST + b"\0",
    "more than the most": bytes(MAX_BYTES + 8),
    "a root that is a small value": patched(HONEST, 0, 1),
    "a root beyond the end": patched(HONEST, 0, len(HONEST)),
    "a root between words": patched(HONEST, 0, ROOT + 4),
    "a root that is no array": patched(HONEST, 0, 8),
    "an array that is longer than it is": patched(HONEST, ROOT + 8, 1 << 40),
    "an array with a negative length": patched(HONEST, ROOT + 8, (1 << 64) - 1),
    "an element that points forward": patched(HONEST, ROOT + 24, len(HONEST) - 8),
    "an element that is a small value": patched(HONEST, ROOT + 24, 3),
    "an element at offset 0": patched(HONEST, ROOT + 24, 0),
    "a free variable": theorem_with(lambda f, w: w.constructor(1, [w.name(f.tables.name("x"))], bytes(8))),
    "a metavariable": theorem_with(lambda f, w: w.constructor(2, [w.name(f.tables.name("x"))], bytes(8))),
    "a small value for an expression": theorem_with(lambda f, w: 3),
    "an expression of an unknown kind": theorem_with(lambda f, w: w.constructor(12, [w.expr(f.const("id"))], bytes(8))),
    "an application of three parts": theorem_with(lambda f, w: w.constructor(APP, [w.expr(f.const("id"))] * 3)),
    "an application to a name": theorem_with(
        lambda f, w: w.constructor(APP, [w.expr(f.const("id")), w.name(f.tables.name("x"))], bytes(8))
    ),
    "an application to a small value": theorem_with(
        lambda f, w: w.constructor(APP, [w.expr(f.const("id")), 3], bytes(8))
    ),
    "a level that is a metavariable": theorem_with(
        lambda f, w: w.constructor(SORT, [w.constructor(5, [w.name(f.tables.name("x"))], bytes(8))], bytes(8))
    ),
    "a level that is a name": theorem_with(
        lambda f, w: w.constructor(SORT, [w.name(f.tables.names.number((0, 3)))], bytes(8))
    ),
    "levels without an end": theorem_with(
        lambda f, w: w.constructor(CONST, [w.name(f.tables.name("x")), w.constructor(1, [1, 3])], bytes(8))
    ),
    "a variable out of all bounds": theorem_with(lambda f, w: w.constructor(BVAR, [MAX_INDEX << 1 | 1], bytes(8))),
    "a variable that is a big number": theorem_with(lambda f, w: w.constructor(BVAR, [w.big(1 << 63)], bytes(8))),
    "a loose variable": attacks.loose_variable(),
    "a variable loose under one binder": theorem_with(
        lambda f, w: w.expr(f.tables.expr((LAMBDA, f.const("True"), f.tables.expr((BVAR, 1)))))
    ),
    "a small number as a big one": literal(lambda w: w.big(1)),
    "the largest small number as a big one": literal(lambda w: w.big((1 << 63) - 1)),
    "a number of no words": numeral(0, 0, bytes(8)),
    "a negative number": numeral(-2, 0, bytes(8)),
    "a number with a leading zero": numeral(2, 0, b"\xff" * 8 + bytes(8)),
    "a number that lies elsewhere": numeral(2, 8, bytes(8)),
    "a number of more words than there are": numeral(1 << 20, 0, bytes(8)),
    "a text longer than it is": string_of(1 << 40),
    "a text of no bytes at all": string_of(0),
    "a text that is not UTF-8": text_of(b"a\xffa"),
    "a text with a surrogate": text_of(b"\xed\xa0\x80"),
    "a term inside itself": attacks.inside_itself(),
    "a binder inside itself": theorem_with(
        lambda f, w: w.constructor(LAMBDA, [w.name(f.tables.name("x")), w.expr(f.const("Nat")), len(w.data)], bytes(9))
    ),
    "a binder around what comes after it": theorem_with(
        lambda f, w: w.constructor(LAMBDA, [w.name(f.tables.name("x")), w.expr(f.const("Nat")), 1 << 20], bytes(9))
    ),
    "a name inside itself": theorem_with(
        lambda f, w: w.constructor(CONST, [w.constructor(2, [len(w.data), 7]), NIL], bytes(8))
    ),
    "a level inside itself": theorem_with(
        lambda f, w: w.constructor(SORT, [w.constructor(SUCC, [len(w.data)], bytes(8))], bytes(8))
    ),
    "a list inside itself": theorem_with(
        lambda f, w: w.constructor(CONST, [w.name(f.tables.name("x")), w.constructor(1, [1, len(w.data)])], bytes(8))
    ),
    "a name twice": attacks.twice(),
    "an export cut off": attacks.cut_off(),
    "a constant under another's name": under_another_name(),
    "a universe parameter twice": two_universes_of_one_name(),
    "the quotient": one_constant(lambda f, w, s: w.constructor(0, [s], bytes(1)), kind=4),
    "a constant of no kind": one_constant(lambda f, w, s: w.constructor(0, [s]), kind=9),
    "a definition without a hint": one_constant(
        lambda f, w, s: w.constructor(0, [s, w.expr(f.const("id")), 5, NIL], b"\1"), kind=DEFINITION
    ),
    "too many constants": Forger().writer.finish([1] * (MAX_CONSTANTS + 1)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(Refused) as caught:
        decode(REFUSED[name], Tables())
    assert caught.value.rule == "artifact"


def test_unsafe_and_partial_definitions_are_left_out() -> None:
    for safety in (b"\0", b"\2"):
        tables = Tables()
        data = one_constant(
            lambda f, w, s, safety=safety: w.constructor(0, [s, 3, 1, NIL], safety),  # type: ignore[misc]
            kind=DEFINITION,
        )
        assert decode(data, tables) == Module({}, frozenset({tables.name("other")}))


def test_metadata_says_nothing() -> None:
    tables = Tables()
    data = theorem_with(lambda f, w: w.constructor(METADATA, [NIL, w.expr(f.const("id"))], bytes(8)))
    (theorem,) = decode(data, tables).constants.values()
    assert tables.exprs.keys[theorem.value] == (CONST, tables.name("id"))


# --- what it costs ----------------------------------------------------------------------------------------------------


def deep(depth: int, shared: bool) -> bytes:
    """A term `depth` applications deep; shared, it would be of 2^depth if written out."""
    f = Forger()
    term = f.const("id")
    for _ in range(depth):
        term = f.app(term if shared else f.const("id"), term)
    return f.export(f.theorem("goal", f.const("True"), term))


def long_name(length: int) -> bytes:
    f = Forger()
    name = 0
    for _ in range(length):
        name = f.tables.names.number((name, "a"))
        f.writer.name(name)
    return f.export(f.theorem("goal", f.const("True"), f.tables.expr((CONST, name))))


def deep_level(depth: int) -> bytes:
    f = Forger()
    level = 0
    for _ in range(depth):
        level = f.tables.levels.number((MAX, level, level))
        f.writer.level(level)
    return f.export(f.theorem("goal", f.const("True"), f.tables.expr((SORT, level))))


@pytest.mark.parametrize(
    "build",
    [lambda n: deep(n, False), lambda n: deep(n, True), long_name, deep_level],
    ids=["deep", "shared", "long name", "deep level"],
)
def test_depth_and_sharing_cost_no_more_than_size(build: Callable[[int], bytes]) -> None:
    small, tenfold = build(2_000), build(20_000)
    assert len(decode(tenfold, Tables()).constants) == 1
    assert grows_linearly(lambda: decode(small, Tables()), lambda: decode(tenfold, Tables()))


def test_one_large_text_for_many_names_is_not_read_again_and_again() -> None:
    f = Forger()
    w = f.writer
    part = w.text("a" * (1 << 20))
    names = [w.constructor(1, [NIL, part], bytes(8)) for _ in range(1_000)]
    info = w.constant(f.proved("other"))
    with pytest.raises(Refused):
        decode(w.finish([w.constructor(0, [name, info]) for name in names]), Tables())


# --- at random --------------------------------------------------------------------------------------------------------

SAMPLES = [
    HONEST,
    attacks.admitted(),
    attacks.negative_inductive(),
    attacks.forged_numeral(),
    attacks.own_addition(),
    deep(5, True),
    literal(lambda w: w.big(1 << 100)),
    text_of(b"abc"),
]


def mutant(data: bytes, chance: random.Random) -> bytes:
    """The bytes with a few things changed: a bit, a byte, a word (to a pointer, a small value, another's word), the
    length, a stretch doubled."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        if len(out) < 16:
            break
        words = len(out) // 8
        at = 8 * chance.randrange(words)
        what = chance.randrange(10)
        if what == 0:
            out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
        elif what == 1:
            out[chance.randrange(len(out))] = chance.choice((0, 1, 2, 5, 245, 246, 249, 250, 255))
        elif what == 2:
            struct.pack_into("<Q", out, at, 8 * chance.randrange(words))
        elif what == 3:
            struct.pack_into("<Q", out, at, chance.choice((1, 3, 5, 1 << 63, (1 << 64) - 1, 1 << 32, 0)))
        elif what == 4:
            other = 8 * chance.randrange(words)
            out[at : at + 8] = out[other : other + 8]
        elif what == 5:
            del out[at:]
        elif what == 6:
            out[at:at] = out[at : at + 8 * chance.randrange(1, 9)]
        elif what == 7:
            out[at + 7 if chance.random() < 0.5 else at + 6] = chance.randrange(14)
        else:
            # A pointer to another object of the same kind: what is most likely to be read.
            pointer = int.from_bytes(out[at : at + 8], "little")
            kind = bytes(out[pointer + 6 : pointer + 8])
            alike = [other for other in range(8, at, 8) if bytes(out[other + 6 : other + 8]) == kind]
            if alike and pointer % 8 == 0:
                struct.pack_into("<Q", out, at, chance.choice(alike))
    return bytes(out)


def decode_mutants(count: int, seed: int) -> int:
    """How many of so many mutants were decoded; all others were refused in the one way there is."""
    chance = random.Random(seed)
    decoded = 0
    rules = set()
    for _ in range(count):
        try:
            module = decode(mutant(chance.choice(SAMPLES), chance), Tables())
        except Refused as refusal:
            rules.add(refusal.rule)
        else:
            decoded += isinstance(module, Module)
    assert rules == {"artifact"}
    return decoded


def test_mutants_are_decoded_or_refused() -> None:
    assert 0 < decode_mutants(5_000, seed=1) < 5_000


@pytest.mark.slow
def test_a_hundred_thousand_mutants_are_decoded_or_refused() -> None:
    assert 0 < decode_mutants(100_000, seed=2) < 100_000


@given(st.binary(max_size=400))
@settings(max_examples=200)
def test_any_bytes_at_all(data: bytes) -> None:
    with pytest.raises(Refused):
        decode(data, Tables())
