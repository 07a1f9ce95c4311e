"""Both legs' scores of a collection: what every way of ranking is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import testsets
from benchmarks.hybrid import vectors
from benchmarks.metrics import ndcg
from firstlight import lexical
from firstlight.store.vectors import combine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmarks.hybrid.vectors import Embedded
    from benchmarks.quality.units import Units

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

# How a unit's windows may become one score: the cosine of their mean, which the product keeps, or the best of
# their cosines.
MEAN, BEST = "mean", "best window"


@dataclass(frozen=True, slots=True)
class Legs:
    """What both legs say of each question (q) and unit (n).

    Attributes:
        name: The collection.
        questions: The ids of the questions.
        qrels: The judgements of each question.
        indexed: The units.
        bm25: float64[q, n].
        bounds: float64[q], each question's upper bound of BM25.
        cosines: float32[q, n], by how windows are combined.
        vectors: float32[n, d], what the product keeps of each unit.
        windows: How many windows a unit has, on average.
        known: bool[n], which units the model knows the language of; the others have no vector.
        known_questions: bool[q]; the others are ranked by BM25 alone.
    """

    name: str
    questions: tuple[str, ...]
    qrels: Mapping[str, Mapping[str, int]]
    indexed: Units
    bm25: Floats
    bounds: Floats
    cosines: Mapping[str, NDArray[np.float32]]
    vectors: NDArray[np.float32]
    windows: float
    known: NDArray[np.bool_]
    known_questions: NDArray[np.bool_]

    def seen(self, question: int, windows: str = MEAN) -> Floats:
        """Return the cosines that the product would see: NaN where there is no vector."""
        return np.where(self.known, self.cosines[windows][question], np.nan).astype(np.float64)

    def without_rule(self) -> Legs:
        """Return the same as if the model knew every language."""
        return replace(
            self,
            known=np.ones_like(self.known),
            known_questions=np.ones_like(self.known_questions),
        )

    def judge(self, rank: Callable[[int, int], Places]) -> Floats:
        """Return float64[q], the nDCG@10 of each question; `rank` takes it, and how many units are wanted."""
        return np.array(
            [
                ndcg(self.indexed.rank(partial(_ranked, rank, at)), self.qrels[question])
                for at, question in enumerate(self.questions)
            ]
        )


def _ranked(rank: Callable[[int, int], Places], at: int, depth: int) -> list[int]:
    ranking: list[int] = rank(at, depth)[:depth].tolist()  # without those that tie with the last
    return ranking


def load(name: str) -> Legs:
    """Score a collection with both legs, as the product does."""
    test, indexed = testsets.load(name), vectors.units_of(name)
    bm25, bounds = _lexical(indexed, list(test.questions.values()))
    embedded = vectors.embed(name)
    kept = means(embedded)
    return Legs(
        name,
        tuple(test.questions),
        test.qrels,
        indexed,
        bm25,
        bounds,
        {MEAN: embedded.questions @ kept.T, BEST: nearest(embedded)},
        kept,
        len(embedded.windows) / len(kept),
        embedded.known,
        embedded.known_questions,
    )


def means(embedded: Embedded) -> NDArray[np.float32]:
    """Return float32[n, d]: what the product keeps of each unit."""
    return np.concatenate([combine(part) for part in np.split(embedded.windows, embedded.firsts[1:])])


def nearest(embedded: Embedded) -> NDArray[np.float32]:
    """Return float32[q, n], the cosine of each unit's nearest window."""
    found: NDArray[np.float32] = np.maximum.reduceat(
        embedded.questions @ embedded.windows.T, embedded.firsts, axis=1
    )
    return found


def _lexical(indexed: Units, questions: Sequence[str]) -> tuple[Floats, Floats]:
    builder = lexical.SegmentBuilder()
    builder.add(range(len(indexed.items)), indexed.items)
    index = lexical.Index([(builder.finish(), None)])
    queries = [lexical.parse_query(question, ("en",)) for question in questions]
    return (
        np.stack([index.scores(query) for query in queries]),
        np.array([index.upper_bound(query) for query in queries]),
    )
