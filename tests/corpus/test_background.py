"""Embedding behind the answers: what is bought, when, by whom; and how it ends."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.embed.provider_server import ProviderServer, no_quota, too_many

from firstlight.corpus.calibrate import NONSENSE
from firstlight.embed.ollama import OllamaEmbedder
from firstlight.errors import ConfigError, EmbeddingError

from .embedder import Words, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from firstlight import Corpus

    from .conftest import Docs

# What "within two seconds" may take on a busy machine.
SOON = 6.0
# Texts in one call of an Ollama server.
CALL = 16


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """An Ollama server on loopback, which the environment names as the embedder."""
    with ProviderServer(dimensions=64) as server:
        monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "ollama:test-model")
        monkeypatch.setenv("OLLAMA_HOST", server.url("ollama"))
        yield server


def bought(server: ProviderServer) -> Counter[str]:
    """Return how often a vector of each text of a document went out."""
    return Counter(text for text in server.inputs if "\n" in text)  # no question has a line's end


def in_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIRSTLIGHT_BACKGROUND")


def write_pages(docs: Docs, count: int) -> None:
    for number in range(count):
        docs.write(f"{number:03}.md", f"# Page {number}\n\nwords of page number{number}\n", age=100)


def until(condition: object, *, seconds: float = 20.0) -> None:
    """Wait for what another thread or process is about to do."""
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


class Gate:
    """Holds the calls for documents until it is opened, however long that takes."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.reached = threading.Event()

    def __call__(self, texts: Sequence[str], kind: str) -> None:
        if kind == "document":
            self.reached.set()
            assert self.open.wait(60)


# What is embedded once


def test_nothing_is_bought_twice_whatever_happens_to_files(docs: Docs, provider: ProviderServer) -> None:
    write_pages(docs, 20)
    docs.write("copy.md", "# Page 3\n\nwords of page number3\n", age=100)
    with docs.open() as corpus:
        corpus.sync()
        assert corpus.wait_background(60)
        assert corpus.search("page").mode == "hybrid"
        first = bought(provider)
        assert (len(first), set(first.values())) == (20, {1})

        def again() -> None:
            report = corpus.sync()
            assert corpus.wait_background(60)
            assert (
                corpus.status().embedded == report.unchanged + report.added + report.renamed + report.changed
            )
            assert bought(provider) == first

        again()
        (docs.root / "001.md").rename(docs.root / "moved.md")
        again()
        kept = (docs.root / "002.md").read_text()
        (docs.root / "002.md").unlink()
        again()
        docs.write("back.md", kept)
        again()
        corpus.sync(rebuild=True)
        again()


def test_a_paragraph_that_moves_to_another_document_is_not_bought_again(
    docs: Docs, provider: ProviderServer
) -> None:
    one, two = ("word " * 30 + f"of paragraph{number}" for number in (1, 2))
    docs.write("a.md", f"{one}\n\n{two}\n", age=100)
    docs.write("b.md", "something else\n", age=100)
    with docs.open(config={"chunks": {"min_tokens": 10, "max_tokens": 60, "overlap": 0}}) as corpus:
        corpus.sync()
        assert corpus.wait_background(60)
        first = bought(provider)
        assert len(first) == 3
        docs.write("a.md", f"{one}\n")
        docs.write("b.md", f"something else\n\n{two}\n")
        corpus.sync()
        assert corpus.wait_background(60)
        new = bought(provider) - first
        assert len(new) <= 2  # whose text changed: the ends of both documents
        assert not any(count > 1 for count in bought(provider).values())


def test_editing_a_paragraph_of_a_hundred_chunks_embeds_at_most_four(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sections = [
        f"# Section {number}\n\n"
        + "\n\n".join(f"Sentence {line} of part {number}. " * 6 for line in range(10))
        for number in range(100)
    ]
    docs.write("long.md", "\n\n".join(sections), age=100)
    with ProviderServer(dimensions=1024) as server, docs.open(embedder="openai:bge-m3") as corpus:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url("openai"))
        report = corpus.sync()
        assert report.chunks >= 100
        assert corpus.wait_background(60)
        before = bought(server)
        assert sum(before.values()) == report.chunks
        sections[50] = sections[50].replace("Sentence 5 of", "Sentence five of", 2)
        docs.write("long.md", "\n\n".join(sections))
        corpus.sync()
        assert corpus.wait_background(60)
        new = bought(server) - before
        assert 1 <= sum(new.values()) <= 4
        docs.write("inserted.md", "x")
        (docs.root / "long.md").rename(docs.root / "renamed.md")
        (docs.root / "inserted.md").unlink()
        corpus.sync()
        assert corpus.wait_background(60)
        assert bought(server) - before == new


