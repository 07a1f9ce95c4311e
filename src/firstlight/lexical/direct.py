"""One question over texts that no index knows: only the question's terms are counted."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from firstlight.lexical.analysis import terms_of_many
from firstlight.lexical.bm25 import K1, B, idf, norms, query_weight
from firstlight.lexical.characters import BIGRAM, EXTENDER, LETTER, classify, code_points
from firstlight.lexical.kernels import (
    expand,
    inner_parts,
    is_pair,
    saturate,
    word_spans,
)
from firstlight.lexical.segment import HIGHEST_FREQUENCY
from firstlight.lexical.tokenizer import SEPARATOR, sizes_of, words_before

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from firstlight.lexical.types import Query

    Codes = NDArray[np.uint32]
    Ints = NDArray[np.int64]

_BATCH_CHARACTERS = 1 << 18  # smaller costs calls, larger leaves the processor's cache
_ROUND_CHARACTERS = 1 << 22  # the words of a round are looked at together
_PREFIX = 6  # a beginning is compared so far
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


def _count(query: Query, texts: Sequence[str], language: str) -> tuple[Ints, Ints]:
    """Return how often each term of the question is in each text, [terms, texts]; and the texts' lengths."""
    beginnings = _Beginnings(query) if language == "en" else None  # other stemmers take prefixes away
    counts = np.zeros((len(query.terms), len(texts)), np.int64)
    lengths = np.zeros(len(texts), np.int64)
    sizes = sizes_of(texts)
    for round_first, round_last in _runs(texts, 0, len(texts), _ROUND_CHARACTERS):
        words: list[str] = []
        homes = [np.empty(0, np.int64)]
        for first, last in _runs(texts, round_first, round_last, _BATCH_CHARACTERS):
            joined = SEPARATOR.join([*texts[first:last], _AFTER])
            codes = code_points(joined)
            classes = classify(codes)
            starts, ends = word_spans(classes)
            bounds = words_before(starts, sizes[first:last])
            singles = starts[~is_pair(starts)] if (classes == BIGRAM).any() else starts
            lengths[first:last] = np.diff(words_before(singles, sizes[first:last]), prepend=0)
            kept = _to_look_at(codes, classes, starts, beginnings)
            words += [joined[s:e] for s, e in zip(starts[kept].tolist(), ends[kept].tolist(), strict=True)]
            homes.append(np.searchsorted(bounds, kept, side="right") + first)
        rows, sources = _rows(query, words, language)
        places = rows * len(texts) + np.concatenate(homes)[sources]
        counts += np.bincount(places, minlength=counts.size).reshape(counts.shape)
    return np.minimum(counts, HIGHEST_FREQUENCY), lengths


def _runs(texts: Sequence[str], first: int, last: int, characters: int) -> Iterator[tuple[int, int]]:
    """Cut `texts[first:last]` into runs of about so many characters."""
    size = 0
    for place in range(first, last):
        size += len(texts[place])
        if size >= characters or place == last - 1:
            yield first, place + 1
            first, size = place + 1, 0


def _rows(query: Query, words: list[str], language: str) -> tuple[Ints, Ints]:
    """Return which terms of the question the words have: each term's row, and the word's position."""
    rows_of: dict[str, list[int]] = {}
    for row, term in enumerate(query.terms):
        for variant in term.variants:
            rows_of.setdefault(variant, []).append(row)
    distinct: dict[str, int] = {}
    numbers = [distinct.setdefault(word, len(distinct)) for word in words]
    table = [
        [row for term in terms if term in rows_of for row in rows_of[term]]
        for terms in terms_of_many(list(distinct), language)
    ]
    offsets = np.zeros(len(table) + 1, np.int64)
    np.cumsum([len(rows) for rows in table], out=offsets[1:])
    values = np.array(list(itertools.chain.from_iterable(table)), np.int64)
    return expand(np.array(numbers, np.int64), offsets, values)


def _to_look_at(
    codes: Codes, classes: NDArray[np.uint8], starts: Ints, beginnings: _Beginnings | None
) -> Ints:
    """Return which words may have a term of the question, and few others.

    A word has it if a part begins as the term does; only words beyond ASCII can hide how they begin.
    """
    if beginnings is None:
        return np.arange(len(starts))
    other = np.flatnonzero(codes > 0x7F)
    kinds = classes[other]
    other, unspaced = other[(kinds >= LETTER) & (kinds <= EXTENDER)], other[kinds == BIGRAM]
    inner = inner_parts(classes)
    within = [other, inner[beginnings.at(codes, inner)]]
    if beginnings.of_one_letter:
        begins = np.zeros(len(classes), np.bool_)
        begins[starts] = True
        begins[inner] = True
        within.append(inner[begins[inner - 1]])  # a part of one letter, ended by the next
    wanted = np.zeros(len(starts) + 1, np.bool_)
    wanted[beginnings.at(codes, starts)] = True
    wanted[np.searchsorted(starts, np.concatenate(within), side="right") - 1] = True
    wanted[np.searchsorted(starts, unspaced)] = True  # the character beside the pair that begins with it
    return np.flatnonzero(wanted[:-1])


_ASCII = 0x80
_LETTERS = 36  # a to z with y as i, 0 to 9, and all others


def _number_of(character: str) -> int:
    return "abcdefghijklmnopqrstuvwxz0123456789".find(character.lower().replace("y", "i")) % _LETTERS


# Its last code, no letter either, stands for all codes beyond.
_LETTER_TABLE = np.array([_number_of(chr(code)) for code in range(_ASCII)], np.int64)


def _beginnings_of(stem: str) -> list[str]:
    if len(stem) > 1:
        return [stem.removesuffix("e") if stem.endswith("e") else stem.removesuffix("l")]
    return [stem + " ", *(stem + ending for ending in ("ing", "ed") if stem in "aeiouy")]


class _Beginnings:
    """A trie of how words of the question's terms begin, walked from many places at once.

    To Snowball's English stemmer a word begins with its stem, but for y and i, which are one here, and for a
    last e or l, which the stemmer may have put there (using: use, ability: abl). What has a stem of one
    letter is that letter, or a vowel with `ing` or `ed`.
    """

    def __init__(self, query: Query) -> None:
        self._next = [[0] * _LETTERS]
        ends: set[int] = set()
        for term in query.terms:
            for variant in term.variants:
                ends.update(map(self._add, _beginnings_of(variant)))
        self.of_one_letter = any(len(variant) == 1 for term in query.terms for variant in term.variants)
        for end in ends:
            self._next[end] = [end] * _LETTERS  # whatever follows a beginning
        self._steps = np.array(self._next, np.int64)[:, _LETTER_TABLE].ravel()
        self._is_end = np.zeros(len(self._next), np.bool_)
        self._is_end[list(ends)] = True

    def _add(self, beginning: str) -> int:
        node = 0
        for number in map(_number_of, beginning[:_PREFIX]):
            if not self._next[node][number]:
                self._next[node][number] = len(self._next)
                self._next.append([0] * _LETTERS)
            node = self._next[node][number]
        return node

    def at(self, codes: Codes, places: Ints) -> Ints:
        """Return at which of `places` one of the beginnings stands, by their positions there."""
        nodes = self._steps[:_ASCII].take(codes.take(places), mode="clip")
        found = going = np.flatnonzero(nodes)
        for depth in range(1, _PREFIX):
            places = places[going]
            following = np.minimum(codes.take(places + depth), _ASCII - 1)
            nodes = self._steps.take(nodes[going] * _ASCII + following)
            going = np.flatnonzero(nodes)
            found = found[going]
        return found[self._is_end[nodes[going]]]
