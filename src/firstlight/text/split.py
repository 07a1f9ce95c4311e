"""Where to cut: split points chosen by how good they are, not from left to right.

Filling chunks from the left would move every later boundary when a paragraph near the top grows. Here the
best cut of the whole document is taken first, then the next best, as long as each leaves both its neighbours
large enough; among equal ranks the order is a hash of the line that follows. The result depends on the text
alone, like the shape of a treap, and an edit moves the boundaries beside it, no others.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from firstlight.text.boundaries import free_zones, line_starts, sentence_cuts, solids, whole, word_starts
from firstlight.text.clusters import LONGEST, cluster_starts, point_starts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firstlight.text.layout import Layout, Span

    Finder = Callable[[bytes, int, int], list[int]]

__all__ = ["split"]

# What decides between equals are the bytes after a cut: few and of one line, so that an edit further down a
# paragraph, or below a heading, does not move its cut; more only where those repeat themselves.
_HASHED, _HASHED_MORE = 48, 480
_CONTEXT = 64  # bytes read before a zone, to see how the sentence before it ends
_BLANK = re.compile(rb"[\s>]*+")  # between two blocks, in quotes too


class _Sizes(NamedTuple):
    """What is larger than `largest` is divided; at least `before` and `after` bytes stay beside a cut."""

    largest: int
    before: int
    after: int


def split(layout: Layout, smallest: int, largest: int) -> list[int]:
    """Return the boundaries of the passages of `layout`, its start and its end included, in bytes.

    Args:
        layout: The document.
        smallest: The fewest bytes of a passage, where the document allows; at most half of `largest`.
        largest: The most bytes of a passage, unless it holds something that may not be split.
    """
    bounds = [layout.start, len(layout.data)]
    if bounds[1] - bounds[0] <= largest:
        return bounds
    sizes = _Sizes(largest, smallest, smallest)
    by_rank: dict[int, list[int]] = {}
    for cut, rank in zip(layout.cuts, layout.ranks, strict=True):
        by_rank.setdefault(rank, []).append(cut)
    for rank in sorted(by_rank):
        _take(layout.data, bounds, by_rank[rank], sizes)
    _cut_short_end(layout, bounds, sizes)
    found = bounds[:1]
    solid: list[Span] | None = None
    for start, end in pairwise(bounds):
        if end - start <= largest:
            found.append(end)
        else:
            solid = solids(layout) if solid is None else solid
            found += _refined(layout, solid, (start, end), sizes)[1:]
    return found


def _take(data: bytes, bounds: list[int], cuts: Sequence[int], sizes: _Sizes) -> None:
    """Insert into `bounds` those of the equally good `cuts` that divide what is too large; both ascend."""
    largest, before, after = sizes
    tried: list[int] = []
    too_large = 0
    for left, right in pairwise(bounds):
        if right - left > largest:
            too_large += 1
            tried += cuts[bisect_left(cuts, left + before) : bisect_right(cuts, right - after)]
    for number in sorted(range(len(tried)), key=_hashes(data, tried).__getitem__):
        cut = tried[number]
        place = bisect_right(bounds, cut)
        left, right = bounds[place - 1], bounds[place]
        if right - left > largest and cut - left >= before and right - cut >= after:
            bounds.insert(place, cut)
            too_large += (cut - left > largest) + (right - cut > largest) - 1
            if not too_large:
                return


def _hashes(data: bytes, cuts: Sequence[int]) -> list[int]:
    """Return what orders `cuts`."""
    lines = [crc32(data[cut : cut + _HASHED].split(b"\n", 1)[0]) for cut in cuts]
    counts = Counter(lines)
    if len(counts) == len(lines):
        return lines
    return [
        line << 32 | (crc32(data[cut : cut + _HASHED_MORE]) if counts[line] > 1 else 0)
        for line, cut in zip(lines, cuts, strict=True)
    ]


def _cut_short_end(layout: Layout, bounds: list[int], sizes: _Sizes) -> None:
    """Cut the end off between blocks, though it is small: a document's last passage may be."""
    start, end = bounds[-2:]
    if end - start <= sizes.largest:
        return
    first = bisect_left(layout.cuts, start + sizes.before)
    last = bisect_right(layout.cuts, min(start + sizes.largest, end - sizes.after // 4))
    cuts = layout.cuts[first:last]
    tried = zip(layout.ranks[first:last], _hashes(layout.data, cuts), cuts, strict=True)
    if cuts:
        bounds.insert(-1, min(tried)[2])


def _refined(layout: Layout, solid: list[Span], gap: Span, sizes: _Sizes) -> list[int]:
    """Return the boundaries within a gap that no cut between blocks divides well, its ends included."""
    data, (largest, smallest, _) = layout.data, sizes
    bounds = list(gap)
    edges = _edges(layout, gap)
    _take(data, bounds, edges, _Sizes(largest, smallest // 2 + 1, smallest // 2 + 1))
    for find in (sentence_cuts, line_starts, word_starts):
        _divide(data, bounds, solid, find, sizes)
    # A gap barely too large may have a long word in its middle; the overlap makes up for what is missing
    # then.
    _divide(data, bounds, solid, word_starts, _Sizes(largest, smallest, smallest - smallest // 6))
    _pack(bounds, edges, largest)
    for find in (line_starts, word_starts):  # between headings, and in their words
        _divide(data, bounds, layout.atoms, find, sizes)
    slack = min(LONGEST, smallest // 4)  # rather a chunk that is a little too small than half a character
    _divide_words(layout, bounds, cluster_starts, sizes)
    _divide_words(layout, bounds, cluster_starts, _Sizes(largest, smallest - slack, smallest - slack))
    _divide_words(layout, bounds, point_starts, sizes)
    return bounds


def _divide(data: bytes, bounds: list[int], solid: Sequence[Span], find: Finder, sizes: _Sizes) -> None:
    """Divide every gap that is too large at what `find` finds in its free zones."""
    for left, right in list(pairwise(bounds)):
        if right - left <= sizes.largest:
            continue
        low, high = left + sizes.before, right - sizes.after
        cuts: list[int] = []
        for start, end in free_zones(solid, left, right):
            first, last = whole(data, max(start, low - _CONTEXT)), whole(data, min(end, high + _CONTEXT))
            if first < last:
                cuts += [cut for cut in find(data, first, last) if start < cut < end]
        _take(data, bounds, cuts, sizes)


def _divide_words(layout: Layout, bounds: list[int], find: Finder, sizes: _Sizes) -> None:
    """Divide what is still too large inside words; what has no end gets a few cuts at a time."""
    count = 0
    while count < len(bounds):
        count = len(bounds)
        for left, right in list(pairwise(bounds)):
            if right - left > sizes.largest:
                cuts: list[int] = []
                for start, end in free_zones(layout.atoms, left + sizes.before, right - sizes.after + 1):
                    cuts += find(layout.data, start, end)
                _take(layout.data, bounds, cuts, sizes)


def _edges(layout: Layout, gap: Span) -> list[int]:
    """Return the cuts of a gap right before (its headings) or after something that may not be split."""
    start, end = gap
    cuts = layout.cuts
    headed = {after: before for before, after in layout.glue}
    found = set()
    for left, right in layout.atoms[bisect_left(layout.atoms, (start, start)) :]:
        if left >= end:
            break
        found.add(headed.get(left, left))
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
        begin = last = left
        for edge in [*edges[bisect_right(edges, left) : bisect_left(edges, right)], right]:
            if edge - begin > largest and last > begin:
                insort(bounds, last)
                begin = last
            last = edge
