"""Search with vectors: which mode, which hits, which scores, in which order."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight import Corpus
from firstlight.errors import ConfigError

from .embedder import Words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firstlight import Results

    from .conftest import Docs

MODES = ("auto", "hybrid", "vector", "bm25")
NONSENSE = ("zzqq blorf", "snarg vexxit plombo", "ghtrw")


def paths(results: Results) -> list[str]:
    return [hit.path for hit in results]


@pytest.fixture
def pages(docs: Docs) -> Docs:
    """Four short pages; `automobile`, `physician` and `purchase` stand in none of them."""
    docs.write("buy.md", "---\narea: shop\n---\nwhere to buy bread\n")
    docs.write("car.md", "---\narea: garage\n---\nthe car was repaired\n")
    docs.write("doctor.md", "---\narea: health\n---\na doctor sees patients\n")
    docs.write("node.md", "---\narea: garage\n---\ncordon the node first\n")
    return docs


@pytest.fixture
def corpus(pages: Docs) -> Iterator[Corpus]:
    """The four pages, embedded."""
    with pages.open(embedder=Words()) as opened:
        opened.sync()
        assert opened.wait_background(30)
        yield opened


def test_the_same_question_is_answered_better_as_vectors_come_in(pages: Docs) -> None:
    embedder = Words(most=2, texts=1)
    with pages.open(embedder=embedder) as corpus:
        corpus.sync()
        first = corpus.search("automobile repaired")
        assert (first.mode, first.embedded, first.total) == ("bm25", 0, 4)
        assert first.reason == "nothing is embedded yet; ranked by BM25 alone"
        assert not corpus.wait_background(30)
        second = corpus.search("automobile repaired")
        assert (second.mode, second.embedded, second.total) == ("partial", 2, 4)
        assert second.reason == "2 of 4 chunks embedded so far"
        embedder.most = None
        assert corpus.wait_background(30)
        third = corpus.search("automobile repaired")
        assert (third.mode, third.embedded, third.total) == ("hybrid", 4, 4)
        assert third.reason == "all chunks embedded"
        assert third.model == "words"
        assert paths(first) == paths(second) == paths(third) == ["car.md"]
        assert paths(corpus.search("automobile")) == ["car.md"]


def test_every_mode_says_what_it_did(corpus: Corpus) -> None:
    said = {mode: corpus.search("car", mode=mode) for mode in MODES}
    assert {mode: results.mode for mode, results in said.items()} == {
        "auto": "hybrid",
        "hybrid": "hybrid",
        "vector": "vector",
        "bm25": "bm25",
    }
    assert said["bm25"].reason == "as asked, ranked by BM25 alone"
    assert said["vector"].reason == said["hybrid"].reason == "all chunks embedded"
    assert {(results.embedded, results.total, results.model) for results in said.values() if results} == {
        (4, 4, "words")
    }


def test_before_anything_is_embedded_every_mode_is_answered_by_words(pages: Docs) -> None:
    with pages.open(embedder=Words()) as corpus:
        corpus.sync()
        for mode in ("auto", "hybrid", "vector"):
            results = corpus.search("car", mode=mode)
            assert (results.mode, paths(results)) == ("bm25", ["car.md"])
            assert "nothing is embedded yet" in results.reason


def test_without_an_embedder_only_the_modes_that_need_none_answer(pages: Docs) -> None:
    with pages.open() as corpus:
        corpus.sync()
        assert corpus.search("car").reason == "no embedder; ranked by BM25 alone"
        assert corpus.search("car", mode="bm25").mode == "bm25"
        for mode in ("hybrid", "vector"):
            with pytest.raises(ConfigError, match=r"needs an embedder.*pip install 'firstlight\[local\]'"):
                corpus.search("car", mode=mode)
        with pytest.raises(ConfigError, match="'semantic' is none of auto, bm25, hybrid, vector"):
            corpus.search("car", mode="semantic")


@pytest.mark.parametrize("mode", ["auto", "hybrid", "vector"])
def test_what_no_word_tells_is_found_by_its_vector(corpus: Corpus, mode: str) -> None:
    (hit,) = corpus.search("physician", mode=mode)
    assert (hit.path, hit.matched, hit.unmatched) == ("doctor.md", (), ("physician",))
    assert hit.snippet
    assert paths(corpus.search("physician", mode="bm25")) == []


def test_a_vector_alone_makes_a_match_from_the_floor_on(pages: Docs) -> None:
    def found(floor: float, mode: str) -> Results:
        with pages.open(embedder=Words(floor=floor), state=pages.root.parent / f"at-{floor}") as corpus:
            corpus.sync()
            assert corpus.wait_background(30)
            return corpus.search("automobile", mode=mode)

    cosine = found(0.3, "vector")[0].score
    for mode in ("hybrid", "vector"):
        assert paths(found(cosine, mode)) == paths(found(cosine - 1e-4, mode)) == ["car.md"]
        assert paths(found(cosine + 1e-4, mode)) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("where", [None, "area = garage", "not area = garage"])
def test_nonsense_finds_nothing(corpus: Corpus, mode: str, where: str | None) -> None:
    for question in NONSENSE:
        assert paths(corpus.search(question, mode=mode, where=where, top_k=50)) == []


def test_a_filter_holds_for_vectors_too(corpus: Corpus) -> None:
    for mode in ("hybrid", "vector"):
        assert paths(corpus.search("automobile", mode=mode, where="area = garage")) == ["car.md"]
        assert paths(corpus.search("automobile", mode=mode, where="area = shop")) == []


def test_a_phrase_holds_for_vectors_too(corpus: Corpus) -> None:
    for mode in ("hybrid", "vector"):
        assert paths(corpus.search('"car was repaired"', mode=mode)) == ["car.md"]
        assert paths(corpus.search('"repaired was the car"', mode=mode)) == []
        assert paths(corpus.search('automobile "node first"', mode=mode)) in ([], ["node.md"])


def test_equal_text_is_one_hit_that_names_the_others(pages: Docs) -> None:
    pages.write("copy.md", "the car was repaired\n")
    with pages.open(embedder=Words()) as corpus:
        corpus.sync()
        corpus.wait_background(30)
        for mode in ("hybrid", "vector"):
            (hit,) = corpus.search("automobile", mode=mode)
            assert (hit.path, hit.also_in) == ("car.md", ("copy.md",))


def chapters(*, sections: int, words: str) -> str:
    """A page of several chunks, all of which have these words, and little else that they share."""
    return "\n\n".join(
        f"# Part {part}\n\n{words}\n\n" + " ".join(f"{words} p{part}n{number}" for number in range(40))
        for part in range(sections)
    )


def test_a_document_has_no_more_hits_than_asked(docs: Docs) -> None:
    docs.write("long.md", chapters(sections=6, words="the car was repaired with care by mechanics"))
    docs.write("short.md", "a car for sale\n")
    with docs.open(embedder=Words(floor=0.2), config={"chunks": {"min_tokens": 100}}) as corpus:
        corpus.sync()
        corpus.wait_background(30)
        for mode in ("hybrid", "vector"):
            assert paths(corpus.search("automobile", mode=mode)).count("long.md") > 2
            bounded = corpus.search("automobile", mode=mode, per_document=2)
            assert paths(bounded).count("long.md") == 2
            assert "short.md" in paths(bounded)


def test_hits_hardly_overlap(docs: Docs) -> None:
    docs.write(
        "long.md", "\n\n".join(f"the car of owner{n} was repaired. It was day{n}." for n in range(200))
    )
    with docs.open(
        embedder=Words(floor=0.05), config={"chunks": {"min_tokens": 60, "max_tokens": 120, "overlap": 0.4}}
    ) as corpus:
        corpus.sync()
        corpus.wait_background(30)
        for mode in ("hybrid", "vector"):
            hits = corpus.search("automobile", mode=mode, top_k=50)
            assert len(hits) > 3
            spans = sorted((hit.start, hit.end) for hit in hits)
            for (start, end), (next_start, next_end) in pairwise(spans):
                assert end - next_start <= 0.5 * min(end - start, next_end - next_start)


def test_the_parts_of_a_score_add_up_to_it(corpus: Corpus) -> None:
    for question in ("automobile repaired", "cordon a vehicle", "physician"):
        for hit in corpus.search(question, explain=True, weight=0.3):
            part = hit.scores
            assert part["weight"] == 0.3
            summed = (1 - part["weight"]) * part["bm25_norm"] + part["weight"] * part["cosine_norm"]
            assert hit.score == pytest.approx(summed, abs=1e-12)
            assert part["cosine_norm"] == pytest.approx(max(0, (part["cosine"] - 0.22) / 0.78), abs=1e-12)
            words = sum(value for name, value in part.items() if name.startswith("term:"))
            assert part["bm25"] == pytest.approx(words, abs=1e-9)


def test_in_a_partial_answer_what_is_assumed_is_told_apart(pages: Docs) -> None:
    with pages.open(embedder=Words(most=3, texts=1)) as corpus:
        corpus.sync()
        corpus.wait_background(30)
        (hit,) = corpus.search("cordon the node")
        assert hit.path == "node.md"
        assert "cosine" not in hit.scores
        part = hit.scores
        summed = (1 - part["weight"]) * part["bm25_norm"] + part["weight"] * part["cosine_norm"]
        assert hit.score == pytest.approx(summed, abs=1e-12)


def test_the_score_of_mode_vector_is_the_cosine_and_that_of_bm25_is_bm25(corpus: Corpus) -> None:
    (hit,) = corpus.search("car", mode="vector")
    assert hit.scores == {"cosine": hit.score}
    (hit,) = corpus.search("car", mode="bm25")
    assert hit.scores["bm25"] == hit.score


def test_the_weight_goes_from_words_alone_to_vectors_alone(corpus: Corpus) -> None:
    for hit in corpus.search("automobile repaired", weight=0.0):
        assert hit.score == pytest.approx(hit.scores["bm25_norm"])
    for hit in corpus.search("automobile repaired", weight=1.0):
        assert hit.score == pytest.approx(hit.scores["cosine_norm"])
    for wrong in (-0.1, 1.1):
        with pytest.raises(ValueError, match="weight must be from 0 to 1"):
            corpus.search("car", weight=wrong)


def test_the_weight_of_the_settings_is_used(pages: Docs) -> None:
    with pages.open(embedder=Words(), config={"hybrid": {"weight": 0.9}}) as corpus:
        corpus.sync()
        corpus.wait_background(30)
        assert corpus.search("car")[0].scores["weight"] == 0.9


def test_equal_scores_are_ordered_by_path_then_position(docs: Docs) -> None:
    marks = (".", "!", "?", ":", ",", "..", "!!", "??", "::", ",,")
    texts = [f"the car was repaired{mark * times}\n" for times in range(1, 6) for mark in marks]
    for number, text in enumerate(texts):
        docs.write(f"{number:02}.md", text)
    with docs.open(embedder=Words()) as corpus:
        corpus.sync()
        corpus.wait_background(30)
        for mode in ("hybrid", "vector"):
            hits = corpus.search("automobile", mode=mode, top_k=50)
            assert len({hit.score for hit in hits}) == 1
            assert paths(hits) == sorted(paths(hits))
            assert len(hits) == len(set(texts))


_VOCABULARY = ["car", "automobile", "doctor", "physician", "buy", "purchase", "node", "drain", "the", "of"]
_TEXTS = st.lists(st.sampled_from(_VOCABULARY), min_size=1, max_size=6).map(" ".join)


@settings(max_examples=25)
@given(
    texts=st.lists(_TEXTS, min_size=1, max_size=14),
    question=st.lists(st.sampled_from(_VOCABULARY[:8]), min_size=1, max_size=3).map(" ".join),
    coverage=st.floats(0, 1),
    mode=st.sampled_from(["auto", "vector"]),
)
def test_neither_how_many_are_asked_for_nor_a_filter_moves_a_score(
    texts: list[str], question: str, coverage: float, mode: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "docs")
        root.mkdir()
        for number, text in enumerate(texts):
            side = "left" if number % 3 else "right"
            (root / f"{number:02}.md").write_text(f"---\nside: {side}\n---\n{text} only{number}\n")
        embedder = Words(texts=1, most=round(coverage * len(texts)), floor=0.3)
        embedder.fingerprint = folder  # what another example embedded is another model's
        with Corpus.open(root, state=Path(folder, "state"), embedder=embedder) as corpus:
            corpus.sync()
            assert corpus.wait_background(30) == (embedder.most == len(texts))
            everything = corpus.search(question, mode=mode, top_k=50)
            whole = [(hit.path, hit.score, hit.scores) for hit in everything]
            assert whole == sorted(whole, key=lambda hit: (-hit[1], hit[0]))
            for top_k in (1, 5):
                few = corpus.search(question, mode=mode, top_k=top_k)
                assert [(hit.path, hit.score, hit.scores) for hit in few] == whole[:top_k]
            kept = corpus.search(question, mode=mode, top_k=50, where="side = left")
            assert [(hit.path, hit.score, hit.scores) for hit in kept] == [
                hit for hit in whole if int(hit[0][:2]) % 3
            ]
