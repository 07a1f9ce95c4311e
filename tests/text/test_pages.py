from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.text.pages import split_pages
from firstlight.text.tokens import est_tokens

_TEXT = st.lists(
    st.sampled_from(
        ["word ", "水。", "😀", "e\u0301", "\n\n", "\r\n", "\r", "\f", "End. ", "x" * 50, "\u2028"]
    ),
    max_size=120,
).map("".join)


@given(_TEXT, st.integers(2, 60))
def test_pages_are_the_text_in_order_and_bounded(text: str, tokens: int) -> None:
    pages = split_pages(text, tokens)
    if not text.strip():
        assert pages == []
        return
    assert "".join(page.text for page in pages) == text
    assert [page.index for page in pages] == list(range(len(pages)))
    for page in pages:
        assert text[page.start : page.end] == page.text
        assert est_tokens(page.text) <= tokens


def test_a_page_ends_at_form_feeds_first_then_at_paragraphs() -> None:
    sheet = "A paragraph of some words that fill a line.\n\n" * 60
    pages = split_pages("\f".join([sheet] * 6), 1200)
    assert all(page.text.startswith("\f") for page in pages[1:])
    assert all(page.text.endswith("\n\n") for page in split_pages(sheet * 6, 1200))


def test_no_page_parts_a_character_from_its_marks_or_a_cr_from_its_lf() -> None:
    for unit in ("e\u0301\u0301", "\r\n", "👩‍👩‍👧"):
        pages = split_pages("a" + unit * 4000 + "b", 200)
        assert len(pages) > 10
        assert not any(page.text[0] in "\u0301\n\u200d" for page in pages)


def test_long_words_and_long_lines_are_bounded() -> None:
    noise = random.Random(1)
    for text in (
        "x" * 1_000_000,
        "`" * 300_000,
        " " * 300_000 + "x",
        "".join(noise.choices("abc", k=300_000)),
    ):
        pages = split_pages(text)
        assert max(est_tokens(page.text) for page in pages) <= 1200
        assert len(pages) <= 3 * est_tokens(text) / 1200


def test_an_early_edit_leaves_later_pages_alone() -> None:
    noise = random.Random(2)
    words = "".join("".join(noise.choices("abcdefgh", k=6)) + noise.choice(" ..\n") for _ in range(60_000))
    old = {page.text for page in split_pages(words)}
    new = {page.text for page in split_pages("Something new. " + words)}
    assert len(new - old) <= 4


def test_pages_know_their_lines_and_have_no_headings() -> None:
    pages = split_pages("# no heading\r\n\r\n" * 3, 5)
    assert [(page.line_start, page.line_end, page.headings) for page in pages] == [
        (1, 2, ()),
        (3, 4, ()),
        (5, 6, ()),
    ]


@pytest.mark.parametrize("tokens", [0, -1])
def test_a_size_out_of_range_is_refused_with_the_range(tokens: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        split_pages("text", tokens)
