"""Which embedder a corpus has, what a question costs, and what happens when its provider stalls."""

from __future__ import annotations

import logging
import socket
import threading
import time
import traceback
from typing import TYPE_CHECKING

import pytest
from tests.embed.provider_server import ProviderServer, dropped, failing, ok, too_many

from firstlight.corpus.trust import trust
from firstlight.embed.openai import OpenAIEmbedder
from firstlight.errors import ConfigError, EmbeddingError, FirstlightError

from .embedder import Words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from firstlight import Corpus

    from .conftest import Docs

# What a second and a half may take on a busy machine.
SOON = 8.0
KEY = "sk-very-secret-key"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """A server in OpenAI's format on loopback, which the environment names as the embedder."""
    with ProviderServer(dimensions=64, key=KEY) as server:
        monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "openai:test-model")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url("openai"))
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server


@pytest.fixture(params=["environment", "object"])
def embedded(request: pytest.FixtureRequest, handbook: Docs, provider: ProviderServer) -> Iterator[Corpus]:
    """The handbook, embedded by the provider: named by the environment, or given as an object."""
    given = None
    if request.param == "object":
        given = OpenAIEmbedder("test-model", base_url=provider.url("openai"), key=KEY)
    with handbook.open(embedder=given, config={"embedding": {"query_timeout": 0.5}}) as corpus:
        corpus.sync()
        assert corpus.wait_background(60)
        yield corpus
    if given is not None:
        given.close()


def test_a_question_is_bought_once(embedded: Corpus, handbook: Docs, provider: ProviderServer) -> None:
    for _ in range(3):
        assert embedded.search("drain the node").mode == "hybrid"
        assert embedded.search("drain the node", mode="vector", where="area = platform").mode == "vector"
    assert provider.times("drain the node") == 1
    with handbook.open(embedder="openai:test-model") as other:
        assert other.search("drain the node").mode == "hybrid"
    assert provider.times("drain the node") == 1


def test_bm25_alone_asks_nobody(embedded: Corpus, provider: ProviderServer) -> None:
    asked = len(provider.calls)
    assert embedded.search("drain", mode="bm25").mode == "bm25"
    assert len(provider.calls) == asked


def test_while_a_provider_stalls_the_answer_is_lexical_and_says_why(
    embedded: Corpus, provider: ProviderServer
) -> None:
    provider.hold()
    began = time.monotonic()
    results = embedded.search("drain the node")
    assert time.monotonic() - began < SOON
    assert results.mode == "bm25"
    assert results.reason == (
        "the question could not be embedded (openai:test-model did not answer within 0.5 s); "
        "ranked by BM25 alone"
    )
    assert results[0].path == "ops/drain.md"
    provider.release()
    deadline = time.monotonic() + 20
    while embedded.search("drain the node").mode != "hybrid":  # the late answer is kept
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert provider.times("drain the node") == 1


def test_a_provider_that_keeps_failing_is_left_alone(embedded: Corpus, provider: ProviderServer) -> None:
    provider.script(*[failing(500)] * 20)
    asked = len(provider.requests)
    reasons = [embedded.search(f"drain node{number}").reason for number in range(10)]
    assert len(provider.requests) == asked + 3
    assert "answered with status 500" in reasons[0]
    assert "failed 3 times in a row, and is asked again in" in reasons[-1]
    assert all(reason.endswith("; ranked by BM25 alone") for reason in reasons)


def test_what_is_known_already_needs_no_provider(embedded: Corpus, provider: ProviderServer) -> None:
    assert embedded.search("drain the node").mode == "hybrid"
    provider.script(*[dropped()] * 20)
    for number in range(5):
        embedded.search(f"drain node{number}")
    assert embedded.search("drain the node").mode == "hybrid"


def test_a_provider_that_does_not_even_say_what_it_serves_is_waited_for_once(
    handbook: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProviderServer(dimensions=64) as server, handbook.open(embedder="ollama:test-model") as corpus:
        monkeypatch.setenv("OLLAMA_HOST", server.url("ollama"))
        corpus.sync(embed=True)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{silent.getsockname()[1]}")
        with handbook.open(embedder="ollama:test-model") as corpus:
            began = time.monotonic()
            reasons = {corpus.search(f"drain the node{number}").reason for number in range(20)}
            assert time.monotonic() - began < SOON
    (reason,) = reasons
    assert "ollama:test-model did not answer a moment ago" in reason


def test_an_unknown_object_that_stalls_holds_nobody_up(handbook: Docs) -> None:
    embedder = Words()
    release = threading.Event()
    with handbook.open(embedder=embedder, config={"embedding": {"query_timeout": 0.2}}) as corpus:
        corpus.sync(embed=True)

        def stalled(texts: Sequence[str], kind: str) -> None:
            release.wait(30)

        embedder.before = stalled
        results = corpus.search("drain")
        release.set()
        assert (results.mode, results[0].path) == ("bm25", "ops/drain.md")
        assert "words did not answer within 0.2 s" in results.reason


def test_the_environment_comes_before_the_settings_and_an_argument_before_both(
    handbook: Docs, provider: ProviderServer, tmp_path: Path
) -> None:
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "config.toml").write_text('embedder = "local"\n')
    with handbook.open() as corpus:
        assert corpus.status().model == "openai:test-model"
    with handbook.open(embedder="none") as corpus:
        assert corpus.status().model is None
    with handbook.open(embedder=Words("mine")) as corpus:
        assert corpus.status().model == "mine"
    with pytest.raises(ConfigError, match="'word2vec' names no embedder"):
        handbook.open(embedder="word2vec").search("x")
    assert provider.calls == []


