"""The int8 file beside the float matrix: the same best, to the bit, whatever happens to files."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.store import matrix as matrix_module
from firstlight.store import quantized as quantized_module
from firstlight.store.database import Database, create
from firstlight.store.embedders import insert_embedder, read_embedders
from firstlight.store.exact import ExactMatrix
from firstlight.store.matrix import VectorMatrix
from firstlight.store.meta import Meta, raise_generation
from firstlight.store.quantized import QuantizedMatrix, QuantizedVectors
from firstlight.store.quantized_file import FOLDER, make_file, open_newest, quantize
from firstlight.store.vector_rows import read_stamp

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Maker = Callable[[], Database]

D = 49  # odd, so that nothing is aligned by luck


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    """Make databases that are closed in the end."""
    made: list[Database] = []

    def maker() -> Database:
        path = tmp_path_factory.mktemp("state") / "corpus.db"
        create(path, Meta(f"corpus {path}", "/docs")._asdict())
        made.append(Database(path))
        with made[-1].write() as connection:
            insert_embedder(connection, role="serving", spec="s", name="n", fingerprint="f", dimensions=D)
        return made[-1]

    yield maker
    for database in made:
        database.close()


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_module, "QUANTIZED_BYTES", 4 * D)
    monkeypatch.setattr(quantized_module, "_LEAST_STALE", 10)


def units(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    divided: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return divided.astype(np.float32)


def scattered(count: int, seed: int) -> NDArray[np.float32]:
    return units(np.random.default_rng(seed).standard_normal((count, D)))


def clustered(count: int, seed: int) -> NDArray[np.float32]:
    """A few tight clusters, as texts on a few subjects make them."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((5, D))
    return units(centres[random.integers(0, 5, count)] + 0.1 * random.standard_normal((count, D)))


def insert(connection: sqlite3.Connection, chunks: Sequence[int], rows: NDArray[np.float32]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO vectors (embedder, chunk, input_hash, windows, vector) "
        "VALUES (1, ?, x'', 1, ?)",
        zip(chunks, (row.tobytes() for row in rows), strict=True),
    )


def delete(connection: sqlite3.Connection, chunks: Sequence[int]) -> None:
    connection.executemany("DELETE FROM vectors WHERE chunk = ?", [(chunk,) for chunk in chunks])
    raise_generation(connection)


def files(database: Database) -> list[Path]:
    home = database.path.parent / FOLDER
    return sorted(home.iterdir()) if home.exists() else []


def compare(
    connection: sqlite3.Connection, matrix: VectorMatrix, query: NDArray[np.float32], ids: NDArray[np.int64]
) -> None:
    """The int8 answer beside the float one, in the same transaction."""
    row = read_embedders(connection)["serving"]
    coarse = matrix.refresh(connection, row)
    assert isinstance(coarse, QuantizedVectors)
    exact = ExactMatrix(connection, read_stamp(connection, row)).newest
    assert len(coarse) == len(exact)
    for share in (1.0, 0.5, 0.1):
        mask = np.random.default_rng(len(ids)).random(len(ids)) <= share
        found = coarse.cosines(query, ids=ids, mask=mask)
        wanted = exact.cosines(query, ids=ids, mask=mask)
        assert (np.isnan(found) == np.isnan(wanted)).all()
        assert np.nanmax(np.abs(found - wanted), initial=0) < 0.01
        best = np.argsort(np.nan_to_num(-wanted, nan=2), kind="stable")[:10]
        assert np.argsort(np.nan_to_num(-found, nan=2), kind="stable")[:10].tolist() == best.tolist()
        assert found[best].tobytes() == wanted[best].tobytes()


@pytest.mark.parametrize("kind", [scattered, clustered])
def test_the_best_are_those_of_the_float_matrix_to_the_bit(
    make: Maker, kind: Callable[[int, int], NDArray[np.float32]]
) -> None:
    database = make()
    rows = kind(4000, 1)
    with database.write() as connection:
        insert(connection, range(1, 4001), rows)
    matrix = VectorMatrix(database.path.parent)
    with database.read() as connection:
        for seed in range(10):
            near = units(rows[seed] + 0.3 * scattered(1, seed)[0].astype(np.float64))
            compare(connection, matrix, near, np.arange(1, 4001))
    assert len(files(database)) == 1


