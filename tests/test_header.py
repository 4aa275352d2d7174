"""The header of a Lean file: its imports, and a body that keeps every position."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmath.header import Import, split_header


@pytest.mark.parametrize(
    ("text", "imports", "body"),
    [
        ("theorem t : True := trivial", (), "theorem t : True := trivial"),
        ("prelude\nimport Init\nx", (Import("Init", 2),), "       \n           \nx"),
        ("import A.«C D».E x", (Import("A.«C D».E", 1),), "                 x"),
        ("import A import B\n-- c\nx", (Import("A", 1), Import("B", 1)), "                 \n-- c\nx"),
        ("/- a /- b -/ import X -/ import A\nx", (Import("A", 1),), " " * 33 + "\nx"),
        ("module\npublic import A\npublic meta import all B\nx", (Import("A", 2), Import("B", 3)), None),
        ("/-- doc -/ import A", (), None),
        ("importA", (), None),
        ("prelude'", (), None),
        ("/- open", (), None),
        ("", (), ""),
    ],
)
def test_headers(text: str, imports: tuple[Import, ...], body: str | None) -> None:
    header = split_header(text)
    assert header.imports == imports
    if body is not None:
        assert header.body == body


words = st.sampled_from(
    ["import ", "prelude", "module", "public ", "all ", "A.B", "/-", "-/", "--", "\n", " ", "x", "∀", "/--"]
)


@settings(deadline=None)
@given(st.lists(words, max_size=20).map("".join))
def test_the_body_is_the_text_with_a_blank_header(text: str) -> None:
    body = split_header(text).body
    rest = body.lstrip(" \n")
    assert len(body) == len(text)
    assert text.endswith(rest)
    assert [i for i, c in enumerate(body) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]
    assert not split_header(rest).imports
