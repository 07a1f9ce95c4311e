"""The hot loops of indexing and search, as pure functions on arrays.

Nothing here knows of documents, languages or stores: a compiled twin can stand beside this module and be
held against it, function by function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firstlight.lexical.characters import (
    APOSTROPHE,
    BIGRAM,
    DIGIT,
    DOT,
    EXTENDER,
    HASH,
    LETTER,
    LOWER,
    MARK,
    OTHER,
    PLUS,
    UPPER,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Classes = NDArray[np.uint8]

# Blocks of this many scores are reduced to their maximum before anything is sorted (see top_k).
_BLOCK = 64


def word_spans(classes: Classes) -> tuple[Ints, Ints]:
    """Return the spans of the words in a text, given the class of each of its characters.

    A word is a run of letters, digits, marks and underscores, with the joiners that belong to it: the dot
    of `v1.2` and `.NET`, the apostrophe of `don't`, the signs of `C++` and `C#`. In scripts without spaces
    every character is a word, and so is every pair of neighbours.

    Args:
        classes: uint8[n], from `characters.classify`.

    Returns:
        Starts and ends, int64[m] each, ordered by start, then by length, shortest first.

    Example:
        >>> from firstlight.lexical.characters import classify, code_points
        >>> starts, ends = word_spans(classify(code_points("C++ or v1.2?")))
        >>> list(zip(starts.tolist(), ends.tolist()))
        [(0, 3), (4, 6), (7, 11)]
    """
    padded = np.zeros(len(classes) + 2, np.bool_)
    inside = padded[1:-1]
    np.less(classes - np.uint8(LOWER), np.uint8(MARK - LOWER + 1), out=inside)  # LOWER to MARK, in one pass
    special = np.flatnonzero(classes > MARK)
    if len(special):
        inside[_joiners(classes, special)] = True
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    starts, ends = edges[0::2], edges[1::2]
    if len(special) and (unspaced := special[classes[special] <= EXTENDER]).size:
        return _with_pairs(starts, ends, *_characters(classes, unspaced))
    return starts, ends


def _joiners(classes: Classes, special: Ints) -> Ints:
    """Return the positions in `special` whose character belongs to the word beside it."""
    around = np.zeros(len(classes) + 4, np.uint8)
    around[2:-2] = classes
    here, before, after = classes[special], around[special + 1], around[special + 3]
    # v1.2 and 3.14; .NET and .env, where nothing but a space or a bracket comes before
    dots = ((before == DIGIT) & (after == DIGIT)) | ((before == OTHER) & _is_letter(after))
    apostrophes = (_is_letter(before) | (before == MARK)) & _is_letter(after)
    joined = special[((here == DOT) & dots) | ((here == APOSTROPHE) & apostrophes)]
    signs = special[here >= PLUS]
    return np.concatenate([joined, _signs(classes, around, signs)]) if len(signs) else joined


def _signs(classes: Classes, around: Classes, signs: Ints) -> Ints:
    """Return the positions in `signs` that belong to a word: those of C++ and C#."""
    here, before, after = classes[signs], around[signs + 1], around[signs + 3]
    before2, after2 = around[signs], around[signs + 4]
    # exactly two, after a word
    first_plus = _is_alphanumeric(before) & (after == PLUS) & _ends_word(after2)
    second_plus = _is_alphanumeric(before2) & (before == PLUS) & _ends_word(after)
    # after a single letter
    sharp = _is_letter(before) & ~_is_word(before2) & (after != HASH) & _ends_word(after)
    joined: Ints = signs[((here == PLUS) & (first_plus | second_plus)) | ((here == HASH) & sharp)]
    return joined


def _is_letter(classes: Classes) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (classes >= LOWER) & (classes <= LETTER)
    return found


def _is_alphanumeric(classes: Classes) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (classes >= LOWER) & (classes <= DIGIT)
    return found


def _is_word(classes: Classes) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (classes >= LOWER) & (classes <= MARK)
    return found


def _ends_word(classes: Classes) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = ~_is_word(classes) & (classes != PLUS)
    return found


def _characters(classes: Classes, unspaced: Ints) -> tuple[Ints, Ints]:
    """Return the spans of the characters at `unspaced`, each with what completes it."""
    follows = np.concatenate([[False], unspaced[1:] == unspaced[:-1] + 1])
    first = (classes[unspaced] == BIGRAM) | ~follows
    last = np.concatenate([first[1:], [True]])
    return unspaced[first], unspaced[last] + 1


def _with_pairs(starts: Ints, ends: Ints, character_starts: Ints, character_ends: Ints) -> tuple[Ints, Ints]:
    """Merge the words of a text with the characters and pairs of its scripts without spaces."""
    neighbours = character_ends[:-1] == character_starts[1:]
    all_starts = np.concatenate([starts, character_starts, character_starts[:-1][neighbours]])
    all_ends = np.concatenate([ends, character_ends, character_ends[1:][neighbours]])
    order = np.argsort(all_starts, kind="stable")
    return all_starts[order], all_ends[order]


def is_pair(starts: Ints) -> NDArray[np.bool_]:
    """Tell which words are pairs of characters: each begins where its first character does."""
    pairs = np.zeros(len(starts), np.bool_)
    np.equal(starts[1:], starts[:-1], out=pairs[1:])
    return pairs


def inner_parts(classes: Classes) -> Ints:
    """Return where a part of an identifier may begin within it: `node_id`, `getUser`, `HTTPServer`.

    Example:
        >>> from firstlight.lexical.characters import classify, code_points
        >>> inner_parts(classify(code_points("HTTPServer node_id"))).tolist()
        [4, 16]
    """
    before, here = classes[:-1], classes[1:]
    lower = classes == LOWER
    capital = lower[:-1].copy()
    capital[:-1] |= lower[2:]
    capital &= here == UPPER
    capital &= before != OTHER
    capital |= (before >= MARK) & (here <= DIGIT) & (here != OTHER)
    return np.flatnonzero(capital) + 1