def test_an_untrusted_folder_chooses_no_provider_and_a_trusted_one_does(
    handbook: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FIRSTLIGHT_EMBEDDER")
    with ProviderServer(dimensions=64) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url("openai"))
        handbook.write("firstlight.toml", 'embedder = "openai:theirs"\n[embedding]\ntoken_budget = 5\n')
        with handbook.open() as corpus:
            (warning,) = corpus.warnings
            assert "embedder, token_budget: no effect, since this folder is not trusted" in warning
            corpus.sync()
            assert corpus.status().model != "openai:theirs"
            corpus.search("drain", mode="bm25")
        assert server.calls == []
        trust(handbook.root)
        with handbook.open() as corpus:
            assert corpus.warnings == ()
            corpus.sync()
            assert corpus.status().model == "openai:theirs"
            assert not corpus.wait_background(60)
            assert "of the 5 tokens" in str(corpus.status().trouble)
        assert server.inputs == []


@pytest.mark.parametrize(
    "setting",
    [
        '[openai]\nbase_url = "http://evil.example/v1"\n',
        '[ollama]\nbase_url = "http://evil.example"\n',
        '[tei]\nbase_url = "http://evil.example"\n',
        "[embedding]\nallow_downloads = true\n",
        '[cache]\nmax_size = "1 kB"\n',
    ],
)
def test_no_folder_decides_what_is_the_users_own(handbook: Docs, setting: str) -> None:
    handbook.write("firstlight.toml", setting)
    for trusted in (False, True):
        if trusted:
            trust(handbook.root)
        with pytest.raises(ConfigError, match=r"belongs into your own configuration.*no folder decides it"):
            handbook.open()


def test_a_base_url_of_the_users_own_settings_is_used(
    handbook: Docs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with ProviderServer(dimensions=64) as server:
        monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "openai:test-model")
        (tmp_path / "config").mkdir(exist_ok=True)
        (tmp_path / "config" / "config.toml").write_text(f'[openai]\nbase_url = "{server.url("openai")}"\n')
        with handbook.open() as corpus:
            corpus.sync(embed=True)
            assert corpus.search("drain").mode == "hybrid"


def test_a_provider_that_is_named_and_cannot_be_had_says_what_is_missing(
    handbook: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEI_BASE_URL", raising=False)
    with handbook.open(embedder="tei:") as corpus:
        with pytest.raises(ConfigError, match="set TEI_BASE_URL"):
            corpus.search("drain")
        assert corpus.search("drain", mode="bm25").mode == "bm25"


def test_vectors_of_another_length_under_one_name_are_another_models(
    handbook: Docs, provider: ProviderServer
) -> None:
    with handbook.open() as corpus:
        corpus.sync(embed=True)
    provider.dimensions = 32
    handbook.write("new.md", "a new page\n")
    with handbook.open() as corpus:
        corpus.sync()
        assert not corpus.wait_background(60)
        assert "now answers with 32 dimensions, and had 64" in str(corpus.status().trouble)
        results = corpus.search("drain a new swamp")
        assert results.mode in ("bm25", "partial")
        assert results


def test_nothing_of_a_text_a_question_or_a_key_is_logged_or_told(
    handbook: Docs,
    provider: ProviderServer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = ("quicksilver", "moonbeam", KEY)
    told: list[str] = []
    handbook.write("secret.md", "---\ncode: quicksilver\n---\nquicksilver is what nobody may read\n")
    provider.script(
        too_many(after=0.01), failing(500), dropped(), failing(400), failing(400), failing(400), ok(), ok()
    )

    def attempt(corpus: Corpus, seconds: float = 30) -> None:
        try:
            corpus.sync(embed=True)
        except FirstlightError as error:
            told.extend(traceback.format_exception(error))
        told.extend((repr(corpus.wait_background(seconds)), repr(corpus.status())))

    with handbook.open(config={"embedding": {"query_timeout": 0.3}}) as corpus:
        attempt(corpus)
        attempt(corpus)
        for step in (ok(), failing(500), failing(400), failing(401), dropped(), too_many(after=9)):
            provider.script(step)
            told.append(corpus.search(f"moonbeam {step.status} {step.ending}").reason)
        provider.hold()
        told.append(corpus.search("moonbeam held").reason)
        provider.release()

    def broken(texts: Sequence[str], kind: str) -> None:
        raise ValueError(" ".join(texts))

    embedder = Words("broken")
    monkeypatch.setattr(embedder, "before", broken)
    with handbook.open(embedder=embedder, state=handbook.root.parent / "broken") as corpus:
        attempt(corpus, seconds=0.3)
        told.append(corpus.search("moonbeam").reason)
    assert told
    told += [f"{record.getMessage()} {record.exc_text} {record.__dict__}" for record in caplog.records]
    assert [line for line in told for secret in secrets if secret in line] == []


def test_an_embedding_error_keeps_its_kind_on_the_way_out(handbook: Docs, provider: ProviderServer) -> None:
    provider.script(*[failing(401)] * 4)
    with handbook.open() as corpus, pytest.raises(EmbeddingError, match="OPENAI_API_KEY") as caught:
        corpus.sync(embed=True)
    assert caught.value.kind == "refused"
