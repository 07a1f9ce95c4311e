"""The worker behind the answers, and how answers and it get out of each other's way."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from typing import TYPE_CHECKING

import pytest
from tests.digest.conftest import workers
from tests.digest.documents import chunk_texts, document
from tests.embed.fakes import FakeEmbedder
from tests.embed.provider_server import dropped, failing, late, no_quota, ok

from firstlight.digest import Gate, background
from firstlight.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.digest.conftest import Make
    from tests.embed.provider_server import ProviderServer

QUESTION = "what is said of topic7?"


def until(met: Callable[[], bool]) -> None:
    ends = time.monotonic() + 10
    while not met():
        assert time.monotonic() < ends
        time.sleep(0.002)


def daemons() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "firstlight-digest"]


def test_there_is_one_daemon_thread_an_engine_started_on_first_use(
    make: Make, provider: ProviderServer
) -> None:
    engine = make()
    engine.run(document(5), QUESTION)
    engine.run(document(20), QUESTION)
    assert daemons() == []
    engine.run(document(60), QUESTION)
    engine.run(document(60, name="other"), QUESTION)
    (thread,) = daemons()
    assert thread.daemon
    assert engine.wait_background(10)
    engine.run(document(60, name="third"), QUESTION)
    assert daemons() == [thread]


def test_it_embeds_32_chunks_at_a_time(make: Make, provider: ProviderServer) -> None:
    engine, text = make(), document(70)
    engine.run(text, QUESTION)
    assert engine.wait_background(10)
    assert [len(call.texts) for call in provider.requests] == [32, 32, 6]
    assert provider.inputs == chunk_texts(text)


def test_it_embeds_so_many_chunks_of_a_document_that_lack_a_vector(
    make: Make, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "MAX_DOC_CHUNKS", 40)
    engine, text = make(), document(120)
    for question, embedded in (("one?", 0), ("two?", 40), ("three?", 80)):
        digest = engine.run(text, question)
        assert digest.embedded == (embedded if digest.retrieval == "bm25" else 120)
        assert engine.wait_background(10)
    assert provider.inputs[:80] == chunk_texts(text)[:80]


def test_four_documents_wait_beside_the_one_in_progress_and_a_full_queue_drops_and_warns(
    make: Make, provider: ProviderServer, caplog: pytest.LogCaptureFixture
) -> None:
    provider.hold()
    engine = make()
    texts = [document(50, name=f"secret{number}") for number in range(7)]
    engine.run(texts[0], QUESTION)
    provider.wait_for_calls(1)  # it is in progress
    with caplog.at_level(logging.WARNING):
        for text in texts[1:5]:
            engine.run(text, QUESTION)
        assert caplog.records == []
        for text in texts[5:]:
            assert engine.run(text, QUESTION).retrieval == "bm25"
    assert len(caplog.records) == 2
    assert "4 wait already" in caplog.text
    assert "secret" not in caplog.text
    assert "topic" not in caplog.text
    provider.release()
    assert engine.wait_background(20)
    assert {text for text in texts if provider.times(chunk_texts(text)[0])} == set(texts[:5])
    engine.run(texts[6], QUESTION)  # a later question queues it again
    assert engine.wait_background(10)
    assert engine.run(texts[6], QUESTION).retrieval == "hybrid"


def test_a_document_is_queued_once_for_each_class_of_callers(make: Make, provider: ProviderServer) -> None:
    provider.hold()
    engine, text = make(), document(50)
    for _ in range(5):
        engine.run(text, QUESTION)
        engine.run(str(bytes(text, "utf-8"), "utf-8"), "another?")
    provider.wait_for_calls(1)
    for _ in range(5):
        engine.run(text, QUESTION, caller_class="other")
    provider.release()
    assert engine.wait_background(10)
    assert all(provider.times(chunk) == 2 for chunk in chunk_texts(text))


def test_waiting_is_over_only_when_nothing_is_queued_and_nothing_in_progress(
    make: Make, provider: ProviderServer
) -> None:
    engine = make()
    assert engine.wait_background(0)
    provider.hold()
    engine.run(document(50), QUESTION)
    assert not engine.wait_background(0)
    provider.wait_for_calls(1)
    assert not engine.wait_background(0.05)
    provider.release()
    assert engine.wait_background(10)
    assert len(provider.inputs) == 50
    assert engine.wait_background()


def test_the_gate_is_held_for_a_batch_and_let_go_between_batches(
    make: Make, provider: ProviderServer
) -> None:
    gate = Gate(active=1, queue=8, wait=10)
    engine, text = make(gate=gate), document(100)
    provider.hold()
    engine.run(text, QUESTION)
    provider.wait_for_calls(1)
    assert gate.working == 1
    passed: list[int] = []

    def pass_through() -> None:
        with gate:
            passed.append(len(provider.requests))

    threads = [threading.Thread(target=pass_through) for _ in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: gate.waiting == 3)
    provider.release()
    for thread in threads:
        thread.join()
    assert passed == [1, 1, 1]  # all of them after the first batch, before the second
    assert engine.wait_background(10)
    assert gate.working == 0


def test_a_gate_that_refuses_is_tried_again_after_a_while(
    make: Make, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert background._REFUSED_SECONDS == 1.0
    gate = Gate(active=1, queue=0)
    gate.acquire()
    engine = make(gate=gate)
    begin = time.monotonic()
    engine.run(document(50), QUESTION)
    time.sleep(0.3)
    gate.release()
    assert not engine.wait_background(0.1)
    assert provider.requests == []
    assert engine.wait_background(10)
    assert time.monotonic() - begin >= 1
    assert len(provider.inputs) == 50


def test_a_worker_that_waits_for_the_gate_ends_with_its_engine(make: Make) -> None:
    gate = Gate(active=1, queue=8, wait=30)
    with gate:
        engine = make(gate=gate)
        engine.run(document(50), QUESTION)
        until(lambda: gate.waiting == 1)
        begin = time.monotonic()
        engine.close()
        assert time.monotonic() - begin < 2
        assert gate.waiting == 0
    assert workers() == []


@pytest.mark.parametrize("attempt", range(3))
def test_an_engine_ends_in_the_middle_of_a_batch(make: Make, provider: ProviderServer, attempt: int) -> None:
    provider.hold()
    gate = Gate()
    engine = make(gate=gate)
    engine.run(document(50), QUESTION)
    provider.wait_for_calls(1)
    begin = time.monotonic()
    engine.close()
    assert time.monotonic() - begin < 2
    assert workers() == []
    assert gate.working == 0


def test_a_batch_that_takes_longer_than_the_timeout_is_given_up(
    make: Make, provider: ProviderServer, caplog: pytest.LogCaptureFixture
) -> None:
    provider.hold()
    gate = Gate()
    engine = make(timeout=0.3, gate=gate)
    engine.run(document(50), QUESTION)
    assert engine.wait_background(10)
    assert "no answer within 0.3 s" in caplog.text
    assert gate.working == 0
    until(lambda: not any(thread.name == "firstlight-call" for thread in threading.enumerate()))


def test_what_retries_cure_is_cured(make: Make, provider: ProviderServer) -> None:
    provider.script(failing(503), dropped(), failing(500))
    engine, text = make(), document(50)
    engine.run(text, QUESTION)
    assert engine.wait_background(10)
    assert engine.run(text, QUESTION).retrieval == "hybrid"
    assert all(provider.times(chunk) == 1 for chunk in chunk_texts(text))


def test_what_they_do_not_cure_drops_the_rest_of_that_document_and_the_next_goes_on(
    make: Make, provider: ProviderServer, caplog: pytest.LogCaptureFixture
) -> None:
    provider.hold()
    engine = make()
    first, second = document(100, name="first"), document(50, name="second")
    engine.run(first, QUESTION)
    engine.run(second, QUESTION)
    provider.script()
    provider.wait_for_calls(1)
    provider.script(no_quota())
    provider.release()
    assert engine.wait_background(10)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "is not embedded" in caplog.text
    assert "topic" not in caplog.text
    assert len(set(provider.inputs) & set(chunk_texts(first))) == 32
    assert engine.run(second, QUESTION).retrieval == "hybrid"
    digest = engine.run(first, QUESTION)
    assert (digest.retrieval, digest.embedded) == ("bm25", 32)
    assert engine.wait_background(10)  # which has queued it again
    assert engine.run(first, QUESTION).retrieval == "hybrid"


@pytest.mark.parametrize("error", [EmbeddingError("no"), MemoryError(), ValueError("x"), KeyError("x")])
def test_no_error_of_an_embedder_ends_the_worker(make: Make, error: Exception) -> None:
    def script(_: object) -> None:
        if fails:
            raise error

    fails = True
    engine, text = make(embedder=FakeEmbedder(script)), document(60)
    engine.run(text, QUESTION)
    assert engine.wait_background(10)
    fails = False
    engine.run(text, QUESTION)
    assert engine.wait_background(10)
    assert engine.run(text, QUESTION).retrieval == "hybrid"


@pytest.mark.parametrize("attempt", range(3))
def test_a_question_waits_for_the_batch_that_the_worker_has_under_way_and_embeds_nothing_twice(
    make: Make, provider: ProviderServer, attempt: int
) -> None:
    engine, text = make(), document(64)
    provider.script(ok(), late(0.2))
    engine.run(text, QUESTION)
    provider.wait_for_calls(2)  # 32 chunks are there, and the others on their way
    assert engine.run(text, QUESTION).retrieval == "hybrid"
    assert engine.wait_background(10)
    assert all(provider.times(chunk) == 1 for chunk in chunk_texts(text))


def test_the_worker_lets_a_document_be_that_a_question_embeds_just_now(
    make: Make, provider: ProviderServer
) -> None:
    engine, text = make(), document(64)
    embedding = engine._retriever.embedding
    assert embedding is not None
    with embedding.turn(hashlib.sha256(text.encode()).digest(), "default", within=5) as is_ours:
        assert is_ours
        engine.run(text, QUESTION)
        assert not engine.wait_background(0.3)
        assert provider.requests == []
    assert engine.wait_background(10)
    assert all(provider.times(chunk) == 1 for chunk in chunk_texts(text))


def test_an_engine_that_is_forgotten_leaves_no_thread(provider: ProviderServer) -> None:
    from firstlight.digest import DigestEngine

    engine = DigestEngine(llm=None, embedder=None, cache=None)
    engine.run(document(100), QUESTION)
    assert engine.wait_background(10)
    assert len(daemons()) == 1
    del engine
    until(lambda: daemons() == [])
