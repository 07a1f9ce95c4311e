"""The matrix against a fresh read and plain dicts, after any history, and from many threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.store.database import Database, create
from firstlight.store.embedders import drop_embedder, insert_embedder, promote, read_embedders
from firstlight.store.exact import ExactVectors
from firstlight.store.matrix import VectorMatrix
from firstlight.store.meta import Meta, raise_generation

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from firstlight.store.matrix import Vectors

    Maker = Callable[[], Database]

D = 24


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


def unit(seed: int, dimensions: int = D) -> NDArray[np.float32]:
    row = np.random.default_rng(seed).standard_normal(dimensions)
    return (row / np.linalg.norm(row)).astype(np.float32)


QUERY = unit(99)


def insert(connection: sqlite3.Connection, chunks: Sequence[int], *, embedder: int = 1) -> None:
    """Give chunks vectors that their numbers tell."""
    connection.executemany(
        "INSERT INTO vectors (embedder, chunk, input_hash, windows, vector) VALUES (?, ?, x'', 1, ?)",
        [(embedder, chunk, unit(chunk + 1000 * embedder).tobytes()) for chunk in chunks],
    )


def delete(connection: sqlite3.Connection, chunks: Sequence[int]) -> None:
    connection.executemany("DELETE FROM vectors WHERE chunk = ?", [(chunk,) for chunk in chunks])
    raise_generation(connection)


def refresh(matrix: VectorMatrix, connection: sqlite3.Connection) -> Vectors:
    return matrix.refresh(connection, read_embedders(connection)["serving"])


def seen(vectors: Vectors, ids: NDArray[np.int64], mask: NDArray[np.bool_] | None = None) -> dict[int, float]:
    cosines = vectors.cosines(QUERY, ids=ids, mask=mask)
    assert cosines.dtype == np.float32
    return {
        chunk: cosine
        for chunk, cosine in zip(ids.tolist(), cosines.tolist(), strict=True)
        if not np.isnan(cosine)
    }


def expected(connection: sqlite3.Connection) -> dict[int, int]:
    """Chunk -> the seed of its vector."""
    return {
        chunk: chunk + 1000 * embedder
        for chunk, embedder in connection.execute(
            "SELECT chunk, embedder FROM vectors WHERE vector IS NOT NULL AND embedder = "
            "(SELECT id FROM embedders WHERE role = 'serving')"
        )
    }


def check(vectors: Vectors, held: Mapping[int, int]) -> None:
    ids = np.arange(0, 60)
    found = seen(vectors, ids)
    assert found.keys() == held.keys()
    assert len(vectors) == len(held)
    for chunk, cosine in found.items():
        exact = float(unit(held[chunk]).astype(np.float64) @ QUERY.astype(np.float64))
        assert abs(cosine - exact) < 1e-6
    for share in (0.05, 0.5):
        mask = np.random.default_rng(len(held)).random(len(ids)) < share
        assert seen(vectors, ids, mask) == {chunk: found[chunk] for chunk in found if mask[chunk]}
    some = ids[::7]
    assert seen(vectors, some) == {chunk: found[chunk] for chunk in found if chunk % 7 == 0}


CHUNKS = st.lists(st.integers(1, 50), max_size=20, unique=True)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["insert", "delete", "fill", "fail"]), CHUNKS),
        st.tuples(st.sampled_from(["migrate", "promote", "look", "hold", "look back"]), st.just([])),
    ),
    max_size=15,
)


@settings(max_examples=60)
@given(STEPS)
def test_any_history_agrees_with_a_fresh_read(make: Maker, steps: list[tuple[str, list[int]]]) -> None:
    database = make()
    matrix = VectorMatrix(database.path.parent)
    held = database.read()
    old = held.__enter__()
    old.execute("SELECT 1 FROM meta").fetchone()  # from here on it sees this commit alone
    before = expected(old)
    for action, chunks in steps:
        if action == "look back":
            check(refresh(matrix, old), before)
        elif action == "hold":
            held.__exit__(None, None, None)
            held = database.read()
            old = held.__enter__()
            before = expected(old)
        elif action != "look":
            with database.write() as connection:
                change(connection, action, chunks)
        if action in ("look", "insert", "promote"):
            with database.read() as connection:
                vectors = refresh(matrix, connection)
                check(vectors, expected(connection))
                assert refresh(matrix, connection) is vectors
    held.__exit__(None, None, None)


def change(connection: sqlite3.Connection, action: str, chunks: list[int]) -> None:
    embedders = read_embedders(connection)
    serving, shadow = embedders["serving"].id, embedders.get("shadow")
    owner = shadow.id if action == "fill" and shadow is not None else serving
    known = {
        chunk for (chunk,) in connection.execute("SELECT chunk FROM vectors WHERE embedder = ?", (owner,))
    }
    if action in ("insert", "fill"):
        insert(connection, [chunk for chunk in chunks if chunk not in known], embedder=owner)
    elif action == "fail":
        connection.executemany(
            "INSERT INTO vectors (embedder, chunk, input_hash, windows, reason) VALUES (?, ?, x'', 0, 'no')",
            [(serving, chunk) for chunk in chunks if chunk not in known],
        )
    elif action == "delete":
        delete(connection, chunks)
    elif action == "migrate":
        drop_embedder(connection, "shadow")
        insert_embedder(connection, role="shadow", spec="s", name="m", fingerprint="g", dimensions=D)
    elif promote(connection):
        raise_generation(connection)


def test_a_search_in_progress_sees_what_was_compacted_away(make: Maker) -> None:
    database = make()
    matrix = VectorMatrix(database.path.parent)
    with database.write() as connection:
        insert(connection, range(1, 51))
    with database.read() as old:
        check(refresh(matrix, old), expected(old))
        with database.write() as connection:
            delete(connection, range(1, 41))
            vectors = refresh(matrix, connection)
            assert isinstance(vectors, ExactVectors)
            assert len(vectors.portion.ids) == len(vectors) == 10
        check(refresh(matrix, old), expected(old))
        with database.read() as connection:
            assert refresh(matrix, connection) is vectors


def test_a_search_in_progress_sees_what_came_and_went_unnoticed(make: Maker) -> None:
    database = make()
    matrix = VectorMatrix(database.path.parent)
    with database.write() as connection:
        insert(connection, range(1, 31))
        refresh(matrix, connection)
    with database.write() as connection:
        insert(connection, range(31, 41))
    with database.read() as old:
        assert len(expected(old)) == 40
        with database.write() as connection:
            delete(connection, range(31, 41))
            refresh(matrix, connection)
        check(refresh(matrix, old), expected(old))
        with database.write() as connection:
            insert(connection, range(45, 50))
            check(refresh(matrix, connection), expected(connection))


def test_an_earlier_view_stays_as_it_was(make: Maker) -> None:
    database = make()
    matrix = VectorMatrix(database.path.parent)
    ids = np.arange(0, 6000)
    views = []
    for begin in range(1, 5001, 500):
        with database.write() as connection:
            insert(connection, range(begin, begin + 500))
            views.append(refresh(matrix, connection))
    whole = seen(views[-1], ids)
    with database.write() as connection:
        delete(connection, range(1, 4001))
        left = seen(refresh(matrix, connection), ids)
        insert(connection, range(5001, 5501))
        refresh(matrix, connection)
    assert left == {chunk: cosine for chunk, cosine in whole.items() if chunk > 4000}
    for number, view in enumerate(views, 1):
        assert seen(view, ids) == {chunk: cosine for chunk, cosine in whole.items() if chunk <= 500 * number}


def test_the_bits_of_a_cosine_do_not_depend_on_what_stands_beside_it(make: Maker) -> None:
    database = make()
    with database.write() as connection:
        insert(connection, range(1, 1501))
        vectors = refresh(VectorMatrix(database.path.parent), connection)
    with database.write() as connection:
        delete(connection, range(1, 1501, 3))
        fewer = refresh(VectorMatrix(database.path.parent), connection)
    ids = np.arange(1, 1501)
    whole = seen(vectors, ids)
    random = np.random.default_rng(1)
    for share in (0.001, 0.1, 0.3, 0.4, 0.9):
        mask = random.random(len(ids)) < share
        for some in (vectors, fewer):
            found = seen(some, ids, mask)
            assert found == {chunk: whole[chunk] for chunk in found}


COSINES = """
import hashlib, numpy as np
from firstlight.store.exact import ExactVectors
from firstlight.store.vector_rows import Portion, Stamp
rows = np.random.default_rng(1).standard_normal((20003, 384)).astype(np.float32)
ids = np.arange(20003)
vectors = ExactVectors(Stamp("c", 1, 384, 1, 1), Portion(ids, ids, rows))
print(hashlib.sha256(vectors.cosines(rows[7], ids=ids).tobytes()).hexdigest())
"""


def test_the_bits_of_a_cosine_do_not_depend_on_the_number_of_threads() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", COSINES],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            check=True,
            capture_output=True,
        ).stdout
        for threads in ("1", "2", "3")
    }
    assert len(digests) == 1


def test_equal_vectors_have_equal_cosines(make: Maker) -> None:
    database = make()
    with database.write() as connection:
        connection.executemany(
            "INSERT INTO vectors (embedder, chunk, input_hash, windows, vector) VALUES (1, ?, x'', 1, ?)",
            [(chunk, unit(7).tobytes()) for chunk in range(1, 700)],
        )
        vectors = refresh(VectorMatrix(database.path.parent), connection)
    assert len(set(seen(vectors, np.arange(1, 700)).values())) == 1


def test_damaged_vectors_are_left_out(make: Maker) -> None:
    database = make()
    good = unit(1001)
    bad: list[object] = [
        b"",
        good.tobytes()[:-1],
        good.tobytes() * 2,
        (good * np.float32("nan")).tobytes(),
        (good * np.float32(1e30)).tobytes(),
        (good * np.float32("inf")).tobytes(),
        (good * 0).tobytes(),
        "x" * 4 * D,
        7,
        None,
    ]
    with database.write() as connection:
        insert(connection, [1])
        connection.executemany(
            "INSERT INTO vectors (embedder, chunk, input_hash, windows, vector) VALUES (1, ?, x'', 1, ?)",
            enumerate(bad, 2),
        )
        insert(connection, [50])
        check(refresh(VectorMatrix(database.path.parent), connection), {1: 1001, 50: 1050})


def test_without_vectors_there_are_no_cosines(make: Maker) -> None:
    database = make()
    matrix = VectorMatrix(database.path.parent)
    with database.write() as connection:
        vectors = refresh(matrix, connection)
        assert seen(vectors, np.arange(5)) == {}
        assert seen(vectors, np.arange(0)) == {}
        insert(connection, [3])
        assert seen(refresh(matrix, connection), np.arange(0)) == {}
        assert seen(refresh(matrix, connection), np.arange(3)) == {}
        connection.execute("UPDATE embedders SET dimensions = 0")
        assert seen(refresh(matrix, connection), np.arange(5)) == {}


def test_a_database_in_the_place_of_another_is_read_anew(make: Maker) -> None:
    first, second = make(), make()
    matrix = VectorMatrix(first.path.parent)
    with first.write() as connection:
        insert(connection, [1, 2, 3])
        check(refresh(matrix, connection), expected(connection))
    with second.write() as connection:
        insert(connection, [4, 5, 6])
        check(refresh(matrix, connection), expected(connection))


def test_threads_see_whole_commits_while_another_writes(make: Maker) -> None:
    """Each commit embeds ten chunks more, or deletes ten: what is seen is always a multiple of ten."""
    database = make()
    matrix = VectorMatrix(database.path.parent)
    ids = np.arange(0, 2000)
    done = threading.Event()
    wrong: list[object] = []

    def search() -> None:
        while not done.is_set():
            with database.read() as connection:
                vectors = refresh(matrix, connection)
                found = seen(vectors, ids)
                if found.keys() != expected(connection).keys() or len(found) % 10:
                    wrong.append(sorted(found))

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for begin in range(0, 1500, 10):
        with database.write() as connection:
            insert(connection, range(begin, begin + 10))
        if begin % 40 == 0 and begin > 100:
            with database.write() as connection:
                delete(connection, range(begin - 100, begin - 70))
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
