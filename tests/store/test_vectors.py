"""Against plain dicts: what is embedded, what waits, and what moves with its text."""

from __future__ import annotations

import hashlib
import sqlite3
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.store.database import Database, create
from firstlight.store.documents import ChunkRow, DocumentRow, delete_documents, insert_documents, next_ids
from firstlight.store.embedders import drop_embedder, insert_embedder
from firstlight.store.meta import Meta
from firstlight.store.outline import dump_outline
from firstlight.store.pending import (
    Pending,
    mean_pending_size,
    read_pending,
    read_wanted_pending,
)
from firstlight.store.vectors import (
    FOREIGN,
    Counts,
    Problem,
    adopt_vectors,
    check_vectors,
    count_vectors,
    delete_orphans,
    delete_rows,
    delete_vectors,
    insert_failures,
    insert_vectors,
    read_chunk_ids,
)
from firstlight.store.wanted import want

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


@pytest.fixture
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("state") / "corpus.db"
    create(path, Meta("id", "/docs")._asdict())
    made = Database(path)
    with made.write() as connection:
        insert_embedder(connection, role="serving", spec="s", name="a", fingerprint="f", dimensions=3)
        insert_embedder(connection, role="shadow", spec="s", name="b", fingerprint="g", dimensions=2)
    yield made
    made.close()


@pytest.fixture
def connection(database: Database) -> Iterator[sqlite3.Connection]:
    with database.write() as opened:
        yield opened


def input_hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def add_document(connection: sqlite3.Connection, texts: Sequence[str]) -> list[int]:
    """Add a document with a chunk for each text; return their ids."""
    document, first = next_ids(connection)
    chunks = [
        ChunkRow(
            first + position,
            document,
            position,
            0,
            len(text),
            1,
            1,
            b"",
            input_hash(text),
            dump_outline(["A", text], []),
            text,
        )
        for position, text in enumerate(texts)
    ]
    row = DocumentRow(document, f"{document}.md", 1, 1, b"", "r", "en", len(texts), f"T{document}", "{}")
    insert_documents(connection, [row], chunks)
    return [chunk.id for chunk in chunks]


def vector(*numbers: float) -> NDArray[np.float32]:
    return np.array([numbers], np.float32)


X, Y, Z = vector(1, 0, 0), vector(0, 1, 0), vector(0, 0, 1)


def stored(connection: sqlite3.Connection, embedder: int = 1) -> dict[int, list[float] | str]:
    rows = connection.execute("SELECT chunk, vector, reason FROM vectors WHERE embedder = ?", (embedder,))
    return {
        chunk: reason if blob is None else np.frombuffer(blob, "<f4").tolist() for chunk, blob, reason in rows
    }


def test_vectors_belong_to_a_chunk_and_to_what_was_embedded_of_it(connection: sqlite3.Connection) -> None:
    one, two = add_document(connection, ["one", "two"])
    rows = [(one, input_hash("one"), X), (two, input_hash("other"), Y), (99, input_hash("one"), Y)]
    assert insert_vectors(connection, 1, rows) == 1
    assert stored(connection) == {one: [1, 0, 0]}


def test_the_windows_of_a_chunk_become_their_mean(connection: sqlite3.Connection) -> None:
    one, two, three = add_document(connection, ["one", "two", "three"])
    rows = [
        (one, input_hash("one"), np.concatenate([X, Y])),
        (two, input_hash("two"), np.concatenate([X, -X])),
        (three, input_hash("three"), np.concatenate([Z, Z, Z])),
    ]
    assert insert_vectors(connection, 1, rows) == 3
    half = float(np.float32(np.sqrt(0.5)))
    assert stored(connection) == {one: [half, half, 0], two: [1, 0, 0], three: [0, 0, 1]}
    assert count_vectors(connection, 1).windows == 7


def test_a_chunk_that_has_a_vector_keeps_it(connection: sqlite3.Connection) -> None:
    (one,) = add_document(connection, ["one"])
    assert insert_vectors(connection, 1, [(one, input_hash("one"), X)]) == 1
    assert insert_vectors(connection, 1, [(one, input_hash("one"), Y)]) == 0
    assert insert_failures(connection, 1, [(one, input_hash("one"), "too large")]) == 0
    assert stored(connection) == {one: [1, 0, 0]}


