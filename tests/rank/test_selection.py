from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.rank import Candidate, select

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def candidate(chunk: int, document: int, start: int, end: int, text: str = "") -> Candidate:
    digest = (text or f"chunk {chunk}").encode()
    return Candidate(chunk, document, f"{document}.md", start, end, digest, 100.0 - chunk)


ranked = st.lists(
    st.tuples(
        st.integers(0, 3), st.integers(0, 60), st.integers(0, 40), st.sampled_from(["", "", "same", "other"])
    ),
    max_size=30,
).map(
    lambda rows: [
        candidate(n, document, at, at + size, text) for n, (document, at, size, text) in enumerate(rows)
    ]
)
caps = st.none() | st.integers(1, 4)


@given(ranked, st.integers(1, 12), st.integers(0, 12), caps)
def test_the_first_of_many_are_the_many_s_first(
    ranking: list[Candidate], k: int, more: int, cap: int | None
) -> None:
    assert select(ranking, top_k=k, per_document=cap) == select(ranking, top_k=k + more, per_document=cap)[:k]


@given(ranked, caps)
def test_what_is_kept_is_worth_showing_and_what_is_dropped_is_not(
    ranking: list[Candidate], cap: int | None
) -> None:
    kept = select(ranking, top_k=99, per_document=cap)
    for place, one in enumerate(ranking):
        higher = [other for other in kept if ranking.index(other) < place]
        of_document = [other for other in higher if other.document == one.document]
        shared = [
            len({*range(one.start, one.end)} & {*range(other.start, other.end)}) for other in of_document
        ]
        redundant = (
            any(2 * count > one.end - one.start for count in shared)
            or one.content_hash in {other.content_hash for other in higher}
            or len(of_document) == cap
        )
        assert (one in kept) is not redundant
    assert kept == [one for one in ranking if one in kept]
    assert cap is None or all(count <= cap for count in Counter(one.document for one in kept).values())


@given(ranked, st.integers(1, 12), st.integers(0, 12), caps, st.sets(st.integers(0, 29)))
def test_the_first_of_many_are_the_many_s_first_whatever_adds_nothing(
    ranking: list[Candidate], k: int, more: int, cap: int | None, stale: set[int]
) -> None:
    def adds(one: Candidate, spans: Sequence[tuple[int, int]]) -> bool:
        return one.chunk not in stale or sum(end - start for start, end in spans) % 2 == 0

    few = select(ranking, top_k=k, per_document=cap, adds=adds)
    assert few == select(ranking, top_k=k + more, per_document=cap, adds=adds)[:k]


@given(ranked, caps)
def test_only_what_overlaps_kept_ones_of_its_document_is_asked_about(
    ranking: list[Candidate], cap: int | None
) -> None:
    asked: dict[int, Sequence[tuple[int, int]]] = {}

    def adds(one: Candidate, spans: Sequence[tuple[int, int]]) -> bool:
        asked[one.chunk] = spans
        return False

    kept = select(ranking, top_k=99, per_document=cap, adds=adds)
    assert not any(one.chunk in asked for one in kept)
    for chunk, spans in asked.items():
        one = ranking[chunk]
        higher = [hit for hit in kept if hit.chunk < chunk and hit.document == one.document]
        overlapping = [hit for hit in higher if {*range(hit.start, hit.end)} & {*range(one.start, one.end)}]
        assert spans == [(hit.start, hit.end) for hit in overlapping] != []


def test_no_candidate_is_read_after_the_last_that_is_kept() -> None:
    read: list[int] = []

    def endless() -> Iterator[Candidate]:
        chunk = 0
        while True:
            read.append(chunk)
            yield candidate(chunk, chunk, 0, 10)
            chunk += 1

    assert len(select(endless(), top_k=3)) == 3
    assert read == [0, 1, 2]


def test_half_a_passage_is_still_new_and_more_than_half_is_not() -> None:
    whole = candidate(0, 1, 0, 100)
    half, most = candidate(1, 1, 90, 110), candidate(2, 1, 89, 110)
    assert select([whole, half], top_k=9) == [whole, half]
    assert select([whole, most], top_k=9) == [whole]


def test_a_large_passage_that_holds_a_small_hit_is_shown() -> None:
    small, large = candidate(0, 1, 40, 60), candidate(1, 1, 0, 100)
    assert select([small, large], top_k=9) == [small, large]


def test_the_same_text_is_one_hit_unless_its_twin_was_not_shown() -> None:
    first, copy = candidate(0, 1, 0, 10, "same"), candidate(1, 2, 0, 10, "same")
    assert select([first, copy], top_k=9) == [first]
    above = candidate(2, 1, 50, 60)
    assert select([above, first, copy], top_k=9, per_document=1) == [above, copy]


@pytest.mark.parametrize("options", [{"top_k": 0}, {"top_k": -1}, {"top_k": 1, "per_document": 0}])
def test_a_bound_below_one_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be 1 or more"):
        select([], **options)  # type: ignore[arg-type]
