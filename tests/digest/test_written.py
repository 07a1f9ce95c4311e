"""Whole runs: a document, an embedder and a language model, each over a real socket."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from tests.digest.chat_server import ChatServer, cut_off
from tests.digest.documents import document

from firstlight.digest import DeadlineError, Gate
from firstlight.errors import ChatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.digest.conftest import Make
    from tests.embed.provider_server import ProviderServer

QUESTION = "what is said of topic7?"


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(reply="It is so [2][99].") as server:
        yield server


def test_first_by_words_then_hybrid_then_cached(
    make: Make, provider: ProviderServer, chat: ChatServer
) -> None:
    engine, text = make(llm=chat.url), document(60)
    first = engine.run(text, QUESTION)
    assert engine.wait_background(10)
    second = engine.run(text, QUESTION)
    third = engine.run(text, QUESTION)
    assert [each.retrieval for each in (first, second, third)] == ["bm25", "hybrid", "cached"]
    assert [each.provisional for each in (first, second, third)] == [True, False, False]
    for digest in (first, second, third):
        assert (digest.text, digest.removed) == ("It is so [2].", 1)
        assert [citation.number for citation in digest.citations] == [2]
    assert len(chat.requests) == 2


def test_an_answer_is_streamed_over_the_socket(make: Make, chat: ChatServer) -> None:
    stream = make(llm=chat.url).stream(document(5), QUESTION)
    parts = list(stream)
    assert len(parts) > 1
    assert "".join(parts) == "It is so [2][99]."
    assert stream.digest.text == "It is so [2]."


def test_an_answer_that_is_cut_off_is_kept_and_not_cached(make: Make, chat: ChatServer) -> None:
    gate = Gate(active=1, queue=0)
    engine, text = make(llm=chat.url, gate=gate), document(5)
    chat.script(cut_off("It is"))
    digest = engine.run(text, QUESTION)
    assert (digest.text, digest.provisional) == ("It is", True)
    assert gate.working == 0
    assert engine.run(text, QUESTION).retrieval == "whole"


@pytest.mark.parametrize("attempt", range(3))
def test_a_server_that_does_not_answer_is_left_in_time(make: Make, chat: ChatServer, attempt: int) -> None:
    gate = Gate(active=1, queue=0)
    engine = make(llm=chat.url, gate=gate, timeout=0.5)
    _ = engine._llm.name  # type: ignore[union-attr]  # asked once
    chat.hold()
    begin = time.monotonic()
    with pytest.raises((DeadlineError, ChatError)):
        engine.run(document(5), QUESTION)
    assert time.monotonic() - begin < 3
    assert gate.working == 0
    chat.release()


def test_many_runs_at_once_are_all_answered(make: Make, chat: ChatServer, provider: ProviderServer) -> None:
    gate = Gate(active=4, queue=64, wait=60)
    engine = make(llm=chat.url, gate=gate, timeout=90)
    texts = [document(size, name=f"name{size}") for size in (5, 20, 60)]
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: answers.append(engine.run(texts[n % 3], f"topic{n}?").text))
        for n in range(32)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(answers) <= {"It is so [2].", "It is so."}  # by whether there is a second passage
    assert len(answers) == 32
    assert engine.wait_background(30)
    assert (gate.working, gate.waiting) == (0, 0)
