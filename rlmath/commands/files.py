"""Reading what was named on the command line: a file, or `-` for standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from rlmath.errors import InputError

STDIN = Path("-")


def read_bytes(path: Path, field: str) -> bytes:
    """The bytes of a file, or of standard input for `-`. Raises `InputError` about `field`."""
    if path == STDIN:
        if sys.stdin is None:
            raise InputError(field, "standard input is closed: name a file, or pipe something in")
        return sys.stdin.buffer.read()
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(field, f"cannot read {path}: {error.strerror}") from None


def read_text(path: Path, field: str) -> str:
    """As `read_bytes`, as text with line ends of \\n. Raises `InputError` for what is not UTF-8."""
    try:
        text = read_bytes(path, field).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(field, f"{path} is not UTF-8 (byte {error.start})") from None
    return text.replace("\r\n", "\n")


def read_lean(path: Path, field: str = "FILE.lean") -> str:
    """The file's text for the embedded kernel: without its header, every position kept. Raises `InputError`."""
    from rlmath.header import embedded_body

    return embedded_body(read_text(path, field), str(path))
