"""The statements of the vector cache; each runs in the caller's transaction and takes some milliseconds."""

from __future__ import annotations

import zlib
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence

_MAX_ROWS = 256  # variables of a statement, and rows of a transaction
_MAX_PAGES = 2000
# Rows that leave at once at least: half-empty pages give back nothing.
_MIN_EVICTED = 8


class Space(NamedTuple):
    """What may be compared and shared: one model's vectors of one kind, for one class of callers."""

    fingerprint: str
    caller_class: str
    kind: str


class Found(NamedTuple):
    """An entry as it is stored; its checksum is that of the vector when it was."""

    id: int
    hash: bytes
    used: int
    dimensions: int
    checksum: int
    vector: bytes


class New(NamedTuple):
    """An entry to store."""

    hash: bytes
    windows: int
    dimensions: int
    vector: bytes


def find(connection: sqlite3.Connection, space: Space, hashes: Collection[bytes]) -> list[Found]:
    """Return the entries of these hashes, in no order."""
    marks = ",".join("?" * len(hashes))
    rows = connection.execute(
        "SELECT entries.id, entries.hash, entries.used, spaces.dimensions, vectors.checksum, vectors.vector "  # noqa: S608
        "FROM spaces "
        "CROSS JOIN entries ON entries.space = spaces.id CROSS JOIN vectors ON vectors.id = entries.id "
        "WHERE spaces.fingerprint = ? AND spaces.caller_class = ? AND spaces.kind = ? "
        f"AND entries.hash IN ({marks})",
        (*space, *hashes),
    )
    return [Found(*row) for row in rows]


def put(connection: sqlite3.Connection, space: Space, rows: Sequence[New], *, name: str, now: int) -> None:
    """Store entries of one dimension, in the place of what their hashes have."""
    number = _space(connection, space, rows[0].dimensions, name)
    marks = ",".join("?" * len(rows))
    known = connection.execute(
        f"SELECT id FROM entries WHERE space = ? AND hash IN ({marks})",  # noqa: S608
        (number, *(row.hash for row in rows)),
    )
    delete(connection, [row[0] for row in known])
    last: int = connection.execute("SELECT ifnull(max(id), 0) FROM entries").fetchone()[0]
    numbered = list(enumerate(rows, last + 1))
    connection.executemany(
        "INSERT INTO entries (id, space, hash, used, windows) VALUES (?, ?, ?, ?, ?)",
        [(id_, number, row.hash, now, row.windows) for id_, row in numbered],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO vectors (id, checksum, vector) VALUES (?, ?, ?)",
        [(id_, zlib.crc32(row.vector), row.vector) for id_, row in numbered],
    )


def delete(connection: sqlite3.Connection, ids: Collection[int]) -> int:
    """Drop these entries, and return how many were asked for."""
    rows = [(id_,) for id_ in ids]
    connection.executemany("DELETE FROM entries WHERE id = ?", rows)
    connection.executemany("DELETE FROM vectors WHERE id = ?", rows)
    return len(rows)


def touch(connection: sqlite3.Connection, ids: Collection[int], *, now: int) -> None:
    """Write down that these entries were used."""
    connection.executemany("UPDATE entries SET used = ? WHERE id = ?", [(now, id_) for id_ in ids])


def live_bytes(connection: sqlite3.Connection) -> int:
    """Return the size of the file without its free pages."""
    return _page_bytes(connection) * (
        _pragma(connection, "page_count") - _pragma(connection, "freelist_count")
    )


def evict(connection: sqlite3.Connection, goal: int) -> int:
    """Drop some of what was not used for longest, on the way to `goal` bytes; 0 when there."""
    excess = live_bytes(connection) - goal
    if excess <= 0:
        return 0
    rows: list[tuple[int, int]] = connection.execute(
        "SELECT entries.id, windows * dimensions * 4 FROM entries JOIN spaces ON spaces.id = space "
        "ORDER BY used, entries.id LIMIT ?",
        (_MAX_ROWS,),
    ).fetchall()
    sizes = accumulate(size for _, size in rows)
    enough = max(_MIN_EVICTED, 1 + sum(1 for _ in takewhile(lambda size: size < excess, sizes)))
    return delete(connection, [id_ for id_, _ in rows[:enough]])


def delete_all(connection: sqlite3.Connection) -> int:
    """Drop every entry; without conditions SQLite lets go of whole trees at once."""
    entries: int = connection.execute("SELECT count(*) FROM entries").fetchone()[0]
    for table in ("vectors", "entries", "spaces"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608  # the names above
    return entries


def delete_some(connection: sqlite3.Connection, fingerprint: str) -> int:
    """Drop some entries of a model; 0 when there are none."""
    rows = connection.execute(
        "SELECT entries.id FROM spaces JOIN entries ON space = spaces.id WHERE fingerprint = ? LIMIT ?",
        (fingerprint, _MAX_ROWS * 8),
    )
    return delete(connection, [row[0] for row in rows])


def shrink(connection: sqlite3.Connection, max_bytes: int) -> int:
    """Give some free pages of a file that is larger than that back to the disk; 0 when there are none."""
    free = _pragma(connection, "freelist_count")
    excess = _pragma(connection, "page_count") - max_bytes // _page_bytes(connection)
    pages = min(free, excess, _MAX_PAGES)
    if pages <= 0:
        return 0
    connection.execute(
        f"PRAGMA incremental_vacuum({pages})"
    ).fetchall()  # a page for each row that is fetched
    return free - _pragma(connection, "freelist_count")


def checkpoint(connection: sqlite3.Connection) -> None:
    """Bring the log into the file and cut it, unless a reader needs it; outside of any transaction."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def by_model(connection: sqlite3.Connection) -> list[tuple[str, str, int, int]]:
    """Return name, fingerprint, entries and bytes of vectors for each model, the largest first."""
    return connection.execute(
        "SELECT max(name), fingerprint, sum(entries), sum(windows * dimensions * 4) AS bytes FROM spaces "
        # The + keeps SQLite from an index that would have it look up each row.
        "JOIN (SELECT space, count(*) AS entries, sum(windows) AS windows FROM entries GROUP BY +space) "
        "ON space = spaces.id GROUP BY fingerprint ORDER BY bytes DESC, fingerprint"
    ).fetchall()


def _space(connection: sqlite3.Connection, space: Space, dimensions: int, name: str) -> int:
    """Return the space's number; where its vectors have another length they are another model's, and go."""
    known = connection.execute(
        "SELECT id, dimensions FROM spaces WHERE fingerprint = ? AND caller_class = ? AND kind = ?", space
    ).fetchone()
    if known is not None:
        number: int = known[0]
        if known[1] == dimensions:
            return number
        connection.execute(
            "DELETE FROM vectors WHERE id IN (SELECT id FROM entries WHERE space = ?)", (number,)
        )
        connection.execute("DELETE FROM entries WHERE space = ?", (number,))
        connection.execute("DELETE FROM spaces WHERE id = ?", (number,))
    made = connection.execute(
        "INSERT INTO spaces (fingerprint, caller_class, kind, dimensions, name) VALUES (?, ?, ?, ?, ?)",
        (*space, dimensions, name),
    ).lastrowid
    assert made is not None  # noqa: S101  # an INSERT has just set it
    return made


def _page_bytes(connection: sqlite3.Connection) -> int:
    return _pragma(connection, "page_size")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    value: int = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value
