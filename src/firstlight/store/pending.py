"""The chunks that wait for a vector."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from firstlight.store.outline import load_outline

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection


class Pending(NamedTuple):
    """A chunk that waits for its vector, with all that is embedded of it."""

    chunk: int
    input_hash: bytes
    title: str
    path: str
    headings: tuple[str, ...]
    text: str
    language: str


def count_pending(
    connection: sqlite3.Connection,
    embedder: int,
    *,
    without: Collection[str] = (),
    sample: int | None = None,
) -> tuple[int, int]:
    """Return how many chunks wait, and the UTF-8 bytes of their texts.

    Args:
        connection: A read transaction.
        embedder: Its id.
        without: Paths of documents that do not count.
        sample: From how many texts, spread over all, the bytes are estimated; None reads them all.
    """
    ids = [
        chunk
        for (chunk,) in connection.execute(
            "SELECT id FROM chunks INDEXED BY chunks_document "
            "EXCEPT SELECT chunk FROM vectors WHERE embedder = ? "
            "EXCEPT SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document "
            "WHERE d.path IN (SELECT value FROM json_each(?))",
            (embedder, json.dumps(list(without))),
        )
    ]
    some = ids if sample is None or len(ids) <= sample else ids[:: len(ids) // sample]
    size = connection.execute(
        "SELECT coalesce(sum(length(CAST(text AS BLOB))), 0) FROM chunks "
        "WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(some),),
    ).fetchone()[0]
    return len(ids), round(size * len(ids) / max(1, len(some)))


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
