from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from firstlight.corpus import prepare as prepare_module
from firstlight.corpus import survey as survey_module
from firstlight.corpus import sync as sync_module
from firstlight.corpus import writer as writer_module
from firstlight.corpus.types import FileError, Progress, Rename
from firstlight.errors import ConfigError, DocumentError
from firstlight.text import read as read_module

if TYPE_CHECKING:
    from firstlight import Corpus

    from .conftest import Docs


def counts(corpus: Corpus) -> tuple[int, int]:
    status = corpus.status()
    return status.documents, status.chunks


def paths(corpus: Corpus, question: str) -> list[str]:
    return [hit.path for hit in corpus.search(question)]


def test_the_first_sync_makes_everything_searchable(handbook: Docs) -> None:
    with handbook.open() as corpus:
        report = corpus.sync()
        assert (report.added, report.changed, report.deleted, report.unchanged) == (3, 0, 0, 0)
        assert (report.chunks, report.errors, report.generation) == (3, (), 1)
        assert counts(corpus) == (3, 3)
        assert paths(corpus, "drain a node")[0] == "ops/drain.md"


def test_a_second_run_over_unchanged_files_changes_no_count(corpus: Corpus) -> None:
    before = counts(corpus)
    report = corpus.sync()
    assert (report.added, report.changed, report.deleted, report.renamed) == (0, 0, 0, 0)
    assert (report.unchanged, report.generation) == (3, 1)
    assert counts(corpus) == before


def test_a_sync_with_nothing_to_do_writes_nothing_at_all(handbook: Docs) -> None:
    handbook.age()
    with handbook.open() as corpus:
        corpus.sync()
    database = corpus.state / "corpus.db"
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in corpus.state.iterdir()}
    with handbook.open() as corpus:
        corpus.sync()
        corpus.sync()
    assert database.exists()
    after = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in corpus.state.iterdir()}
    assert after == before


def test_what_was_written_just_before_a_sync_is_hashed_whatever_stat_says(docs: Docs) -> None:
    file = docs.write("a.md", "the old words\n")
    with docs.open() as corpus:
        corpus.sync()
        stat = file.stat()
        file.write_text("the new words\n")
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert corpus.sync().changed == 1
        assert paths(corpus, "new") == ["a.md"]
        assert paths(corpus, "old") == []


