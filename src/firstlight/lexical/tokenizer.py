"""Texts -> term ids, many at a time: words are hashed, and each distinct word is analysed once."""

from __future__ import annotations

import os
from array import array
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.lexical.analysis import LONGEST_WORD, terms_of_many
from firstlight.lexical.characters import classify, code_points
from firstlight.lexical.hashing import MISSING, HashTable, SpanHasher
from firstlight.lexical.kernels import expand, is_pair, word_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

# Ends every text of a batch: no word, pair or joiner reaches across it.
SEPARATOR = "\n"


class Tokens(NamedTuple):
    """The tokens of some texts: the term and the text of each, and each text's length in words as written."""

    terms: Ints
    texts: Ints
    lengths: Ints


class Tokenizer:
    """Gives terms small integer ids, in the order in which they are first met.

    Example:
        >>> tokenizer = Tokenizer()
        >>> tokens = tokenizer.tokenize(["drain nodes", "a node"], "en")
        >>> terms = tokenizer.terms()
        >>> [terms[term] for term in tokens.terms.tolist()], tokens.texts.tolist()
        (['drain', 'node', 'a', 'node'], [0, 0, 1, 1])
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._terms: list[str] = []
        self._vocabularies: dict[str, _Vocabulary] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def terms(self) -> list[str]:
        """Return the terms met so far, in a list to read only; a term's id is its position."""
        new = islice(reversed(self._ids), len(self._ids) - len(self._terms))
        self._terms += [*new][::-1]
        return self._terms

    def tokenize(self, texts: Sequence[str], language: str) -> Tokens:
        """Return the tokens of `texts`, all in one Latin-script language."""
        joined = SEPARATOR.join(texts)
        codes = code_points(joined)
        starts, ends = word_spans(classify(codes))
        vocabulary = self._vocabularies.get(language)
        if vocabulary is None:
            vocabulary = self._vocabularies[language] = _Vocabulary()
        hashes = _HASHER.hash(codes, starts, ends)
        words = vocabulary.lookup(hashes)
        missing = np.flatnonzero(words == MISSING)
        if len(missing):
            _, firsts = np.unique(hashes[missing], return_index=True)
            new = missing[np.sort(firsts)]  # in reading order: ids do not depend on the hashes
            written = [joined[s:e] for s, e in zip(starts[new].tolist(), ends[new].tolist(), strict=True)]
            vocabulary.add(hashes[new], terms_of_many(written, language), self._ids)
            words[missing] = vocabulary.lookup(hashes[missing])
        sizes = sizes_of(texts)
        text_of_word = np.repeat(np.arange(len(texts)), np.diff(words_before(starts, sizes), prepend=0))
        lengths = np.diff(words_before(starts[~is_pair(starts)], sizes), prepend=0)
        terms, text_of_term = vocabulary.terms_of(words, text_of_word)
        return Tokens(terms, text_of_term, lengths)


def sizes_of(texts: Sequence[str]) -> Ints:
    """Return how many characters each of `texts` takes where they are joined by SEPARATOR."""
    return np.fromiter(map(len, texts), np.int64, len(texts)) + len(SEPARATOR)


def words_before(starts: Ints, sizes: Ints) -> Ints:
    """Return how many of the words that begin at `starts` come before the end of each joined text."""
    return np.searchsorted(starts, np.cumsum(sizes))


# Whether a word is longer than the longest tells it from one that is just so long.
_HASHER = SpanHasher(np.frombuffer(os.urandom(4 * 8), np.uint64), longest=LONGEST_WORD + 1)
_FIRST_ROW = MISSING - 1


class _Vocabulary:
    """The distinct words of one language, as written, and the ids of each one's terms.

    Most words have one term, and are known by its id. Others are known by numbers that count down from
    `_FIRST_ROW`: the rows of a ragged table of ids.
    """

    def __init__(self) -> None:
        self._table = HashTable()
        self._offsets = array("q", [0])
        self._values = array("q")

    def lookup(self, hashes: NDArray[np.uint64]) -> Ints:
        """Return by what each word is known, MISSING where it is not."""
        return self._table.lookup(hashes)

    def add(self, hashes: NDArray[np.uint64], analysed: list[tuple[str, ...]], ids: dict[str, int]) -> None:
        """Add words by the terms that each one has; terms without an id get the next one."""
        known_by: list[int] = []
        number_of = ids.setdefault
        for terms in analysed:
            if len(terms) == 1:
                known_by.append(number_of(terms[0], len(ids)))
            else:
                known_by.append(_FIRST_ROW + 1 - len(self._offsets))
                self._values.extend([number_of(term, len(ids)) for term in terms])
                self._offsets.append(len(self._values))
        self._table.insert(hashes, np.array(known_by, np.int64))

    def terms_of(self, words: Ints, texts: Ints) -> tuple[Ints, Ints]:
        """Return the terms of words, in no order, and for each its word's item in `texts`."""
        others = np.flatnonzero(words < 0)
        if not len(others):
            return words, texts
        single = words >= 0
        rows = _FIRST_ROW - words[others]
        terms, sources = expand(rows, np.asarray(self._offsets), np.asarray(self._values))
        texts_of_others = texts[others][sources]
        return np.concatenate([words[single], terms]), np.concatenate([texts[single], texts_of_others])
