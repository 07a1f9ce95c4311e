from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from firstlight.embed.batches import Window, batches, fill, total
from firstlight.embed.types import Limits

LIMITS = st.builds(Limits, texts=st.integers(1, 6), tokens=st.integers(1, 20))
SIZES = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=8), max_size=20)


def items_of(sizes: list[list[int]]) -> list[list[Window]]:
    return [
        [Window(bytes([item]), f"{item}.{part}", tokens) for part, tokens in enumerate(parts)]
        for item, parts in enumerate(sizes)
    ]


@given(SIZES, LIMITS)
def test_nothing_is_lost_doubled_or_reordered(sizes: list[list[int]], limits: Limits) -> None:
    items = items_of(sizes)
    calls = list(batches(items, limits))
    assert [window for call in calls for window in call] == [window for item in items for window in item]
    assert all(calls)


@given(SIZES, LIMITS)
def test_a_call_keeps_to_its_limits_unless_it_is_one_window(sizes: list[list[int]], limits: Limits) -> None:
    for call in batches(items_of(sizes), limits):
        assert len(call) <= limits.texts
        assert len(call) == 1 or total(call) <= limits.tokens


@given(SIZES, LIMITS)
def test_an_item_that_fits_in_one_call_is_in_one(sizes: list[list[int]], limits: Limits) -> None:
    items = items_of(sizes)
    calls = list(batches(items, limits))
    for item in items:
        if len(item) <= limits.texts and total(item) <= limits.tokens:
            assert sum(item[0].item in {window.item for window in call} for call in calls) == 1


@given(SIZES, LIMITS)
def test_no_call_is_left_that_the_next_item_would_have_fitted_into(
    sizes: list[list[int]], limits: Limits
) -> None:
    items = {item[0].item: item for item in items_of(sizes)}
    for call, following in pairwise(batches(items.values(), limits)):
        whole = items[following[0].item]
        if following[: len(whole)] == whole:
            assert (
                len(call) + len(whole) > limits.texts
                or total(call) + total(whole) > limits.tokens
                or (total(call) >= limits.tokens)
            )


def test_a_full_call_does_not_wait_for_the_next_item() -> None:
    calls, held = fill([], items_of([[1, 1]])[0], Limits(texts=2, tokens=99))
    assert [len(call) for call in calls] == [2]
    assert held == []


def test_items_are_taken_as_calls_are_asked_for() -> None:
    taken = []

    def source() -> object:
        for item in items_of([[1]] * 10):
            taken.append(item)
            yield item

    calls = batches(source(), Limits(texts=2, tokens=99))  # type: ignore[arg-type]
    next(calls)
    assert len(taken) == 2
