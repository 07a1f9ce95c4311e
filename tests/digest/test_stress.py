"""Many at once, two engines, ends in the middle: nothing is lost, left behind or embedded twice."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from tests.digest.conftest import workers
from tests.digest.documents import chunk_texts, document
from tests.digest.llm import FakeLlm
from tests.embed.fakes import FakeEmbedder
from tests.embed.provider_server import failing, late

from firstlight.digest import DeadlineError, Gate, GateRefusedError
from firstlight.errors import EmbeddingError
from firstlight.text import split_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from tests.digest.conftest import Make
    from tests.embed.provider_server import ProviderServer

    from firstlight.digest import Digest

QUESTION = "what is said of topic7?"


class Counted(Gate):
    """A gate that knows how many were at work, and waited, at the most."""

    def __init__(self, **bounds: Any) -> None:
        super().__init__(**bounds)
        self.most_working = self.most_waiting = 0
        self._counting = threading.Lock()

    def acquire(self, **options: Any) -> None:
        super().acquire(**options)
        with self._counting:
            self.most_working = max(self.most_working, self.working)
            self.most_waiting = max(self.most_waiting, self.waiting)


def alike(_: str, size: int) -> list[float]:
    """One vector for all, so that words decide."""
    return [1.0] * size


def at_once(actions: list[Callable[[], Digest]]) -> list[Digest]:
    barrier = threading.Barrier(len(actions))

    def begin(action: Callable[[], Digest]) -> Digest:
        barrier.wait()
        return action()

    with ThreadPoolExecutor(len(actions)) as pool:
        return [future.result() for future in [pool.submit(begin, action) for action in actions]]


def test_64_runs_at_once_against_a_slow_provider(make: Make, provider: ProviderServer) -> None:
    """None starves, the gate's bounds hold, and every answer is the right one."""
    provider.script(*[late(0.03)] * 1000)
    provider.vector = alike
    gate = Counted(active=4, queue=64, wait=60)
    llm = FakeLlm()
    engine = make(gate=gate, llm=llm, timeout=90)
    texts = [document(12, name=f"name{number}") for number in range(16)]
    digests = at_once(
        [
            lambda n=n: engine.run(texts[n % 16], f"what is said of topic{n % 12}?")  # type: ignore[misc]
            for n in range(64)
        ]
    )
    for n, digest in enumerate(digests):
        assert digest.retrieval in ("hybrid", "cached"), digest.reason
        assert digest.embedded == digest.total == 12
        assert any(f"topic{n % 12} " in passage.text for passage in digest.passages)
        assert all(texts[n % 16][p.start : p.end] == p.text for p in digest.passages)
        assert digest.text == "It is so [1]."
    assert 2 <= gate.most_working <= 4
    assert gate.most_waiting <= 64
    assert (gate.working, gate.waiting) == (0, 0)
    for text in texts:
        assert all(provider.times(chunk) == 1 for chunk in chunk_texts(text))


def test_64_runs_at_once_of_which_most_are_too_long_for_inline(make: Make, provider: ProviderServer) -> None:
    provider.script(*[late(0.02)] * 1000)
    provider.vector = alike
    gate = Counted(active=2, queue=64, wait=60)
    engine = make(gate=gate, timeout=90)
    texts = [document(60, name=f"name{number}") for number in range(4)]
    digests = at_once(
        [lambda n=n: engine.run(texts[n % 4], f"topic{n % 60}?") for n in range(64)]  # type: ignore[misc]
    )
    for n, digest in enumerate(digests):
        assert digest.retrieval in ("bm25", "hybrid", "cached")
        assert any(f"topic{n % 60} " in passage.text for passage in digest.passages)
    assert engine.wait_background(60)
    assert gate.most_working <= 2
    for text in texts:
        assert engine.run(text, "at last?").retrieval == "hybrid"
        assert all(provider.times(chunk) == 1 for chunk in chunk_texts(text))


def test_more_than_the_gate_takes_are_refused_and_the_others_answered(make: Make) -> None:
    gate = Counted(active=2, queue=4, wait=30)
    llm = FakeLlm(blocks="deaf")
    engine = make(gate=gate, llm=llm, embedder=None, cache=None)
    text, outcomes, refusals = document(3), [], []

    def ask() -> None:
        try:
            outcomes.append(engine.run(text, QUESTION).text)
        except GateRefusedError as error:
            refusals.append(error.bound)

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    while len(refusals) < 10:
        time.sleep(0.002)
    llm.release.set()
    for thread in threads:
        thread.join()
    assert outcomes == ["It is so [1]."] * 6
    assert refusals == ["queue"] * 10
    assert (gate.most_working, gate.working, gate.waiting) == (2, 0, 0)


@pytest.mark.parametrize("attempt", range(3))
def test_many_ask_about_one_document_and_each_chunk_is_embedded_once(
    make: Make, provider: ProviderServer, attempt: int
) -> None:
    provider.script(*[late(0.01)] * 100)
    engine, text = make(gate=Gate(active=4, queue=64, wait=60), timeout=90), document(30)
    digests = at_once([lambda n=n: engine.run(text, f"topic{n}?") for n in range(24)])  # type: ignore[misc]
    assert {digest.retrieval for digest in digests} == {"hybrid"}
    assert all(provider.times(chunk) == 1 for chunk in chunk_texts(text))


