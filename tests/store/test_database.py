from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firstlight.errors import StoreError
from firstlight.store import database as database_module
from firstlight.store.database import Database, create, remove
from firstlight.store.meta import Meta, raise_generation, read_meta

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    create(tmp_path / "corpus.db", Meta("id", "/docs")._asdict())
    made = Database(tmp_path / "corpus.db")
    yield made
    made.close()


def test_a_new_database_knows_itself(database: Database) -> None:
    with database.read() as connection:
        assert read_meta(connection) == Meta("id", "/docs", 0, 0)


def test_a_reader_keeps_its_snapshot_while_another_commits(database: Database) -> None:
    with database.read() as reader:
        assert read_meta(reader).generation == 0
        with database.write() as writer:
            assert raise_generation(writer) == 1
        assert read_meta(reader).generation == 0
    with database.read() as reader:
        assert read_meta(reader).generation == 1


def fail_after_a_change(connection: sqlite3.Connection) -> None:
    raise_generation(connection)
    raise sqlite3.IntegrityError


def test_a_write_that_fails_leaves_no_trace(database: Database) -> None:
    with pytest.raises(StoreError), database.write() as connection:
        fail_after_a_change(connection)
    with database.read() as connection:
        assert read_meta(connection).generation == 0


def test_writers_in_many_threads_take_turns(database: Database) -> None:
    def work() -> None:
        for _ in range(20):
            with database.write() as connection:
                raise_generation(connection)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as connection:
        assert read_meta(connection).generation == 160


def test_a_closed_database_is_an_error_and_what_is_in_use_ends_well(database: Database) -> None:
    with database.read() as connection:
        database.close()
        assert read_meta(connection).generation == 0
    database.close()
    with pytest.raises(StoreError, match="closed"), database.read():
        pass
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")


def test_a_file_that_was_replaced_is_opened_anew(database: Database) -> None:
    with database.read() as connection:
        assert read_meta(connection).corpus == "id"
    remove(database.path)
    create(database.path, Meta("other", "/docs")._asdict())
    with database.read() as connection:
        assert read_meta(connection).corpus == "other"


def test_a_missing_file_is_not_made_by_looking(tmp_path: Path) -> None:
    database = Database(tmp_path / "corpus.db")
    assert not database.exists()
    with pytest.raises(StoreError), database.read():
        pass
    assert list(tmp_path.iterdir()) == []


def test_names_that_mean_something_in_an_address_are_only_names(tmp_path: Path) -> None:
    folder = tmp_path / "100% sure? #1&mode=ro"
    folder.mkdir()
    create(folder / "corpus.db", Meta("id", "/docs")._asdict())
    database = Database(folder / "corpus.db")
    with database.write() as connection:
        raise_generation(connection)
    database.close()
    assert [file.name for file in folder.iterdir()] == ["corpus.db"]


def test_errors_say_the_way_out(tmp_path: Path) -> None:
    file = tmp_path / "corpus.db"
    for content in (b"", b"rubbish" * 1000):
        file.write_bytes(content)
        with (
            pytest.raises(StoreError, match=r"corpus\.db: .*firstlight sync --rebuild"),
            Database(file).read(),
        ):
            pass


def test_a_forked_process_connects_for_itself(database: Database) -> None:
    with database.write() as connection:
        raise_generation(connection)
    child = os.fork()
    if child == 0:
        try:
            inherited = {file.resolve().name for file in Path("/proc/self/fd").iterdir()}
            with database.read() as connection:
                right = read_meta(connection).generation == 1 and "corpus.db" not in inherited
        finally:
            os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
    with database.read() as connection:
        assert read_meta(connection).generation == 1


@pytest.mark.parametrize("reason", ["SQLITE_IOERR_SHMSIZE", "SQLITE_FULL"])
def test_a_disk_without_room_for_the_shared_memory_is_read_as_it_is(
    database: Database, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    real = database_module._opened

    def opened(path: Path, mode: str) -> sqlite3.Connection:
        if mode == "mode=rw":
            error = sqlite3.OperationalError("no room")
            error.sqlite_errorname = reason
            raise error
        return real(path, mode)

    monkeypatch.setattr(database_module, "_opened", opened)
    log = database.path.with_name("corpus.db-wal")
    log.touch()  # left by the attempt
    with database.read() as connection:
        assert read_meta(connection).corpus == "id"
    log.write_bytes(b"what a crash left to be read")
    with pytest.raises(StoreError, match=r"full|failed"), database.read():
        pass


def test_who_only_tries_to_write_does_not_wait_for_another(database: Database) -> None:
    other = Database(database.path)
    with other.write() as connection:
        raise_generation(connection)
        assert not database.try_write(raise_generation)
    assert database.try_write(raise_generation)
    with database.read() as connection:
        assert read_meta(connection).generation == 2
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (20_000,)
    other.close()


def test_who_only_tries_to_write_may_fail_like_any_other(database: Database) -> None:
    with pytest.raises(StoreError):
        database.try_write(fail_after_a_change)
    with database.read() as connection:
        assert read_meta(connection).generation == 0
