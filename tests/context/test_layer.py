"""A layer: what it answers, when it indexes, and that it answers as a Corpus does."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpus.embedder import WordEmbedder

from firstlight import Corpus, DocumentError
from firstlight.context import ContextLayer, parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstlight import Results
    from firstlight.context import ContextDocument

DRAIN = "---\ntitle: Drain a node\n---\n# Drain\n\nCordon the node, then drain it.\n"
BACKUP = "# Backups\n\nEvery night a snapshot of the database.\n"

WORDS = st.sampled_from(["node", "pool", "drain", "cordon", "backup", "the", "of", "zebra", "Knoten"])
PARAGRAPH = st.lists(WORDS, min_size=1, max_size=60).map(" ".join)
PAGE = st.lists(PARAGRAPH, max_size=12).map("\n\n## Next\n\n".join)


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTLIGHT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("FIRSTLIGHT_CONFIG", str(tmp_path / "config.toml"))


def places(results: Results) -> list[tuple[str, int, int, float]]:
    return [(hit.path, hit.start, hit.end, hit.score) for hit in results]


def counted_builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets how many documents each segment is built of."""
    built: list[int] = []
    build = parts._build

    def counted(documents: Sequence[ContextDocument], first: int, place: int) -> parts.Built:
        built.append(len(documents))
        return build(documents, first, place)

    monkeypatch.setattr(parts, "_build", counted)
    return built


def test_texts_are_found_by_their_order() -> None:
    layer = ContextLayer([DRAIN, BACKUP])
    (hit,) = layer.search("how do I drain a node?")
    assert (hit.path, hit.title, hit.headings, hit.line_start, hit.line_end) == (
        "doc-1",
        "Drain a node",
        ("Drain",),
        4,
        6,
    )
    assert layer.docs[0].text[hit.start : hit.end] == hit.text
    assert [document.origin for document in layer.docs] == ["doc-1", "doc-2"]
    assert layer.search("snapshots").hits[0].path == "doc-2"


def test_front_matter_is_not_searched() -> None:
    layer = ContextLayer(["---\narea: swamp\n---\nNothing about it.\n"])
    assert not layer.search("swamp")
    assert layer.search("nothing about").hits[0].payload == {"area": "swamp"}


def test_the_name_of_a_text_is_not_searched() -> None:
    assert not ContextLayer([DRAIN, BACKUP]).search("doc 1")


def test_without_a_match_there_are_no_hits() -> None:
    for layer in (ContextLayer([]), ContextLayer(["", " \n"]), ContextLayer([BACKUP])):
        results = layer.search("zebra")
        assert len(results) == 0
        assert results.mode == "bm25"
    assert ContextLayer([]).search("zebra").reason == "there are no documents"


def test_identical_documents_stay_two() -> None:
    results = ContextLayer([DRAIN, DRAIN]).search("drain")
    assert [(hit.path, hit.also_in) for hit in results] == [("doc-1", ()), ("doc-2", ())]
    assert results[0].score == results[1].score


def test_equal_scores_are_in_the_order_of_the_documents() -> None:
    results = ContextLayer([BACKUP] * 12).search("snapshot", top_k=12)
    assert [hit.path for hit in results] == [f"doc-{number}" for number in range(1, 13)]


@pytest.mark.parametrize("top_k", [0, -1])
def test_fewer_than_one_hit_cannot_be_asked_for(top_k: int) -> None:
    with pytest.raises(ValueError, match="top_k"):
        ContextLayer([]).search("node", top_k=top_k)


@pytest.mark.parametrize(
    "given", ["text", b"text", Path("a.md"), {"a": "text"}, 7, None, [7], [Path("a.md")]]
)
def test_what_is_no_list_of_texts_is_refused(given: object) -> None:
    with pytest.raises(TypeError):
        ContextLayer(given)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        ContextLayer([]).with_docs(given)  # type: ignore[arg-type]


def test_a_question_is_a_text() -> None:
    with pytest.raises(TypeError, match="query"):
        ContextLayer([]).search(7)  # type: ignore[arg-type]


def test_nothing_is_built_before_the_first_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_build", pytest.fail)
    layer = ContextLayer([DRAIN]).with_docs([BACKUP])
    assert len(layer.docs) == 2
    assert repr(layer) == "<ContextLayer: 2 documents, not indexed yet>"
    monkeypatch.undo()
    layer.prewarm()
    layer.prewarm()
    assert repr(layer) == "<ContextLayer: 2 documents, 2 passages>"
    ContextLayer([]).prewarm()


def test_prewarm_raises_what_building_raises() -> None:
    layer = ContextLayer([BACKUP, "---\ntitle: [\n---\n"])
    for action in (layer.prewarm, layer.prewarm, lambda: layer.search("node")):
        with pytest.raises(DocumentError, match="doc-2:"):
            action()


def test_cold_and_warm_answers_are_equal() -> None:
    warm = ContextLayer([DRAIN, BACKUP])
    warm.prewarm()
    assert warm.search("node") == ContextLayer([DRAIN, BACKUP]).search("node") == warm.search("node")


