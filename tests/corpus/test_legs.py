"""Which legs a search uses, and the one line that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firstlight.corpus.ask import ask
from firstlight.corpus.legs import ASKED, CHANGED, NO_EMBEDDER, NOT_YET, Leg, vector_leg
from firstlight.corpus.search import Question
from firstlight.errors import ConfigError

from .embedder import Words, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firstlight import Corpus
    from firstlight.corpus.embedding import Embedding

    from .conftest import Docs


@pytest.fixture
def embedder() -> Words:
    return Words()


@pytest.fixture
def embedded(handbook: Docs, embedder: Words) -> Iterator[Corpus]:
    """The handbook, embedded."""
    with handbook.open(embedder=embedder) as opened:
        opened.sync(embed=True)
        yield opened


def of(corpus: Corpus) -> Embedding:
    embedding = corpus._upgrade.embedding()
    assert embedding is not None
    return embedding


def test_there_is_a_leg_where_there_is_a_vector_to_compare_with(embedded: Corpus) -> None:
    for mode, used in (("auto", "hybrid"), ("hybrid", "hybrid"), ("vector", "vector")):
        leg = vector_leg(embedded._site, of(embedded), "drain", mode, 0.4)
        assert isinstance(leg, Leg)
        assert (leg.mode, leg.weight, leg.recorded.name) == (used, 0.4, "words")
        assert leg.vector.shape == (256,)


def test_where_there_is_none_one_line_says_why(embedded: Corpus, embedder: Words) -> None:
    site, embedding = embedded._site, of(embedded)
    assert vector_leg(site, embedding, "drain", "bm25", 0.4) == ASKED
    assert vector_leg(site, None, "drain", "auto", 0.4) == NO_EMBEDDER
    for mode in ("hybrid", "vector"):
        with pytest.raises(ConfigError, match="needs an embedder"):
            vector_leg(site, None, "drain", mode, 0.4)
    embedder.before = refuse("out to lunch")
    assert vector_leg(site, embedding, "something new", "auto", 0.4) == (
        "the question could not be embedded (out to lunch); ranked by BM25 alone"
    )


def test_before_the_first_vector_nobody_is_asked(handbook: Docs, embedder: Words) -> None:
    with handbook.open(embedder=embedder) as corpus:
        corpus.sync()
        assert vector_leg(corpus._site, of(corpus), "drain", "auto", 0.4) == NOT_YET
    assert embedder.questions == []


def test_a_leg_of_a_model_that_was_changed_since_is_not_compared_with_the_new_ones_vectors(
    embedded: Corpus,
) -> None:
    leg = vector_leg(embedded._site, of(embedded), "drain", "auto", 0.4)
    assert isinstance(leg, Leg)
    stale = leg._replace(recorded=leg.recorded._replace(id=leg.recorded.id + 1))
    question = Question("drain", 10, None, None, explain=False)
    results = ask(embedded._site, embedded._snapshots, question, stale).results
    assert (results.mode, results.reason) == ("bm25", CHANGED)
    assert results[0].path == "ops/drain.md"
