"""The child's side of the audit: all constants that were added to an environment, as bytes in Lean's compacted form.

Lean's own writer of this form puts it into a file; here its inner half, the C++ class `object_compactor`, is driven
directly, for a check may write no file. What comes out is evidence of nothing: see `blob.py`.
"""

from __future__ import annotations

import ctypes
from typing import Final

from rlmath.kernel.embedded.ffi import Lean, Obj, field, retain

_COMPACTOR: Final = "_ZN4lean16object_compactor"
_CONSTRUCT: Final = f"{_COMPACTOR}C1EPvNSt3__16vectorINS_11region_viewENS2_9allocatorIS4_EEEEb"
_WRITE: Final = f"{_COMPACTOR}clEP11lean_object"
_SIZE: Final = 1024
"""Bytes for the class; it takes 0xb8."""
_BEGIN: Final = 0xA0
_END: Final = 0xA8
"""Where it keeps the bounds of what it wrote."""
_EMPTY_VECTOR: Final = 24


class Exporter:
    """Made in the image, used once in each of its children."""

    def __init__(self, lean: Lean) -> None:
        """Raises `KernelUnavailable` when the library lacks what it takes."""
        self._kernel_environment = lean.function("lean_elab_environment_to_kernel_env", 1)
        self._entries = lean.function("l_Lean_PersistentHashMap_toArray___redArg", 1)
        pointer = ctypes.c_void_p
        self._write = lean.bind(_WRITE, pointer, pointer, result=None)
        # Here and not in the child: it looks up every loaded library, which takes longer than writing a small theorem.
        self._compactor = ctypes.create_string_buffer(_SIZE)
        construct = lean.bind(_CONSTRUCT, pointer, pointer, pointer, ctypes.c_bool, result=None)
        # Base address 0: a pointer in the output is an offset into it.
        construct(self._compactor, None, ctypes.create_string_buffer(_EMPTY_VECTOR), False)

    def new_constants(self, environment: Obj) -> bytes:
        """The constants that `environment` has beyond what was imported: an array of (name, `ConstantInfo`) pairs.
        Waits for every proof. At most one call a process."""
        kernel_environment = self._kernel_environment(retain(environment))
        # The constants are a map of two stages: what was imported, and what came since.
        self._write(self._compactor, self._entries(retain(field(field(kernel_environment, 0), 1))))
        begin, end = (ctypes.c_uint64.from_buffer(self._compactor, at).value for at in (_BEGIN, _END))
        return ctypes.string_at(begin, end - begin)
