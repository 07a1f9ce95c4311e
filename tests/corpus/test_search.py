from __future__ import annotations

import datetime as dt
import hashlib
import threading
import uuid
from typing import TYPE_CHECKING

import pytest

from firstlight import Corpus
from firstlight.corpus.ranking import point_id
from firstlight.errors import ConfigError, FilterError, StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Docs


def paths(corpus: Corpus, question: str, **options: object) -> list[str]:
    return [hit.path for hit in corpus.search(question, **options)]  # type: ignore[arg-type]


def test_results_say_what_was_done(corpus: Corpus) -> None:
    results = corpus.search("drain a node")
    assert (results.query, results.mode, results.model) == ("drain a node", "bm25", None)
    assert (results.embedded, results.total, results.generation) == (0, 3, 1)
    assert results.reason.startswith("no embedder; ")


def test_a_hit_knows_all_about_its_passage(corpus: Corpus, handbook: Docs) -> None:
    hit = corpus.search("drain a node")[0]
    text = (handbook.root / hit.path).read_text()
    assert (hit.rank, hit.path, hit.title) == (1, "ops/drain.md", "Drain a node")
    assert text[hit.start : hit.end] == hit.text
    assert text.splitlines()[hit.line_start - 1] == "# Drain"
    assert hit.line_end == len(text.splitlines())
    assert hit.headings == ("Drain",)
    assert hit.payload["last_verified"] == dt.date(2026, 1, 31)
    assert hit.payload["level"] == 2
    assert hit.matched == ("drain", "node")
    assert hit.unmatched == ()
    assert hit.score == hit.scores["bm25"] > 0
    assert 0 < hit.scores["bm25_norm"] <= 1
    assert all(hit.snippet[start:end].lower() in ("drain", "node") for start, end in hit.highlights)
    assert hit.highlights
    assert (hit.stale, hit.also_in) == (False, ())


def test_the_headings_of_a_hit_are_those_above_its_first_match(docs: Docs) -> None:
    docs.write("a.md", "# Nodes {#nodes}\n\nZebras.\n\n## Drain\n\nCordon first.\n\n## Add\n\nJoin it.\n")
    with docs.open() as corpus:
        corpus.sync()
        for question, headings in {
            "zebras": ("Nodes",),
            "cordon": ("Nodes", "Drain"),
            "join": ("Nodes", "Add"),
        }.items():
            assert corpus.search(question)[0].headings == headings
        assert corpus.verify().ok


def test_a_match_in_what_a_chunk_repeats_is_under_the_headings_there(docs: Docs) -> None:
    filler = "Some words that make a sentence of a page. " * 8
    parts = [f"{filler}\n\n"] * 6
    docs.write("a.md", f"# One\n\n{''.join(parts)}zebras\n\n# Two\n\nyaks zebras\n\n{''.join(parts)}")
    with docs.open() as corpus:
        corpus.sync()
        (hit,) = corpus.search("yaks")
        assert "zebras\n\n# Two" in hit.text
        assert hit.headings == ("Two",)
        (hit, *_) = [found for found in corpus.search("zebras") if "yaks" in found.text]
        assert hit.headings == ("One",)


def test_without_a_match_in_the_text_the_headings_are_the_passages_own(docs: Docs) -> None:
    docs.write("zebras.md", "# One\n\nText.\n\n## Two\n\nText.\n")
    with docs.open() as corpus:
        corpus.sync()
        assert corpus.search("zebras")[0].headings == ("One",)


def test_an_id_is_a_uuid_of_path_position_and_text(corpus: Corpus) -> None:
    hit = corpus.search("drain a node")[0]
    digest = hashlib.sha256(hit.text.encode()).digest()
    assert hit.id == point_id("ops/drain.md", 0, digest)
    key = f"ops/drain.md\0{0}\0{digest.hex()}".encode()
    assert uuid.UUID(hit.id) == uuid.UUID(bytes=hashlib.sha256(key).digest()[:16])


def test_words_that_did_not_match_are_named(corpus: Corpus) -> None:
    hit = corpus.search("drain zebra")[0]
    assert (hit.matched, hit.unmatched) == (("drain",), ("zebra",))


def test_explain_adds_each_words_part_and_they_add_up(corpus: Corpus) -> None:
    hit = corpus.search("drain node", explain=True)[0]
    parts = {name: value for name, value in hit.scores.items() if name.startswith("term:")}
    assert set(parts) == {"term:drain", "term:node"}
    assert sum(parts.values()) == pytest.approx(hit.score)
    assert not any(name.startswith("term:") for name in corpus.search("drain")[0].scores)


def test_what_matches_nothing_returns_nothing(corpus: Corpus) -> None:
    assert list(corpus.search("xylophone")) == []
    assert list(corpus.search("xylophone", where="area = platform")) == []
    assert list(corpus.search("")) == []
    assert list(corpus.search("?!")) == []


