"""Write `Prelude/Syntax.lean`: Lean's own tactic and term syntax, bound by name out of the shared library.

    python bridge.py LIBRARY OUT.lean

The parser descriptors, macros and unexpanders of Lean's standard library lie compiled in `libleanshared.so`, as
constants and functions whose symbols are their Lean names. Declaring a constant of the same name, `@[extern]` and
opaque, makes the elaborator find the compiled one; the attribute beside it registers it. So a file of such lines gives
the whole syntax without a grammar rule written here:

    @[extern "n", tactic_parser 1000] opaque Lean.Parser.Tactic.intro : Lean.ParserDescr
    @[extern "n", macro tacticTrivial] opaque _aux_…___macroRules_tacticTrivial_1 : Lean.Macro

Which symbols are parser descriptors is found by starting Lean in this process and decoding the objects that data
symbols point to, so this is a script of its own, to be run in a process of its own. It needs nothing but the standard
library. Its output depends on the library alone. The object layout is that of Lean 4.35 on 64-bit little-endian Linux.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# --- The library's exported symbols

SHT_DYNSYM = 11
STT_OBJECT, STT_FUNC = 1, 2


LOCAL_CODE = re.compile(r"___lam|_spec__|_closed_|_redArg|_elam|_private|_lambda|___at__|_match_|___boxed")
"""Parts of the symbols of compiled helpers, which are no constants of their own."""
MACRO_SYMBOL = "__aux__Init__"
"""Part of the symbol of every function that a `macro`, `notation` or `macro_rules` command of Lean's library made."""


@dataclass(frozen=True)
class Symbols:
    """What the library exports of Lean's constants, sorted, helpers left out."""

    data: tuple[str, ...]
    macros: tuple[str, ...]


def exported_symbols(library: Path) -> Symbols:
    """The library's constants and macro functions. Raises `ValueError` if it is no 64-bit little-endian ELF file."""
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as elf:
        if elf[:6] != b"\x7fELF\x02\x01":
            raise ValueError(
                f"{library} is not a 64-bit little-endian ELF library: only Linux x86_64 and aarch64 are supported"
            )
        symbols = sorted((s, t) for s, t in _dynamic_symbols(elf) if not LOCAL_CODE.search(s))
    data = tuple(s for s, t in symbols if t == STT_OBJECT)
    return Symbols(data, tuple(s for s, t in symbols if t == STT_FUNC and MACRO_SYMBOL in s))


def _dynamic_symbols(elf: mmap.mmap) -> Iterator[tuple[str, int]]:
    """Name and type of every symbol `l_…` that the file defines."""
    (section_offset,) = struct.unpack_from("<Q", elf, 0x28)
    entry_size, count = struct.unpack_from("<HH", elf, 0x3A)
    # Each section header: name, type, flags, address, offset, size, link, info, alignment, entry size.
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, section_offset + entry_size * i) for i in range(count)]
    for section in sections:
        if section[1] != SHT_DYNSYM:
            continue
        strings = sections[section[6]][4]
        # Each symbol: start of its name, info (low four bits: type), visibility, section (0: undefined), value, size.
        table = elf[section[4] : section[4] + section[5]]
        for name_at, info, _, defined_in, _, _ in struct.iter_unpack("<IBBHQQ", table):
            start = strings + name_at
            if defined_in == 0 or info & 15 not in (STT_OBJECT, STT_FUNC) or elf[start : start + 2] != b"l_":
                continue
            yield elf[start : elf.find(b"\0", start)].decode("ascii"), info & 15


ESCAPE = re.compile(r"x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})")


