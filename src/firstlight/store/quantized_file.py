"""A file of vectors in a byte a number: derived from the rows, mapped, and shared by processes.

Each vector is int8[d] times a scale of its own. A file is named after what it was made of, written under
another name and synced before it appears, and never changed: any process may make it, and any may delete it
once there is a newer one, since who has mapped it keeps it.

Header (128 bytes, little-endian): magic, what tells corpus and embedder, generation, last id, dimensions,
rows, checksum of the arrays but the vectors, checksum of the vectors. Then int8[r, d] vectors, padded to 8
bytes, int64[r] ids, int64[r] chunks, float32[r] scales.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
import time
import zlib
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.store.database import explained
from firstlight.store.lock import refuse_links
from firstlight.store.vector_rows import read_rows

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

    from firstlight.store.vector_rows import Ids, Rows, Stamp

FOLDER = "vectors"
_MAGIC = b"FLVEC\0\0\1"
_HEADER = struct.Struct("<8s32sqqqqII")
_BEGIN = 128
_NAME = re.compile(r"([0-9a-f]{16})-([0-9]{1,18})-([0-9]{1,18})\.i8")
_UNFINISHED = re.compile(r"[0-9a-f]{16}\.tmp")
_ABANDONED_SECONDS = 3600.0


class Quantized(NamedTuple):
    """A file's content: vector r is `codes[r] * scales[r]`.

    Attributes:
        generation: What it was made of.
        last_id: Rows with greater ids are not in it.
        ids: int64[r], the row of `vectors` that each comes from, ascending.
        chunks: int64[r], their chunks.
        scales: float32[r].
        codes: int8[r, d].
    """

    generation: int
    last_id: int
    ids: Ids
    chunks: Ids
    scales: Rows
    codes: NDArray[np.int8]


def quantize(rows: Rows) -> tuple[NDArray[np.int8], Rows]:
    """Return (int8[r, d], float32[r]): the vectors in a byte a number, and their scales.

    Example:
        >>> codes, scales = quantize(np.array([[0.6, -0.8]], np.float32))
        >>> codes.tolist(), (codes * scales[:, None]).astype(float).round(2).tolist()
        ([[95, -127]], [[0.6, -0.8]])
    """
    scales = np.abs(rows).max(axis=1) / np.float32(127)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def open_newest(folder: Path, stamp: Stamp, fingerprint: str, *, check: bool = False) -> Quantized | None:
    """Return the newest sound file of an embedder in the state `folder`; None where there is none.

    Args:
        folder: The state folder.
        stamp: Which corpus, embedder and dimensions.
        fingerprint: The embedder's.
        check: Compare the checksum of the vectors too, which reads them all.
    """
    key = _key(stamp, fingerprint)
    for _, _, name in sorted(_named(folder / FOLDER, key), reverse=True):
        found = _opened(folder / FOLDER / name, key, stamp.dimensions, check=check)
        if found is not None:
            return found
    return None


def make_file(connection: sqlite3.Connection, folder: Path, stamp: Stamp, fingerprint: str) -> None:
    """Make the file of what the connection's read transaction has, and delete those that came before.

    Raises:
        StoreError: There is no room, or no right to write.
    """
    refuse_links(folder)
    home, key = folder / FOLDER, _key(stamp, fingerprint)
    with explained(home):
        home.mkdir(exist_ok=True)
        fresh = home / f"{os.urandom(8).hex()}.tmp"
        try:
            with fresh.open("xb") as file:
                _write(file, connection, stamp, key)
                file.flush()
                os.fsync(file.fileno())
            name = f"{key.hex()[:16]}-{stamp.generation}-{stamp.last_id}.i8"
            fresh.replace(home / name)
        finally:
            fresh.unlink(missing_ok=True)
        _sweep(home, name)


def _write(file: BinaryIO, connection: sqlite3.Connection, stamp: Stamp, key: bytes) -> None:
    """Write portion by portion; the memory holds but ids and scales."""
    file.seek(_BEGIN)
    ids, chunks, scales, checksum, size = [], [], [], 0, 0
    for portion in read_rows(connection, stamp):
        codes, some_scales = quantize(portion.rows)
        data = codes.tobytes()
        file.write(data)
        checksum, size = zlib.crc32(data, checksum), size + len(data)
        ids.append(portion.ids)
        chunks.append(portion.chunks)
        scales.append(some_scales)
    arrays = b"".join(
        part.astype(kind).tobytes()
        for kind, parts in (("<i8", ids), ("<i8", chunks), ("<f4", scales))
        for part in parts
    )
    file.write(bytes(-size % 8) + arrays)
    rows = sum(map(len, ids))
    file.seek(0)
    file.write(
        _HEADER.pack(
            _MAGIC, key, stamp.generation, stamp.last_id, stamp.dimensions, rows, zlib.crc32(arrays), checksum
        )
    )


def _opened(file: Path, key: bytes, dimensions: int, *, check: bool) -> Quantized | None:
    """Return what a file holds; None where it is gone, damaged, or not what its name says."""
    try:
        number = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            data = memoryview(mmap.mmap(number, 0, access=mmap.ACCESS_READ))
        finally:
            os.close(number)
        magic, mine, generation, last_id, length, rows, arrays, codes = _HEADER.unpack_from(data)
    except (OSError, ValueError, struct.error):
        return None
    if (magic, mine, length) != (_MAGIC, key, dimensions) or rows < 0:
        return None
    size = rows * dimensions
    begin = _BEGIN + size + -size % 8
    if len(data) != begin + 20 * rows or zlib.crc32(data[begin:]) != arrays:
        return None
    if check and zlib.crc32(data[_BEGIN : _BEGIN + size]) != codes:
        return None
    return Quantized(
        generation,
        last_id,
        np.frombuffer(data, "<i8", rows, begin),
        np.frombuffer(data, "<i8", rows, begin + 8 * rows),
        np.frombuffer(data, "<f4", rows, begin + 16 * rows),
        np.frombuffer(data, np.int8, size, _BEGIN).reshape(rows, dimensions),
    )


def _named(home: Path, key: bytes) -> list[tuple[int, int, str]]:
    """Return (generation, last id, name) of an embedder's files."""
    try:
        names = [file.name for file in home.iterdir()]
    except OSError:
        return []
    found = filter(None, map(_NAME.fullmatch, names))
    return [(int(each[2]), int(each[3]), each[0]) for each in found if each[1] == key.hex()[:16]]


def _sweep(home: Path, kept: str) -> None:
    """Delete all files but one, and what a process that was killed left unfinished long ago."""
    for file in home.iterdir():
        is_old = _NAME.fullmatch(file.name) and file.name != kept
        if is_old or (_UNFINISHED.fullmatch(file.name) and _age(file) > _ABANDONED_SECONDS):
            file.unlink(missing_ok=True)


def _age(file: Path) -> float:
    try:
        return time.time() - file.lstat().st_mtime
    except FileNotFoundError:
        return 0.0


def _key(stamp: Stamp, fingerprint: str) -> bytes:
    return sha256(f"{stamp.corpus}\0{stamp.embedder}\0{fingerprint}".encode()).digest()
