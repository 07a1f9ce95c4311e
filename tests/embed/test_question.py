from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.embed.fakes import FakeEmbedder, vector_of

from firstlight.embed.cache import VectorCache
from firstlight.embed.inputs import input_hash
from firstlight.embed.question import QuestionEmbedder
from firstlight.embed.types import Limits
from firstlight.embed.unit import mean
from firstlight.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

# Long enough for whatever has to happen in a test; and what a test that is to run out of time is given.
PATIENT, BRIEF = 60.0, 0.02


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[VectorCache]:
    with closing(VectorCache(tmp_path / "vectors.db", warn=pytest.fail)) as opened:
        yield opened


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Gate:
    """A script that answers only when it is let."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.opened = threading.Event()

    def __call__(self, texts: Sequence[str]) -> None:
        self.entered.set()
        assert self.opened.wait(PATIENT)


def failing(texts: Sequence[str]) -> None:
    raise EmbeddingError("the provider is down")


def together(count: int, work: Callable[[], object]) -> list[object]:
    results: list[object] = []

    def note() -> None:
        try:
            results.append(work())
        except EmbeddingError as error:
            results.append(error)

    threads = [threading.Thread(target=note) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("timeout", [None, PATIENT])
def test_a_question_is_embedded_once_and_remembered(timeout: float | None) -> None:
    embedder = FakeEmbedder()
    questions = QuestionEmbedder(embedder, cache=None, timeout=timeout)
    for _ in range(3):
        vector = questions.embed("how do I drain a node?")
        np.testing.assert_allclose(vector, vector_of("how do I drain a node?"), atol=1e-6)
        assert not vector.flags.writeable
    assert embedder.calls == [("how do I drain a node?",)]
    assert embedder.kinds == {"query"}


def test_another_process_finds_it_in_the_cache(cache: VectorCache) -> None:
    QuestionEmbedder(FakeEmbedder(), cache=cache).embed("drain")
    embedder = FakeEmbedder(failing)
    np.testing.assert_allclose(
        QuestionEmbedder(embedder, cache=cache).embed("drain"), vector_of("drain"), atol=1e-6
    )
    assert embedder.calls == []
    with pytest.raises(EmbeddingError):
        QuestionEmbedder(embedder, cache=cache, caller_class="alice").embed("drain")


def test_documents_and_other_models_vectors_are_no_answer(cache: VectorCache) -> None:
    text = input_hash("drain")
    cache.put_many("fake", {text: vector_of("a document")[np.newaxis]})
    cache.put_many("other", {text: vector_of("another model")[np.newaxis]}, kind="query")
    cache.put_many("fake", {text: vector_of("a longer one", 16)[np.newaxis]}, kind="query")
    np.testing.assert_allclose(
        QuestionEmbedder(FakeEmbedder(), cache=cache).embed("drain"), vector_of("drain"), atol=1e-6
    )


def test_what_is_remembered_is_bounded() -> None:
    embedder = FakeEmbedder()
    questions = QuestionEmbedder(embedder, cache=None)
    for number in range(257):
        questions.embed(f"question {number}")
    questions.embed("question 256")
    assert len(embedder.calls) == 257
    questions.embed("question 0")
    assert len(embedder.calls) == 258


def test_equal_questions_at_the_same_moment_make_one_call() -> None:
    gate = Gate()
    embedder = FakeEmbedder(gate)
    questions = QuestionEmbedder(embedder, cache=None, timeout=PATIENT)

    def open_when_asked() -> None:
        gate.entered.wait(PATIENT)
        gate.opened.set()

    threading.Thread(target=open_when_asked).start()
    vectors = together(8, lambda: questions.embed("drain"))
    assert len(embedder.calls) == 1
    for vector in vectors:
        assert isinstance(vector, np.ndarray)
        np.testing.assert_allclose(vector, vector_of("drain"), atol=1e-6)


def test_each_who_waits_gets_an_error_of_its_own() -> None:
    questions = QuestionEmbedder(FakeEmbedder(failing), cache=None, timeout=PATIENT)
    errors = together(2, lambda: questions.embed("drain"))
    assert errors[0] is not errors[1]
    assert {str(error) for error in errors} == {"the provider is down"}


def test_a_late_answer_is_given_up_and_still_kept(cache: VectorCache) -> None:
    gate = Gate()
    embedder = FakeEmbedder(gate)
    questions = QuestionEmbedder(embedder, cache=cache, timeout=BRIEF)
    with pytest.raises(EmbeddingError, match=r"fake model did not answer within 0\.02 s"):
        questions.embed("drain")
    before = set(threading.enumerate())
    gate.opened.set()
    for thread in before - {threading.current_thread()}:
        if thread.daemon:
            thread.join(PATIENT)
    assert input_hash("drain") in cache.get_many("fake", [input_hash("drain")], kind="query")
    np.testing.assert_allclose(questions.embed("drain"), vector_of("drain"), atol=1e-6)
    assert len(embedder.calls) == 1


def test_after_three_failures_the_provider_is_left_alone_for_a_while() -> None:
    clock = Clock()
    embedder = FakeEmbedder(failing)
    questions = QuestionEmbedder(embedder, cache=None, timeout=PATIENT, clock=clock)
    for number in range(3):
        with pytest.raises(EmbeddingError, match=r"^the provider is down"):
            questions.embed(f"question {number}")
    with pytest.raises(
        EmbeddingError, match=r"3 times in a row, and is asked again in 30 s.*provider is down"
    ):
        questions.embed("question 3")
    assert len(embedder.calls) == 3
    clock.now += 31
    with pytest.raises(EmbeddingError, match=r"^the provider is down"):
        questions.embed("question 4")
    with pytest.raises(EmbeddingError, match="4 times in a row"):  # one more was enough
        questions.embed("question 5")
    clock.now += 31
    embedder.script = None
    questions.embed("question 6")
    embedder.script = failing
    for number in range(7, 10):
        with pytest.raises(EmbeddingError, match=r"^the provider is down"):
            questions.embed(f"question {number}")


def test_while_it_is_left_alone_what_is_known_is_still_answered(cache: VectorCache) -> None:
    embedder = FakeEmbedder()
    questions = QuestionEmbedder(embedder, cache=cache, clock=Clock())
    questions.embed("remembered")
    QuestionEmbedder(FakeEmbedder(), cache=cache).embed("cached")
    embedder.script = failing
    for number in range(3):
        with pytest.raises(EmbeddingError):
            questions.embed(f"question {number}")
    assert len(questions.embed("remembered")) == len(questions.embed("cached")) == 8


def test_answers_that_are_always_late_count_as_failures() -> None:
    gate = Gate()
    embedder = FakeEmbedder(gate)
    questions = QuestionEmbedder(embedder, cache=None, timeout=BRIEF, clock=Clock())
    for number in range(3):
        with pytest.raises(EmbeddingError, match="did not answer"):
            questions.embed(f"question {number}")
    for text in ("question 0", "question 3"):
        with pytest.raises(EmbeddingError, match="3 times in a row"):
            questions.embed(text)
    gate.opened.set()
    assert len(embedder.calls) == 3


def test_a_long_question_is_the_mean_of_its_windows(cache: VectorCache) -> None:
    embedder = FakeEmbedder(max_tokens=10, limits=Limits(2, 1000))
    long = "how do I drain a node that refuses to be drained? " * 4
    vector = QuestionEmbedder(embedder, cache=cache).embed(long)
    assert "".join(embedder.texts) == long
    assert len(embedder.calls) > 2
    expected = np.mean([vector_of(text) for text in embedder.texts], axis=0)
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-6)
    again = QuestionEmbedder(FakeEmbedder(failing), cache=cache).embed(long)
    np.testing.assert_array_equal(again, vector)


def test_a_question_that_is_too_large_is_cut_smaller() -> None:
    def script(texts: Sequence[str]) -> None:
        if sum(map(len, texts)) > 100:
            raise EmbeddingError("too much", kind="too-large")

    embedder = FakeEmbedder(script, max_tokens=60)
    vector = QuestionEmbedder(embedder, cache=None).embed("how do I drain a node? " * 20)
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


@pytest.mark.parametrize("timeout", [None, PATIENT])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyError("the question"), "^fake model failed with KeyError$"),
        (MemoryError(), "not enough memory"),
        (ConfigError("install the extra"), "install the extra"),
    ],
)
def test_whatever_happens_is_one_kind_of_error(timeout: float | None, error: Exception, message: str) -> None:
    def script(_: Sequence[str]) -> None:
        raise error

    with pytest.raises(EmbeddingError, match=message):
        QuestionEmbedder(FakeEmbedder(script), cache=None, timeout=timeout).embed("the question")


def test_an_interrupt_in_the_callers_own_thread_leaves_nothing_locked() -> None:
    def script(_: Sequence[str]) -> None:
        raise KeyboardInterrupt

    embedder = FakeEmbedder(script)
    questions = QuestionEmbedder(embedder, cache=None)
    with pytest.raises(KeyboardInterrupt):
        questions.embed("drain")
    embedder.script = None
    assert len(questions.embed("drain")) == 8


def test_windows_that_cancel_out_are_spoken_for_by_the_first() -> None:
    rows = np.array([[1, 0], [-1, 0]], np.float32)
    np.testing.assert_array_equal(mean(rows), rows[0])
