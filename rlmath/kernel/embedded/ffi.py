"""Lean 4.35's C interface through ctypes: objects, strings, names, lists, and calls. What to do with them is other
files' business.

An object is the address of an 8-byte header {reference count: i32, size: u16, number of fields: u8, tag: u8}, its
fields (one word each) and its scalars; a small value v is the odd word 2v+1 instead of an address. A reference count
of 0 marks an object that is never freed, a negative one an object shared between threads.

Calls go to a function's `___boxed` twin where there is one, so that every argument is owned by the callee and every
scalar is boxed: an object that is used again after a call goes in through `retain`. Names, argument lists and layouts
belong to Lean 4.35.0; another version is refused.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Final

from rlmath.errors import KernelUnavailable

LEAN_VERSION: Final = "4.35.0"

CLOSURE: Final = 245
ARRAY: Final = 246
"""Tags of objects that are not constructors."""

_ADDRESS_SPACE = 1 << 47
WORDS: Final = memoryview((ctypes.c_ubyte * _ADDRESS_SPACE).from_address(0)).cast("B").cast("Q")
"""This process's own memory as 64-bit words, `WORDS[address >> 3]`: a tenth of the cost of a ctypes access, which a
walk over a syntax tree feels. Nothing is touched before it is indexed."""

Obj = int
"""Address of a Lean object, or a boxed small value."""
Call = Callable[..., Obj]


def box(value: int) -> Obj:
    """A small natural number, Bool, or constructor without fields, as an object."""
    return value << 1 | 1


def unbox(obj: Obj) -> int:
    """The inverse of `box`."""
    return obj >> 1


def tag(obj: Obj) -> int:
    """Which constructor (or other kind of object) it is."""
    return obj >> 1 if obj & 1 else WORDS[obj >> 3] >> 56


def field(obj: Obj, index: int) -> Obj:
    """A field of a constructor object, borrowed."""
    return WORDS[(obj >> 3) + 1 + index]


def fields(obj: Obj) -> list[Obj]:
    """All fields of a constructor object, borrowed."""
    at = obj >> 3
    return WORDS[at + 1 : at + 1 + (WORDS[at] >> 48 & 0xFF)].tolist()


def items(array: Obj) -> list[Obj]:
    """The elements of an array, borrowed."""
    at = array >> 3
    return WORDS[at + 3 : at + 3 + WORDS[at + 1]].tolist()


def byte_length(string: Obj) -> int:
    """UTF-8 bytes of a string, read without copying it."""
    return WORDS[(string >> 3) + 1] - 1


def raw_text(string: Obj) -> bytes:
    """UTF-8 of a Lean string."""
    return ctypes.string_at(string + 32, byte_length(string))


def text(string: Obj) -> str:
    """A Lean string."""
    return raw_text(string).decode("utf-8")


def retain(obj: Obj) -> Obj:
    """One more reference to `obj`, which is handed back: for an argument that is needed after the call."""
    if not obj & 1:
        word = WORDS[obj >> 3]
        count = word & 0xFFFFFFFF
        if count:
            count += 1 if count < 1 << 31 else -1
            WORDS[obj >> 3] = word & ~0xFFFFFFFF | count
    return obj


def list_items(cell: Obj) -> list[Obj]:
    """The elements of a List, borrowed."""
    found = []
    while not cell & 1:
        found.append(field(cell, 0))
        cell = field(cell, 1)
    return found


def name_text(name: Obj) -> str:
    """A Name as dotted text, its parts as they are (no «»)."""
    parts: list[str] = []
    while not name & 1:
        parts.append(text(field(name, 1)) if tag(name) == 1 else str(unbox(field(name, 1))))
        name = field(name, 0)
    return ".".join(reversed(parts))


class LeanError(Exception):
    """A Lean IO action ended in an error: Lean's own text."""


