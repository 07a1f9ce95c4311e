"""One SQLite file, many threads: short transactions, pooled connections, errors that say the way out."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakSet

from firstlight.errors import StoreError
from firstlight.store.schema import VERSION, NotOursError, check_format, create_tables, migrate
from firstlight.store.shape import check_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

# How long a statement waits for another process' write; every write of ours is far shorter.
BUSY_SECONDS = 20.0
# Idle connections that are kept; more threads than this open and close their own.
_MAX_IDLE = 8
# What SQLite says of a file that is cut short, is no database, or lacks our tables.
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_FORMAT")
# What it says where its shared memory finds no room.
_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR")
# What it says where nothing can be written just now.
_UNWRITABLE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_READONLY", "SQLITE_CANTOPEN", *_NO_ROOM)
# Pages of text and postings are read straight from the page cache up to this size.
_MMAP_BYTES = 1 << 30
_LOG_PAGES = 1 << 14  # of 4 KB: some batches are written to the database at once, rather than each twice


_IN_USE: WeakSet[Database] = WeakSet()


class Database:
    """A `corpus.db`; cheap to make, connected on first use, safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._identity: tuple[int, int] | None = None
        self._closed = False
        _IN_USE.add(self)

    def exists(self) -> bool:
        """Whether there is a file at all; an empty or foreign one counts."""
        with explained(self.path):
            return self.path.exists()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Hold one snapshot: everything read inside belongs to the same commit."""
        with explained(self.path):
            connection = self._take()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give(connection)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Hold one immediate transaction; it commits at the end, or leaves no trace."""
        with explained(self.path):
            connection = self._take()
            try:
                connection.execute("BEGIN IMMEDIATE")
                migrate(connection, connection.execute("PRAGMA user_version").fetchone()[0])
                yield connection
                connection.execute("COMMIT")
            finally:
                self._give(connection)

    def try_write(self, action: Callable[[sqlite3.Connection], object]) -> bool:
        """Do `action` in an immediate transaction, but only where that takes no waiting at all.

        Returns:
            False, and nothing is written, where another process is writing or the file cannot be written to.
        """
        with explained(self.path):
            connection = self._take()
            try:
                _be_patient(connection, patient=False)
                connection.execute("BEGIN IMMEDIATE")
                if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                    return False
                action(connection)
                connection.execute("COMMIT")
            except sqlite3.OperationalError as error:
                if not _name(error).startswith(_UNWRITABLE):
                    raise
                return False
            finally:
                _be_patient(connection, patient=True)
                self._give(connection)
        return True

    def mend(self) -> None:
        """Make SQLite's own indexes and pages anew from the rows; needs twice the room for a while."""
        with explained(self.path):
            connection = self._take()
            try:
                connection.execute("REINDEX")
                connection.execute("VACUUM")
            finally:
                self._give(connection)

    def close(self) -> None:
        """Close what is idle now and what is in use as soon as it comes back."""
        with self._lock:
            self._closed = True
        self.let_go()

    def let_go(self) -> None:
        """Close what is idle; it is connected again on the next use."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise StoreError("this corpus is closed; open it again")
            self._forget_replaced()
            if self._idle:
                return self._idle.pop()
        return connect(self.path)

    def _forget_replaced(self) -> None:
        # A rebuild may put another file in this one's place; connections to the old one would go on with it.
        try:
            stat = self.path.stat()
            identity = (stat.st_dev, stat.st_ino)
        except FileNotFoundError:
            identity = None
        if identity != self._identity:
            for connection in self._idle:
                connection.close()
            self._idle.clear()
            self._identity = identity

    def _give(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.rollback()
        with self._lock:
            keep = not self._closed and len(self._idle) < _MAX_IDLE and not _is_immutable(connection)
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()


def _before_fork() -> None:
    """Close idle connections: a child that went on with them would rely on locks that its parent holds."""
    for database in list(_IN_USE):
        database.let_go()


os.register_at_fork(before=_before_fork)


def connect(path: Path) -> sqlite3.Connection:
    """Open the existing file at `path` and make sure that it is ours.

    Without the right to write in its folder, or room on its disk, SQLite cannot join the write-ahead log;
    where nothing is left in a log, the file is then read as it is.
    """
    try:
        return _opened(path, "mode=rw")
    except sqlite3.OperationalError as error:
        is_full = _name(error).startswith(_NO_ROOM)
        is_stuck = is_full or not os.access(path.parent, os.W_OK)
        if not is_stuck or not path.is_file() or _has_log(path):
            raise
        return _opened(path, "mode=ro&immutable=1")


def create(path: Path, meta: Mapping[str, object]) -> None:
    """Make a new, empty `corpus.db`; it appears under its name only when it is whole."""
    fresh = path.with_name(f"{path.name}.new")
    remove(fresh)
    with explained(path):
        connection = sqlite3.connect(fresh, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            create_tables(connection)
            connection.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", meta.items())
        finally:
            connection.close()
        fresh.replace(path)


def remove(path: Path) -> None:
    """Delete a database; its log goes first, so that no later file can meet it."""
    with explained(path):
        for suffix in ("-wal", "-shm", ""):
            path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's and the system's errors into a StoreError that names the file and the way out."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explanation(error, path) from error
    except UnicodeDecodeError as error:  # of an error's message, which quotes what is damaged
        raise _damaged(path, "its tables cannot be read") from error
    except OSError as error:
        raise StoreError(
            f"{error.filename or path}: {error.strerror}; check the disk and its permissions"
        ) from error


def _explanation(error: sqlite3.Error, path: Path) -> StoreError:
    name = _name(error)
    if name.startswith("SQLITE_FULL"):
        return StoreError(
            f"{path}: the disk is full; the last commit still serves. Free some space and sync again"
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return StoreError(
            f"{path}: cannot be written or opened ({error}); check its permissions, or use --state"
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreError(f"{path}: another process has been writing for {BUSY_SECONDS:.0f} s; try again")
    if name.startswith("SQLITE_IOERR"):
        return StoreError(f"{path}: reading or writing failed ({error}); check the disk and sync again")
    if name.startswith(_DAMAGED):
        return _damaged(path, str(error))
    # Of a text that it cannot decode, the message would go on with the text itself.
    reason = "a text is not UTF-8" if str(error).startswith("Could not decode") else error
    return StoreError(f"{path}: {reason}; `firstlight verify --repair` finds what is wrong with it")


def _name(error: sqlite3.Error) -> str:
    """Return what SQLite calls an error; of a text that is not UTF-8, Python's own module tells, without."""
    return getattr(error, "sqlite_errorname", "") or ""


def _damaged(path: Path, what: str) -> NotOursError:
    return NotOursError(f"{path}: damaged ({what}); `firstlight sync --rebuild` makes it anew from the files")


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    name = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(
        f"file:{name}?{mode}", uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        check_format(connection, path)
        check_shape(connection, path)
        connection.execute("PRAGMA synchronous = NORMAL")
        # A content folder may bring its index along, from anywhere.
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute(f"PRAGMA mmap_size = {_MMAP_BYTES}")
        _be_patient(connection, patient=True)
    except BaseException:
        connection.close()
        raise
    return connection


def _be_patient(connection: sqlite3.Connection, *, patient: bool) -> None:
    """Wait for another's write, and bring the log over to the database when it is long; or do neither."""
    connection.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000) if patient else 0}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES if patient else 0}")


def _is_immutable(connection: sqlite3.Connection) -> bool:
    # A file read as it is must be opened again each time, since its changes go unnoticed.
    return bool(connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal")


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0
