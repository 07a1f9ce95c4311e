from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.embed.windows import balanced, joined, token_units, windows
from firstlight.text.tokens import est_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

ANY_TEXT = st.text(st.characters(), max_size=400) | st.text("a b\n水é́\0😀\ud800.", max_size=2000)


class Provider:
    """An embedder that does not show its tokenizer."""

    name = "m"
    dimensions = 3
    fingerprint = "m"
    languages = None

    def __init__(self, max_tokens: int) -> None:
        self.max_tokens = max_tokens

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        return np.ones((len(texts), 3), np.float32)


class Splitter(Provider):
    def split(self, text: str) -> list[str]:
        return [text[:1], text[1:]]


def test_an_embedder_that_can_split_splits() -> None:
    assert windows("abc", Splitter(1)) == ["a", "bc"]


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "word", "水"])
def test_a_text_that_fits_is_one_window(text: str) -> None:
    assert windows(text, Provider(8)) == [text]


def test_windows_are_about_equal_and_cut_between_words() -> None:
    text = "alpha beta " * 300
    parts = windows(text, Provider(256))
    assert "".join(parts) == text
    assert all(part.endswith(" ") for part in parts)
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 2 * len("alpha ")
    assert max(map(est_tokens, parts)) <= 256 / 1.18


@given(ANY_TEXT, st.integers(4, 60))
def test_windows_put_together_are_the_text_and_each_fits_its_estimate(text: str, max_tokens: int) -> None:
    parts = windows(text, Provider(max_tokens))
    assert "".join(parts) == text
    assert all(parts) or parts == [""]
    assert all(est_tokens(part) <= max_tokens for part in parts)


@given(ANY_TEXT, st.integers(20, 60))
def test_no_word_is_cut_that_fits_a_window(text: str, max_tokens: int) -> None:
    parts = windows(text, Provider(max_tokens))
    for left, right in pairwise(parts):
        inside = not left[-1].isspace() and not right[0].isspace()
        assert not inside or est_tokens(left.split()[-1] + right.split()[0]) > max_tokens / 1.18 - 1


@given(st.lists(st.integers(1, 9), max_size=60), st.integers(9, 40))
def test_parts_fit_and_are_as_few_as_their_sizes_allow(sizes: list[int], room: int) -> None:
    starts = balanced(sizes, room)
    parts = [sum(sizes[a:b]) for a, b in zip(starts, [*starts[1:], len(sizes)], strict=True)]
    assert sum(parts) == sum(sizes)
    assert max(parts) <= room
    assert starts == sorted(set(starts))
    # A part wastes less than one unit, but where all parts of the rest are smaller so that they fit.
    assert len(parts) <= max(1, -(-sum(sizes) // max(room - 8, 1)) + 1)


def test_parts_of_equal_units_are_equal() -> None:
    starts = balanced([1] * 1000, 254)
    assert starts == [0, 250, 500, 750]


def test_a_unit_larger_than_the_room_stands_alone() -> None:
    assert balanced([1, 50, 1, 50], 10) == [0, 1, 2, 3]


def test_what_stands_before_the_first_unit_belongs_to_it() -> None:
    assert joined("  ab cd", [2, 5], [1, 1], 1) == ["  ab ", "cd"]


def test_tokens_of_one_character_stay_together() -> None:
    # Byte-level tokenizers give an emoji four tokens, all with the same place.
    spans = [(0, 1), (0, 1), (0, 1), (0, 1), (1, 2), (1, 2)]
    assert token_units([0] * 6, spans, 3) == ([0, 1], [4, 2])


def test_time_grows_with_the_text_and_not_with_its_square() -> None:
    def fastest(text: str) -> float:
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            windows(text, Provider(256))
            times.append(time.perf_counter() - begin)
        return min(times)

    for unit in ("a", " ", "a b ", "水", "\n\n"):
        small, large = unit * (40_000 // len(unit)), unit * (640_000 // len(unit))
        assert fastest(large) < 16 * 8 * fastest(small) + 0.05, repr(unit)
