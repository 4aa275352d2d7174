"""The header of a Lean file: its imports, and a body that keeps every position."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmath.errors import InputError
from rlmath.header import Import, canonical, for_checks, split_header


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


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("", ""),
        ("import Mathlib\n", "import Mathlib"),
        ("-- c\nimport B\nimport A /- d -/\nimport B\n\n", "import A\nimport B"),
        ("import A\nopen  Nat   Real -- c\n\nopen Rat\nopen Nat Real", "import A\nopen Rat\nopen Nat Real"),
        ("set_option a 1\nset_option a 2\nset_option a 1", "set_option a 2\nset_option a 1"),
        ("  open Nat\n/- c -/ set_option a 1", "open Nat\nset_option a 1"),
        ("section\nopen A\nend\nopen A", "section\nopen A\nend\nopen A"),
        ('def f :=\n  -- c\n  s!"{x} -- no" ', 'def f :=\n  s!"{x} -- no"'),
        ("public import A\nmeta import B", "import A\nimport B"),
    ],
)
def test_canonical_headers(header: str, text: str) -> None:
    assert canonical(header).text == text
    assert canonical(text) == canonical(header)
    assert canonical(text).digest == canonical(header).digest


@given(st.lists(st.sampled_from(["import A", "import B.C", "-- c", "", "/- import X -/", "import A  "]), max_size=8))
def test_equal_imports_are_one_environment(lines: list[str]) -> None:
    modules = sorted({line.split()[1] for line in lines if line.startswith("import")})
    assert canonical("\n".join(lines)).imports == tuple(modules)
    assert canonical("\n".join(reversed(lines))).digest == canonical("\n".join(lines)).digest


@given(st.text('abc\n -/"open\u2200', max_size=30))
def test_canonical_is_a_normal_form(text: str) -> None:
    try:
        once = canonical(text)
    except InputError:  # it ends within a comment or a literal
        return
    assert canonical(once.text) == once


def test_automatic_bound_variables_are_off_unless_the_header_decides() -> None:
    assert for_checks("import A").commands == "set_option autoImplicit false"
    assert for_checks("open X").text == "set_option autoImplicit false\nopen X"
    assert for_checks("set_option autoImplicit true").commands == "set_option autoImplicit true"
