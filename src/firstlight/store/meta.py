"""The few facts about the index as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from firstlight.store.schema import NotOursError

if TYPE_CHECKING:
    import sqlite3


class Meta(NamedTuple):
    """What the index knows of itself.

    Attributes:
        corpus: Its own random id, told to whatever is derived from it.
        root: The content folder that it was made from.
        generation: Grows with every commit that changes what a search can find.
        synced_ns: When the last complete sync began, in nanoseconds since 1970; 0 before the first.
        fts5: 1 where an FTS5 table of the chunks is kept.
    """

    corpus: str
    root: str
    generation: int = 0
    synced_ns: int = 0
    fts5: int = 0


def read_meta(connection: sqlite3.Connection) -> Meta:
    """Return the facts.

    Raises:
        NotOursError: They are damaged.
    """
    held = dict(connection.execute("SELECT key, value FROM meta"))
    meta = Meta._make(held.get(name) for name in Meta._fields)
    if [type(value) for value in meta] != [str, str, int, int, int]:
        raise NotOursError("the index does not know itself; `firstlight sync --rebuild` makes it anew")
    return meta


def write_meta(connection: sqlite3.Connection, **facts: str | int) -> None:
    """Change some of the facts."""
    connection.executemany(
        "UPDATE meta SET value = ? WHERE key = ?", ((value, key) for key, value in facts.items())
    )


def raise_generation(connection: sqlite3.Connection) -> int:
    """Count one more change of what a search can find; return the new generation."""
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
    generation: int = connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0]
    return generation
