from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firstlight.errors import DocumentError
from firstlight.evaluate import read_golden

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = ["ops/drain.md", "ops/backup.md", "about.md"]


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Two questions that say what is relevant, and one that does not."""
    file = tmp_path / "golden.jsonl"
    file.write_text(
        '{"id": "a", "text": "how to drain", "relevant": ["./ops/drain.md", "about.md"]}\n\n'
        '{"id": "b", "text": "who are we", "relevant": []}\n'
        '{"_id": "c", "query": "nightly backups", "relevant": ["ops/backup.md"]}\n'
    )
    return file


def test_questions_say_themselves_what_is_relevant(golden: Path) -> None:
    assert read_golden(golden, DOCUMENTS).questions == {
        "how to drain": {"ops/drain.md": 1, "about.md": 1},
        "who are we": {},
        "nightly backups": {"ops/backup.md": 1},
    }


def test_a_file_of_judgements_comes_before_that_and_knows_grades(golden: Path, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("query-id\tpath\tscore\nb\tabout.md\t2\n")
    found = read_golden(golden, DOCUMENTS, qrels=qrels)
    assert found.questions == {"how to drain": {}, "who are we": {"about.md": 2}, "nightly backups": {}}
    assert found.notes == ("left out: 2 questions without a relevant document",)


def test_questions_without_any_label_are_fine(tmp_path: Path) -> None:
    file = tmp_path / "questions.tsv"
    file.write_text("q1\thow to drain\nq2\twho are we\n")
    assert read_golden(file, DOCUMENTS).questions == {"how to drain": {}, "who are we": {}}


def test_a_question_that_comes_twice_has_the_labels_of_both(tmp_path: Path) -> None:
    file = tmp_path / "golden.jsonl"
    row = '{{"id": "{}", "text": "drain", "relevant": ["{}"]}}\n'
    file.write_text(row.format("a", "about.md") + row.format("b", "ops/drain.md"))
    assert read_golden(file, DOCUMENTS).questions == {"drain": {"about.md": 1, "ops/drain.md": 1}}


def test_an_unknown_document_is_an_error_or_left_out(golden: Path) -> None:
    with pytest.raises(
        DocumentError, match=r"golden.jsonl: judges documents that .*\n.*line 4: ops/backup.md"
    ):
        read_golden(golden, DOCUMENTS[:1] + DOCUMENTS[2:])
    found = read_golden(golden, DOCUMENTS[:1] + DOCUMENTS[2:], skip_unknown=True)
    assert found.questions["nightly backups"] == {}


@pytest.mark.parametrize("relevant", ['"about.md"', '{"about.md": 1}', "[1]", '[""]'])
def test_what_is_no_list_of_paths_is_named_by_its_line(tmp_path: Path, relevant: str) -> None:
    file = tmp_path / "golden.jsonl"
    file.write_text(f'{{"id": "a", "text": "x"}}\n{{"id": "b", "text": "y", "relevant": {relevant}}}\n')
    with pytest.raises(DocumentError, match=r"golden.jsonl:2: 'relevant' has to be a list of paths"):
        read_golden(file, DOCUMENTS)
