"""What a search does wherever its passages lie: which are shown, in which order, and the hits of them."""

from __future__ import annotations

import hashlib
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from firstlight.corpus.novelty import Novelty
from firstlight.lexical import contains_phrases
from firstlight.rank.selection import select
from firstlight.rank.snippets import snippet
from firstlight.rank.types import Hit
from firstlight.store.payload import load_payload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from firstlight.corpus.scores import Scores
    from firstlight.lexical import Index, Query, Segment
    from firstlight.rank.types import Candidate, Snippet
    from firstlight.store.documents import Passage

# How many chunks are ranked at first: enough for duplicates to drop out of, few enough to fetch at once.
DEPTH = 200
# How many texts are read to look for phrases in them: a few at first, since that takes long and few are
# shown, and at most so many at a time.
_FIRST_TEXTS, _MOST_TEXTS = 4, 32


class Shelf(Protocol):
    """Where passages are looked up by their numbers."""

    def candidates(self, scores: Mapping[int, float]) -> Iterable[Candidate]:
        """Return the passages that have scores, best first; equal ones by document, then by position."""
        ...

    def passages(self, chunks: Sequence[int]) -> Mapping[int, Passage]:
        """Return them with their texts and documents, by number."""
        ...

    def texts(self, chunks: Sequence[int]) -> Iterable[tuple[int, str]]:
        """Return each number with its text."""
        ...


class Found(NamedTuple):
    """The candidates to show, and the chunks that were ranked, best first."""

    kept: list[Candidate]
    best: list[int]


def rank(
    shelf: Shelf,
    index: Index,
    query: Query,
    scores: Scores,
    *,
    top_k: int,
    per_document: int | None = None,
    fresh: Callable[[Candidate], bool] | None = None,
) -> Found:
    """Choose the passages to show: deeper until there are enough.

    Args:
        shelf: Where they are looked up.
        index: The index.
        query: The question, with one term or more.
        scores: Its scores.
        top_k: How many to show at most, 1 or more.
        per_document: How many of one document at most; None for no bound.
        fresh: Tells which may be shown at all; None for all.
    """
    depth = max(DEPTH, 4 * top_k)
    verified: dict[int, bool] = {}
    adds = Novelty(shelf.passages, index, query)
    while True:
        ranked = scores.best(depth)
        found = dict(zip(ranked.ids.tolist(), ranked.scores.tolist(), strict=True))
        candidates = shelf.candidates(found)
        if query.phrases:
            candidates = _with_phrases(shelf, candidates, query, verified)
        if fresh is not None:
            candidates = filter(fresh, candidates)
        kept = select(candidates, top_k=top_k, per_document=per_document, adds=adds)
        if len(kept) >= top_k or len(found) < depth:
            return Found(kept, ranked.ids.tolist())
        depth *= 2


def having_phrases(index: Index, segments: Iterable[Segment], query: Query) -> list[NDArray[np.bool_]]:
    """Return a mask for each segment: the chunks that have every word of every phrase."""
    chunks = index.phrase_candidates(query)
    return [np.isin(segment.ids, chunks) for segment in segments]


def _with_phrases(
    shelf: Shelf, candidates: Iterable[Candidate], query: Query, verified: dict[int, bool]
) -> Iterator[Candidate]:
    """Yield the candidates whose text has the phrases; no text is read before it is its turn."""
    queue = iter(candidates)
    many = _FIRST_TEXTS
    while portion := list(islice(queue, many)):
        many = min(2 * many, _MOST_TEXTS)
        unread = [candidate.chunk for candidate in portion if candidate.chunk not in verified]
        for chunk, text in shelf.texts(unread):
            verified[chunk] = contains_phrases(text, query)
        yield from (candidate for candidate in portion if verified.get(candidate.chunk))


def point_id(path: str, position: int, content_hash: bytes) -> str:
    """Return a chunk's id: a UUID of its path, its position and its text's sha256 in hexadecimal.

    Example:
        >>> point_id("ops/drain.md", 2, bytes(32))
        '0649cc71-1743-fe1b-01b1-79a303e42d6f'
    """
    key = f"{path}\0{position}\0{content_hash.hex()}".encode()
    text = hashlib.sha256(key).hexdigest()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:32]}"


def _headings(passage: Passage, shown: Snippet) -> tuple[str, ...]:
    """Return the heading path over the first match that is shown; where none is, the passage's own."""
    if not shown.highlights:
        return passage.outline.headings
    return passage.outline.at(passage.start + shown.start + shown.highlights[0][0])


class HitMaker:
    """Makes hits of one question."""

    def __init__(self, index: Index, query: Query, scores: Scores, *, explain: bool = False) -> None:
        self._index = index
        self._query = query
        self._scores = scores
        self._explain = explain
        self._weights = {
            variant: weight
            for term in query.terms
            for weight in (index.idf(term.variants),)
            for variant in term.variants
        }

    def __call__(self, rank: int, score: float, passage: Passage, twins: tuple[str, ...] = ()) -> Hit:
        """Return the hit at a rank; `twins` are the other documents that have its very text."""
        words: dict[str, float] = {}
        for term, part in self._index.explain(self._query, passage.chunk):
            words[term.word] = words.get(term.word, 0.0) + part
        scores = self._scores.parts(passage.chunk, score)
        if self._explain:
            scores |= {f"term:{word}": part for word, part in words.items()}
        shown = snippet(passage.text, self._weights, language=passage.language)
        return Hit(
            rank=rank,
            id=point_id(passage.path, passage.position, passage.content_hash),
            path=passage.path,
            title=passage.title,
            headings=_headings(passage, shown),
            start=passage.start,
            end=passage.end,
            line_start=passage.line_start,
            line_end=passage.line_end,
            text=passage.text,
            snippet=shown.text,
            score=score,
            scores=scores,
            matched=tuple(word for word, part in words.items() if part > 0),
            unmatched=tuple(word for word, part in words.items() if part <= 0),
            payload=load_payload(passage.payload),
            also_in=twins,
            highlights=shown.highlights,
        )
