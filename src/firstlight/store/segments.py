"""Segments of postings at rest: a BLOB row each, or a mapped file when large, and a bitmap of dead chunks.

A segment's row is the only thing that makes it exist. A file is written and synced before that row is
committed, its name is never used again, and it is deleted only after a commit that no longer names it: a
reader that still wanted it reads the rows anew. Segments are ordered by their first chunk, and their ids do
not interleave.
"""

from __future__ import annotations

import mmap
import os
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.errors import StoreError
from firstlight.lexical import Segment
from firstlight.store.database import explained

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

# From here on, mapping a file beats copying a BLOB: only the pages that a question touches are read.
FILE_BYTES = 8 << 20
FOLDER = "segments"
# What its files are called; other names are nobody's of ours, neither to read nor to delete.
_NAME = re.compile(r"[0-9a-f]{16}\.seg")


class Part(NamedTuple):
    """A segment as one commit sees it.

    Attributes:
        id: Its row.
        segment: Its postings.
        documents: int64[n], the document of each of its chunks.
        dead: bool[n], its chunks that are gone; None while all of them live.
    """

    id: int
    segment: Segment
    documents: NDArray[np.int64]
    dead: NDArray[np.bool_] | None


class Size(NamedTuple):
    """How many chunks a segment has, and how many of them are dead."""

    id: int
    chunks: int
    dead: int

    @property
    def live(self) -> int:
        """How many of its chunks live."""
        return self.chunks - self.dead


class Stored(NamedTuple):
    """A segment's bytes at rest, before a row names them."""

    first_chunk: int
    chunks: int
    documents: bytes
    file: str | None
    data: bytes | None


class SegmentGoneError(StoreError):
    """A segment's file is gone: merged away since the rows were read, or lost."""


def store_segment(folder: Path, segment: Segment, documents: NDArray[np.int64]) -> Stored:
    """Bring a segment with a chunk or more to rest in the state `folder`; no reader knows of it yet."""
    data = segment.to_bytes()
    owners = np.ascontiguousarray(documents, np.dtype("<i8")).tobytes()
    if len(data) < FILE_BYTES:
        return Stored(int(segment.ids[0]), len(segment), owners, None, data)
    return Stored(int(segment.ids[0]), len(segment), owners, _write_file(folder / FOLDER, data), None)


def insert_segment(connection: sqlite3.Connection, stored: Stored) -> None:
    """Make a segment exist."""
    connection.execute(
        "INSERT INTO segments (first_chunk, chunks, dead, documents, file, data) VALUES (?, ?, 0, ?, ?, ?)",
        (stored.first_chunk, stored.chunks, stored.documents, stored.file, stored.data),
    )


def delete_segments(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Forget segments; their files go with `sweep_files`."""
    connection.executemany("DELETE FROM segments WHERE id = ?", ((each,) for each in ids))


def bury_documents(connection: sqlite3.Connection, ids: Collection[int]) -> None:
    """Mark every chunk of these documents dead, and drop the segments that have no other."""
    if not ids:
        return
    gone = np.fromiter(ids, np.int64, len(ids))
    rows = connection.execute("SELECT id, chunks, documents, tombstones FROM segments").fetchall()
    for number, chunks, owners, tombstones in rows:
        hit = np.isin(np.frombuffer(owners, "<i8"), gone)
        if hit.any():
            dead = hit if tombstones is None else hit | _unpacked(tombstones, chunks)
            _bury(connection, number, dead)


def read_sizes(connection: sqlite3.Connection) -> list[Size]:
    """Return the size of every segment, in the order of their chunks."""
    rows = connection.execute("SELECT id, chunks, dead FROM segments ORDER BY first_chunk")
    return [Size(*row) for row in rows]


def read_parts(
    connection: sqlite3.Connection,
    folder: Path,
    *,
    known: Mapping[int, Part] | None = None,
    only: Collection[int] | None = None,
    check: bool = False,
) -> list[Part]:
    """Return the segments of this commit, in the order of their chunks.

    Args:
        connection: A read transaction.
        folder: The state folder.
        known: Parts read before; a segment never changes, so only its tombstones are read again.
        only: The ids wanted; all by default.
        check: Compare checksums too, which reads everything.
    """
    rows = connection.execute("SELECT id, chunks, tombstones FROM segments ORDER BY first_chunk").fetchall()
    parts = []
    for number, chunks, tombstones in rows:
        if only is not None and number not in only:
            continue
        dead = None if tombstones is None else _unpacked(tombstones, chunks)
        before = None if known is None else known.get(number)
        segment, documents = (
            (before.segment, before.documents)
            if before
            else _read_segment(connection, folder, number, check=check)
        )
        parts.append(Part(number, segment, documents, dead))
    return parts


def sweep_files(connection: sqlite3.Connection, folder: Path) -> None:
    """Delete the files that no row names; only the holder of the write lock may."""
    home = folder / FOLDER
    if not home.is_dir():
        return
    named = {file for (file,) in connection.execute("SELECT file FROM segments WHERE file IS NOT NULL")}
    with explained(home):
        for file in home.iterdir():
            if file.name not in named and _NAME.fullmatch(file.name):
                file.unlink(missing_ok=True)


def _read_segment(
    connection: sqlite3.Connection, folder: Path, number: int, *, check: bool
) -> tuple[Segment, NDArray[np.int64]]:
    first, chunks, owners, file, data = connection.execute(
        "SELECT first_chunk, chunks, documents, file, data FROM segments WHERE id = ?", (number,)
    ).fetchone()
    if len(owners) == 8 * chunks and (data is not None or _NAME.fullmatch(str(file))):
        segment = Segment.from_buffer(_mapped(folder / FOLDER / file) if data is None else data, check=check)
        if len(segment) == chunks and segment.ids[:1] == first:
            return segment, np.frombuffer(owners, "<i8")
    raise StoreError(f"{folder}: segment {number} is damaged; `firstlight verify --repair` makes it anew")


def _mapped(file: Path) -> memoryview:
    try:
        number = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # never waits for a pipe
        try:
            return memoryview(mmap.mmap(number, 0, access=mmap.ACCESS_READ))
        finally:
            os.close(number)
    except FileNotFoundError as error:
        raise SegmentGoneError(f"{file}: gone; `firstlight verify --repair` makes it anew") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{file}: cannot be read; `firstlight verify --repair` makes it anew") from error


def _write_file(home: Path, data: bytes) -> str:
    name = f"{os.urandom(8).hex()}.seg"
    with explained(home):
        home.mkdir(exist_ok=True)
        with (home / name).open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(home)
    return name


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _bury(connection: sqlite3.Connection, number: int, dead: NDArray[np.bool_]) -> None:
    if dead.all():
        delete_segments(connection, [number])
        return
    connection.execute(
        "UPDATE segments SET dead = ?, tombstones = ? WHERE id = ?",
        (int(dead.sum()), np.packbits(dead).tobytes(), number),
    )


def _unpacked(tombstones: bytes, chunks: int) -> NDArray[np.bool_]:
    return np.unpackbits(np.frombuffer(tombstones, np.uint8), count=chunks).astype(np.bool_)
