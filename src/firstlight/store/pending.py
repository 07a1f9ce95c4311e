"""The chunks that wait for a vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from firstlight.store.outline import load_outline

if TYPE_CHECKING:
    import sqlite3

_SAMPLE = 64  # chunks


class Pending(NamedTuple):
    """A chunk that waits for its vector, with all that is embedded of it."""

    chunk: int
    input_hash: bytes
    title: str
    path: str
    headings: tuple[str, ...]
    text: str
    language: str


def mean_pending_size(connection: sqlite3.Connection, embedder: int) -> float:
    """Return how many UTF-8 bytes the text of a chunk that waits has, by the newest few of them."""
    sizes = connection.execute(
        "SELECT length(CAST(text AS BLOB)) FROM chunks c "
        "WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE embedder = ? AND chunk = c.id) "
        "ORDER BY c.id DESC LIMIT ?",
        (embedder, _SAMPLE),
    ).fetchall()
    return sum(size for (size,) in sizes) / len(sizes) if sizes else 0.0


def read_pending(connection: sqlite3.Connection, embedder: int, *, after: int, limit: int) -> list[Pending]:
    """Return chunks that wait, by their ids; the next call goes on `after` the last one."""
    rows = connection.execute(
        "SELECT c.id, c.input_hash, d.title, d.path, c.headings, c.text, d.language "
        "FROM chunks c CROSS JOIN documents d ON d.id = c.document WHERE c.id > ? "
        "AND NOT EXISTS (SELECT 1 FROM vectors WHERE embedder = ? AND chunk = c.id) "
        "ORDER BY c.id LIMIT ?",
        (after, embedder, limit),
    )
    return [_pending(*row) for row in rows]


def read_wanted_pending(connection: sqlite3.Connection, embedder: int, *, limit: int) -> list[Pending]:
    """Return chunks that wait and that questions hit, the newest question's first."""
    rows = connection.execute(
        "SELECT c.id, c.input_hash, d.title, d.path, c.headings, c.text, d.language "
        "FROM wanted w CROSS JOIN chunks c ON c.id = w.chunk CROSS JOIN documents d ON d.id = c.document "
        "WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE embedder = ? AND chunk = c.id) "
        "ORDER BY w.asked_ns DESC, c.id LIMIT ?",
        (embedder, limit),
    )
    return [_pending(*row) for row in rows]


def _pending(  # noqa: PLR0917
    chunk: int, input_hash: bytes, title: str, path: str, headings: str, text: str, language: str
) -> Pending:
    return Pending(chunk, input_hash, title, path, load_outline(headings).headings, text, language)
