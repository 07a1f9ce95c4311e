"""Segments -> scores: an immutable snapshot of an index, safe for many threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.lexical.bm25 import K1, B, idf, norms, query_weight
from firstlight.lexical.kernels import saturate, top_k
from firstlight.lexical.segment import living

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from firstlight.lexical.segment import Segment
    from firstlight.lexical.types import Query, QueryTerm

    Mask = NDArray[np.bool_]

_CACHE_BYTES = 256 << 20
# A term that more than one chunk in so many has is kept as a row of all chunks: adding a row is quicker.
_DENSE_ONE_IN = 12


class Ranked(NamedTuple):
    """Chunks, best first: ids int64[m] and scores float64[m]."""

    ids: NDArray[np.int64]
    scores: NDArray[np.float64]


class Impacts(NamedTuple):
    """What one term adds to the scores: `chunks` is None where `values` has a value for every chunk."""

    chunks: NDArray[np.int64] | None
    values: NDArray[np.float64]
    having: int

    def add_to(self, scores: NDArray[np.float64], weight: float) -> None:
        """Add the term, `weight` times, to the scores of the chunks that have it."""
        values = self.values if weight == 1.0 else self.values * weight
        if self.chunks is None:
            scores += values
        else:
            scores[self.chunks] += values

    def of(self, chunk: int) -> float:
        """Return what the term adds to one chunk."""
        if self.chunks is None:
            return float(self.values[chunk])
        place = int(np.searchsorted(self.chunks, chunk))
        found = place < len(self.chunks) and self.chunks[place] == chunk
        return float(self.values[place]) if found else 0.0

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.values.nbytes + (0 if self.chunks is None else self.chunks.nbytes)


class Index:
    """Some segments, searched as one; every statistic is that of their living chunks.

    Args:
        parts: Segments in the order of their ids, each with bool[n], true where a chunk is dead, or None.
        k1: How slowly a term's frequency saturates.
        b: How much a chunk's length counts, 0 to 1.

    Attributes:
        count: How many living chunks there are.

    Example:
        >>> from firstlight.lexical import Indexable, build_segment, parse_query
        >>> index = Index([(build_segment([1, 2], [Indexable("drain a node"), Indexable("a pool")]), None)])
        >>> index.search(parse_query("draining nodes"), depth=10).ids.tolist()
        [1]
    """

    def __init__(self, parts: Sequence[tuple[Segment, Mask | None]], *, k1: float = K1, b: float = B) -> None:
        self._segments = [segment for segment, _ in parts]
        sizes = [len(segment) for segment in self._segments]
        self._firsts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._ids = np.concatenate([np.empty(0, np.int64), *(segment.ids for segment in self._segments)])
        self._alive = _alive(parts)
        lengths = np.concatenate([np.empty(0, np.uint32), *(segment.lengths for segment in self._segments)])
        living = lengths if self._alive is None else lengths[self._alive]
        self.count = len(living)
        average = int(living.sum(dtype=np.int64)) / self.count if self.count else 0.0
        self._norms = norms(lengths, average, k1=k1, b=b)
        self._cache: OrderedDict[tuple[str, ...], Impacts] = OrderedDict()
        self._cached_bytes = 0
        self._lock = threading.Lock()

    def search(self, query: Query, *, depth: int, masks: Sequence[Mask | None] | None = None) -> Ranked:
        """Return the best chunks that have at least one of the question's terms.

        Args:
            query: The question.
            depth: How many to return; all that tie with the last come too.
            masks: For each segment bool[n], true where a chunk may be returned, or None for all.

        Raises:
            ValueError: `depth` is below 1.
        """
        if depth < 1:
            raise ValueError(f"depth must be at least 1, not {depth}")
        scores = self.scores(query)
        if masks is not None and any(mask is not None for mask in masks):
            scores *= self._joined(masks)
        best = top_k(scores, depth)
        return Ranked(self._ids[best], scores[best])

    def scores(self, query: Query) -> NDArray[np.float64]:
        """Return float64[n], the score of each chunk in the order of `ids`; 0 where no term matches."""
        scores = np.zeros(len(self._ids))
        for term, impacts in self._by_rarity(query):
            impacts.add_to(scores, query_weight(term.count))
        return scores

    @property
    def ids(self) -> NDArray[np.int64]:
        """The ids of all chunks, ascending, dead ones too."""
        return self._ids

    def allowed(self, masks: Sequence[Mask | None] | None) -> Mask:
        """Return bool[n] in the order of `ids`: true where a chunk lives, and its mask lets it through."""
        alive = np.ones(len(self._ids), np.bool_) if self._alive is None else self._alive
        return alive if masks is None else alive & self._joined(masks)

    def phrase_candidates(self, query: Query) -> NDArray[np.int64]:
        """Return the ids of the chunks that have every term of every phrase of the question."""
        terms = [term.variants for phrase in query.phrases for term in phrase.terms]
        found: NDArray[np.int64] | None = None
        for variants in sorted(terms, key=lambda variants: self._impacts(variants).having):
            chunks = self._having(variants)
            found = chunks if found is None else np.intersect1d(found, chunks, assume_unique=True)
        return self._ids[:0] if found is None else self._ids[found]

    def explain(self, query: Query, chunk: int) -> list[tuple[QueryTerm, float]]:
        """Return what each term of the question adds to the score of the chunk with that id."""
        place = int(np.searchsorted(self._ids, chunk))
        if place == len(self._ids) or self._ids[place] != chunk:
            raise KeyError(chunk)
        return [
            (term, self._impacts(term.variants).of(place) * query_weight(term.count)) for term in query.terms
        ]

    def idf(self, variants: tuple[str, ...]) -> float:
        """Return the inverse document frequency of a term."""
        return idf(self.count, self._impacts(variants).having)

    def upper_bound(self, query: Query) -> float:
        """Return what no score of this question can exceed."""
        return sum(self.idf(term.variants) * query_weight(term.count) for term in query.terms)

    def _by_rarity(self, query: Query) -> list[tuple[QueryTerm, Impacts]]:
        """The terms in the one order in which they are added: the rarest first."""
        found = [(term, self._impacts(term.variants)) for term in query.terms]
        return sorted(found, key=lambda pair: (pair[1].having, pair[0].variants))

    def _joined(self, masks: Sequence[Mask | None]) -> Mask:
        return np.concatenate(
            [
                np.ones(len(segment), np.bool_) if mask is None else mask
                for segment, mask in zip(self._segments, masks, strict=True)
            ]
        )

    def _impacts(self, variants: tuple[str, ...]) -> Impacts:
        with self._lock:
            found = self._cache.get(variants)
            if found is not None:
                self._cache.move_to_end(variants)
                return found
        made = self._make_impacts(variants)
        with self._lock:
            if variants not in self._cache:
                self._cache[variants] = made
                self._cached_bytes += made.nbytes
            while self._cached_bytes > _CACHE_BYTES and len(self._cache) > 1:
                self._cached_bytes -= self._cache.popitem(last=False)[1].nbytes
        return made

    def _make_impacts(self, variants: tuple[str, ...]) -> Impacts:
        chunks, frequencies = self._postings(variants)
        having = len(chunks)
        values = saturate(frequencies, self._norms.take(chunks), idf(self.count, having))
        if having * _DENSE_ONE_IN <= len(self._ids):
            return Impacts(chunks, values, having)
        row = np.zeros(len(self._ids))
        row[chunks] = values
        return Impacts(None, row, having)

    def _having(self, variants: tuple[str, ...]) -> NDArray[np.int64]:
        impacts = self._impacts(variants)
        return np.flatnonzero(impacts.values) if impacts.chunks is None else impacts.chunks

    def _postings(self, variants: tuple[str, ...]) -> tuple[NDArray[np.int64], NDArray[np.unsignedinteger]]:
        """Return the living chunks that have a term, ascending, and its frequency in each."""
        found = [self._postings_of(term) for term in variants]
        present = [postings for postings in found if len(postings[0])] or found[:1]
        chunks, frequencies = present[0] if len(present) == 1 else _sum_postings(present, len(self._ids))
        if self._alive is not None:
            living = self._alive[chunks]
            chunks, frequencies = chunks[living], frequencies[living]
        return chunks, frequencies

    def _postings_of(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.unsignedinteger]]:
        parts = [
            (chunks.astype(np.int64) + first, frequencies)
            for segment, first in zip(self._segments, self._firsts, strict=False)
            for chunks, frequencies in (segment.postings(term),)
            if len(chunks)
        ]
        if len(parts) == 1:
            return parts[0]
        return (
            np.concatenate([np.empty(0, np.int64), *(chunks for chunks, _ in parts)]),
            np.concatenate([np.empty(0, np.uint8), *(frequencies for _, frequencies in parts)]),
        )


def _alive(parts: Sequence[tuple[Segment, Mask | None]]) -> Mask | None:
    if all(dead is None for _, dead in parts):
        return None
    return np.concatenate([living(segment, dead) for segment, dead in parts])


def _sum_postings(
    postings: list[tuple[NDArray[np.int64], NDArray[np.unsignedinteger]]], size: int
) -> tuple[NDArray[np.int64], NDArray[np.unsignedinteger]]:
    """Merge the postings of terms that are asked for as one, in an index of `size`: frequencies add up."""
    total = np.zeros(size, np.uint32)
    for chunks, frequencies in postings:
        total[chunks] += frequencies
    found = np.flatnonzero(total)
    return found, total[found]
