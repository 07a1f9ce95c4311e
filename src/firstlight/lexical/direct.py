"""One question over texts that no index knows: only the question's terms are counted."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from firstlight.lexical.analysis import terms_of_many
from firstlight.lexical.bm25 import K1, B, idf, norms, query_weight
from firstlight.lexical.characters import BIGRAM, LETTER, MARK, classify, code_points
from firstlight.lexical.kernels import (
    expand,
    is_pair,
    part_starts,
    saturate,
    word_spans,
)
from firstlight.lexical.segment import HIGHEST_FREQUENCY
from firstlight.lexical.tokenizer import SEPARATOR, words_in_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from firstlight.lexical.types import Query

    Ints = NDArray[np.int64]

_BATCH_CHARACTERS = 1 << 16  # the arrays of a batch stay within a processor's cache
_PREFIX = 8  # a beginning is compared so far
_AFTER = " " * _PREFIX  # so that the beginning of the last word can be read like any other


def score_texts(
    query: Query, texts: Sequence[str], *, language: str = "en", k1: float = K1, b: float = B
) -> NDArray[np.float64]:
    """Return the BM25 score of each text, to the bit what an index of these texts gives.

    Args:
        query: The question.
        texts: The texts, all of which are the corpus.
        language: The ISO 639-1 code of their Latin-script language.
        k1: How slowly a term's frequency saturates.
        b: How much a text's length counts, 0 to 1.

    Returns:
        float64[n]; 0 where a text has none of the question's terms.

    Example:
        >>> from firstlight.lexical import parse_query
        >>> score_texts(parse_query("draining nodes"), ["a pool", "drain a node"]).round(2).tolist()
        [0.0, 0.58]
    """
    scores = np.zeros(len(texts))
    if not query.terms or not len(texts):
        return scores
    counts, lengths = _count(query, texts, language)
    having = (counts > 0).sum(axis=1).tolist()
    saturated = norms(lengths, int(lengths.sum()) / len(texts), k1=k1, b=b)
    rarest_first = sorted(range(len(having)), key=lambda row: (having[row], query.terms[row].variants))
    for row in rarest_first:
        found = np.flatnonzero(counts[row])
        impacts = saturate(counts[row, found], saturated[found], idf(len(texts), having[row]))
        weight = query_weight(query.terms[row].count)
        scores[found] += impacts if weight == 1.0 else impacts * weight
    return scores


def _count(query: Query, texts: Sequence[str], language: str) -> tuple[NDArray[np.uint32], Ints]:
    """Return how often each term of the question is in each text, [terms, texts]; and the texts' lengths."""
    beginnings = _Beginnings(query) if language == "en" else None  # other stemmers take prefixes away
    words = _Words(query, language)
    counts = np.zeros((len(query.terms), len(texts)), np.uint32)
    lengths = np.zeros(len(texts), np.int64)
    for first, last in _batches(texts):
        joined = SEPARATOR.join([*texts[first:last], _AFTER])
        codes = code_points(joined)
        classes = classify(codes)
        starts, ends = word_spans(classes)
        bounds = np.cumsum(words_in_each(starts, texts[first:last]))
        lengths[first:last] = _lengths(is_pair(starts), bounds)
        kept = _to_look_at(codes, classes, starts, beginnings)
        numbers = words.numbers(
            [joined[s:e] for s, e in zip(starts[kept].tolist(), ends[kept].tolist(), strict=True)]
        )
        rows, sources = expand(numbers, words.offsets, words.rows)
        text_of_row = np.searchsorted(bounds, kept, side="right")[sources] + first
        np.add.at(counts, (rows, text_of_row), 1)
    return np.minimum(counts, HIGHEST_FREQUENCY), lengths


