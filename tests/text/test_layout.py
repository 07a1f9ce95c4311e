"""The quick ways to find blank lines, sentences and cuts find what the plain ones do."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.text import sentences, split
from firstlight.text.layout import BLOCK, PAGE, encode, plain_layout
from firstlight.text.pages import split_pages

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_BLANK_LINES = re.compile(rb"(?>\r\n|\n|\r)(?>[ \t\v]*(?>\r\n|\n|\r))+|(?=\f)")


def cuts_of(text: str, start: int = 0) -> dict[int, int]:
    """Find blank lines by trying everything everywhere."""
    data, body = encode(text), len(encode(text[:start]))
    found: dict[int, int] = {}
    for match in _BLANK_LINES.finditer(data, body):
        if body < match.end() < len(data):
            found[match.end()] = PAGE if data[match.end()] == ord("\f") else BLOCK
    return found


def take(data: bytes, bounds: list[int], cuts: Iterable[int], sizes: split._Sizes) -> None:
    """Try every cut, in the order of two hashes of what follows it."""
    largest, before, after = sizes

    def order(cut: int) -> tuple[int, int, int]:
        return crc32(data[cut : cut + 48].split(b"\n", 1)[0]), crc32(data[cut : cut + 480]), cut

    for cut in sorted(cuts, key=order):
        place = bisect_right(bounds, cut)
        left, right = bounds[place - 1], bounds[min(place, len(bounds) - 1)]
        if right - left > largest and cut - left >= before and right - cut >= after:
            bounds.insert(place, cut)


def pieces(*units: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(units), max_size=200).map("".join)


@given(
    st.one_of(
        pieces("\n", " ", "\t", "a", "\n\n", "é"),
        pieces("\r\n", " ", "a", "\r\n\r\n"),
        pieces("\r", "\n", "\f", " ", "\v", "a", "\r\n"),
    ),
    st.integers(0, 5),
)
def test_blank_lines_and_form_feeds_are_found_whatever_ends_a_line(text: str, start: int) -> None:
    layout = plain_layout(text, min(start, len(text)))
    assert dict(zip(layout.cuts, layout.ranks, strict=True)) == cuts_of(text, min(start, len(text)))


@given(
    pieces("Word. ", "word ", "* * *\n\n", "\n\n", "\n", "\f", "x" * 40, "水。", "End! "), st.integers(2, 40)
)
def test_pages_are_those_of_trying_every_cut(text: str, tokens: int) -> None:
    found = split_pages(text, tokens)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split, "_take", take)
        assert split_pages(text, tokens) == found


def test_pages_of_real_documents_are_those_of_trying_every_cut(
    data_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [path for path in sorted((data_pack / "long").iterdir()) if path.suffix in {".txt", ".md"}]
    texts = [path.read_bytes().decode("utf-8", "replace")[:400_000] for path in paths]
    texts += [texts[0].replace("\n", "\r\n"), "A line like any other.\n\n" * 20_000]
    found = [split_pages(text) for text in texts]
    for text in texts:
        layout = plain_layout(text)
        assert dict(zip(layout.cuts, layout.ranks, strict=True)) == cuts_of(text)
    monkeypatch.setattr(split, "_take", take)
    assert [split_pages(text) for text in texts] == found


@given(pieces("Word. ", "word ", "\n\n", "…” ", "水。", "คำ ", "ဟ ", " ", "e.g. "), st.integers(0, 4))
def test_sentences_are_those_of_looking_at_every_space(text: str, start: int) -> None:
    found = sentences.sentence_starts(text, min(start, len(text)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "_BOUNDARY", sentences._PHRASE_BOUNDARY)
        assert sentences.sentence_starts(text, min(start, len(text))) == found
