"""What a passage says of the question that the hits it overlaps do not say already."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from firstlight.lexical.analysis import words_with

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from firstlight.lexical import Index, Query
    from firstlight.rank.types import Candidate
    from firstlight.store.documents import Passage

    Span = tuple[int, int]

# A passage whose matches elsewhere weigh less than this share of all was found for what is shown already.
_ENOUGH = 0.5


class Novelty:
    """Reads the text of a candidate when it is asked about, and each only once."""

    def __init__(
        self, read: Callable[[Sequence[int]], Mapping[int, Passage]], index: Index, query: Query
    ) -> None:
        self._read = read
        self._index = index
        self._query = query
        self._words: dict[str, str] = {}
        self._weights: dict[str, float] = {}
        self._matches: dict[int, list[tuple[int, int, set[str]]]] = {}

    def __call__(self, candidate: Candidate, spans: Sequence[Span]) -> bool:
        """Tell whether the candidate says enough of what was asked outside `spans` of its document.

        One that says nothing of it in its text matched by its title or its headings, and is worth showing.
        """
        if candidate.chunk not in self._matches:
            self._matches[candidate.chunk] = self._find(candidate)
        matches = self._matches[candidate.chunk]
        others = (
            match for match in matches if not any(low <= match[0] and match[1] <= high for low, high in spans)
        )
        outside, whole = self._weigh(said for *_, said in others), self._weigh(said for *_, said in matches)
        return not matches or (outside > 0 and outside >= _ENOUGH * whole)

    def _find(self, candidate: Candidate) -> list[tuple[int, int, set[str]]]:
        if not self._weights:
            for term in self._query.terms:
                self._words |= dict.fromkeys(term.variants, term.word)
                self._weights[term.word] = self._index.idf(term.variants)
        passage = self._read([candidate.chunk])[candidate.chunk]
        return [
            (
                passage.start + word.start,
                passage.start + word.end,
                {self._words[term] for term in word.terms if term in self._words},
            )
            for word in words_with(self._words, passage.text, passage.language)
        ]

    def _weigh(self, said: Iterable[set[str]]) -> float:
        """Return the idf of all that is said, each word counted once."""
        return math.fsum(self._weights[word] for word in set().union(*said))
