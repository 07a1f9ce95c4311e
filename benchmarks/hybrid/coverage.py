"""Hybrid while only some of the units are embedded, beside BM25: being embedded must not decide a ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.hybrid import ways
from firstlight.rank.fusion import best

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmarks.hybrid.legs import Floats, Legs, Places

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
ORDERS = ("document", "random", "demand")
# What a search would like to have vectors of, as the product counts it.
WANTED = 64
SEED = 1


def differences(legs: Legs, bm25: Floats) -> dict[str, dict[float, float]]:
    """Return by order, and by the share that is embedded, how far hybrid's nDCG@10 is above BM25's."""
    base = float(bm25.mean())
    return {
        order: {
            share: float(ways.by_both(legs, have=have).mean()) - base for share, have in _stages(legs, order)
        }
        for order in ORDERS
    }


def _stages(legs: Legs, order: str) -> Iterator[tuple[float, NDArray[np.bool_]]]:
    count = legs.bm25.shape[1]
    places = _order(legs, order)
    for share in SHARES:
        have = np.zeros(count, np.bool_)
        have[places[: int(share * count)]] = True
        yield share, have


def _order(legs: Legs, order: str) -> Places:
    count = legs.bm25.shape[1]
    if order == "document":
        return np.arange(count)
    if order == "random":
        return np.random.default_rng(SEED).permutation(count)
    wanted = [place for scores in legs.bm25 for place in best(scores, scores > 0, WANTED)[:WANTED].tolist()]
    return np.array(list(dict.fromkeys([*wanted, *range(count)])))
