"""Providers that err in ways that no text is to blame for, or say of themselves what cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firstlight.embed.embedding import embed_documents
from firstlight.embed.ollama import OllamaEmbedder
from firstlight.embed.openai import OpenAIEmbedder
from firstlight.embed.pace import retry_after
from firstlight.errors import EmbeddingError

from .provider_server import ProviderServer, Step, failing, ok

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firstlight.embed.embedding import Outcome


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as running:
        yield running


@pytest.mark.parametrize("status", [301, 307, 401, 403, 404, 405, 407])
def test_who_is_shut_out_for_a_moment_loses_no_text_for_good(server: ProviderServer, status: int) -> None:
    embedder = OpenAIEmbedder("m", base_url=server.url("openai"), retries=0)
    server.script(ok(), failing(status))
    outcomes: list[Outcome] = []
    texts = ((number, f"text number {number}") for number in range(200))

    def embed() -> None:
        for some in embed_documents(embedder, texts, cache=None):
            outcomes.extend(some)

    with pytest.raises(EmbeddingError) as caught:
        embed()
    assert caught.value.kind == "refused"
    assert len(outcomes) == 128
    assert all(outcome.vectors is not None for outcome in outcomes)
    assert len(server.requests) == 2  # nobody else is asked in smaller parts
    embedder.close()


def test_a_date_that_is_none_is_no_wait() -> None:
    assert retry_after({"retry-after": "Mon, 99 Jan 99999999999999999999 99:99:99 GMT"}) is None


@pytest.mark.parametrize("revision", ["\ud800", "x" * 1_000_000, "\x1b[31m", 5])
def test_a_revision_that_can_be_none_is_refused_once(server: ProviderServer, revision: str) -> None:
    server.revision = revision
    server.model = "m"
    embedder = OllamaEmbedder("m", base_url=server.url("ollama"), retries=0)
    with pytest.raises(EmbeddingError) as caught:
        _ = embedder.fingerprint
    assert len(str(caught.value)) < 200
    with pytest.raises(EmbeddingError):
        list(embed_documents(embedder, [(number, f"text {number}") for number in range(9)], cache=None))
    assert not server.requests
    embedder.close()


def test_vectors_longer_than_any_models_are_refused(server: ProviderServer) -> None:
    server.script(*(Step(spoil=lambda rows: [row * 10_000 for row in rows]) for _ in range(9)))
    embedder = OpenAIEmbedder("m", base_url=server.url("openai"), retries=0)
    with pytest.raises(EmbeddingError, match="80000 numbers"):
        embedder.embed(["text"], "query")
    embedder.close()
