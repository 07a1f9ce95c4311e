"""An FTS5 table of the chunks, for other SQLite clients; firstlight itself never asks it.

It holds no text of its own (external content), and triggers keep it within every commit. `detail=full`, the
default, stays: with less, `bm25()` is silently 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight.store.meta import write_meta

if TYPE_CHECKING:
    import sqlite3

_CREATE = (
    """
    CREATE VIRTUAL TABLE chunks_fts
    USING fts5(text, content='chunks', content_rowid='id', tokenize='porter unicode61')
    """,
    """
    CREATE TRIGGER chunks_fts_insert AFTER INSERT ON chunks
    BEGIN INSERT INTO chunks_fts (rowid, text) VALUES (new.id, new.text); END
    """,
    """
    CREATE TRIGGER chunks_fts_delete AFTER DELETE ON chunks
    BEGIN INSERT INTO chunks_fts (chunks_fts, rowid, text) VALUES ('delete', old.id, old.text); END
    """,
    "INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild')",
)
STATEMENTS = tuple(map(str.strip, _CREATE))
_DROP = ("DROP TRIGGER chunks_fts_insert", "DROP TRIGGER chunks_fts_delete", "DROP TABLE chunks_fts")


def has_fts5(connection: sqlite3.Connection) -> bool:
    """Whether the table is kept."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'chunks_fts'").fetchone()
    return found is not None


def keep_fts5(connection: sqlite3.Connection, *, keep: bool) -> None:
    """Make the table of all chunks, or drop it, inside the caller's transaction."""
    if keep != has_fts5(connection):
        for statement in _CREATE if keep else _DROP:
            connection.execute(statement)
        write_meta(connection, fts5=int(keep))
