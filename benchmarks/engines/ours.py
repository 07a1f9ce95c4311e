"""firstlight's lexical floor by itself: one segment in memory, or segments in batches as a sync makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight import lexical
from firstlight.lexical.types import Indexable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

BATCH_CHARACTERS = 8_000_000  # a sync commits about as much at a time


class Firstlight:
    """Segments in memory; texts are bodies, without title or headings."""

    def __init__(self, *, languages: tuple[str, ...] = ("en",)) -> None:
        self._languages = languages
        self._parts: list[tuple[lexical.Segment, NDArray[np.bool_] | None]] = []
        self._index = lexical.Index([])

    def build(self, texts: Sequence[str]) -> None:
        self.build_items(Indexable(text) for text in texts)

    def build_items(self, items: Iterable[Indexable]) -> None:
        """Index `items` under their positions, as one segment."""
        builder = lexical.SegmentBuilder()
        first = 0
        for batch in _batches(items):
            builder.add(range(first, first + len(batch)), batch)
            first += len(batch)
        self._parts = [(builder.finish(), None)]
        self._index = lexical.Index(self._parts)

    def build_as_a_sync(self, items: Iterable[Indexable]) -> None:
        """Index `items` under their positions, in the batches and merges of a sync."""
        self._parts = [(segment, None) for segment in build_segments(items)]
        self._index = lexical.Index(self._parts)

    def add(self, items: Sequence[Indexable], first: int) -> None:
        """Add items under the ids from `first` on; what is searchable afterwards is a new snapshot."""
        self._parts = [*self._parts, (lexical.build_segment(range(first, first + len(items)), items), None)]
        self._index = lexical.Index(self._parts)

    def search(
        self, question: str, k: int, masks: Sequence[NDArray[np.bool_] | None] | None = None
    ) -> list[int]:
        query = lexical.parse_query(question, self._languages)
        return [int(position) for position in self._index.search(query, depth=k, masks=masks).ids[:k]]

    def masks(self, allowed: NDArray[np.bool_]) -> list[NDArray[np.bool_] | None]:
        """Cut one mask over all positions into one for each segment."""
        return [allowed[segment.ids] for segment, _ in self._parts]

    def close(self) -> None:
        self._parts = []


def build_segments(items: Iterable[Indexable]) -> list[lexical.Segment]:
    """Build a segment for each batch, merging when the plan says so."""
    segments: list[lexical.Segment] = []
    builder = lexical.SegmentBuilder()
    first = 0
    for batch in _batches(items):
        builder.add(range(first, first + len(batch)), batch)
        segments.append(builder.finish())
        first += len(batch)
        segments = _merged(segments)
    return segments


def _merged(segments: list[lexical.Segment]) -> list[lexical.Segment]:
    while chosen := lexical.plan_merge([len(segment) for segment in segments]):
        merged = lexical.merge_segments([(segments[at], None) for at in chosen])
        segments = [segment for at, segment in enumerate(segments) if at not in set(chosen)]
        segments.insert(min(chosen), merged)
    return segments


def _batches(items: Iterable[Indexable]) -> Iterator[list[Indexable]]:
    batch: list[Indexable] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item.body)
        if size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
