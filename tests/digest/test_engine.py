"""What a digest is made from, rule by rule, in the words of the design."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.digest.documents import chunk_texts, document, paragraph
from tests.digest.llm import FakeLlm
from tests.embed.fakes import FakeEmbedder
from tests.embed.provider_server import failing, late, no_quota, ok, unit

from firstlight.digest import DigestEngine, Gate
from firstlight.digest.types import SMALL_DOC
from firstlight.embed.openai import OpenAIEmbedder
from firstlight.embed.types import Limits
from firstlight.errors import ConfigError, FirstlightError, StoreError
from firstlight.lexical import parse_query, score_texts
from firstlight.text import est_tokens, split_pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.digest.conftest import Make
    from tests.embed.provider_server import ProviderServer

    from firstlight.digest import Digest

QUESTION = "what is said of topic7?"


def numbers(digest: Digest, text: str) -> list[int]:
    """Return which chunks a digest is made from."""
    starts = [chunk.start for chunk in split_pages(text)]
    return [starts.index(passage.start) for passage in digest.passages]


class Tens(OpenAIEmbedder):
    """Takes ten texts a call."""

    limits = Limits(10, 100_000)

    @classmethod
    def of(cls, provider: ProviderServer) -> Tens:
        return cls(
            "text-embedding-3-small",
            base_url=provider.url("openai"),
            dimensions=8,
            backoff=(0.01, 0.02),
        )


def asked(provider: ProviderServer) -> list[Sequence[str]]:
    return [call.texts for call in provider.requests]


# 1. Chunks


@pytest.mark.parametrize("chunks", [8, 60])
def test_the_document_is_cut_by_split_pages_and_passages_are_its_chunks(make: Make, chunks: int) -> None:
    text = document(chunks)
    digest = make(embedder=None).run(text, QUESTION)
    assert digest.total == chunks == len(split_pages(text))
    for passage in digest.passages:
        assert passage.text == text[passage.start : passage.end]
        assert passage.text in chunk_texts(text)
        assert passage.line_start == text.count("\n", 0, passage.start) + 1


def test_what_no_model_takes_is_cleaned_in_place(make: Make) -> None:
    text = document(10).replace("alpha", "al\0ha").replace("beta", "be\ud800a")
    digest = make(embedder=None).run(text, QUESTION)
    assert "\0" not in digest.passages[0].text
    for passage in digest.passages:
        given = text[passage.start : passage.end].replace("\0", " ").replace("\ud800", "\ufffd")
        assert passage.text == given


# 2. Selection


def test_a_document_within_the_budget_is_read_whole_and_nothing_is_embedded(
    make: Make, provider: ProviderServer
) -> None:
    provider.hold()
    text = document(7)
    assert est_tokens(text) <= SMALL_DOC
    digest = make().run(text, QUESTION)
    assert (digest.retrieval, digest.embedded, digest.provisional) == ("whole", 0, False)
    assert "".join(passage.text for passage in digest.passages) == text
    assert provider.calls == []


def test_one_token_more_is_too_much_to_be_read_whole(make: Make) -> None:
    text = document(8)[: SMALL_DOC * 33 // 10]
    assert est_tokens(text) == SMALL_DOC
    engine = make(embedder=None)
    assert engine.run(text, QUESTION).retrieval == "whole"
    assert engine.run(text + "xxxx", QUESTION).retrieval == "bm25"


@pytest.mark.parametrize("question", ["", " \n\t"])
def test_an_empty_question_gets_the_leading_passages(
    make: Make, provider: ProviderServer, question: str
) -> None:
    provider.hold()
    text = document(60)
    digest = make().run(text, question)
    assert (digest.retrieval, digest.provisional) == ("head", False)
    assert numbers(digest, text) == list(range(7))
    assert sum(est_tokens(passage.text) for passage in digest.passages) <= SMALL_DOC
    assert provider.calls == []


def test_without_an_embedder_words_choose_and_that_is_final(make: Make) -> None:
    text = document(60, words={30: "topic7"})
    digest = make(embedder=None).run(text, QUESTION)
    assert (digest.retrieval, digest.provisional, digest.model) == ("bm25", False, None)
    assert numbers(digest, text) == [0, 7, 30]
    assert "no embedder" in digest.reason


def test_without_a_cache_few_chunks_are_embedded_inline(make: Make, provider: ProviderServer) -> None:
    text = document(48)
    digest = make(cache=None).run(text, QUESTION)
    assert (digest.retrieval, digest.embedded, digest.total) == ("hybrid", 48, 48)
    assert sorted(provider.inputs) == sorted([QUESTION, *chunk_texts(text)])


def test_without_a_cache_many_chunks_are_neither_embedded_nor_queued(
    make: Make, provider: ProviderServer
) -> None:
    provider.hold()
    engine = make(cache=None)
    digest = engine.run(document(49), QUESTION)
    assert (digest.retrieval, digest.embedded, digest.provisional) == ("bm25", 0, True)
    assert engine.wait_background(5)
    assert provider.calls == []


def test_with_a_cache_the_question_is_embedded_first_then_what_is_missing(
    make: Make, provider: ProviderServer
) -> None:
    text = document(48)
    digest = make().run(text, QUESTION)
    assert (digest.retrieval, digest.embedded, digest.total) == ("hybrid", 48, 48)
    assert asked(provider)[0] == (QUESTION,)
    assert sorted(provider.inputs) == sorted([QUESTION, *chunk_texts(text)])


def test_vectors_are_stored_so_that_only_what_is_missing_is_embedded(
    make: Make, provider: ProviderServer
) -> None:
    text = document(40)
    make().run(text, QUESTION)
    longer = document(60)
    assert longer.startswith(text)
    first = len(provider.inputs)
    digest = make().run(longer, "what of topic9?")
    assert (digest.retrieval, digest.embedded, digest.total) == ("hybrid", 60, 60)
    embedded = provider.inputs[first:]
    assert embedded[0] == "what of topic9?"
    assert all(provider.times(chunk) == 1 for chunk in chunk_texts(longer)[:39])
    assert set(embedded[1:]) == set(chunk_texts(longer)) - set(chunk_texts(text))
    assert len(embedded) < 25


def test_with_one_chunk_more_missing_words_choose_while_the_provider_is_shut(
    make: Make, provider: ProviderServer
) -> None:
    provider.hold()
    text = document(49)
    engine = make()
    digest = engine.run(text, QUESTION)
    assert (digest.retrieval, digest.embedded, digest.provisional) == ("bm25", 0, True)
    assert provider.inputs == []  # it has answered though no call can have come back
    provider.wait_for_calls(1)
    assert QUESTION not in str(asked(provider))  # what was asked for is the worker's
    provider.release()
    assert engine.wait_background(10)
    assert sorted(provider.inputs) == sorted(chunk_texts(text))


def test_bm25_is_divided_by_its_maximum(make: Make) -> None:
    text = document(60, words={20: "topic7 topic7", 30: "topic7"})
    digest = make(embedder=None).run(text, QUESTION)
    scores = score_texts(parse_query(QUESTION), chunk_texts(text))
    assert {n: p.score for n, p in zip(numbers(digest, text), digest.passages, strict=True)} == {
        n: scores[n] / scores.max() for n in (0, 7, 20, 30)
    }


def test_words_give_the_same_passages_with_an_index_and_without(make: Make) -> None:
    text = document(100, words={50: "zebra topic7", 70: "zebra"})
    engine = make(embedder=None, cache=None)
    first = engine.run(text, "where is the zebra of topic7?")
    assert engine.wait_background(10)
    second = engine.run(text, "where is the zebra of topic7?")
    assert first.passages == second.passages
    assert numbers(first, text) == [0, 7, 50, 70]


def test_nothing_that_matches_nothing_is_given_but_the_beginning(make: Make) -> None:
    text = document(60)
    digest = make(embedder=None).run(text, "zebra?")
    assert numbers(digest, text) == [0]
    assert "nothing in the document matches" in digest.reason


# Inline embedding that gives way


def test_inline_embedding_that_fails_gives_way_and_what_is_finished_is_kept(
    make: Make, provider: ProviderServer
) -> None:
    text = document(40)
    embedder = Tens.of(provider)
    engine = make(embedder=embedder)
    provider.script(*[ok()] * 3, no_quota())  # the question, two batches of ten, then no more
    digest = engine.run(text, QUESTION)
    assert (digest.retrieval, digest.embedded, digest.provisional) == ("bm25", 20, True)
    assert "gave way" in digest.reason
    assert engine.wait_background(10)  # it was queued: the rest is there now
    assert sorted(provider.inputs) == sorted([QUESTION, *chunk_texts(text)])
    again = engine.run(text, QUESTION)
    assert (again.retrieval, again.embedded) == ("hybrid", 40)
    assert len(provider.inputs) == 41


def test_inline_embedding_that_passes_a_third_of_the_deadline_gives_way(
    make: Make, provider: ProviderServer
) -> None:
    text = document(20)
    embedder = Tens.of(provider)
    engine = make(embedder=embedder, timeout=3)
    provider.script(ok(), ok(), late(30))
    digest = engine.run(text, QUESTION)
    assert (digest.retrieval, digest.embedded, digest.provisional) == ("bm25", 10, True)
    assert 0.9 <= digest.timings["total"] < 2.9
    assert engine.wait_background(10)
    assert engine.run(text, "and topic8?").retrieval == "hybrid"
    assert all(provider.times(chunk) == 1 for chunk in chunk_texts(text))


def test_a_question_that_cannot_be_embedded_gives_way(make: Make, provider: ProviderServer) -> None:
    text = document(20)
    provider.script(failing(500))
    engine = make()
    digest = engine.run(text, QUESTION)
    assert (digest.retrieval, digest.provisional) == ("bm25", True)
    assert engine.wait_background(10)
    assert sorted(provider.inputs) == sorted(chunk_texts(text))


def test_without_a_cache_what_gives_way_is_not_queued(make: Make, provider: ProviderServer) -> None:
    provider.script(failing(500))
    engine = make(cache=None)
    digest = engine.run(document(20), QUESTION)
    assert (digest.retrieval, digest.provisional) == ("bm25", True)
    assert engine.wait_background(5)
    assert len(provider.requests) == 1


# 3. Hybrid


def test_chunk_0_comes_first_then_the_best_scoring_within_the_budget_in_document_order(
    make: Make, provider: ProviderServer
) -> None:
    text = document(40)
    digest = make().run(text, QUESTION)
    cosine = np.array([unit(chunk, 8) @ unit(QUESTION, 8) for chunk in chunk_texts(text)])
    has = np.array(["topic7 " in chunk for chunk in chunk_texts(text)], float)
    terms = len(parse_query(QUESTION).terms)
    scores = 0.7 * cosine + 0.3 * has / terms
    matching = [n for n in np.argsort(-scores, kind="stable").tolist() if cosine[n] > 0 or has[n]]
    assert numbers(digest, text) == sorted([0, *[n for n in matching if n][:6]])
    for number, passage in zip(numbers(digest, text), digest.passages, strict=True):
        assert passage.score == pytest.approx(scores[number], abs=1e-6)
    assert sum(est_tokens(passage.text) for passage in digest.passages) <= SMALL_DOC


def test_what_has_no_word_in_common_and_lies_below_the_floor_is_no_match(make: Make) -> None:
    embedder = FakeEmbedder()
    embedder.floor = 2.0  # type: ignore[attr-defined]
    text = document(40)
    assert numbers(make(embedder=embedder).run(text, QUESTION), text) == [0, 7]


def test_embedded_is_how_many_chunks_have_a_vector_at_that_moment(
    make: Make, provider: ProviderServer
) -> None:
    engine, text = make(), document(100)
    assert engine.run(text, QUESTION).embedded == 0
    assert engine.wait_background(10)
    provider.hold()
    more = text + "\n\n" + document(60, name="more")
    digest = engine.run(more, QUESTION)
    assert digest.retrieval == "bm25"
    assert digest.embedded == len(set(chunk_texts(more)) & set(chunk_texts(text))) > 90


def test_a_text_that_the_model_refuses_costs_its_vector_and_is_not_asked_for_again(
    make: Make, provider: ProviderServer
) -> None:
    text = document(10, words={3: "poison"})
    provider.vector = lambda given, size: [0.0] * size if "poison" in given else unit(given, size).tolist()
    engine = make()
    digest = engine.run(text, QUESTION)
    assert (digest.retrieval, digest.embedded, digest.total) == ("hybrid", 9, 10)
    calls = len(provider.requests)
    again = engine.run(text, "what else of topic8?")
    assert (again.retrieval, again.embedded) == ("hybrid", 9)
    assert len(provider.requests) == calls + 1  # the question


def test_a_model_is_asked_only_about_languages_that_it_knows(make: Make) -> None:
    embedder = FakeEmbedder()
    embedder.languages = frozenset({"en"})
    text = "\n\n".join(f"Das Kapitel {n} handelt von dem Knoten und der Leerung. " * 60 for n in range(20))
    digest = make(embedder=embedder).run(text, "Was ist mit dem Knoten?")
    assert (digest.retrieval, digest.provisional) == ("bm25", False)
    assert embedder.calls == []


# 4. The digest cache


def test_the_same_question_again_is_answered_from_the_cache(make: Make, provider: ProviderServer) -> None:
    llm, text = FakeLlm("It is so [2][9]."), document(20)
    engine = make(llm=llm)
    first = engine.run(text, QUESTION)
    assert first.retrieval == "hybrid"
    calls = len(provider.calls)
    provider.hold()
    second = engine.run(text, QUESTION)
    assert second.retrieval == "cached"
    assert (len(llm.asked), len(provider.calls)) == (1, calls)
    for name in ("text", "passages", "citations", "embedded", "total", "removed", "llm", "provisional"):
        assert getattr(second, name) == getattr(first, name)
    assert list(make(llm=llm).stream(text, QUESTION)) == [first.text]


@pytest.mark.parametrize("question", ["", QUESTION])
def test_whole_and_leading_passages_are_cached_too(make: Make, question: str) -> None:
    engine, text = make(), document(20 if not question else 5)
    assert engine.run(text, question).retrieval in ("whole", "head")
    assert engine.run(text, question).retrieval == "cached"


def test_bm25_without_an_embedder_is_final_and_cached(make: Make) -> None:
    engine, text = make(embedder=None), document(60)
    assert [engine.run(text, QUESTION).retrieval for _ in range(2)] == ["bm25", "cached"]


def test_a_digest_made_by_words_while_an_embedder_exists_is_never_stored(
    make: Make, provider: ProviderServer
) -> None:
    engine, text = make(), document(60)
    provider.hold()
    assert [engine.run(text, QUESTION).retrieval for _ in range(3)] == ["bm25"] * 3
    provider.release()
    assert engine.wait_background(10)
    assert [engine.run(text, QUESTION).retrieval for _ in range(2)] == ["hybrid", "cached"]


def test_entries_are_kept_by_document_question_models_and_caller_class(
    make: Make, provider: ProviderServer
) -> None:
    text = document(20)
    llm = FakeLlm()
    make(llm=llm).run(text, QUESTION, caller_class="a")
    others = [
        make(llm=llm).run(text, QUESTION, caller_class="b"),
        make(llm=llm).run(text + ".", QUESTION, caller_class="a"),
        make(llm=llm).run(text, QUESTION + "?", caller_class="a"),
        make(llm=FakeLlm(name="another")).run(text, QUESTION, caller_class="a"),
        make(llm=None).run(text, QUESTION, caller_class="a"),
        make(llm=llm, embedder=FakeEmbedder()).run(text, QUESTION, caller_class="a"),
    ]
    assert {digest.retrieval for digest in others} == {"hybrid"}
    assert make(llm=llm).run(text, QUESTION, caller_class="a").retrieval == "cached"


def test_one_class_of_callers_never_sees_vectors_of_another(make: Make, provider: ProviderServer) -> None:
    engine, text = make(), document(20)
    engine.run(text, QUESTION, caller_class="a")
    engine.run(text, QUESTION, caller_class="b")
    assert all(provider.times(chunk) == 2 for chunk in [QUESTION, *chunk_texts(text)])


def test_what_fails_is_not_cached(make: Make) -> None:
    text = document(5)
    with pytest.raises(RuntimeError):
        make(llm=FakeLlm(error=RuntimeError())).run(text, QUESTION)
    assert make(llm=FakeLlm()).run(text, QUESTION).retrieval == "whole"


# 7. The answer


def test_the_passages_are_numbered_the_answer_cites_them_and_citations_are_checked(make: Make) -> None:
    llm, text = FakeLlm("It is so [2], and so [77]."), document(5)
    digest = make(llm=llm).run(text, QUESTION)
    assert [passage.number for passage in digest.passages] == [1, 2, 3, 4, 5]
    assert digest.text == "It is so [2], and so."
    assert digest.removed == 1
    (citation,) = digest.citations
    assert digest.text[citation.answer_start : citation.answer_end] == "[2]"
    assert text[citation.start : citation.end] == paragraph(1) + "\n\n"
    assert digest.llm == "fake-llm"


def test_the_answer_is_streamed_as_it_comes_and_the_stream_has_the_digest(make: Make) -> None:
    stream = make(llm=FakeLlm("One two three [1].")).stream(document(5), QUESTION)
    assert next(stream) == "One"
    with pytest.raises(ValueError, match="not whole yet"):
        _ = stream.digest
    assert list(stream) == [" two", " three", " [1]."]
    assert stream.digest.text == "One two three [1]."
    assert list(stream) == []
    assert stream.digest.text == "One two three [1]."


def test_without_a_language_model_the_digest_is_an_extract_and_says_so(make: Make) -> None:
    text = document(20)
    digest = make(embedder=None).run(text, QUESTION)
    assert digest.llm is None
    assert "no language model" in digest.reason
    assert digest.citations
    for citation in digest.citations:
        assert text[citation.start : citation.end] in text


def test_a_model_is_asked_with_the_time_that_is_left_and_a_way_to_stop_it(make: Make) -> None:
    llm = FakeLlm()
    make(llm=llm, timeout=20).run(document(5), QUESTION)
    assert 10 < llm.options[0]["timeout"] <= 20
    assert not llm.options[0]["stop"].is_set()


# Timings, edges, settings


def test_timings_have_every_step_that_was_made(make: Make) -> None:
    digest = make(llm=FakeLlm()).run(document(20), QUESTION)
    assert set(digest.timings) == {"chunk", "lookup", "embed_question", "embed", "select", "llm", "total"}
    assert all(seconds >= 0 for seconds in digest.timings.values())
    assert sum(digest.timings.values()) <= 2.01 * digest.timings["total"]


@pytest.mark.parametrize("text", ["", " \n\f\t"])
@pytest.mark.parametrize("question", ["", QUESTION])
def test_an_empty_document_has_an_empty_digest_and_nobody_is_asked(
    make: Make, text: str, question: str
) -> None:
    llm = FakeLlm()
    digest = make(llm=llm).run(text, question)
    assert (digest.text, digest.passages, digest.total) == ("", (), 0)
    assert "empty" in digest.reason
    assert llm.asked == []


@pytest.mark.parametrize("arguments", [(b"x", "q"), ("x", None), (["x"], "q")])
def test_anything_but_text_is_refused(make: Make, arguments: tuple[str, str]) -> None:
    with pytest.raises(TypeError, match="must be a str"):
        make().run(*arguments)


def test_a_closed_engine_says_so(make: Make) -> None:
    engine = make()
    engine.close()
    engine.close()
    with pytest.raises(FirstlightError, match="the engine is closed"):
        engine.run("text", QUESTION)


def test_an_embedder_that_is_not_given_is_the_environments_else_local_else_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from firstlight.digest import embedding

    assert embedding.open_embedder(embedding.DEFAULT) is None  # the tests' environment says none
    monkeypatch.delenv("FIRSTLIGHT_EMBEDDER")
    found = embedding.open_embedder(embedding.DEFAULT)
    assert found is not None
    assert "MiniLM" in found.name
    monkeypatch.setattr(embedding, "local_is_installed", lambda: False)
    assert embedding.open_embedder(embedding.DEFAULT) is None


def test_an_embedder_that_is_named_and_cannot_be_had_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstlight.embed.local.local_is_installed", lambda: False)
    for name, words in (
        ("local", "firstlight\\[local\\]"),
        ("tei:", "TEI_BASE_URL"),
        ("nonsense", "names no"),
    ):
        with pytest.raises(ConfigError, match=words):
            DigestEngine(llm=None, embedder=name, cache=None)


def test_a_cache_that_is_somebody_elses_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("my notes " * 1000)
    with pytest.raises(StoreError, match=r"notes\.txt"):
        DigestEngine(llm=None, embedder=None, cache=file)
    assert file.read_text() == "my notes " * 1000


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_timeout_out_of_range_is_refused(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout must be above 0"):
        DigestEngine(llm=None, embedder=None, cache=None, timeout=timeout)


def test_without_a_cache_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Make
) -> None:
    monkeypatch.chdir(tmp_path)
    make(cache=None).run(document(20), QUESTION)
    assert list(tmp_path.iterdir()) == []


def test_words_need_no_place_at_the_gate_unless_a_model_writes(make: Make) -> None:
    gate = Gate(active=1, queue=0)
    engine = make(embedder=None, gate=gate)
    with gate:
        assert engine.run(document(60), QUESTION).retrieval == "bm25"


def test_a_full_gate_makes_embedding_give_way(make: Make, provider: ProviderServer) -> None:
    gate = Gate(active=1, queue=0)
    engine = make(gate=gate)
    with gate:
        digest = engine.run(document(20), QUESTION)
    assert (digest.retrieval, digest.provisional) == ("bm25", True)
    assert "busy" in digest.reason
    assert QUESTION not in provider.inputs
