"""One question, one snapshot -> results. Everything is read in the caller's transaction."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.corpus.legs import NOT_YET
from firstlight.corpus.novelty import Novelty
from firstlight.corpus.scores import LexicalScores
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

    from firstlight.corpus.legs import Leg
    from firstlight.corpus.scores import Scores
    from firstlight.corpus.snapshot import Allowed, Embedded, Snapshot
    from firstlight.lexical import Query
    from firstlight.rank.filters import Filter
    from firstlight.rank.types import Snippet
    from firstlight.store.documents import Passage
    from firstlight.store.vectors import Counts

    Masks = Sequence[NDArray[np.bool_]]

# How many chunks are ranked at first: enough for duplicates to drop out of, few enough to fetch at once.
DEPTH = 200
# How many chunks of an answer are embedded before others.
_WANTED = 64
# How many texts are read at a time to look for phrases in them.
_PHRASE_PORTION = 32
NOTHING_YET = "nothing is indexed yet: sync first"
UNFINISHED = "over what the first sync has read so far"


class Question(NamedTuple):
    """What is asked, checked."""

    text: str
    top_k: int
    where: Filter | None
    per_document: int | None
    explain: bool


class Answer(NamedTuple):
    """Results, and the chunks that they would have liked to have vectors of."""

    results: Results
    wanted: Sequence[int] = ()


def answer(
    connection: sqlite3.Connection, snapshot: Snapshot, embedded: Embedded, question: Question, leg: Leg | str
) -> Answer:
    """Return the passages that answer best.

    Args:
        connection: A read transaction.
        snapshot: What belongs to it.
        embedded: What there is of vectors; all where there is a leg.
        question: What is asked.
        leg: The leg of vectors, or the reason why there is none.
    """
    said = _Said(question.text, snapshot, embedded, *_what_was_done(snapshot, embedded, leg))
    if not snapshot.meta.generation:
        return Answer(said.results(reason=NOTHING_YET))
    allowed = None if question.where is None else snapshot.allowed(connection, question.where)
    query = parse_query(question.text, snapshot.languages)
    if not query.terms:
        return Answer(said.results(reason="the question has no word to search for"))
    masks = _masks(snapshot, query, allowed)
    scores = _scores(snapshot, embedded, query, masks, leg)
    kept, best = _ranked(connection, snapshot, question, query, scores)
    passages = read_passages(connection, [candidate.chunk for candidate in kept])
    twins = _twins(connection, kept, allowed)
    make = _HitMaker(snapshot, query, scores, explain=question.explain)
    results = said.results(
        make(rank, candidate.score, passages[candidate.chunk], twins[candidate.chunk])
        for rank, candidate in enumerate(kept, 1)
    )
    is_waiting = embedded.counts is None or embedded.counts.waiting > 0
    return Answer(results, best[:_WANTED] if is_waiting else ())


class _Said(NamedTuple):
    """What a search tells of itself, hits or none."""

    query: str
    snapshot: Snapshot
    embedded: Embedded
    mode: str
    reason: str

    def results(self, hits: Iterable[Hit] = (), *, reason: str | None = None) -> Results:
        recorded, counts, _ = self.embedded
        return Results(
            query=self.query,
            mode=self.mode,
            embedded=0 if counts is None else counts.embedded,
            total=self.snapshot.index.count,
            model=None if recorded is None else recorded.name,
            generation=self.snapshot.meta.generation,
            reason=reason or self.reason,
            hits=tuple(hits),
        )


def _what_was_done(snapshot: Snapshot, embedded: Embedded, leg: Leg | str) -> tuple[str, str]:
    """Return the mode, and the reason for it."""
    if isinstance(leg, str):
        counts = embedded.counts
        is_over = leg == NOT_YET and counts is not None and counts.total > 0 and not counts.waiting
        mode, reason = "bm25", f"{coverage(counts)}; ranked by BM25 alone" if is_over and counts else leg
    else:
        assert embedded.counts is not None  # noqa: S101  # there are vectors, since there is a leg
        is_whole = not embedded.counts.waiting
        mode = leg.mode if is_whole or leg.mode == "vector" else "partial"
        reason = coverage(embedded.counts)
    return mode, reason if snapshot.meta.synced_ns else f"{reason}, {UNFINISHED}"


def coverage(counts: Counts) -> str:
    """Say how far the embedding is.

    Example:
        >>> from firstlight.store.vectors import Counts
        >>> coverage(Counts(embedded=40, failed=0, foreign=2, windows=40, total=42))
        'all chunks embedded but 2 in languages that the model does not know'
    """
    if counts.waiting:
        return f"{counts.embedded:,} of {counts.total:,} chunks embedded so far"
    but = [f"{counts.failed:,} that failed"] if counts.failed else []
    if counts.foreign:
        but.append(f"{counts.foreign:,} in languages that the model does not know")
    if but and not counts.embedded:
        return f"no chunk embedded: {' and '.join(but)}"
    return f"all chunks embedded{' but ' + ' and '.join(but) if but else ''}"


def _scores(
    snapshot: Snapshot, embedded: Embedded, query: Query, masks: Masks | None, leg: Leg | str
) -> Scores:
    if isinstance(leg, str):
        return LexicalScores(snapshot.index, query, masks)
    from firstlight.corpus.fused import FusedScores  # noqa: PLC0415  # words alone need none of it

    assert embedded.vectors is not None  # noqa: S101  # there are vectors, since there is a leg
    return FusedScores(snapshot.index, embedded.vectors, query, masks, leg)


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
    connection: sqlite3.Connection, snapshot: Snapshot, question: Question, query: Query, scores: Scores
) -> tuple[list[Candidate], list[int]]:
    """Return the candidates to show, and the chunks that were ranked: deeper until there are enough."""
    depth = max(DEPTH, 4 * question.top_k)
    verified: dict[int, bool] = {}
    adds = Novelty(connection, snapshot.index, query)
    while True:
        ranked = scores.best(depth)
        found = dict(zip(ranked.ids.tolist(), ranked.scores.tolist(), strict=True))
        candidates: Iterable[Candidate] = _in_order(connection, found)
        if query.phrases:
            candidates = _with_phrases(connection, candidates, query, verified)
        kept = select(candidates, top_k=question.top_k, per_document=question.per_document, adds=adds)
        if len(kept) >= question.top_k or len(found) < depth:
            return kept, ranked.ids.tolist()
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

    def __init__(self, snapshot: Snapshot, query: Query, scores: Scores, *, explain: bool) -> None:
        self._index = snapshot.index
        self._query = query
        self._scores = scores
        self._explain = explain
        self._weights = {
            variant: self._index.idf(term.variants) for term in query.terms for variant in term.variants
        }

    def __call__(self, rank: int, score: float, passage: Passage, twins: tuple[str, ...]) -> Hit:
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
