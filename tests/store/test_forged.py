"""An index from anywhere: rows, tables and triggers that firstlight never made."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from firstlight.errors import StoreError
from firstlight.store import lease
from firstlight.store.database import Database, create
from firstlight.store.embedders import forget_embedders, insert_embedder, read_embedders, unsound_embedders
from firstlight.store.fts5 import keep_fts5
from firstlight.store.meta import Meta
from firstlight.store.schema import NotOursError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    create(tmp_path / "corpus.db", Meta("id", "/docs")._asdict())
    database = Database(tmp_path / "corpus.db")
    yield database
    database.close()


def forge(database: Database, script: str) -> None:
    database.let_go()
    connection = sqlite3.connect(database.path)
    connection.executescript(script)
    connection.close()


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TRIGGER evil AFTER INSERT ON vectors BEGIN DELETE FROM chunks; END",
        "CREATE TRIGGER evil AFTER UPDATE ON lease BEGIN UPDATE lease SET token = 0; END",
        "CREATE INDEX evil ON chunks (length(hex(zeroblob(length(text)))))",
        "DROP TABLE wanted",
        "DROP INDEX vectors_chunk",
        "ALTER TABLE vectors RENAME TO held; CREATE VIEW vectors AS SELECT * FROM held",
        "ALTER TABLE lease ADD COLUMN more",
    ],
)
def test_tables_that_are_not_as_we_make_them_are_refused(database: Database, script: str) -> None:
    forge(database, script)
    with pytest.raises(NotOursError, match="sync --rebuild"), database.read():
        pass


def test_what_another_client_keeps_beside_our_tables_is_left_alone(database: Database) -> None:
    with database.write() as connection:
        keep_fts5(connection, keep=True)
    forge(database, "CREATE TABLE notes (text); CREATE VIEW titles AS SELECT title FROM documents; ANALYZE")
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM titles").fetchone() == (0,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"CREATE TABLE documents", b"CREATE TABL\x9b documents"),  # SQLite quotes it in its error
        (b"windows INTEGER", b"window\x9b INTEGER"),  # a name that SQLite takes, and Python does not
    ],
)
def test_tables_whose_very_statements_are_unreadable_are_told_as_damage(
    database: Database, old: bytes, new: bytes
) -> None:
    database.let_go()
    data = database.path.read_bytes()
    assert old in data
    database.path.write_bytes(data.replace(old, new))
    with pytest.raises(NotOursError, match="sync --rebuild"), database.read():
        pass


@pytest.mark.parametrize(
    "column", ["spec", "name", "fingerprint", "dimensions", "floor", "tokens", "trouble"]
)
@pytest.mark.parametrize("value", [b"\xff", "x" * 1_000_000, -(2**63), 1e308, -1e308, float("inf")])
def test_an_embedder_that_nobody_recorded_is_told_and_can_be_forgotten(
    database: Database, column: str, value: object
) -> None:
    with database.write() as connection:
        number = insert_embedder(
            connection, role="serving", spec="a", name="a", fingerprint="a", dimensions=2
        )
        connection.execute(f"UPDATE embedders SET {column} = ?", (value,))
        if unsound_embedders(connection):  # texts take numbers as their digits
            with pytest.raises(StoreError, match="verify --repair"):
                read_embedders(connection)
            forget_embedders(connection, [number])
            assert read_embedders(connection) == {}
        else:
            assert isinstance(getattr(read_embedders(connection)["serving"], column), str)


@pytest.mark.parametrize(
    "forged",
    [
        "DELETE FROM lease",
        "UPDATE lease SET token = 9223372036854775807, owner = 'a:1:1', expires_ns = 5",
        "UPDATE lease SET token = 'x'",
        "UPDATE lease SET owner = x'ff'",
        "UPDATE lease SET owner = hex(zeroblob(500000)) || ':1:1', expires_ns = 9223372036854775807",
        "UPDATE lease SET owner = 'a:1:1', expires_ns = 'never'",
        "UPDATE lease SET owner = 'a:1:1', expires_ns = 253402300799000000000",
        "UPDATE lease SET owner = 'a:1:1', rate = 9e999",
    ],
)
def test_a_lease_that_nobody_took_is_free_and_fences_as_ever(database: Database, forged: str) -> None:
    with database.write() as connection:
        connection.execute(forged)
        assert not lease.read(connection).live
        first = lease.take(connection, lease.this_process(), seconds=5)
        assert first is not None
        assert lease.holds(connection, first)
        lease.revoke(connection)
        second = lease.take(connection, lease.this_process(), seconds=5)
        assert second is not None
        assert second > first
        assert not lease.holds(connection, first)