def expand(ids: Ints, offsets: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Replace each id by its row of a ragged table: `values[offsets[id]:offsets[id + 1]]`.

    Returns:
        The values, int64[m], and for each the position in `ids` that it came from.

    Example:
        >>> table = np.array([0, 1, 3]), np.array([7, 8, 9])
        >>> [part.tolist() for part in expand(np.array([1, 0]), *table)]
        [[8, 9, 7], [0, 0, 1]]
    """
    counts = offsets[ids + 1] - offsets[ids]
    sources = np.repeat(np.arange(len(ids)), counts)
    firsts = np.cumsum(counts) - counts
    within = np.arange(len(sources)) - firsts[sources]
    return values[offsets[ids][sources] + within], sources


def count_terms(terms: Ints, chunks: Ints, weights: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Count how often each term occurs in each chunk, a token of weight w counting w times.

    Args:
        terms: int64[n], below 2**31.
        chunks: int64[n], below 2**24.
        weights: int64[n], 1 to 255.

    Returns:
        The terms, ascending, and how many postings each has; then the chunk and the term frequency of each
        posting, by term, then by chunk.

    Example:
        >>> [a.tolist() for a in count_terms(np.array([5, 3, 5]), np.array([0, 1, 0]), np.array([1, 2, 1]))]
        [[3, 5], [1, 1], [1, 0], [2, 2]]
    """
    if not len(terms):
        return terms, terms, chunks, weights
    of_weight, of_chunk = int(weights.max()).bit_length(), int(chunks.max()).bit_length()
    keys = (terms << of_chunk | chunks) << of_weight | weights
    if int(terms.max()).bit_length() + of_chunk + of_weight <= 32:
        keys = keys.astype(np.uint32)  # half the bytes to sort
    keys.sort()
    postings = keys >> of_weight
    firsts = _firsts(postings)
    weighed = np.cumsum(keys & ((1 << of_weight) - 1), dtype=np.int64)  # thrice as quick as `reduceat`
    frequencies = np.diff(weighed[np.append(firsts[1:], len(keys)) - 1], prepend=0)
    postings = postings[firsts].astype(np.int64)
    terms = postings >> of_chunk
    firsts = _firsts(terms)
    return terms[firsts], np.diff(firsts, append=len(terms)), postings & ((1 << of_chunk) - 1), frequencies


def _firsts(values: NDArray[np.integer]) -> Ints:
    """Return where each run of equal values begins; there is at least one."""
    begins = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def group_by_term(
    runs: Sequence[tuple[NDArray[np.integer], Ints, NDArray[np.uint32], NDArray[np.uint16]]], size: int
) -> tuple[Ints, NDArray[np.uint32], NDArray[np.uint16]]:
    """Merge runs of postings, each grouped by term, into one, in time linear in their number.

    Args:
        runs: The terms, in any order, and how many postings each has; then the chunk and the term frequency
            of each posting. Within a term, earlier runs have the lower chunks.
        size: How many terms there are.

    Returns:
        Offsets int64[size + 1] of each term's postings, their chunks and term frequencies.
    """
    totals = np.zeros(size, np.int64)
    for terms, sizes, _, _ in runs:
        totals[terms] += sizes
    offsets = np.zeros(size + 1, np.int64)
    np.cumsum(totals, out=offsets[1:])
    chunks = np.empty(int(offsets[-1]), np.uint32)
    frequencies = np.empty(len(chunks), np.uint16)
    cursor = offsets[:-1].copy()
    for terms, sizes, run_chunks, run_frequencies in runs:
        firsts = cursor[terms]
        cursor[terms] += sizes
        places = np.repeat(firsts - (np.cumsum(sizes) - sizes), sizes)
        places += np.arange(len(places))
        chunks[places] = run_chunks
        frequencies[places] = run_frequencies
    return offsets, chunks, frequencies


def saturate(
    frequencies: NDArray[np.unsignedinteger], norms: NDArray[np.float64], weight: float
) -> NDArray[np.float64]:
    """Return BM25's `weight * tf / (tf + norm)` for each posting.

    Args:
        frequencies: Term frequencies, [n].
        norms: `k1 * (1 - b + b * length / average)` of each posting's chunk, float64[n].
        weight: The term's idf times its weight in the question.
    """
    impacts = frequencies.astype(np.float64)
    total = norms + impacts
    impacts *= weight
    impacts /= total
    return impacts


def top_k(scores: NDArray[np.float64], k: int) -> Ints:
    """Return the positions of the `k` best scores above 0, best first, and of all that tie with the last.

    Equal scores stand in order of position. The k-th best block maximum bounds the k-th best score from
    below, so that only a few scores are ever sorted.

    Example:
        >>> top_k(np.array([0.0, 2.0, 3.0, 2.0]), 2).tolist()
        [2, 1, 3]
    """
    threshold = _lower_bound(scores, k)
    found = np.flatnonzero(scores >= threshold) if threshold > 0 else np.flatnonzero(scores > 0)
    if len(found) > k:
        values = scores[found]
        kth = np.partition(values, len(values) - k)[len(values) - k]
        found = found[values >= kth]
    return found[np.argsort(-scores[found], kind="stable")]


def _lower_bound(scores: NDArray[np.float64], k: int) -> float:
    blocks = len(scores) // _BLOCK
    if blocks <= k:
        return 0.0
    maxima = scores[: blocks * _BLOCK].reshape(_BLOCK, blocks).max(axis=0)  # any way of cutting will do
    return float(np.partition(maxima, blocks - k)[blocks - k])
