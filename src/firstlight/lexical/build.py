"""Chunks -> a segment."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.lexical.kernels import count_terms, group_by_term
from firstlight.lexical.segment import HIGHEST_FREQUENCY, Segment, make_segment, order_of
from firstlight.lexical.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from firstlight.lexical.types import Indexable

    Ints = NDArray[np.int64]

# How often one occurrence counts, by field; whole numbers, so that a weighted frequency is exact.
TITLE_WEIGHT = 3
HEADINGS_WEIGHT = 2
NAME_WEIGHT = 1
TAGS_WEIGHT = 1

_FEW_TERMS = 1 << 16
_MOST_TERMS = 1 << 20  # a builder that knows more forgets them all: its memory stays within bounds
_BATCH_CHARACTERS = 1 << 18  # smaller costs calls, larger leaves the processor's cache


_spare: list[Tokenizer] = []  # of a builder that was closed


def _spare_tokenizer() -> Tokenizer:
    try:
        return _spare.pop()  # in one step: no two threads get the same
    except IndexError:
        return Tokenizer()


def build_segment(ids: Sequence[int], items: Sequence[Indexable]) -> Segment:
    """Index chunks.

    Args:
        ids: Their ids, ascending.
        items: What is indexed of each.

    Example:
        >>> from firstlight.lexical.types import Indexable
        >>> segment = build_segment([4, 9], [Indexable("drain a node"), Indexable("two nodes", title="Node")])
        >>> [part.tolist() for part in segment.postings("node")]
        [[0, 1], [1, 4]]
    """
    builder = SegmentBuilder()
    builder.add(ids, items)
    return builder.finish()


class SegmentBuilder:
    """Indexes chunks as they come, and makes one segment after another of them.

    What it learns of the words of one segment serves the next: most words are met again.
    """

    def __init__(self) -> None:
        self._tokenizer = _spare_tokenizer()
        self._clear()

    def close(self) -> None:
        """Leave the words to the next builder of this process, where they are few."""
        if len(self._tokenizer) <= _FEW_TERMS:
            _spare[:] = [self._tokenizer]
        self._tokenizer = Tokenizer()

    def _clear(self) -> None:
        self._ids: list[int] = []
        self._lengths: list[Ints] = []
        self._runs: list[tuple[Ints, Ints, NDArray[np.uint32], NDArray[np.uint16]]] = []
        self._waiting: list[Indexable] = []
        self._characters = 0
        if len(self._tokenizer) > _MOST_TERMS:
            self._tokenizer = Tokenizer()

    def add(self, ids: Sequence[int], items: Sequence[Indexable]) -> None:
        """Add chunks; all ids ascend, over all calls."""
        if len(ids) != len(items):
            raise ValueError(f"{len(ids)} ids for {len(items)} items")
        for number, item in zip(ids, items, strict=True):
            if self._ids and number <= self._ids[-1]:
                raise ValueError(f"ids must ascend: {number} follows {self._ids[-1]}")
            self._ids.append(number)
            self._waiting.append(item)
            self._characters += len(item.body)
            if self._characters >= _BATCH_CHARACTERS:
                self._flush()

    def finish(self) -> Segment:
        """Return the segment of everything that was added since the last one."""
        self._flush()
        terms = self._tokenizer.terms()
        present = np.zeros(len(terms), np.bool_)
        for numbers, *_ in self._runs:
            present[numbers] = True
        found = np.flatnonzero(present)
        encoded = list(map(str.encode, map(terms.__getitem__, found.tolist())))
        order = order_of(encoded)
        rank = np.empty(len(terms), np.int64)
        rank[found[order]] = np.arange(len(order))
        runs = [(rank[numbers], sizes, chunks, counts) for numbers, sizes, chunks, counts in self._runs]
        segment = make_segment(
            self._ids,
            np.concatenate([np.empty(0, np.int64), *self._lengths]),
            list(map(encoded.__getitem__, order.tolist())),
            group_by_term(runs, len(order)),
        )
        self._clear()
        return segment

    def _flush(self) -> None:
        if not self._waiting:
            return
        first = len(self._ids) - len(self._waiting)
        terms, chunks, weights, lengths = self._tokenize(self._waiting)
        terms, sizes, chunks, frequencies = count_terms(terms, chunks, weights)
        frequencies = np.minimum(frequencies, HIGHEST_FREQUENCY)
        self._runs.append((terms, sizes, (chunks + first).astype(np.uint32), frequencies.astype(np.uint16)))
        self._lengths.append(lengths)
        self._waiting, self._characters = [], 0

    def _tokenize(self, items: Sequence[Indexable]) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the term, chunk and weight of each token, and each chunk's length."""
        lengths = np.zeros(len(items), np.int64)
        found: list[tuple[Ints, Ints, Ints]] = []
        rows_by_language: dict[str, list[_Row]] = {}
        for row in _rows(items):
            rows_by_language.setdefault(items[row.chunk].language, []).append(row)
        for language, rows in sorted(rows_by_language.items()):
            tokens = self._tokenizer.tokenize([row.text for row in rows], language)
            chunks = np.fromiter((row.chunk for row in rows), np.int64, len(rows))
            weights = np.fromiter((row.weight for row in rows), np.int64, len(rows))
            np.add.at(lengths, chunks, tokens.lengths)
            found.append((tokens.terms, chunks.take(tokens.texts), weights.take(tokens.texts)))
        if len(found) == 1:
            return *found[0], lengths
        terms, chunk_of, weight_of = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return terms, chunk_of, weight_of, lengths


class _Row(NamedTuple):
    """A field of a chunk: its text, and how much one of its words counts."""

    chunk: int
    text: str
    weight: int


def _rows(items: Sequence[Indexable]) -> Iterator[_Row]:
    for chunk, item in enumerate(items):
        yield _Row(chunk, item.body, 1)
        if item.title:
            yield _Row(chunk, item.title, TITLE_WEIGHT)
        if item.headings:
            yield _Row(chunk, "\n".join(item.headings), HEADINGS_WEIGHT)
        if item.name:
            yield _Row(chunk, item.name, NAME_WEIGHT)
        if item.tags:
            yield _Row(chunk, "\n".join(item.tags), TAGS_WEIGHT)
