"""One writer at a time: a lock that dies with its process."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from firstlight.errors import StoreError
from firstlight.store.database import explained

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK_NAME = "writer.lock"
HOLDER_NAME = "writer.txt"
_POLL_SECONDS = 0.02


class BusyError(StoreError):
    """Another process is writing; the message says which."""


@contextmanager
def writer_lock(folder: Path, *, wait: float) -> Iterator[None]:
    """Hold the folder's one write lock, waiting at most `wait` seconds for it.

    An empty SQLite file held in an exclusive transaction: the system lets go of it when the process ends,
    however it ends, and it is the same on every system.
    """
    refuse_links(folder)
    with explained(folder / LOCK_NAME):
        connection = sqlite3.connect(
            folder / LOCK_NAME, timeout=0, isolation_level=None, check_same_thread=False
        )
    holder = folder / HOLDER_NAME
    try:
        _acquire(connection, holder, time.monotonic() + wait)
        with explained(holder):
            holder.write_text(f"process {os.getpid()} since {time.strftime('%H:%M:%S')}", encoding="utf-8")
        try:
            yield
        finally:
            holder.unlink(missing_ok=True)
    finally:
        connection.close()


def refuse_links(folder: Path) -> None:
    """Refuse a state folder that has a link in it.

    A content folder may come with its state from anywhere: what is written or swept there must not lie
    elsewhere.

    Raises:
        StoreError: There is a link; the message names it.
    """
    with explained(folder), os.scandir(folder) as entries:
        found = min((entry.name for entry in entries if entry.is_symlink()), default=None)
    if found is not None:
        raise StoreError(f"{folder / found}: is a link, and an index has none; delete it and sync again")


def _acquire(connection: sqlite3.Connection, holder: Path, deadline: float) -> None:
    while True:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if not str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_BUSY"):
                raise StoreError(
                    f"{holder.parent}: the write lock cannot be taken ({error}); check the disk and "
                    "its permissions"
                ) from error
            if time.monotonic() >= deadline:
                raise BusyError(
                    f"{holder.parent}: {_who(holder)} is writing this index; what it has committed can be "
                    "searched. Try again when it is done"
                ) from error
            time.sleep(_POLL_SECONDS)
        else:
            return


def _who(holder: Path) -> str:
    try:
        return holder.read_text(encoding="utf-8") or "another process"
    except OSError:
        return "another process"