def _batches(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Cut the texts into runs of about _BATCH_CHARACTERS."""
    ends = np.cumsum([len(text) for text in texts])
    cuts = np.searchsorted(ends, np.arange(_BATCH_CHARACTERS, int(ends[-1]), _BATCH_CHARACTERS)) + 1
    bounds = sorted({0, *cuts.tolist(), len(texts)})
    return list(itertools.pairwise(bounds))


def _lengths(pairs: NDArray[np.bool_], bounds: Ints) -> Ints:
    """Return how many words each text has, pairs aside."""
    before = np.zeros(len(pairs) + 1, np.int64)
    np.cumsum(~pairs, out=before[1:])
    return np.diff(before[bounds], prepend=0)


def _to_look_at(
    codes: Ints, classes: NDArray[np.uint8], starts: Ints, beginnings: _Beginnings | None
) -> Ints:
    """Return which words may have a term of the question.

    A word has it if a part begins as the term does; only words beyond ASCII can hide how they begin.
    """
    if beginnings is None or (classes == BIGRAM).any():
        return np.arange(len(starts))
    beyond_ascii = np.flatnonzero((codes > 0x7F) & (classes >= LETTER) & (classes <= MARK))
    found = np.concatenate([beyond_ascii, *beginnings.at(codes, part_starts(classes))])
    wanted = np.zeros(len(starts) + 1, np.bool_)
    wanted[np.searchsorted(starts, found, side="right") - 1] = True
    return np.flatnonzero(wanted[:-1])


class _Words:
    """The words looked at so far, and which terms of the question each has: a ragged table."""

    def __init__(self, query: Query, language: str) -> None:
        self._language = language
        self._rows_of: dict[str, list[int]] = {}
        for row, term in enumerate(query.terms):
            for variant in term.variants:
                self._rows_of.setdefault(variant, []).append(row)
        self._numbers: dict[str, int] = {}
        self.offsets = np.zeros(1, np.int64)
        self.rows = np.empty(0, np.int64)

    def numbers(self, written: list[str]) -> Ints:
        """Return the number of each word, analysing those that are new."""
        known = len(self._numbers)
        number_of = self._numbers.setdefault
        numbers = [number_of(word, len(self._numbers)) for word in written]
        if len(self._numbers) > known:
            self._add(list(itertools.islice(self._numbers, known, None)))
        return np.array(numbers, np.int64)

    def _add(self, new: list[str]) -> None:
        known = self._rows_of
        analysed = [
            [row for term in terms if term in known for row in known[term]]
            for terms in terms_of_many(new, self._language)
        ]
        sizes = [len(rows) for rows in analysed]
        self.offsets = np.concatenate([self.offsets, self.offsets[-1] + np.cumsum(sizes)])
        rows = [row for rows in analysed for row in rows]
        self.rows = np.concatenate([self.rows, np.array(rows, np.int64)])


_LETTERS = 36  # a to z with y as i, 0 to 9, and all others


def _number_of(character: str) -> int:
    return "abcdefghijklmnopqrstuvwxz0123456789".find(character.lower().replace("y", "i")) % _LETTERS


_LETTER_TABLE = np.array([_number_of(chr(code)) for code in range(0x80)], np.int64)


class _Beginnings:
    """A trie of how words of the question's terms begin, walked from many places at once.

    Snowball's English stemmer changes a word's beginning by no more than the stem's last letter, and y to i:
    what comes before those is how the word begins.
    """

    def __init__(self, query: Query) -> None:
        self._next = [[0] * _LETTERS]
        ends = set()
        for term in query.terms:
            for variant in term.variants:
                beginning = variant[:-1] if len(variant) > 2 else variant
                ends.add(self._add(beginning[:_PREFIX]))
        self._steps = np.array(self._next, np.int64).ravel()
        self._is_end = np.zeros(len(self._next), np.bool_)
        self._is_end[list(ends)] = True

    def _add(self, beginning: str) -> int:
        node = 0
        for number in map(_number_of, beginning):
            if not self._next[node][number]:
                self._next[node][number] = len(self._next)
                self._next.append([0] * _LETTERS)
            node = self._next[node][number]
        return node

    def at(self, codes: Ints, places: Ints) -> Iterator[Ints]:
        """Yield those of `places` at which one of the beginnings stands."""
        nodes = np.zeros(len(places), np.int64)
        for depth in range(_PREFIX):
            letters = _LETTER_TABLE.take(np.minimum(codes.take(places + depth), 0x7F))
            nodes = self._steps.take(nodes * _LETTERS + letters)
            going = np.flatnonzero(nodes)
            places, nodes = places[going], nodes[going]
            ends = self._is_end[nodes]
            yield places[ends]
            places, nodes = places[~ends], nodes[~ends]
