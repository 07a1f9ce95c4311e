"""How good a ranking of documents is, and how far two of them agree; without a library."""

from __future__ import annotations

from itertools import chain, islice
from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from firstlight.rank.types import Hit

# How deep rankings are looked at: as many hits as a person or an agent is shown.
CUTOFF = 10


def ranked_documents(hits: Iterable[Hit], *, cutoff: int = CUTOFF) -> list[str]:
    """Return the documents of an answer, best first; those with the very same passage follow its hit."""
    named = chain.from_iterable((hit.path, *hit.also_in) for hit in hits)
    return list(islice(dict.fromkeys(named), cutoff))


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], *, cutoff: int = CUTOFF) -> float:
    """Return the normalised discounted cumulative gain, as trec_eval has it (Järvelin and Kekäläinen 2002).

    The gain is linear, and the ideal ranking is that of all judged documents.

    Args:
        ranking: Documents, best first.
        grades: How relevant each judged document is; 0 and below is not at all.
        cutoff: How deep to look.

    Example:
        >>> round(ndcg(["b", "a"], {"a": 1}), 4), ndcg(["a"], {"a": 2}), ndcg(["a"], {})
        (0.6309, 1.0, 0.0)
    """
    gains = [max(0, grades.get(path, 0)) for path in ranking[:cutoff]]
    ideal = _discounted(sorted((max(0, grade) for grade in grades.values()), reverse=True)[:cutoff])
    return _discounted(gains) / ideal if ideal else 0.0


def agreement(first: Sequence[str], second: Sequence[str]) -> float:
    """Return which share of the longer of two rankings both have; 1 where both are empty.

    Example:
        >>> agreement(["a", "b"], ["b", "c", "d", "e"]), agreement([], []), agreement(["a"], [])
        (0.25, 1.0, 0.0)
    """
    longest = max(len(first), len(second))
    return len(set(first) & set(second)) / longest if longest else 1.0


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
