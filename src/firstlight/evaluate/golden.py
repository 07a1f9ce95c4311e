"""Golden questions: what a change of models has to answer as well as before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from firstlight.errors import DocumentError
from firstlight.evaluate.qrels import read_judgements, read_questions
from firstlight.evaluate.testset import make_test_set
from firstlight.evaluate.types import Judgement
from firstlight.text.read import decode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from firstlight.evaluate.types import Grades


class Golden(NamedTuple):
    """Questions, with the grade of each judged document by its path.

    Attributes:
        questions: By the text of each question its grades; none where nobody judged.
        notes: What was left out, one line each.
    """

    questions: Mapping[str, Grades]
    notes: tuple[str, ...] = ()


def read_golden(
    path: Path, documents: Collection[str], *, qrels: Path | None = None, skip_unknown: bool = False
) -> Golden:
    """Return the questions of a file, with what is judged of them.

    The file is any that `read_questions` takes. What is relevant stands in a file of its own, as
    `read_judgements` takes it; or, where the questions are JSON Lines, beside each:
    `{"id": "q1", "text": "…", "relevant": ["ops/drain.md"]}`.

    Args:
        path: The questions.
        documents: The paths of the documents that there are.
        qrels: The judgements; what the questions say themselves is not looked at then.
        skip_unknown: Leave out judgements on documents that there are not; by default they are an error.

    Raises:
        DocumentError: A file cannot be read, a line is wrong, or a judged document is unknown.
    """
    questions = read_questions(path)
    judgements = read_judgements(qrels) if qrels is not None else list(_own(path, list(questions)))
    found: dict[str, dict[str, int]] = {text: {} for text in questions.values()}
    if not judgements:
        return Golden(found)
    source = str(path if qrels is None else qrels)
    test_set = make_test_set(questions, judgements, documents, source=source, skip_unknown=skip_unknown)
    for name, grades in test_set.qrels.items():
        found[questions[name]].update(grades)
    return Golden(found, test_set.notes)


def _own(path: Path, names: list[str]) -> Iterator[Judgement]:
    """Yield what the rows of questions in JSON Lines say themselves; they have been read before."""
    text = decode(path.read_bytes())
    if not text.lstrip().startswith("{"):
        return
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    rows = [(number, json.loads(line)) for number, line in enumerate(lines, 1) if line.strip()]
    for name, (number, said) in zip(names, rows, strict=False):
        for document in _relevant(said, path, number):
            yield Judgement(name, document.removeprefix("./"), 1, number)


def _relevant(said: Mapping[str, Any], path: Path, line: int) -> list[str]:
    found = said.get("relevant", [])
    if not isinstance(found, list) or not all(isinstance(each, str) and each for each in found):
        raise DocumentError(
            "'relevant' has to be a list of paths, as [\"ops/drain.md\"]; grades go into a file of their own",
            path=str(path),
            line=line,
        )
    return found
