"""The floor of a model that brings none: from which cosine on a passage is a match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firstlight.corpus import calibrate
from firstlight.corpus.calibrate import NONSENSE, floor_of
from firstlight.errors import EmbeddingError

from .embedder import WordEmbedder, Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from firstlight import Corpus

    from .conftest import Docs

WORDS = ("node", "drain", "cordon", "pod", "cluster", "backup", "restore", "nightly", "snapshot", "disk")


def write_pages(docs: Docs, count: int, *, first: int = 0) -> None:
    for number in range(first, first + count):
        chosen = [WORDS[(number * step) % len(WORDS)] for step in (1, 5, 7)]
        docs.write(f"{number:03}.md", f"{' '.join(chosen)} page{number}\n")


def floor(corpus: Corpus) -> float | None:
    """Return the floor that the index has."""
    from firstlight.store.embedders import read_embedders

    with corpus._site.database.read() as connection:
        return read_embedders(connection)["serving"].floor


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 2**32))
def test_a_floor_is_a_cosine_that_nonsense_does_not_reach(questions: int, passages: int, seed: int) -> None:
    dice = np.random.default_rng(seed)
    asked, given = (
        (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        for rows in (dice.normal(size=(questions, 8)), dice.normal(size=(passages, 8)))
    )
    found = floor_of(asked, given)
    assert 0 <= found <= 0.95
    if found < 0.95:
        assert (given @ asked.T).max() <= found + 1e-6


def test_vectors_are_used_as_soon_as_there_are_enough_to_know_nonsense(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firstlight.corpus.worker.ENOUGH", 20)
    monkeypatch.setattr(calibrate, "ENOUGH", 20)
    write_pages(docs, 60)
    embedder = Words(texts=4, most=16)
    embedder.floor = None  # type: ignore[assignment]
    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        assert not corpus.wait_background(30)
        results = corpus.search("node")
        assert (results.mode, results.embedded) == ("bm25", 16)
        assert results.reason.startswith("too little is embedded yet to tell a match from nonsense")
        embedder.most = 40
        assert not corpus.wait_background(30)
        results = corpus.search("node")
        assert (results.mode, results.embedded) == ("partial", 40)
        assert floor(corpus) is not None


def test_a_few_pages_are_enough_once_they_are_all(docs: Docs) -> None:
    write_pages(docs, 2)
    with docs.open(embedder=WordEmbedder()) as corpus:
        corpus.sync()
        assert corpus.wait_background(30)
        assert corpus.search("node").mode == "hybrid"


def test_a_floor_grows_with_a_small_corpus_and_is_that_of_a_fresh_one(docs: Docs) -> None:
    write_pages(docs, 3)
    with docs.open(embedder=WordEmbedder()) as corpus:
        corpus.sync(embed=True)
        early = floor(corpus)
        write_pages(docs, 200, first=3)
        corpus.sync(embed=True)
        late = floor(corpus)
        assert early is not None
        assert late is not None
        assert late > early
    with docs.open(embedder=WordEmbedder(), state=docs.root.parent / "fresh") as fresh:
        fresh.sync(embed=True)
        assert floor(fresh) == late


def test_the_nonsense_is_embedded_once(docs: Docs) -> None:
    embedder = WordEmbedder()
    with docs.open(embedder=embedder) as corpus:
        for round_ in range(3):
            write_pages(docs, 5, first=5 * round_)
            corpus.sync(embed=True)
    assert sorted(embedder.questions) == sorted(NONSENSE)


def test_a_floor_that_a_model_brings_is_kept(docs: Docs) -> None:
    write_pages(docs, 30)
    embedder = Words(floor=0.42)
    with docs.open(embedder=embedder) as corpus:
        corpus.sync(embed=True)
        write_pages(docs, 30, first=30)
        corpus.sync(embed=True)
        assert floor(corpus) == 0.42
    assert embedder.questions == []


def test_while_the_nonsense_cannot_be_embedded_words_answer_and_it_is_tried_again(docs: Docs) -> None:
    write_pages(docs, 5)
    embedder = WordEmbedder()

    def before(texts: Sequence[str], kind: str) -> None:
        if kind == "query":
            raise EmbeddingError("no questions today", kind="refused")

    embedder.before = before
    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        assert not corpus.wait_background(30)
        assert corpus.status().trouble == "no questions today"
        assert corpus.status().mode == corpus.search("node").mode == "bm25"
        embedder.before = lambda texts, kind: None
        assert corpus.wait_background(30)
        assert corpus.status().trouble is None
        assert corpus.search("node").mode == "hybrid"
        assert len(embedder.texts) == 5


def test_nonsense_that_the_model_was_not_calibrated_with_mostly_finds_nothing(docs: Docs) -> None:
    write_pages(docs, 100)
    with docs.open(embedder=WordEmbedder(dimensions=256)) as corpus:
        corpus.sync(embed=True)
        answers = [corpus.search(f"vlurp{n} grommix{n} tassel{n}oo", mode="vector") for n in range(40)]
        assert {answer.mode for answer in answers} == {"vector"}
        assert sum(map(bool, answers)) <= 6
