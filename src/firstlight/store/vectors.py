"""The rows of vectors: what the worker writes, and what a sync takes over.

`max(id)` of `vectors` and the generation together say whether what was made of the rows is stale: ids only
grow, rows are never updated, and a vector whose chunk lives is deleted in no commit but one that raises the
generation.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.embed.unit import is_unit, mean

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Windows = NDArray[np.float32]

# The reason of a chunk whose language the model does not know: no failure, nothing will be tried again.
FOREIGN = "language"


class Counts(NamedTuple):
    """How far an embedder is.

    Attributes:
        embedded: Chunks with a vector.
        failed: Chunks that cannot be embedded.
        foreign: Chunks in a language that the model does not know.
        windows: In how many pieces the embedded chunks were embedded, all together.
        total: All chunks.
    """

    embedded: int
    failed: int
    foreign: int
    windows: int
    total: int

    @property
    def waiting(self) -> int:
        """Chunks that are still to be embedded."""
        return max(0, self.total - self.embedded - self.failed - self.foreign)


class Problem(NamedTuple):
    """A row of `vectors` that is not as it should be.

    Attributes:
        kind: "missing", "orphaned" or "different".
        row: Its id, for `delete_rows`.
        chunk: The chunk that it names.
        reason: What is wrong.
    """

    kind: str
    row: int
    chunk: int
    reason: str


def combine(windows: Windows) -> Windows:
    """Return what is kept of a chunk's windows: the mean of float32[w, d], at unit length, as float32[1, d].

    On the labelled collections it does as well as each chunk's best window (benchmarks/results/hybrid.md),
    and one vector for each chunk keeps everything else simple.
    """
    return mean(windows)[np.newaxis]


def insert_vectors(
    connection: sqlite3.Connection, embedder: int, rows: Iterable[tuple[int, bytes, Windows]]
) -> int:
    """Store vectors of chunks; return how many were stored.

    Left out are chunks that have gone meanwhile, or are others by now, and those that have a vector already.

    Args:
        connection: An immediate transaction.
        embedder: Its id; its dimensions are set.
        rows: A chunk, the hash of what was embedded of it, and float32[w, d], the vector of each window.

    Raises:
        ValueError: A vector has the wrong length or is not of unit length; nothing was stored.
    """
    found = connection.execute("SELECT dimensions FROM embedders WHERE id = ?", (embedder,)).fetchone()
    if found is None:
        return 0
    values = []
    for chunk, input_hash, windows in rows:
        blob = _blob(chunk, windows, found[0])
        values.append((embedder, len(windows), zlib.crc32(blob), blob, chunk, input_hash))
    _delete_failures(connection, embedder, [value[4] for value in values])
    return connection.executemany(
        "INSERT OR IGNORE INTO vectors (embedder, chunk, input_hash, windows, checksum, vector) "
        "SELECT ?, id, input_hash, ?, ?, ? FROM chunks WHERE id = ? AND input_hash = ?",
        values,
    ).rowcount


def insert_failures(
    connection: sqlite3.Connection, embedder: int, rows: Iterable[tuple[int, bytes, str]]
) -> int:
    """Store for chunks, each with the hash of what was to be embedded, why they have no vector.

    Left out are the same chunks as for vectors.
    """
    values = [(reason, embedder, chunk, input_hash) for chunk, input_hash, reason in rows]
    _delete_failures(connection, embedder, [value[2] for value in values])
    return connection.executemany(
        "INSERT OR IGNORE INTO vectors (embedder, chunk, input_hash, windows, reason) "
        "SELECT e.id, c.id, c.input_hash, 0, ? FROM embedders e CROSS JOIN chunks c "
        "WHERE e.id = ? AND c.id = ? AND c.input_hash = ?",
        values,
    ).rowcount


def adopt_vectors(connection: sqlite3.Connection, first_chunk: int) -> int:
    """Give the chunks from `first_chunk` on copies of the vectors that their very input has already.

    Whatever moves keeps its vectors so. Call it after new chunks are in, and before the vectors of those that
    they replace are deleted.
    """
    return connection.execute(
        "INSERT INTO vectors (embedder, chunk, input_hash, windows, checksum, vector) "
        "SELECT v.embedder, c.id, c.input_hash, v.windows, v.checksum, v.vector "
        "FROM chunks c CROSS JOIN embedders e CROSS JOIN vectors v "
        "WHERE c.id >= ? AND v.id = (SELECT min(id) FROM vectors "
        "WHERE input_hash = c.input_hash AND embedder = e.id AND vector IS NOT NULL) "
        "AND NOT EXISTS (SELECT 1 FROM vectors WHERE embedder = e.id AND chunk = c.id)",
        (first_chunk,),
    ).rowcount


def read_chunk_ids(connection: sqlite3.Connection, documents: Sequence[int]) -> list[int]:
    """Return the chunks of documents; ask before these are deleted, and `delete_vectors` after."""
    rows = connection.execute(
        "SELECT id FROM chunks WHERE document IN (SELECT value FROM json_each(?))", (json.dumps(documents),)
    )
    return [chunk for (chunk,) in rows]


def delete_vectors(connection: sqlite3.Connection, chunks: Sequence[int]) -> None:
    """Forget all that is known of chunks, of every embedder; where one lives, raise the generation."""
    connection.execute(
        "DELETE FROM vectors WHERE chunk IN (SELECT value FROM json_each(?)) "
        "AND embedder IN (SELECT id FROM embedders)",
        (json.dumps(chunks),),
    )


def delete_orphans(connection: sqlite3.Connection) -> int:
    """Forget the vectors whose chunk or embedder is gone; a repair, since it looks at every row."""
    return connection.execute(
        "DELETE FROM vectors WHERE embedder NOT IN (SELECT id FROM embedders) "
        "OR chunk NOT IN (SELECT id FROM chunks)"
    ).rowcount


def count_vectors(connection: sqlite3.Connection, embedder: int) -> Counts:
    """Return how far an embedder is; it reads indexes alone."""
    rows = connection.execute(
        "SELECT (SELECT count(*) FROM vectors WHERE embedder = ?1), "
        "(SELECT count(*) FROM vectors WHERE embedder = ?1 AND reason IS NOT NULL), "
        "(SELECT count(*) FROM vectors WHERE embedder = ?1 AND reason = ?2), "
        "(SELECT coalesce(sum(windows - 1), 0) FROM vectors WHERE embedder = ?1 AND windows > 1), "
        "(SELECT coalesce(sum(chunks), 0) FROM documents)",
        (embedder, FOREIGN),
    )
    known, reasons, foreign, more_windows, total = rows.fetchone()
    embedded = known - reasons
    return Counts(embedded, reasons - foreign, foreign, embedded + more_windows, total)


def any_vector(connection: sqlite3.Connection, embedder: int) -> bool:
    """Whether any chunk has a vector."""
    found = connection.execute(
        "SELECT 1 FROM vectors WHERE embedder = ? AND vector IS NOT NULL LIMIT 1", (embedder,)
    )
    return found.fetchone() is not None


def read_known_inputs(connection: sqlite3.Connection, embedder: int, inputs: Sequence[bytes]) -> set[bytes]:
    """Return which of these hashes of inputs some chunk has a vector of."""
    find = "SELECT 1 FROM vectors WHERE input_hash = ? AND embedder = ? AND vector IS NOT NULL LIMIT 1"
    return {each for each in inputs if connection.execute(find, (each, embedder)).fetchone() is not None}


def sample_vectors(connection: sqlite3.Connection, embedder: int, *, dimensions: int, most: int) -> Windows:
    """Return float32[n, d]: the vectors of chunks spread evenly over all, `most` at most."""
    ids = connection.execute(
        "SELECT chunk FROM vectors WHERE embedder = ? ORDER BY chunk", (embedder,)
    ).fetchall()
    chosen = [chunk for (chunk,) in ids[:: -(-len(ids) // most) or 1]]
    rows = connection.execute(
        "SELECT vector FROM vectors WHERE embedder = ? AND vector IS NOT NULL "
        "AND chunk IN (SELECT value FROM json_each(?)) ORDER BY chunk",
        (embedder, json.dumps(chosen)),
    )
    return np.frombuffer(b"".join(vector for (vector,) in rows), "<f4").reshape(-1, max(1, dimensions))


def _blob(chunk: int, windows: Windows, dimensions: int) -> bytes:
    if windows.ndim != 2 or windows.shape[1] != dimensions or not len(windows) or not is_unit(windows).all():
        raise ValueError(
            f"chunk {chunk}: {windows.shape} are no vectors of unit length and {dimensions} numbers"
        )
    return combine(windows).astype("<f4").tobytes()


def _delete_failures(connection: sqlite3.Connection, embedder: int, chunks: Sequence[int]) -> None:
    connection.execute(
        "DELETE FROM vectors WHERE embedder = ? AND chunk IN (SELECT value FROM json_each(?)) "
        "AND vector IS NULL",
        (embedder, json.dumps(chunks)),
    )


def check_vectors(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Yield the rows that are not as they should be; it reads them all."""
    chunks = dict(connection.execute("SELECT id, input_hash FROM chunks"))
    lengths = dict(connection.execute("SELECT id, dimensions FROM embedders"))
    rows = connection.execute(
        "SELECT id, embedder, chunk, input_hash, windows, reason, checksum, vector FROM vectors"
    )
    for number, embedder, chunk, input_hash, windows, reason, checksum, vector in rows:
        if chunk not in chunks:
            yield Problem("orphaned", number, chunk, "its chunk is gone")
        elif embedder not in lengths:
            yield Problem("orphaned", number, chunk, "its embedder is gone")
        elif input_hash != chunks[chunk]:
            yield Problem("different", number, chunk, "it is of another text")
        elif vector is None and reason is None:
            yield Problem("missing", number, chunk, "neither a vector nor a reason")
        elif number < 1 or (vector is not None and reason is not None):
            yield Problem("different", number, chunk, "no row as they are written")
        elif fault := _fault(vector, checksum, lengths[embedder], windows):
            yield Problem("different", number, chunk, fault)


def delete_rows(connection: sqlite3.Connection, rows: Sequence[int]) -> set[int]:
    """Forget what was found wrong, by the ids of rows; raise the generation in the same transaction.

    Returns:
        The embedders whose rows they were.
    """
    owners = connection.execute(
        "DELETE FROM vectors WHERE id IN (SELECT value FROM json_each(?)) RETURNING embedder",
        (json.dumps(rows),),
    )
    return {owner for (owner,) in owners}


def _fault(vector: object, checksum: object, dimensions: int, windows: object) -> str | None:
    """Return what is wrong with a stored vector; None where nothing is, or where there is none."""
    if vector is None:
        return None
    if not isinstance(vector, bytes) or not dimensions or len(vector) != 4 * dimensions:
        return f"not a vector of {dimensions} numbers"
    if not isinstance(windows, int) or windows < 1:
        return f"a vector of {windows} windows"
    row = np.frombuffer(vector, "<f4")[None]
    if not np.isfinite(row).all():
        return "its vector is not finite"
    if not is_unit(row).all():
        return "its vector is not of unit length"
    return None if zlib.crc32(vector) == checksum else "its vector is not as it was written"
