from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firstlight import Corpus

    from .conftest import Docs

WISH = {"lexical": {"fts5": True}}


def ask(corpus: Corpus, question: str) -> list[str]:
    """What another SQLite client does."""
    connection = sqlite3.connect(corpus.state / "corpus.db")
    rows = connection.execute(
        "SELECT d.path, bm25(chunks_fts) FROM chunks_fts JOIN chunks c ON c.id = chunks_fts.rowid "
        "JOIN documents d ON d.id = c.document WHERE chunks_fts MATCH ? ORDER BY rank",
        (question,),
    ).fetchall()
    connection.close()
    assert all(score < 0 for _, score in rows)
    return [path for path, _ in rows]


def has_table(corpus: Corpus) -> bool:
    connection = sqlite3.connect(corpus.state / "corpus.db")
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
    connection.close()
    return any(name.startswith("chunks_fts") for name in names)


def test_other_clients_get_a_table_that_follows_every_sync(handbook: Docs) -> None:
    with handbook.open(config=WISH) as corpus:
        corpus.sync()
        assert ask(corpus, "draining AND node") == ["ops/drain.md"]
        handbook.write("ops/drain.md", "nothing of the sort\n")
        handbook.write("new.md", "drain every node\n")
        corpus.sync()
        assert ask(corpus, "drain AND node") == ["new.md"]
        corpus.sync(rebuild=True)
        assert ask(corpus, "drain AND node") == ["new.md"]
        assert corpus.verify().ok
        assert corpus.sync().generation == corpus.status().generation


def test_the_table_comes_and_goes_with_the_setting(handbook: Docs) -> None:
    handbook.age()
    with handbook.open() as corpus:
        corpus.sync()
        assert not has_table(corpus)
    with handbook.open(config=WISH) as corpus:
        report = corpus.sync()
        assert (report.unchanged, report.generation) == (3, 1)
        assert ask(corpus, "cordon") == ["ops/drain.md"]
        before = (corpus.state / "corpus.db").read_bytes()
        corpus.sync()
        assert (corpus.state / "corpus.db").read_bytes() == before
    with handbook.open() as corpus:
        corpus.sync()
        assert not has_table(corpus)
        assert corpus.search("cordon")
