from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lexical.texts import items

from firstlight.lexical import Indexable, build_segment, merge_segments, plan_merge

MOST = 16


@st.composite
def partitions(draw: st.DrawFn) -> tuple[list[Indexable], list[bool], list[int]]:
    """Chunks, which of them are dead, and where they are cut into segments."""
    chunks = draw(st.lists(items(), max_size=9))
    dead = draw(st.lists(st.booleans(), min_size=len(chunks), max_size=len(chunks)))
    cuts = draw(st.lists(st.integers(0, len(chunks)), max_size=4))
    return chunks, dead, [0, *sorted(cuts), len(chunks)]


@given(partitions())
def test_a_merge_is_to_the_byte_a_fresh_build_of_the_living(
    found: tuple[list[Indexable], list[bool], list[int]],
) -> None:
    chunks, dead, bounds = found
    ids = [7 * number for number in range(len(chunks))]
    parts = [
        (build_segment(ids[a:b], chunks[a:b]), np.array(dead[a:b], np.bool_))
        for a, b in itertools.pairwise(bounds)
    ]
    living = [place for place, gone in enumerate(dead) if not gone]
    fresh = build_segment([ids[place] for place in living], [chunks[place] for place in living])
    assert merge_segments(parts).to_bytes() == fresh.to_bytes()


def test_merging_in_any_order_of_neighbours_gives_the_same_bytes() -> None:
    chunks = [Indexable(f"node {number % 5} pool v1.{number} 東京", title="Häuser") for number in range(12)]
    parts = [build_segment([number], [chunk]) for number, chunk in enumerate(chunks)]
    rng = random.Random(1)
    while len(parts) > 1:
        place = rng.randrange(len(parts) - 1)
        parts[place : place + 2] = [merge_segments([(part, None) for part in parts[place : place + 2]])]
    assert parts[0].to_bytes() == build_segment(range(12), chunks).to_bytes()


def test_a_frequency_that_needed_two_bytes_takes_one_when_its_chunk_is_gone() -> None:
    parts = [build_segment([1, 2], [Indexable("node " * 300), Indexable("node")])]
    merged = merge_segments([(parts[0], np.array([True, False]))])
    assert merged.to_bytes() == build_segment([2], [Indexable("node")]).to_bytes()


def test_nothing_merged_is_an_empty_segment() -> None:
    assert merge_segments([]).to_bytes() == build_segment([], []).to_bytes()


def test_segments_whose_ids_interleave_are_refused() -> None:
    first, second = build_segment([1, 5], [Indexable("a")] * 2), build_segment([3], [Indexable("b")])
    with pytest.raises(ValueError, match="interleave"):
        merge_segments([(first, None), (second, None)])


def grow(arrivals: list[int]) -> tuple[int, int]:
    """Add segments one by one, merging as planned: return how much was written, and the most segments."""
    sizes: list[int] = []
    written = most = 0
    for arrived in arrivals:
        sizes.append(arrived)
        while (plan := plan_merge(sizes)) is not None:
            places = list(plan)
            assert len(places) > 1
            assert places == list(range(places[0], places[-1] + 1)), "only neighbours can be merged"
            merged = sum(sizes[place] for place in places)
            sizes[places[0] : places[-1] + 1] = [merged]
            written += merged
        most = max(most, len(sizes))
    return written, most


@given(st.lists(st.integers(0, 10_000), max_size=120))
def test_at_most_sixteen_segments_remain_after_any_arrivals(arrivals: list[int]) -> None:
    assert grow(arrivals)[1] <= MOST


@given(st.lists(st.integers(0, 10_000), min_size=MOST + 1, max_size=40))
def test_many_segments_at_once_are_brought_down_too(sizes: list[int]) -> None:
    while (plan := plan_merge(sizes)) is not None:
        places = list(plan)
        sizes[places[0] : places[-1] + 1] = [sum(sizes[place] for place in places)]
    assert len(sizes) <= MOST


def test_sixteen_segments_are_left_alone() -> None:
    assert plan_merge([]) is None
    assert plan_merge([1] * MOST) is None


@pytest.mark.parametrize(
    "shape", ["one by one", "a large one first", "of any size", "ever smaller", "large and small"]
)
def test_a_chunk_is_rewritten_a_logarithmic_number_of_times(shape: str) -> None:
    rng = random.Random(0)
    for count in (1000, 4000, 16_000):
        arrivals = {
            "one by one": [1] * count,
            "a large one first": [10 * count] + [1] * count,
            "of any size": [rng.randint(1, 100) for _ in range(count)],
            "ever smaller": list(range(count, 0, -1)),
            "large and small": [100, 1] * (count // 2),
        }[shape]
        written, _ = grow(arrivals)
        assert written <= sum(arrivals) * math.log2(count), count
