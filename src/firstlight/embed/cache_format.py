"""The tables of the vector cache, their version, and how the file is made and put away."""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from firstlight.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

APPLICATION_ID = 0x66697276  # "firv": tells our file from any other SQLite file
VERSION = 2
LOGS = ("-wal", "-shm")

_PAGE_BYTES = 8192  # five vectors of 384 dimensions; 4096 holds two, and leaves a quarter empty

# A space is what may be compared and shared: one model's vectors of one kind, for one class of callers. A
# vector has as many rows as its text has windows. Vectors lie apart, so that a touch writes no page of them.
_TABLES = """
CREATE TABLE spaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint TEXT NOT NULL,
    caller_class TEXT NOT NULL,
    kind TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (fingerprint, caller_class, kind)
);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    space INTEGER NOT NULL,
    hash BLOB NOT NULL,
    used INTEGER NOT NULL,
    windows INTEGER NOT NULL,
    UNIQUE (space, hash)
);
CREATE INDEX entries_used ON entries (used);
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY,
    vector BLOB NOT NULL,
    checksum INTEGER NOT NULL DEFAULT 0
);
"""


class UnfitError(Exception):
    """The file is damaged, foreign or outdated; `is_ours` where nothing but vectors goes with it."""

    def __init__(self, reason: str, *, is_ours: bool) -> None:
        super().__init__(reason)
        self.is_ours = is_ours


class Format(NamedTuple):
    """What a cache's file has to be.

    Attributes:
        name: What a person calls the cache.
        application: What tells its file from any other SQLite file.
        version: Of its tables.
        tables: The statements that make them.
        check: Raises an UnfitError for a file that a new one may replace, a StoreError for one that stays.
    """

    name: str
    application: int
    version: int
    tables: str
    check: Callable[[sqlite3.Connection], None]


def check_format(connection: sqlite3.Connection) -> None:
    """Raise an UnfitError for a file that a new one may replace, a StoreError for one from the future."""
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID:
        raise UnfitError("this is no vector cache", is_ours=False)
    if version > VERSION:
        raise StoreError(f"format {version} is newer than this firstlight knows ({VERSION}); upgrade it")
    if version == 1:
        _add_checksums(connection)
    elif version < VERSION:
        raise UnfitError(f"format {version} is of an earlier firstlight", is_ours=True)


def _add_checksums(connection: sqlite3.Connection) -> None:
    """Bring the tables from version 1 to 2, unless another process has meanwhile."""
    connection.create_function("crc32", 1, zlib.crc32, deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] == 1:
        connection.execute("ALTER TABLE vectors ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
        connection.execute("UPDATE vectors SET checksum = crc32(vector)")
        connection.execute("PRAGMA user_version = 2")
    connection.execute("COMMIT")


VECTORS = Format("vector cache", APPLICATION_ID, VERSION, _TABLES, check_format)


def create(path: Path, form: Format = VECTORS) -> None:
    """Make an empty cache that nobody else can read; it appears under its name only when it is whole."""
    fresh = path.with_name(f"{path.name}.new")
    _remove(fresh)
    fresh.with_name(f"{fresh.name}-journal").unlink(missing_ok=True)
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(fresh, isolation_level=None)
    try:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.executescript(f"BEGIN;{form.tables}COMMIT;")
        connection.execute(f"PRAGMA application_id = {form.application}")
        connection.execute(f"PRAGMA user_version = {form.version}")
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
    _remove(path)  # with its log, which the new file must not meet
    fresh.replace(path)


def put_aside(path: Path) -> Path:
    """Move a file away that may be somebody's, and return its new place."""
    names = (f"{path.name}.aside{number or ''}" for number in range(1000))
    place = next(place for name in names if not (place := path.with_name(name)).exists())
    for suffix in ("", *LOGS):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(place.with_name(place.name + suffix))
    return place


def _remove(path: Path) -> None:
    for suffix in (*LOGS, ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
