from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from firstlight.embed.cache import VectorCache
from firstlight.embed.inputs import input_hash
from firstlight.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firstlight.embed.types import Kind, Vectors

DAY = 24 * 3600


def vectors(seed: int, *, windows: int = 1, dimensions: int = 8) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(windows, dimensions))
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def key(number: int) -> bytes:
    return input_hash(f"text {number}")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def cache(tmp_path: Path, told: list[str]) -> Iterator[VectorCache]:
    with closing(VectorCache(tmp_path / "state" / "vectors.db", warn=told.append)) as opened:
        yield opened


def again(cache: VectorCache, told: list[str]) -> VectorCache:
    return VectorCache(cache.path, warn=told.append)


def test_what_is_put_comes_back_exactly_and_the_rest_is_missing(cache: VectorCache) -> None:
    kept = {key(1): vectors(1), key(2): vectors(2, windows=3)}
    cache.put_many("model", kept)
    found = cache.get_many("model", [key(3), key(2), key(1), key(2)])
    assert found.keys() == kept.keys()
    for hash_, rows in kept.items():
        assert found[hash_].dtype == np.float32
        np.testing.assert_array_equal(found[hash_], rows)


def test_looking_makes_no_file(cache: VectorCache) -> None:
    assert cache.get_many("model", [key(1)]) == {}
    assert cache.stats().entries == 0
    assert cache.clear() == 0
    assert not cache.path.parent.exists()


def test_only_its_user_can_read_it(cache: VectorCache) -> None:
    cache.put_many("model", {key(1): vectors(1)})
    files = list(cache.path.parent.iterdir())
    assert cache.path in files
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_it_holds_hashes_and_no_text(cache: VectorCache) -> None:
    cache.put_many("model", {input_hash("the secret recipe"): vectors(1)})
    cache.close()
    assert b"secret" not in cache.path.read_bytes()


@pytest.mark.parametrize(
    ("fingerprint", "caller_class", "kind"),
    [("other", "default", "document"), ("model", "alice", "document"), ("model", "default", "query")],
)
def test_models_classes_and_kinds_never_see_each_others(
    cache: VectorCache, fingerprint: str, caller_class: str, kind: Kind
) -> None:
    cache.put_many("model", {key(1): vectors(1)})
    assert cache.get_many(fingerprint, [key(1)], caller_class=caller_class, kind=kind) == {}
    cache.put_many(fingerprint, {key(1): vectors(2)}, caller_class=caller_class, kind=kind)
    np.testing.assert_array_equal(cache.get_many("model", [key(1)])[key(1)], vectors(1))


def test_more_hashes_than_a_statement_takes_variables(cache: VectorCache) -> None:
    many = {key(number): vectors(number) for number in range(1200)}
    cache.put_many("model", many)
    assert cache.get_many("model", [*many, key(-1)]).keys() == many.keys()
    assert cache.stats().entries == 1200


def test_vectors_of_another_length_are_another_models(cache: VectorCache) -> None:
    cache.put_many("model", {key(1): vectors(1)})
    cache.put_many("model", {key(2): vectors(2, dimensions=4)})
    assert cache.get_many("model", [key(1), key(2)]).keys() == {key(2)}


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0, 3.0])
def test_what_is_no_unit_vector_is_not_kept(cache: VectorCache, bad: float) -> None:
    wrong = vectors(1, windows=2)
    wrong[1] = bad
    cache.put_many("model", {key(1): wrong, key(2): vectors(2)})
    assert cache.get_many("model", [key(1), key(2)]).keys() == {key(2)}


