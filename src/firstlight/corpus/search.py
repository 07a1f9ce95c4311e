"""One question, one snapshot -> results. Everything is read in the caller's transaction."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from firstlight.corpus.legs import NOT_YET
from firstlight.corpus.ranking import HitMaker, having_phrases, rank
from firstlight.corpus.scores import LexicalScores
from firstlight.lexical import parse_query
from firstlight.rank.types import Candidate, Results
from firstlight.store.documents import read_passages, read_places, read_texts, read_twins

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from firstlight.corpus.legs import Leg
    from firstlight.corpus.scores import Scores
    from firstlight.corpus.snapshot import Allowed, Embedded, Snapshot
    from firstlight.lexical import Query
    from firstlight.rank.filters import Filter
    from firstlight.rank.types import Hit
    from firstlight.store.documents import Passage
    from firstlight.store.vectors import Counts

    Masks = Sequence[NDArray[np.bool_]]

# How many chunks of an answer are embedded before others.
_WANTED = 64
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
    shelf = _Rows(connection)
    kept, best = rank(
        shelf, snapshot.index, query, scores, top_k=question.top_k, per_document=question.per_document
    )
    passages = shelf.passages([candidate.chunk for candidate in kept])
    twins = _twins(connection, kept, allowed)
    make = HitMaker(snapshot.index, query, scores, explain=question.explain)
    results = said.results(
        make(number, candidate.score, passages[candidate.chunk], twins[candidate.chunk])
        for number, candidate in enumerate(kept, 1)
    )
    is_waiting = embedded.counts is None or embedded.counts.waiting > 0
    return Answer(results, best[:_WANTED] if is_waiting else ())


class _Rows:
    """The passages of an index, as one read transaction has them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def candidates(self, scores: Mapping[int, float]) -> list[Candidate]:
        """Return the passages that have scores, best first; equal ones by path, then position."""
        places = read_places(self._connection, list(scores))
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

    def passages(self, chunks: Sequence[int]) -> Mapping[int, Passage]:
        """Return them with their texts and documents."""
        return read_passages(self._connection, chunks)

    def texts(self, chunks: Sequence[int]) -> Iterable[tuple[int, str]]:
        """Return each with its text."""
        return read_texts(self._connection, chunks)


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


def _masks(snapshot: Snapshot, query: Query, allowed: Allowed | None) -> Masks | None:
    """Return which chunks may be hits: what the filter lets through, and has every word of every phrase."""
    masks = None if allowed is None else allowed.masks
    if not query.phrases:
        return masks
    having = having_phrases(snapshot.index, (part.segment for part in snapshot.parts), query)
    return having if masks is None else [mask & part for mask, part in zip(masks, having, strict=True)]


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
