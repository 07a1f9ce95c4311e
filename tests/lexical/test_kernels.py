from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.lexical.texts import text

from firstlight.lexical.characters import classify, code_points
from firstlight.lexical.kernels import (
    HashTable,
    SpanHasher,
    count_terms,
    expand,
    group_by_term,
    saturate,
    top_k,
    word_spans,
)

# Few top bits, so that many want the same slot; 0 is the empty slot and never a hash.
crowded = st.builds(lambda top, low: (top << 60) | low, st.integers(0, 15), st.integers(1, 300))
hashes = st.lists(crowded | st.integers(1, 2**64 - 1), unique=True, max_size=200)
# From few values, so that ties are common.
scores = st.lists(st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 7.0]) | st.floats(0, 9), max_size=300)


def hasher(seed: int = 0) -> SpanHasher:
    random = np.random.default_rng(seed)
    return SpanHasher(random.integers(0, 2**64, 0x10001, np.uint64))


@given(st.lists(hashes, max_size=4))
def test_a_hash_table_is_a_dictionary(batches: list[list[int]]) -> None:
    table, twin = HashTable(capacity=8), dict[int, int]()
    for batch in batches:
        new = [key for key in batch if key not in twin]
        values = range(len(twin), len(twin) + len(new))
        table.insert(np.array(new, np.uint64), np.array(values, np.int64))
        twin.update(zip(new, values, strict=True))
        asked = [key for known in batches for key in known] + [3, 2**64 - 1]
        found = table.lookup(np.array(asked, np.uint64)).tolist()
        assert found == [twin.get(key, -1) for key in asked]


def test_a_hash_table_grows() -> None:
    keys = np.random.default_rng(1).integers(1, 2**64 - 1, 50_000, np.uint64)
    keys = np.unique(keys)
    table = HashTable(capacity=2)
    for start in range(0, len(keys), 7001):
        batch = keys[start : start + 7001]
        table.insert(batch, np.arange(start, start + len(batch)))
    assert table.lookup(keys).tolist() == list(range(len(keys)))


