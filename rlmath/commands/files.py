"""Reading a Lean file that was named on the command line."""

from __future__ import annotations

from pathlib import Path

from rlmath.errors import InputError


def read_lean(path: Path) -> str:
    """The file's text for the embedded kernel: without its header, every position kept. Raises `InputError`."""
    from rlmath.header import embedded_body

    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(str(path), f"cannot read it: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"is not UTF-8 (byte {error.start})") from None
    return embedded_body(text, str(path))
