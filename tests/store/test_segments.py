from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from firstlight.errors import StoreError
from firstlight.lexical import Indexable, build_segment
from firstlight.store import segments
from firstlight.store.database import Database, create
from firstlight.store.meta import Meta
from firstlight.store.segments import (
    SegmentGoneError,
    Size,
    bury_documents,
    delete_segments,
    insert_segment,
    read_parts,
    read_sizes,
    store_segment,
    sweep_files,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from firstlight.lexical import Segment


@pytest.fixture(params=["rows", "files"])
def database(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Database]:
    """A store whose segments are rows, and one whose segments are files."""
    if request.param == "files":
        monkeypatch.setattr(segments, "FILE_BYTES", 1)
    create(tmp_path / "corpus.db", Meta("id", "/docs")._asdict())
    made = Database(tmp_path / "corpus.db")
    yield made
    made.close()


def built(*ids: int) -> tuple[Segment, NDArray[np.int64]]:
    """Chunks whose document is a tenth of their id."""
    segment = build_segment(list(ids), [Indexable(f"words of chunk{number}") for number in ids])
    return segment, np.array([number // 10 for number in ids], np.int64)


def add(database: Database, *ids: int) -> None:
    stored = store_segment(database.path.parent, *built(*ids))
    with database.write() as connection:
        insert_segment(connection, stored)


def alive(database: Database) -> list[list[int]]:
    with database.read() as connection:
        parts = read_parts(connection, database.path.parent, check=True)
    return [part.segment.ids[slice(None) if part.dead is None else ~part.dead].tolist() for part in parts]


def test_a_segment_comes_back_as_it_was(database: Database) -> None:
    segment, documents = built(11, 12, 25)
    add(database, 11, 12, 25)
    with database.read() as connection:
        (part,) = read_parts(connection, database.path.parent)
    assert part.segment.to_bytes() == segment.to_bytes()
    assert part.documents.tolist() == documents.tolist()
    assert part.dead is None


def test_segments_are_ordered_by_their_chunks_not_by_their_age(database: Database) -> None:
    add(database, 31, 32)
    add(database, 11, 12)
    assert alive(database) == [[11, 12], [31, 32]]


def test_the_chunks_of_a_buried_document_are_dead_in_every_segment(database: Database) -> None:
    add(database, 11, 12, 21)
    add(database, 31, 32, 33, 41)
    with database.write() as connection:
        bury_documents(connection, [1, 4])
    with database.write() as connection:
        bury_documents(connection, [3])
        assert read_sizes(connection) == [Size(1, 3, 2)]
    assert alive(database) == [[21]]


def test_a_known_segment_is_not_read_again(database: Database) -> None:
    add(database, 11, 21)
    with database.read() as connection:
        before = {part.id: part for part in read_parts(connection, database.path.parent)}
    with database.write() as connection:
        bury_documents(connection, [1])
        (part,) = read_parts(connection, database.path.parent, known=before)
    assert part.segment is before[1].segment
    assert part.dead is not None
    assert part.dead.tolist() == [True, False]


def test_ids_and_names_are_never_used_again(database: Database) -> None:
    home = database.path.parent / segments.FOLDER
    seen: set[str] = set()
    for number in range(1, 4):
        add(database, number)
        names = {file.name for file in home.iterdir()} if home.exists() else set()
        assert names.isdisjoint(seen)
        seen |= names
        with database.write() as connection:
            (size,) = read_sizes(connection)
            assert size.id == number
            delete_segments(connection, [size.id])
            sweep_files(connection, database.path.parent)


def test_only_files_without_a_row_are_swept(database: Database) -> None:
    add(database, 1)
    store_segment(database.path.parent, *built(2))
    with database.read() as connection:
        sweep_files(connection, database.path.parent)
    assert alive(database) == [[1]]
    home = database.path.parent / segments.FOLDER
    assert len(list(home.iterdir()) if home.exists() else [1]) == 1


def test_a_reader_who_mapped_a_file_keeps_it_after_it_is_deleted(database: Database) -> None:
    add(database, 11)
    with database.read() as connection:
        (part,) = read_parts(connection, database.path.parent)
    with database.write() as connection:
        delete_segments(connection, [1])
    with database.read() as connection:
        sweep_files(connection, database.path.parent)
    assert len(part.segment.postings("chunk11")[0]) == 1


def test_a_file_that_is_gone_is_told_apart_from_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "FILE_BYTES", 1)
    create(tmp_path / "corpus.db", Meta("id", "/docs")._asdict())
    database = Database(tmp_path / "corpus.db")
    add(database, 1)
    (file,) = (tmp_path / segments.FOLDER).iterdir()
    file.write_bytes(b"")
    with pytest.raises(StoreError, match="verify --repair"):
        alive(database)
    file.unlink()
    with pytest.raises(SegmentGoneError, match="verify --repair"):
        alive(database)
    database.close()
