from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from firstlight.store.database import Database, create
from firstlight.store.meta import Meta
from firstlight.store.wanted import MOST_WANTED, forget, want

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    create(tmp_path / "corpus.db", Meta("id", "/docs")._asdict())
    database = Database(tmp_path / "corpus.db")
    with database.write() as opened:
        yield opened
    database.close()


def wanted(connection: sqlite3.Connection) -> dict[int, int]:
    return dict(connection.execute("SELECT chunk, asked_ns FROM wanted"))


def test_a_chunk_is_wanted_since_the_last_question_that_hit_it(connection: sqlite3.Connection) -> None:
    want(connection, [1, 2], clock=lambda: 10)
    want(connection, [2, 3], clock=lambda: 20)
    assert wanted(connection) == {1: 10, 2: 20, 3: 20}


def test_what_is_done_is_forgotten(connection: sqlite3.Connection) -> None:
    want(connection, [1, 2, 3], clock=lambda: 10)
    forget(connection, [2, 3, 4])
    forget(connection, [])
    assert wanted(connection) == {1: 10}


def test_the_newest_are_kept(connection: sqlite3.Connection) -> None:
    clock = count().__next__
    for begin in range(0, 1800, 300):
        want(connection, range(begin, begin + 300), clock=clock)
    kept = wanted(connection)
    assert len(kept) == MOST_WANTED
    assert set(kept) == {*range(600, 700), *range(900, 1800)}
