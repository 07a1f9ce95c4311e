"""The file of a cache: connected late, shared by processes, and made anew where it is no good."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar
from weakref import WeakSet

from firstlight.embed.cache_format import LOGS, VECTORS, UnfitError, create, put_aside
from firstlight.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from firstlight.embed.cache_format import Format

# How long a statement waits for another process' write; every write of ours is far shorter.
BUSY_SECONDS = 10.0

_T = TypeVar("_T")
_Inode: TypeAlias = tuple[int, int]
_MAX_IDLE = 4
_MAX_LOG_BYTES = 8 << 20
# What SQLite says of a file that is cut short, is no database, lacks our tables or contradicts itself.
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_FORMAT", "SQLITE_CONSTRAINT")


class _Link(NamedTuple):
    """A connection, and which file it leads to: another may have taken its name since."""

    connection: sqlite3.Connection
    inode: _Inode
    can_write: bool


_IN_USE: WeakSet[CacheFile] = WeakSet()
# What a child got from its parent. Closing it would end locks and logs that are the parent's.
_INHERITED: list[_Link] = []


class CacheFile:
    """A SQLite file of vectors, or as `form` says; cheap to make, connected late, shared between threads.

    Args:
        path: Where it is, or will be.
        warn: Gets a line when what lies there is replaced.
        form: What it has to be.
    """

    def __init__(self, path: Path, *, warn: Callable[[str], object], form: Format = VECTORS) -> None:
        self.path = path
        self._form = form
        self._warn = warn
        self._closed = False
        self._idle: list[_Link] = []
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        _IN_USE.add(self)

    def read(self, action: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Return what `action` reads, or None where there is no file.

        Raises:
            StoreError: It cannot be read now.
        """
        return self._run(action, writes=False)

    def write(self, action: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Return what `action` does in one immediate transaction, or None once this is closed.

        Raises:
            StoreError: It cannot be written now.
        """
        with self._writing:  # threads queue here: SQLite's own waiting polls, and is not fair
            return self._run(action, writes=True)

    def size(self) -> int:
        """Return the bytes that the file and its log take on the disk."""
        with _explained(self.path):
            return sum(_size(self.path, suffix) for suffix in ("", *LOGS))

    def close(self) -> None:
        """Close what is idle now and what is in use as soon as it comes back; nothing is found any more."""
        with self._lock:
            self._closed = True
        self.let_go()

    def let_go(self) -> None:
        """Close what is idle; it is connected again on the next use."""
        with self._lock:
            idle, self._idle = self._idle, []
        for link in idle:
            link.connection.close()

    def begin_in_child(self) -> None:
        """Begin without connections and with free locks: the threads that held them stayed in the parent."""
        _INHERITED.extend(self._idle)
        self._idle = []
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def _run(self, action: Callable[[sqlite3.Connection], _T], *, writes: bool) -> _T | None:
        with _explained(self.path):
            for _ in range(2):  # where the file turns out to be damaged, the new one gets the second try
                link = self._take(writes=writes)
                if link is None:
                    return None
                try:
                    return _in_transaction(link.connection, action) if writes else action(link.connection)
                except sqlite3.DatabaseError as error:
                    if not _is_damage(error):
                        raise
                    self._replace(link.inode, UnfitError(f"damaged ({error})", is_ours=True))
                finally:
                    self._give(link)
            return None

    def _take(self, *, writes: bool) -> _Link | None:
        current = _inode(self.path)
        with self._lock:
            if self._closed:
                return None
            while self._idle:
                link = self._idle.pop()
                if link.inode == current:
                    return link
                link.connection.close()
        if current is None:
            if not writes:
                return None
            self._replace(None, UnfitError("missing", is_ours=True))
        return self._connect()

    def _give(self, link: _Link) -> None:
        is_sound = link.can_write
        if link.connection.in_transaction:
            try:
                link.connection.rollback()
            except sqlite3.Error:  # on a failing disk; closing it rolls back too
                is_sound = False
        with self._lock:
            keep = is_sound and not self._closed and len(self._idle) < _MAX_IDLE
            if keep:
                self._idle.append(link)
        if not keep:
            link.connection.close()

    def _connect(self) -> _Link | None:
        for _ in range(2):
            with _held(self.path, fcntl.LOCK_SH):  # replaced halfway, the file would meet another's log
                inode = _inode(self.path)
                if inode is None:
                    return None
                try:
                    return _linked(self.path, inode, self._form)
                except UnfitError as error:
                    unfit = error
            self._replace(inode, unfit)
        raise unfit

    def _replace(self, inode: _Inode | None, unfit: UnfitError) -> None:
        """Put a new file in the place of that one, unless another process has."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _held(self.path, fcntl.LOCK_EX):
            if _inode(self.path) != inode:
                return
            place = None if unfit.is_ours else put_aside(self.path)
            create(self.path, self._form)
        if inode is not None:
            where = f"; what was there is now {place.name}" if place else ""
            self._warn(f"{self.path}: {unfit}, so the {self._form.name} begins anew{where}")


def _before_fork() -> None:
    for file in list(_IN_USE):
        file.let_go()


def _after_fork_in_child() -> None:
    for file in list(_IN_USE):
        file.begin_in_child()


os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)


def _in_transaction(connection: sqlite3.Connection, action: Callable[[sqlite3.Connection], _T]) -> _T:
    connection.execute("BEGIN IMMEDIATE")
    result = action(connection)
    connection.execute("COMMIT")
    return result


def _linked(path: Path, inode: _Inode, form: Format) -> _Link:
    """Connect; without the right to join the write-ahead log, if that is empty, the file is read as it is."""
    try:
        return _Link(_opened(path, "mode=rw", form), inode, can_write=True)
    except sqlite3.OperationalError:
        if os.access(path.parent, os.W_OK) or _size(path, "-wal"):
            raise
        return _Link(_opened(path, "mode=ro&immutable=1", form), inode, can_write=False)


def _opened(path: Path, mode: str, form: Format) -> sqlite3.Connection:
    name = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(
        f"file:{name}?{mode}", uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        form.check(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute(f"PRAGMA journal_size_limit = {_MAX_LOG_BYTES}")
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.DatabaseError) and _is_damage(error):
            raise UnfitError(f"no SQLite file, or damaged ({error})", is_ours=False) from error
        raise
    return connection


def _inode(path: Path) -> _Inode | None:
    """Return which file has the name; None where there is none, or an empty one."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise StoreError("this is no regular file; move it away")
    return (found.st_dev, found.st_ino) if found.st_size else None


def _size(path: Path, suffix: str) -> int:
    try:
        return path.with_name(path.name + suffix).stat().st_size
    except FileNotFoundError:
        return 0


@contextmanager
def _held(path: Path, how: int) -> Iterator[None]:
    """Hold the lock under which the file is replaced; who may not write there can replace nothing either."""
    try:
        lock = os.open(
            path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
    except OSError:
        if how == fcntl.LOCK_EX:
            raise
        lock = None
    try:
        if lock is not None:
            fcntl.flock(lock, how)
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    name = getattr(error, "sqlite_errorname", None)
    return str(error).startswith("Could not decode") if name is None else name.startswith(_DAMAGED)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn SQLite's and the system's errors into a StoreError that names the file."""
    try:
        yield
    except (StoreError, UnfitError) as error:
        raise StoreError(f"{path}: {error}") from error
    except sqlite3.ProgrammingError:
        raise  # a bug of ours
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}; check the disk and its permissions") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}; check the disk and its permissions") from error
