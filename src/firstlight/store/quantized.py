"""Vectors that are too many for the memory: a mapped int8 file, what came since as float32, and exact ends.

Every vector in the file is scored by its bytes, then the best are read from the rows and scored exactly: with
the same bits as in memory. The others are off by about a thousandth at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firstlight.errors import StoreError
from firstlight.store.exact import ExactMatrix
from firstlight.store.quantized_file import make_file, open_newest
from firstlight.store.vector_rows import Places, read_ids, read_some

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from firstlight.store.exact import ExactVectors
    from firstlight.store.quantized_file import Quantized
    from firstlight.store.vector_rows import Ids, Mask, Rows, Stamp

# So many of the best are scored exactly, and all that tie with the last, up to the second number.
RESCORED = 200
_MOST_RESCORED = 2000
_SOME = 512  # rows that fit the processor's own cache as float32
# The file is made anew when so large a share of it is dead, or came since.
_STALE = 0.25
_LEAST_STALE = 5000


class QuantizedVectors:
    """The vectors of one embedder in one read transaction; use them inside it alone."""

    def __init__(self, connection: sqlite3.Connection, stamp: Stamp, file: _File, tail: ExactVectors) -> None:
        self.stamp = stamp
        self._connection = connection
        self._file = file
        self._tail = tail

    def __len__(self) -> int:
        """How many living vectors there are."""
        return self._file.living + len(self._tail)

    def cosines(self, query: Rows, *, ids: Ids, mask: Mask | None = None) -> Rows:
        """Return float32[n], the cosine of each of `ids`; see `firstlight.store.matrix.Vectors`."""
        found = self._tail.cosines(query, ids=ids, mask=mask)
        rows, places = self._file.places.find(ids, mask)
        if not len(rows):
            return found
        scores = self._file.score(rows, query)
        found[places] = scores
        best = _best(scores)
        wanted = self._file.content.ids[rows[best]]
        portion = read_some(self._connection, self.stamp, wanted)
        exact = np.full(len(best), np.nan, np.float32)
        exact[np.flatnonzero(np.isin(wanted, portion.ids))] = np.vecdot(portion.rows, query)
        found[places[best]] = exact
        return found


class QuantizedMatrix:
    """The file and what came since.

    Args:
        connection: A read transaction.
        folder: The state folder.
        stamp: What the transaction has.
        fingerprint: The embedder's.

    Raises:
        StoreError: There is no file, and it cannot be made.
    """

    def __init__(self, connection: sqlite3.Connection, folder: Path, stamp: Stamp, fingerprint: str) -> None:
        self._folder = folder
        self._fingerprint = fingerprint
        self._may_write = True
        self._file, self._tail = _whole(
            connection,
            stamp,
            open_newest(folder, stamp, fingerprint) or _made(connection, folder, stamp, fingerprint),
        )

    @property
    def stamp(self) -> Stamp:
        """The newest commit that was looked at."""
        return self._tail.stamp

    def at(self, connection: sqlite3.Connection, stamp: Stamp) -> QuantizedVectors:
        """Return the vectors of the connection's read transaction, whose stamp is of the same matrix."""
        is_earlier = stamp.is_before(self.stamp)
        tail = self._tail.at(connection, stamp)
        file = self._file
        if not file.fits(stamp):
            file = _File(file.content, connection, stamp)
        if not is_earlier:
            self._file = file
            if self._is_stale(file, len(tail)):
                return self._renewed(connection, stamp, tail)
        return QuantizedVectors(connection, stamp, file, tail)

    def _is_stale(self, file: _File, since: int) -> bool:
        changed = len(file.content.ids) - file.living + since
        return self._may_write and changed > max(_LEAST_STALE, _STALE * len(file.content.ids))

    def _renewed(self, connection: sqlite3.Connection, stamp: Stamp, tail: ExactVectors) -> QuantizedVectors:
        """Go on with a newer file: another process', or one made now."""
        old = self._file.content
        content = open_newest(self._folder, stamp, self._fingerprint)
        if content is None or (content.generation, content.last_id) <= (old.generation, old.last_id):
            try:
                content = _made(connection, self._folder, stamp, self._fingerprint)
            except StoreError:  # the old one goes on serving
                self._may_write = False
                return QuantizedVectors(connection, stamp, self._file, tail)
        self._file, self._tail = _whole(connection, stamp, content)
        return QuantizedVectors(connection, stamp, self._file, self._tail.newest)


class _File:
    """A file as a commit sees it; what was deleted before the file was made, an older commit misses."""

    def __init__(self, content: Quantized, connection: sqlite3.Connection, stamp: Stamp) -> None:
        self.content = content
        self._generation = stamp.generation
        self._last_id = min(stamp.last_id, content.last_id)
        alive: Mask | None = None
        if (content.generation, content.last_id) != (self._generation, self._last_id):
            alive = np.isin(content.ids, read_ids(connection, stamp.embedder))
        self.living = len(content.ids) if alive is None else int(np.count_nonzero(alive))
        self.places = Places(content.chunks, alive)

    def fits(self, stamp: Stamp) -> bool:
        """Whether another commit sees the same of it."""
        return (stamp.generation, min(stamp.last_id, self.content.last_id)) == (
            self._generation,
            self._last_id,
        )

    def score(self, rows: Ids, query: Rows) -> Rows:
        """Return the cosines of some rows, as far as a byte a number tells."""
        codes, whole = self.content.codes, len(rows) == len(self.content.codes)
        found = np.empty(len(rows), np.float32)
        some = np.empty((min(_SOME, len(rows)), codes.shape[1]), np.float32)
        for begin in range(0, len(rows), _SOME):
            end = min(begin + _SOME, len(rows))
            np.copyto(some[: end - begin], codes[begin:end] if whole else codes[rows[begin:end]])
            np.vecdot(some[: end - begin], query, out=found[begin:end])
        found *= self.content.scales[rows]
        return found


def _whole(connection: sqlite3.Connection, stamp: Stamp, content: Quantized) -> tuple[_File, ExactMatrix]:
    """Return a file as the transaction sees it, and what came since."""
    return _File(content, connection, stamp), ExactMatrix(connection, stamp, after=content.last_id)


def _made(connection: sqlite3.Connection, folder: Path, stamp: Stamp, fingerprint: str) -> Quantized:
    make_file(connection, folder, stamp, fingerprint)
    content = open_newest(folder, stamp, fingerprint)
    if content is None:
        raise StoreError(f"{folder}: its vectors cannot be mapped; check the disk")
    return content


def _best(scores: Rows) -> Ids:
    """Return the places of the best scores."""
    if len(scores) <= RESCORED:
        return np.arange(len(scores))
    least = np.partition(scores, len(scores) - RESCORED)[len(scores) - RESCORED]
    return np.flatnonzero(scores >= least)[:_MOST_RESCORED]
