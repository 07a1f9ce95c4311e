"""Exact search over vectors in memory, filtered and not, beside NumPy's bare product; and their cold load.

`python -m benchmarks.speed.vectors NUMBER` is one size, in a process whose environment says how many threads
BLAS may use.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import places
from benchmarks.report import Goal, Report
from benchmarks.timing import interleaved, measure, summary

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from benchmarks.options import Options
    from firstlight.store.database import Database
    from firstlight.store.matrix import Vectors

    Rows = NDArray[np.float32]

DIMENSIONS = 384
SIZES = (20_000, 100_000)
QUICK_SIZES = (2_000,)
THREADS = (1, 2)
SHARE = 0.2
TOP = 200
ROUNDS = 200
LOADS = 7
# Goals in milliseconds, at 20,000 vectors and one thread.
SEARCH_MS, FILTERED_MS, LOAD_MS = 3.0, 2.0, 60.0


def run(options: Options) -> Report:
    """Measure each size in processes of their own, by threads."""
    sizes = QUICK_SIZES if options.quick else SIZES
    figures: dict[str, Mapping[str, float]] = {}
    for size in sizes:
        for threads in THREADS:
            measured = options.chosen(_child(size, threads))
            figures |= {f"{name}, {size}, threads {threads}": taken for name, taken in measured.items()}
    bounds = {"exact": SEARCH_MS, "filter 20%": FILTERED_MS, "cold load": LOAD_MS}
    of_first = {what: figures.get(f"firstlight {what}, {sizes[0]}, threads 1") for what in bounds}
    goals = [
        Goal(f"p50 of {what} at {sizes[0]}, ms", 1000 * taken["median_s"], bounds[what])
        for what, taken in of_first.items()
        if taken is not None
    ]
    setup = {
        "vectors": f"random, {DIMENSIONS} numbers",
        "firstlight": f"cosines of every chunk, then the best {TOP}; documents of ten pass the filter or not",
        "numpy": f"matrix @ query, then the best {TOP}",
        "cold load": "from SQLite's rows in the page cache into the matrix",
        "int8": "the same from the mapped file that is used above 1 GB, and the making of it",
    }
    return Report("speed.vectors", setup, figures, goals)


def _child(size: int, threads: int) -> dict[str, dict[str, float]]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed.vectors", str(size)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": str(threads)},
        check=True,
        capture_output=True,
        text=True,
        cwd=places.ROOT,
    )
    measured: dict[str, dict[str, float]] = json.loads(done.stdout)
    return measured


def _measure(size: int) -> dict[str, dict[str, float]]:
    from firstlight.store import matrix

    with TemporaryDirectory() as folder:
        database = _filled(Path(folder), size)
        loads = [measure(partial(_loaded, database)) for _ in range(LOADS)]
        with database.read() as connection:
            vectors = _refreshed(connection, database)
            figures = summary(
                {"firstlight cold load": loads, **interleaved(_ways(vectors, size), rounds=ROUNDS)}
            )
            matrix.QUANTIZED_BYTES = 0
            making = [measure(partial(_loaded, database))]
            coarse = _refreshed(connection, database)
            random = np.random.default_rng(3)
            way = partial(_search, coarse, np.arange(1, size + 1), None, _units(random, 1)[0])
            figures |= summary(
                {
                    "firstlight int8 made": making,
                    **interleaved({"firstlight int8": way}, rounds=ROUNDS // 4),
                }
            )
        database.close()
    return figures


def _ways(vectors: Vectors, size: int) -> dict[str, Callable[[], object]]:
    from firstlight.store.exact import ExactVectors

    assert isinstance(vectors, ExactVectors)
    random = np.random.default_rng(2)
    ids = np.arange(1, size + 1)
    mask = np.repeat(random.random(-(-size // 10)) < SHARE, 10)[:size]
    query = _units(random, 1)[0]
    return {
        "numpy": partial(_bare, vectors.portion.rows, query),
        "firstlight exact": partial(_search, vectors, ids, None, query),
        "firstlight filter 20%": partial(_search, vectors, ids, mask, query),
    }


def _search(
    vectors: Vectors, ids: NDArray[np.int64], mask: NDArray[np.bool_] | None, query: Rows
) -> NDArray[np.int64]:
    cosines = vectors.cosines(query, ids=ids, mask=mask)
    found = np.flatnonzero(~np.isnan(cosines))
    return found[_best(cosines[found])]


def _bare(rows: Rows, query: Rows) -> NDArray[np.int64]:
    return _best(rows @ query)


def _best(scores: Rows) -> NDArray[np.int64]:
    return np.argpartition(scores, len(scores) - min(TOP, len(scores)))[-TOP:]


def _units(random: np.random.Generator, count: int) -> Rows:
    rows = random.standard_normal((count, DIMENSIONS), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def _filled(folder: Path, size: int) -> Database:
    from firstlight.store.database import Database, create
    from firstlight.store.embedders import insert_embedder
    from firstlight.store.meta import Meta

    create(folder / "corpus.db", Meta("id", str(folder))._asdict())
    database = Database(folder / "corpus.db")
    random = np.random.default_rng(1)
    with database.write() as connection:
        insert_embedder(
            connection,
            role="serving",
            spec="none",
            name="random",
            fingerprint="random",
            dimensions=DIMENSIONS,
        )
        for begin in range(1, size + 1, 1000):
            rows = _units(random, min(1000, size + 1 - begin))
            connection.executemany(
                "INSERT INTO vectors (embedder, chunk, input_hash, windows, vector) VALUES (1, ?, ?, 1, ?)",
                (
                    (chunk, chunk.to_bytes(32, "little"), row.tobytes())
                    for chunk, row in enumerate(rows, begin)
                ),
            )
    return database


def _refreshed(connection: sqlite3.Connection, database: Database) -> Vectors:
    from firstlight.store.embedders import read_embedders
    from firstlight.store.matrix import VectorMatrix

    return VectorMatrix(database.path.parent).refresh(connection, read_embedders(connection)["serving"])


def _loaded(database: Database) -> None:
    with database.read() as connection:
        _refreshed(connection, database)


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]))))
