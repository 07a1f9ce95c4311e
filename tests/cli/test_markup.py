from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.cli.markup import CODE, HIDDEN, marks, plain


def shown(text: str) -> str:
    return "".join(character for character, mark in zip(text, marks(text), strict=True) if mark != HIDDEN)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[a](b.md)", "a"),
        ('![a](b.png "c")', "a"),
        ("[`a`](b_(c).md)", "`a`"),
        ("[a][b] and [c][]", "a and c"),
        ("values[0][1] and f[x](y)", "values[0][1] and f[x](y)"),
        ("a<!-- b\nc -->d", "ad"),
        ("Vec<T>, <NAME> and <ChildComp>", "Vec<T>, <NAME> and <ChildComp>"),
        ('<a id="x"></a>y<br/>', "y"),
        ("## A {#a-b}", "## A"),
        ("{{% alert %}}x{{% /alert %}} {{ count }}", "x {{ count }}"),
        ("[a]: https://b.c\nd", "\nd"),
        ("`<br>` and ``[a](b)``", "`<br>` and ``[a](b)``"),
    ],
)
def test_markup_goes_and_text_stays(text: str, left: str) -> None:
    assert shown(text) == left


def test_code_is_left_alone_and_its_fences_go() -> None:
    text = "a\n```html\n<br>\n```\n<br>\n"
    assert shown(text) == "a\n<br>\n\n\n"
    assert bytes(marks(text)).count(CODE) == len("<br>\n")


def test_what_stands_before_says_whether_a_part_is_code() -> None:
    text = "```\none\ntwo\n```"
    assert set(marks(text, 8, 11)) == {CODE}


def test_a_heading_is_plain() -> None:
    assert plain("**`ref()`** {#ref}") == "ref()"


@given(st.text(alphabet=st.sampled_from('ab[]()<>!-`~{}%#: \n"'), max_size=200), st.integers(0, 200))
def test_a_part_is_marked_as_in_the_whole(text: str, start: int) -> None:
    whole = marks(text)
    assert len(whole) == len(text)
    assert marks(text, start) == whole[start:]