STEPS = st.lists(
    st.tuples(st.sampled_from(["insert", "delete", "reopen"]), st.integers(0, 300), st.integers(1, 60)),
    max_size=10,
)


@settings(max_examples=20)
@given(STEPS)
def test_any_history_agrees_with_the_float_matrix(make: Maker, steps: list[tuple[str, int, int]]) -> None:
    database = make()
    with database.write() as connection:
        insert(connection, range(1000, 1060), scattered(60, 5))
    matrix = VectorMatrix(database.path.parent)
    query, ids = scattered(1, 9)[0], np.arange(0, 1100)
    for action, begin, count in steps:
        if action == "reopen":
            matrix = VectorMatrix(database.path.parent)
        else:
            with database.write() as connection:
                chunks = range(begin, begin + count)
                if action == "insert":
                    insert(connection, chunks, scattered(count, begin))
                else:
                    delete(connection, chunks)
        with database.read() as connection:
            compare(connection, matrix, query, ids)
    assert len(files(database)) <= 1


def test_equal_texts_all_get_their_exact_cosine(make: Maker) -> None:
    database = make()
    row = scattered(1, 1)
    with database.write() as connection:
        insert(connection, range(1, 501), np.repeat(row, 500, axis=0))
        insert(connection, range(501, 601), scattered(100, 2))
        vectors = VectorMatrix(database.path.parent).refresh(
            connection, read_embedders(connection)["serving"]
        )
        near = units(row[0] + 0.5 * scattered(1, 3)[0].astype(np.float64))
        found = vectors.cosines(near, ids=np.arange(1, 601))
    exact = np.vecdot(row[0], near)
    assert set(found[:500].tolist()) == {float(exact)}


def test_a_few_new_vectors_make_no_new_file(make: Maker) -> None:
    database = make()
    with database.write() as connection:
        insert(connection, range(1, 101), scattered(100, 1))
    matrix = VectorMatrix(database.path.parent)
    ids = np.arange(0, 200)
    with database.read() as connection:
        compare(connection, matrix, scattered(1, 9)[0], ids)
    (first,) = files(database)
    with database.write() as connection:
        insert(connection, range(101, 111), scattered(10, 2))
        compare(connection, matrix, scattered(1, 9)[0], ids)
    assert files(database) == [first]
    with database.write() as connection:
        insert(connection, range(111, 131), scattered(20, 3))
        compare(connection, matrix, scattered(1, 9)[0], ids)
    (second,) = files(database)
    assert second != first


def test_another_process_maps_the_same_file(make: Maker) -> None:
    database = make()
    with database.write() as connection:
        insert(connection, range(1, 101), scattered(100, 1))
        compare(connection, VectorMatrix(database.path.parent), scattered(1, 9)[0], np.arange(101))
    (file,) = files(database)
    made = file.stat().st_ino
    with database.read() as connection:
        compare(connection, VectorMatrix(database.path.parent), scattered(1, 9)[0], np.arange(101))
    assert [each.stat().st_ino for each in files(database)] == [made]


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)


def empty(file: Path) -> None:
    os.truncate(file, 0)


