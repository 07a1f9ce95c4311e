from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firstlight import Corpus
from firstlight.errors import DocumentError
from firstlight.evaluate import document_paths, make_test_set
from firstlight.evaluate.testset import nearest
from firstlight.evaluate.types import Judgement

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = {"q2": "two", "q1": "one", "q3": "three"}
DOCUMENTS = ["ops/drain.md", "ops/backup.md", "caf\u00e9.md"]


def judged(*lines: tuple[str, str, int]) -> list[Judgement]:
    return [Judgement(*line, number) for number, line in enumerate(lines, 1)]


def test_questions_with_a_relevant_document_are_kept_in_their_order() -> None:
    found = make_test_set(
        QUESTIONS,
        judged(("q1", "ops/drain.md", 1), ("q2", "ops/backup.md", 2), ("q1", "ops/backup.md", 0)),
        DOCUMENTS,
    )
    assert list(found.questions.items()) == [("q2", "two"), ("q1", "one")]
    assert found.qrels == {"q2": {"ops/backup.md": 2}, "q1": {"ops/drain.md": 1, "ops/backup.md": 0}}
    assert found.judgements == 3
    assert found.notes == ("left out: 1 questions without a relevant document",)


def test_names_are_compared_as_unicode_means_them() -> None:
    found = make_test_set({"q": "?"}, judged(("q", "cafe\u0301.md", 1)), DOCUMENTS)
    assert found.qrels == {"q": {"caf\u00e9.md": 1}}


def test_an_unknown_document_is_an_error_that_names_the_nearest() -> None:
    lines = [("q1", "ops/drian.md", 1), *((f"q{1 + n % 3}", f"zzz{n}", 1) for n in range(7))]
    with pytest.raises(DocumentError) as error:
        make_test_set(QUESTIONS, judged(*lines), DOCUMENTS, source="qrels.tsv")
    message = str(error.value)
    assert message.startswith("qrels.tsv: judges documents that are not in the index (8 lines):")
    assert "line 1: ops/drian.md; did you mean ops/drain.md?" in message
    assert "and 3 more" in message
    assert "--skip-unknown" in message


def test_unknown_documents_and_questions_are_left_out_and_told() -> None:
    lines = judged(("q1", "ops/drain.md", 1), ("q2", "gone.md", 1), ("stranger", "ops/drain.md", 1))
    found = make_test_set(QUESTIONS, lines, DOCUMENTS, skip_unknown=True)
    assert list(found.questions) == ["q1"]
    assert found.notes == (
        "left out: 2 questions without a relevant document",
        "left out: 1 judged questions whose text is not given",
        "left out: 1 judgements on documents that are not in the index",
    )


def test_nothing_left_to_ask_is_an_error() -> None:
    with pytest.raises(DocumentError, match="its first id is '7', the questions' is 'q2'"):
        make_test_set(QUESTIONS, judged(("7", "ops/drain.md", 1)), DOCUMENTS)
    with pytest.raises(DocumentError, match="no document that there is as relevant"):
        make_test_set(QUESTIONS, judged(("q1", "ops/drain.md", 0)), DOCUMENTS)


def test_the_nearest_is_a_file_of_that_name_elsewhere_or_one_spelt_alike() -> None:
    assert nearest("drain", DOCUMENTS) == ["ops/drain.md"]
    assert nearest("docs/ops/backup.md", DOCUMENTS) == ["ops/backup.md"]
    assert nearest("xyz", DOCUMENTS) == []


def test_the_documents_are_those_of_the_index(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# A\n")
    state = tmp_path / "state"
    assert document_paths(state) == []
    with Corpus.open(docs, state=state) as corpus:
        corpus.sync()
    assert document_paths(state) == ["a.md"]
