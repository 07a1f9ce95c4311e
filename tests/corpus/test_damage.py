"""A damaged, foreign or unwritable index: an error that names the file and the way out, which then works."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
from typing import TYPE_CHECKING

import pytest

from firstlight import Corpus
from firstlight.errors import StoreError
from firstlight.lexical import Segment
from firstlight.store import database as database_module
from firstlight.store import schema
from firstlight.store import segments as segments_module

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Docs


def foreign(file: Path) -> None:
    file.unlink()
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE songs (title)")
    connection.commit()
    connection.close()


DAMAGES = {
    "empty": lambda file: file.write_bytes(b""),
    "not a database": lambda file: file.write_bytes(
        b"this is not a database, it only looks like one\n" * 200
    ),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2 + 100]),
    "header only": lambda file: file.write_bytes(file.read_bytes()[:4096]),
    "foreign": foreign,
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_index_says_so_and_a_rebuild_replaces_it(docs: Docs, name: str) -> None:
    for number in range(30):
        docs.write(f"{number}.md", f"# Page {number}\n\n{'words of many kinds ' * 50} unique{number}\n")
    with docs.open() as corpus:
        corpus.sync()
    file = corpus.state / "corpus.db"
    DAMAGES[name](file)
    with docs.open() as corpus:
        for use in (corpus.sync, corpus.status, lambda: corpus.search("unique29")):
            with pytest.raises(StoreError) as caught:
                use()
            assert str(file) in str(caught.value)
            assert f"`firstlight sync {docs.root} --rebuild`" in str(caught.value)
        assert corpus.sync(rebuild=True).added == 30
        assert corpus.search("unique7")[0].path == "7.md"
        assert corpus.verify().ok


def test_a_rebuilt_index_is_found_by_those_who_had_the_old_one_open(docs: Docs) -> None:
    docs.write("a.md", "words\n")
    with docs.open() as reader, docs.open() as writer:
        writer.sync()
        assert reader.search("words")
        (writer.state / "corpus.db").unlink()
        docs.write("b.md", "fresh\n")
        writer.sync()
        assert reader.search("fresh")[0].path == "b.md"


def test_a_format_from_the_future_is_refused_and_left_alone(docs: Docs) -> None:
    docs.write("a.md", "words\n")
    with docs.open() as corpus:
        corpus.sync()
    connection = sqlite3.connect(corpus.state / "corpus.db")
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    with docs.open() as corpus:
        for use in (corpus.sync, corpus.status, lambda: corpus.sync(rebuild=True)):
            with pytest.raises(StoreError, match=r"newer than this firstlight knows.*upgrade"):
                use()
        assert (corpus.state / "corpus.db").exists()


def test_a_full_disk_is_an_error_and_the_last_commit_still_serves(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs.write("a.md", "words\n")
    with docs.open() as corpus:
        corpus.sync()
    real = database_module._opened

    def small(path: Path, mode: str) -> sqlite3.Connection:
        connection = real(path, mode)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 4}")
        return connection

    monkeypatch.setattr(database_module, "_opened", small)
    docs.write("b.md", "more of other words " * 20_000)
    with docs.open() as corpus:
        with pytest.raises(StoreError, match=r"corpus\.db: the disk is full"):
            corpus.sync()
        assert corpus.search("words")[0].path == "a.md"
        assert corpus.status().documents == 1
    monkeypatch.undo()
    with docs.open(state=corpus.state) as again:
        assert again.sync().added == 1
        assert again.verify().ok


def test_a_state_that_is_a_file_says_so(docs: Docs, tmp_path: Path) -> None:
    docs.write("a.md", "words\n")
    (tmp_path / "file").write_text("x")
    with docs.open(state=tmp_path / "file") as corpus, pytest.raises(StoreError, match="file: "):
        corpus.sync()


def test_an_error_in_the_middle_leaves_the_index_as_it_was(
    corpus: Corpus, handbook: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from firstlight.corpus import writer as writer_module

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    before = [hit.to_dict() for hit in corpus.search("drain")]
    handbook.write("about.md", "something else\n")
    monkeypatch.setattr(writer_module, "insert_segment", fail)
    with pytest.raises(StoreError):
        corpus.sync()
    monkeypatch.undo()
    assert [hit.to_dict() for hit in corpus.search("drain")] == before
    assert corpus.sync().changed == 1
    assert corpus.verify().ok


def test_an_interrupt_leaves_a_usable_index(handbook: Docs, monkeypatch: pytest.MonkeyPatch) -> None:
    from firstlight.corpus import writer as writer_module

    monkeypatch.setattr(writer_module, "BATCH_CHARACTERS", 1)
    seen = []

    def interrupt(progress: object) -> None:
        seen.append(progress)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with handbook.open() as corpus:
        with pytest.raises(KeyboardInterrupt):
            corpus.sync(progress=interrupt)
        assert corpus.status().documents == 2
        assert corpus.verify().ok
        assert corpus.sync().added == 1


def test_a_half_made_database_of_a_killed_process_is_no_hindrance(docs: Docs) -> None:
    docs.write("a.md", "words\n")
    with docs.open() as corpus:
        corpus.state.mkdir(parents=True)
        (corpus.state / "writer.lock").touch()
        (corpus.state / "corpus.db.new").write_bytes(b"half")
        (corpus.state / "corpus.db.new-wal").write_bytes(b"half")
        assert corpus.sync().added == 1
        assert Corpus.open(docs.root).search("words")[0].path == "a.md"


def test_damage_that_a_search_trips_over_is_an_error_with_the_way_out(docs: Docs) -> None:
    for number in range(9):
        docs.write(f"{number}.md", f"---\nlevel: {number}\n---\n# Page\n\nwords of secret{number}\n")
    with docs.open() as corpus:
        corpus.sync()
        before = [hit.to_dict() for hit in corpus.search("words", where="level > 2")]
        connection = sqlite3.connect(corpus.state / "corpus.db")
        for number, segment in connection.execute("SELECT id, data FROM segments").fetchall():
            postings = Segment.from_buffer(segment).chunks.tobytes()
            broken = segment.replace(postings, b"\xff" * len(postings))
            connection.execute("UPDATE segments SET data = ? WHERE id = ?", (broken, number))
        connection.execute("UPDATE chunks SET headings = '[' WHERE text LIKE '%secret1%'")
        connection.execute("UPDATE documents SET payload = '{' WHERE path = '2.md'")
        connection.execute("UPDATE chunks SET text = CAST(x'ff' || text AS TEXT) WHERE text LIKE '%secret3%'")
        connection.commit()
        connection.close()
    with docs.open() as corpus:
        for where in (None, "level > 2"):
            with pytest.raises(StoreError, match=r"corpus\.db: damaged.*verify /.*/docs --repair`") as caught:
                corpus.search("words", where=where)
            assert "secret" not in str(caught.value)
        assert corpus.verify(repair=True).ok
        assert [hit.to_dict() for hit in corpus.search("words", where="level > 2")] == before


def test_a_text_that_cannot_be_decoded_is_not_told_to_the_log(docs: Docs) -> None:
    docs.write("a.md", "words of a secret\n")
    with docs.open() as corpus:
        corpus.sync()
        connection = sqlite3.connect(corpus.state / "corpus.db")
        connection.execute("UPDATE chunks SET text = CAST(x'ff' || text AS TEXT)")
        connection.commit()
        connection.close()
        with pytest.raises(StoreError, match=r"a text is not UTF-8.*verify /.*/docs --repair`") as caught:
            corpus.search("words")
        assert "secret" not in str(caught.value)


def test_a_surprise_over_a_sound_index_stays_what_it_is(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    from firstlight.corpus import ask

    def fail(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(ask, "answer", fail)
    with pytest.raises(KeyError, match="a bug"):
        corpus.search("drain")


def test_a_format_of_the_past_says_how_to_go_on_and_the_next_sync_makes_it_anew(docs: Docs) -> None:
    docs.write("a.md", "words\n")
    with docs.open() as corpus:
        corpus.sync()
        connection = sqlite3.connect(corpus.state / "corpus.db")
        connection.execute("PRAGMA user_version = 1")
        connection.close()
    with docs.open() as corpus:
        for use in (corpus.plan, corpus.status, lambda: corpus.search("words")):
            with pytest.raises(StoreError, match=r"earlier firstlight; `firstlight sync /.*/docs` makes"):
                use()
        assert "`firstlight sync /" in corpus.verify().different[0].reason
        assert corpus.sync().added == 1
        assert corpus.search("words")
        assert corpus.verify().ok
        assert corpus.sync().added == 0


def test_commands_in_messages_name_the_folder_and_the_state(docs: Docs, tmp_path: Path) -> None:
    folder = tmp_path / "my docs"
    folder.mkdir()
    (folder / "a.md").write_text("words\n")
    state = tmp_path / "an index"
    with Corpus.open(folder, state=state) as corpus:
        corpus.sync()
    (state / "corpus.db").write_bytes(b"rubbish" * 1000)
    with Corpus.open(folder, state=state) as corpus:
        for use in (corpus.status, corpus.sync):
            with pytest.raises(StoreError) as caught:
                use()
            (command,) = re.findall("`(.*)`", str(caught.value))
            options = ["--state", str(state), "--rebuild"]
            assert shlex.split(command) == ["firstlight", "sync", str(folder), *options]


@pytest.mark.parametrize("name", ["corpus.db", "writer.lock", "segments"])
def test_pipes_in_the_place_of_our_files_are_errors_and_never_waited_for(
    docs: Docs, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(segments_module, "FILE_BYTES", 1)
    docs.write("a.md", "words\n")
    with docs.open() as corpus:
        corpus.sync()
    file = corpus.state / name
    if name == "segments":
        (file,) = file.iterdir()
    file.unlink()
    os.mkfifo(file)
    docs.write("b.md", "words\n")
    with docs.open() as corpus, pytest.raises(StoreError):
        corpus.search("words") if name == "segments" else corpus.sync()
