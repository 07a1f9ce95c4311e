"""The embedders that an index has vectors of: the one that serves, one being filled, the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from firstlight.embed.types import MOST_DIMENSIONS
from firstlight.errors import StoreError
from firstlight.store.vectors import FOREIGN

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

SERVING = "serving"
SHADOW = "shadow"
PREVIOUS = "previous"
_MOVING = "moving"  # no two rows may have one role, not even between two statements
_ROLES = (SERVING, SHADOW, PREVIOUS)
# Far above what any embedder says of itself, and any vector has: what exceeds it nobody wrote on purpose.
_LONGEST_TEXT = 10_000
_MOST = 1 << 53


class EmbedderRow(NamedTuple):
    """A row of `embedders`.

    Attributes:
        id: Its number, never used again.
        role: "serving", "shadow" while a migration fills it, or "previous" after one.
        spec: How a user names it.
        name: What a person calls the model.
        fingerprint: Everything that makes two vectors comparable.
        dimensions: The length of its vectors; 0 until the first is known.
        floor: The cosine from which a passage counts as a match; None while it is not calibrated.
        tokens: How many were sent to it so far.
        trouble: Why the embedding does not go on; None where nothing is wrong.
    """

    id: int
    role: str
    spec: str
    name: str
    fingerprint: str
    dimensions: int
    floor: float | None
    tokens: int
    trouble: str | None = None


def is_floor(value: object) -> bool:
    """Whether this is a cosine that a match can have.

    Example:
        >>> is_floor(0.3), is_floor(float("nan")), is_floor(1.0)
        (True, False, False)
    """
    return isinstance(value, float) and -1.0 <= value < 1.0


def read_embedders(connection: sqlite3.Connection) -> dict[str, EmbedderRow]:
    """Return the embedders by their roles.

    Raises:
        StoreError: A row is damaged, or was never ours.
    """
    rows = _all_rows(connection)
    if not all(map(_is_sound, rows)):
        raise StoreError(
            "what the index says of its embedder is damaged; `firstlight verify --repair` forgets it, and "
            "the vectors that nobody can tell the model of"
        )
    return {row.role: row for row in rows}


def unsound_embedders(connection: sqlite3.Connection) -> list[int]:
    """Return the ids of the embedders whose rows cannot be relied upon."""
    return [row.id for row in _all_rows(connection) if not _is_sound(row)]


def forget_embedders(connection: sqlite3.Connection, embedders: Sequence[int]) -> None:
    """Forget embedders and their vectors; raise the generation in the same transaction."""
    for number in embedders:
        connection.execute("DELETE FROM vectors WHERE embedder = ?", (number,))
        connection.execute("DELETE FROM embedders WHERE id = ?", (number,))


def _all_rows(connection: sqlite3.Connection) -> list[EmbedderRow]:
    rows = connection.execute(
        "SELECT id, role, spec, name, fingerprint, dimensions, floor, tokens, trouble FROM embedders"
    )
    return [EmbedderRow._make(row) for row in rows]


def _is_sound(row: EmbedderRow) -> bool:
    texts = (row.spec, row.name, row.fingerprint, "" if row.trouble is None else row.trouble)
    return (
        row.role in _ROLES
        and all(isinstance(text, str) and len(text) <= _LONGEST_TEXT for text in texts)
        and _is_count(row.dimensions, MOST_DIMENSIONS)
        and _is_count(row.tokens, _MOST)
        and (row.floor is None or is_floor(row.floor))
    )


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, int) and 0 <= value <= most


def insert_embedder(
    connection: sqlite3.Connection, *, role: str, spec: str, name: str, fingerprint: str, dimensions: int
) -> int:
    """Add an embedder in a role that none has; return its id."""
    rows = connection.execute(
        "INSERT INTO embedders (role, spec, name, fingerprint, dimensions, tokens) "
        "VALUES (?, ?, ?, ?, ?, 0) RETURNING id",
        (role, spec, name, fingerprint, dimensions),
    )
    number: int = rows.fetchall()[0][0]
    return number


def set_floor(connection: sqlite3.Connection, embedder: int, floor: float) -> None:
    """Record the cosine from which a passage counts as a match."""
    connection.execute("UPDATE embedders SET floor = ? WHERE id = ?", (floor, embedder))


def set_dimensions(connection: sqlite3.Connection, embedder: int, dimensions: int) -> bool:
    """Record the length of the vectors, once; return whether it is `dimensions` now."""
    connection.execute(
        "UPDATE embedders SET dimensions = ? WHERE id = ? AND dimensions = 0", (dimensions, embedder)
    )
    rows = connection.execute("SELECT dimensions FROM embedders WHERE id = ?", (embedder,)).fetchall()
    return bool(rows) and rows[0][0] == dimensions


def set_trouble(connection: sqlite3.Connection, embedder: int, trouble: str | None) -> None:
    """Record why the embedding does not go on, or that it does."""
    connection.execute("UPDATE embedders SET trouble = ? WHERE id = ?", (trouble, embedder))


def add_tokens(connection: sqlite3.Connection, embedder: int, tokens: int) -> None:
    """Count tokens that were sent."""
    connection.execute("UPDATE embedders SET tokens = tokens + ? WHERE id = ?", (tokens, embedder))


def promote(connection: sqlite3.Connection) -> bool:
    """Let the shadow serve, and the one that served be the previous one; the former previous one goes.

    What a search finds changes with it: raise the generation in the same transaction.

    Returns:
        False, and nothing is changed, where there is no shadow.
    """
    if SHADOW not in read_embedders(connection):
        return False
    drop_embedder(connection, PREVIOUS)
    _give_role(connection, SERVING, PREVIOUS)
    _give_role(connection, SHADOW, SERVING)
    return True


def roll_back(connection: sqlite3.Connection) -> bool:
    """Let the previous embedder and the serving one change places; doing it twice changes nothing.

    What a search finds changes with it: raise the generation in the same transaction.

    Returns:
        False, and nothing is changed, where there is no previous one.
    """
    if PREVIOUS not in read_embedders(connection):
        return False
    _give_role(connection, SERVING, _MOVING)
    _give_role(connection, PREVIOUS, SERVING)
    _give_role(connection, _MOVING, PREVIOUS)
    return True


def take_up_again(connection: sqlite3.Connection) -> None:
    """Let the previous embedder be the shadow, with the vectors that it has; there is no shadow."""
    _give_role(connection, PREVIOUS, SHADOW)


def count_lost(connection: sqlite3.Connection, *, old: int, new: int) -> int:
    """Return how many chunks a new embedder cannot embed, by the ids of both.

    What is in a language that it does not know counts where the old one has a vector of it.
    """
    found = connection.execute(
        "SELECT count(*) FROM vectors n WHERE n.embedder = ? AND n.reason IS NOT NULL "
        "AND (n.reason != ? OR EXISTS (SELECT 1 FROM vectors o "
        "WHERE o.embedder = ? AND o.chunk = n.chunk AND o.vector IS NOT NULL))",
        (new, FOREIGN, old),
    )
    lost: int = found.fetchone()[0]
    return lost


def drop_embedder(connection: sqlite3.Connection, role: str) -> bool:
    """Forget the embedder of this role and its vectors; return whether there was one.

    Where it is the one that serves, raise the generation in the same transaction.
    """
    row = read_embedders(connection).get(role)
    if row is None:
        return False
    connection.execute("DELETE FROM vectors WHERE embedder = ?", (row.id,))
    connection.execute("DELETE FROM embedders WHERE id = ?", (row.id,))
    return True


def _give_role(connection: sqlite3.Connection, old: str, new: str) -> None:
    connection.execute("UPDATE embedders SET role = ? WHERE role = ?", (new, old))
