"""The chunks that recent questions hit: the worker embeds them first."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

# The newest ones that are kept.
MOST_WANTED = 1000


def want(
    connection: sqlite3.Connection, chunks: Sequence[int], *, clock: Callable[[], int] = time.time_ns
) -> None:
    """Remember that a question hit `chunks` just now; the oldest beyond 1,000 are forgotten."""
    asked_ns = clock()
    connection.executemany(
        "INSERT INTO wanted (chunk, asked_ns) VALUES (?, ?) "
        "ON CONFLICT (chunk) DO UPDATE SET asked_ns = excluded.asked_ns",
        ((chunk, asked_ns) for chunk in chunks),
    )
    connection.execute(
        "DELETE FROM wanted WHERE chunk IN "
        "(SELECT chunk FROM wanted ORDER BY asked_ns DESC, chunk LIMIT -1 OFFSET ?)",
        (MOST_WANTED,),
    )


def forget(connection: sqlite3.Connection, chunks: Sequence[int]) -> None:
    """Forget chunks: they are embedded, cannot be, or are gone."""
    connection.execute(
        "DELETE FROM wanted WHERE chunk IN (SELECT value FROM json_each(?))", (json.dumps(chunks),)
    )
