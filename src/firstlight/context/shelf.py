"""What of a layer is searched: its index, and its passages by their numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firstlight.context.parts import build_all
from firstlight.corpus.snapshot import MOST_LANGUAGES
from firstlight.lexical import Index
from firstlight.rank.types import Candidate
from firstlight.store.documents import Passage
from firstlight.store.outline import Outline
from firstlight.store.payload import dump_payload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from firstlight.context.parts import Held, Piece
    from firstlight.lexical import Segment

__all__ = ["MemoryShelf", "Ready", "make_ready"]


@dataclass(frozen=True, slots=True)
class Ready:
    """A layer, built.

    Attributes:
        index: Its segments as one.
        segments: Those.
        passages: All, by number.
        spoken: Its languages, the most frequent first.
    """

    index: Index
    segments: list[Segment]
    passages: list[Held]
    spoken: tuple[str, ...]

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that a question is looked up by."""
        return self.spoken[:MOST_LANGUAGES] or ("en",)


def make_ready(pieces: Sequence[Piece]) -> Ready:
    """Build what is not built yet, and bring it together."""
    built = build_all(pieces)
    segments = [each.segment for each in built]
    counts = Counter(language for each in built for language in each.languages)
    spoken = sorted(counts, key=lambda language: (-counts[language], language))
    passages = built[0].passages if len(built) == 1 else [held for each in built for held in each.passages]
    return Ready(Index([(segment, None) for segment in segments]), segments, passages, tuple(spoken))


class MemoryShelf:
    """The passages of a layer.

    Args:
        passages: All, by number.
        folds: Whether equal texts of two documents are one; else two documents that say the same stay two.
    """

    def __init__(self, passages: Sequence[Held], *, folds: bool = False) -> None:
        self._passages = passages
        self._folds = folds

    def candidates(self, scores: Mapping[int, float]) -> Iterator[Candidate]:
        """Yield the passages that have scores, best first; equal ones by document, then by position."""
        for number in sorted(scores, key=lambda number: (-scores[number], number)):
            held = self._passages[number]
            key = held.content_hash if self._folds else held.content_hash + held.place.to_bytes(8)
            chunk = held.chunk
            yield Candidate(
                number, held.place, held.document.origin, chunk.start, chunk.end, key, scores[number]
            )

    def passages(self, chunks: Sequence[int]) -> Mapping[int, Passage]:
        """Return them with their documents."""
        return {number: _passage(self._passages[number]) for number in chunks}

    def texts(self, chunks: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Yield each with its text."""
        return ((number, self._passages[number].chunk.text) for number in chunks)


def _passage(held: Held) -> Passage:
    document, chunk = held.document, held.chunk
    return Passage(
        held.number,
        held.place,
        document.origin,
        document.title,
        held.language,
        dump_payload(document.parsed.fields),
        chunk.index,
        chunk.start,
        chunk.end,
        chunk.line_start,
        chunk.line_end,
        held.content_hash,
        Outline(chunk.headings, chunk.sections),
        chunk.text,
    )
