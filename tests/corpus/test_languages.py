"""A model is asked, and fused, only in languages that it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firstlight.corpus.languages import is_known, question_language

from .embedder import Words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firstlight import Corpus

    from .conftest import Docs

GERMAN = (
    "Der Knoten wird zuerst gesperrt und dann geleert. Die Dienste, die darauf laufen, ziehen auf einen "
    "anderen Knoten um, und es dauert nicht lange, bis sie wieder da sind. Wer das nicht will, der muss "
    "es vorher sagen und mit den anderen darüber sprechen, denn danach ist es zu spät.\n"
)
CHINESE = "首先封锁节点，然后将其排空。运行在上面的服务会迁移到另一个节点。\n"
ENGLISH = "First the node is cordoned, and then it is drained.\n"


@pytest.fixture
def embedder() -> Words:
    return Words(languages=frozenset({"en"}), floor=0.3)


@pytest.fixture
def corpus(docs: Docs, embedder: Words) -> Iterator[Corpus]:
    """A page in each of three languages, embedded by a model that knows English alone."""
    docs.write("de.md", GERMAN)
    docs.write("en.md", ENGLISH)
    docs.write("zh.md", CHINESE)
    with docs.open(embedder=embedder) as opened:
        opened.sync()
        assert opened.wait_background(30)
        yield opened


def test_pages_in_other_languages_are_never_embedded(corpus: Corpus, embedder: Words) -> None:
    assert embedder.texts == [ENGLISH]
    status = corpus.status()
    assert (status.embedded, status.foreign, status.failed, status.queue) == (1, 2, 0, 0)
    assert status.mode == "hybrid"
    corpus.sync()
    assert corpus.wait_background(30)
    assert embedder.texts == [ENGLISH]
    assert corpus.search("drained").reason == (
        "all chunks embedded but 2 in languages that the model does not know"
    )


def test_they_are_never_fused(corpus: Corpus) -> None:
    (hit,) = corpus.search("the node is drained first", mode="vector")
    assert hit.path == "en.md"
    for hit in corpus.search("Knoten drained cordoned 节点"):
        assert ("cosine" in hit.scores) == (hit.path == "en.md")


@pytest.mark.parametrize(
    ("question", "path"),
    [("wie wird der Knoten geleert", "de.md"), ("节点排空", "zh.md"), ("was ist mit dem Knoten", "de.md")],
)
def test_a_question_in_another_language_is_answered_by_words(
    corpus: Corpus, embedder: Words, question: str, path: str
) -> None:
    for mode in ("auto", "hybrid", "vector"):
        results = corpus.search(question, mode=mode)
        assert (results.mode, results[0].path) == ("bm25", path)
        assert results.reason == "words does not know the question's language; ranked by BM25 alone"
    assert embedder.questions == []
    assert corpus.search("how is the node drained").mode == "hybrid"


def test_a_question_of_few_words_is_taken_for_english_where_english_is_spoken(corpus: Corpus) -> None:
    assert corpus.search("node").mode == "hybrid"


def test_a_foreign_question_is_no_step_back(corpus: Corpus) -> None:
    told: list[str] = []
    corpus.subscribe(told.append)
    for question in ("drained", "节点排空", "drained", "wie wird der Knoten geleert", "cordoned"):
        corpus.search(question)
    assert len(told) <= 1


def test_where_it_knows_nothing_of_it_the_answer_says_so(docs: Docs, embedder: Words) -> None:
    docs.write("de.md", GERMAN)
    docs.write("zh.md", CHINESE)
    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        assert corpus.wait_background(30)
        for question in ("Knoten", "节点", "node drained knoten"):
            results = corpus.search(question)
            assert (results.mode, results.embedded) == ("bm25", 0)
            assert results.reason == (
                "no chunk embedded: 2 in languages that the model does not know; ranked by BM25 alone"
            )
        assert corpus.status().queue == 0
    assert embedder.texts == []


def test_a_model_for_all_languages_gets_everything(docs: Docs) -> None:
    docs.write("de.md", GERMAN)
    docs.write("zh.md", CHINESE)
    with docs.open(embedder=Words()) as corpus:
        corpus.sync(embed=True)
        assert corpus.status().embedded == 2
        assert corpus.search("节点排空").mode == "hybrid"


@pytest.mark.parametrize(
    ("text", "language", "known", "expected"),
    [
        ("Cordon the node", "en", {"en"}, True),
        ("Sperre den Knoten", "de", {"en"}, False),
        ("Sperre den Knoten", "de", {"en", "de"}, True),
        ("封锁节点", "en", {"en"}, False),
        ("封锁节点", "en", {"zh"}, True),
        ("ノードを空にする", "en", {"ja"}, True),
        ("Блокировать узел", "en", {"en"}, False),
        ("Блокировать узел", "en", {"uk"}, True),
        ("ปิดกั้นโหนด", "en", {"en"}, False),
        ("12345 -- 6789", "en", {"en"}, True),
        ("", "en", {"en"}, True),
        ("the word 节 among English words", "en", {"en"}, True),
        ("anything", "xx", None, True),
    ],
)
def test_script_and_language_tell_what_is_known(
    text: str, language: str, known: set[str] | None, expected: bool
) -> None:
    assert is_known(text, language, known) is expected


@pytest.mark.parametrize(
    ("question", "spoken", "expected"),
    [
        ("how do I drain the node", ("de", "en"), "en"),
        ("wie leere ich den Knoten", ("en", "de"), "de"),
        ("comment vider le nœud", ("en", "fr"), "fr"),
        ("node", ("de", "en"), "en"),
        ("node", ("de",), "de"),
        ("node", (), "en"),
    ],
)
def test_function_words_tell_a_questions_language(
    question: str, spoken: tuple[str, ...], expected: str
) -> None:
    assert question_language(question, spoken) == expected
