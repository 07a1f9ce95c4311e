from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from firstlight import Corpus
from firstlight.errors import StoreError
from firstlight.store import segments

from .embedder import WordEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firstlight.corpus.reports import VerifyReport

    from .conftest import Docs


@pytest.fixture
def sound(docs: Docs) -> Iterator[Corpus]:
    """Twelve documents in three segments, one of them with a tombstone."""
    with docs.open() as opened:
        for number in range(12):
            docs.write(
                f"{number}.md",
                f"---\ntags: [t{number}]\n---\n# Page {number}\n\nshared words, and unique{number}\n",
            )
            if number % 4 == 3:
                opened.sync()
        (docs.root / "5.md").unlink()
        opened.sync()
        yield opened


def damage(corpus: Corpus, *statements: str) -> None:
    connection = sqlite3.connect(corpus.state / "corpus.db")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def kinds(report: VerifyReport) -> dict[str, list[tuple[str, str]]]:
    found = {"missing": report.missing, "orphaned": report.orphaned, "different": report.different}
    return {
        kind: [(each.what, each.path) for each in findings] for kind, findings in found.items() if findings
    }


def test_a_sound_index_has_no_findings(sound: Corpus) -> None:
    report = sound.verify()
    assert report.ok
    assert report.findings == ()
    assert (report.documents, report.chunks, report.repaired) == (11, 11, 0)
    assert report.to_dict()["ok"] is True