@pytest.mark.parametrize(
    "damage",
    [b"\0" * 32, b"\xff" * 32, b"abc", b"", np.full(8, 3.0, "<f4").tobytes(), "text", 7, 0.5],
)
def test_a_damaged_value_is_missing_and_goes_and_its_neighbours_stay(
    cache: VectorCache, damage: object, told: list[str]
) -> None:
    cache.put_many("model", {key(1): vectors(1), key(2): vectors(2), key(3): vectors(3)})
    with closing(sqlite3.connect(cache.path)) as connection, connection:
        connection.execute(
            "UPDATE vectors SET vector = ? WHERE id = (SELECT id FROM entries WHERE hash = ?)",
            (damage, key(2)),
        )
    assert cache.get_many("model", [key(1), key(2), key(3)]).keys() == {key(1), key(3)}
    assert cache.stats().entries == 2
    assert told == []


def test_numbers_are_told_by_model_and_add_up(cache: VectorCache) -> None:
    cache.put_many("a", {key(n): vectors(n) for n in range(3)}, name="Model A")
    cache.put_many("a", {key(9): vectors(9, windows=2)}, caller_class="alice", name="Model A")
    cache.put_many("b", {key(1): vectors(1)})
    stats = cache.stats()
    assert [(it.name, it.fingerprint, it.entries, it.bytes) for it in stats.models] == [
        ("Model A", "a", 4, 5 * 32),
        ("", "b", 1, 32),
    ]
    assert stats.entries == 5
    assert stats.size >= cache.path.stat().st_size > 0
    assert stats.to_dict()["models"][1] == {"name": "", "fingerprint": "b", "entries": 1, "bytes": 32}


def test_clearing_one_model_leaves_the_others(cache: VectorCache) -> None:
    cache.put_many("a", {key(n): vectors(n) for n in range(3)})
    cache.put_many("a", {key(n): vectors(n) for n in range(2)}, kind="query")
    cache.put_many("b", {key(1): vectors(1)})
    assert cache.clear("a") == 5
    assert cache.get_many("a", [key(1)]) == {}
    assert cache.get_many("b", [key(1)]).keys() == {key(1)}


def test_clearing_gives_the_disk_its_room_back(cache: VectorCache) -> None:
    cache.put_many("a", {key(n): vectors(n, dimensions=384) for n in range(1000)})
    assert cache.stats().size > 1_500_000
    assert cache.clear() == 1000
    assert cache.stats().size < 200_000


def test_beyond_its_bound_what_was_used_last_stays(tmp_path: Path) -> None:
    clock = Clock()
    cache = VectorCache(tmp_path / "vectors.db", max_bytes=400_000, clock=clock)
    dear = key(0)
    for number in range(1000):
        clock.now += DAY * 2
        cache.put_many("model", {key(number): vectors(number, dimensions=384)})
        assert dear in cache.get_many("model", [dear])
    found = cache.get_many("model", [key(number) for number in range(1000)])
    kept = sorted(number for number in range(1000) if key(number) in found)
    assert kept[0] == 0
    assert kept[1:] == list(range(kept[1], 1000))
    assert 100 < len(kept) < 300
    cache.close()
    assert cache.path.stat().st_size <= 420_000


def test_a_lower_bound_shrinks_what_is_there(tmp_path: Path) -> None:
    with closing(VectorCache(tmp_path / "vectors.db")) as cache:
        cache.put_many("model", {key(number): vectors(number, dimensions=384) for number in range(1500)})
    with closing(VectorCache(tmp_path / "vectors.db", max_bytes=200_000)) as cache:
        cache.put_many("model", {key(-1): vectors(1, dimensions=384)})
        assert key(-1) in cache.get_many("model", [key(-1)])
    assert cache.path.stat().st_size <= 210_000


def test_reading_writes_once_a_day_at_most(tmp_path: Path) -> None:
    clock = Clock()

    def read() -> int:
        with closing(VectorCache(tmp_path / "vectors.db", clock=clock)) as cache:
            assert cache.get_many("model", [key(1)])
        with closing(sqlite3.connect(cache.path)) as connection:
            used: int = connection.execute("SELECT used FROM entries").fetchone()[0]
            return used

    with closing(VectorCache(tmp_path / "vectors.db", clock=clock)) as cache:
        cache.put_many("model", {key(1): vectors(1)})
    first = int(clock.now)
    clock.now += DAY / 2
    assert read() == first
    clock.now += DAY
    assert read() == int(clock.now)