def test_a_vector_follows_a_failure_and_a_failure_another(connection: sqlite3.Connection) -> None:
    (one,) = add_document(connection, ["one"])
    row = (one, input_hash("one"))
    assert insert_failures(connection, 1, [(*row, "first"), (99, row[1], "gone"), (one, b"x", "other")]) == 1
    assert insert_failures(connection, 1, [(*row, "second")]) == 1
    assert stored(connection) == {one: "second"}
    assert insert_vectors(connection, 1, [(*row, X)]) == 1
    assert stored(connection) == {one: [1, 0, 0]}


@pytest.mark.parametrize(
    "bad",
    [
        vector(1, 0),
        vector(1, 0, 0, 0),
        vector(0, 0, 0),
        vector(2, 0, 0),
        vector(float("nan"), 0, 0),
        vector(float("inf"), 0, 0),
        np.zeros((0, 3), np.float32),
        np.array([1, 0, 0], np.float32),
    ],
)
def test_a_bad_vector_is_refused_before_any_is_stored(
    connection: sqlite3.Connection, bad: NDArray[np.float32]
) -> None:
    one, two = add_document(connection, ["one", "two"])
    insert_failures(connection, 1, [(one, input_hash("one"), "before")])
    with pytest.raises(ValueError, match=f"chunk {two}"):
        insert_vectors(connection, 1, [(one, input_hash("one"), X), (two, input_hash("two"), bad)])
    assert stored(connection) == {one: "before"}


def test_nothing_is_stored_for_an_embedder_that_was_dropped(connection: sqlite3.Connection) -> None:
    (one,) = add_document(connection, ["one"])
    drop_embedder(connection, "shadow")
    assert insert_vectors(connection, 2, [(one, input_hash("one"), vector(1, 0))]) == 0
    assert insert_failures(connection, 2, [(one, input_hash("one"), "no")]) == 0
    assert stored(connection, 2) == {}


def test_counts_tell_what_is_embedded_what_failed_and_what_is_foreign(connection: sqlite3.Connection) -> None:
    assert count_vectors(connection, 1) == Counts(0, 0, 0, 0, 0)
    ids = add_document(connection, list("abcdef"))
    rows = list(zip(ids, map(input_hash, "abcdef"), strict=True))
    insert_vectors(connection, 1, [(*rows[0], X), (*rows[1], np.concatenate([X, Y, Z]))])
    insert_failures(connection, 1, [(*rows[2], FOREIGN), (*rows[3], "too large"), (*rows[4], FOREIGN)])
    insert_vectors(connection, 2, [(*rows[0], vector(1, 0))])
    counts = count_vectors(connection, 1)
    assert counts == Counts(embedded=2, failed=1, foreign=2, windows=4, total=6)
    assert counts.waiting == 1
    assert count_vectors(connection, 2) == Counts(1, 0, 0, 1, 6)


def test_a_pending_chunk_comes_with_all_that_is_embedded_of_it(connection: sqlite3.Connection) -> None:
    one, two = add_document(connection, ["one", "two"])
    expected = [
        Pending(one, input_hash("one"), "T1", "1.md", ("A", "one"), "one", "en"),
        Pending(two, input_hash("two"), "T1", "1.md", ("A", "two"), "two", "en"),
    ]
    assert read_pending(connection, 1, after=0, limit=5) == expected
    assert read_pending(connection, 1, after=0, limit=1) == expected[:1]
    assert read_pending(connection, 1, after=one, limit=5) == expected[1:]
    assert read_pending(connection, 1, after=two, limit=5) == []


def test_what_was_asked_for_last_comes_first(connection: sqlite3.Connection) -> None:
    ids = add_document(connection, list("abcde"))
    want(connection, [ids[0], ids[3], 99], clock=lambda: 1)
    want(connection, [ids[2], ids[4]], clock=lambda: 2)
    insert_vectors(connection, 1, [(ids[4], input_hash("e"), X)])

    def chunks(embedder: int, limit: int) -> list[int]:
        return [pending.chunk for pending in read_wanted_pending(connection, embedder, limit=limit)]

    assert chunks(1, 9) == [ids[2], ids[0], ids[3]]
    assert chunks(1, 2) == [ids[2], ids[0]]
    assert chunks(2, 9) == [ids[2], ids[4], ids[0], ids[3]]


def test_what_has_a_vector_or_a_reason_for_none_does_not_wait(connection: sqlite3.Connection) -> None:
    assert count_vectors(connection, 1).waiting == 0
    ids = add_document(connection, ["aé", "日本", "x"])
    assert count_vectors(connection, 1).waiting == 3
    insert_failures(connection, 1, [(ids[1], input_hash("日本"), FOREIGN)])
    assert count_vectors(connection, 1).waiting == 2