# Processes that are killed


_LIVES = """
import os, random, signal, sys, time
import httpx2, stamina
import firstlight.corpus.background, firstlight.embed.ollama
from firstlight import Corpus
dice = random.Random(int(sys.argv[3]))
for life in range(int(sys.argv[2]) + 1):
    child = os.fork()
    if child == 0:
        os.environ["OLLAMA_API_KEY"] = f"life{life}"  # so that the server can tell them apart
        with Corpus.open(sys.argv[1]) as corpus:
            done = corpus.wait_background(120)
        os._exit(0 if done else 9)
    if life < int(sys.argv[2]):
        time.sleep(0.1 + dice.random() * 0.4)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        sys.exit(os.WEXITSTATUS(status))
"""


def test_killed_at_any_moment_it_never_buys_a_finished_batch_again(
    docs: Docs, provider: ProviderServer
) -> None:
    write_pages(docs, 400)
    provider.vector = slow_vector
    with docs.open() as corpus:
        corpus.sync()
    command = [sys.executable, "-c", _LIVES, str(docs.root), "15", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lives: dict[str, list[tuple[str, ...]]] = {}
    for call in provider.requests:
        if not set(call.texts) <= set(NONSENSE):
            lives.setdefault(call.headers["authorization"], []).append(call.texts)
    assert len(lives) > 3
    finished: set[str] = set()
    for calls in lives.values():
        for texts in calls:
            assert finished.isdisjoint(texts)
        # Who made another call had settled the one before.
        finished.update(text for texts in calls[:-1] for text in texts)
    assert sum(bought(provider).values()) <= 400 + CALL * (len(lives) - 1)
    assert len(bought(provider)) == 400
    with docs.open() as corpus:
        assert corpus.verify().findings == ()
        results = corpus.search("words of page number7")
        assert (results.mode, results.embedded) == ("hybrid", 400)
        assert results[0].path == "007.md"


def slow_vector(text: str, dimensions: int) -> list[float]:
    time.sleep(0.001)
    return [
        float(number) for number in np.random.default_rng(len(text) + ord(text[-1])).normal(size=dimensions)
    ]


# One worker


def test_of_two_processes_one_works_and_the_other_waits(docs: Docs, provider: ProviderServer) -> None:
    write_pages(docs, 40)
    with docs.open() as corpus:
        corpus.sync()
        provider.hold()
        command = [sys.executable, "-m", "firstlight", "background", "run", str(docs.root)]
        other = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        provider.wait_for_calls(1)
        assert not corpus.wait_background(0.5)
        assert len(provider.requests) == 1
        status = corpus.status()
        assert status.worker is not None
        assert f":{other.pid}:" in status.worker
        provider.release()
        assert corpus.wait_background(60)
        assert other.communicate(timeout=60) == ("", "")
        assert set(bought(provider).values()) == {1}
        assert corpus.status().worker is None


def test_who_lost_the_lease_commits_nothing_more(docs: Docs) -> None:
    write_pages(docs, 5)
    embedder, gate = Words(), Gate()
    embedder.before = gate
    with docs.open(embedder=embedder) as corpus, docs.open(embedder="none") as other:
        corpus.sync()
        waiting = threading.Thread(target=corpus.wait_background, args=(30,))
        waiting.start()
        assert gate.reached.wait(10)
        assert other.stop_background()
        gate.open.set()
        waiting.join(30)
        assert embedder.texts  # it did embed them
        until(lambda: not named("firstlight-embedding"))
        assert corpus.status().embedded == 0
        assert not other.stop_background()
        assert corpus.wait_background(30)  # from the cache
        assert len(embedder.texts) == 5


def test_whoever_embeds_in_the_foreground_waits_for_the_worker_of_its_own_process(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_background(monkeypatch)
    write_pages(docs, 30)
    embedder = Words(texts=1)
    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        report = corpus.sync(embed=True)
        assert report.chunks_to_embed == 0
        assert corpus.status().embedded == 30
        assert len(embedder.texts) == len(set(embedder.texts)) == 30


def test_embedding_in_the_foreground_tells_how_far_it_is(docs: Docs) -> None:
    write_pages(docs, 10)
    told: list[tuple[int, int]] = []
    with docs.open(embedder=Words(texts=1)) as corpus:
        corpus.sync(embed=True, progress=lambda each: told.append((each.embedded, each.to_embed)))
    assert [each for each in dict.fromkeys(told) if each[1]] == [(done, 10) for done in range(1, 11)]


# Stopping


def named(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]


def test_closing_ends_the_worker_even_while_the_provider_holds_a_request(
    docs: Docs, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_background(monkeypatch)
    write_pages(docs, 5)
    provider.hold()
    corpus = docs.open()
    corpus.sync()
    provider.wait_for_calls(1)
    began = time.monotonic()
    corpus.close()
    assert time.monotonic() - began < SOON
    assert not named("firstlight-embedding")
    with docs.open() as again:
        assert again.status().trouble is None
        assert again.status().worker is None


def test_a_worker_that_is_stopped_while_it_waits_for_its_provider_ends(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_background(monkeypatch)
    write_pages(docs, 5)
    embedder = Words()

    def down(texts: Sequence[str], kind: str) -> None:
        raise EmbeddingError("the line is dead")

    embedder.before = down
    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        until(lambda: corpus.status().trouble == "the line is dead")
        assert corpus.status().worker is not None  # so that nobody begins a second one
        corpus.stop_background()
        until(lambda: not named("firstlight-embedding"), seconds=SOON)
        assert corpus.search("page").mode == "bm25"
        assert not named("firstlight-embedding")  # a search does not undo it
        embedder.before = lambda texts, kind: None
        assert corpus.wait_background(30)
        assert corpus.status().trouble is None


def test_who_embeds_in_the_foreground_takes_over_from_one_that_waits_for_its_provider(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_background(monkeypatch)
    write_pages(docs, 5)
    embedder = Words()
    embedder.before = refuse("the line is dead")
    with docs.open(embedder=embedder) as corpus, docs.open(embedder=Words()) as other:
        corpus.sync()
        until(lambda: corpus.status().trouble == "the line is dead")
        other.sync(embed=True)
        assert (other.status().embedded, other.status().trouble) == (5, None)


def test_one_embedder_can_serve_two_corpora(
    docs: Docs, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firstlight.corpus.background._FIRST_PAUSE", 0.1)
    write_pages(docs, 40)
    embedder = OllamaEmbedder("test-model", base_url=provider.url("ollama"))
    provider.hold()
    one = docs.open(embedder=embedder, state=docs.root.parent / "one")
    two = docs.open(embedder=embedder, state=docs.root.parent / "two")
    with two:
        with one:
            for corpus in (one, two):
                corpus.sync()
                assert not corpus.wait_background(0.3)
        assert embedder.stop is None or not embedder.stop.is_set()
        provider.release()
        assert two.wait_background(60)
    assert embedder.stop is None
    assert embedder.embed(["still there"], "document").shape == (1, 64)
    embedder.close()


def test_it_ends_soon_after_its_folder(docs: Docs, provider: ProviderServer) -> None:
    write_pages(docs, 5)
    with docs.open() as corpus:
        corpus.sync()
    provider.hold()
    command = [sys.executable, "-m", "firstlight", "background", "run", str(docs.root)]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    provider.wait_for_calls(1)
    shutil.rmtree(docs.root)
    assert worker.communicate(timeout=SOON) == ("", "")


def test_it_ends_soon_after_its_index(docs: Docs, provider: ProviderServer) -> None:
    write_pages(docs, 5)
    with docs.open() as corpus:
        corpus.sync()
        state = corpus.state
    provider.hold()
    command = [sys.executable, "-m", "firstlight", "background", "run", str(docs.root)]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    provider.wait_for_calls(1)
    shutil.rmtree(state)
    worker.communicate(timeout=SOON)


# While documents change


def test_no_vector_of_an_old_text_lands_on_a_new_one(docs: Docs) -> None:
    write_pages(docs, 6)
    embedder, gate = Words(), Gate()
    embedder.before = gate
    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        waiting = threading.Thread(target=corpus.wait_background, args=(60,))
        waiting.start()
        assert gate.reached.wait(10)
        for number in range(4):
            docs.write(f"{number:03}.md", f"the automobile of owner{number}\n")
        (docs.root / "004.md").unlink()
        corpus.sync()
        gate.open.set()
        waiting.join(60)
        assert corpus.wait_background(30)
        assert corpus.verify().findings == ()
        assert (corpus.status().embedded, corpus.status().chunks) == (5, 5)
        hits = corpus.search("car owner2", mode="vector")
        assert hits[0].path == "002.md"
        (asked,), (given,) = (
            embedder.embed(["car owner2"], "query"),
            embedder.embed([hits[0].text], "document"),
        )
        assert hits[0].score == pytest.approx(float(asked @ given), abs=1e-5)


def test_many_threads_search_while_it_embeds_and_syncs(docs: Docs, monkeypatch: pytest.MonkeyPatch) -> None:
    in_background(monkeypatch)
    write_pages(docs, 60)
    embedder = Words(texts=4)
    over = threading.Event()
    wrong: list[str] = []

    def search(corpus: Corpus, seed: int) -> None:
        dice = random.Random(seed)
        while not over.is_set():
            number = dice.randrange(60)
            results = corpus.search(f"number{number}", top_k=5)
            if results.mode not in ("bm25", "partial", "hybrid") or results[0].path != f"{number:03}.md":
                wrong.append(repr(results))

    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        threads = [threading.Thread(target=search, args=(corpus, seed)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for round_ in range(8):
            docs.write("more.md", f"another page in round{round_}\n")
            corpus.sync()
        assert corpus.wait_background(60)
        over.set()
        for thread in threads:
            thread.join(30)
        assert wrong == []
        assert corpus.search("page").mode == "hybrid"
        assert corpus.verify().findings == ()
        assert len(embedder.texts) == len(set(embedder.texts))


# What comes first


def test_what_a_question_hit_is_embedded_before_the_rest(docs: Docs) -> None:
    write_pages(docs, 200)
    embedder = Words(texts=8)
    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        corpus.search("number150")
        corpus.search("number120")
        assert corpus.wait_background(60)
    order = [text.split("number")[1].strip() for text in embedder.texts]
    assert order[:2] == ["120", "150"]
    assert order[2:4] == ["0", "1"]


def test_a_question_in_the_middle_comes_before_what_is_not_on_its_way(docs: Docs) -> None:
    write_pages(docs, 300)
    embedder, gate = Words(texts=8), Gate()
    embedder.before = gate
    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        waiting = threading.Thread(target=corpus.wait_background, args=(60,))
        waiting.start()
        assert gate.reached.wait(10)
        corpus.search("number290")
        gate.open.set()
        waiting.join(60)
    order = [text.split("number")[1].strip() for text in embedder.texts]
    assert order.index("290") < 100


# Providers that fail


def test_a_provider_that_is_too_busy_is_asked_again(docs: Docs, provider: ProviderServer) -> None:
    write_pages(docs, 20)
    provider.script(too_many(after=0.2), too_many(after=0.1))
    with docs.open() as corpus:
        corpus.sync()
        assert corpus.wait_background(60)
        assert corpus.status().trouble is None
    assert set(bought(provider).values()) == {1}


def test_an_exhausted_quota_is_final_and_the_rest_goes_on_serving(
    docs: Docs, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_background(monkeypatch)
    write_pages(docs, 40)
    provider.script(*[no_quota(402)] * 50)
    with docs.open() as corpus:
        corpus.sync()
        until(lambda: corpus.status().trouble is not None)
        assert "nothing left to spend" in str(corpus.status().trouble)
        until(lambda: not named("firstlight-embedding"))
        asked = len(provider.requests)
        for _ in range(5):
            results = corpus.search("number7")
            assert (results.mode, results[0].path) == ("bm25", "007.md")
        time.sleep(0.2)
        assert len(provider.requests) == asked  # searches do not try again
        assert not corpus.wait_background(30)  # who asks for it does
        assert len(provider.requests) == asked + 1
        with pytest.raises(EmbeddingError, match="nothing left to spend"):
            corpus.sync(embed=True)
        provider._steps.clear()
        corpus.sync(embed=True)
        assert (corpus.status().trouble, corpus.status().queue) == (None, 0)
        assert corpus.search("number7").mode == "hybrid"


def test_a_token_budget_stops_it_and_says_so(docs: Docs, provider: ProviderServer) -> None:
    write_pages(docs, 60)
    budget = {"embedding": {"token_budget": 600}}
    with docs.open(config=budget) as corpus:
        planned = corpus.plan().tokens_to_embed
        assert planned > 600
        corpus.sync()
        assert not corpus.wait_background(30)
        status = corpus.status()
        assert "of the 600 tokens that this folder may send are spent" in str(status.trouble)
        assert "raise embedding.token_budget" in str(status.trouble)
        assert 0 < status.tokens <= 600
        assert status.embedded == sum(bought(provider).values()) < 60
    with docs.open(config={"embedding": {"token_budget": planned}}) as corpus:
        assert corpus.wait_background(30)
        assert (corpus.status().trouble, corpus.status().tokens) == (None, planned)
    assert set(bought(provider).values()) == {1}


def test_texts_that_cannot_be_embedded_are_counted_and_the_rest_is_embedded(docs: Docs) -> None:
    write_pages(docs, 20)
    docs.write("poison.md", "a poisonous page\n")
    embedder = Words(texts=8)

    def poisoned(texts: Sequence[str], kind: str) -> None:
        if any("poison" in text for text in texts):
            raise EmbeddingError("not this one", kind="refused")

    embedder.before = poisoned
    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        assert corpus.wait_background(60)
        status = corpus.status()
        assert (status.embedded, status.failed, status.queue, status.trouble) == (20, 1, 0, None)
        assert corpus.search("poisonous")[0].path == "poison.md"
        assert corpus.search("number3").reason == "all chunks embedded but 1 that failed"
        assert corpus.search("number3").mode == "hybrid"


def test_an_embedder_that_is_broken_ends_nothing_but_its_own_work(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_background(monkeypatch)
    write_pages(docs, 3)
    embedder = Words()

    def broken(texts: Sequence[str], kind: str) -> None:
        raise ZeroDivisionError(texts[0])

    embedder.before = broken
    with docs.open(embedder=embedder) as corpus:
        corpus.sync()
        until(lambda: corpus.status().trouble is not None)
        assert corpus.status().trouble == "words failed with ZeroDivisionError"
        assert corpus.search("number1")[0].path == "001.md"


def test_a_provider_that_is_not_there_yet_is_told_of_and_waited_for(
    docs: Docs, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pages(docs, 3)
    url = provider.url("ollama")
    provider.stop()
    with docs.open() as corpus:
        corpus.sync()
        assert not corpus.wait_background(1)
        status = corpus.status()
        assert "ollama:test-model: no connection; start it with `ollama serve`" in str(status.trouble)
        assert (status.model, status.queue, status.mode) == ("ollama:test-model", 3, "bm25")
        assert corpus.search("page").mode == "bm25"
    with ProviderServer(dimensions=64) as later:
        assert later.url("ollama") != url
        monkeypatch.setenv("OLLAMA_HOST", later.url("ollama"))
        with docs.open() as corpus:
            assert corpus.wait_background(60)
            assert corpus.status().trouble is None
            assert corpus.search("page").mode == "hybrid"


def test_an_embedder_that_never_made_a_vector_stands_in_nobodys_way(docs: Docs) -> None:
    write_pages(docs, 3)
    with docs.open(embedder=Words("one", most=0)) as corpus:
        corpus.sync()
        assert not corpus.wait_background(30)
        assert corpus.status().trouble == "that was enough"
    with docs.open(embedder=Words("two")) as corpus:
        assert corpus.status().trouble is None
        assert corpus.status().model == "two"
        assert corpus.search("page").mode == "bm25"
        assert corpus.wait_background(30)
        assert corpus.search("page").model == "two"
        assert corpus.search("page").mode == "hybrid"


def test_what_comes_while_it_ends_is_embedded_too(docs: Docs, monkeypatch: pytest.MonkeyPatch) -> None:
    in_background(monkeypatch)
    write_pages(docs, 3)
    embedder = Words()
    with docs.open(embedder=embedder) as corpus:

        def one_more(mode: str) -> None:
            if mode == "hybrid" and not (docs.root / "late.md").exists():
                docs.write("late.md", "a late page\n")
                corpus.sync()

        corpus.subscribe(one_more)
        corpus.sync()
        until(lambda: "a late page\n" in embedder.texts)


# Who is told


def test_subscribers_are_told_when_the_mode_rises(docs: Docs) -> None:
    write_pages(docs, 10)
    embedder = Words(texts=2, most=6)
    told: list[str] = []
    silent: list[str] = []
    with docs.open(embedder=embedder) as corpus:

        def raising(mode: str) -> None:
            raise RuntimeError(mode)

        corpus.subscribe(raising)
        corpus.subscribe(told.append)
        corpus.subscribe(silent.append)()
        corpus.sync()
        assert told == []
        assert not corpus.wait_background(30)
        assert told == ["partial"]
        corpus.search("page")
        corpus.search("page", mode="bm25")
        corpus.search("page")
        assert told == ["partial"]
        embedder.most = None
        assert corpus.wait_background(30)
        assert told == ["partial", "hybrid"]
        docs.write("more.md", "another page\n")
        corpus.sync()
        assert corpus.search("page").mode == "partial"
        assert corpus.wait_background(30)
        assert told == ["partial", "hybrid", "hybrid"]
        assert silent == []


def test_whoever_is_told_of_hybrid_gets_a_hybrid_answer(docs: Docs) -> None:
    write_pages(docs, 10)
    embedder = Words(texts=2)
    del embedder.floor  # it has to be calibrated first
    answers: list[tuple[str, str]] = []
    with docs.open(embedder=embedder) as corpus:
        corpus.subscribe(lambda mode: answers.append((mode, corpus.search("number3").mode)))
        corpus.sync()
        assert corpus.wait_background(30)
    assert answers
    assert all(told == found for told, found in answers)


def test_waiting_ends_with_its_time(docs: Docs) -> None:
    write_pages(docs, 3)
    embedder, gate = Words(), Gate()
    embedder.before = gate
    with docs.open(embedder=embedder) as corpus:
        assert corpus.wait_background(0)  # nothing is indexed, so nothing is pending
        corpus.sync()
        assert not corpus.wait_background(0)
        began = time.monotonic()
        assert not corpus.wait_background(0.2)
        assert time.monotonic() - began < SOON
        gate.open.set()
        assert corpus.wait_background()
        assert corpus.wait_background(0)


def test_without_an_embedder_there_is_nothing_to_wait_for(docs: Docs) -> None:
    write_pages(docs, 3)
    with docs.open() as corpus:
        corpus.sync()
        assert corpus.wait_background(0)
        assert corpus.status().queue == 0
        with pytest.raises(ConfigError, match="there is no embedder"):
            corpus.sync(embed=True)


def test_nothing_is_embedded_unasked_where_the_user_says_so(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pages(docs, 3)
    embedder = Words()
    with docs.open(embedder=embedder) as corpus:  # FIRSTLIGHT_BACKGROUND=0
        assert corpus.sync().chunks_to_embed == 3
        corpus.search("page")
    in_background(monkeypatch)
    with docs.open(embedder=embedder, background=False) as corpus:
        corpus.sync()
        corpus.search("page")
    assert embedder.texts == []
    assert os.environ.get("FIRSTLIGHT_BACKGROUND") is None
    with docs.open(embedder=embedder) as corpus:
        corpus.search("page")
        until(lambda: corpus.search("page").mode == "hybrid")
    assert len(embedder.texts) == 3


def test_another_models_vectors_are_refused_with_the_way_out(docs: Docs) -> None:
    write_pages(docs, 3)
    with docs.open(embedder=Words("one")) as corpus:
        corpus.sync(embed=True)
    other = Words("two")
    with docs.open(embedder=other) as corpus:
        for act in (lambda: corpus.search("page"), lambda: corpus.wait_background(10)):
            with pytest.raises(ConfigError, match=r"vectors of one.*firstlight migrate"):
                act()
        assert corpus.search("page", mode="bm25").mode == "bm25"
        corpus.sync()
    assert other.texts == []
    with docs.open(embedder=Words("one")) as corpus:
        assert corpus.search("page").mode == "hybrid"
        assert corpus.status().trouble is None
