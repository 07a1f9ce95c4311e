"""The words of the evaluate floor: what is asked, of whom, and how relevant each document is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from firstlight.corpus.reports import Status
    from firstlight.rank.types import Results

    Tell: TypeAlias = Callable[[str, int, int], object]
    Values: TypeAlias = Mapping[str, float]
    Grades: TypeAlias = Mapping[str, int]

MODES = ("bm25", "hybrid", "vector")


class Searchable(Protocol):
    """What is evaluated: a `Corpus`, or anything that answers like one."""

    def search(
        self,
        query: str,
        *,
        top_k: int = ...,
        mode: str = ...,
        per_document: int | None = ...,
        weight: float | None = ...,
    ) -> Results:
        """Answer a question."""
        ...

    def status(self) -> Status:
        """Return how much is embedded, and with what."""
        ...


class Judgement(NamedTuple):
    """One line of a qrels file: how relevant a document is to a question; 0 and below is not at all."""

    question: str
    path: str
    grade: int
    line: int


@dataclass(frozen=True, slots=True)
class TestSet:
    """Questions with their judgements.

    Attributes:
        questions: The text of each question by its id, in their order.
        qrels: By question, the grade of each judged document by its path.
        notes: What was left out, one line each.
    """

    __test__ = False  # its name is no test's

    questions: Mapping[str, str]
    qrels: Mapping[str, Grades]
    notes: tuple[str, ...] = ()

    @property
    def judgements(self) -> int:
        """How many documents are judged, over all questions."""
        return sum(map(len, self.qrels.values()))
