"""The vectors of the embedder that serves, ready to be compared with a question's."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from firstlight.store.exact import ExactMatrix
from firstlight.store.vector_rows import read_stamp

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from firstlight.store.embedders import EmbedderRow
    from firstlight.store.vector_rows import Ids, Mask, Rows, Stamp


class Vectors(Protocol):
    """The vectors of one embedder as one commit has them."""

    @property
    def stamp(self) -> Stamp:
        """What they were read of."""
        ...

    def __len__(self) -> int:
        """How many there are."""
        ...

    def cosines(self, query: Rows, *, ids: Ids, mask: Mask | None = None) -> Rows:
        """Return float32[n], the cosine of each chunk; NaN where it has no vector or is masked out.

        Args:
            query: float32[d], of unit length.
            ids: int64[n], chunks, ascending; the same array again is found quicker.
            mask: bool[n], true for the chunks that are wanted.
        """
        ...


class VectorMatrix:
    """The newest vectors of an embedder; what did not change since is kept.

    Args:
        folder: The state folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._matrix: ExactMatrix | None = None
        self._lock = threading.Lock()

    def refresh(self, connection: sqlite3.Connection, embedder: EmbedderRow) -> Vectors:
        """Return the vectors that belong to the connection's read transaction; use them inside it alone."""
        stamp = read_stamp(connection, embedder)
        with self._lock:
            if self._matrix is None or not self._matrix.newest.stamp.same_matrix(stamp):
                self._matrix = ExactMatrix(connection, stamp)
            return self._matrix.at(connection, stamp)
