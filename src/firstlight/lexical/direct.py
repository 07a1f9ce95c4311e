"""One question over texts that no index knows: only the question's terms are counted."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from firstlight.lexical.analysis import terms_of_many
from firstlight.lexical.bm25 import K1, B, idf, norms, query_weight
from firstlight.lexical.characters import BIGRAM, OTHER, classify, code_points
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
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from firstlight.lexical.types import Query

    Ints = NDArray[np.int64]

_BATCH_CHARACTERS = 1 << 16  # the arrays of a batch stay within a processor's cache
_PREFIX = 4
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
    likely = _english_prefixes(query) if language == "en" else None
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
        kept = _to_look_at(codes, classes, starts, likely)
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
    codes: Ints,
    classes: NDArray[np.uint8],
    starts: Ints,
    likely: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None,
) -> Ints:
    """Return which words may have a term of the question.

    A word has it if a part begins as the term does; only words beyond ASCII can hide how they begin.
    """
    if likely is None or (classes == BIGRAM).any():
        return np.arange(len(starts))
    by_two, by_four = likely
    parts = part_starts(classes)
    prefix = _letters(codes, parts) * _LETTERS + _letters(codes, parts + 1)
    chosen = np.flatnonzero(by_two[prefix])
    parts, prefix = parts[chosen], prefix[chosen]
    for further in (2, 3):
        prefix = prefix * _LETTERS + _letters(codes, parts + further)
    beyond_ascii = np.flatnonzero((codes > 0x7F) & (classes != OTHER))
    found = np.concatenate([parts[by_four[prefix]], beyond_ascii])
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


def _letters(codes: Ints, positions: Ints) -> Ints:
    return _LETTER_TABLE.take(np.minimum(codes.take(positions), 0x7F))


def _english_prefixes(query: Query) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return flags for the first two and the first four characters that a part may begin with."""
    by_four = np.zeros((_LETTERS,) * _PREFIX, np.bool_)
    for term in query.terms:
        for variant in term.variants:
            by_four[tuple(map(_number_of, _beginning(variant)))] = True
    by_two: NDArray[np.bool_] = np.logical_or.reduce(by_four, axis=(2, 3))
    return by_two.ravel(), by_four.ravel()


def _beginning(term: str) -> str:
    """Return how every word begins that Snowball's English stemmer gives this stem, y and i being one.

    A stem of three letters may have been given its e (using: use), and a short one its last letter.
    """
    if len(term) > _PREFIX:
        return term[:_PREFIX]
    return term[:2] if len(term) == 3 and term.endswith("e") else term[:3]
