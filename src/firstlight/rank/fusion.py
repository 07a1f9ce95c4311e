"""Two legs, one score: a convex combination of normalised BM25 and cosine, also where a cosine is missing.

Both are brought onto scales that move neither with the number of hits asked for, nor with filters, nor with
the candidates: BM25 runs from 0 to the most that the question can reach, the cosine to 1 from a little below
the model's floor, where a passage begins to count as a match (Bruch, Gai and Ingber 2023, "An Analysis of
Fusion Functions for Hybrid Retrieval", have the comparison with reciprocal ranks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# How many of the best passages by BM25 tell what cosine goes with what BM25, and how many of those, embedded
# or not, how far the cosine is to be relied upon.
POOL = 200
TOP = 50
# How far below the floor the scale of cosines begins, as a share of what lies above it.
_BELOW = 0.3
# How firmly it is assumed, before any passage was seen, that a normalised cosine is what the BM25 is: as one
# passage's worth for the level, and less for the slope.
_PRIOR = np.array([1.0, 0.3])


class Fused(NamedTuple):
    """Both legs as one.

    Attributes:
        scores: float64[n], 0 to 1.
        matched: bool[n], true where a passage is a match at all.
        near: float64[n], the normalised cosines, those that are assumed among them.
        weight: The share of the cosine that was used.
    """

    scores: Floats
    matched: NDArray[np.bool_]
    near: Floats
    weight: float


def normalised(cosines: Floats, floor: float) -> Floats:
    """Return cosines on a scale from 0 to 1, which begins below `floor`; NaN stays.

    Of passages that words have found, the cosine tells the better ones apart below the floor too
    (benchmarks/results/hybrid.md).

    Example:
        >>> normalised(np.array([-1.0, 0.1, 0.3, 1.0]), 0.3).round(2).tolist()
        [0.0, 0.01, 0.23, 1.0]
    """
    zero = floor - _BELOW * (1.0 - floor)
    return np.clip((cosines - zero) / (1.0 - zero), 0.0, 1.0)


def fuse(bm25: Floats, cosines: Floats, *, bound: float, floor: float, weight: float) -> Fused:
    """Combine both legs' scores of the same passages.

    A passage without a cosine is given the one that embedded passages of its BM25 have, so that being
    embedded, or not yet, neither helps nor hurts; and the fewer of the best by BM25 are embedded, the less
    the cosine counts.

    Args:
        bm25: float64[n], 0 where no term matches.
        cosines: float64[n], NaN where a passage is not embedded.
        bound: The question's upper bound of BM25; 0 where no document has any of its words.
        floor: The cosine from which a passage counts as a match.
        weight: The share of the cosine, 0 to 1.

    Example:
        >>> fused = fuse(np.array([4.0, 0.0]), np.array([0.6, 0.1]), bound=8.0, floor=0.2, weight=0.5)
        >>> fused.scores.round(3).tolist(), fused.matched.tolist()
        ([0.558, 0.0], [True, False])
    """
    lexical = bm25 / bound if bound > 0 else np.zeros(len(bm25))
    near = np.nan_to_num(normalised(cosines, floor))
    missing = np.isnan(cosines) & (bm25 > 0)
    if missing.any():
        pool = best(lexical, bm25 > 0, POOL)
        near[missing] = imputed(lexical, near, missing, pool)
        weight *= 1.0 - float(missing[pool[:TOP]].mean())
    matched = (bm25 > 0) | (cosines >= floor)
    scores = np.where(matched, (1.0 - weight) * lexical + weight * near, 0.0)
    return Fused(scores, matched, near, weight)


def imputed(lexical: Floats, near: Floats, missing: NDArray[np.bool_], pool: NDArray[np.int64]) -> Floats:
    """Return the cosine to assume of each missing passage: a line through the embedded ones.

    Ridge regression of the cosine on BM25 (Hoerl and Kennard 1970), drawn towards equality where there is
    little to go by.

    Args:
        lexical: float64[n], normalised BM25.
        near: float64[n], normalised cosines; anything where `missing`.
        missing: bool[n].
        pool: The passages that are best by BM25.
    """
    known = pool[~missing[pool]]
    x, y = lexical[known], near[known]
    # Towards level 0 and slope 1: what is fitted is how far the cosine departs from the BM25.
    moments = np.array([[len(known), x.sum()], [x.sum(), (x * x).sum()]]) + np.diag(_PRIOR)
    level, slope = np.linalg.solve(moments, np.array([(y - x).sum(), (x * (y - x)).sum()]))
    wanted = lexical[missing]
    assumed: Floats = np.clip(level + (1.0 + slope) * wanted, 0.0, 1.0)
    return assumed


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
