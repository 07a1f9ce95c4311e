"""Where to cut: split points chosen by how good they are, not from left to right.

Filling chunks from the left would move every later boundary when a paragraph near the top grows. Here the best cut of
the whole document is taken first, then the next best, as long as each leaves both neighbours large enough; among equal
ranks the order is a hash of the text that follows. The result depends on the text alone, like the shape of a treap, and
an edit moves the boundaries beside it, no others.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from itertools import pairwise
from typing import TYPE_CHECKING
from zlib import crc32

from firstlight.text.clusters import cluster_starts
from firstlight.text.sentences import sentence_starts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from firstlight.text.layout import Layout

    Span = tuple[int, int]
    Finder = Callable[[bytes, int, int], list[int]]

__all__ = ["free_zones", "line_starts", "sentence_cuts", "solids", "split", "word_starts"]

_HASHED = (
    48  # bytes after a cut that decide between equals: an edit further down a paragraph does not move its cut
)
_CONTEXT = 64  # bytes read before a zone, to see how the sentence before it ends
_SPACES = re.compile(rb"[ \t\v\f\r\n]+|\xef\xbc[\x8c\x9b]|\xe3\x80[\x80\x81]|\xe2\x80\x8b")
_BLANK = re.compile(rb"[\s>]*+")
_LINE_ENDS = re.compile(rb"[\r\n]+")


def split(layout: Layout, smallest: int, largest: int) -> list[int]:
    """Return the boundaries of the passages of `layout`, its start and its end included, in bytes.

    Args:
        layout: The document.
        smallest: The fewest bytes of a passage, where the document allows.
        largest: The most bytes of a passage, unless it holds something that may not be split.
    """
    bounds = [layout.start, len(layout.data)]
    if bounds[1] - bounds[0] <= largest:
        return bounds
    by_rank: dict[int, list[int]] = {}
    for cut, rank in zip(layout.cuts, layout.ranks, strict=True):
        by_rank.setdefault(rank, []).append(cut)
    for rank in sorted(by_rank):
        _take(layout.data, bounds, by_rank[rank], (smallest, smallest), largest)
    _cut_short_end(layout, bounds, smallest, largest)
    found = [bounds[0]]
    solid: list[Span] | None = None
    for start, end in pairwise(bounds):
        if end - start > largest:
            solid = solids(layout) if solid is None else solid
            found += _refined(layout, solid, (start, end), smallest, largest)[1:]
        else:
            found.append(end)
    return found


def solids(layout: Layout) -> list[Span]:
    """Return the stretches of `layout` in which there is no cut between sentences or words, ascending and apart."""
    merged: list[Span] = []
    for start, end in sorted(layout.atoms + layout.glue):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def free_zones(solid: Sequence[Span], start: int, end: int) -> list[Span]:
    """Return the stretches of (start, end) outside `solid`."""
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
    """Return where sentences begin in `data[start:end]`, both excluded."""
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
    """Return where lines begin in `data[start:end]`, after the blank ones before them."""
    return [match.end() for match in _LINE_ENDS.finditer(data, start, end) if match.end() < end]


def word_starts(data: bytes, start: int, end: int) -> list[int]:
    """Return where words begin in `data[start:end]`."""
    return [match.end() for match in _SPACES.finditer(data, start, end) if match.end() < end]


def _take(data: bytes, bounds: list[int], cuts: Iterable[int], least: Span, largest: int) -> None:
    """Insert into `bounds` those of the equally good `cuts` that divide what is too large.

    Args:
        data: The document.
        bounds: The boundaries so far, ascending.
        cuts: The candidates.
        least: The fewest bytes to leave before and after a cut.
        largest: What is no larger than this is not divided.
    """
    before, after = least
    tried = []
    for cut in cuts:
        place = bisect_right(bounds, cut)
        left, right = bounds[place - 1], bounds[min(place, len(bounds) - 1)]
        if right - left > largest and cut - left >= before and right - cut >= after:
            tried.append((crc32(data[cut : cut + _HASHED]), cut))
    tried.sort()
    for _, cut in tried:
        place = bisect_right(bounds, cut)
        left, right = bounds[place - 1], bounds[place]
        if right - left > largest and cut - left >= before and right - cut >= after:
            bounds.insert(place, cut)


def _cut_short_end(layout: Layout, bounds: list[int], smallest: int, largest: int) -> None:
    """Cut the end off between blocks, though it is small: a document's last passage may be."""
    start, end = bounds[-2:]
    if end - start <= largest:
        return
    first = bisect_left(layout.cuts, start + smallest)
    last = bisect_right(layout.cuts, min(start + largest, end - smallest // 4))
    tried = [
        (layout.ranks[i], crc32(layout.data[layout.cuts[i] :][:_HASHED]), layout.cuts[i])
        for i in range(first, last)
    ]
    if tried:
        bounds.insert(-1, min(tried)[2])


def _refined(layout: Layout, solid: list[Span], gap: Span, smallest: int, largest: int) -> list[int]:
    """Return the boundaries within a gap that no cut between blocks divides well, its ends included."""
    data = layout.data
    bounds = list(gap)
    edges = _edges(layout, gap)
    half = (smallest + 1) // 2
    _take(data, bounds, edges, (half, half), largest)
    strict = (smallest, smallest)
    for find in (sentence_cuts, line_starts, word_starts):
        _divide(data, bounds, solid, find, strict, largest)
    _divide(data, bounds, solid, word_starts, (smallest, smallest - smallest // 6), largest)
    _pack(bounds, edges, largest)
    for find in (line_starts, word_starts, cluster_starts):
        _divide(data, bounds, layout.atoms, find, strict, largest)
    return bounds


def _divide(
    data: bytes, bounds: list[int], solid: Sequence[Span], find: Finder, least: Span, largest: int
) -> None:
    """Divide every gap that is too large at what `find` finds in its free zones."""
    for left, right in list(pairwise(bounds)):
        if right - left <= largest:
            continue
        low, high = left + least[0], right - least[1]
        cuts: list[int] = []
        for start, end in free_zones(solid, left, right):
            first, last = _whole(data, max(start, low - _CONTEXT)), _whole(data, min(end, high + _CONTEXT))
            if first < last:
                cuts += [cut for cut in find(data, first, last) if start < cut < end]
        _take(data, bounds, cuts, least, largest)


def _whole(data: bytes, at: int) -> int:
    """Return the first beginning of a code point at `at` or later."""
    while data[at : at + 1] and data[at] & 0xC0 == 0x80:
        at += 1
    return at


def _edges(layout: Layout, gap: Span) -> list[int]:
    """Return the cuts of a gap right before (with its headings) or right after something that may not be split."""
    start, end = gap
    cuts = layout.cuts
    headed = {after: before for before, after in layout.glue}
    found = set()
    for left, right in layout.atoms[bisect_left(layout.atoms, (start, start)) :]:
        if left >= end:
            break
        before = headed.get(left, left)
        place = bisect_left(cuts, before)
        if cuts[place : place + 1] == [before]:
            found.add(before)
        place = bisect_left(cuts, right)
        blank = _BLANK.match(layout.data, right)
        content = blank.end() if blank else right
        if content < len(layout.data):
            found.add(cuts[place] if place < len(cuts) and cuts[place] <= content else right)
    return sorted(cut for cut in found if start < cut < end)


def _pack(bounds: list[int], edges: list[int], largest: int) -> None:
    """Divide what is still too large at `edges`, filling passages from the left."""
    for left, right in list(pairwise(bounds)):
        if right - left <= largest:
            continue
        inside = edges[bisect_right(edges, left) : bisect_left(edges, right)]
        last = left
        for edge in [*inside, right]:
            if edge - left > largest and last > left:
                insort(bounds, last)
                left = last
            last = edge
