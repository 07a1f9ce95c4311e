from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lexical.oracle import frequencies, length
from tests.lexical.texts import WORDS, items, text

from firstlight.lexical import Indexable, SegmentBuilder, build_segment

_HASH_OF_A_BUILD = """
import hashlib
from firstlight.lexical import Indexable, build_segment
from tests.lexical.texts import WORDS
bodies = [" ".join(WORDS[i : i + 9]) for i in range(60)]
chunks = [Indexable(body, title=body[:9], language=code) for code in ("de", "en") for body in bodies]
print(hashlib.sha256(build_segment(range(len(chunks)), chunks).to_bytes()).hexdigest())
"""


@given(st.lists(items(text), max_size=5))
def test_postings_are_what_counting_word_by_word_gives(chunks: list[Indexable]) -> None:
    segment = build_segment(range(len(chunks)), chunks)
    expected = {
        (term, place): count for place, item in enumerate(chunks) for term, count in frequencies(item).items()
    }
    built = {
        (term, int(chunk)): int(count)
        for term in segment.terms()
        for chunk, count in zip(*segment.postings(term), strict=True)
    }
    assert built == expected
    assert segment.lengths.tolist() == [length(item) for item in chunks]


def test_fields_weigh_more_than_the_body() -> None:
    fields = {"title": "node", "headings": ("node", "a node"), "name": "node", "tags": ("node",)}
    for field, weight in (("title", 3), ("headings", 4), ("name", 1), ("tags", 1)):
        only: dict[str, object] = {field: fields[field]}
        segment = build_segment([1], [Indexable("node", **only)])  # type: ignore[arg-type]
        assert segment.postings("node")[1].tolist() == [1 + weight], field


def test_no_word_or_pair_reaches_from_one_field_or_chunk_into_the_next() -> None:
    chunks = [Indexable("東", title="京", headings=("v1.", "2"), tags=("x", "'t")), Indexable("都")]
    terms = set(build_segment([1, 2], chunks).terms())
    assert terms == {"東", "京", "都", "v1", "2", "x", "t"}


@given(st.lists(items(), max_size=8), st.lists(st.integers(0, 8), max_size=3))
def test_chunks_added_in_any_batches_make_the_same_bytes(chunks: list[Indexable], cuts: list[int]) -> None:
    builder = SegmentBuilder()
    bounds = [0, *sorted(cuts), len(chunks)]
    for first, last in itertools.pairwise(bounds):
        ids = range(10, 10 + len(chunks))[first:last]
        builder.add(ids, chunks[first:last])
    assert builder.finish().to_bytes() == build_segment(range(10, 10 + len(chunks)), chunks).to_bytes()


def test_texts_beyond_one_batch_are_indexed_like_those_within() -> None:
    long = Indexable(" ".join(f"w{number}" for number in range(90_000)))
    chunks = [Indexable("node first"), long, Indexable("node"), long, Indexable("node last")]
    segment = build_segment(range(5), chunks)
    assert segment.postings("node")[0].tolist() == [0, 2, 4]
    assert segment.postings("w89999")[0].tolist() == [1, 3]
    assert segment.lengths.tolist() == [2, 90_000, 1, 90_000, 2]


def test_words_about_as_long_as_the_longest_are_indexed_as_one_by_one() -> None:
    for letters in ("a", "a1", "é", "語x"):
        for size in (127, 128, 129, 130, 200):
            item = Indexable(" ".join([(letters * size)[:size], (letters * size)[: size - 1] + "s"]))
            segment = build_segment([1], [item])
            assert set(segment.terms()) == set(frequencies(item)), (letters, size)
            assert segment.lengths.tolist() == [length(item)]


def test_a_chunk_without_words_is_kept_without_postings() -> None:
    segment = build_segment([1, 2, 3], [Indexable(""), Indexable("--- *** 👍"), Indexable("node")])
    assert segment.lengths.tolist() == [0, 0, 1]
    assert segment.postings("node")[0].tolist() == [2]
    assert list(segment.terms()) == ["node"]


def test_each_chunk_is_stemmed_in_its_own_language() -> None:
    chunks = [Indexable("Häuser", language="de"), Indexable("houses"), Indexable("maisons", language="fr")]
    segment = build_segment([1, 2, 3], chunks)
    assert set(segment.terms()) == {"haus", "hous", "maison"}


def test_a_length_counts_words_once_whatever_they_are_made_of() -> None:
    chunks = [
        Indexable("get getUserNames v1.2 don't"),
        Indexable("東京都 and ไทย"),
        Indexable("C++", title="a b"),
    ]
    assert build_segment([1, 2, 3], chunks).lengths.tolist() == [4, 7, 3]


def test_frequencies_stop_at_the_highest_that_fits() -> None:
    segment = build_segment([1], [Indexable("node " * 70_000)])
    assert segment.postings("node")[1].tolist() == [0xFFFF]
    assert segment.lengths.tolist() == [70_000]


@pytest.mark.parametrize("ids", [[2, 1], [1, 1]])
def test_ids_that_do_not_ascend_are_refused(ids: list[int]) -> None:
    with pytest.raises(ValueError, match="ascend"):
        build_segment(ids, [Indexable("a"), Indexable("b")])


def test_ids_ascend_over_several_calls_too() -> None:
    builder = SegmentBuilder()
    builder.add([5], [Indexable("a")])
    with pytest.raises(ValueError, match="ascend"):
        builder.add([4], [Indexable("b")])


def test_as_many_ids_as_chunks_are_asked_for() -> None:
    with pytest.raises(ValueError, match="1 ids for 2 items"):
        build_segment([1], [Indexable("a"), Indexable("b")])


def test_two_builds_make_the_same_bytes() -> None:
    chunks = [Indexable(" ".join(WORDS[start : start + 30])) for start in range(0, len(WORDS), 7)]
    first, second = (build_segment(range(len(chunks)), chunks).to_bytes() for _ in range(2))
    assert first == second


def test_two_processes_make_the_same_bytes_whatever_their_hash_seed() -> None:
    hashes = {
        subprocess.run(
            [sys.executable, "-c", _HASH_OF_A_BUILD],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[2],
        ).stdout
        for seed in ("1", "2")
    }
    assert len(hashes) == 1


def test_what_a_closed_builder_leaves_behind_changes_no_segment() -> None:
    fresh = build_segment([1, 2], [Indexable("zeta drains"), Indexable("a node")]).to_bytes()
    learned = SegmentBuilder()
    learned.add([7], [Indexable("node pools drained by the zeta")])
    learned.finish()
    learned.close()
    after = SegmentBuilder()
    after.add([1, 2], [Indexable("zeta drains"), Indexable("a node")])
    assert after.finish().to_bytes() == fresh
