"""The cuts inside blocks: the sentences, lines and words of what is neither code nor heading."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from firstlight.text.layout import merged
from firstlight.text.sentences import sentence_starts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstlight.text.layout import Layout, Span

__all__ = ["free_zones", "line_starts", "sentence_cuts", "solids", "whole", "word_starts"]

# White space, and what ends a clause where words are not spaced: wide commas and semicolons, U+200B.
_SPACES = re.compile(rb"[ \t\v\f\r\n]++|\xef\xbc[\x8c\x9b]|\xe3\x80[\x80\x81]|\xe2\x80\x8b")
_LINE_ENDS = re.compile(rb"[\r\n]++")


def solids(layout: Layout) -> list[Span]:
    """Return the stretches with no cut between sentences or words, headings included, ascending and apart."""
    return merged(layout.atoms + layout.glue)


def free_zones(solid: Sequence[Span], start: int, end: int) -> list[Span]:
    """Return the stretches of (start, end) outside `solid`.

    Example:
        >>> free_zones([(0, 2), (5, 8)], 1, 10)
        [(2, 5), (8, 10)]
    """
    zones = []
    at = start
    for index in range(max(0, bisect_right(solid, (start, start)) - 1), len(solid)):
        left, right = solid[index]
        if left >= end:
            break
        if left > at:
            zones.append((at, left))
        at = max(at, right)
    if at < end:
        zones.append((at, end))
    return zones


def sentence_cuts(data: bytes, start: int, end: int) -> list[int]:
    """Return where sentences begin in `data[start:end]`, both excluded; both are whole code points."""
    piece = data[start:end]
    text = piece.decode("utf-8", "surrogatepass")
    starts = sentence_starts(text)
    if len(text) == len(piece):
        return [start + at for at in starts]
    found = []
    last, offset = 0, start
    for at in starts:
        offset += len(text[last:at].encode("utf-8", "surrogatepass"))
        last = at
        found.append(offset)
    return found


def line_starts(data: bytes, start: int, end: int) -> list[int]:
    """Return where lines begin in `data[start:end]`, blank ones apart."""
    return [match.end() for match in _LINE_ENDS.finditer(data, start, end) if match.end() < end]


def word_starts(data: bytes, start: int, end: int) -> list[int]:
    """Return where words begin in `data[start:end]`."""
    return [match.end() for match in _SPACES.finditer(data, start, end) if match.end() < end]


def whole(data: bytes, at: int) -> int:
    """Return where the first code point at `at` or later begins."""
    while data[at : at + 1] and data[at] & 0xC0 == 0x80:
        at += 1
    return at
