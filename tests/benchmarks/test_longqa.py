"""What a passage holds, and what fits into a budget."""

from __future__ import annotations

from itertools import pairwise

import pytest

from firstlight.text import est_tokens

pytest.importorskip("bm25s", reason="the benchmarks' peers are not installed")

from benchmarks.longqa import ways  # after what it needs


def test_a_span_is_held_by_passages_that_touch_but_not_by_those_with_a_gap() -> None:
    assert ways.whole([(3, 8)], [(5, 9), (0, 5)]) == [True]
    assert ways.whole([(3, 8)], [(6, 9), (0, 5)]) == [False]
    assert ways.whole([(0, 5), (0, 6)], [(0, 5)]) == [True, False]
    assert ways.whole([(0, 1)], []) == [False]


def test_windows_are_the_text_in_200_words_each() -> None:
    text = "  " + "word  " * 450 + "\n"
    spans = ways.Windows(text).spans
    assert (spans[0][0], spans[-1][1]) == (0, len(text))
    assert all(left[1] == right[0] for left, right in pairwise(spans))
    assert [len(text[start:end].split()) for start, end in spans] == [200, 200, 50]


def test_windows_are_taken_best_first_as_long_as_they_fit() -> None:
    parts = ["other " * 200, "whale " * 3 + "other " * 197, "other " * 200, "whale " + "other " * 199]
    windows = ways.Windows("".join(parts))
    size = est_tokens(parts[1])
    assert windows.choose("whale", size) == [windows.spans[1]]
    assert windows.choose("whale", 10_000) == [windows.spans[1], windows.spans[3]]
    assert windows.choose("whale", size - 1) == [windows.spans[3]] * (est_tokens(parts[3]) < size)
