"""The scores of one question: of every chunk, best first, and what each is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from firstlight.lexical import Ranked
from firstlight.rank.fusion import best, fuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from firstlight.corpus.legs import Leg
    from firstlight.lexical import Index, Query
    from firstlight.store.matrix import Vectors

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
        return {"bm25": score, "bm25_norm": score / self._index.upper_bound(self._query)}


class FusedScores:
    """BM25 and cosine, fused; or the cosine alone, in mode `vector`.

    Every chunk is scored, exactly: which ones come first depends neither on how many are asked for nor on a
    choice of candidates.
    """

    def __init__(self, index: Index, vectors: Vectors, query: Query, masks: Masks | None, leg: Leg) -> None:
        floor = leg.recorded.floor
        assert floor is not None  # noqa: S101  # a leg has one
        self._ids = index.ids
        allowed = index.allowed(masks)
        # What a chunk without a vector is assumed to have comes from all others: no filter may move it.
        is_whole = len(vectors) == index.count
        self._cosines = vectors.cosines(leg.vector, ids=index.ids, mask=allowed if is_whole else None).astype(
            np.float64
        )
        if is_whole:  # what was masked out is not missing
            self._cosines[~allowed] = -1.0
        if leg.mode == "vector":
            self._bm25, self._bound = None, 0.0
            self._matched = self._cosines >= floor
            self._scores = np.where(self._matched, self._cosines, 0.0)
        else:
            self._bm25, self._bound = index.scores(query), index.upper_bound(query)
            self._scores, self._matched, self._near, self._weight = fuse(
                self._bm25, self._cosines, bound=self._bound, floor=floor, weight=leg.weight
            )
        self._matched &= allowed

    def best(self, depth: int) -> Ranked:
        """Return the best `depth` chunks that have a term, or whose cosine reaches the floor."""
        places = best(self._scores, self._matched, depth)
        return Ranked(self._ids[places], self._scores[places])

    def parts(self, chunk: int, score: float) -> dict[str, float]:  # noqa: ARG002  # it is their sum
        """Return both legs as they are, and on the scales on which they are combined.

        `cosine` is missing where the chunk is not embedded, and `cosine_norm` is then what was assumed.
        """
        place = int(np.searchsorted(self._ids, chunk))
        cosine = float(self._cosines[place])
        if self._bm25 is None:
            return {"cosine": cosine}
        bm25 = float(self._bm25[place])
        parts = {"bm25": bm25, "bm25_norm": bm25 / self._bound if self._bound > 0 else 0.0}
        if not np.isnan(cosine):
            parts["cosine"] = cosine
        return parts | {"cosine_norm": float(self._near[place]), "weight": self._weight}
