"""Slow, obvious twins of the lexical floor, against which the quick ones are held.

Only three things are shared with what they check: the class of a character, the terms of one word, and the
vocabulary (`Indexable`, `Query`). Segmentation, counting, statistics and formulas are written down anew.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from firstlight.lexical.analysis import word_terms
from firstlight.lexical.characters import character_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from firstlight.lexical import Indexable, Query

LETTERS = {character_class(c) for c in "aAé"}
DIGITS = {character_class("7")}
ALPHANUMERIC = LETTERS | DIGITS
MARKS = {character_class("_"), character_class("\u0301")}
WORD = ALPHANUMERIC | MARKS
EXTENDERS = {character_class("\u3099")}
UNSPACED = {character_class("語")} | EXTENDERS
OTHER = character_class(" ")


def slow_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the words of `text`, character by character, by start, then shortest first."""
    spans, start = [], 0
    while start < len(text):
        if _class(text, start) in UNSPACED:
            end = _character_end(text, start)
            spans.append((start, end))
            if _class(text, end) in UNSPACED:
                spans.append((start, _character_end(text, end)))
            start = end
            continue
        end = start
        while end < len(text) and (_class(text, end) in WORD or _joins(text, end)):
            end += 1
        if end > start:
            spans.append((start, end))
        start = max(end, start + 1)
    return spans


def _class(text: str, position: int) -> int:
    return character_class(text[position]) if 0 <= position < len(text) else OTHER


def _character_end(text: str, start: int) -> int:
    """Return the end of a character with the voicing marks and vowels that complete it."""
    end = start + 1
    while _class(text, end) in EXTENDERS:
        end += 1
    return end


def _joins(text: str, here: int) -> bool:
    """Tell whether the sign at `here` belongs to the word beside it."""
    before2, before, after = (_class(text, here + step) for step in (-2, -1, 1))

    def ends_word(position: int) -> bool:
        return _class(text, position) not in WORD and text[position : position + 1] != "+"

    match text[here]:
        case ".":  # v1.2, 3.14; .NET after a space
            return (before in DIGITS and after in DIGITS) or (before == OTHER and after in LETTERS)
        case "'" | "\u2019":  # don't
            return before in LETTERS | MARKS and after in LETTERS
        case "+" if text[here + 1 : here + 2] == "+":  # the first of C++
            return before in ALPHANUMERIC and ends_word(here + 2)
        case "+" if here and text[here - 1] == "+":  # the second of C++
            return before2 in ALPHANUMERIC and ends_word(here + 1)
        case "#":  # C#, but not abc# or C##
            return (
                before in LETTERS
                and before2 not in WORD
                and ends_word(here + 1)
                and text[here + 1 : here + 2] != "#"
            )
    return False


class SlowIndex:
    """BM25 over whole chunks, by the formulas of Robertson and Zaragoza with Lucene's idf."""

    def __init__(self, items: Mapping[int, Indexable], *, k1: float = 1.2, b: float = 0.75) -> None:
        self._k1, self._b = k1, b
        self._frequencies = {chunk: frequencies(item) for chunk, item in items.items()}
        self._lengths = {chunk: length(item) for chunk, item in items.items()}

    def scores(self, query: Query) -> dict[int, float]:
        """Return the score of each chunk that has at least one of the question's terms."""
        scores = {chunk: self._score(chunk, query) for chunk in self._frequencies}
        return {chunk: score for chunk, score in scores.items() if score > 0}

    def ranked(self, query: Query) -> list[tuple[int, float]]:
        """Return all chunks that match, best first, ties in order of id."""
        return sorted(self.scores(query).items(), key=lambda found: (-found[1], found[0]))

    def having(self, variants: Sequence[str]) -> int:
        """Return how many chunks have a term in one of its variants."""
        return sum(any(found[term] for term in variants) for found in self._frequencies.values())

    def _score(self, chunk: int, query: Query) -> float:
        average = sum(self._lengths.values()) / len(self._lengths)
        relative = self._lengths[chunk] / average if average else 0.0
        norm = self._k1 * (1 - self._b + self._b * relative)
        total = 0.0
        for term in query.terms:
            frequency = sum(self._frequencies[chunk][variant] for variant in term.variants)
            if frequency:
                having = self.having(term.variants)
                idf = math.log(1 + (len(self._lengths) - having + 0.5) / (having + 0.5))
                said = 9 * term.count / (8 + term.count)  # k3 = 8
                total += idf * said * frequency / (frequency + norm)
        return total


def _fields(item: Indexable) -> Iterator[tuple[str, int]]:
    yield item.body, 1
    yield item.title, 3
    yield "\n".join(item.headings), 2
    yield item.name, 1
    yield "\n".join(item.tags), 1


def frequencies(item: Indexable) -> Counter[str]:
    """Return how often a chunk has each term, fields weighted."""
    found: Counter[str] = Counter()
    for text, weight in _fields(item):
        for start, end in slow_spans(text):
            for term in word_terms(text[start:end], item.language):
                found[term] += weight
    return found


def length(item: Indexable) -> int:
    """Return a chunk's length: its words in all fields. A pair is no word, for its characters are."""
    return sum(len({start for start, _ in slow_spans(text)}) for text, _ in _fields(item))
