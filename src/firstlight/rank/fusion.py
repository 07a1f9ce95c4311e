"""Two legs, one score: a convex combination of normalised BM25 and cosine, also where a cosine is missing.

Both are brought onto scales that move neither with the number of hits asked for, nor with filters, nor with
the candidates: BM25 runs from 0 to the most that the question can reach, the cosine from the model's floor,
where a passage begins to count as a match, to 1 (Bruch, Gai and Ingber 2023, "An Analysis of Fusion Functions
for Hybrid Retrieval", have the comparison with reciprocal ranks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# How many embedded passages of similar BM25 say what cosine one has that is not embedded yet.
NEIGHBOURS = 16
# As many passages' worth of the assumption that a passage's cosine is what its BM25 is.
_PRIOR = 4.0


class Fused(NamedTuple):
    """Scores float64[n], 0 to 1, and bool[n], true where a passage is a match at all."""

    scores: Floats
    matched: NDArray[np.bool_]


def normalised(cosines: Floats, floor: float) -> Floats:
    """Return cosines on the scale from `floor` (0) to 1 (1); NaN stays.

    Example:
        >>> normalised(np.array([0.2, 0.6, 1.0, -1.0]), 0.2).round(2).tolist()
        [0.0, 0.5, 1.0, 0.0]
    """
    return np.clip((cosines - floor) / (1.0 - floor), 0.0, 1.0)


def fuse(bm25: Floats, cosines: Floats, *, bound: float, floor: float, weight: float) -> Fused:
    """Combine both legs' scores of the same passages.

    A passage without a cosine is given the one that embedded passages of similar BM25 have, so that being
    embedded, or not yet, neither helps nor hurts.

    Args:
        bm25: float64[n], 0 where no term matches.
        cosines: float64[n], NaN where a passage is not embedded.
        bound: The question's upper bound of BM25; 0 where no document has any of its words.
        floor: The cosine from which a passage counts as a match.
        weight: The share of the cosine, 0 to 1.

    Example:
        >>> fused = fuse(np.array([4.0, 0.0]), np.array([0.6, 0.1]), bound=8.0, floor=0.2, weight=0.5)
        >>> fused.scores.tolist(), fused.matched.tolist()
        ([0.5, 0.0], [True, False])
    """
    lexical = bm25 / bound if bound > 0 else np.zeros(len(bm25))
    near = np.nan_to_num(normalised(cosines, floor))
    missing = np.isnan(cosines) & (bm25 > 0)
    if missing.any():
        near[missing] = imputed(lexical, near, missing)
    matched = (bm25 > 0) | (cosines >= floor)
    scores = np.where(matched, (1.0 - weight) * lexical + weight * near, 0.0)
    return Fused(scores, matched)


def imputed(lexical: Floats, near: Floats, missing: NDArray[np.bool_]) -> Floats:
    """Return the cosine to assume of each missing passage: the mean of embedded ones of similar BM25.

    Args:
        lexical: float64[n], normalised BM25.
        near: float64[n], normalised cosines; anything where `missing`.
        missing: bool[n].
    """
    wanted = lexical[missing]
    known = np.flatnonzero(~missing & (lexical > 0))
    order = known[np.argsort(lexical[known], kind="stable")]
    ascending = lexical[order]
    sums = np.concatenate([[0.0], np.cumsum(near[order])])
    middle = np.searchsorted(ascending, wanted)
    low = np.clip(middle - NEIGHBOURS // 2, 0, max(0, len(order) - NEIGHBOURS))
    high = np.minimum(low + NEIGHBOURS, len(order))
    return (sums[high] - sums[low] + _PRIOR * wanted) / (high - low + _PRIOR)


def best(scores: Floats, matched: NDArray[np.bool_], depth: int) -> NDArray[np.int64]:
    """Return the positions of the `depth` best matches, best first, and of all that tie with the last.

    Example:
        >>> best(np.array([0.5, 0.9, 0.5, 0.0]), np.array([True, True, True, False]), 2).tolist()
        [1, 0, 2]
    """
    found = np.flatnonzero(matched)
    if len(found) > depth:
        values = scores[found]
        found = found[values >= np.partition(values, len(values) - depth)[len(values) - depth]]
    return found[np.argsort(-scores[found], kind="stable")]
