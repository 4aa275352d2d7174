"""Giving back the pages of the shared library that only its start needed.

Starting Lean reads through about 90 MB of the library's text, most of which no check comes back to. The pages are
clean and stay in the page cache: what is still needed faults in again, for a child as it would have anyway (`fork`
copies no page tables of file mappings).
"""

from __future__ import annotations

import ctypes

MADV_DONTNEED = 4


def drop_clean_pages(path: str) -> None:
    """Give back the resident pages of the file at `path`, as far as they are the file's own bytes. Advice: a kernel
    that declines is no error."""
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    span = ""
    with open("/proc/self/smaps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            head, _, rest = line.partition(" ")
            if not head.endswith(":"):
                permissions, *_, mapped = rest.split(maxsplit=4)
                span = head if permissions.startswith("r-") and mapped.rstrip("\n") == path else ""
            # A read-only mapping may hold pages that were written before (relocations): dropping those would undo
            # the writes.
            elif span and head == "Anonymous:" and rest.split()[0] == "0":
                start, end = (int(bound, 16) for bound in span.split("-"))
                libc.madvise(start, end - start, MADV_DONTNEED)