@given(text, st.integers(0, 5))
def test_spans_hash_alike_if_and_only_if_they_are_written_alike(written: str, seed: int) -> None:
    written = f"{written} {written} x"
    codes = code_points(written)
    starts, ends = word_spans(classify(codes))
    found = hasher(seed).hash(codes, starts, ends).tolist()
    cuts = [written[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    assert 0 not in found
    assert len(set(found)) == len(set(cuts)) == len(set(zip(found, cuts, strict=True)))


def test_hashes_do_not_depend_on_the_place_or_on_what_was_hashed_before() -> None:
    one = hasher()
    short = one.hash(code_points("node"), np.array([0]), np.array([4]))
    long = one.hash(code_points("-" * 10_000 + "node"), np.array([10_000]), np.array([10_004]))
    other = hasher(1).hash(code_points("node"), np.array([0]), np.array([4]))
    assert short == long
    assert short != other


def test_many_short_words_do_not_collide() -> None:
    written = " ".join(
        f"{a}{b}{c}" for a in "abcdefghijklmn0" for b in "abcdefghijklmnopqrst9" for c in "xyz日𝐀語"
    )
    codes = code_points(written)
    edges = np.flatnonzero(codes == ord(" "))
    starts, ends = np.concatenate([[0], edges + 1]), np.append(edges, len(codes))
    assert len(np.unique(hasher(2).hash(codes, starts, ends))) == len(starts)


tokens = st.lists(
    st.tuples(
        st.integers(0, 5) | st.just(2**31 - 1),
        st.integers(0, 4) | st.just(2**24 - 1),
        st.sampled_from([1, 2, 3, 255]),
    ),
    max_size=60,
)


@given(tokens)
def test_counting_terms_adds_the_weights_of_each_term_in_each_chunk(
    found: list[tuple[int, int, int]],
) -> None:
    columns = np.array(found, np.int64).reshape(-1, 3).T
    twin: Counter[tuple[int, int]] = Counter()
    for term, chunk, weight in found:
        twin[term, chunk] += weight
    expected = [(term, chunk, count) for (term, chunk), count in sorted(twin.items())]
    terms, chunks, frequencies = count_terms(*columns)
    assert list(zip(terms.tolist(), chunks.tolist(), frequencies.tolist(), strict=True)) == expected


@given(st.lists(st.dictionaries(st.integers(0, 7), st.integers(1, 4), max_size=6), max_size=5))
def test_grouping_runs_puts_each_terms_postings_together_in_the_order_of_chunks(
    batches: list[dict[int, int]],
) -> None:
    runs, twin, chunk = [], defaultdict[int, list[tuple[int, int]]](list), 0
    for batch in batches:
        rows = [(term, chunk + i, 10 * term + i) for term in sorted(batch) for i in range(batch[term])]
        for term, place, frequency in rows:
            twin[term].append((place, frequency))
        chunk += 4
        terms, places, counts = (np.array([row[i] for row in rows], np.int64) for i in range(3))
        runs.append((terms.astype(np.int32), places.astype(np.uint32), counts.astype(np.uint16)))
    offsets, chunks, frequencies = group_by_term(runs, 8)
    assert offsets.tolist() == np.cumsum([0, *(len(twin[term]) for term in range(8))]).tolist()
    expected = [posting for term in range(8) for posting in twin[term]]
    assert list(zip(chunks.tolist(), frequencies.tolist(), strict=True)) == expected


@given(st.lists(st.lists(st.integers(0, 99), max_size=4), min_size=1, max_size=6), st.data())
def test_expanding_replaces_each_id_by_its_row(table: list[list[int]], data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, len(table) - 1), max_size=12))
    offsets = np.cumsum([0, *map(len, table)])
    flat = np.array([value for row in table for value in row], np.int64)
    values, sources = expand(np.array(ids, np.int64), offsets, flat)
    assert values.tolist() == [value for number in ids for value in table[number]]
    assert sources.tolist() == [place for place, number in enumerate(ids) for _ in table[number]]


def slow_top_k(values: list[float], k: int) -> list[int]:
    best = sorted((place for place, value in enumerate(values) if value > 0), key=lambda p: (-values[p], p))
    return [place for place in best if len(best) <= k or values[place] >= values[best[k - 1]]]


@given(scores, st.integers(1, 40))
def test_the_best_are_those_of_sorting_with_all_that_tie(values: list[float], k: int) -> None:
    assert top_k(np.array(values, np.float64), k).tolist() == slow_top_k(values, k)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 10, 100]), st.sampled_from([2, 40, 10**6]))
def test_the_best_of_many_are_those_of_sorting_with_all_that_tie(seed: int, k: int, distinct: int) -> None:
    random = np.random.default_rng(seed)
    values = random.integers(0, distinct, random.integers(1, 20_000)) / 7
    assert top_k(values, k).tolist() == slow_top_k(values.tolist(), k)


def test_nothing_above_zero_is_nothing_found() -> None:
    assert top_k(np.zeros(1000), 5).tolist() == []
    assert top_k(np.empty(0), 5).tolist() == []


def test_all_equal_are_all_found() -> None:
    assert top_k(np.ones(1000), 5).tolist() == list(range(1000))


@given(
    hnp.arrays(np.uint16, st.shared(st.integers(0, 20), key="n"), elements=st.integers(1, 0xFFFF)),
    hnp.arrays(np.float64, st.shared(st.integers(0, 20), key="n"), elements=st.floats(0.01, 100)),
    st.floats(0.001, 20),
)
def test_saturation_is_the_formula_and_stays_below_its_weight(
    frequencies: np.ndarray, norms: np.ndarray, weight: float
) -> None:
    found = saturate(frequencies, norms, weight)
    expected = [int(f) * weight / (n + int(f)) for f, n in zip(frequencies, norms, strict=True)]
    assert found.tolist() == expected
    assert (found <= weight).all()
