from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from firstlight.store.database import Database, create
from firstlight.store.embedders import (
    EmbedderRow,
    add_tokens,
    count_lost,
    drop_embedder,
    insert_embedder,
    promote,
    read_embedders,
    roll_back,
    set_dimensions,
    set_floor,
    take_up_again,
)
from firstlight.store.meta import Meta

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    create(tmp_path / "corpus.db", Meta("id", "/docs")._asdict())
    database = Database(tmp_path / "corpus.db")
    with database.write() as opened:
        yield opened
    database.close()


def add(connection: sqlite3.Connection, role: str, name: str) -> int:
    """An embedder with one vector."""
    number = insert_embedder(
        connection, role=role, spec=f"local:{name}", name=name, fingerprint=f"{name}/1", dimensions=2
    )
    connection.execute(
        "INSERT INTO vectors (embedder, chunk, input_hash, windows, vector) VALUES (?, 1, x'00', 1, x'00')",
        (number,),
    )
    return number


def roles(connection: sqlite3.Connection) -> dict[str, str]:
    return {role: row.name for role, row in read_embedders(connection).items()}


def owners(connection: sqlite3.Connection) -> set[int]:
    return {embedder for (embedder,) in connection.execute("SELECT embedder FROM vectors")}


def test_an_embedder_comes_back_as_it_was(connection: sqlite3.Connection) -> None:
    assert read_embedders(connection) == {}
    number = insert_embedder(
        connection, role="serving", spec="openai:e", name="e", fingerprint="e/1", dimensions=0
    )
    set_floor(connection, number, 0.25)
    add_tokens(connection, number, 100)
    add_tokens(connection, number, 20)
    row = EmbedderRow(number, "serving", "openai:e", "e", "e/1", 0, 0.25, 120)
    assert read_embedders(connection) == {"serving": row}


def test_dimensions_are_recorded_once(connection: sqlite3.Connection) -> None:
    number = insert_embedder(connection, role="serving", spec="s", name="n", fingerprint="f", dimensions=0)
    assert set_dimensions(connection, number, 384)
    assert set_dimensions(connection, number, 384)
    assert not set_dimensions(connection, number, 768)
    assert read_embedders(connection)["serving"].dimensions == 384
    assert not set_dimensions(connection, number + 1, 384)


def test_one_embedder_has_a_role(connection: sqlite3.Connection) -> None:
    add(connection, "serving", "old")
    with pytest.raises(sqlite3.IntegrityError):
        add(connection, "serving", "new")


def test_the_shadow_serves_once_it_is_promoted(connection: sqlite3.Connection) -> None:
    add(connection, "serving", "old")
    assert not promote(connection)
    add(connection, "shadow", "new")
    assert promote(connection)
    assert roles(connection) == {"previous": "old", "serving": "new"}


def test_only_two_generations_are_kept(connection: sqlite3.Connection) -> None:
    add(connection, "previous", "first")
    second, third = add(connection, "serving", "second"), add(connection, "shadow", "third")
    assert promote(connection)
    assert roles(connection) == {"previous": "second", "serving": "third"}
    assert owners(connection) == {second, third}


def test_the_first_embedder_may_come_as_a_shadow(connection: sqlite3.Connection) -> None:
    add(connection, "shadow", "first")
    assert promote(connection)
    assert roles(connection) == {"serving": "first"}


def test_a_rollback_can_be_rolled_back(connection: sqlite3.Connection) -> None:
    add(connection, "serving", "old")
    assert not roll_back(connection)
    add(connection, "shadow", "new")
    promote(connection)
    assert roll_back(connection)
    assert roles(connection) == {"serving": "old", "previous": "new"}
    assert roll_back(connection)
    assert roles(connection) == {"serving": "new", "previous": "old"}
    assert len(owners(connection)) == 2


def test_an_embedder_goes_with_its_vectors(connection: sqlite3.Connection) -> None:
    kept = add(connection, "serving", "old")
    dropped = add(connection, "shadow", "new")
    assert drop_embedder(connection, "shadow")
    assert not drop_embedder(connection, "shadow")
    assert owners(connection) == {kept}
    assert add(connection, "shadow", "newer") > dropped


def test_the_previous_embedder_becomes_the_shadow_with_all_its_vectors(
    connection: sqlite3.Connection,
) -> None:
    old, new = add(connection, "serving", "old"), add(connection, "shadow", "new")
    promote(connection)
    take_up_again(connection)
    assert roles(connection) == {"serving": "new", "shadow": "old"}
    assert promote(connection)
    assert roles(connection) == {"serving": "old", "previous": "new"}
    assert owners(connection) == {old, new}


def test_what_a_new_embedder_cannot_embed_is_counted(connection: sqlite3.Connection) -> None:
    old, new = add(connection, "serving", "old"), add(connection, "shadow", "new")
    rows = [
        (new, 2, "refused", None),  # which the old one never had
        (new, 3, "language", None),  # which the old one has
        (old, 3, None, b"\0"),
        (new, 4, "language", None),  # which the old one does not know either
        (old, 4, "language", None),
    ]
    connection.executemany(
        "INSERT INTO vectors (embedder, chunk, input_hash, windows, reason, vector) "
        "VALUES (?, ?, x'00', 0, ?, ?)",
        rows,
    )
    assert count_lost(connection, old=old, new=new) == 2
