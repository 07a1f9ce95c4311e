from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from firstlight.corpus.reports import Status
from firstlight.errors import ConfigError
from firstlight.evaluate.types import TestSet
from firstlight.rank.types import Hit, Results

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def hit(rank: int, path: str, also_in: tuple[str, ...] = ()) -> Hit:
    return Hit(
        rank=rank, id=path, path=path, title=path, headings=(), start=0, end=1, line_start=1, line_end=1,
        text="x", snippet="x", score=1.0 / rank, scores={}, matched=(), unmatched=(), payload={},
        also_in=also_in,
    )  # fmt: skip


@dataclass
class Answering:
    """Answers as it is told to: `rank(question, mode, weight)` names the documents, best first."""

    rank: Callable[[str, str, float | None], Sequence[str]]
    foreign: str = ""
    status_now: Status = field(default_factory=lambda: Status(chunks=4, embedded=4, model="fake"))
    used: Callable[[str, str], str] = lambda question, mode: mode
    asked: list[tuple[str, str, float | None]] = field(default_factory=list)

    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        mode: str = "auto",
        per_document: int | None = None,
        weight: float | None = None,
    ) -> Results:
        if mode != "bm25" and self.foreign:
            raise ConfigError(self.foreign, key="embedder")
        assert (top_k, per_document) == (10, 1)
        self.asked.append((query, mode, weight))
        hits = tuple(hit(place, path) for place, path in enumerate(self.rank(query, mode, weight), 1))
        return Results(query, self.used(query, mode), 4, 4, "fake", 1, "as told", hits)

    def status(self) -> Status:
        return self.status_now


@pytest.fixture
def forty() -> TestSet:
    """Forty questions, each about one document."""
    names = [f"q{number}" for number in range(40)]
    return TestSet({name: f"about {name}" for name in names}, {name: {f"{name}.md": 1} for name in names})
