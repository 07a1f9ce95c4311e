"""What scores are made of, on a snapshot made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from firstlight.corpus.fused import FusedScores
from firstlight.corpus.legs import Leg
from firstlight.corpus.scores import LexicalScores
from firstlight.lexical import Index, Indexable, build_segment, parse_query
from firstlight.store.embedders import EmbedderRow
from firstlight.store.vector_rows import Stamp

if TYPE_CHECKING:
    from firstlight.corpus.scores import Scores
    from firstlight.store.vector_rows import Ids, Mask, Rows

TEXTS = ("drain the node", "cordon a node", "coffee", "drain coffee", "nothing of it")
FLOOR = 0.3
STAMP = Stamp("corpus", 1, 2, 1, 1)


class FakeVectors:
    """Cosines by chunk; the others have none."""

    stamp = STAMP

    def __init__(self, cosines: dict[int, float]) -> None:
        self._cosines = cosines

    def __len__(self) -> int:
        return len(self._cosines)

    def cosines(self, query: Rows, *, ids: Ids, mask: Mask | None = None) -> Rows:
        wanted = np.ones(len(ids), np.bool_) if mask is None else mask
        found = [
            self._cosines.get(chunk, np.nan) if is_wanted else np.nan
            for chunk, is_wanted in zip(ids.tolist(), wanted.tolist(), strict=True)
        ]
        return np.array(found, np.float32)


@pytest.fixture
def index() -> Index:
    """The five texts, as chunks 10 to 14."""
    segment = build_segment(range(10, 15), [Indexable(text) for text in TEXTS])
    return Index([(segment, None)])


def leg(mode: str = "hybrid", weight: float = 0.5) -> Leg:
    recorded = EmbedderRow(1, "serving", "fake", "fake", "fake", 2, FLOOR, 0)
    return Leg(np.array([1, 0], np.float32), recorded, mode, weight)


def found(scores: Scores, depth: int = 50) -> dict[int, float]:
    ranked = scores.best(depth)
    return dict(zip(ranked.ids.tolist(), ranked.scores.tolist(), strict=True))


ALL = FakeVectors({10: 0.9, 11: 0.29, 12: 0.3, 13: 0.1, 14: -0.5})
SOME = FakeVectors({10: 0.9, 12: 0.3})
QUERY = parse_query("drain node", ("en",))


def test_a_match_has_a_word_or_reaches_the_floor(index: Index) -> None:
    assert found(FusedScores(index, ALL, QUERY, None, leg())).keys() == {10, 11, 12, 13}
    assert found(FusedScores(index, ALL, QUERY, None, leg("vector"))).keys() == {10, 12}
    assert found(LexicalScores(index, QUERY, None)).keys() == {10, 11, 13}


@pytest.mark.parametrize("vectors", [ALL, SOME])
@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_a_mask_takes_hits_away_and_moves_none(index: Index, vectors: FakeVectors, mode: str) -> None:
    whole = found(FusedScores(index, vectors, QUERY, None, leg(mode)))
    mask = np.array([True, False, True, False, True])
    kept = found(FusedScores(index, vectors, QUERY, [mask], leg(mode)))
    assert kept == {chunk: score for chunk, score in whole.items() if chunk in (10, 12, 14)}


@pytest.mark.parametrize("vectors", [ALL, SOME])
def test_a_score_is_the_sum_of_its_parts(index: Index, vectors: FakeVectors) -> None:
    scores = FusedScores(index, vectors, QUERY, None, leg())
    for chunk, score in found(scores).items():
        parts = scores.parts(chunk, score)
        weight = parts["weight"]
        assert score == pytest.approx((1 - weight) * parts["bm25_norm"] + weight * parts["cosine_norm"])
        assert 0 <= parts["bm25_norm"] <= 1
        assert 0 <= parts["cosine_norm"] <= 1
        assert ("cosine" in parts) == (vectors is ALL or chunk in (10, 12))


def test_a_cosine_counts_from_a_little_below_the_floor_to_one(index: Index) -> None:
    scores = FusedScores(index, ALL, QUERY, None, leg())
    near = {chunk: scores.parts(chunk, 0.0)["cosine_norm"] for chunk in (10, 11, 12, 13)}
    assert near == pytest.approx(
        {10: 0.81 / 0.91, 11: 0.2 / 0.91, 12: 0.21 / 0.91, 13: 0.01 / 0.91}, abs=1e-6
    )


def test_the_deeper_ranking_begins_with_the_shallower_and_ties_are_whole(index: Index) -> None:
    scores = FusedScores(index, FakeVectors(dict.fromkeys(range(10, 15), 0.5)), QUERY, None, leg("vector"))
    assert list(found(scores, 1)) == [10, 11, 12, 13, 14]  # all equal: none is cut off
    scores = FusedScores(index, ALL, QUERY, None, leg())
    deep = list(found(scores))
    for depth in (1, 2, 3):
        assert list(found(scores, depth))[:depth] == deep[:depth]


def test_a_question_whose_words_no_document_has_is_scored_by_its_vector(index: Index) -> None:
    unknown = parse_query("zebra", ("en",))
    scores = FusedScores(index, ALL, unknown, None, leg(weight=0.5))
    assert found(scores) == pytest.approx({10: 0.5 * 0.81 / 0.91, 12: 0.5 * 0.21 / 0.91}, abs=1e-6)
    assert scores.parts(10, 0.0)["bm25_norm"] == 0.0


def test_what_is_dead_takes_no_part(index: Index) -> None:
    segment = build_segment(range(10, 15), [Indexable(text) for text in TEXTS])
    dead = np.array([False, True, False, False, True])
    buried = Index([(segment, dead)])
    left = build_segment([10, 12, 13], [Indexable(TEXTS[place]) for place in (0, 2, 3)])
    fresh = Index([(left, None)])
    for cosines in ({10: 0.9, 12: 0.3, 13: 0.1}, {10: 0.9}):
        vectors = FakeVectors(cosines)
        for mode in ("hybrid", "vector"):
            assert found(FusedScores(buried, vectors, QUERY, None, leg(mode))) == found(
                FusedScores(fresh, vectors, QUERY, None, leg(mode))
            )


def test_by_words_alone_the_score_is_bm25(index: Index) -> None:
    scores = LexicalScores(index, QUERY, None)
    for chunk, score in found(scores).items():
        parts = scores.parts(chunk, score)
        assert parts["bm25"] == score
        assert 0 < parts["bm25_norm"] <= 1
