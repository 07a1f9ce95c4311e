"""The rows of documents and chunks: what sync writes, and what a search reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from firstlight.store.outline import load_outline
from firstlight.store.payload import load_payload

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from firstlight.store.outline import Outline
    from firstlight.text.types import Value

    Fields = Mapping[str, Value]

_Key = TypeVar("_Key", int, bytes)

# SQLite bounds the variables of a statement (999 in old builds). Only their question marks are ever put
# into its text.
_MAX_VARIABLES = 500


class ManifestRow(NamedTuple):
    """What the manifest knows of a file: enough to tell whether it changed."""

    path: str
    document: int
    size: int
    mtime_ns: int
    hash: bytes
    recipe: str


class ErrorRow(NamedTuple):
    """A file that could not be indexed; without `hash` it could not even be read."""

    path: str
    reason: str
    size: int
    mtime_ns: int
    hash: bytes | None
    recipe: str


class DocumentRow(NamedTuple):
    """A row of `documents`, in the order of its columns."""

    id: int
    path: str
    size: int
    mtime_ns: int
    hash: bytes
    recipe: str
    language: str
    chunks: int
    title: str
    payload: str
    checksum: int = 0


class ChunkRow(NamedTuple):
    """A row of `chunks`, in the order of its columns."""

    id: int
    document: int
    position: int
    start: int
    end: int
    line_start: int
    line_end: int
    content_hash: bytes
    input_hash: bytes
    headings: str
    text: str


class Place(NamedTuple):
    """Where a chunk stands: what ranking needs of it."""

    chunk: int
    document: int
    path: str
    position: int
    start: int
    end: int
    content_hash: bytes


class Passage(NamedTuple):
    """A chunk with its document: what a hit shows."""

    chunk: int
    document: int
    path: str
    title: str
    language: str
    payload: str
    position: int
    start: int
    end: int
    line_start: int
    line_end: int
    content_hash: bytes
    outline: Outline
    text: str


def read_manifest(connection: sqlite3.Connection) -> list[ManifestRow]:
    """Return the whole manifest."""
    rows = connection.execute("SELECT path, id, size, mtime_ns, hash, recipe FROM documents").fetchall()
    return list(map(ManifestRow._make, rows))


def read_stats(connection: sqlite3.Connection, recipe: str) -> list[tuple[str, int, int, int]]:
    """Return (path, size, mtime_ns, 1 where made by `recipe` else 0) of every document.

    Half of the whole manifest's time, and all that a sync with nothing to do needs.
    """
    return connection.execute("SELECT path, size, mtime_ns, recipe = ? FROM documents", (recipe,)).fetchall()


def read_errors(connection: sqlite3.Connection) -> list[ErrorRow]:
    """Return the files that could not be indexed at the last sync, by path; what is damaged is left out.

    A file that is left out is read again by the next sync.
    """
    rows = connection.execute(
        "SELECT path, reason, size, mtime_ns, hash, recipe FROM errors "
        "WHERE typeof(path) = 'text' AND typeof(reason) = 'text' ORDER BY path"
    )
    return [ErrorRow(*row) for row in rows]


def count_documents(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many documents and chunks there are."""
    documents, chunks = connection.execute(
        "SELECT count(*), coalesce(sum(chunks), 0) FROM documents"
    ).fetchone()
    return documents, chunks


def read_languages(connection: sqlite3.Connection) -> list[str]:
    """Return the documents' languages, the most frequent first."""
    rows = connection.execute(
        "SELECT language FROM documents GROUP BY language ORDER BY count(*) DESC, language"
    )
    return [language for (language,) in rows]


