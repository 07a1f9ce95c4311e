"""Who chooses passages of a document: a digest by words, a digest by both, and windows of 200 words."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.engines.bm25s_index import Bm25s
from firstlight.digest import select
from firstlight.embed.local import FLOOR
from firstlight.embed.unit import mean
from firstlight.lexical.query import parse_query
from firstlight.text.tokens import est_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.longqa.sets import Span
    from benchmarks.longqa.vectors import Embedded
    from firstlight.digest.documents import LongText
    from firstlight.digest.select import Scores

WORDS = 200
_WORD = re.compile(r"\S+")


class Windows:
    """Plain BM25 over windows of 200 words, the best ones that fit first; bm25s counts."""

    def __init__(self, text: str) -> None:
        words = [match.start() for match in _WORD.finditer(text)]
        self.spans = list(pairwise([0, *words[WORDS::WORDS], len(text)]))
        pieces = [text[start:end] for start, end in self.spans]
        self._sizes = [est_tokens(piece) for piece in pieces]
        self._index = Bm25s()
        self._index.build(pieces)

    def choose(self, question: str, budget: int) -> list[Span]:
        chosen = []
        for number in self._index.search(question, len(self.spans)):
            if self._sizes[number] <= budget:
                chosen.append(self.spans[number])
                budget -= self._sizes[number]
        return chosen


def by_words(document: LongText, question: str, budget: int) -> list[Span]:
    """Choose as a digest does while it has no vectors."""
    scores = select.normalised(document.bm25(parse_query(question, (document.language,))))
    return _spans(document, select.best(document.sizes, scores, scores > 0, budget))


def by_both(document: LongText, question: str, budget: int, vectors: Embedded) -> list[Span]:
    """Choose as a digest does whose document is embedded."""
    shared = select.overlap(parse_query(question, (document.language,)), document.index())
    cosine = select.cosines(vectors.questions[question], document.hashes, vectors.chunks)
    matches = (shared > 0) | select.near(cosine, FLOOR)
    return _spans(document, select.best(document.sizes, select.hybrid(cosine, shared), matches, budget))


def of_means(vectors: Embedded) -> Embedded:
    """Return the vectors with one for each chunk: the direction of all its windows."""
    return vectors._replace(chunks={item: mean(rows)[None] for item, rows in vectors.chunks.items()})


def without_beginning(document: LongText, question: str, budget: int) -> list[Span]:
    """Choose by words, without giving chunk 0 a place: what that place costs."""
    scores: Scores = document.bm25(parse_query(question, (document.language,)))
    chosen = []
    for number in np.argsort(-scores, kind="stable").tolist():
        if scores[number] > 0 and document.sizes[number] <= budget:
            chosen.append(number)
            budget -= document.sizes[number]
    return _spans(document, chosen)


def whole(spans: Sequence[Span], chosen: Iterable[Span]) -> list[bool]:
    """Return which spans are wholly inside what was chosen; passages that touch are one.

    Example:
        >>> whole([(2, 7), (4, 11)], [(5, 9), (0, 5)])
        [True, False]
    """
    joined: list[Span] = []
    for start, end in sorted(chosen):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return [any(start <= first and last <= end for start, end in joined) for first, last in spans]


def _spans(document: LongText, chosen: Iterable[int]) -> list[Span]:
    return [(document.chunks[number].start, document.chunks[number].end) for number in chosen]