def test_the_newest_texts_that_wait_tell_how_long_they_are(connection: sqlite3.Connection) -> None:
    assert mean_pending_size(connection, 1) == 0
    add_document(connection, ["x" * (90 + number % 20) for number in range(999)])
    assert 90 < mean_pending_size(connection, 1) < 110
    add_document(connection, ["日本"] * 64)
    assert mean_pending_size(connection, 1) == 6


def test_a_text_that_moves_keeps_its_vectors(connection: sqlite3.Connection) -> None:
    one, two = add_document(connection, ["one", "two"])
    insert_vectors(connection, 1, [(one, input_hash("one"), X), (two, input_hash("two"), Y)])
    insert_vectors(connection, 2, [(two, input_hash("two"), np.array([[0, 1], [0, 1]], np.float32))])
    gone = read_chunk_ids(connection, [1])
    assert gone == [one, two]
    delete_documents(connection, [1])
    three, four, five = add_document(connection, ["two", "new", "two"])
    assert adopt_vectors(connection, three) == 4
    assert adopt_vectors(connection, three) == 0
    delete_vectors(connection, gone)
    assert stored(connection, 1) == {three: [0, 1, 0], five: [0, 1, 0]}
    assert stored(connection, 2) == {three: [0, 1], five: [0, 1]}
    assert count_vectors(connection, 2).windows == 4
    assert [pending.chunk for pending in read_pending(connection, 1, after=0, limit=9)] == [four]


def test_a_failure_is_not_adopted(connection: sqlite3.Connection) -> None:
    (one,) = add_document(connection, ["one"])
    insert_failures(connection, 1, [(one, input_hash("one"), "no")])
    (two,) = add_document(connection, ["one"])
    assert adopt_vectors(connection, two) == 0


def test_orphans_are_swept_and_nothing_else(connection: sqlite3.Connection) -> None:
    one, two = add_document(connection, ["one", "two"])
    insert_vectors(connection, 1, [(one, input_hash("one"), X), (two, input_hash("two"), Y)])
    insert_vectors(connection, 2, [(one, input_hash("one"), vector(1, 0))])
    assert delete_orphans(connection) == 0
    connection.execute("DELETE FROM chunks WHERE id = ?", (one,))
    connection.execute("INSERT INTO vectors (embedder, chunk, input_hash, windows) VALUES (9, 2, x'00', 0)")
    assert delete_orphans(connection) == 3
    assert stored(connection) == {two: [0, 1, 0]}


def test_a_sound_index_has_no_problems(connection: sqlite3.Connection) -> None:
    one, two, three = add_document(connection, ["one", "two", "three"])
    insert_vectors(connection, 1, [(one, input_hash("one"), np.concatenate([X, Y]))])
    insert_failures(connection, 1, [(two, input_hash("two"), FOREIGN)])
    insert_vectors(connection, 2, [(three, input_hash("three"), vector(0.6, 0.8))])
    assert list(check_vectors(connection)) == []


@pytest.mark.parametrize(
    ("damage", "kind", "reason"),
    [
        ("UPDATE vectors SET chunk = 99", "orphaned", "its chunk is gone"),
        ("UPDATE vectors SET embedder = 9", "orphaned", "its embedder is gone"),
        ("UPDATE vectors SET input_hash = x'00'", "different", "another text"),
        ("UPDATE vectors SET vector = NULL", "missing", "neither"),
        ("UPDATE vectors SET vector = x''", "different", "not a vector of 3 numbers"),
        ("UPDATE vectors SET vector = x'0000803f'", "different", "not a vector of 3 numbers"),
        ("UPDATE vectors SET vector = 'text'", "different", "not a vector of 3 numbers"),
        ("UPDATE vectors SET vector = CAST(vector || vector AS BLOB)", "different", "not a vector of 3"),
        ("UPDATE vectors SET windows = 0", "different", "a vector of 0 windows"),
        ("UPDATE vectors SET vector = x'0000c07f0000000000000000'", "different", "not finite"),
        ("UPDATE vectors SET vector = x'0000807f0000000000000000'", "different", "not finite"),
        ("UPDATE vectors SET vector = x'000000000000000000000000'", "different", "unit length"),
        ("UPDATE vectors SET vector = x'0000004000000000ffff7f7f'", "different", "unit length"),
        ("UPDATE embedders SET dimensions = 0", "different", "not a vector of 0 numbers"),
    ],
)
def test_each_damage_is_found_and_can_be_forgotten(
    connection: sqlite3.Connection, damage: str, kind: str, reason: str
) -> None:
    (one,) = add_document(connection, ["one"])
    insert_vectors(connection, 1, [(one, input_hash("one"), X)])
    connection.execute(damage)
    (problem,) = check_vectors(connection)
    assert problem == Problem(kind, 1, 99 if "99" in damage else one, problem.reason)
    assert reason in problem.reason
    delete_rows(connection, [problem.row])
    assert list(check_vectors(connection)) == []
    assert [each.chunk for each in read_pending(connection, 1, after=0, limit=9)] == [one]