def next_ids(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the first free ids of documents and chunks; freed ones are never given out again."""
    used = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    return used.get("documents", 0) + 1, used.get("chunks", 0) + 1


def insert_documents(
    connection: sqlite3.Connection, documents: Iterable[DocumentRow], chunks: Iterable[ChunkRow]
) -> None:
    """Add documents, and their chunks."""
    connection.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", documents)
    connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", chunks)


def delete_documents(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Remove documents, and all their chunks."""
    connection.executemany("DELETE FROM chunks WHERE document = ?", ((each,) for each in ids))
    connection.executemany("DELETE FROM documents WHERE id = ?", ((each,) for each in ids))


def touch_documents(connection: sqlite3.Connection, stats: Iterable[tuple[int, int, int]]) -> None:
    """Record a new (size, mtime_ns) for document ids whose bytes are the same."""
    connection.executemany("UPDATE documents SET size = ?, mtime_ns = ? WHERE id = ?", stats)


def replace_errors(connection: sqlite3.Connection, errors: Iterable[ErrorRow]) -> None:
    """Make `errors` the files that could not be indexed."""
    connection.execute("DELETE FROM errors")
    connection.executemany("INSERT INTO errors VALUES (?, ?, ?, ?, ?, ?)", errors)


def read_places(connection: sqlite3.Connection, chunks: Sequence[int]) -> list[Place]:
    """Return where `chunks` stand, in no particular order."""
    return [
        Place(*row)
        for marks, some in _portions(chunks)
        for row in connection.execute(
            'SELECT c.id, c.document, d.path, c.position, c.start, c."end", c.content_hash FROM chunks c '
            f"JOIN documents d ON d.id = c.document WHERE c.id IN ({marks})",
            some,
        )
    ]


def read_passages(connection: sqlite3.Connection, chunks: Sequence[int]) -> dict[int, Passage]:
    """Return `chunks` with their texts and documents, by id."""
    rows = (
        row
        for marks, some in _portions(chunks)
        for row in connection.execute(
            "SELECT c.id, c.document, d.path, d.title, d.language, d.payload, c.position, c.start, "
            'c."end", c.line_start, c.line_end, c.content_hash, c.headings, c.text '
            f"FROM chunks c JOIN documents d ON d.id = c.document WHERE c.id IN ({marks})",
            some,
        )
    )
    return {row[0]: Passage._make((*row[:-2], load_outline(row[-2]), row[-1])) for row in rows}


def read_texts(connection: sqlite3.Connection, chunks: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield (chunk, text) for `chunks`."""
    for marks, some in _portions(chunks):
        yield from connection.execute(f"SELECT id, text FROM chunks WHERE id IN ({marks})", some)


def read_twins(connection: sqlite3.Connection, hashes: Sequence[bytes]) -> list[tuple[bytes, int, str]]:
    """Return (content hash, document, path) of every chunk whose text has one of `hashes`."""
    return [
        row
        for marks, some in _portions(hashes)
        for row in connection.execute(
            "SELECT c.content_hash, d.id, d.path FROM chunks c JOIN documents d ON d.id = c.document "
            f"WHERE c.content_hash IN ({marks})",
            some,
        )
    ]


def read_fields(
    connection: sqlite3.Connection, *, known: Mapping[int, Fields] | None = None
) -> dict[int, Fields]:
    """Return the fields that a filter may ask about, by document.

    They are the front matter's, and `path`; and, unless the front matter has its own, `title`, `language` and
    `extension`.

    Args:
        connection: A read transaction.
        known: Fields read before: a document's row never changes, so only those of new ones are read.
    """
    ids = [number for (number,) in connection.execute("SELECT id FROM documents ORDER BY id")]
    fields = {} if known is None else {number: known[number] for number in ids if number in known}
    missing = [number for number in ids if number not in fields]
    for marks, some in _portions(missing):
        rows = connection.execute(
            f"SELECT id, path, title, language, payload FROM documents WHERE id IN ({marks})",
            some,
        )
        fields.update((row[0], _fields(*row[1:])) for row in rows)
    return fields


def _fields(path: str, title: str, language: str, payload: str) -> Fields:
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    own: Fields = {"title": title, "language": language, "extension": name[dot:].lower() if dot > 0 else ""}
    return {**own, **load_payload(payload), "path": path}


def _portions(values: Sequence[_Key]) -> Iterator[tuple[str, Sequence[_Key]]]:
    """Yield `values` in portions that one statement may carry, each with its question marks."""
    for begin in range(0, len(values), _MAX_VARIABLES):
        some = values[begin : begin + _MAX_VARIABLES]
        yield ",".join("?" * len(some)), some
