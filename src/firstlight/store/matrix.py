"""The vectors of the embedder that serves, ready to be compared with a question's."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from firstlight.errors import StoreError
from firstlight.store.exact import ExactMatrix
from firstlight.store.quantized import QuantizedMatrix
from firstlight.store.vector_rows import count_rows, read_stamp

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path
    from typing import TypeAlias

    from firstlight.store.embedders import EmbedderRow
    from firstlight.store.vector_rows import Ids, Mask, Rows, Stamp

    Matrix: TypeAlias = ExactMatrix | QuantizedMatrix

# Vectors that take more than this as float32 are kept in a mapped file, in a byte a number.
QUANTIZED_BYTES = 1_000_000_000


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
        self._matrix: Matrix | None = None
        self._may_write = True
        self._lock = threading.Lock()

    def refresh(self, connection: sqlite3.Connection, embedder: EmbedderRow) -> Vectors:
        """Return the vectors that belong to the connection's read transaction; use them inside it alone."""
        stamp = read_stamp(connection, embedder)
        with self._lock:
            known = self._matrix
            if known is None or not known.stamp.same_matrix(stamp):
                known = None
            if known is None or known.stamp != stamp:
                known = self._matrix = self._fitting(connection, embedder, stamp, known)
            return known.at(connection, stamp)

    def _fitting(
        self, connection: sqlite3.Connection, embedder: EmbedderRow, stamp: Stamp, known: Matrix | None
    ) -> Matrix:
        """Return the matrix of the kind that fits the size; the `known` one as long as it does."""
        size = count_rows(connection, stamp.embedder) * 4 * stamp.dimensions
        if isinstance(known, QuantizedMatrix) and 2 * size > QUANTIZED_BYTES:
            return known
        if size > QUANTIZED_BYTES and self._may_write:
            try:
                return QuantizedMatrix(connection, self._folder, stamp, embedder.fingerprint)
            except StoreError:  # the memory has to do
                self._may_write = False
        return known if isinstance(known, ExactMatrix) else ExactMatrix(connection, stamp)
