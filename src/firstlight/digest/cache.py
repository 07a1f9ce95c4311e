"""The digest cache: answers that need not be made again. It holds hashes, answers and offsets.

What it cannot read is missing and what it cannot write is not kept: it never stops an answer.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from firstlight.digest.stored import read, written
from firstlight.embed.cache_file import BUSY_SECONDS, CacheFile
from firstlight.embed.cache_format import Format, UnfitError
from firstlight.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from firstlight.digest.types import Digest

__all__ = ["MAX_BYTES", "DigestCache", "DigestKey", "digest_key"]

MAX_BYTES = 64_000_000
_APPLICATION_ID = 0x66697264  # "fird"
_VERSION = 1
# Raised whenever the same question would be answered from other passages, or asked in other words.
_RECIPE = "2"
_KEPT_SHARE = 0.9
# An entry's last use is written down once in so many seconds.
_TOUCH_SECONDS = 3600
_TABLE = """
CREATE TABLE digests (
    key BLOB PRIMARY KEY,
    used INTEGER NOT NULL,
    size INTEGER NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX digests_used ON digests (used);
"""
# What is called so, and is no SQLite file, is a damaged one; anything else may be somebody's notes.
_DATABASES = (".db", ".sqlite", ".sqlite3")

_log = logging.getLogger(__name__)


class DigestKey(NamedTuple):
    """What makes two questions one: the document, what is asked, who answers, and for whom."""

    content_hash: bytes
    question: str
    embedder: str
    llm: str
    caller_class: str


def digest_key(key: DigestKey) -> bytes:
    """Return what a digest is kept by; nothing of the question can be read from it."""
    parts = [key.content_hash, *(part.encode("utf-8", "surrogatepass") for part in (*key[1:], _RECIPE))]
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()


class DigestCache:
    """Digests by key, in one SQLite file; safe for many threads and processes; opened when it is used.

    A file that is damaged is put aside, or dropped, and made anew, with one warning.

    Args:
        path: The file; made on the first write.
        max_bytes: The bytes of digests beyond which what was not used for longest is dropped.
        clock: The time in seconds.
    """

    def __init__(
        self, path: Path, *, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.time
    ) -> None:
        if max_bytes < 1:
            raise ValueError(f"max_bytes is {max_bytes}; it has to be 1 or more")
        self.path = path
        self.max_bytes = max_bytes
        self._clock = clock
        form = Format("digest cache", _APPLICATION_ID, _VERSION, _TABLE, partial(_check, path))
        self._file = CacheFile(path, warn=_log.warning, form=form)
        self._said = False

    def get(self, key: DigestKey, text: str) -> Digest | None:
        """Return a digest of the document with that text, as it was stored."""
        try:
            body = self._file.read(partial(self._find, digest_key(key)))
            return None if body is None else read(body, text)
        except StoreError as error:
            self._tell_once("read", error)
        except (
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
        ):  # damaged: made again, and stored over it
            return None
        return None

    def put(self, key: DigestKey, digest: Digest) -> None:
        """Keep a digest."""
        try:
            self._file.write(partial(self._keep, digest_key(key), written(digest)))
        except StoreError as error:
            self._tell_once("written", error)

    def close(self) -> None:
        """Let go of the file; nothing is found or kept any more."""
        self._file.close()

    def check(self) -> None:
        """Raise a StoreError where the file is somebody else's, or from the future; it is left as it is."""
        self._file.read(lambda _: None)

    def _find(self, key: bytes, connection: sqlite3.Connection) -> str | None:
        row = connection.execute("SELECT body, used FROM digests WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        self._touch(connection, key, row[1])
        body: str = row[0]
        return body

    def _keep(self, key: bytes, body: str, connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO digests (key, used, size, body) VALUES (?, ?, ?, ?)",
            (key, int(self._clock()), len(body), body),
        )
        self._make_room(connection)

    def _touch(self, connection: sqlite3.Connection, key: bytes, used: int) -> None:
        """Note a use, now and then, and only where nobody else is writing: reading is to stay reading."""
        now = int(self._clock())
        if now - used >= _TOUCH_SECONDS:
            connection.execute("PRAGMA busy_timeout = 0")
            with suppress(sqlite3.OperationalError):
                connection.execute("UPDATE digests SET used = ? WHERE key = ?", (now, key))
            connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")

    def _make_room(self, connection: sqlite3.Connection) -> None:
        size: int = connection.execute("SELECT ifnull(sum(size), 0) FROM digests").fetchone()[0]
        if size <= self.max_bytes:
            return
        excess = size - int(self.max_bytes * _KEPT_SHARE)
        for row, part in connection.execute(
            "SELECT rowid, size FROM digests ORDER BY used, rowid"
        ).fetchall():
            if excess <= 0:
                break
            connection.execute("DELETE FROM digests WHERE rowid = ?", (row,))
            excess -= part

    def _tell_once(self, what: str, error: Exception) -> None:
        if not self._said:
            self._said = True
            _log.warning("the digest cache cannot be %s, so digests are made again: %s", what, error)


def _check(path: Path, connection: sqlite3.Connection) -> None:
    """Raise an UnfitError for a file that is damaged, a StoreError for another's, or one from the future."""
    try:
        application: int = connection.execute("PRAGMA application_id").fetchone()[0]
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        if path.suffix.lower() in _DATABASES:
            raise UnfitError(f"damaged ({error})", is_ours=False) from error
        raise StoreError("this is no digest cache; name another file, or move this one away") from error
    if not application and not tables:
        raise UnfitError("it is empty", is_ours=False)
    if application != _APPLICATION_ID:
        raise StoreError("this is no digest cache; name another file, or move this one away")
    if version != _VERSION:
        raise StoreError(f"format {version} is not this firstlight's ({_VERSION}); name another file")
