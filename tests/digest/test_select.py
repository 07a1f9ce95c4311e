from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.digest import select, types
from firstlight.lexical import Index, Indexable, build_segment, parse_query
from firstlight.text.pages import split_pages


def first(tokens: int = 9000, question: str = "why", chunks: int = 100, **options: object) -> str | None:
    given = {"embedder": "model", "cached": True, **options}
    way = select.first_way(tokens=tokens, question=question, chunks=lambda: chunks, **given)  # type: ignore[arg-type]
    return None if way is None else way.retrieval


def test_the_constants_are_those_of_the_contract() -> None:
    assert (types.CHUNK_TOKENS, types.SMALL_DOC, types.EMBED_BATCH) == (1200, 8000, 32)
    assert (types.EMBED_SYNC_MAX, types.MAX_DOC_CHUNKS, types.QUEUE_MAX) == (48, 5000, 4)
    assert types.TIMEOUT == 45.0


def test_the_rules_hold_in_their_order() -> None:
    assert first(tokens=8000, question="", embedder=None, cached=False) == "whole"
    assert first(tokens=8001, question=" \n", embedder=None, cached=False) == "head"
    assert first(embedder=None, cached=False) == "bm25"
    assert first(cached=False, chunks=49) == "bm25"
    assert first(cached=False, chunks=48) is None
    assert first(cached=True, chunks=49) is None
    assert [select.way_of_missing(number, 100, "m").retrieval for number in (0, 48, 49)] == [
        "hybrid",
        "hybrid",
        "bm25",
    ]


def test_only_what_can_become_better_is_provisional_and_only_what_can_be_kept_is_queued() -> None:
    without = select.first_way(tokens=9000, question="q", chunks=lambda: 99, embedder=None, cached=True)
    uncached = select.first_way(tokens=9000, question="q", chunks=lambda: 99, embedder="m", cached=False)
    later = select.way_of_missing(99, 99, "m")
    assert without is not None
    assert uncached is not None
    assert (without.provisional, without.queue) == (False, False)
    assert (uncached.provisional, uncached.queue) == (True, False)
    assert (later.provisional, later.queue) == (True, True)


@given(st.lists(st.tuples(st.integers(1, 3000), st.floats(0, 1), st.booleans()), max_size=40))
def test_what_is_chosen_is_chunk_0_and_matches_that_fit_the_best_first(
    rows: list[tuple[int, float, bool]],
) -> None:
    sizes = [size for size, _, _ in rows]
    scores = np.array([score for _, score, _ in rows])
    matches = np.array([match for _, _, match in rows], bool)
    chosen = select.best(sizes, scores, matches, 8000)
    assert chosen == sorted(set(chosen))
    if not rows:
        assert chosen == []
        return
    assert chosen[0] == 0
    assert all(matches[number] for number in chosen[1:])
    assert sum(sizes[number] for number in chosen) <= 8000
    left_out = [number for number in range(1, len(rows)) if number not in chosen and matches[number]]
    for number in left_out:  # whatever was left out did not fit beside those that are better
        better = [0, *(n for n in chosen[1:] if (-scores[n], n) < (-scores[number], number))]
        assert sum(sizes[n] for n in better) + sizes[number] > 8000


def test_of_equal_scores_the_earlier_chunk_comes_first() -> None:
    chosen = select.best([10] * 6, np.array([0, 1, 2, 2, 1, 1.0]), np.ones(6, bool), 40)
    assert chosen == [0, 1, 2, 3]


def test_nothing_that_matches_nothing_fills_the_room() -> None:
    assert select.best([10] * 6, np.zeros(6), np.zeros(6, bool)) == [0]


def test_the_hybrid_score_is_seven_tenths_cosine_and_three_tenths_overlap() -> None:
    assert select.hybrid(np.array([0.5, -1.0]), np.array([1.0, 0.5])).tolist() == pytest.approx([0.65, -0.55])


def test_the_overlap_is_the_share_of_the_distinct_terms_that_a_chunk_has() -> None:
    texts = ["drain the nodes, drain them", "a node in a pool", "nothing"]
    index = Index([(build_segment(range(3), [Indexable(text) for text in texts]), None)])
    query = parse_query("draining nodes of pools, nodes, nodes?")
    assert select.overlap(query, index).tolist() == pytest.approx([2 / 3, 2 / 3, 0])
    assert select.overlap(parse_query("?!"), index).tolist() == [0, 0, 0]


def test_cosines_are_those_of_the_vectors_there_are() -> None:
    vectors = {b"a": np.array([[1, 0]], np.float32), b"c": np.array([[0.6, 0.8]], np.float32)}
    found = select.cosines(np.array([0, 1], np.float32), [b"a", b"b", b"c"], vectors)
    assert found.tolist() == pytest.approx([0, 0, 0.8])
    assert select.cosines(np.array([0, 1], np.float32), [b"b"], {}).tolist() == [0]


def test_a_chunk_is_as_near_as_its_nearest_window() -> None:
    windows = np.array([[1, 0], [0.6, 0.8], [0, -1]], np.float32)
    question = np.array([0, 1], np.float32)
    vectors = {b"a": windows, b"b": windows[:1], b"c": windows[1:]}
    found = select.cosines(question, [b"a", b"b", b"c"], vectors)
    assert found.tolist() == pytest.approx([0.8, 0, 0.8])


def test_head_takes_leading_chunks_as_long_as_they_fit() -> None:
    assert select.head([3000, 3000, 3000, 1]) == [0, 1]
    assert select.head([8000]) == [0]
    assert select.head([8001, 1]) == []


def test_passages_name_their_lines_and_the_pages_that_they_are_on() -> None:
    text = "\f".join(f"Page {number}. " + "word " * 600 + "\n" for number in range(1, 9))
    chunks = split_pages(text)
    passages = select.passages(chunks, range(len(chunks)), None, select.page_starts(text))
    assert [passage.number for passage in passages] == list(range(1, len(chunks) + 1))
    for passage in passages:
        assert text[passage.start : passage.end] == passage.text
        assert passage.line_start == text.count("\n", 0, passage.start) + 1
        pages = {n for n in range(1, 9) if f"Page {n}." in passage.text}
        assert pages <= set(range(passage.page or 0, (passage.page_end or 0) + 1))
        assert passage.page == min(pages)
        assert passage.page_end == max(pages)


def test_without_form_feeds_there_are_no_pages() -> None:
    passage = select.passages(split_pages("one page"), [0], None, select.page_starts("one page"))[0]
    assert (passage.page, passage.page_end) == (None, None)
