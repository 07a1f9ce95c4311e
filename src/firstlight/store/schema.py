"""The tables of `corpus.db`, their version, and the steps from one version to the next.

Rows of `documents` and `chunks` never change their meaning: a document whose bytes change gets a new row,
new chunks and new ids. Ids are never used twice (AUTOINCREMENT): what was derived from a row can be kept by
its id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight.errors import StoreError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

APPLICATION_ID = 0x66697273  # "firs": tells our file from any other SQLite file
VERSION = 5

# `input_hash` is the sha256 of what is embedded of a chunk: vectors follow it to wherever that text goes. A
# row of `vectors` has a vector (`dimensions` float32, little-endian, of unit length), or the reason why
# there is none; `windows` says in how many pieces its text was embedded, and `checksum` what the vector was
# when it was written. Rows are never updated, and while their chunk lives, vectors are deleted only in a
# commit that raises the generation. An embedder's role is 'serving', 'shadow' while a migration fills it, or
# 'previous' after it.

# The text of a chunk stands last in its row, so that everything else is read without touching the overflow
# pages that hold it.
_TABLES = """
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value
) WITHOUT ROWID;

CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    hash BLOB NOT NULL,
    recipe TEXT NOT NULL,
    language TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    title TEXT NOT NULL,
    payload TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE INDEX documents_language ON documents (language);

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents (id),
    position INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    input_hash BLOB NOT NULL,
    headings TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE UNIQUE INDEX chunks_document ON chunks (document, position);
CREATE INDEX chunks_content ON chunks (content_hash);

CREATE TABLE segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    first_chunk INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    tombstones BLOB,
    documents BLOB NOT NULL,
    file TEXT,
    data BLOB
);

CREATE TABLE embedders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    role TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    floor REAL,
    tokens INTEGER NOT NULL,
    trouble TEXT
);

CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    embedder INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    input_hash BLOB NOT NULL,
    windows INTEGER NOT NULL,
    reason TEXT,
    checksum INTEGER,
    vector BLOB
);
CREATE UNIQUE INDEX vectors_chunk ON vectors (embedder, chunk);
CREATE INDEX vectors_input ON vectors (input_hash, embedder);
CREATE INDEX vectors_failed ON vectors (embedder, reason) WHERE reason IS NOT NULL;
CREATE INDEX vectors_windows ON vectors (embedder, windows) WHERE windows > 1;

CREATE TABLE wanted (
    chunk INTEGER PRIMARY KEY,
    asked_ns INTEGER NOT NULL
);

CREATE TABLE lease (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    token INTEGER NOT NULL,
    owner TEXT NOT NULL,
    expires_ns INTEGER NOT NULL,
    rate REAL NOT NULL
);
INSERT INTO lease VALUES (1, 0, '', 0, 0.0);

CREATE TABLE errors (
    path TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    hash BLOB,
    recipe TEXT NOT NULL
);
"""

# As SQLite keeps them, to compare with.
STATEMENTS = tuple(filter(None, map(str.strip, _TABLES.split(";"))))

# Version n -> the step that makes it n + 1; each runs in the transaction of the first write after an upgrade.
MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {}


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of the current version in an empty file."""
    connection.executescript(f"BEGIN;{_TABLES}COMMIT;")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def check_format(connection: sqlite3.Connection, path: Path) -> None:
    """Raise a StoreError where the file is not ours, or comes from the future."""
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID or version < 1:
        raise NotOursError(
            f"{path}: this is not an index of firstlight; `firstlight sync --rebuild` replaces it, "
            "or name another folder with --state"
        )
    if version > VERSION:
        raise StoreError(
            f"{path}: format {version} is newer than this firstlight knows ({VERSION}); upgrade firstlight, "
            "or name another folder with --state"
        )
    if any(step not in MIGRATIONS for step in range(version, VERSION)):
        raise OutdatedError(
            f"{path}: format {version} is of an earlier firstlight; `firstlight sync` makes it anew"
        )


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring the tables to the current version, inside the caller's transaction."""
    for step in range(version, VERSION):
        MIGRATIONS[step](connection)
    if version < VERSION:
        connection.execute(f"PRAGMA user_version = {VERSION}")


class NotOursError(StoreError):
    """The file is damaged, or was never an index of ours; a rebuild replaces it."""


class OutdatedError(NotOursError):
    """The file is of an earlier format that no step leads on from; the next sync makes it anew."""
