from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from firstlight.errors import DocumentError
from firstlight.evaluate import read_judgements, read_questions, records
from firstlight.evaluate.types import Judgement

if TYPE_CHECKING:
    from pathlib import Path

JUDGED = [Judgement("q1", "ops/drain.md", 2, 0), Judgement("q2", "about us.md", 0, 0)]


def written(folder: Path, text: str | bytes, name: str = "file.tsv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def without_lines(judgements: list[Judgement]) -> list[Judgement]:
    return [judgement._replace(line=0) for judgement in judgements]


@pytest.mark.parametrize(
    "text",
    [
        "q1 0 ops/drain.md 2\nq2 0 about us.md 0\n",
        "q1\t0\tops/drain.md\t2\r\nq2\t0\tabout us.md\t0",
        "q1\tops/drain.md\t2\nq2\tabout us.md\t0\n",
        "query-id\tcorpus-id\tscore\nq1\tops/drain.md\t2\n\nq2\tabout us.md\t0\n",
        "Relevance,Path,QID\n2,ops/drain.md,q1\n0,about us.md,q2\n",
        'query_id,doc_id,label\nq1,"ops/drain.md",2.0\nq2,"about us.md",0.0\n',
        "\ufeffqid\tdocid\trel\rq1\t./ops/drain.md\t+2\rq2\tabout us.md\t0\r",
        (
            '{"query-id": "q1", "corpus-id": "ops/drain.md", "score": 2}\n'
            '{"query-id": "q2", "corpus-id": "about us.md", "score": 0}\n'
        ),
    ],
)
def test_judgements_are_read_in_every_format(tmp_path: Path, text: str) -> None:
    assert without_lines(read_judgements(written(tmp_path, text))) == JUDGED


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.jsonl", '{"id": "1", "text": "how?"}\n{"id": "two", "text": "why, then?"}\n'),
        ("q.jsonl", '{"_id": 1, "text": " how? ", "metadata": {}}\n\n{"_id": "two", "text": "why, then?"}'),
        ("q.tsv", "1\thow?\ntwo\twhy, then?\n"),
        ("q.txt", "qid\tquery\r\n1\thow?\r\ntwo\twhy, then?\r\n"),
        ("q.csv", 'text,id\nhow?,1\n"why, then?",two\n'),
    ],
)
def test_questions_are_read_in_every_format(tmp_path: Path, name: str, text: str) -> None:
    assert read_questions(written(tmp_path, text, name)) == {"1": "how?", "two": "why, then?"}


def test_utf_16_and_separators_inside_a_string_are_read(tmp_path: Path) -> None:
    line = json.dumps({"id": "1", "text": "a\u2028b"}, ensure_ascii=False)
    assert read_questions(written(tmp_path, line.encode("utf-16"))) == {"1": "a\u2028b"}


def test_a_quoted_field_may_go_over_several_lines(tmp_path: Path) -> None:
    file = written(tmp_path, 'id,text\n1,"one\ntwo"\n2,three\n2,four\n', "q.csv")
    with pytest.raises(DocumentError, match=r"q\.csv:5: '2' is the id of line 4 already"):
        read_questions(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ('[{"id": "1"}]', ":1: is a JSON array; write one object a line"),
        ('{"id": "1", "text": "a"}\n{"id": "2", "text"', ":2: is not a JSON object on one line"),
        ('{"id": "1", "text": "a"}\n17', ":2: is not a JSON object on one line"),
        ('{"id": "1", "query": {"text": "a"}}', ":1: needs a text or number called 'text'"),
        ('{"id": true, "text": "a"}', ":1: needs a text or number called 'id'"),
        ('{"id": "", "text": "a"}', ":1: the id is empty"),
        ("1\ta\n1\tb", ":2: '1' is the id of line 1 already"),
        ("1\ta\n2", ":2: has no tab"),
        ("1\t \n", ":1: the text is empty"),
        ("id\ttext\n1\n", ":2: has only 1 of the header's columns: no 'text'"),
        ("1\t" + "a" * 10_001, ":1: has 10,001 characters; at most 10,000"),
        (b"1\t\xff", "is not UTF-8|not valid|encoding"),
    ],
)
def test_what_is_wrong_with_questions_is_told_with_its_line(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises(DocumentError, match=message) as error:
        read_questions(written(tmp_path, text, "q.txt"))
    assert str(error.value).startswith(f"{tmp_path}/q.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 a.md 1\nq2 0 a.md", ":2: 'a.md' is no relevance"),
        ("q1 1", ":1: is no judgement"),
        ("q1 0 a.md high", ":1: 'high' is no relevance"),
        ("q1 0 a.md 0.5", ":1: '0.5' is no relevance"),
        ("q1 0 a.md 99999999999", "is no relevance"),
        ("q1 0 a.md 1\nq1 0 a.md 2", ":2: judges a.md for 'q1' otherwise than line 1"),
        ('qid,path,rel\nq1,"a.md,1', ":2: is not CSV"),
    ],
)
def test_what_is_wrong_with_judgements_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        read_judgements(written(tmp_path, text))


def test_csv_without_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"qrels.csv:1: the first line has to name the columns"):
        read_judgements(written(tmp_path, "q1,a.md,1\n", "qrels.csv"))


def test_the_same_judgement_twice_counts_once(tmp_path: Path) -> None:
    assert len(read_judgements(written(tmp_path, "q1 0 a.md 1\nq1 0 ./a.md 1\n"))) == 1


def test_a_file_that_cannot_be_read_or_is_too_large_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DocumentError, match=r"none\.tsv: cannot be read: No such file"):
        read_questions(tmp_path / "none.tsv")
    with pytest.raises(DocumentError, match="cannot be read: Is a directory"):
        read_questions(tmp_path)
    monkeypatch.setattr(records, "MOST_BYTES", 5)
    with pytest.raises(DocumentError, match="larger than 5 bytes"):
        read_questions(written(tmp_path, "1\tabcd"))
