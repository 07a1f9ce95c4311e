"""What a chunk repeats of the one before it: whole blocks, else whole sentences."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from firstlight.text.boundaries import free_zones, sentence_cuts, solids, whole, word_starts
from firstlight.text.clusters import is_cluster_start

if TYPE_CHECKING:
    from firstlight.text.layout import Layout, Span

__all__ = ["overlapping_starts"]

_LONG_WORD = 250  # bytes: look no further for the beginning of a word


def overlapping_starts(
    layout: Layout, bounds: list[int], *, smallest: int, largest: int, budget: int
) -> list[int]:
    """Return where each chunk begins: at its own text, or a little before it.

    Args:
        layout: The document.
        bounds: The boundaries between the chunks' own texts, the document's start and end included.
        smallest: The bytes that a chunk should have, overlap included.
        largest: The bytes that a chunk has at most, overlap included, if its own text has no more.
        budget: The bytes that an overlap has at most.
    """
    starts = bounds[:1]
    if len(bounds) <= 2 or not budget:
        return bounds[:-1]
    solid = solids(layout)
    for previous, begin, end in zip(bounds, bounds[1:], bounds[2:], strict=False):
        room = min(budget, largest - (end - begin))
        start = _start(layout, solid, max(previous + 1, begin - room), begin) if room > 0 else begin
        missing = smallest - (end - start)
        if missing > 0 and end < bounds[-1] and start - missing - _LONG_WORD > previous:
            start = _earlier_word(layout, solid, start, missing)
        starts.append(start)
    return starts


def _start(layout: Layout, solid: list[Span], earliest: int, begin: int) -> int:
    """Return the first block from `earliest` on; the first sentence, where whole blocks overlap little."""
    place = bisect_left(layout.cuts, earliest)
    block = min(layout.cuts[place], begin) if place < len(layout.cuts) else begin
    if 4 * (begin - block) >= 3 * (begin - earliest):
        return block
    for zone in free_zones(solid, whole(layout.data, earliest), block):
        cuts = sentence_cuts(layout.data, *zone)
        if cuts:
            return cuts[0]
    return block


def _earlier_word(layout: Layout, solid: list[Span], start: int, missing: int) -> int:
    """Return a word before `start` that makes up for the bytes `missing` from a chunk cut between words."""
    zones = free_zones(solid, start - missing - _LONG_WORD, start - missing + 1)
    data = layout.data
    cuts = [cut for zone in zones for cut in word_starts(data, *zone)]
    cuts = cuts or [cut for zone in zones for cut in range(*zone) if is_cluster_start(data, cut)]
    return cuts[-1] if cuts else start
