"""One question, one snapshot -> results. Everything is read in the caller's transaction."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.corpus.novelty import Novelty
from firstlight.lexical import contains_phrases, parse_query
from firstlight.rank.selection import select
from firstlight.rank.snippets import snippet
from firstlight.rank.types import Candidate, Hit, Results
from firstlight.store.documents import read_passages, read_places, read_texts, read_twins
from firstlight.store.payload import load_payload

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from firstlight.corpus.snapshot import Allowed, Snapshot
    from firstlight.lexical import Query
    from firstlight.rank.filters import Filter
    from firstlight.rank.types import Snippet
    from firstlight.store.documents import Passage

    Masks = Sequence[NDArray[np.bool_]]

# How many chunks are ranked at first: enough for duplicates to drop out of, few enough to fetch at once.
DEPTH = 200
# How many texts are read at a time to look for phrases in them.
_PHRASE_PORTION = 32
NO_EMBEDDER = "no embedder; ranked by BM25 alone"
UNFINISHED = "no embedder; ranked by BM25 alone, over what the first sync has read so far"
NOTHING_YET = "nothing is indexed yet: sync first"


class Question(NamedTuple):
    """What is asked, checked."""

    text: str
    top_k: int
    where: Filter | None
    per_document: int | None
    explain: bool


def answer(connection: sqlite3.Connection, snapshot: Snapshot, question: Question) -> Results:
    """Return the passages that answer best."""
    if not snapshot.meta.generation:
        return results(snapshot, question, NOTHING_YET)
    allowed = None if question.where is None else snapshot.allowed(connection, question.where)
    query = parse_query(question.text, snapshot.languages)
    if not query.terms:
        return results(snapshot, question, "the question has no word to search for")
    masks = _masks(snapshot, query, allowed)
    kept = _ranked(connection, snapshot, question, query, masks)
    passages = read_passages(connection, [candidate.chunk for candidate in kept])
    twins = _twins(connection, kept, allowed)
    make = _HitMaker(snapshot, query, explain=question.explain)
    hits = [
        make(rank, candidate.score, passages[candidate.chunk], twins[candidate.chunk])
        for rank, candidate in enumerate(kept, 1)
    ]
    return results(snapshot, question, NO_EMBEDDER if snapshot.meta.synced_ns else UNFINISHED, hits)


def results(snapshot: Snapshot, question: Question, reason: str, hits: Sequence[Hit] = ()) -> Results:
    """Return `hits`, and what was done to find them."""
    return Results(
        question.text, "bm25", 0, snapshot.index.count, None, snapshot.meta.generation, reason, tuple(hits)
    )


def point_id(path: str, position: int, content_hash: bytes) -> str:
    """Return a chunk's id: a UUID of its path, its position and its text's sha256 in hexadecimal.

    Example:
        >>> point_id("ops/drain.md", 2, bytes(32))
        '0649cc71-1743-fe1b-01b1-79a303e42d6f'
    """
    key = f"{path}\0{position}\0{content_hash.hex()}".encode()
    text = hashlib.sha256(key).hexdigest()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:32]}"


def _ranked(
    connection: sqlite3.Connection, snapshot: Snapshot, question: Question, query: Query, masks: Masks | None
) -> list[Candidate]:
    """Return the candidates to show. Ranks deeper until there are enough, or no more."""
    depth = max(DEPTH, 4 * question.top_k)
    verified: dict[int, bool] = {}
    adds = Novelty(connection, snapshot.index, query)
    while True:
        ranked = snapshot.index.search(query, depth=depth, masks=masks)
        scores = dict(zip(ranked.ids.tolist(), ranked.scores.tolist(), strict=True))
        candidates: Iterable[Candidate] = _in_order(connection, scores)
        if query.phrases:
            candidates = _with_phrases(connection, candidates, query, verified)
        kept = select(candidates, top_k=question.top_k, per_document=question.per_document, adds=adds)
        if len(kept) >= question.top_k or len(scores) < depth:
            return kept
        depth *= 2


def _in_order(connection: sqlite3.Connection, scores: Mapping[int, float]) -> list[Candidate]:
    """Equal scores are ordered by path, then position."""
    places = read_places(connection, list(scores))
    places.sort(key=lambda place: (-scores[place.chunk], place.path, place.position))
    return [
        Candidate(
            place.chunk,
            place.document,
            place.path,
            place.start,
            place.end,
            place.content_hash,
            scores[place.chunk],
        )
        for place in places
    ]


def _masks(snapshot: Snapshot, query: Query, allowed: Allowed | None) -> Masks | None:
    """Return which chunks may be hits: what the filter lets through, and has every word of every phrase."""
    masks = None if allowed is None else allowed.masks
    if not query.phrases:
        return masks
    chunks = snapshot.index.phrase_candidates(query)
    having = [np.isin(part.segment.ids, chunks) for part in snapshot.parts]
    return having if masks is None else [mask & part for mask, part in zip(masks, having, strict=True)]


def _with_phrases(
    connection: sqlite3.Connection, candidates: Iterable[Candidate], query: Query, verified: dict[int, bool]
) -> Iterator[Candidate]:
    """Yield the candidates whose text has the phrases; no text is read before it is its turn."""
    queue = iter(candidates)
    while portion := list(islice(queue, _PHRASE_PORTION)):
        unread = [candidate.chunk for candidate in portion if candidate.chunk not in verified]
        for chunk, text in read_texts(connection, unread):
            verified[chunk] = contains_phrases(text, query)
        yield from (candidate for candidate in portion if verified.get(candidate.chunk))


def _twins(
    connection: sqlite3.Connection, kept: Collection[Candidate], allowed: Allowed | None
) -> Mapping[int, tuple[str, ...]]:
    """Return for each candidate the other documents that have its very text."""
    found: defaultdict[bytes, set[tuple[int, str]]] = defaultdict(set)
    for content_hash, document, path in read_twins(connection, [each.content_hash for each in kept]):
        if allowed is None or document in allowed.documents:
            found[content_hash].add((document, path))
    return {
        each.chunk: tuple(
            sorted(path for document, path in found[each.content_hash] if document != each.document)
        )
        for each in kept
    }


def _headings(passage: Passage, shown: Snippet) -> tuple[str, ...]:
    """Return the heading path over the first match that is shown; where none is, the passage's own."""
    if not shown.highlights:
        return passage.outline.headings
    return passage.outline.at(passage.start + shown.start + shown.highlights[0][0])


class _HitMaker:
    """Makes hits of one question."""

    def __init__(self, snapshot: Snapshot, query: Query, *, explain: bool) -> None:
        self._index = snapshot.index
        self._query = query
        self._explain = explain
        self._bound = snapshot.index.upper_bound(query)
        self._weights = {
            variant: self._index.idf(term.variants) for term in query.terms for variant in term.variants
        }

    def __call__(self, rank: int, score: float, passage: Passage, twins: tuple[str, ...]) -> Hit:
        words: dict[str, float] = {}
        for term, part in self._index.explain(self._query, passage.chunk):
            words[term.word] = words.get(term.word, 0.0) + part
        scores = {"bm25": score, "bm25_norm": score / self._bound}
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
