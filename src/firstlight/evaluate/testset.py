"""Questions and judgements -> a test set over the documents that there are."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from unicodedata import normalize

from firstlight.corpus.state import DATABASE_NAME
from firstlight.errors import DocumentError
from firstlight.evaluate.types import TestSet
from firstlight.store.database import Database
from firstlight.store.documents import read_manifest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from firstlight.evaluate.types import Judgement

_MOST_TOLD = 5
# Comparing names letter by letter takes about a second among so many.
_MOST_COMPARED = 20_000


def document_paths(state: Path) -> list[str]:
    """Return the paths of all documents in the index that a folder holds; none where there is none yet."""
    opened = Database(state / DATABASE_NAME)
    if not opened.exists():
        return []
    try:
        with opened.read() as connection:
            return [row.path for row in read_manifest(connection)]
    finally:
        opened.close()


def make_test_set(
    questions: Mapping[str, str],
    judgements: Sequence[Judgement],
    documents: Collection[str],
    *,
    source: str | None = None,
    skip_unknown: bool = False,
) -> TestSet:
    """Return the questions that have a relevant document, with their judgements.

    Args:
        questions: The text of each by its id.
        judgements: Of these questions, perhaps of others too.
        documents: The paths of the documents that there are.
        source: The judgements' file, for messages.
        skip_unknown: Leave out judgements on documents that there are not; by default they are an error,
            since no ranking could ever have them.

    Raises:
        DocumentError: A judged document is unknown, or nothing is left to ask.
    """
    known = {normalize("NFC", path): path for path in documents}
    asked = [judgement for judgement in judgements if judgement.question in questions]
    unknown = [judgement for judgement in asked if normalize("NFC", judgement.path) not in known]
    if unknown and not skip_unknown:
        raise DocumentError(_about_unknown(unknown, documents), path=source)
    qrels: dict[str, dict[str, int]] = {}
    for judgement in asked:
        if path := known.get(normalize("NFC", judgement.path)):
            qrels.setdefault(judgement.question, {})[path] = judgement.grade
    qrels = {question: grades for question, grades in qrels.items() if max(grades.values()) > 0}
    kept = {name: text for name, text in questions.items() if name in qrels}
    if not kept:
        raise DocumentError(_about_nothing(questions, judgements), path=source)
    notes = _notes(questions, kept, judgements, unknown)
    return TestSet(kept, {name: qrels[name] for name in kept}, notes)


def _notes(
    questions: Mapping[str, str],
    kept: Mapping[str, str],
    judgements: Sequence[Judgement],
    unknown: Sequence[Judgement],
) -> tuple[str, ...]:
    strangers = {judgement.question for judgement in judgements} - questions.keys()
    left_out = (
        (len(questions) - len(kept), "questions without a relevant document"),
        (len(strangers), "judged questions whose text is not given"),
        (len(unknown), "judgements on documents that are not in the index"),
    )
    return tuple(f"left out: {number:,} {what}" for number, what in left_out if number)


def _about_unknown(unknown: Sequence[Judgement], documents: Collection[str]) -> str:
    lines = [f"judges documents that are not in the index ({len(unknown):,} lines):"]
    for judgement in unknown[:_MOST_TOLD]:
        near = nearest(judgement.path, documents)
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        lines.append(f"  line {judgement.line}: {judgement.path}{meant}")
    if len(unknown) > _MOST_TOLD:
        lines.append(f"  and {len(unknown) - _MOST_TOLD:,} more")
    lines.append("correct them, or leave them out with --skip-unknown")
    return "\n".join(lines)


def _about_nothing(questions: Mapping[str, str], judgements: Sequence[Judgement]) -> str:
    if not {judgement.question for judgement in judgements} & questions.keys():
        return (
            f"judges none of the questions: its first id is '{judgements[0].question:.40}', "
            f"the questions' is '{next(iter(questions)):.40}'"
        )
    return "judges no document that there is as relevant to any question: nothing can be measured"


def nearest(path: str, documents: Collection[str]) -> list[str]:
    """Return the documents that were perhaps meant by `path`, at most three.

    Example:
        >>> (
        ...     nearest("docs/drain.md", ["ops/drain.md", "ops/backup.md"]),
        ...     nearest("ops/drian", ["ops/drain.md"]),
        ... )
        (['ops/drain.md'], ['ops/drain.md'])
    """
    name = PurePosixPath(path).name
    same = [each for each in documents if PurePosixPath(each).name in (name, f"{name}.md", f"{name}.txt")]
    if same or len(documents) > _MOST_COMPARED:
        return sorted(same)[:3]
    return get_close_matches(path, documents, n=1)
