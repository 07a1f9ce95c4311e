from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from firstlight.lexical.kernels import (
    count_terms,
    expand,
    group_by_term,
    saturate,
    top_k,
)

# From few values, so that ties are common.
scores = st.lists(st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 7.0]) | st.floats(0, 9), max_size=300)


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
    terms, sizes, chunks, frequencies = count_terms(*columns)
    assert (np.diff(terms) > 0).all()
    each = np.repeat(terms, sizes).tolist()
    assert list(zip(each, chunks.tolist(), frequencies.tolist(), strict=True)) == expected


@given(st.lists(st.dictionaries(st.integers(0, 7), st.integers(1, 4), max_size=6), max_size=5))
def test_grouping_runs_puts_each_terms_postings_together_in_the_order_of_chunks(
    batches: list[dict[int, int]],
) -> None:
    runs, twin, chunk = [], defaultdict[int, list[tuple[int, int]]](list), 0
    for batch in batches:
        rows = [(term, chunk + i, 10 * term + i) for term in batch for i in range(batch[term])]
        for term, place, frequency in rows:
            twin[term].append((place, frequency))
        chunk += 4
        terms, sizes = np.array(list(batch), np.int64), np.array(list(batch.values()), np.int64)
        places, counts = (np.array([row[i] for row in rows], np.int64) for i in (1, 2))
        runs.append((terms, sizes, places.astype(np.uint32), counts.astype(np.uint16)))
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
