"""`sync --plan` says what the provider will be sent: to the token, since tokens are paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.embed.provider_server import ProviderServer

from firstlight.corpus import upgrade
from firstlight.text.tokens import est_tokens

from .embedder import Words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conftest import Docs


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with ProviderServer(dimensions=64) as server:
        monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "openai:test-model")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url("openai"))
        yield server


def sent(server: ProviderServer) -> list[str]:
    """Return the texts of documents that went out; no question has a line's end."""
    return [text for text in server.inputs if "\n" in text]


def long_page(name: str, sections: int) -> str:
    return "".join(
        f"# Section {part} of {name}\n\n" + f"Words of {name}, part {part}. " * 70 + "\n\n"
        for part in range(sections)
    )


def check(docs: Docs, server: ProviderServer) -> int:
    """Plan, then do it: what is planned is what is sent; return how many chunks that was."""
    before = len(sent(server))
    with docs.open() as corpus:
        spent = corpus.status().tokens
        plan = corpus.plan()
        corpus.sync(embed=True)
        texts = sent(server)[before:]
        assert plan.tokens_to_embed == sum(map(est_tokens, texts))
        assert corpus.status().tokens == spent + plan.tokens_to_embed
        assert corpus.plan().tokens_to_embed == corpus.plan().chunks_to_embed == 0
        return plan.chunks_to_embed


def test_a_plan_is_what_the_provider_is_sent(docs: Docs, provider: ProviderServer) -> None:
    docs.write("a.md", long_page("a", 8), age=100)
    docs.write("b.md", "---\ntitle: Bees\n---\nshort words\n", age=100)
    docs.write("c.md", "---\ntitle: Bees\n---\nshort words\n", age=100)
    chunks = check(docs, provider)
    assert len(sent(provider)) > chunks  # some are longer than the model takes: in two windows
    docs.write("a.md", long_page("a", 8).replace("Words of a, part 3", "Other words of a, part 3", 1))
    assert 1 <= check(docs, provider) <= 4
    (docs.root / "a.md").rename(docs.root / "moved.md")
    (docs.root / "b.md").unlink()
    docs.write("d.md", "short words\n")
    assert check(docs, provider) == 1


def test_what_is_indexed_and_waits_is_planned_for_too(docs: Docs, provider: ProviderServer) -> None:
    docs.write("a.md", long_page("a", 8), age=100)
    docs.write("b.md", "# B\n\nwords of b\n", age=100)
    docs.write("c.md", "# B\n\nwords of b\n", age=100)
    docs.write("d.md", "# D\n\nwords of d\n", age=100)
    with docs.open() as corpus:
        first = corpus.plan()
        corpus.sync()
        second = corpus.plan()
        counts = (first.chunks_to_embed, first.tokens_to_embed)
        assert counts == (second.chunks_to_embed, second.tokens_to_embed)
        assert counts[1] > 0
    (docs.root / "d.md").unlink()
    docs.write("a.md", long_page("a", 9))
    check(docs, provider)


def test_what_the_cache_has_costs_nothing(docs: Docs, provider: ProviderServer) -> None:
    docs.write("a.md", "# A\n\nwords of a\n", age=100)
    with docs.open() as corpus:
        corpus.sync(embed=True)
    docs.write("b.md", "# B\n\nwords of b\n", age=100)
    with docs.open(state=docs.root.parent / "elsewhere") as corpus:
        assert corpus.plan().chunks_to_embed == 1


def test_without_an_embedder_nothing_is_planned(docs: Docs) -> None:
    docs.write("a.md", "# A\n\nwords of a\n")
    with docs.open() as corpus:
        plan = corpus.plan()
        assert (plan.added, plan.chunks_to_embed, plan.tokens_to_embed) == (("a.md",), 0, 0)


def test_a_plan_writes_nothing_and_asks_nobody(docs: Docs, provider: ProviderServer) -> None:
    docs.write("a.md", "# A\n\nwords of a\n")
    with docs.open() as corpus:
        assert corpus.plan().chunks_to_embed == 1
        assert not corpus.state.exists()
    assert provider.calls == []


def test_a_sync_says_how_much_is_left_to_embed(docs: Docs) -> None:
    docs.write("a.md", "# A\n\nwords of a\n")
    with docs.open(embedder=Words()) as corpus:
        report = corpus.sync()
        assert report.chunks_to_embed == 1
        assert 0 < report.tokens_to_embed <= est_tokens("A\n# A\n\nwords of a\n")
        corpus.wait_background(30)
        report = corpus.sync()
        assert (report.chunks_to_embed, report.tokens_to_embed) == (0, 0)


def test_languages_that_the_model_does_not_know_cost_nothing(docs: Docs) -> None:
    docs.write("zh.md", "漢字だけのページです。" * 20)
    docs.write("en.md", "words that the model knows\n")
    with docs.open(embedder=Words(languages=frozenset({"en"}))) as corpus:
        assert corpus.plan().chunks_to_embed == 1


def test_working_threads_are_bounded_by_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert upgrade._MOST_THREADS <= 8
