"""The scores of one question: of every chunk, best first, and what each is made of."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from firstlight.lexical import Index, Query, Ranked

    Masks = Sequence[NDArray[np.bool_]]


class Scores(Protocol):
    """One question's scores, on one snapshot."""

    def best(self, depth: int) -> Ranked:
        """Return the best `depth` matches, and all that tie with the last."""
        ...

    def parts(self, chunk: int, score: float) -> dict[str, float]:
        """Return what the score of a chunk is made of, by name."""
        ...


class LexicalScores:
    """BM25 alone."""

    def __init__(self, index: Index, query: Query, masks: Masks | None) -> None:
        self._index = index
        self._query = query
        self._masks = masks

    def best(self, depth: int) -> Ranked:
        """Return the best `depth` chunks that have a term of the question."""
        return self._index.search(self._query, depth=depth, masks=self._masks)

    def parts(self, chunk: int, score: float) -> dict[str, float]:  # noqa: ARG002  # the whole is BM25's
        """Return `bm25`, and `bm25_norm`: its share of the most that the question can reach."""
        return {"bm25": score, "bm25_norm": score / self._bound}

    @cached_property
    def _bound(self) -> float:
        return self._index.upper_bound(self._query)
