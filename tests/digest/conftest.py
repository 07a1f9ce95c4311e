"""What the tests of the digest floor may ask for."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from tests.embed.provider_server import ProviderServer

from firstlight.digest import DigestEngine
from firstlight.embed.openai import OpenAIEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Make = Callable[..., DigestEngine]


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    """A provider on a real socket that counts all it embeds."""
    with ProviderServer() as server:
        yield server


@pytest.fixture
def embedder(provider: ProviderServer) -> Iterator[OpenAIEmbedder]:
    """An embedder that asks it; every chunk fits into one window."""
    made = embedder_of(provider)
    yield made
    made.close()


@pytest.fixture
def make(tmp_path: Path, embedder: OpenAIEmbedder) -> Iterator[Make]:
    """Makes engines with that embedder, on one cache, and closes them."""
    with ExitStack() as engines:

        def make(**options: Any) -> DigestEngine:
            given = {"llm": None, "embedder": embedder, "cache": tmp_path / "digest.db", **options}
            return engines.enter_context(DigestEngine(**given))

        yield make
    assert workers() == []  # whatever a test does: nothing is left running


def embedder_of(provider: ProviderServer, **options: Any) -> OpenAIEmbedder:
    given = {"dimensions": 8, "backoff": (0.01, 0.02), **options}
    return OpenAIEmbedder("text-embedding-3-small", base_url=provider.url("openai"), **given)


def workers() -> list[str]:
    """The threads of engines that are alive, those that are just ending apart."""
    names = ("firstlight-call", "firstlight-digest")
    for thread in threading.enumerate():
        if thread.name in names:
            thread.join(5)
    return [thread.name for thread in threading.enumerate() if thread.name in names]