DAMAGES = {
    "a chunk is lost": (
        "DELETE FROM chunks WHERE text LIKE '%unique3%'",
        {"missing": [("document", "3.md")], "orphaned": [("posting", "")]},
    ),
    "a document's row is lost": (
        "DELETE FROM documents WHERE path = '3.md'",
        {"orphaned": [("chunk", "")]},
    ),
    "a text was changed": (
        "UPDATE chunks SET text = replace(text, 'unique3', 'unique33')",
        {"different": [("chunk", "3.md"), ("posting", "3.md")]},
    ),
    "a heading was changed": (
        "UPDATE chunks SET headings = '[[\"Other\"], []]' WHERE text LIKE '%unique7%'",
        {"different": [("rows", "7.md"), ("posting", "7.md")]},
    ),
    "headings are no JSON": (
        "UPDATE chunks SET headings = '[\"Oth' WHERE text LIKE '%unique7%'",
        {"different": [("rows", "7.md")]},
    ),
    "fields are no JSON": (
        "UPDATE documents SET payload = '{\"tags' WHERE path = '7.md'",
        {"different": [("rows", "7.md")]},
    ),
    "a field was changed": (
        'UPDATE documents SET payload = \'{"tags":["t7"],"area":"x"}\' WHERE path = \'7.md\'',
        {"different": [("rows", "7.md")]},
    ),
    "a folder was changed": (
        "UPDATE documents SET path = 'x/7.md' WHERE path = '7.md'",
        {"different": [("rows", "x/7.md")]},
    ),
    "an offset was changed": (
        "UPDATE chunks SET start = start + 1 WHERE text LIKE '%unique7%'",
        {"different": [("rows", "7.md")]},
    ),
    "a line was changed": (
        "UPDATE chunks SET line_start = 'x' WHERE text LIKE '%unique7%'",
        {"different": [("rows", "7.md")]},
    ),
    "a text is not UTF-8": (
        "UPDATE chunks SET text = CAST(x'ff' || text AS TEXT) WHERE text LIKE '%unique7%'",
        {"different": [("chunk", "7.md"), ("posting", "7.md")]},
    ),
    "a path is not text": (
        "UPDATE documents SET path = x'00ff' WHERE path = '7.md'",
        {"different": [("rows", "b'\\x00\\xff'")]},
    ),
    "the order of segments was changed": (
        "UPDATE segments SET first_chunk = 99 WHERE id = 1",
        {"missing": [("posting", f"{number}.md") for number in range(4)], "different": [("segment", "")]},
    ),
    "the index does not know itself": (
        "DELETE FROM meta WHERE key = 'generation'",
        {"different": [("database", "")]},
    ),
    "a segment is lost": (
        "DELETE FROM segments WHERE id = 1",
        {"missing": [("posting", f"{number}.md") for number in range(4)]},
    ),
    "a segment is cut short": (
        "UPDATE segments SET data = substr(data, 1, length(data) - 10) WHERE id = 1",
        {"missing": [("posting", f"{number}.md") for number in range(4)], "different": [("segment", "")]},
    ),
    "a segment has a wrong byte": (
        "UPDATE segments SET data = CAST(substr(data, 1, length(data) - 1) || 'X' AS BLOB) WHERE id = 1",
        {"missing": [("posting", f"{number}.md") for number in range(4)], "different": [("segment", "")]},
    ),
    "a segment is there twice": (
        (
            "INSERT INTO segments SELECT 99, first_chunk, chunks, dead, tombstones, documents, file, data "
            "FROM segments WHERE id = 3"
        ),
        {"orphaned": [("posting", f"{number}.md") for number in (10, 11, 8, 9)]},
    ),
    "a tombstone is lost": (
        "UPDATE segments SET tombstones = NULL, dead = 0",
        {"orphaned": [("posting", "")]},
    ),
    "a chunk's document is wrong": (
        "UPDATE segments SET documents = zeroblob(32) WHERE id = 3",
        {"different": [("posting", f"{number}.md") for number in (10, 11, 8, 9)]},
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_id_by_id_and_repaired(sound: Corpus, name: str) -> None:
    statement, expected = DAMAGES[name]
    before = [hit.to_dict() for hit in sound.search("shared words", top_k=20)]
    damage(sound, statement)
    report = sound.verify()
    assert not report.ok
    found = kinds(report)
    assert {kind: sorted(each) for kind, each in found.items()} == {
        kind: sorted(each) for kind, each in expected.items()
    }
    repaired = sound.verify(repair=True)
    assert repaired.findings == report.findings
    assert repaired.ok
    assert sound.verify().findings == ()
    assert [hit.to_dict() for hit in sound.search("shared words", top_k=20)] == before
    assert sound.plan().is_empty


VECTOR_DAMAGES = {
    "a vector is of another chunk": (
        "UPDATE vectors SET chunk = 99 WHERE chunk = (SELECT max(id) FROM chunks)",
        {"orphaned": [("vector", "")]},
    ),
    "a vector is of another text": (
        "UPDATE vectors SET input_hash = zeroblob(32) WHERE chunk = (SELECT max(id) FROM chunks)",
        {"different": [("vector", "9.md")]},
    ),
    "a vector is cut short": (
        "UPDATE vectors SET vector = substr(vector, 1, 8) WHERE chunk = (SELECT max(id) FROM chunks)",
        {"different": [("vector", "9.md")]},
    ),
    "a vector is no vector of unit length": (
        "UPDATE vectors SET vector = zeroblob(256) WHERE chunk = (SELECT max(id) FROM chunks)",
        {"different": [("vector", "9.md")]},
    ),
    "a vector is not finite": (
        (
            "UPDATE vectors SET vector = CAST(x'0000c07f' || substr(vector, 5) AS BLOB) "
            "WHERE chunk = (SELECT max(id) FROM chunks)"
        ),
        {"different": [("vector", "9.md")]},
    ),
    "neither a vector nor a reason": (
        "UPDATE vectors SET vector = NULL WHERE chunk = (SELECT max(id) FROM chunks)",
        {"missing": [("vector", "9.md")]},
    ),
}


@pytest.mark.parametrize("name", VECTOR_DAMAGES)
def test_damaged_vectors_are_found_and_made_anew_at_no_cost(sound: Corpus, docs: Docs, name: str) -> None:
    statement, expected = VECTOR_DAMAGES[name]
    embedder = WordEmbedder()
    with docs.open(embedder=embedder) as corpus:
        corpus.sync(embed=True)
        assert corpus.verify().findings == ()
        before = [hit.to_dict() for hit in corpus.search("shared words", top_k=20)]
        damage(corpus, statement)
        assert kinds(corpus.verify()) == expected
        assert corpus.verify(repair=True).ok
        assert corpus.verify().findings == ()
        assert corpus.wait_background(20)
        assert [hit.to_dict() for hit in corpus.search("shared words", top_k=20)] == before
    assert len(embedder.texts) == 11


def test_postings_are_repaired_from_the_rows_although_the_files_are_gone(sound: Corpus, docs: Docs) -> None:
    damage(sound, "DELETE FROM segments")
    for file in docs.root.glob("*.md"):
        file.write_bytes(b"\x00 unreadable")
    assert sound.verify(repair=True).ok
    assert [hit.path for hit in sound.search("unique7")] == ["7.md"]


def test_a_lost_file_of_postings_is_an_error_with_the_way_out_and_repaired(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "FILE_BYTES", 1)
    docs.write("a.md", "words\n")
    with docs.open() as corpus:
        corpus.sync()
    (file,) = (corpus.state / "segments").iterdir()
    file.unlink()
    with docs.open() as corpus:
        with pytest.raises(StoreError, match=r"gone.*firstlight verify /.*/docs --repair`"):
            corpus.search("words")
        assert kinds(corpus.verify()) == {"missing": [("posting", "a.md")], "different": [("segment", "")]}
        assert corpus.verify(repair=True).ok
        assert corpus.search("words")[0].path == "a.md"
        assert len(list((corpus.state / "segments").iterdir())) == 1


def test_damaged_indexes_of_sqlite_are_made_anew_without_the_files(sound: Corpus) -> None:
    damage(
        sound,
        "CREATE INDEX other ON documents (title)",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'other') "
        "WHERE name = 'documents_language'",
        "DELETE FROM sqlite_master WHERE name = 'other'",
    )
    for file in sound.root.glob("*.md"):
        file.write_bytes(b"\x00 unreadable")
    with Corpus.open(sound.root) as corpus:
        assert {each.what for each in corpus.verify().findings} == {"database"}
        corpus.verify(repair=True)
        assert [hit.path for hit in corpus.search("unique7")] == ["7.md"]


def test_a_damaged_file_is_found_and_a_repair_reads_everything_again(sound: Corpus) -> None:
    file = sound.state / "corpus.db"
    sound.close()
    data = bytearray(file.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = bytes(64)
    file.write_bytes(data)
    with Corpus.open(sound.root) as corpus:
        report = corpus.verify()
        assert [each.what for each in report.different] == ["database"] * len(report.different)
        assert not report.ok
        assert corpus.verify(repair=True).ok
        assert corpus.status().documents == 11
        assert [hit.path for hit in corpus.search("unique7")] == ["7.md"]
