from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lexical.texts import items

from firstlight.errors import StoreError
from firstlight.lexical import Indexable, Segment, build_segment

if TYPE_CHECKING:
    from pathlib import Path

ARRAYS = ("ids", "lengths", "offsets", "chunks", "frequencies", "term_offsets")
SMALL = build_segment([3, 8], [Indexable("drain a node", title="Node"), Indexable("東京 resumé node_id")])
MANY_TIMES = build_segment([1], [Indexable("node " * 300 + "pool")])
segments = st.lists(items(), max_size=6).map(lambda found: build_segment(range(5, 5 + len(found)), found))


def same(left: Segment, right: Segment) -> bool:
    arrays = all(
        getattr(left, name).dtype == getattr(right, name).dtype
        and np.array_equal(getattr(left, name), getattr(right, name))
        for name in ARRAYS
    )
    return arrays and bytes(left.term_bytes) == bytes(right.term_bytes)


@given(segments)
def test_a_segment_survives_being_written_and_read(segment: Segment) -> None:
    read = Segment.from_buffer(segment.to_bytes(), check=True)
    assert same(segment, read)
    assert read.to_bytes() == segment.to_bytes()


@given(segments)
def test_each_term_is_found_with_its_own_postings_and_no_other_term_is(segment: Segment) -> None:
    terms = list(segment.terms())
    assert [term.encode() for term in terms] == sorted({term.encode() for term in terms})
    for number, term in enumerate(terms):
        chunks, frequencies = segment.postings(term)
        first, last = segment.offsets[number : number + 2]
        assert chunks.tolist() == segment.chunks[first:last].tolist()
        assert frequencies.tolist() == segment.frequencies[first:last].tolist()
        assert (np.diff(chunks.astype(np.int64)) > 0).all()
        for other in (term + "\x00", term[:-1], "\U0010ffff"):
            assert other in terms or not len(segment.postings(other)[0])


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_segment_is_read_from_any_buffer(kind: type) -> None:
    assert same(Segment.from_buffer(kind(SMALL.to_bytes())), SMALL)


def test_a_segment_is_read_from_a_mapped_file_without_copying(tmp_path: Path) -> None:
    file = tmp_path / "segment"
    file.write_bytes(SMALL.to_bytes())
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    segment = Segment.from_buffer(memoryview(mapped))
    assert same(segment, SMALL)
    assert not segment.chunks.flags.owndata
    assert not segment.chunks.flags.writeable


def test_arrays_stand_aligned_in_the_buffer() -> None:
    read = Segment.from_buffer(SMALL.to_bytes())
    assert all(getattr(read, name).flags.aligned for name in ARRAYS)


def test_frequencies_take_one_byte_until_one_needs_two() -> None:
    assert SMALL.frequencies.dtype == np.uint8
    assert MANY_TIMES.frequencies.dtype == np.uint16
    read = Segment.from_buffer(MANY_TIMES.to_bytes(), check=True)
    assert same(read, MANY_TIMES)
    assert read.postings("node")[1].tolist() == [300]


@pytest.mark.parametrize("segment", [SMALL, MANY_TIMES, build_segment([], [])])
def test_a_segment_cut_short_is_refused_wherever_it_is_cut(segment: Segment) -> None:
    whole = segment.to_bytes()
    for size in range(len(whole)):
        with pytest.raises(StoreError, match="verify --repair"):
            Segment.from_buffer(whole[:size])


def test_a_segment_with_bytes_after_its_end_is_refused() -> None:
    with pytest.raises(StoreError):
        Segment.from_buffer(SMALL.to_bytes() + b"\x00")


@pytest.mark.parametrize("segment", [SMALL, MANY_TIMES, build_segment([], [])])
def test_one_flipped_bit_is_found_by_a_check(segment: Segment) -> None:
    whole = bytearray(segment.to_bytes())
    for place in range(len(whole)):
        for bit in (1, 0x10, 0x80):
            whole[place] ^= bit
            with pytest.raises(StoreError):
                Segment.from_buffer(whole, check=True)
            whole[place] ^= bit
    assert Segment.from_buffer(whole, check=True)._find(b"nowhere") == -1


@given(st.binary(max_size=200) | st.binary(max_size=80).map(lambda tail: SMALL.to_bytes()[:8] + tail))
def test_foreign_bytes_are_refused(found: bytes) -> None:
    with pytest.raises(StoreError):
        Segment.from_buffer(found)


def test_a_segment_of_a_later_format_says_so() -> None:
    later = bytearray(SMALL.to_bytes())
    later[7] += 1
    with pytest.raises(StoreError, match="another version"):
        Segment.from_buffer(later)


def test_an_empty_segment_is_a_segment() -> None:
    empty = build_segment([], [])
    assert same(Segment.from_buffer(empty.to_bytes(), check=True), empty)
    assert len(empty) == 0
    assert list(empty.terms()) == []
    assert [part.tolist() for part in empty.postings("node")] == [[], []]
