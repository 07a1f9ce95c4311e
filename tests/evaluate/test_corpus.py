"""A real corpus with a small embedder of this process, from the files to the report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from firstlight import Corpus
from firstlight.evaluate import (
    TestSet,
    document_paths,
    evaluate,
    make_test_set,
    read_judgements,
    read_questions,
    save_weight,
    tune_weight,
)
from firstlight.evaluate.tune import GRID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstlight.embed.types import Kind, Vectors

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ANIMALS = ("horse", "otter", "heron", "badger", "weasel")
# What people say when they do not know the word: only an embedder knows that it is the same.
OTHERWISE = {"steed": "horse", "swimmer": "otter", "fisher": "heron", "digger": "badger", "hunter": "weasel"}
PLACES = ("river", "forest", "barn", "meadow", "harbour")


class Thesaurus:
    """Counts words, and knows a few that mean the same."""

    name = "thesaurus"
    max_tokens = 10_000
    fingerprint = "thesaurus/1"
    languages = None
    floor = 0.2
    words = (*ANIMALS, *PLACES)
    dimensions = len(words)

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        vectors = np.full((len(texts), self.dimensions), 0.01, dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                meant = OTHERWISE.get(word, word)
                if meant in self.words:
                    row[self.words.index(meant)] += 1.0
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTLIGHT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("FIRSTLIGHT_CONFIG", str(tmp_path / "config" / "config.toml"))
    monkeypatch.setenv("FIRSTLIGHT_BACKGROUND", "0")


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """A page for each animal in each place."""
    folder = tmp_path / "zoo"
    folder.mkdir()
    for animal in ANIMALS:
        for place in PLACES:
            text = f"# Entry\n\nThe {animal} was seen at the {place}, as on every other day.\n"
            (folder / f"{animal}-{place}.md").write_text(text)
    return folder


@pytest.fixture
def asked(zoo: Path) -> TestSet:
    """Who was seen where: of the animals by another name, the places by their own."""
    pages = {
        f"{name}-{place}": f"{animal}-{place}.md" for name, animal in OTHERWISE.items() for place in PLACES
    }
    questions = {name: f"the {name.replace('-', ' near the ')}" for name in pages}
    return TestSet(questions, {name: {page: 1} for name, page in pages.items()})


def test_hybrid_is_better_where_people_use_other_words(zoo: Path, asked: TestSet) -> None:
    with Corpus.open(zoo, embedder=Thesaurus()) as corpus:
        corpus.sync(embed=True)
        report = evaluate(corpus, asked)
        scores = {each.mode: each for each in report.modes}
        assert report.not_evaluated == ()
        assert scores["hybrid"].ndcg > scores["bm25"].ndcg + 0.2
        assert scores["hybrid"].fallbacks == {}
        assert report.comparisons[0].verdict.startswith("hybrid is better than bm25 by 0.")
        tuning = tune_weight(corpus, asked, report)
        assert list(tuning.curve) == list(GRID)
        assert tuning.cross_validated >= scores["bm25"].ndcg
        assert tuning.ndcg == max(tuning.curve.values())
    save_weight(zoo, tuning.weight)
    with Corpus.open(zoo, embedder=Thesaurus()) as corpus:
        again = evaluate(corpus, asked, modes=["hybrid"])
    assert again.modes[0].ndcg == pytest.approx(tuning.ndcg)


def test_what_is_not_embedded_yet_is_told(zoo: Path, asked: TestSet) -> None:
    with Corpus.open(zoo, embedder=Thesaurus(), background=False) as corpus:
        corpus.sync()
        report = evaluate(corpus, asked)
        assert [each.mode for each in report.modes] == ["bm25"]
        assert report.not_evaluated[0].reason.startswith("only 0 of 25 chunks are embedded; `firstlight sync")
        corpus.sync(embed=True)
        (zoo / "new.md").write_text("# New\n\nThe horse is in the barn again.\n")
        corpus.sync()
        report = evaluate(corpus, asked)
        assert report.not_evaluated[1].reason.startswith("only 25 of 26 chunks are embedded")


def test_without_an_embedder_only_bm25_is_scored(zoo: Path, asked: TestSet) -> None:
    with Corpus.open(zoo, embedder="none") as corpus:
        corpus.sync()
        report = evaluate(corpus, asked)
        assert [each.mode for each in report.modes] == ["bm25"]
        assert "pip install 'firstlight[local]'" in report.not_evaluated[0].reason


def test_the_handbook_questions_are_answered_well(tmp_path: Path) -> None:
    folder = EXAMPLES / "handbook-questions"
    with Corpus.open(EXAMPLES / "handbook", state=tmp_path / "index", embedder="none") as corpus:
        corpus.sync()
        test_set = make_test_set(
            read_questions(folder / "queries.jsonl"),
            read_judgements(folder / "qrels.tsv"),
            document_paths(corpus.state),
        )
        report = evaluate(corpus, test_set, modes=["bm25"])
    assert (report.questions, report.judgements, report.notes) == (40, 64, ())
    assert report.modes[0].ndcg > 0.75