@pytest.mark.parametrize(
    "content", [b"my own notes", b"SQLite format 3\0 and no more of it", os.urandom(9000)]
)
def test_a_foreign_file_is_put_aside_with_one_warning(
    cache: VectorCache, told: list[str], content: bytes
) -> None:
    cache.path.parent.mkdir()
    cache.path.write_bytes(content)
    assert cache.get_many("model", [key(1)]) == {}
    cache.put_many("model", {key(1): vectors(1)})
    assert key(1) in cache.get_many("model", [key(1)])
    assert cache.path.with_name("vectors.db.aside").read_bytes() == content
    assert len(told) == 1
    assert "vectors.db.aside" in told[0]


def test_an_empty_file_is_filled_without_a_word(cache: VectorCache, told: list[str]) -> None:
    cache.path.parent.mkdir()
    cache.path.touch()
    cache.put_many("model", {key(1): vectors(1)})
    assert key(1) in cache.get_many("model", [key(1)])
    assert told == []


def test_another_programs_database_is_put_aside_whole(cache: VectorCache, told: list[str]) -> None:
    cache.path.parent.mkdir()
    with closing(sqlite3.connect(cache.path)) as connection, connection:
        connection.execute("CREATE TABLE precious (x)")
    cache.put_many("model", {key(1): vectors(1)})
    with closing(sqlite3.connect(cache.path.with_name("vectors.db.aside"))) as connection:
        assert connection.execute("SELECT * FROM precious").fetchall() == []
    assert len(told) == 1


@pytest.mark.parametrize("page", [1, 2, 3, 4, 5])
def test_a_damaged_page_costs_vectors_and_no_traceback(
    cache: VectorCache, told: list[str], page: int
) -> None:
    cache.put_many("model", {key(n): vectors(n, dimensions=384) for n in range(400)})
    cache.close()
    with cache.path.open("r+b") as file:
        file.seek(page * 8192)
        file.write(b"\xa5" * 8192)
    with closing(again(cache, told)) as damaged:
        damaged.get_many("model", [key(n) for n in range(400)])
        damaged.put_many("model", {key(n): vectors(n, dimensions=384) for n in range(400)})
    with closing(again(cache, told)) as anew:
        anew.put_many("model", {key(n): vectors(n, dimensions=384) for n in range(400)})
        found = anew.get_many("model", [key(n) for n in range(400)])
    assert all(
        np.array_equal(rows, vectors(n, dimensions=384))
        for n in range(400)
        if (rows := found.get(key(n))) is not None
    )
    assert len(found) == 400
    assert len(told) <= 1


def test_a_file_cut_short_begins_anew(cache: VectorCache, told: list[str]) -> None:
    cache.put_many("model", {key(n): vectors(n, dimensions=384) for n in range(400)})
    cache.close()
    with cache.path.open("r+b") as file:
        file.truncate(50_000)
    with closing(again(cache, told)) as short:
        short.get_many("model", [key(n) for n in range(400)])
        short.put_many("model", {key(1): vectors(1, dimensions=384)})
        assert key(1) in short.get_many("model", [key(1)])
    assert len(told) == 1