def test_the_first_hits_do_not_depend_on_how_many_are_asked_for(docs: Docs) -> None:
    for number in range(60):
        docs.write(
            f"{number:02}.md",
            "drain " * (1 + number % 3) + f"pods {'and nodes ' * (number % 5)}\n\nx{number}\n",
        )
    with docs.open() as corpus:
        corpus.sync()
        most = [(hit.path, hit.score) for hit in corpus.search("drain nodes", top_k=50)]
        assert len(most) == 50
        for k in (1, 2, 5, 17):
            assert [(hit.path, hit.score) for hit in corpus.search("drain nodes", top_k=k)] == most[:k]


def test_equal_scores_are_ordered_by_path(docs: Docs) -> None:
    for name in ("c", "a", "b"):
        docs.write(f"{name}.md", f"drain the node {name}{name}\n")
    with docs.open() as corpus:
        corpus.sync()
        assert paths(corpus, "drain") == ["a.md", "b.md", "c.md"]


def test_equal_text_is_one_hit_that_names_the_others(docs: Docs) -> None:
    text = "Drain the node before you go.\n"
    for name in ("b/copy.md", "a/first.md", "c/third.md"):
        docs.write(name, text)
    docs.write("d/fourth.md", f"---\narea: ops\n---\n{text}")
    docs.write("other.md", "Drain the swamp.\n")
    with docs.open() as corpus:
        corpus.sync()
        hits = corpus.search("drain node")
        assert len(hits) == 2
        everywhere = {"a/first.md", "b/copy.md", "c/third.md", "d/fourth.md"}
        assert {hits[0].path, *hits[0].also_in} == everywhere
        assert list(hits[0].also_in) == sorted(hits[0].also_in)
        (only,) = corpus.search("drain", where="area = ops")
        assert (only.path, only.also_in) == ("d/fourth.md", ())


def test_many_copies_of_the_best_passage_do_not_crowd_out_the_rest(docs: Docs) -> None:
    for number in range(300):
        docs.write(f"copy/{number:03}.md", "drain drain drain\n")
    docs.write("long.md", "drain " + "and many other words " * 20)
    with docs.open() as corpus:
        corpus.sync()
        hits = corpus.search("drain", top_k=5)
        assert [hit.path for hit in hits] == ["copy/000.md", "long.md"]
        assert len(hits[0].also_in) == 299


def test_per_document_bounds_a_documents_hits(docs: Docs) -> None:
    docs.write("big.md", "".join(f"# H{n}\n\n{f'drain node{n} ' * 220}\n\n" for n in range(6)))
    docs.write("small.md", "drain\n")
    with docs.open() as corpus:
        corpus.sync()
        assert paths(corpus, "drain").count("big.md") > 3
        assert paths(corpus, "drain", per_document=2).count("big.md") == 2
        assert "small.md" in paths(corpus, "drain", per_document=2)


def test_a_filter_applies_before_ranking(corpus: Corpus) -> None:
    assert set(paths(corpus, "drain database documents")) == {"ops/drain.md", "ops/backup.md", "about.md"}
    assert set(paths(corpus, "drain database documents", where="area = platform")) == {
        "ops/drain.md",
        "ops/backup.md",
    }
    assert paths(corpus, "drain database", where={"level": {"lte": 1}}) == ["ops/backup.md"]
    assert paths(corpus, "drain database", where="last_verified >= 2026-01-01") == ["ops/drain.md"]
    assert paths(corpus, "drain database", where="tags = nightly") == ["ops/backup.md"]
    assert paths(corpus, "drain", where="not area = platform") == ["about.md"]


def test_built_in_fields_can_be_filtered_by(corpus: Corpus) -> None:
    assert paths(corpus, "drain", where={"path": "about.md"}) == ["about.md"]
    assert paths(corpus, "drain", where={"title": "Drain a node"}) == ["ops/drain.md"]
    assert set(paths(corpus, "drain", where='extension = ".md" and language = en')) == {
        "ops/drain.md",
        "about.md",
    }


def test_a_filter_changes_no_score(corpus: Corpus) -> None:
    all_scores = {hit.path: hit.score for hit in corpus.search("drain database")}
    for hit in corpus.search("drain database", where="area = platform"):
        assert hit.score == all_scores[hit.path]


def test_an_unknown_field_is_an_error_that_lists_the_known_ones(corpus: Corpus) -> None:
    with pytest.raises(FilterError, match=r"'aera'.*'area'.*level"):
        corpus.search("drain", where="aera = platform")


def test_filters_see_what_a_later_sync_brought(corpus: Corpus, handbook: Docs) -> None:
    assert paths(corpus, "drain", where="area = about") == ["about.md"]
    handbook.write("about.md", "---\narea: platform\nowner: kim\n---\nWe drain swamps.\n")
    handbook.write("new.md", "---\narea: about\n---\ndrain\n")
    corpus.sync()
    assert paths(corpus, "drain", where="area = about") == ["new.md"]
    assert paths(corpus, "drain", where="owner = kim") == ["about.md"]
    (handbook.root / "about.md").unlink()
    corpus.sync()
    with pytest.raises(FilterError, match="owner"):
        corpus.search("drain", where="owner = kim")


