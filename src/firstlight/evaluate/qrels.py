"""Questions and relevance judgements, in the formats that people have them in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from firstlight.errors import DocumentError
from firstlight.evaluate.records import read_records
from firstlight.evaluate.types import Judgement
from firstlight.lexical.query import LONGEST_QUESTION

if TYPE_CHECKING:
    from pathlib import Path

    from firstlight.evaluate.records import Record

# What public collections call things; the first is what we do.
_QUESTIONS = {
    "id": frozenset({"id", "_id", "qid", "query-id", "query_id"}),
    "text": frozenset({"text", "query", "question"}),
}
_JUDGEMENTS = {
    "query-id": frozenset({"query-id", "query_id", "qid", "query", "question"}),
    "path": frozenset({"path", "corpus-id", "corpus_id", "docid", "doc-id", "doc_id", "document"}),
    "score": frozenset({"score", "rel", "relevance", "label", "grade"}),
}
_GRADE = re.compile(r"[+-]?\d{1,6}(?:\.0+)?")
_TREC_COLUMNS = 4


def read_questions(path: Path) -> dict[str, str]:
    """Return the text of each question by its id, in the file's order.

    The file is JSON Lines (`{"id": "q1", "text": "…"}`; BEIR's `_id` is fine), TSV or CSV with a header, or
    TSV without one: the id, a tab, the text.

    Raises:
        DocumentError: The file cannot be read, or a line is wrong.
    """
    found: dict[str, str] = {}
    lines: dict[str, int] = {}
    for record in read_records(path, _QUESTIONS, headless=_headless_question):
        name, text = _filled(record, "id", path), _filled(record, "text", path)
        if name in found:
            raise _wrong(path, record, f"'{name:.60}' is the id of line {lines[name]} already")
        if len(text) > LONGEST_QUESTION:
            raise _wrong(
                path, record, f"has {len(text):,} characters; at most {LONGEST_QUESTION:,} make a question"
            )
        found[name], lines[name] = text, record.line
    return found


def read_judgements(path: Path) -> list[Judgement]:
    """Return the judgements of a file, in its order.

    It is TREC's qrels (`q1 0 ops/drain.md 2`), or TSV or CSV with a header as BEIR has it (`query-id`,
    `corpus-id` or `path`, `score`). A document is named by its path below the content folder.

    Raises:
        DocumentError: The file cannot be read, a line is wrong, or two lines contradict each other.
    """
    found: dict[tuple[str, str], Judgement] = {}
    for record in read_records(path, _JUDGEMENTS, headless=_headless_judgement):
        question, document = _filled(record, "query-id", path), _filled(record, "path", path)
        score = record.values["score"].strip()
        if not _GRADE.fullmatch(score):
            raise _wrong(path, record, f"'{score:.30}' is no relevance: say 0 for none, 1 or more otherwise")
        judgement = Judgement(question, document.removeprefix("./"), int(float(score)), record.line)
        before = found.setdefault((question, judgement.path), judgement)
        if before.grade != judgement.grade:
            reason = (
                f"judges {document} for '{question:.60}' otherwise than line {before.line} does; delete one"
            )
            raise _wrong(path, record, reason)
    return list(found.values())


def _headless_question(line: str) -> list[str]:
    parts = line.split("\t", 1)
    if len(parts) < len(_QUESTIONS):
        raise ValueError('has no tab: a line is \'id TAB text\', or \'{"id": "q1", "text": "…"}\'')
    return parts


def _headless_judgement(line: str) -> list[str]:
    """Return question, path and score of a TREC line; a path may have spaces in it."""
    parts = line.split("\t") if line.count("\t") > 1 else line.split(None, 2)
    if "\t" not in line and len(parts) > 2:
        parts[2:] = parts[2].rsplit(None, 1)
    if len(parts) == _TREC_COLUMNS:
        del parts[1]
    if len(parts) != len(_JUDGEMENTS):
        raise ValueError(
            "is no judgement: a line is 'q1 0 ops/drain.md 1', or the first line names the columns, "
            "as 'query-id TAB path TAB score'"
        )
    return parts


def _filled(record: Record, what: str, path: Path) -> str:
    value = record.values[what].strip()
    if not value:
        raise _wrong(path, record, f"the {what} is empty")
    return value


def _wrong(path: Path, record: Record, reason: str) -> DocumentError:
    return DocumentError(reason, path=str(path), line=record.line)