@pytest.mark.parametrize("attempt", range(3))
def test_two_engines_on_one_cache_serve_each_other(
    make: Make, provider: ProviderServer, attempt: int, caplog: pytest.LogCaptureFixture
) -> None:
    provider.vector = alike
    engines = [make(gate=Gate(active=4, queue=64, wait=60), timeout=90) for _ in range(2)]
    texts = [document(size, name=f"name{size}") for size in (20, 60, 90)]
    digests = at_once(
        [
            lambda n=n: engines[n % 2].run(texts[n % 3], f"topic{n}?")  # type: ignore[misc]
            for n in range(18)
        ]
    )
    assert all(
        any(f"topic{n} " in passage.text for passage in digest.passages) for n, digest in enumerate(digests)
    )
    assert all(engine.wait_background(30) for engine in engines)
    calls = len(provider.requests)
    for engine in engines:
        for text in texts:
            assert engine.run(text, "").retrieval in ("head", "cached")
            assert engine.run(text, "topic3?").embedded == len(chunk_texts(text))
    assert len(provider.requests) <= calls + 1  # a question
    assert caplog.records == []


@pytest.mark.parametrize("attempt", range(5))
def test_a_stream_that_is_left_early_releases_all_it_holds(make: Make, attempt: int) -> None:
    gate, llm = Gate(active=1, queue=0), FakeLlm(blocks="heeding")
    engine = make(gate=gate, llm=llm, embedder=None)
    for way in ("close", "with", "del"):
        stream = engine.stream(document(20), QUESTION)
        assert gate.working == 0
        assert next(stream) == "It"
        assert gate.working == 1
        if way == "close":
            stream.close()
        elif way == "with":
            with stream:
                pass
        else:
            del stream
        assert gate.working == 0
        assert list(engine.stream("", "")) == []
    assert engine.wait_background(5)
    assert [name for name in workers() if name == "firstlight-call"] == []
    assert llm.closed == len(llm.asked) == 3


def test_who_reads_an_answer_slowly_holds_up_nobody(make: Make) -> None:
    gate = Gate(active=1, queue=0)
    engine = make(gate=gate, llm=FakeLlm("One two three [1]."), embedder=None)
    stream = engine.stream(document(5), QUESTION)
    assert next(stream) == "One"
    ends = time.monotonic() + 5
    while gate.working:
        assert time.monotonic() < ends
        time.sleep(0.002)
    assert engine.run(document(4), QUESTION).text == "One two three [1]."
    assert list(stream) == [" two", " three", " [1]."]
    extract = make(gate=gate, cache=None).stream(document(20), QUESTION)
    assert next(extract)
    assert gate.working == 0


@pytest.mark.parametrize("where", ["embedding", "language model", "gate", "another's embedding"])
def test_ctrl_c_ends_a_run_wherever_it_waits(make: Make, provider: ProviderServer, where: str) -> None:
    gate, text = Gate(active=1, queue=4, wait=30), document(20)
    llm = FakeLlm(blocks="heeding") if where == "language model" else None
    engine = make(gate=gate, llm=llm, embedder=None) if llm else make(gate=gate)
    embedding = engine._retriever.embedding
    for number in range(5):
        if where == "embedding":
            provider.hold()
        elif where == "gate":
            gate.acquire()
        main = threading.main_thread().ident
        assert main is not None
        timer = threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT))
        timer.start()
        begin = time.monotonic()
        with ExitStack() as stack:
            if where == "another's embedding":
                assert embedding is not None
                key = engine._documents.get(text, "default").content_hash
                stack.enter_context(embedding.turn(key, "default", within=1))
            with pytest.raises(KeyboardInterrupt):
                engine.run(text, f"{QUESTION} {number}")
        assert time.monotonic() - begin < 5
        timer.join()
        if where == "gate":
            gate.release()
        assert (gate.working, gate.waiting) == (0, 0)
        provider.release()
    assert engine.wait_background(10)
    if llm is None:
        assert engine.run(text, QUESTION).retrieval == "hybrid"


@pytest.mark.parametrize("blocks", ["heeding", "deaf"])
def test_a_deadline_ends_a_run_whose_model_does_not(make: Make, blocks: str) -> None:
    gate, llm = Gate(active=1, queue=0), FakeLlm("", blocks=blocks)
    engine = make(gate=gate, llm=llm, embedder=None, timeout=0.2)
    for _ in range(3):
        begin = time.monotonic()
        with pytest.raises(DeadlineError, match=r"no whole answer within 0\.2 s"):
            engine.run(document(5), QUESTION)
        assert 0.15 < time.monotonic() - begin < 2
        assert gate.working == 0
    llm.release.set()
    assert workers() == []
    assert llm.closed == 3


