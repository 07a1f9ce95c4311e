from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from firstlight.digest.cache import DigestCache, DigestKey
from firstlight.digest.types import Citation, Digest, Passage
from firstlight.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TEXT = "The pump is red. It stands in hall 4."
KEY = DigestKey(b"hash", "what colour?", "embedder", "llm", "default")
DIGEST = Digest(
    text="It is red [1].\ud800",
    retrieval="hybrid",
    embedded=1,
    total=1,
    passages=(Passage(1, 0, 16, 1, 1, 2, TEXT[:16], 0.5, 3),),
    citations=(Citation(1, 0, 16, 10, 13),),
    provisional=False,
    reason="passages were chosen by embedder and by words",
    model="embedder",
    llm="llm",
    removed=2,
)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[DigestCache]:
    with closing(DigestCache(tmp_path / "deep" / "digest.db")) as made:
        yield made


def test_a_digest_comes_back_as_it_was_and_says_that_it_was_cached(cache: DigestCache) -> None:
    assert cache.get(KEY, TEXT) is None
    assert not cache.path.exists()
    cache.put(KEY, DIGEST)
    found = cache.get(KEY, TEXT)
    assert found is not None
    assert found.reason == "answered before: passages were chosen by embedder and by words"
    assert replace(found, reason=DIGEST.reason, retrieval="hybrid") == DIGEST
    assert found.retrieval == "cached"


@pytest.mark.parametrize("field", DigestKey._fields)
def test_every_part_of_the_key_counts(cache: DigestCache, field: str) -> None:
    cache.put(KEY, DIGEST)
    given: Any = b"other" if field == "content_hash" else "other"
    other = KEY._replace(**{field: given})
    assert cache.get(other, TEXT) is None


def test_parts_of_a_key_do_not_run_into_each_other(cache: DigestCache) -> None:
    cache.put(KEY._replace(embedder="ab", llm="c"), DIGEST)
    assert cache.get(KEY._replace(embedder="a", llm="bc"), TEXT) is None


def test_neither_the_question_nor_the_passages_are_in_the_file_and_nobody_else_may_read_it(
    cache: DigestCache,
) -> None:
    cache.put(KEY, DIGEST)
    stored = b"".join(file.read_bytes() for file in cache.path.parent.iterdir())
    assert b"what colour" not in stored
    assert b"The pump" not in stored
    assert stat.S_IMODE(cache.path.stat().st_mode) == 0o600
    assert {file.name for file in cache.path.parent.iterdir()} <= {
        "digest.db",
        "digest.db-wal",
        "digest.db-shm",
        "digest.db.lock",
    }


def test_what_was_not_used_for_longest_is_dropped(tmp_path: Path) -> None:
    now = 0.0
    cache = DigestCache(tmp_path / "digest.db", max_bytes=5000, clock=lambda: now)
    keys = [KEY._replace(question=str(number)) for number in range(40)]
    cache.put(keys[0], DIGEST)
    for key in keys[1:]:
        now += 3600
        cache.put(key, DIGEST)
        assert cache.get(keys[0], TEXT) is not None
    kept = [key for key in keys if cache.get(key, TEXT) is not None]
    assert kept[0] == keys[0]
    assert kept[1:] == keys[-len(kept) + 1 :]
    assert 5 < len(kept) < 25


def test_an_unreadable_entry_is_made_again(cache: DigestCache) -> None:
    cache.put(KEY, DIGEST)
    for body in ("no json", "[]", "{}", '{"passages": [[1]], "citations": []}', "null"):
        with sqlite3.connect(cache.path) as connection:
            connection.execute("UPDATE digests SET body = ?", (body,))
        connection.close()
        assert cache.get(KEY, TEXT) is None
    cache.put(KEY, DIGEST)
    assert cache.get(KEY, TEXT) is not None


def test_another_programs_file_is_refused_and_a_format_from_the_future_too(tmp_path: Path) -> None:
    for name, statement in (("other.db", "CREATE TABLE notes (x)"), ("future.db", "PRAGMA user_version = 9")):
        path = tmp_path / name
        if name == "future.db":
            DigestCache(path).put(KEY, DIGEST)
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.close()
        with pytest.raises(StoreError, match=name):
            DigestCache(path).check()


def _garbage(path: Path) -> None:
    path.write_bytes(b"garbage" * 1000)


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _noise(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:] = b"\xa5" * (len(content) - 100)
    path.write_bytes(content)


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _without_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE digests")
        connection.commit()


_DAMAGES = [_garbage, _half, _noise, _emptied, _without_tables]


@pytest.mark.parametrize("damage", _DAMAGES)
@pytest.mark.parametrize("is_open", [True, False])
def test_a_damaged_file_is_made_anew_with_one_warning(
    cache: DigestCache, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None], is_open: bool
) -> None:
    cache.put(KEY, DIGEST)
    cache._file.let_go()
    if is_open:
        assert cache.get(KEY, TEXT) is not None
    damage(cache.path)
    for suffix in ("-wal", "-shm"):
        cache.path.with_name(cache.path.name + suffix).unlink(missing_ok=True)
    if is_open:
        cache._file.let_go()
    cache.check()
    for _ in range(3):
        cache.get(KEY, TEXT)
        cache.put(KEY, DIGEST)
    assert cache.get(KEY, TEXT) is not None
    assert len(caplog.records) == (damage is not _emptied)


def test_what_is_no_database_is_put_aside(cache: DigestCache) -> None:
    cache.path.parent.mkdir(parents=True)
    _garbage(cache.path)
    cache.check()
    assert cache.path.with_name("digest.db.aside").read_bytes() == b"garbage" * 1000


def test_a_folder_that_cannot_be_written_costs_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    cache = DigestCache(tmp_path / "file" / "digest.db")
    cache.put(KEY, DIGEST)
    cache.put(KEY, DIGEST)
    assert len(caplog.records) == 1


def test_many_threads_share_it(cache: DigestCache, caplog: pytest.LogCaptureFixture) -> None:
    def work(number: int) -> None:
        for turn in range(20):
            key = KEY._replace(question=f"{number} {turn % 5}")
            cache.put(key, replace(DIGEST, text=key.question))
            found = cache.get(key, TEXT)
            assert found is not None
            assert found.text == key.question

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert caplog.records == []
    assert all(
        cache.get(KEY._replace(question=f"{n} {turn}"), TEXT) is not None
        for n in range(12)
        for turn in range(5)
    )


_WRITER = """
import sys
from pathlib import Path
from firstlight.digest.cache import DigestCache, DigestKey
from firstlight.digest.types import Digest
cache = DigestCache(Path(sys.argv[1]))
for turn in range(40):
    key = DigestKey(b"hash", f"{sys.argv[2]} {turn}", "e", "l", "c")
    cache.put(key, Digest(key.question, "whole", 0, 1, (), (), False))
    assert cache.get(key, "").text == key.question
"""


def test_many_processes_share_it_from_its_first_moment(tmp_path: Path) -> None:
    path = tmp_path / "digest.db"
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", _WRITER, str(path), str(number)], stderr=subprocess.PIPE
        )
        for number in range(4)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, b"")
    cache = DigestCache(path)
    for number in range(4):
        for turn in range(40):
            assert cache.get(DigestKey(b"hash", f"{number} {turn}", "e", "l", "c"), "") is not None


def test_a_bound_out_of_range_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="max_bytes"):
        DigestCache(tmp_path / "digest.db", max_bytes=0)