class Lean:
    """The runtime, loaded into this process for good: it can be neither unloaded nor started twice.

    Starting it leaves one idle thread of its event loop behind, which a fork does not take along; no worker thread
    exists before `start_tasks`, so a process may fork as long as that was not called.
    """

    def __init__(self, library: str, thread_stack_bytes: int) -> None:
        """Load and initialise `library`; its threads get stacks of `thread_stack_bytes`. Raises `KernelUnavailable`
        when it cannot be loaded or is another version of Lean."""
        try:
            self._library = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise KernelUnavailable(f"cannot load {library}: {error}") from error
        self._start_tasks = self.bind("lean_init_task_manager", result=None)
        self._make_string = self.bind("lean_mk_string_from_bytes", ctypes.c_char_p, ctypes.c_size_t)
        self._allocate = self.bind("lean_alloc_object", ctypes.c_size_t)
        self._mark_persistent = self.bind("lean_mark_persistent", ctypes.c_void_p, result=None)
        self.bind("_ZN4lean7lthread21set_thread_stack_sizeEm", ctypes.c_size_t, result=None)(thread_stack_bytes)
        self.bind("lean_initialize", result=None)()
        self.bind("initialize_Lean", ctypes.c_uint8)(1)
        self.bind("lean_io_mark_end_initialization", result=None)()
        version = text(self.constant("l_Lean_versionString"))
        if version != LEAN_VERSION:
            raise KernelUnavailable(f"{library} is Lean {version}, but this kernel is written for Lean {LEAN_VERSION}")
        self._name_str = self.bind("l_Lean_Name_str___override", ctypes.c_void_p, ctypes.c_void_p)

    def bind(self, symbol: str, *arguments: type, result: type | None = ctypes.c_void_p) -> Call:
        """A symbol of the library, with its C types. Raises `KernelUnavailable` when it is not there."""
        try:
            function = getattr(self._library, symbol)
        except AttributeError:
            raise KernelUnavailable(f"the Lean library has no {symbol}: is it Lean {LEAN_VERSION}?") from None
        function.restype, function.argtypes = result, list(arguments)
        bound: Call = function
        return bound

    def function(self, name: str, arity: int) -> Call:
        """The compiled Lean function `name` (a symbol without `___boxed`), `arity` owned objects in, one owned object
        out."""
        symbol = f"{name}___boxed" if hasattr(self._library, f"{name}___boxed") else name
        return self.bind(symbol, *[ctypes.c_void_p] * arity)

    def constant(self, symbol: str) -> Obj:
        """A compiled Lean constant (borrowed; it is never freed)."""
        try:
            return ctypes.c_uint64.in_dll(self._library, symbol).value
        except ValueError:
            raise KernelUnavailable(f"the Lean library has no {symbol}: is it Lean {LEAN_VERSION}?") from None

    def start_tasks(self) -> None:
        """Start the task manager, which elaboration needs. Afterwards this process must not fork."""
        self._start_tasks()

    def value(self, result: Obj) -> Obj:
        """The value of an IO action's result, borrowed. Raises `LeanError` with Lean's own text when it is an error."""
        if tag(result):
            show = retain(self.constant("l_IO_Error_instToString"))
            raise LeanError(text(self.function("lean_apply_1", 2)(show, retain(field(result, 0)))))
        return field(result, 0)

    # -- building objects: each is new and owned by the caller

    def string(self, value: str) -> Obj:
        """A Lean string of a Python one (no lone surrogates)."""
        encoded = value.encode("utf-8")
        return self._make_string(encoded, len(encoded))

    def name(self, dotted: str) -> Obj:
        """A Name of string parts, split at the dots."""
        name = box(0)
        for part in dotted.split("."):
            name = self._name_str(name, self.string(part))
        return name

    def constructor(self, tag: int, fields: list[Obj], scalars: bytes = b"") -> Obj:
        """A constructor object of owned fields and raw scalars."""
        size = (8 + 8 * len(fields) + len(scalars) + 7) // 8 * 8
        return self._put(struct.pack(f"<iHBB{len(fields)}Q", 1, size, len(fields), tag, *fields) + scalars)

    def array(self, elements: list[Obj]) -> Obj:
        """An array of owned elements."""
        count = len(elements)
        capacity = max(count, 1)
        padding = [0] * (capacity - count)
        return self._put(struct.pack(f"<iHBBQQ{capacity}Q", 1, 0, 0, ARRAY, count, capacity, *elements, *padding))

    def closure(self, symbol: str, arity: int, arguments: list[Obj]) -> Obj:
        """The function `symbol` of `arity` parameters, applied to owned leading arguments."""
        address = ctypes.cast(getattr(self._library, symbol), ctypes.c_void_p).value
        count = len(arguments)
        return self._put(struct.pack(f"<iHBBQHHI{count}Q", 1, 0, 0, CLOSURE, address, arity, count, 0, *arguments))

    def persistent(self, obj: Obj) -> Obj:
        """`obj`, and all it reaches, marked as never to be freed: its reference counts are no longer written, so that
        pages stay shared between forks."""
        if not obj & 1:
            self._mark_persistent(obj)
        return obj

    def _put(self, raw: bytes) -> Obj:
        size = (len(raw) + 7) // 8 * 8
        obj = self._allocate(size)
        ctypes.memmove(obj, raw, len(raw))
        return obj

    # -- the environment

    def import_modules(self, modules: list[str]) -> Obj:
        """The environment that `import`s `modules`, found on LEAN_PATH; persistent. Raises `LeanError`."""
        self.value(self.function("lean_init_search_path", 0)())
        self.bind("lean_enable_initializer_execution", result=None)()
        imports = [self.constructor(0, [self.name(m)], bytes([0, 1, 0])) for m in modules]
        options, trust_level, no_plugins = self.constant("l_Lean_Options_empty"), box(1024), self.array([])
        leak, load_extensions, private_level, no_artifacts, world = box(0), box(1), box(2), box(1), box(0)
        environment = self.value(
            self.function("l_Lean_importModules", 9)(
                self.array(imports),
                options,
                trust_level,
                no_plugins,
                leak,
                load_extensions,
                private_level,
                no_artifacts,
                world,
            )
        )
        return self.persistent(environment)
