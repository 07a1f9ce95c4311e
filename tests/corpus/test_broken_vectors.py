"""Vectors, and what makes them, in any state of disrepair: told, mended, and never in the way of words."""

from __future__ import annotations

import logging
import sqlite3
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from tests.embed.provider_server import ProviderServer

from firstlight.errors import ConfigError, FirstlightError, StoreError

from .embedder import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstlight import Corpus

    from .conftest import Docs

QUESTION = "buy an automobile"


@pytest.fixture
def pages(docs: Docs) -> Docs:
    for number in range(12):
        docs.write(f"{number:02}.md", f"a car to purchase at shop{number}, or a vehicle\n", age=100)
    return docs


def answer(corpus: Corpus) -> list[dict[str, object]]:
    return [hit.to_dict() for hit in corpus.search(QUESTION)]


def change(corpus: Corpus, statement: str, *values: object) -> None:
    connection = sqlite3.connect(corpus.state / "corpus.db")
    connection.execute(statement, values)
    connection.commit()
    connection.close()


def flip_a_sign(corpus: Corpus) -> None:
    """Turn one number of a vector around: it stays of unit length."""
    connection = sqlite3.connect(corpus.state / "corpus.db")
    number, vector = connection.execute("SELECT id, vector FROM vectors ORDER BY id LIMIT 1").fetchone()
    connection.close()
    numbers = list(struct.unpack(f"<{len(vector) // 4}f", vector))
    numbers[3] = -numbers[3]
    change(
        corpus,
        "UPDATE vectors SET vector = ? WHERE id = ?",
        struct.pack(f"<{len(numbers)}f", *numbers),
        number,
    )


def test_a_vector_with_one_wrong_bit_is_found_and_mended(pages: Docs) -> None:
    embedder = Words()
    with pages.open(embedder=embedder, background=False) as corpus:
        corpus.sync(embed=True)
        before, made = answer(corpus), len(embedder.texts)
        flip_a_sign(corpus)
        (finding,) = corpus.verify().findings
        assert (finding.what, finding.reason) == ("vector", "its vector is not as it was written")
        corpus.verify(repair=True)
        corpus.sync(embed=True)
        assert corpus.verify().ok
        assert answer(corpus) == before
        assert len(embedder.texts) == made  # the cache had it


def test_a_copied_vector_is_as_sound_as_the_first(pages: Docs) -> None:
    with pages.open(embedder=Words(), background=False) as corpus:
        corpus.sync(embed=True)
        (pages.root / "00.md").rename(pages.root / "moved.md")
        pages.write("twin.md", (pages.root / "01.md").read_bytes())
        corpus.sync()
        assert corpus.verify().ok


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE embedders SET dimensions = 10",
        "UPDATE embedders SET dimensions = 1000000000",
        "UPDATE embedders SET dimensions = ''",
        "UPDATE embedders SET floor = -1e308",
        "UPDATE embedders SET floor = 'low'",
        "UPDATE embedders SET floor = NULL",
        "UPDATE embedders SET name = x'ff', fingerprint = x'ff'",
        "UPDATE embedders SET role = 'king'",
        "UPDATE vectors SET windows = -5",
        "UPDATE vectors SET id = -id",
        "UPDATE vectors SET reason = 'none'",
        "UPDATE vectors SET checksum = checksum + 1",
        "UPDATE vectors SET vector = x''",
        "INSERT INTO errors VALUES (x'ff', x'ff', 0, 0, NULL, '')",
        "DELETE FROM lease",
    ],
)
def test_forged_rows_are_never_a_surprise_and_a_repair_mends_them(pages: Docs, statement: str) -> None:
    with pages.open(embedder=Words(floor=0.3), background=False) as corpus:
        corpus.sync(embed=True)
        before = answer(corpus)
        change(corpus, statement)
        uses = (
            lambda: corpus.search(QUESTION),
            lambda: corpus.search(QUESTION, mode="vector"),
            lambda: corpus.status().to_dict(),
            corpus.plan,
            corpus.migration_status,
            lambda: corpus.wait_background(5),
        )
        for use in uses:
            with suppress(FirstlightError):
                use()
        corpus.verify(repair=True)
        corpus.sync(embed=True)
        assert corpus.verify().ok
        assert answer(corpus) == before


