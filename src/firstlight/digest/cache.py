"""The digest cache: answers that need not be made again. It holds hashes, answers and offsets.

What it cannot read is missing and what it cannot write is not kept: it never stops an answer.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import tempfile
import threading
import time
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from firstlight.digest.stored import read, written
from firstlight.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from firstlight.digest.types import Digest

__all__ = ["MAX_BYTES", "DigestCache", "DigestKey", "digest_key"]

MAX_BYTES = 64_000_000
_APPLICATION_ID = 0x66697264  # "fird"
_VERSION = 1
# Raised whenever the same question would be answered from other passages, or asked in other words.
_RECIPE = "2"
_BUSY_SECONDS = 10.0
_KEPT_SHARE = 0.9
# An entry's last use is written down once in so many seconds.
_TOUCH_SECONDS = 3600
_MOST_IDLE = 4
_TABLE = """
CREATE TABLE digests (
    key BLOB PRIMARY KEY,
    used INTEGER NOT NULL,
    size INTEGER NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX digests_used ON digests (used);
"""

_log = logging.getLogger(__name__)


class _Link(NamedTuple):
    """A connection, which file it leads to, and in which process it was made."""

    connection: sqlite3.Connection
    inode: tuple[int, int] | None
    process: int


_INHERITED: list[_Link] = []


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
        self._writing = threading.Lock()
        self._lock = threading.Lock()
        self._idle: list[_Link] = []
        self._closed = False
        self._said = False

    def get(self, key: DigestKey, text: str) -> Digest | None:
        """Return a digest of the document with that text, as it was stored."""
        hashed = digest_key(key)
        if not self.path.exists():
            return None
        try:
            with self._opened() as connection:
                row = connection.execute("SELECT body, used FROM digests WHERE key = ?", (hashed,)).fetchone()
                if row is None:
                    return None
                self._touch(connection, hashed, row[1])
            return read(row[0], text)
        except (sqlite3.Error, StoreError, OSError) as error:
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
        body = written(digest)
        try:
            with self._writing, self._opened() as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(
                    "INSERT OR REPLACE INTO digests (key, used, size, body) VALUES (?, ?, ?, ?)",
                    (digest_key(key), int(self._clock()), len(body), body),
                )
                self._make_room(connection)
                connection.execute("COMMIT")
        except (sqlite3.Error, StoreError, OSError) as error:
            self._tell_once("written", error)

    def close(self) -> None:
        """Let go of the file; it is opened again for each use."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for link in idle:
            if link.process == os.getpid():
                link.connection.close()

    def check(self) -> None:
        """Raise a StoreError where the file is somebody else's, or from the future; it is left as it is."""
        if not self.path.exists():
            return
        try:
            with self._opened():
                pass
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{self.path}: {error}; name another cache, or move this file away") from error

    def _touch(self, connection: sqlite3.Connection, key: bytes, used: int) -> None:
        """Note a use, now and then, and only where nobody else is writing: reading is to stay reading."""
        now = int(self._clock())
        if now - used >= _TOUCH_SECONDS:
            connection.execute("PRAGMA busy_timeout = 0")
            with suppress(sqlite3.OperationalError):
                connection.execute("UPDATE digests SET used = ? WHERE key = ?", (now, key))
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000:.0f}")

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

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection; some are kept, since to close the last one costs what ten writes do."""
        link = self._taken() or self._linked()
        try:
            yield link.connection
        except BaseException:
            link.connection.close()  # which rolls back
            raise
        with self._lock:
            keep = not self._closed and len(self._idle) < _MOST_IDLE
            if keep:
                self._idle.append(link)
        if not keep:
            link.connection.close()

    def _taken(self) -> _Link | None:
        """Return a kept connection that leads to the file of that name, made in this process."""
        current = _inode(self.path)
        with self._lock:
            while self._idle:
                link = self._idle.pop()
                if link.process != os.getpid():
                    _INHERITED.append(link)  # to close it would end locks that are the parent's
                elif link.inode == current:
                    return link
                else:
                    link.connection.close()
        return None

    def _linked(self) -> _Link:
        inode = _inode(self.path)
        if inode is None:
            _create(self.path)
            inode = _inode(self.path)
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            application: int = connection.execute("PRAGMA application_id").fetchone()[0]
            version: int = connection.execute("PRAGMA user_version").fetchone()[0]
            if application != _APPLICATION_ID:
                raise StoreError(f"{self.path}: this is no digest cache; name another file")  # noqa: TRY301
            if version != _VERSION:
                raise StoreError(  # noqa: TRY301
                    f"{self.path}: format {version} is not this firstlight's ({_VERSION}); name another file"
                )
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return _Link(connection, inode, os.getpid())

    def _tell_once(self, what: str, error: Exception) -> None:
        if not self._said:
            self._said = True
            _log.warning("the digest cache cannot be %s, so digests are made again: %s", what, error)


def _inode(path: Path) -> tuple[int, int] | None:
    """Return which file has the name; None where there is none, or an empty one."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino) if found.st_size else None


def _create(path: Path) -> None:
    """Make an empty cache that nobody else can read; it appears under its name only when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    os.close(number)
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as connection:
            connection.executescript(_TABLE)
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {_VERSION}")
            connection.execute("PRAGMA journal_mode = WAL")
        if path.exists() and not path.stat().st_size:
            path.unlink(missing_ok=True)
        with suppress(FileExistsError):  # another process was quicker
            os.link(name, path)
    finally:
        os.unlink(name)  # noqa: PTH108  # a string
