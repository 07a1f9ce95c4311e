"""BM25's formulas.

S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", Foundations and Trends
in Information Retrieval 3(4), 2009; fields weighted before saturation as in its section 3.6 (BM25F). The
inverse document frequency is Lucene's, which is never negative.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1 = 1.2
B = 0.75
K3 = 8.0  # how fast a repeated question word saturates


def idf(chunks: int, having: int) -> float:
    """Return the inverse document frequency of a term that `having` of `chunks` chunks have.

    Example:
        >>> round(idf(1000, 10), 4), idf(1000, 1000) > 0
        (4.5574, True)
    """
    return math.log1p((chunks - having + 0.5) / (having + 0.5))


def norms(lengths: NDArray[np.integer], average: float, *, k1: float, b: float) -> NDArray[np.float64]:
    """Return `k1 * (1 - b + b * length / average)` of each chunk: what its frequencies saturate against."""
    scaled = lengths.astype(np.float64)
    scaled *= k1 * b / average if average else 0.0
    scaled += k1 * (1 - b)
    return scaled


def query_weight(count: int) -> float:
    """Return the weight of a term that the question says `count` times.

    Example:
        >>> query_weight(1), query_weight(2)
        (1.0, 1.8)
    """
    return (K3 + 1) * count / (K3 + count)
