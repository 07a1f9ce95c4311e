"""Segments -> one segment, and when to do so."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from firstlight.lexical.kernels import group_by_term
from firstlight.lexical.segment import Segment, living, make_segment, order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Dead = NDArray[np.bool_] | None

MOST_SEGMENTS = 16


def plan_merge(sizes: Sequence[int]) -> range | None:
    """Choose which neighbouring segments to merge now: those of which the largest is the smallest share.

    A chunk is then copied into a segment several times its own one's size, so that over any history it is
    copied a number of times that grows with the logarithm of the corpus.

    Args:
        sizes: How large each segment is, in the order of their ids.

    Returns:
        Their positions, or None while there are few enough.

    Example:
        >>> plan_merge([5] * 16), plan_merge([1000] * 8 + [5] * 9)
        (None, range(8, 17))
    """
    if len(sizes) <= MOST_SEGMENTS:
        return None
    windows = (range(*ends) for ends in itertools.combinations(range(len(sizes) + 1), 2))
    return min((window for window in windows if len(window) > 1), key=lambda window: _share(sizes, window))


def _share(sizes: Sequence[int], window: range) -> tuple[float, int]:
    """Return the share of the largest segment of a window, and the size of all."""
    merged = [sizes[place] for place in window]
    return max(merged) / max(sum(merged), 1), sum(merged)


def merge_segments(parts: Sequence[tuple[Segment, Dead]]) -> Segment:
    """Merge segments into the one that a fresh build of their living chunks gives.

    Args:
        parts: Segments in the order of their ids, which do not interleave, each with bool[n], true where
            a chunk is dead, or None.
    """
    alive = [living(segment, dead) for segment, dead in parts]
    ids = np.concatenate([np.empty(0, np.int64), *(s.ids[a] for (s, _), a in zip(parts, alive, strict=True))])
    if (np.diff(ids) <= 0).any():
        raise ValueError("the ids of the segments interleave")
    lengths = [segment.lengths[keep] for (segment, _), keep in zip(parts, alive, strict=True)]
    postings = [_living_postings(segment, keep) for (segment, _), keep in zip(parts, alive, strict=True)]
    terms = list(set().union(*(names for names, *_ in postings)))
    terms = list(map(terms.__getitem__, order_of(terms).tolist()))
    rank = {term: number for number, term in enumerate(terms)}
    runs, first = [], 0
    for (names, sizes, chunks, frequencies), keep in zip(postings, alive, strict=True):
        ranks = np.fromiter(map(rank.__getitem__, names), np.int64, len(names))
        runs.append((ranks, sizes, chunks + np.uint32(first), frequencies))
        first += int(keep.sum())
    all_lengths = np.concatenate([np.empty(0, np.uint32), *lengths])
    return make_segment(ids, all_lengths, terms, group_by_term(runs, len(terms)))


def _living_postings(
    segment: Segment, alive: NDArray[np.bool_]
) -> tuple[list[bytes], NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint16]]:
    """Return the terms of the living chunks and how many postings each has; then all postings.

    Of each posting: its chunk's new position, and its frequency.
    """
    keep = alive[segment.chunks]
    kept = np.zeros(len(keep) + 1, np.int64)
    np.cumsum(keep, out=kept[1:])
    sizes = np.diff(kept[segment.offsets])
    names = list(itertools.compress(segment.encoded_terms(), (sizes > 0).tolist()))
    position = np.cumsum(alive) - 1
    chunks = position[segment.chunks[keep]].astype(np.uint32)
    return names, sizes[sizes > 0], chunks, segment.frequencies[keep].astype(np.uint16)