def test_threads_that_search_first_build_one_index(monkeypatch: pytest.MonkeyPatch) -> None:
    built = counted_builds(monkeypatch)
    layer, barrier = ContextLayer([DRAIN, BACKUP] * 50), threading.Barrier(8)
    found: list[Results] = []

    def ask() -> None:
        barrier.wait()
        found.append(layer.search("node"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [100]
    assert found == found[:1] * 8


def test_more_documents_make_a_new_layer_that_reuses_what_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = ContextLayer([DRAIN])
    layer.prewarm()
    built = counted_builds(monkeypatch)
    more = layer.with_docs([BACKUP, "The node of the network."])
    assert [hit.path for hit in more.search("node")] == ["doc-1", "doc-3"]
    assert built == [2]
    assert [hit.path for hit in layer.search("node")] == ["doc-1"]
    assert len(layer.docs) == 1


@settings(max_examples=25)
@given(st.lists(PAGE, max_size=24), PARAGRAPH, st.integers(1, 9))
def test_documents_added_one_by_one_are_found_as_if_given_at_once(
    pages: list[str], query: str, top_k: int
) -> None:
    grown = ContextLayer([])
    for number, page in enumerate(pages):
        grown = grown.with_docs([page])
        if number % 5 == 0:
            grown.prewarm()
    assert grown.search(query, top_k=top_k).hits == ContextLayer(pages).search(query, top_k=top_k).hits


@settings(max_examples=15)
@given(st.lists(PAGE, max_size=6), PARAGRAPH)
def test_the_first_of_many_are_those_of_few(pages: list[str], query: str) -> None:
    layer = ContextLayer(pages)
    many = layer.search(query, top_k=50).hits
    assert layer.search(query, top_k=2).hits == many[:2]
    for hit in many:
        others = [one for one in many if one.path == hit.path and one.rank < hit.rank]
        assert all(
            2 * (min(one.end, hit.end) - max(one.start, hit.start)) <= hit.end - hit.start for one in others
        )


@settings(max_examples=12)
@given(st.dictionaries(st.sampled_from(["a.md", "b/c.md", "b.txt", "z.md", "b/a.md"]), PAGE), PARAGRAPH)
def test_a_layer_answers_as_a_corpus_does(
    tmp_path_factory: pytest.TempPathFactory, pages: dict[str, str], query: str
) -> None:
    root = tmp_path_factory.mktemp("docs")
    for number, (path, page) in enumerate(pages.items()):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(f"{page}\n\nPage {number}.\n")  # a Corpus shows equal texts once
    layer = ContextLayer.from_files([root])
    with Corpus.open(root, state=tmp_path_factory.mktemp("state") / "s", embedder="none") as corpus:
        corpus.sync()
        for text in (query, f'"{query}"', "node pool"):
            expected, found = corpus.search(text, top_k=4), layer.search(text, top_k=4)
            assert [(f"{root}/{path}", *rest) for path, *rest in places(expected)] == [*places(found)]
            assert [(hit.headings, hit.line_start, hit.snippet, hit.matched) for hit in expected] == [
                (hit.headings, hit.line_start, hit.snippet, hit.matched) for hit in found
            ]


def test_real_pages_are_found_as_by_a_corpus(data_pack: Path, tmp_path: Path) -> None:
    root = data_pack / "md" / "rust-book" / "src"
    layer = ContextLayer.from_files([root])
    with Corpus.open(root, state=tmp_path / "index", embedder="none") as corpus:
        corpus.sync()
        for query in ("how do lifetimes work", "borrow checker", '"trait objects" dispatch', "who are you"):
            expected, found = corpus.search(query, top_k=5), layer.search(query, top_k=5)
            assert [(f"{root}/{path}", *rest) for path, *rest in places(expected)] == [*places(found)]


def test_hybrid_answers_are_those_of_a_corpus(data_pack: Path, tmp_path: Path) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    for path in sorted((data_pack / "md" / "rust-book" / "src").glob("ch0[3-6]*.md")):
        (root / path.name).write_text(path.read_text())
    layer = ContextLayer.from_files([root], embedder=WordEmbedder())
    layer.prewarm()
    assert layer.wait_background(30)
    with Corpus.open(root, state=tmp_path / "index", embedder=WordEmbedder()) as corpus:
        corpus.sync(embed=True)
        for query in ("how are values borrowed", "match on an enum", "purchase a vehicle"):
            expected, found = corpus.search(query, top_k=5), layer.search(query, top_k=5)
            assert found.mode == expected.mode == "hybrid"
            assert found.reason == expected.reason
            assert [(hit.path.removeprefix(f"{root}/"), hit.start) for hit in found] == [
                (hit.path, hit.start) for hit in expected
            ]
            assert [hit.scores for hit in found] == [pytest.approx(hit.scores) for hit in expected]


def test_text_that_no_file_can_have_keeps_its_offsets() -> None:
    layer = ContextLayer(["Drain\0the \ud800node, naïve one.\n"])
    (hit,) = layer.search("naïve")
    assert len(hit.text) == len("Drain\0the \ud800node, naïve one.\n")


def test_searching_leaves_the_event_loop_free() -> None:
    layer = ContextLayer([DRAIN, BACKUP])

    async def ask() -> list[Results]:
        return await asyncio.gather(*(layer.asearch("node", top_k=1) for _ in range(5)))

    assert asyncio.run(ask()) == [layer.search("node", top_k=1)] * 5
