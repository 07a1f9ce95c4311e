"""Vectors in memory, as one float32 matrix that follows the rows.

A row's cosine is one dot product of its own, whatever rows stand beside it or are left out, and however many
threads BLAS has: the same bits everywhere on a machine, which a matrix product does not promise. It is no
slower, since both wait for the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firstlight.store.vector_rows import Buffer, Places, Portion, Stamp, count_rows, read_ids, read_rows

if TYPE_CHECKING:
    import sqlite3

    from firstlight.store.vector_rows import Ids, Mask, Rows

# Up to this share of the rows, they are brought together, some at a time, rather than all multiplied.
_FEW = 1 / 3
_SOME = 512  # rows that fit the processor's own cache, before they are multiplied


class ExactVectors:
    """The vectors of one embedder as one commit has them; many threads may share them.

    Attributes:
        stamp: What they were read of.
        portion: Their rows.
        alive: bool[r], those that the commit still has; None for all.
    """

    def __init__(self, stamp: Stamp, portion: Portion, alive: Mask | None = None) -> None:
        self.stamp = stamp
        self.portion = portion
        self.alive = alive
        self._places = Places(portion.chunks, alive)

    def __len__(self) -> int:
        """How many living vectors there are."""
        return len(self.portion.ids) if self.alive is None else int(np.count_nonzero(self.alive))

    def cosines(self, query: Rows, *, ids: Ids, mask: Mask | None = None) -> Rows:
        """Return float32[n], the cosine of each of `ids`; see `firstlight.store.matrix.Vectors`."""
        found = np.full(len(ids), np.nan, np.float32)
        rows, places = self._places.find(ids, mask)
        matrix = self.portion.rows
        if not len(rows):
            return found
        if len(rows) == len(matrix):
            found[places] = np.vecdot(matrix, query)
        elif len(rows) > len(matrix) * _FEW:
            found[places] = np.vecdot(matrix, query)[rows]
        else:
            found[places] = _gathered(matrix, rows, query)
        return found


class ExactMatrix:
    """The newest vectors, and the older ones that searches in progress still see.

    Args:
        connection: A read transaction.
        stamp: What the transaction has.
        after: Only the rows whose ids follow this one.
    """

    def __init__(self, connection: sqlite3.Connection, stamp: Stamp, *, after: int = 0) -> None:
        self._after = after
        self._buffer = Buffer(stamp.dimensions, 0 if after else count_rows(connection, stamp.embedder))
        self._buffer.extend(read_rows(connection, stamp, after=after))
        # The buffer has every row of the commits between these two, and maybe some that are gone.
        self._first, self._last_id = stamp.generation, max(after, stamp.last_id)
        self.newest = ExactVectors(stamp, self._buffer.view())

    @property
    def stamp(self) -> Stamp:
        """The newest commit that was looked at."""
        return self.newest.stamp

    def at(self, connection: sqlite3.Connection, stamp: Stamp) -> ExactVectors:
        """Return the vectors of the connection's read transaction, whose stamp is of the same matrix."""
        if stamp == self.newest.stamp:
            return self.newest
        if stamp.is_before(self.newest.stamp):
            return self._earlier(connection, stamp)
        if stamp.last_id > self._last_id:
            self._buffer.extend(read_rows(connection, stamp, after=self._last_id))
            self._last_id = stamp.last_id
        portion = self._buffer.view()
        alive = self._alive(connection, stamp, portion.ids)
        if alive is not None and 2 * np.count_nonzero(alive) < len(alive):
            self._buffer = Buffer(stamp.dimensions, int(np.count_nonzero(alive)))
            self._buffer.extend([Portion._make(column[alive] for column in portion)])
            self._first = stamp.generation
            portion, alive = self._buffer.view(), None
        self.newest = ExactVectors(stamp, portion, alive)
        return self.newest

    def _earlier(self, connection: sqlite3.Connection, stamp: Stamp) -> ExactVectors:
        """Return what a search sees that began before the newest commit; for this search alone."""
        if not self._first <= stamp.generation or stamp.last_id > self._last_id:
            return ExactMatrix(connection, stamp, after=self._after).newest
        portion = self._buffer.view()
        alive = np.isin(portion.ids, read_ids(connection, stamp.embedder))
        return ExactVectors(stamp, portion, alive)

    def _alive(self, connection: sqlite3.Connection, stamp: Stamp, ids: Ids) -> Mask | None:
        """Return which rows the commit has; None for all. Within a generation no vector is deleted."""
        before = self.newest.alive
        if stamp.generation != self.newest.stamp.generation:
            alive = np.isin(ids, read_ids(connection, stamp.embedder))
        elif before is not None:
            alive = np.concatenate([before, np.ones(len(ids) - len(before), np.bool_)])
        else:
            return None
        return None if alive.all() else alive


def _gathered(matrix: Rows, rows: Ids, query: Rows) -> Rows:
    """Return the cosines of some rows."""
    found = np.empty(len(rows), np.float32)
    some = np.empty((min(_SOME, len(rows)), matrix.shape[1]), np.float32)
    for begin in range(0, len(rows), _SOME):
        chosen = rows[begin : begin + _SOME]
        np.take(matrix, chosen, axis=0, out=some[: len(chosen)], mode="clip")
        np.vecdot(some[: len(chosen)], query, out=found[begin : begin + len(chosen)])
    return found
