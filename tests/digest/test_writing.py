"""What becomes of answers that break off, and of passages that are more than a model takes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.digest.chat_server import (
    ChatServer,
    broken,
    cut_off,
    error_in_stream,
    ok,
    out_of_tokens,
    stalled,
    too_long,
    trickled,
)
from tests.digest.documents import chunk_texts, document
from tests.digest.llm import FakeLlm

from firstlight.digest import DeadlineError, Gate, select
from firstlight.digest.llm import ChatClient
from firstlight.errors import ChatError
from firstlight.text import est_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.digest.chat_server import Step
    from tests.digest.conftest import Make

QUESTION = "what is said of topic7?"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(reply="It is so [1].") as made:
        yield made


class SmallLlm(FakeLlm):
    """Takes so many estimated tokens and no more."""

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(**options)
        self.most = most

    def stream(self, messages: Sequence[Mapping[str, str]], **options: Any) -> Iterator[str]:
        said = [dict(message) for message in messages]
        if est_tokens("".join(message["content"] for message in said)) > self.most:
            self.asked.append(said)
            raise ChatError("more than the model takes", kind="too-long")
        yield from super().stream(messages, **options)


@pytest.mark.parametrize(
    "step",
    [
        cut_off("It is red [1], and"),
        broken("It is red [1], and"),
        out_of_tokens("It is red [1], and"),
        error_in_stream(500, text="It is red [1], and"),
        stalled("It is red [1], and"),
        trickled("It is red [1], and"),
    ],
)
def test_what_came_of_an_answer_that_breaks_off_is_kept_but_not_cached(
    make: Make, server: ChatServer, step: Step
) -> None:
    server.script(step, ok())
    engine = make(llm=ChatClient(server.url), embedder=None, timeout=1.0)
    with engine.stream(document(5), QUESTION) as stream:
        came = "".join(stream)
    digest = stream.digest
    assert came == digest.text == "It is red [1], and"
    assert digest.provisional
    assert "the answer breaks off: " in digest.reason
    assert [citation.number for citation in digest.citations] == [1]
    again = engine.run(document(5), QUESTION)
    assert (again.text, again.retrieval, again.provisional) == ("It is so [1].", "whole", False)
    assert engine.run(document(5), QUESTION).retrieval == "cached"


def test_what_came_before_the_engines_own_deadline_is_kept(make: Make) -> None:
    gate, llm = Gate(active=1, queue=0), FakeLlm("It is so.", blocks="deaf")
    digest = make(llm=llm, gate=gate, embedder=None, timeout=0.2).run(document(5), QUESTION)
    assert (digest.text, digest.provisional) == ("It", True)
    assert "no whole answer within 0.2 s" in digest.reason
    assert gate.working == 0
    llm.release.set()


def test_an_engine_that_is_closed_ends_an_answer_with_an_error(make: Make) -> None:
    engine = make(llm=FakeLlm("It is so.", blocks="heeding"), embedder=None, cache=None)
    stream = engine.stream(document(5), QUESTION)
    assert next(stream) == "It"
    threading.Timer(0.1, engine.close).start()
    with pytest.raises(DeadlineError, match="closed"):
        list(stream)


def test_an_answer_of_nothing_but_white_space_is_none(make: Make) -> None:
    llm = FakeLlm(" ", error=ChatError("it broke off", kind="cut-off"))
    with pytest.raises(ChatError, match="it broke off"):
        make(llm=llm, embedder=None).run(document(5), QUESTION)


def test_passages_that_are_too_long_are_halved_once_and_the_best_are_kept(make: Make) -> None:
    llm, text, gate = SmallLlm(5000), document(60, words=dict.fromkeys(range(9, 60, 4), "topic7")), Gate(1, 0)
    engine = make(llm=llm, embedder=None, gate=gate)
    digest = engine.run(text, QUESTION)
    every = make(llm=FakeLlm(), embedder=None, cache=None).run(text, QUESTION).passages
    assert len(llm.asked) == 2
    assert 0 < len(digest.passages) < len(every)
    kept = {passage.start for passage in digest.passages}
    worst_kept = min(passage.score for passage in digest.passages)
    assert digest.passages[0].start > 0  # chunk 0 has to earn its place here
    assert all(passage.score <= worst_kept for passage in every if passage.start not in kept)
    assert [passage.number for passage in digest.passages] == list(range(1, len(digest.passages) + 1))
    assert f"the better half: {len(digest.passages)} of {len(every)} passages" in digest.reason
    assert not digest.provisional
    assert gate.working == 0
    cached = engine.run(text, QUESTION)
    assert cached.passages == digest.passages
    assert "the better half" in cached.reason


def test_of_a_document_that_was_read_whole_the_half_is_kept_that_has_the_words(make: Make) -> None:
    text = document(6, words={5: "topic7"})
    digest = make(llm=SmallLlm(5000), embedder=None).run(text, QUESTION)
    assert any("topic7" in passage.text for passage in digest.passages)
    sizes = [est_tokens(piece) for piece in chunk_texts(text)]
    assert sum(est_tokens(passage.text) for passage in digest.passages) <= sum(sizes) // 2


@pytest.mark.parametrize(("chunks", "times"), [(60, 2), (1, 1)])
def test_what_is_too_long_all_the_same_is_an_error(make: Make, chunks: int, times: int) -> None:
    llm, gate = SmallLlm(10), Gate(1, 0)
    with pytest.raises(ChatError) as caught:
        make(llm=llm, embedder=None, gate=gate).run(document(chunks), QUESTION)
    assert caught.value.kind == "too-long"
    assert len(llm.asked) == times
    assert gate.working == 0


def test_a_server_that_says_too_long_is_asked_again_with_less(make: Make, server: ChatServer) -> None:
    server.script(too_long(), ok())
    digest = make(llm=ChatClient(server.url), embedder=None).run(document(5), QUESTION)
    first, second = (len(request.messages[-1]["content"]) for request in server.requests)
    assert second < 0.6 * first
    assert "better half" in digest.reason


def test_the_best_is_kept_however_large_it_is() -> None:
    assert select.halved([10, 90], np.array([0.1, 0.9])) == [1]
    assert select.halved([50, 50], np.zeros(2)) == [0]
    assert select.halved([50], np.zeros(1)) == [0]
