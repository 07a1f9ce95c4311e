"""One question over texts that no index knows: only the question's terms are counted."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from firstlight.lexical.analysis import word_terms
from firstlight.lexical.bm25 import K1, B, idf, norms, query_weight
from firstlight.lexical.characters import classify, code_points
from firstlight.lexical.kernels import (
    DIGIT_SHIFT,
    OTHER_SHIFT,
    UPPER_SHIFT,
    expand,
    saturate,
    shapes,
    word_spans,
)
from firstlight.lexical.tokenizer import SEPARATOR, text_of_each

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from firstlight.lexical.types import Query

    Ints = NDArray[np.int64]

_BATCH_CHARACTERS = 1 << 18  # the arrays of a batch stay within a processor's cache
# Snowball's English stemmer keeps the first three letters of a word, but that a y may become an i, and that
# a stem of three letters may have been given its e (using: use).
_PREFIX = 3


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
    words = _Words(query, language)
    counts = np.zeros((len(query.terms), len(texts)), np.uint32)
    lengths = np.zeros(len(texts), np.int64)
    for first, last in _batches(texts):
        joined = SEPARATOR.join(texts[first:last])
        codes = code_points(joined)
        starts, ends = word_spans(classify(codes))
        text_of_word = text_of_each(starts, texts[first:last])
        lengths[first:last] = np.bincount(text_of_word, minlength=last - first)
        kept = np.flatnonzero(words.may_count(codes, starts, ends))
        written = [joined[s:e] for s, e in zip(starts[kept].tolist(), ends[kept].tolist(), strict=True)]
        numbers, text_of_kept = words.numbers(written), text_of_word[kept]
        np.add.at(lengths[first:last], text_of_kept, words.counted[numbers] - 1)
        rows, sources = expand(numbers, words.offsets, words.rows)
        np.add.at(counts, (rows, text_of_kept[sources] + first), 1)
    return counts, lengths


def _batches(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Cut the texts into runs of about _BATCH_CHARACTERS."""
    ends = np.cumsum([len(text) for text in texts])
    cuts = np.searchsorted(ends, np.arange(_BATCH_CHARACTERS, int(ends[-1]), _BATCH_CHARACTERS)) + 1
    bounds = np.unique([0, *cuts.tolist(), len(texts)]).tolist()
    return list(itertools.pairwise(bounds))


class _Words:
    """The words met so far that may have a term of the question, or count for more than one word.

    Attributes:
        offsets: Where each word begins in `rows`.
        rows: Which terms of the question it has.
        counted: How many words of a text's length each word stands for.
    """

    def __init__(self, query: Query, language: str) -> None:
        self._language = language
        self._rows_of: dict[str, list[int]] = {}
        for row, term in enumerate(query.terms):
            for variant in term.variants:
                self._rows_of.setdefault(variant, []).append(row)
        self._prefixes = _prefix_table(self._rows_of)
        self._numbers: dict[str, int] = {}
        self.offsets = np.zeros(1, np.int64)
        self.rows = np.empty(0, np.int64)
        self.counted = np.empty(0, np.int64)

    def may_count(self, codes: Ints, starts: Ints, ends: Ints) -> NDArray[np.bool_]:
        """Tell which words have to be looked at: all but those of one term that begins like no term asked."""
        if self._language != "en":
            return np.ones(len(starts), np.bool_)  # other stemmers take prefixes away
        shape = shapes(codes, starts, ends)
        upper, lower = (shape >> UPPER_SHIFT) & 0xFFFF, shape & 0xFFFF
        capitalised = (upper == 1) & (shape < 1 << DIGIT_SHIFT) & (codes[starts] < ord("a"))
        one_term = (shape < 1 << OTHER_SHIFT) & ((upper == 0) | (lower == 0) | capitalised)
        prefixes = np.zeros(len(starts), np.int64)
        for position in range(_PREFIX):
            prefixes *= _LETTERS
            prefixes += _LETTER_TABLE.take(np.minimum(codes[np.minimum(starts + position, ends - 1)], 0x7F))
        wanted: NDArray[np.bool_] = self._prefixes.take(prefixes)
        wanted |= ~one_term
        return wanted

    def numbers(self, written: list[str]) -> Ints:
        """Return the number of each word, analysing those that are new."""
        known = len(self._numbers)
        number_of = self._numbers.setdefault
        numbers = [number_of(word, len(self._numbers)) for word in written]
        if len(self._numbers) > known:
            self._add(list(itertools.islice(self._numbers, known, None)))
        return np.array(numbers, np.int64)

    def _add(self, new: list[str]) -> None:
        analysed = [self._rows_and_count(word) for word in new]
        sizes = [len(rows) for rows, _ in analysed]
        self.offsets = np.concatenate([self.offsets, self.offsets[-1] + np.cumsum(sizes)])
        rows = [row for rows, _ in analysed for row in rows]
        self.rows = np.concatenate([self.rows, np.array(rows, np.int64)])
        self.counted = np.concatenate([self.counted, np.array([count for _, count in analysed], np.int64)])

    def _rows_and_count(self, word: str) -> tuple[list[int], int]:
        terms, counted = word_terms(word, self._language)
        return [row for term in terms for row in self._rows_of.get(term, ())], counted


_LETTERS = 36  # a to z with y as i, 0 to 9, and all others


def _number_of(character: str) -> int:
    return "abcdefghijklmnopqrstuvwxz0123456789".find(character.lower().replace("y", "i")) % _LETTERS


_LETTER_TABLE = np.array([_number_of(chr(code)) for code in range(0x80)], np.int64)


def _prefix_table(terms: Iterable[str]) -> NDArray[np.bool_]:
    """Return a flag for every way in which a word may begin: true where a term does, or may once stemmed."""
    table = np.zeros((_LETTERS,) * _PREFIX, np.bool_)
    for term in terms:
        kept = term[:-1] if len(term) == _PREFIX and term.endswith("e") else term[:_PREFIX]
        table[tuple(_number_of(character) for character in kept)] = True
    return table.ravel()
