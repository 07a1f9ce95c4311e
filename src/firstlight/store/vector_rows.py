"""Reading the rows of one embedder's vectors, and room in memory that they grow in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.embed.unit import is_unit

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from firstlight.store.embedders import EmbedderRow

    Ids = NDArray[np.int64]
    Mask = NDArray[np.bool_]
    Rows = NDArray[np.float32]

_PORTION = (
    512  # rows that are fetched at a time: more of them are slower, since their memory is new each time
)
_LEAST = 1024  # rows that there is room for at first


class Stamp(NamedTuple):
    """What vectors were read of. Two that are equal were read of the same rows."""

    corpus: str
    embedder: int
    dimensions: int
    generation: int
    last_id: int

    def same_matrix(self, other: Stamp) -> bool:
        """Whether the rows of both are of one embedder and one corpus."""
        return self[:3] == other[:3]

    def is_before(self, other: Stamp) -> bool:
        """Whether this is of an earlier commit."""
        return (self.generation, self.last_id) < (other.generation, other.last_id)


class Portion(NamedTuple):
    """Some rows, by their ids: ids int64[r], chunks int64[r], rows float32[r, d] of unit length."""

    ids: Ids
    chunks: Ids
    rows: Rows


class Buffer:
    """Rows that only ever grow; what was handed out as a view stays as it is."""

    def __init__(self, dimensions: int, rows: int) -> None:
        self._used = 0
        self._allocate(max(2 * rows, _LEAST), dimensions)

    def extend(self, portions: Iterable[Portion]) -> None:
        """Add rows; their ids are greater than all before."""
        for portion in portions:
            end = self._used + len(portion.ids)
            if end > len(self._ids):
                old = self.view()
                self._allocate(2 * end, portion.rows.shape[1])
                self._put(slice(0, self._used), old)
            self._put(slice(self._used, end), portion)
            self._used = end

    def view(self) -> Portion:
        """Return the rows so far."""
        return Portion(self._ids[: self._used], self._chunks[: self._used], self._rows[: self._used])

    def _allocate(self, capacity: int, dimensions: int) -> None:
        # Memory that is not written to is not taken from the system either.
        self._ids = np.empty(capacity, np.int64)
        self._chunks = np.empty(capacity, np.int64)
        self._rows = np.empty((capacity, dimensions), np.float32)

    def _put(self, where: slice, portion: Portion) -> None:
        self._ids[where], self._chunks[where], self._rows[where] = portion


class Places:
    """Which rows have one of some chunks, and the places of these; the last answer is kept."""

    def __init__(self, chunks: Ids, alive: Mask | None) -> None:
        self._chunks = chunks
        self._alive = alive
        self._last: tuple[Ids, Ids, Ids] | None = None

    def find(self, ids: Ids, mask: Mask | None) -> tuple[Ids, Ids]:
        """Return rows and, for each, the place of its chunk among `ids`, where `mask` allows it."""
        known = self._last
        if known is None or known[0] is not ids:
            rows = np.arange(len(self._chunks)) if self._alive is None else np.flatnonzero(self._alive)
            chunks = self._chunks[rows]
            places = np.searchsorted(ids, chunks)
            within = np.flatnonzero(places < len(ids))
            met = within[ids[places[within]] == chunks[within]]
            self._last = known = (ids, rows[met], places[met])
        _, rows, places = known
        if mask is None:
            return rows, places
        chosen = np.flatnonzero(mask[places])
        return rows[chosen], places[chosen]


def read_stamp(connection: sqlite3.Connection, embedder: EmbedderRow) -> Stamp:
    """Return what the connection's read transaction has of an embedder's vectors."""
    corpus, generation, last_id = connection.execute(
        "SELECT (SELECT value FROM meta WHERE key = 'corpus'), "
        "(SELECT value FROM meta WHERE key = 'generation'), (SELECT coalesce(max(id), 0) FROM vectors)"
    ).fetchone()
    return Stamp(corpus, embedder.id, embedder.dimensions, generation, last_id)


def read_rows(connection: sqlite3.Connection, stamp: Stamp, *, after: int = 0) -> Iterator[Portion]:
    """Yield the vectors whose ids follow `after`; what is none of unit length is left out."""
    found = connection.execute(
        "SELECT id, chunk, vector FROM vectors NOT INDEXED WHERE id > ? AND embedder = ? "
        "AND typeof(vector) = 'blob' AND length(vector) = ? ORDER BY id",
        (after, stamp.embedder, 4 * stamp.dimensions),
    )
    while stamp.dimensions and (fetched := found.fetchmany(_PORTION)):
        yield _portion(fetched, stamp.dimensions)


def read_some(connection: sqlite3.Connection, stamp: Stamp, ids: Ids) -> Portion:
    """Return the vectors with these ids, as far as they are there and of unit length."""
    fetched = connection.execute(
        "SELECT id, chunk, vector FROM vectors NOT INDEXED WHERE id IN (SELECT value FROM json_each(?)) "
        "AND embedder = ? AND typeof(vector) = 'blob' AND length(vector) = ? ORDER BY id",
        (json.dumps(ids.tolist()), stamp.embedder, 4 * stamp.dimensions),
    ).fetchall()
    return _portion(fetched, stamp.dimensions)


def read_ids(connection: sqlite3.Connection, embedder: int) -> Ids:
    """Return the ids of an embedder's rows, also of those without a vector, in no particular order."""
    found = connection.execute("SELECT id FROM vectors WHERE embedder = ?", (embedder,)).fetchall()
    return np.fromiter((number for (number,) in found), np.int64, len(found))


def count_rows(connection: sqlite3.Connection, embedder: int) -> int:
    """Return how many rows an embedder has, those without a vector included."""
    found = connection.execute("SELECT count(*) FROM vectors WHERE embedder = ?", (embedder,)).fetchone()
    return int(found[0])


def _portion(fetched: list[tuple[int, int, bytes]], dimensions: int) -> Portion:
    rows = np.frombuffer(b"".join([row[2] for row in fetched]), "<f4").reshape(-1, dimensions)
    ids = np.array([row[0] for row in fetched], np.int64)
    portion = Portion(ids, np.array([row[1] for row in fetched], np.int64), rows)
    sound = is_unit(rows)
    return portion if sound.all() else Portion._make(column[sound] for column in portion)
