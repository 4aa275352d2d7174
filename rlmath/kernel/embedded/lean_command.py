"""The `lean` command line out of the shared library, as a script that needs nothing but the standard library.

    python lean_command.py LIBRARY ARGUMENTS-OF-LEAN…

A process of its own for each run: Lean's entry point starts a runtime that cannot be started twice and may not return.
"""

from __future__ import annotations

import ctypes
import os
import sys


def main(library: str, arguments: list[str]) -> None:
    """Run `lean ARGUMENTS` and end the process with its exit code."""
    lean = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    argv = [b"lean", *map(os.fsencode, arguments)]
    code = lean.lean_main(len(argv), (ctypes.c_char_p * (len(argv) + 1))(*argv, None))
    lean.fflush(None)  # C's own buffers: `_exit` drops them
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
