"""Retrieval quality, as trec_eval defines it."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def ndcg(ranking: Sequence[str], relevance: Mapping[str, int], *, depth: int = 10) -> float:
    """Return nDCG at `depth`: linear gain, discount `log2(rank + 1)` (Järvelin and Kekäläinen 2002).

    The ideal ranking is made of all judged documents, found or not; zero and negative judgements gain 0.

    Example:
        >>> ndcg(["a", "b"], {"a": 1})
        1.0
        >>> round(ndcg(["b", "a"], {"a": 1}), 4)
        0.6309
    """
    best = _gain(sorted(relevance.values(), reverse=True)[:depth])
    return _gain([relevance.get(name, 0) for name in ranking[:depth]]) / best if best else 0.0


def mean_ndcg(
    rankings: Mapping[str, Sequence[str]], qrels: Mapping[str, Mapping[str, int]], *, depth: int = 10
) -> float:
    """Return the mean over every judged question; one without a ranking counts as 0."""
    return mean(ndcg(rankings.get(question, ()), judged, depth=depth) for question, judged in qrels.items())


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean; 0 of nothing."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def _gain(relevances: Sequence[int]) -> float:
    return sum(max(gain, 0) / log2(rank + 1) for rank, gain in enumerate(relevances, start=1))