def change_ids(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(128 + 100 * D)
        opened.write(b"\xff")


def change_the_size(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(40 + 24)
        opened.write(b"\xff" * 8)


def change_the_magic(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.write(b"\0")


def link(file: Path) -> None:
    moved = file.rename(file.parent.parent / "elsewhere.i8")
    file.symlink_to(moved)


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize(
    "damage",
    [cut, empty, change_ids, change_the_size, change_the_magic, link, pipe],
    ids=lambda f: f.__name__,
)
def test_a_damaged_file_is_made_anew(make: Maker, damage: Callable[[Path], object]) -> None:
    database = make()
    with database.write() as connection:
        insert(connection, range(1, 101), scattered(100, 1))
        compare(connection, VectorMatrix(database.path.parent), scattered(1, 9)[0], np.arange(101))
    (file,) = files(database)
    damage(file)
    with database.read() as connection:
        compare(connection, VectorMatrix(database.path.parent), scattered(1, 9)[0], np.arange(101))
        row = read_embedders(connection)["serving"]
        stamp = read_stamp(connection, row)
    assert open_newest(database.path.parent, stamp, row.fingerprint, check=True) is not None
    assert len(files(database)) == 1


def test_damage_to_a_vector_is_found_by_a_check(make: Maker) -> None:
    database = make()
    with database.write() as connection:
        insert(connection, range(1, 101), scattered(100, 1))
        stamp = read_stamp(connection, read_embedders(connection)["serving"])
        make_file(connection, database.path.parent, stamp, "f")
    (file,) = files(database)
    assert open_newest(database.path.parent, stamp, "f", check=True) is not None
    assert open_newest(database.path.parent, stamp, "another") is None
    with file.open("r+b") as opened:
        opened.seek(128)
        old = opened.read(1)
        opened.seek(128)
        opened.write(bytes([old[0] ^ 1]))
    assert open_newest(database.path.parent, stamp, "f") is not None
    assert open_newest(database.path.parent, stamp, "f", check=True) is None


def test_a_file_is_what_it_says_not_what_it_is_called(make: Maker) -> None:
    database = make()
    with database.write() as connection:
        insert(connection, range(1, 101), scattered(100, 1))
        stamp = read_stamp(connection, read_embedders(connection)["serving"])
        make_file(connection, database.path.parent, stamp, "another")
        (other,) = files(database)
        content = other.read_bytes()
        make_file(connection, database.path.parent, stamp, "f")
    (file,) = files(database)
    file.write_bytes(content)
    assert open_newest(database.path.parent, stamp, "f") is None


def test_a_vector_that_is_damaged_since_is_no_hit(make: Maker) -> None:
    database = make()
    rows = scattered(100, 1)
    with database.write() as connection:
        insert(connection, range(1, 101), rows)
        row = read_embedders(connection)["serving"]
        matrix = VectorMatrix(database.path.parent)
        before = matrix.refresh(connection, row).cosines(rows[6], ids=np.arange(1, 101))
        connection.execute("UPDATE vectors SET vector = x'00' WHERE chunk = 7")
        after = matrix.refresh(connection, row).cosines(rows[6], ids=np.arange(1, 101))
    assert np.nanargmax(before) == 6
    assert np.isnan(after[6])
    assert np.delete(after, 6).tobytes() == np.delete(before, 6).tobytes()


def test_only_files_of_ours_are_swept(make: Maker) -> None:
    database = make()
    home = database.path.parent / FOLDER
    home.mkdir()
    (home / "notes.txt").write_text("mine")
    (home / f"{'0' * 16}-1-1.i8").write_bytes(b"old")
    (home / f"{'0' * 16}.tmp").write_bytes(b"another process is writing it")
    (home / f"{'1' * 16}.tmp").write_bytes(b"abandoned")
    os.utime(home / f"{'1' * 16}.tmp", (0, 0))
    with database.write() as connection:
        insert(connection, range(1, 101), scattered(100, 1))
        make_file(
            connection,
            database.path.parent,
            read_stamp(connection, read_embedders(connection)["serving"]),
            "f",
        )
    names = [file.name for file in files(database)]
    assert names[:1] + names[-1:] == [f"{'0' * 16}.tmp", "notes.txt"]
    assert len(names) == 3


def test_where_no_newer_file_can_be_made_the_old_one_serves(
    make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = make()
    with database.write() as connection:
        insert(connection, range(1, 101), scattered(100, 1))
    matrix = VectorMatrix(database.path.parent)
    with database.read() as connection:
        compare(connection, matrix, scattered(1, 9)[0], np.arange(301))
    (database.path.parent / "link").symlink_to("elsewhere")  # nothing is written into such a folder
    for begin in (101, 201):
        with database.write() as connection:
            insert(connection, range(begin, begin + 100), scattered(100, begin))
            compare(connection, matrix, scattered(1, 9)[0], np.arange(301))
    assert len(files(database)) == 1


def test_a_file_that_another_process_made_is_taken(make: Maker) -> None:
    database = make()
    mine, other = VectorMatrix(database.path.parent), VectorMatrix(database.path.parent)
    for begin in (1, 101):
        with database.write() as connection:
            insert(connection, range(begin, begin + 100), scattered(100, begin))
        with database.read() as connection:
            compare(connection, mine, scattered(1, 9)[0], np.arange(201))
            (made,) = [file.stat().st_ino for file in files(database)]
            compare(connection, other, scattered(1, 9)[0], np.arange(201))
            assert [file.stat().st_ino for file in files(database)] == [made]


def test_where_nothing_can_be_written_the_memory_has_to_do(make: Maker) -> None:
    database = make()
    (database.path.parent / FOLDER).write_text("no folder")
    matrix = VectorMatrix(database.path.parent)
    with database.write() as connection:
        insert(connection, range(1, 101), scattered(100, 1))
        row = read_embedders(connection)["serving"]
        vectors = matrix.refresh(connection, row)
        assert not isinstance(vectors, QuantizedVectors)
        assert np.isfinite(vectors.cosines(scattered(1, 9)[0], ids=np.arange(1, 101))).all()
        insert(connection, range(101, 201), scattered(100, 2))
        assert len(matrix.refresh(connection, row)) == 200


def test_who_shrinks_goes_back_to_memory(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    database = make()
    monkeypatch.setattr(matrix_module, "QUANTIZED_BYTES", 100 * 4 * D)
    matrix = VectorMatrix(database.path.parent)
    kinds = []
    with database.write() as connection:
        row = read_embedders(connection)["serving"]
        for end, begin in ((100, 0), (101, 0), (101, 20), (101, 60)):
            insert(connection, range(1, end + 1), scattered(end, 1))
            delete(connection, range(1, begin + 1))
            vectors = matrix.refresh(connection, row)
            assert len(vectors) == end - begin
            kinds.append(isinstance(vectors, QuantizedVectors))
    assert kinds == [False, True, True, False]


def test_a_search_that_began_before_goes_on_with_what_it_saw(make: Maker) -> None:
    database = make()
    with database.write() as connection:
        insert(connection, range(1, 101), scattered(100, 1))
    matrix = VectorMatrix(database.path.parent)
    query, ids = scattered(1, 9)[0], np.arange(0, 400)
    with database.read() as old:
        compare(old, matrix, query, ids)
        with database.write() as connection:
            insert(connection, range(101, 106), scattered(5, 2))
        with database.read() as connection:
            compare(connection, matrix, query, ids)
        compare(old, matrix, query, ids)
        with database.write() as connection:
            insert(connection, range(106, 301), scattered(195, 3))
        with database.read() as connection:
            compare(connection, matrix, query, ids)  # makes another file
            compare(old, matrix, query, ids)
            compare(connection, matrix, query, ids)


def test_threads_may_make_the_file_at_the_same_time(make: Maker) -> None:
    database = make()
    with database.write() as connection:
        insert(connection, range(1, 501), scattered(500, 1))
    wrong: list[BaseException] = []

    def search() -> None:
        try:
            with database.read() as connection:
                compare(connection, VectorMatrix(database.path.parent), scattered(1, 9)[0], np.arange(501))
        except BaseException as error:  # noqa: BLE001  # told by the test
            wrong.append(error)

    threads = [threading.Thread(target=search) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(files(database)) == 1


@given(st.integers(0, 2**32 - 1), st.integers(1, 400))
def test_a_byte_a_number_is_off_by_half_a_step(seed: int, dimensions: int) -> None:
    row = units(np.random.default_rng(seed).standard_normal((1, dimensions)))
    codes, scales = quantize(row)
    assert np.abs(codes * scales[:, None] - row).max() <= scales[0] * 0.5001


def test_the_matrix_can_be_asked_for_directly(make: Maker) -> None:
    database = make()
    with database.write() as connection:
        insert(connection, range(1, 21), scattered(20, 1))
        stamp = read_stamp(connection, read_embedders(connection)["serving"])
        matrix = QuantizedMatrix(connection, database.path.parent, stamp, "f")
        assert matrix.stamp == stamp
        assert len(matrix.at(connection, stamp)) == 20