def test_an_older_format_is_replaced_and_a_newer_one_left_alone(cache: VectorCache, told: list[str]) -> None:
    cache.put_many("model", {key(1): vectors(1)})
    cache.close()
    with closing(sqlite3.connect(cache.path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with closing(again(cache, told)) as newer:
        newer.put_many("model", {key(2): vectors(2)})
        assert newer.get_many("model", [key(1)]) == {}
        with pytest.raises(StoreError, match="newer"):
            newer.clear()
    assert [line.count("newer") for line in told] == [1, 1]  # it can neither be written nor read
    with closing(sqlite3.connect(cache.path)) as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (1,)
        connection.execute("PRAGMA user_version = 0")
    with closing(again(cache, told)) as older:
        assert older.get_many("model", [key(1)]) == {}
        older.put_many("model", {key(2): vectors(2)})
        assert key(2) in older.get_many("model", [key(2)])


def test_where_nothing_can_be_written_that_is_said_once(tmp_path: Path, told: list[str]) -> None:
    (tmp_path / "file").touch()
    cache = VectorCache(tmp_path / "file" / "vectors.db", warn=told.append)
    for number in range(3):
        cache.put_many("model", {key(number): vectors(number)})
        assert cache.get_many("model", [key(number)]) == {}
    assert len([line for line in told if "written" in line]) == 1
    assert len(told) <= 2


def test_on_a_full_disk_reading_goes_on(
    cache: VectorCache, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.put_many("model", {key(1): vectors(1, dimensions=384)})
    cache.close()
    real = sqlite3.connect

    def small(*args: object, **options: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = real(*args, **options)  # type: ignore[call-overload]
        connection.execute("PRAGMA max_page_count = 12")
        return connection

    monkeypatch.setattr("firstlight.embed.cache_file.sqlite3.connect", small)
    with closing(again(cache, told)) as full:
        for start in range(0, 1000, 100):
            full.put_many("model", {key(n): vectors(n, dimensions=384) for n in range(start, start + 100)})
        assert key(1) in full.get_many("model", [key(1)])
    assert len(told) == 1
    assert "full" in told[0]


def test_a_deleted_file_is_made_again_in_a_process_that_had_it_open(
    cache: VectorCache, told: list[str]
) -> None:
    cache.put_many("model", {key(1): vectors(1)})
    for file in cache.path.parent.iterdir():
        file.unlink()
    assert cache.get_many("model", [key(1)]) == {}
    cache.put_many("model", {key(2): vectors(2)})
    with closing(again(cache, told)) as other:
        assert other.get_many("model", [key(1), key(2)]).keys() == {key(2)}
    assert told == []


def test_after_closing_it_finds_and_keeps_nothing(cache: VectorCache, told: list[str]) -> None:
    cache.put_many("model", {key(1): vectors(1)})
    cache.close()
    cache.close()
    assert cache.get_many("model", [key(1)]) == {}
    cache.put_many("model", {key(2): vectors(2)})
    assert told == []


def test_a_bound_below_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="1 or more"):
        VectorCache(tmp_path / "vectors.db", max_bytes=0)


def test_many_threads_share_one(cache: VectorCache, told: list[str]) -> None:
    failures: list[object] = []

    def work(mine: int) -> None:
        try:
            for number in range(mine, mine + 60):
                cache.put_many("model", {key(number): vectors(number)})
                found = cache.get_many("model", [key(n) for n in range(number + 1)])
                assert np.array_equal(found[key(number)], vectors(number))
        except Exception as error:  # noqa: BLE001  # for the main thread to show
            failures.append(error)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in range(0, 480, 60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert cache.stats().entries == 480
    assert told == []


_HAMMER = """
import sys
from pathlib import Path
import numpy as np
from firstlight.embed.cache import VectorCache
from firstlight.embed.inputs import input_hash

def warn(line):
    sys.exit(line)

cache = VectorCache(Path(sys.argv[1]), max_bytes=int(sys.argv[4]), warn=warn)
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    rows = np.zeros((1, 384), np.float32)
    rows[0, number % 384] = 1
    cache.put_many("model", {input_hash(f"{number}.{part}"): rows for part in range(20)})
    found = cache.get_many("model", [input_hash(f"{number}.{part}") for part in range(20)])
    assert all((it == rows).all() for it in found.values())
    print(number, flush=True)
cache.close()
"""


def hammer(path: Path, start: int, end: int, *, bound: int = 1_000_000_000) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _HAMMER, str(path), str(start), str(end), str(bound)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("bound", [1_000_000_000, 500_000])
def test_processes_share_one_from_its_making_on(tmp_path: Path, bound: int) -> None:
    path = tmp_path / "vectors.db"
    for process in [hammer(path, start, start + 40, bound=bound) for start in (0, 40, 80)]:
        assert process.communicate(timeout=120)[1] == ""
        assert process.returncode == 0
    with closing(VectorCache(path)) as cache:
        entries = cache.stats().entries
    assert entries == 2400 if bound > 500_000 else 100 < entries < 400


def test_killed_while_writing_it_keeps_what_was_put(tmp_path: Path, told: list[str]) -> None:
    path = tmp_path / "vectors.db"
    done = -1
    for _ in range(3):
        process = hammer(path, done + 1, 10_000)
        assert process.stdout is not None
        for _ in range(7):
            done = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with closing(VectorCache(path, warn=told.append)) as cache:
            hashes = [input_hash(f"{number}.{part}") for number in range(done + 1) for part in range(20)]
            assert len(cache.get_many("model", hashes)) == len(hashes)
            with closing(sqlite3.connect(path)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert told == []


_FORK = """
import os, sys
from pathlib import Path
import numpy as np
from firstlight.embed.cache import VectorCache

cache = VectorCache(Path(sys.argv[1]), warn=sys.exit)
rows = np.eye(1, 4, dtype=np.float32)
cache.put_many("model", {b"1": rows})
child = os.fork()
cache.put_many("model", {b"2" if child else b"3": rows})
found = len(cache.get_many("model", [b"1", b"2" if child else b"3"]))
cache.close()
if not child:
    os._exit(found)
print(found, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_fork_goes_on_with_connections_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    done = subprocess.run(  # in a process without threads, as a fork should be
        [sys.executable, "-c", _FORK, str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "2 2\n"
    with closing(VectorCache(path)) as cache:
        assert cache.stats().entries == 3


class Differential(RuleBasedStateMachine):
    """The cache and a dict are told the same."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.cache = VectorCache(Path(self.folder.name) / "vectors.db")
        self.model: dict[tuple[str, str, str, bytes], Vectors] = {}

    spaces = st.tuples(
        st.sampled_from(["a", "b"]), st.sampled_from(["default", "x"]), st.sampled_from(["query", "document"])
    )
    numbers = st.lists(st.integers(0, 9), min_size=1, max_size=4)

    @rule(space=spaces, numbers=numbers, seed=st.integers(0, 99), windows=st.integers(1, 3))
    def put(self, space: tuple[str, str, Kind], numbers: list[int], seed: int, windows: int) -> None:
        rows = {key(number): vectors(seed + number, windows=windows) for number in numbers}
        self.cache.put_many(space[0], rows, caller_class=space[1], kind=space[2])
        self.model |= {(*space, hash_): it for hash_, it in rows.items()}

    @rule(space=spaces, numbers=numbers)
    def get(self, space: tuple[str, str, Kind], numbers: list[int]) -> None:
        found = self.cache.get_many(space[0], map(key, numbers), caller_class=space[1], kind=space[2])
        expected = {key(n): self.model[*space, key(n)] for n in numbers if (*space, key(n)) in self.model}
        assert found.keys() == expected.keys()
        assert all(np.array_equal(found[hash_], rows) for hash_, rows in expected.items())

    @rule(fingerprint=st.sampled_from(["a", "b", None]))
    def clear(self, fingerprint: str | None) -> None:
        gone = [it for it in self.model if fingerprint in (None, it[0])]
        assert self.cache.clear(fingerprint) == len(gone)
        for it in gone:
            del self.model[it]

    @rule()
    def reopen(self) -> None:
        self.cache.close()
        self.cache = VectorCache(self.cache.path)

    @invariant()
    def they_have_as_many(self) -> None:
        assert self.cache.stats().entries == len(self.model)

    def teardown(self) -> None:
        self.cache.close()
        self.folder.cleanup()


TestDifferential = Differential.TestCase
TestDifferential.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
