"""The scores of one question by words and by vectors; imported only where there are vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firstlight.lexical import Ranked
from firstlight.rank.fusion import best, fuse

if TYPE_CHECKING:
    from firstlight.corpus.legs import Leg
    from firstlight.corpus.scores import Masks
    from firstlight.lexical import Index, Query
    from firstlight.store.matrix import Vectors


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
