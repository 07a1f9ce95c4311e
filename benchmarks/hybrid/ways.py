"""The ways of ranking that are compared; each returns float64[q], the nDCG@10 of every question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.hybrid.legs import MEAN
from firstlight.corpus.legs import WEIGHT
from firstlight.embed.local import FLOOR
from firstlight.rank.fusion import best, fuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.hybrid.legs import Floats, Legs, Places

# Reciprocal rank fusion as it was published (Cormack, Clarke and Büttcher 2009), over as many of each leg.
RRF_K = 60
RRF_DEPTH = 200


def by_bm25(legs: Legs) -> Floats:
    return legs.judge(lambda at, depth: _lexical(legs, at, depth))


def by_vector(legs: Legs, *, windows: str = MEAN, floor: float = -1.0) -> Floats:
    """Rank by the cosine alone: every unit, or those that reach the floor."""
    return legs.judge(lambda at, depth: _near(legs, at, depth, windows, floor))


def by_both(
    legs: Legs,
    *,
    weight: float = WEIGHT,
    floor: float = FLOOR,
    windows: str = MEAN,
    have: NDArray[np.bool_] | None = None,
) -> Floats:
    """Rank as the product does.

    Args:
        legs: The collection.
        weight: The share of the cosine.
        floor: The cosine from which a unit counts as a match.
        windows: How windows become one score.
        have: bool[n], which units are embedded so far; None for all.
    """

    def rank(at: int, depth: int) -> Places:
        if not legs.known_questions[at]:
            return _lexical(legs, at, depth)
        cosines = legs.seen(at, windows)
        if have is not None:
            cosines[~have] = np.nan
        fused = fuse(legs.bm25[at], cosines, bound=float(legs.bounds[at]), floor=floor, weight=weight)
        return best(fused.scores, fused.matched, depth)

    return legs.judge(rank)


def by_ranks(legs: Legs, *, windows: str = MEAN) -> Floats:
    """Rank by reciprocal rank fusion."""

    def rank(at: int, depth: int) -> Places:
        scores = np.zeros(len(legs.bm25[at]))
        for leg in (_lexical(legs, at, RRF_DEPTH), _near(legs, at, RRF_DEPTH, windows)):
            listed = leg[:RRF_DEPTH]
            scores[listed] += 1.0 / (RRF_K + 1 + np.arange(len(listed)))
        return best(scores, scores > 0, depth)

    return legs.judge(rank)


def _lexical(legs: Legs, at: int, depth: int) -> Places:
    return best(legs.bm25[at], legs.bm25[at] > 0, depth)


def _near(legs: Legs, at: int, depth: int, windows: str, floor: float = -1.0) -> Places:
    cosines = legs.seen(at, windows)
    return best(cosines, cosines >= floor, depth)