@pytest.mark.parametrize("cached", [True, False])
def test_a_deadline_ends_the_reading_of_a_document_that_takes_for_ever(
    make: Make, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    release = threading.Event()

    def slow(text: str, chunk_tokens: int) -> object:
        release.wait(30)
        return split_pages(text, chunk_tokens)

    monkeypatch.setattr("firstlight.digest.documents.split_pages", slow)
    text = document(60)
    given: dict[str, Any] = {"embedder": None} if cached else {"embedder": FakeEmbedder(), "cache": None}
    engine = make(timeout=0.5, **given)
    begin = time.monotonic()
    with pytest.raises(DeadlineError):
        engine.run(text, QUESTION)
    assert time.monotonic() - begin < 5
    release.set()
    assert workers() == []
    assert engine.run(text, QUESTION).total == 60  # what was done for nobody serves the next


class Says:
    """A language model without a lock that a fork might take along."""

    name = "says"

    def stream(self, *_: object, **__: object) -> Iterator[str]:
        return iter(("It is", " so."))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_while_all_are_at_work_leaves_the_child_an_engine_that_works(make: Make) -> None:
    gate, stop = Gate(active=1, queue=64, wait=60), threading.Event()
    # SQLite bears no fork in the middle of its work, so there is no cache.
    engine = make(embedder=None, gate=gate, llm=Says(), cache=None)

    def work(number: int) -> None:
        while not stop.is_set():
            engine.run(document(9, name=f"name{number}"), QUESTION)
            number += 4

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    codes = []
    for number in range(6):
        with warnings.catch_warnings():  # newer Pythons warn of what is tested here
            warnings.simplefilter("ignore")
            child = os.fork()
        if not child:
            signal.alarm(20)
            answer = engine.run(document(70, name=f"child{number}"), QUESTION)
            is_right = answer.text == "It is so." and engine.wait_background(15) and not gate.working
            os._exit(0 if is_right else 1)
        codes.append(os.waitpid(child, 0)[1])
    stop.set()
    for thread in threads:
        thread.join()
    assert codes == [0] * 6


def test_models_that_never_come_back_do_not_pile_up(make: Make) -> None:
    llm = FakeLlm("", blocks="deaf")
    engine = make(llm=llm, embedder=None, timeout=0.01, cache=None)
    for _ in range(40):
        with pytest.raises(DeadlineError):
            engine.run("A short document.", QUESTION)
    assert sum(thread.name == "firstlight-call" for thread in threading.enumerate()) <= 32
    llm.release.set()
    assert workers() == []


def test_an_embedder_that_never_comes_back_does_not_hold_an_answer(make: Make) -> None:
    release, gate = threading.Event(), Gate()
    embedder = FakeEmbedder(lambda _: release.wait(30) and None)
    engine = make(embedder=embedder, timeout=0.6, gate=gate)
    begin = time.monotonic()
    digest = engine.run(document(20), QUESTION)
    assert (digest.retrieval, digest.provisional) == ("bm25", True)
    assert time.monotonic() - begin < 2
    release.set()
    assert engine.wait_background(10)
    assert gate.working == 0


def test_while_the_provider_is_down_words_answer_and_then_it_is_back(
    make: Make, provider: ProviderServer
) -> None:
    provider.script(*[failing(500)] * 4)
    engine, text = make(), document(60)
    assert engine.run(text, QUESTION).retrieval == "bm25"
    assert engine.wait_background(10)
    assert engine.run(text, QUESTION).retrieval == "hybrid"


def test_no_answer_sleeps(make: Make, monkeypatch: pytest.MonkeyPatch, provider: ProviderServer) -> None:
    def sleep(seconds: float) -> None:
        assert threading.current_thread().name == "firstlight-digest", f"slept {seconds} s"

    engine = make(llm=FakeLlm())
    monkeypatch.setattr(time, "sleep", sleep)
    for text in (document(5), document(20), document(60)):
        for question in ("", QUESTION):
            engine.run(text, question)


def test_logs_hold_ids_counts_and_timings_and_nothing_of_a_document_or_a_question(
    make: Make, provider: ProviderServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Everything that is logged on every path that this floor has, down to DEBUG."""
    provider.script(*[failing(400, message="it failed for")] * 3)

    def fail(texts: Any) -> None:
        raise EmbeddingError("no", kind="quota")

    with caplog.at_level(logging.DEBUG):
        for engine in (
            make(llm=FakeLlm("SECRET-ANSWER [1].")),
            make(llm=None, embedder=None),
            make(embedder=FakeEmbedder(fail)),
        ):
            for text in (document(5, name="SECRET-TEXT"), document(20, name="SECRET-TEXT"), document(60)):
                for question in ("", "SECRET-QUESTION?"):
                    engine.run(text, question, caller_class="SECRET-CLASS")
            assert engine.wait_background(10)
    assert len(caplog.records) > 10
    shown = "\n".join(
        f"{record.getMessage()} {record.exc_text} {record.args}" for record in caplog.records
    ).casefold()
    for word in ("secret", "topic", "alpha", "beta"):
        assert word not in shown
