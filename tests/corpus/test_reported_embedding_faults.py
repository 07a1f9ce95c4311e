"""What users of other retrieval systems reported about vectors, a kind of fault each, and what is right."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from firstlight.errors import EmbeddingError, FilterError

from .embedder import Words, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from firstlight import Corpus

    from .conftest import Docs


def write_pages(docs: Docs, count: int) -> None:
    for number in range(count):
        docs.write(f"{number:03}.md", f"words of page number{number}\n", age=100)


def reasons(corpus: Corpus) -> list[str]:
    connection = sqlite3.connect(corpus.state / "corpus.db")
    found = [reason for (reason,) in connection.execute("SELECT reason FROM vectors WHERE reason NOT NULL")]
    connection.close()
    return found


class Spoiling(Words):
    """Spoils the vectors of some texts."""

    def __init__(self, spoil: Callable[[NDArray[np.float32]], None], word: str) -> None:
        super().__init__()
        self._spoil, self._word = spoil, word

    def embed(self, texts: Sequence[str], kind: str) -> NDArray[np.float32]:
        rows = super().embed(texts, kind)
        for text, row in zip(texts, rows, strict=True):
            if self._word in text:
                self._spoil(row)
        return rows


# Embedding


def test_overlong_input_is_not_cut_off_but_embedded_in_windows(docs: Docs) -> None:
    text = " ".join(f"word{number}" for number in range(300)) + " automobile\n"
    docs.write("long.md", text)
    embedder = Words(floor=0.05)
    embedder.max_tokens = 60
    with docs.open(embedder=embedder) as corpus:
        corpus.sync(embed=True)
        assert "".join(embedder.texts) == text  # to the last word
        status = corpus.status()
        assert (status.embedded, status.windows) == (status.chunks, len(embedder.texts))
        assert status.windows > 3 * status.chunks


def test_where_the_guess_of_tokens_was_too_low_texts_are_cut_until_they_fit(docs: Docs) -> None:
    docs.write("zh.md", "节点排空之后服务会迁移到另一个节点。" * 60)
    docs.write("code.md", "    x = {(a,b):[c]}\n" * 60)
    embedder = Words()

    def small(texts: Sequence[str], kind: str) -> None:
        if sum(len(text.encode()) for text in texts) > 700:
            raise EmbeddingError("too many tokens", kind="too-large")

    embedder.before = small
    with docs.open(embedder=embedder) as corpus:
        corpus.sync(embed=True)
        status = corpus.status()
        assert (status.embedded, status.failed) == (status.chunks, 0)
        assert sum(map(len, embedder.texts)) >= 18 * 60


def test_a_failed_request_discards_no_good_batch_before_it(docs: Docs) -> None:
    write_pages(docs, 40)
    with docs.open(embedder=Words(texts=8, most=24)) as corpus:
        corpus.sync()
        assert not corpus.wait_background(30)
        assert corpus.status().embedded == 24
    with docs.open(embedder=(embedder := Words(texts=8))) as corpus:
        assert corpus.wait_background(30)
        assert len(embedder.texts) == 16


@pytest.mark.parametrize("rubbish", [0.0, float("nan"), float("inf")])
def test_a_poisonous_vector_is_refused_and_its_text_named_by_its_hash(docs: Docs, rubbish: float) -> None:
    write_pages(docs, 10)
    docs.write("bad.md", "the spoilt page\n")
    with docs.open(embedder=Spoiling(lambda row: row.fill(rubbish), "spoilt")) as corpus:
        corpus.sync()
        assert corpus.wait_background(30)
        assert (corpus.status().embedded, corpus.status().failed) == (10, 1)
        (reason,) = reasons(corpus)
        assert "(text " in reason
        assert "spoilt" not in reason
        hits = corpus.search("number3 page")
        assert np.isfinite([hit.score for hit in hits]).all()
        assert corpus.search("spoilt")[0].path == "bad.md"
        assert corpus.verify().findings == ()


def test_the_cache_hands_out_no_other_models_vectors(docs: Docs) -> None:
    write_pages(docs, 5)
    for name in ("one", "two"):
        embedder = Words(name)
        with docs.open(embedder=embedder, state=docs.root.parent / name) as corpus:
            corpus.sync(embed=True)
            assert len(embedder.texts) == 5
            assert corpus.search("number3", mode="vector", top_k=1)[0].path == "003.md"


def test_a_question_does_not_wait_for_the_job_behind_it(docs: Docs) -> None:
    write_pages(docs, 50)
    release, reached = threading.Event(), threading.Event()
    embedder = Words(texts=8, most=16)
    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        corpus.wait_background(30)

        def busy(texts: Sequence[str], kind: str) -> None:
            if kind == "document":
                reached.set()
                release.wait(60)

        embedder.before = busy
        waiting = threading.Thread(target=corpus.wait_background, args=(60,))
        waiting.start()
        assert reached.wait(10)
        for number in range(20):
            assert corpus.search(f"words of number{number}").mode == "partial"
        release.set()
        waiting.join(60)


def test_no_document_is_embedded_while_somebody_waits_for_an_answer(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FIRSTLIGHT_BACKGROUND")
    write_pages(docs, 30)
    threads: set[str] = set()
    embedder = Words()

    def note(texts: Sequence[str], kind: str) -> None:
        if kind == "document":
            threads.add(threading.current_thread().name)

    embedder.before = note
    with docs.open(embedder=embedder) as corpus:
        for number in range(5):
            docs.write("changing.md", f"another page{number}\n")
            corpus.sync()
            corpus.search("page")
        assert corpus.wait_background(30)
    assert threads == {"firstlight-embedding"}


# Sync


@pytest.mark.parametrize("pages", [31, 32, 33, 129])
def test_no_batch_size_makes_a_second_run_embed_anything(docs: Docs, pages: int) -> None:
    write_pages(docs, pages)
    for run in range(3):
        embedder = Words()
        with docs.open(embedder=embedder) as corpus:
            corpus.sync(embed=True)
            assert corpus.status().embedded == pages
            assert len(embedder.texts) == (0 if run else pages)


def test_an_inserted_line_embeds_only_what_it_is_in(docs: Docs) -> None:
    sections = [f"# Part {part}\n\n" + f"Words of part {part}. " * 100 for part in range(30)]
    docs.write("long.md", "\n\n".join(sections), age=100)
    embedder = Words()
    with docs.open(embedder=embedder) as corpus:
        corpus.sync(embed=True)
        before = len(embedder.texts)
        docs.write("long.md", "A new first line.\n\n" + "\n\n".join(sections))
        corpus.sync(embed=True)
        assert 1 <= len(embedder.texts) - before <= 2


def test_taking_one_document_away_leaves_the_others_vectors(docs: Docs) -> None:
    write_pages(docs, 10)
    embedder = Words()
    with docs.open(embedder=embedder) as corpus:
        corpus.sync(embed=True)
        (docs.root / "004.md").unlink()
        corpus.sync()
        assert corpus.status().embedded == 9
        for number in (3, 5):
            assert corpus.search(f"number{number}", mode="vector", top_k=1)[0].path == f"{number:03}.md"
        assert "004.md" not in {hit.path for hit in corpus.search("words of page number4", top_k=50)}
        assert corpus.verify().findings == ()


def test_a_rebuild_that_fails_leaves_the_old_vectors_serving(docs: Docs) -> None:
    write_pages(docs, 10)
    embedder = Words()
    with docs.open(embedder=embedder) as corpus:
        corpus.sync(embed=True)
        docs.write("005.md", "something altogether new\n")
        embedder.before = refuse("down", "quota")
        with pytest.raises(EmbeddingError, match="down"):
            corpus.sync(rebuild=True, embed=True)
        embedder.before = lambda texts, kind: None
        results = corpus.search("words of page number3")
        assert (results.mode, results.embedded, results[0].path) == ("partial", 9, "003.md")


# Hybrid and filters


def test_documents_that_are_not_embedded_yet_are_not_invisible(docs: Docs) -> None:
    write_pages(docs, 20)
    with docs.open(embedder=Words(texts=1, most=10)) as corpus:
        corpus.sync()
        corpus.wait_background(30)
        results = corpus.search("number15")
        assert (results.mode, results[0].path) == ("partial", "015.md")
        everything = corpus.search("words of page", top_k=50)
        assert len(everything) == 20


def test_a_score_is_on_one_scale_whatever_is_asked_for(docs: Docs) -> None:
    write_pages(docs, 20)
    with docs.open(embedder=Words()) as corpus:
        corpus.sync(embed=True)
        asked = [
            corpus.search("words of number7", top_k=top_k, where=where)[0]
            for top_k in (1, 10, 50)
            for where in (None, "path = '007.md'")
        ]
        assert len({(hit.path, hit.score) for hit in asked}) == 1
        assert 0 <= asked[0].score <= 1


def test_a_misspelt_field_is_an_error_with_vectors_too(docs: Docs) -> None:
    docs.write("a.md", "---\narea: one\n---\nwords\n")
    with docs.open(embedder=Words()) as corpus:
        corpus.sync(embed=True)
        for mode in ("hybrid", "vector"):
            with pytest.raises(FilterError, match="area"):
                corpus.search("words", mode=mode, where="aera = one")