def test_files_that_settled_are_looked_at_once_and_then_left_alone(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs.write("a.md", "words\n", age=1)
    with docs.open() as corpus:
        corpus.sync()
        looked: list[str] = []
        real = read_module.read_file

        def look(root: str, path: str, *, max_bytes: int) -> read_module.FileContent:
            looked.append(path)
            return real(root, path, max_bytes=max_bytes)

        monkeypatch.setattr(survey_module, "read_file", look)
        now = time.time_ns()
        monkeypatch.setattr(time, "time_ns", lambda: now + 60_000_000_000)
        corpus.sync()
        corpus.sync()
        assert looked == ["a.md"]
        assert corpus.status().generation == 1


def test_a_touched_file_is_not_made_anew(handbook: Docs) -> None:
    handbook.age(500)
    with handbook.open() as corpus:
        corpus.sync()
        handbook.age(300)
        report = corpus.sync()
        assert (report.changed, report.unchanged, report.generation) == (0, 3, 1)
        assert corpus.plan().is_empty


def test_only_the_changed_file_is_made_anew(corpus: Corpus, handbook: Docs) -> None:
    ids = {hit.path: hit.id for hit in corpus.search("drain database documents")}
    handbook.write("about.md", "# About us\n\nWe write other documents.\n")
    report = corpus.sync()
    assert (report.added, report.changed, report.unchanged, report.chunks) == (0, 1, 2, 1)
    after = {hit.path: hit.id for hit in corpus.search("drain database documents")}
    assert after["ops/drain.md"] == ids["ops/drain.md"]
    assert after["about.md"] != ids["about.md"]


def test_removing_a_file_removes_only_its_chunks(corpus: Corpus, handbook: Docs) -> None:
    (handbook.root / "ops/drain.md").unlink()
    report = corpus.sync()
    assert (report.deleted, report.unchanged) == (1, 2)
    assert counts(corpus) == (2, 2)
    assert paths(corpus, "drain") == ["about.md"]
    assert paths(corpus, "snapshot") == ["ops/backup.md"]
    assert corpus.verify().ok


def test_a_file_that_shrank_leaves_no_tail_behind(docs: Docs) -> None:
    docs.write("long.md", "".join(f"# Part {n}\n\n{'alpha beta gamma ' * 150}omega{n}\n\n" for n in range(6)))
    with docs.open() as corpus:
        corpus.sync()
        assert corpus.status().chunks >= 6
        docs.write("long.md", "# Part 0\n\nshort\n")
        corpus.sync()
        assert counts(corpus) == (1, 1)
        assert paths(corpus, "omega5") == []
        assert corpus.verify().ok


def test_a_renamed_file_leaves_no_ghost(corpus: Corpus, handbook: Docs) -> None:
    (handbook.root / "ops/drain.md").rename(handbook.root / "moved.md")
    assert corpus.plan().renamed == (Rename("ops/drain.md", "moved.md"),)
    report = corpus.sync()
    assert (report.renamed, report.added, report.deleted) == (1, 0, 0)
    assert paths(corpus, "drain node") == ["moved.md", "about.md"]
    assert counts(corpus) == (3, 3)


def test_two_names_swapped_are_two_changes(docs: Docs) -> None:
    docs.write("a.md", "apples\n")
    docs.write("b.md", "bananas\n")
    with docs.open() as corpus:
        corpus.sync()
        (docs.root / "a.md").rename(docs.root / "c")
        (docs.root / "b.md").rename(docs.root / "a.md")
        (docs.root / "c").rename(docs.root / "b.md")
        report = corpus.sync()
        assert report.changed == 2
        assert paths(corpus, "apples") == ["b.md"]


def test_an_emptied_folder_empties_the_index(corpus: Corpus, handbook: Docs) -> None:
    shutil.rmtree(handbook.root / "ops")
    (handbook.root / "about.md").unlink()
    report = corpus.sync()
    assert report.deleted == 3
    assert counts(corpus) == (0, 0)
    assert list(corpus.search("drain")) == []
    assert corpus.verify().ok


def test_a_vanished_folder_loses_nothing(corpus: Corpus, handbook: Docs) -> None:
    handbook.root.rename(handbook.root.with_name("elsewhere"))
    with pytest.raises(DocumentError, match="no such folder"):
        corpus.sync()
    assert counts(corpus) == (3, 3)


def test_a_bad_file_is_named_keeps_its_last_good_version_and_stops_nothing(
    corpus: Corpus, handbook: Docs
) -> None:
    handbook.write("ops/drain.md", b"\x00\x01\x02 not text \xff\xfe\x00")
    handbook.write("fresh.md", "# Fresh\n\nbread\n")
    report = corpus.sync()
    assert [error.path for error in report.errors] == ["ops/drain.md"]
    assert report.errors[0].reason
    assert (report.added, report.changed, report.unchanged) == (1, 0, 3)
    assert corpus.status().errors == report.errors
    assert paths(corpus, "cordon") == ["ops/drain.md"]
    assert paths(corpus, "bread") == ["fresh.md"]


def test_a_bad_file_is_reported_again_but_not_read_again(docs: Docs, monkeypatch: pytest.MonkeyPatch) -> None:
    docs.write("bad.md", b"\x00" * 10)
    docs.write("good.md", "good\n")
    docs.age()
    with docs.open() as corpus:
        first = corpus.sync()
        for module in (survey_module, prepare_module):
            monkeypatch.setattr(module, "read_file", None)
        again = corpus.sync()
        assert again.errors == first.errors
        assert again.generation == first.generation


def test_a_bad_file_made_good_is_indexed_and_no_longer_reported(docs: Docs) -> None:
    docs.write("a.md", b"\x00" * 10)
    with docs.open() as corpus:
        assert [error.path for error in corpus.sync().errors] == ["a.md"]
        docs.write("a.md", "now it is text\n")
        report = corpus.sync()
        assert (report.added, report.errors) == (1, ())
        assert corpus.status().errors == ()


def test_a_bad_file_that_disappears_is_forgotten(corpus: Corpus, handbook: Docs) -> None:
    handbook.write("ops/drain.md", b"\x00")
    corpus.sync()
    (handbook.root / "ops/drain.md").unlink()
    report = corpus.sync()
    assert (report.deleted, report.errors) == (1, ())
    assert corpus.status().errors == ()
    assert paths(corpus, "cordon") == []


def test_damaged_front_matter_is_reported_with_its_line(docs: Docs) -> None:
    docs.write("a.md", "---\ntitle: [unclosed\nlevel: 1\n---\nbody\n")
    with docs.open() as corpus:
        (error,) = corpus.sync().errors
        assert isinstance(error, FileError)
        assert error.path == "a.md"
        assert "line " in error.reason


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_reported_and_its_documents_stay(corpus: Corpus, handbook: Docs) -> None:
    (handbook.root / "ops").chmod(0)
    try:
        report = corpus.sync()
        assert [error.path for error in report.errors] == ["ops"]
        assert counts(corpus) == (3, 3)
    finally:
        (handbook.root / "ops").chmod(0o755)
    assert corpus.sync().errors == ()


def test_other_chunk_sizes_make_every_document_anew(docs: Docs) -> None:
    docs.write("a.md", "".join(f"# H{n}\n\n{'word ' * 300}\n\n" for n in range(8)))
    docs.age()
    with docs.open() as corpus:
        corpus.sync()
        before = corpus.status().chunks
    with docs.open(config={"chunks": {"min_tokens": 100, "max_tokens": 200}}) as corpus:
        assert corpus.plan().changed == ("a.md",)
        assert paths(corpus, "word") != []
        corpus.sync()
        assert corpus.status().chunks > before
        assert corpus.plan().is_empty
        assert corpus.verify().ok


def test_another_language_makes_every_document_anew_and_other_weights_do_not(handbook: Docs) -> None:
    handbook.age()
    with handbook.open() as corpus:
        corpus.sync()
        plain = corpus.search("drain")[0].score
    with handbook.open(config={"lexical": {"k1": 0.5, "b": 0.2}}) as corpus:
        assert corpus.plan().is_empty
        assert corpus.search("drain")[0].score != plain
    with handbook.open(language="de") as corpus:
        assert len(corpus.plan().changed) == 3
        corpus.sync()
        assert corpus.search("drain")[0].path


def test_batches_are_whole_documents_and_each_leaves_a_sound_index(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_CHARACTERS", 4000)
    for number in range(20):
        docs.write(f"{number:02}.md", f"# Page {number}\n\n" + f"common unique{number} text. " * 60)
    seen: list[tuple[int, bool]] = []
    with docs.open() as corpus:

        def look(progress: Progress) -> None:
            with docs.open() as other:
                seen.append((other.status().documents, other.verify().ok))
                assert progress.total == 20

        report = corpus.sync(progress=look)
        assert report.added == 20
        assert report.generation == len(seen) >= 5
        assert [sound for _, sound in seen] == [True] * len(seen)
        assert [number for number, _ in seen] == sorted(number for number, _ in seen)
        assert seen[-1][0] == 20


def test_a_search_during_the_first_sync_says_that_it_is_not_complete(
    handbook: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_CHARACTERS", 1)
    reasons = []

    def look(_: Progress) -> None:
        with handbook.open() as other:
            reasons.append(other.search("drain documents").reason)

    with handbook.open() as corpus:
        corpus.sync(progress=look)
    assert "first sync" in reasons[0]
    assert "first sync" not in reasons[-1]


def test_many_small_syncs_keep_few_segments(docs: Docs) -> None:
    with docs.open() as corpus:
        for number in range(25):
            docs.write(f"{number}.md", f"# Page {number}\n\nshared words and unique{number}\n")
            corpus.sync()
            assert paths(corpus, f"unique{number}") == [f"{number}.md"]
        with sqlite3.connect(corpus.state / "corpus.db") as connection:
            (segments,) = connection.execute("SELECT count(*) FROM segments").fetchone()
        connection.close()
        assert segments <= 16
        assert len(corpus.search("shared", top_k=30)) == 25
        assert corpus.verify().ok


def test_a_segment_that_is_mostly_dead_is_rewritten(docs: Docs) -> None:
    for number in range(10):
        docs.write(f"{number}.md", f"words of number{number}\n")
    with docs.open() as corpus:
        corpus.sync()
        for number in range(8):
            (docs.root / f"{number}.md").unlink()
        corpus.sync()
        with sqlite3.connect(corpus.state / "corpus.db") as connection:
            rows = connection.execute("SELECT chunks, dead FROM segments").fetchall()
        connection.close()
        assert rows == [(2, 0)]
        assert corpus.verify().ok


def test_rebuild_makes_everything_anew_while_the_old_serves(corpus: Corpus, handbook: Docs) -> None:
    before = corpus.search("drain node", top_k=5).to_dict()["hits"]
    answers = []

    def look(_: Progress) -> None:
        with handbook.open() as other:
            answers.append([hit.path for hit in other.search("drain node")])

    report = corpus.sync(rebuild=True, progress=look)
    assert report.changed == 3
    assert answers == [["ops/drain.md", "about.md"]]
    assert corpus.search("drain node", top_k=5).to_dict()["hits"] == before
    assert corpus.verify().ok
    assert corpus.plan().is_empty


def test_rebuild_keeps_what_can_no_longer_be_read(corpus: Corpus, handbook: Docs) -> None:
    handbook.write("about.md", b"\x00\x00")
    report = corpus.sync(rebuild=True)
    assert (report.changed, [error.path for error in report.errors]) == (2, ["about.md"])
    assert paths(corpus, "swamps") == ["about.md"]


def test_very_many_new_files_are_asked_about_first(docs: Docs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync_module, "MANY_FILES", 3)
    for number in range(5):
        docs.write(f"{number}.md", "x\n")
    asked: list[int] = []

    def refuse(files: int) -> bool:
        asked.append(files)
        return False

    with docs.open() as corpus:
        with pytest.raises(ConfigError, match="5 files"):
            corpus.sync(confirm=refuse)
        assert asked == [5]
        assert not corpus.state.exists()
        corpus.sync(confirm=lambda _: True)
        assert corpus.status().documents == 5
        docs.write("one-more.md", "x\n")
        corpus.sync(confirm=lambda _: False)


ODD_NAMES = [
    'it\'s "quoted".md',
    "100% sure?.md",
    "a&b;c=d#e.md",
    " leading and trailing .md",
    "caf\u00e9.md",
    "cafe\u0301.md",
    "UPPER.MD",
    "upper.md",
    "文書.md",
    "emoji 🚀.md",
    "n" * 200 + ".md",
    "new\nline.md",
    "back\\slash.md",
    "[brackets]*{braces}.md",
]


def test_odd_names_are_kept_as_they_are(docs: Docs) -> None:
    for number, name in enumerate(ODD_NAMES):
        docs.write(f"folder {number}/{name}", f"common word{number}\n")
    docs.age()
    with docs.open() as corpus:
        report = corpus.sync()
        assert (report.added, report.errors) == (len(ODD_NAMES), ())
        for number, name in enumerate(ODD_NAMES):
            assert paths(corpus, f"word{number}") == [f"folder {number}/{name}"]
        assert corpus.sync().unchanged == len(ODD_NAMES)
        for number, name in enumerate(ODD_NAMES):
            (docs.root / f"folder {number}" / name).unlink()
        assert corpus.sync().deleted == len(ODD_NAMES)


def test_empty_files_and_files_of_symbols_are_documents_without_hits(docs: Docs) -> None:
    docs.write("empty.md", "")
    docs.write("blank.md", "\n\n  \n")
    docs.write("symbols.md", "*** --- !!! ???\n")
    docs.write("matter.md", "---\narea: ai\n---\n")
    with docs.open() as corpus:
        report = corpus.sync()
        assert (report.added, report.errors) == (4, ())
        assert list(corpus.search("anything")) == []
        assert list(corpus.search("***")) == []
        assert corpus.verify().ok
        assert corpus.sync().unchanged == 4


def test_the_content_folder_is_never_written_to(handbook: Docs) -> None:
    before = sorted(handbook.root.rglob("*"))
    with handbook.open() as corpus:
        corpus.sync()
        corpus.search("drain")
        corpus.verify(repair=True)
    assert sorted(handbook.root.rglob("*")) == before


def test_opening_planning_and_searching_make_no_state(handbook: Docs) -> None:
    with handbook.open() as corpus:
        assert len(corpus.plan().added) == 3
        assert list(corpus.search("drain")) == []
        assert corpus.search("drain").reason == "nothing is indexed yet: sync first"
        assert corpus.status().generation == 0
        assert corpus.verify().ok
        assert not corpus.state.exists()


def test_a_no_op_sync_imports_no_parser(handbook: Docs) -> None:
    with handbook.open() as corpus:
        corpus.sync()
    code = (
        "import sys; from firstlight import Corpus\n"
        f"with Corpus.open({str(handbook.root)!r}) as corpus:\n"
        "    corpus.sync(); assert corpus.search('drain a node')\n"
        "heavy = {'pyromark', 'yaml', 'selectolax', 'pathspec', 'rich', 'tomllib', 'platformdirs'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_counts_are_stable_over_many_runs(handbook: Docs) -> None:
    seen = set()
    for _ in range(4):
        with handbook.open() as corpus:
            corpus.sync()
            seen.add((*counts(corpus), corpus.status().generation))
    assert seen == {(3, 3, 1)}


def test_the_configuration_file_is_no_document_and_survives(handbook: Docs) -> None:
    toml = handbook.write("firstlight.toml", 'sources = ["ops"]\n')
    before = toml.read_bytes()
    with handbook.open() as corpus:
        assert corpus.sync().added == 2
    assert toml.read_bytes() == before


def test_a_document_replaced_by_a_folder_is_gone(corpus: Corpus, handbook: Docs) -> None:
    (handbook.root / "about.md").unlink()
    handbook.write("about.md/inner.md", "inner words\n")
    report = corpus.sync()
    assert (report.added, report.deleted) == (1, 1)
    assert paths(corpus, "inner") == ["about.md/inner.md"]


def test_the_same_text_in_a_new_place_is_a_copy_not_a_rename(corpus: Corpus, handbook: Docs) -> None:
    shutil.copy(handbook.root / "about.md", handbook.root / "copy.md")
    assert corpus.plan().added == ("copy.md",)
    assert corpus.plan().renamed == ()


def test_a_file_from_the_year_2500_is_indexed(docs: Docs) -> None:
    for number, moment in enumerate((-(2**62), 2**63 + 10**9, 10**19)):
        file = docs.write(f"{number}.md", f"words{number}\n")
        try:
            os.utime(file, ns=(moment, moment))
        except OSError:
            pytest.skip("the file system has no such dates")
    with docs.open() as corpus:
        assert corpus.sync().added == 3
        assert corpus.sync().unchanged == 3
        assert corpus.search("words2")[0].path == "2.md"
        assert corpus.verify().ok