def test_a_quoted_phrase_has_to_stand_there_word_for_word(corpus: Corpus) -> None:
    assert paths(corpus, '"cordon the node"') == ["ops/drain.md"]
    assert paths(corpus, '"node the cordon"') == []
    assert paths(corpus, 'drain "we write documents"') == ["about.md"]
    assert paths(corpus, '"drain"', where="area = about") == ["about.md"]
    assert paths(corpus, '"cordon the node"', where="area = about") == []


@pytest.mark.parametrize(
    "question",
    [
        'node-pool: "drain',
        "'drain' AND (node",
        "drain* OR NOT",
        "drain \\ node;",
        "drain\x00node",
        "🚀 drain",
        "\ud800 drain",
    ],
)
def test_a_question_is_text_and_never_syntax(corpus: Corpus, question: str) -> None:
    assert "ops/drain.md" in paths(corpus, question)


def test_a_very_long_question_is_answered(corpus: Corpus) -> None:
    assert paths(corpus, "drain node " + "unheard word " * 3000)[0] == "ops/drain.md"


def test_more_hits_than_there_are_can_be_asked_for(corpus: Corpus) -> None:
    assert len(corpus.search("drain", top_k=100_000)) == 2


def test_thousands_of_equal_scores_stay_within_sqls_bounds(docs: Docs) -> None:
    for number in range(1200):
        docs.write(f"{number:04}.md", f"drain u{number:04}\n")
    with docs.open() as corpus:
        corpus.sync()
        assert paths(corpus, "drain", top_k=3) == ["0000.md", "0001.md", "0002.md"]
        assert len(corpus.search("drain", top_k=2000)) == 1200


def test_wrong_arguments_are_refused(corpus: Corpus) -> None:
    with pytest.raises(ValueError, match="top_k"):
        corpus.search("x", top_k=0)
    with pytest.raises(ValueError, match="per_document"):
        corpus.search("x", per_document=0)
    with pytest.raises(TypeError):
        corpus.search(["x"])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="nearest"):
        corpus.search("x", mode="nearest")
    for mode in ("hybrid", "vector"):
        with pytest.raises(ConfigError, match="needs an embedder"):
            corpus.search("x", mode=mode)


def test_the_last_good_version_serves_although_the_file_has_changed_since(
    corpus: Corpus, handbook: Docs
) -> None:
    handbook.write("ops/drain.md", "nothing of that sort any more\n")
    hit = corpus.search("cordon")[0]
    assert "Cordon the node" in hit.text


def test_eight_threads_get_the_same_answers_as_one_while_a_sync_runs(corpus: Corpus, handbook: Docs) -> None:
    expected = {"cordon": ["ops/drain.md"], "snapshot": ["ops/backup.md"]}
    wrong: list[object] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            for question, answer in expected.items():
                got = paths(corpus, question)
                if got != answer:
                    wrong.append(got)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for number in range(20):
        handbook.write(f"more/{number}.md", f"other words {number}\n")
        corpus.sync()
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert corpus.status().documents == 23


def test_several_corpora_share_one_state(handbook: Docs) -> None:
    with handbook.open() as one, handbook.open() as two:
        one.sync()
        assert paths(two, "cordon") == ["ops/drain.md"]
        handbook.write("new.md", "zebra\n")
        two.sync()
        assert paths(one, "zebra") == ["new.md"]


def test_closing_twice_is_fine_and_use_afterwards_is_an_error(handbook: Docs) -> None:
    corpus = handbook.open()
    corpus.sync()
    corpus.close()
    corpus.close()
    with pytest.raises(StoreError, match="closed"):
        corpus.search("drain")
    with pytest.raises(StoreError, match="closed"):
        corpus.sync()
    with pytest.raises(StoreError, match="closed"):
        corpus.status()


def test_languages_of_the_corpus_stem_the_question(docs: Docs) -> None:
    german = "Die Häuser der Stadt sind alt, und die Straßen sind schmal, aber nicht mit Autos gefüllt. " * 4
    docs.write("de.md", german)
    docs.write(
        "en.md", "The running of houses in the city is not a matter of the streets that are there. " * 4
    )
    with docs.open() as corpus:
        corpus.sync()
        assert paths(corpus, "Haus Stadt") == ["de.md"]
        assert paths(corpus, "run house") == ["en.md"]


def test_opening_what_is_no_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        Corpus.open(tmp_path / "nowhere")
    file = tmp_path / "file.md"
    file.write_text("x")
    with pytest.raises(ConfigError, match="is a file"):
        Corpus.open(file)


def test_a_store_of_later_is_refused_by_name(docs: Docs) -> None:
    with pytest.raises(ConfigError, match=r"store.*not supported yet"):
        docs.open(store="qdrant-edge")
    with (
        docs.open(embedder="none", store="sqlite") as corpus,
        pytest.raises(ConfigError, match="no embedder"),
    ):
        corpus.sync(embed=True)