TEXTS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("sync"), st.lists(TEXTS, max_size=2), st.integers(0, 9)),
        st.tuples(st.just("embed"), st.lists(st.integers(0, 5), max_size=3), st.integers(1, 2)),
        st.tuples(st.just("fail"), st.lists(st.integers(0, 5), max_size=2), st.integers(1, 2)),
    ),
    max_size=12,
)


@settings(max_examples=40)
@given(STEPS)
def test_any_history_agrees_with_plain_dicts(steps: list[tuple[str, list[object], int]]) -> None:
    """The twin: chunk -> text, and (embedder, chunk) -> the number of a vector, or None where it failed."""
    connection = memory()
    texts: dict[int, str] = {}
    known: dict[tuple[int, int], float | None] = {}
    for action, values, number in steps:
        if action == "sync":
            sync(connection, values, number, texts, known)  # type: ignore[arg-type]
        else:
            waiting = read_pending(connection, number, after=0, limit=99)
            some = [waiting[place] for place in values if place < len(waiting)]  # type: ignore[operator,call-overload]
            embed(connection, some, number, known, fail=action == "fail")
        for embedder in (1, 2):
            mine = {chunk: value for (owner, chunk), value in known.items() if owner == embedder}
            found = {
                chunk: None if blob is None else float(np.frombuffer(blob, "<f4")[0])
                for chunk, blob in connection.execute(
                    "SELECT chunk, vector FROM vectors WHERE embedder = ?", (embedder,)
                )
            }
            assert found == mine
            done = sum(value is not None for value in mine.values())
            expected = Counts(done, len(mine) - done, 0, done, len(texts))
            assert count_vectors(connection, embedder) == expected
            pending = [each.chunk for each in read_pending(connection, embedder, after=0, limit=99)]
            assert pending == sorted(texts.keys() - mine.keys())
            assert count_vectors(connection, embedder).waiting == len(pending)
        assert list(check_vectors(connection)) == []
    connection.close()


def memory() -> sqlite3.Connection:
    from firstlight.store.schema import create_tables

    connection = sqlite3.connect(":memory:", isolation_level=None)
    create_tables(connection)
    for role in ("serving", "shadow"):
        insert_embedder(connection, role=role, spec="s", name="n", fingerprint="f", dimensions=2)
    return connection


def sync(
    connection: sqlite3.Connection,
    documents: list[list[str]],
    dropped: int,
    texts: dict[int, str],
    known: dict[tuple[int, int], float | None],
) -> None:
    """Drop a document, where there is one of that place, and add others."""
    held = [number for (number,) in connection.execute("SELECT id FROM documents ORDER BY id")]
    removed = held[dropped : dropped + 1]
    gone = read_chunk_ids(connection, removed)
    delete_documents(connection, removed)
    first = next_ids(connection)[1]
    for document in documents:
        texts |= zip(add_document(connection, document), document, strict=True)
    adopt_vectors(connection, first)
    delete_vectors(connection, gone)
    oldest = {
        (embedder, texts[chunk]): value
        for (embedder, chunk), value in sorted(known.items(), reverse=True)
        if value is not None
    }
    for chunk in range(first, first + sum(map(len, documents))):
        for embedder in (1, 2):
            if (embedder, texts[chunk]) in oldest:
                known[embedder, chunk] = oldest[embedder, texts[chunk]]
    for chunk in gone:
        del texts[chunk]
        known.pop((1, chunk), None)
        known.pop((2, chunk), None)


def embed(
    connection: sqlite3.Connection,
    some: list[Pending],
    embedder: int,
    known: dict[tuple[int, int], float | None],
    *,
    fail: bool,
) -> None:
    """A text's vector is made of its letter alone."""
    if fail:
        insert_failures(connection, embedder, [(each.chunk, each.input_hash, "no") for each in some])
        known |= dict.fromkeys((embedder, each.chunk) for each in some)
        return
    rows = []
    for each in some:
        angle = np.float32(ord(each.text) * embedder)
        rows.append((each.chunk, each.input_hash, np.array([[np.cos(angle), np.sin(angle)]], np.float32)))
        known[embedder, each.chunk] = float(np.cos(angle))
    insert_vectors(connection, embedder, rows)