def unmangle(symbol: str) -> tuple[str, ...]:
    """Components of the Lean name whose symbol this is: `l_Lean_Parser_Term_app` is `Lean.Parser.Term.app`.

    An underscore in a name is doubled. The one left over in an odd run of underscores is the separator, with the
    doubled ones after it in the next component; unless an escape follows (`_x2b` for `+`), or `00`, a separator before
    a component that would read as an escape.
    """
    if not symbol.startswith("l_"):
        raise ValueError(f"{symbol!r} is not the symbol of a Lean constant")
    rest, components, current, at = symbol[2:], list[str](), "", 0
    while at < len(rest):
        if rest[at] != "_":
            current += rest[at]
            at += 1
            continue
        end = at
        while end < len(rest) and rest[end] == "_":
            end += 1
        run, at = end - at, end
        if run % 2 == 0 or end == len(rest):
            current += "_" * (run // 2)
        elif escape := ESCAPE.match(rest, end):
            current += "_" * (run // 2) + chr(int(escape[1] or escape[2] or escape[3], 16))
            at = escape.end()
        elif rest.startswith("00", end):
            components.append(current + "_" * (run // 2))
            current, at = "", end + 2
        else:
            components.append(current)
            current = "_" * (run // 2)
    components.append(current)
    return tuple(c for c in components if c)


PLAIN_COMPONENT = re.compile(r"[A-Za-z_\u03b1-\u03ba\u03bc-\u03c9][A-Za-z0-9_'!?\u2080-\u2089]*")


def written(name: tuple[str, ...]) -> str:
    """A Lean name as source text, components quoted where they must be."""
    return ".".join(c if PLAIN_COMPONENT.fullmatch(c) else f"«{c}»" for c in name)


# --- Reading Lean objects in this process

STRING_TAG = 249
MAX_STRING = 4096
MAX_DEPTH = 60

Name = tuple[str | int, ...]


@dataclass(frozen=True)
class Descriptor:
    """What is needed of a parser descriptor that stands at the top of a constant."""

    kind: str
    """Dotted name of the syntax node it makes."""
    trailing: bool
    """It parses what follows a term (`a + b`), not a term from its start."""
    antiquotation_only: bool
    """A `nodeWithAntiquot`: a building block that other descriptors name, not an entry of a category."""
    categories: frozenset[str]
    """Syntax categories it mentions."""


class Memory:
    """Lean objects in this process, read by system call: a word that is no pointer is then an answer and not a crash.

    An object begins with reference count (4 bytes), size (2), number of fields (1) and tag (1); its fields follow, a
    word each. An odd word is a small number n, written 2n + 1.
    """

    def __init__(self) -> None:
        self._file = os.open("/proc/self/mem", os.O_RDONLY)

    def read(self, address: int, size: int) -> bytes | None:
        try:
            data = os.pread(self._file, size, address)
        except (OSError, OverflowError):
            return None
        return data if len(data) == size else None

    def word(self, address: int) -> int | None:
        data = self.read(address, 8)
        return None if data is None else int.from_bytes(data, "little")

    def field(self, pointer: int, index: int) -> int | None:
        return self.word(pointer + 8 + 8 * index)

    def shape(self, pointer: int | None) -> tuple[int, int] | None:
        """Tag and number of fields of the object at `pointer`, or None when it is no pointer."""
        if not pointer or pointer % 8:
            return None
        header = self.read(pointer, 8)
        return None if header is None else (header[7], header[6])

    def string(self, pointer: int | None) -> str | None:
        shape = self.shape(pointer)
        if pointer is None or shape is None or shape[0] != STRING_TAG:
            return None
        size = self.word(pointer + 8)  # in bytes, with the final NUL
        if size is None or not 1 <= size <= MAX_STRING:
            return None
        data = self.read(pointer + 32, size - 1)
        return None if data is None else data.decode("utf-8", "replace")

    def name(self, pointer: int | None, depth: int = 0) -> Name | None:
        """A `Lean.Name`: `anonymous` is the small number 0, `str` has tag 1 and `num` tag 2."""
        if pointer == 1:
            return ()
        shape = self.shape(pointer)
        if pointer is None or shape is None or shape not in ((1, 2), (2, 2)) or depth > MAX_DEPTH:
            return None
        prefix, last = self.name(self.field(pointer, 0), depth + 1), self.field(pointer, 1)
        if prefix is None or last is None:
            return None
        component = self.string(last) if shape[0] == 1 else small(last)
        return None if component is None else (*prefix, component)

    def descriptor(self, pointer: int | None) -> Descriptor | None:
        """The descriptor at `pointer` if it is a `node`, `trailingNode` or `nodeWithAntiquot`: what constants hold."""
        shape = self.shape(pointer)
        if pointer is None or shape not in ((3, 3), (4, 4), (9, 3)):
            return None
        antiquotation_only = shape == (9, 3)
        kind = self.name(self.field(pointer, 1 if antiquotation_only else 0))
        second = self.string(self.field(pointer, 0)) if antiquotation_only else small(self.field(pointer, 1))
        if not kind or second is None:
            return None
        categories = frozenset(self._categories(pointer, 0))
        return Descriptor(".".join(map(str, kind)), shape == (4, 4), antiquotation_only, categories)

    def _categories(self, pointer: int | None, depth: int) -> Iterator[str]:
        shape = self.shape(pointer)
        if pointer is None or shape is None or depth > MAX_DEPTH:
            return
        if shape[0] == 7:
            yield ".".join(map(str, self.name(self.field(pointer, 0)) or ("?",)))
        for index in DESCRIPTOR_CHILDREN.get(shape[0], ()):
            yield from self._categories(self.field(pointer, index), depth + 1)


DESCRIPTOR_CHILDREN: dict[int, tuple[int, ...]] = {
    1: (1,),  # unary name p
    2: (1, 2),  # binary name p q
    3: (2,),  # node kind precedence p
    4: (3,),  # trailingNode kind precedence left-precedence p
    9: (2,),  # nodeWithAntiquot name kind p
    10: (0, 2),  # sepBy p separator separator-parser
    11: (0, 2),  # sepBy1, likewise
}
"""Fields that are descriptors themselves, by the number of the constructor. Number 7 is `cat name precedence`; the rest
are leaves."""


def small(word: int | None) -> int | None:
    """The small number that a word stands for, or None for a pointer."""
    return word >> 1 if word is not None and word & 1 else None


def start_lean(library: Path) -> ctypes.CDLL:
    """Load Lean into this process and run its initialisers, which make the objects that data symbols point to."""
    lean = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    lean.lean_initialize()
    lean.initialize_Lean.restype = ctypes.c_void_p
    lean.initialize_Lean(ctypes.c_uint8(1))
    return lean


def find_descriptors(lean: ctypes.CDLL, symbols: tuple[str, ...]) -> dict[tuple[str, ...], Descriptor]:
    """Every exported constant that is a parser descriptor for the node kind of its own name."""
    memory, found = Memory(), dict[tuple[str, ...], Descriptor]()
    for symbol in symbols:
        descriptor = memory.descriptor(ctypes.c_uint64.in_dll(lean, symbol).value)
        if descriptor is not None and descriptor.kind == ".".join(name := unmangle(symbol)):
            found[name] = descriptor
    return found


# --- What to bind, and in which syntax category: a descriptor does not say, but its name follows the habits below.

BUILTIN_CATEGORIES = ("term", "tactic", "command", "prec", "prio", "stx", "attr")
"""Categories of the parser itself that need no more than a constant to stand for them."""
DECLARED_CATEGORIES = ("rcasesPat", "rintroPat", "binderPred", "conv (behavior := both)")
KNOWN_CATEGORIES = frozenset(
    (*BUILTIN_CATEGORIES, "conv", "rcasesPat", "rintroPat", "binderPred", "level", "doElem"),
)
"""A descriptor that mentions another category is left out: the category does not exist here."""

ROOT_PREFIXES = ("term", "tactic", "command", "prec", "prio", "stx")
ROOT_TERMS = frozenset(("boolIfThenElse", "rawNatLit", "coeNotation", "coeFunNotation", "coeSortNotation"))
DATA_NAMESPACES = frozenset(("List", "Array", "Int", "Bool", "BitVec", "Vector"))
SYNTAX_CATEGORY = {"addPrec": "prec", "subPrec": "prec", "addPrio": "prio", "subPrio": "prio"}
LEAN_CATEGORY = {
    "calc": "term",
    "calcTactic": "tactic",
    "cdot": "tactic",
    "convCalc_": "conv",
    "guardMsgsCmd": "command",
    "solve": "tactic",
    "solveTactic": "tactic",
    "deprecated": "attr",
}
COMMANDS = frozenset(("Lean.Parser.commandSeal__", "Lean.Parser.commandUnseal__", "Lean.Parser.Command.classAbbrev",
                      "Lean.Parser.Command.guardCmd", "Lean.Parser.Command.guardExprCmd"))  # fmt: skip
CONV_GUARDS = frozenset(("guardExprConv", "guardHypConv", "guardTargetConv"))
TACTIC_TERMS = frozenset(("showTermElab", "by?"))
NO_TACTIC = re.compile(r"mcasesPat|mintroPat|mrefinePat|mrevertPat|vcgenDischarge|tryResult|declareSimp")
NO_LEAN_TERM = re.compile(r"termM!|.*(Throw|Register|Eval)")
ANTIQUOTATIONS = re.compile(r"Lean\.(Parser\.(Tactic|Attr|Tactic\.Conv)\.[A-Za-z]*|[a-zA-Z]*)")
"""Kinds of the building blocks (`simpLemma`, `location`, …) that the bound parsers refer to by name."""


def category(name: tuple[str, ...], descriptor: Descriptor) -> str | None:
    """The category to register a descriptor in, `""` to bind it without one, or None to leave it out."""
    if not descriptor.categories <= KNOWN_CATEGORIES:
        return None
    if descriptor.antiquotation_only:
        return "" if ANTIQUOTATIONS.fullmatch(".".join(name)) else None
    namespace, last = ".".join(name[:-1]), name[-1]
    if ".".join(name) in COMMANDS:
        return "command"
    match namespace:
        case "":
            return "term" if last in ROOT_TERMS else next((p for p in ROOT_PREFIXES if last.startswith(p)), "")
        case "Lean":
            if last.startswith("binderPred"):
                return "binderPred"
            if last.startswith("term"):
                return None if NO_LEAN_TERM.match(last) else "term"
            return LEAN_CATEGORY.get(last)
        case "Lean.Parser.Tactic":
            if NO_TACTIC.match(last):
                return None
            return "conv" if last in CONV_GUARDS else "term" if last in TACTIC_TERMS else "tactic"
        case "Lean.Parser.Tactic.Conv":
            return "tactic" if last == "conv" else "conv"
        case "Lean.Parser.Tactic.rcasesPat" | "Lean.Parser.Tactic.rintroPat":
            return name[-2]
        case "Lean.Parser.Attr":
            return "attr"
        case "Lean.Parser.Syntax":
            return SYNTAX_CATEGORY.get(last)
        case "Lean.Elab.Tactic.Ext":
            return "tactic"
        case _:
            return "term" if namespace in DATA_NAMESPACES and last.startswith("term") else None


MACRO = re.compile(r"_aux_.*?___(macroRules|unexpand)_(.*?)_\d+")

NOT_IN_PRELUDE = frozenset((
    "Array.Perm", "Bind.bind", "Bind.bindLeft", "Bind.kleisliLeft", "Bind.kleisliRight", "Bool.xor", "Functor.map",
    "Functor.mapRev", "HasSSubset.SSubset", "Int.negSucc", "Lean.Order.PartialOrder.rel", "Lean.Order.bot",
    "List.IsInfix", "List.IsPrefix", "List.IsSuffix", "List.Perm", "List.Sublist", "Rat.divInt", "SSuperset",
    "Superset", "Vector.Perm", "andM", "bne", "orM",
))  # fmt: skip
"""Constants with an unexpander in Lean that are not declared where `Prelude.Syntax` is compiled."""

UNEXPANDERS = {
    "unexpandUnit": "Unit.unit",
    "unexpandListNil": "List.nil",
    "unexpandListCons": "List.cons",
    "unexpandProdMk": "Prod.mk",
    "unexpandIte": "ite",
    "unexpandEqNDRec": "Eq.ndrec",
    "unexpandEqRec": "Eq.rec",
    "unexpandExists": "Exists",
    "unexpandSigma": "Sigma",
    "unexpandPSigma": "PSigma",
    "unexpandSubtype": "Subtype",
    "Lean.singletonUnexpander": "Singleton.singleton",
    "Lean.insertUnexpander": "Insert.insert",
}
"""Unexpanders whose names do not tell the constant. They print `∃ x, p x`, `[a, b]`, `(a, b)`, `if c then a else b`."""


def unexpander(name: str, constant: str) -> str:
    """The line that makes the compiled function `name` print applications of `constant`."""
    return f'@[extern "n", app_unexpander {constant}] opaque {name} : Lean.PrettyPrinter.Unexpander'


def generate(library: Path) -> str:
    """Text of `Prelude/Syntax.lean` for a library. Starts Lean in this process, which can be done once."""
    symbols = exported_symbols(library)
    descriptors = find_descriptors(start_lean(library), symbols.data)
    bound = {n: c for n, d in sorted(descriptors.items()) if (c := category(n, d)) is not None}
    flat = {"_".join(n): n for n in bound}
    lines = [
        "prelude",
        "import Prelude.Meta",
        "set_option autoImplicit false",
        "set_option linter.unusedVariables false",
        "namespace Lean.Parser.Category",
        *(f"def {c} : Category := {{}}" for c in BUILTIN_CATEGORIES),
        "end Lean.Parser.Category",
        *(f"declare_syntax_cat {c}" for c in DECLARED_CATEGORIES),
    ]
    for name, its_category in bound.items():
        attribute = f", {its_category}_parser 1000" if its_category else ""
        kind = "TrailingParserDescr" if descriptors[name].trailing else "ParserDescr"
        lines.append(f'@[extern "n"{attribute}] opaque {written(name)} : Lean.{kind}')
    for name in map(unmangle, symbols.macros):
        match = MACRO.fullmatch(name[-1])
        if match is None:
            continue
        if match[1] == "macroRules":
            if (of := flat.get(match[2])) is not None:
                lines.append(f'@[extern "n", macro {written(of)}] opaque {written(name)} : Lean.Macro')
        elif (constant := match[2].replace("_", ".")) not in NOT_IN_PRELUDE:
            lines.append(unexpander(written(name), constant))
    lines += [unexpander(function, constant) for function, constant in UNEXPANDERS.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(generate(Path(sys.argv[1])), encoding="utf-8")
    os._exit(0)  # Lean's threads have no orderly end.