def test_what_ends_the_worker_ends_it_once_and_tells_no_text(
    pages: Docs, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []

    class Abrupt(BaseException):
        pass

    def end(texts: Sequence[str], kind: str) -> None:
        calls.append(len(texts))
        raise Abrupt(texts[0])

    embedder = Words()
    embedder.before = end
    with caplog.at_level(logging.DEBUG), pages.open(embedder=embedder, background=False) as corpus:
        corpus.sync()
        assert not corpus.wait_background(timeout=30)
        assert len(calls) == 1
        assert "Abrupt" in caplog.text
        assert "shop" not in caplog.text
        embedder.before = lambda texts, kind: None
        assert corpus.wait_background(timeout=30)  # it can be asked for again


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", None),
        ("name", b"words"),
        ("name", "half a pair: \ud800"),
        ("dimensions", -1),
        ("dimensions", 10**9),
        ("dimensions", "many"),
        ("max_tokens", 0),
        ("max_tokens", float("nan")),
        ("languages", "en"),
        ("languages", 5),
        ("limits", (5, 5)),
        ("floor", "low"),
        ("split", 5),
        ("embed", None),
    ],
)
def test_an_object_that_is_no_embedder_is_refused_with_what_is_wrong(
    pages: Docs, name: str, value: object
) -> None:
    embedder = Words()
    setattr(embedder, name, value)
    with pages.open(embedder=embedder, background=False) as corpus:
        corpus.sync()
        with pytest.raises(ConfigError, match=f"'{name}'"):
            corpus.search(QUESTION)
        assert corpus.search("vehicle", mode="bm25")


@pytest.mark.parametrize("floor", [float("nan"), float("inf"), -2, 1.0])
def test_a_floor_that_no_match_can_have_is_refused_and_not_waited_for(pages: Docs, floor: float) -> None:
    with pages.open(embedder=Words(floor=floor), background=False) as corpus:
        with pytest.raises(ConfigError, match="floor"):
            corpus.sync(embed=True)
        with pytest.raises(ConfigError, match="floor"):
            corpus.wait_background(timeout=30)
        assert corpus.search(QUESTION).mode == "bm25"


@pytest.mark.parametrize("fingerprint", ["", None, "half a pair: \ud800", "x" * 100_000])
def test_a_fingerprint_that_is_none_is_refused(pages: Docs, fingerprint: str) -> None:
    embedder = Words()
    embedder.fingerprint = fingerprint
    with pages.open(embedder=embedder, background=False) as corpus:
        with pytest.raises(ConfigError, match="fingerprint"):
            corpus.sync(embed=True)
        assert corpus.search(QUESTION).mode == "bm25"


def test_the_tables_of_an_index_that_a_folder_brings_along_may_not_act(pages: Docs) -> None:
    with pages.open(state=pages.root / ".firstlight", embedder=Words(), background=False) as corpus:
        corpus.sync(embed=True)
        change(corpus, "CREATE TRIGGER evil AFTER INSERT ON vectors BEGIN DELETE FROM chunks; END")
    with pages.open(state=pages.root / ".firstlight", embedder=Words(), background=False) as corpus:
        with pytest.raises(StoreError, match="evil"):
            corpus.search(QUESTION)
        corpus.sync(rebuild=True, embed=True)
        assert corpus.search(QUESTION).mode == "hybrid"


def test_an_index_that_a_folder_brings_along_names_no_provider_to_ask(
    pages: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProviderServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url("openai"))
        with pages.open(state=pages.root / ".firstlight", embedder=Words(), background=False) as corpus:
            corpus.sync(embed=True)
            change(corpus, "UPDATE embedders SET spec = 'openai:words', fingerprint = 'openai:words'")
            with pytest.raises(ConfigError, match="FIRSTLIGHT_EMBEDDER=openai:words"):
                corpus.migrate(Words("other"), golden=[QUESTION], yes=True)
        assert not server.calls
