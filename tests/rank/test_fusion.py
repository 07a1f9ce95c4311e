from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from firstlight.rank.fusion import POOL, Fused, best, fuse, imputed, normalised

if TYPE_CHECKING:
    import random

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAN = float("nan")


class Passages(NamedTuple):
    """What a question finds: BM25, cosines (NaN: not embedded), and the question's bound."""

    bm25: Floats
    cosines: Floats
    bound: float


# Some without a term, many with the same score.
scores = st.just(0.0) | st.sampled_from([1.0, 2.5]) | st.floats(0.01, 20.0)
cosines = st.sampled_from([0.3, 0.5]) | st.floats(-1.0, 1.0)
floors = st.floats(0.0, 0.9)
weights = st.floats(0.0, 1.0)


@st.composite
def passages(draw: st.DrawFn, *, embedded: bool = False, least: int = 0) -> Passages:
    """Some passages; all of them embedded where that is asked for."""
    pairs = st.tuples(scores, cosines if embedded else cosines | st.just(NAN))
    drawn = draw(st.lists(pairs, min_size=least, max_size=20))
    bm25 = np.array([pair[0] for pair in drawn], np.float64)
    highest = float(bm25.max(initial=0.0))
    return Passages(
        bm25, np.array([pair[1] for pair in drawn], np.float64), highest * draw(st.floats(1.0, 3.0))
    )


def fused(found: Passages, *, floor: float = 0.3, weight: float = 0.4) -> Fused:
    return fuse(found.bm25, found.cosines, bound=found.bound, floor=floor, weight=weight)


def embedded_of(found: Passages) -> NDArray[np.bool_]:
    return ~np.isnan(found.cosines)


def order(values: Floats) -> list[int]:
    places: list[int] = np.argsort(-values, kind="stable").tolist()
    return places


# What a match is


@given(passages(), floors, weights)
def test_a_match_has_a_term_or_reaches_the_floor_and_nothing_else_is_one(
    found: Passages, floor: float, weight: float
) -> None:
    result = fused(found, floor=floor, weight=weight)
    assert result.matched.tolist() == [
        score > 0 or cosine >= floor for score, cosine in zip(found.bm25, found.cosines, strict=True)
    ]
    assert not result.scores[~result.matched].any()


def test_the_floor_itself_is_reached() -> None:
    result = fuse(np.zeros(3), np.array([0.3, 0.3 - 1e-9, NAN]), bound=0.0, floor=0.3, weight=0.4)
    assert result.matched.tolist() == [True, False, False]


@given(passages(), weights)
def test_what_is_not_embedded_and_has_no_term_is_no_match(found: Passages, weight: float) -> None:
    result = fused(found, floor=0.0, weight=weight)
    assert not result.matched[~embedded_of(found) & (found.bm25 == 0)].any()


# Scores


@given(passages(), floors, weights)
def test_scores_and_shares_are_from_0_to_1_and_never_nan(
    found: Passages, floor: float, weight: float
) -> None:
    result = fused(found, floor=floor, weight=weight)
    for values in (result.scores, result.near, np.array([result.weight])):
        assert np.isfinite(values).all()
        assert ((values >= 0) & (values <= 1 + 1e-12)).all()
    assert result.weight <= weight


def test_a_question_whose_words_nobody_has_is_answered_by_the_cosine_alone() -> None:
    result = fuse(np.zeros(3), np.array([0.9, 0.65, 0.2]), bound=0.0, floor=0.3, weight=0.5)
    assert result.scores.round(3).tolist() == [0.445, 0.308, 0.0]


@given(passages(embedded=True, least=1), st.data(), st.floats(0.0, 5.0), weights)
def test_more_bm25_never_lowers_a_score(
    found: Passages, data: st.DataObject, more: float, weight: float
) -> None:
    place = data.draw(st.integers(0, len(found.bm25) - 1))
    raised = found.bm25.copy()
    raised[place] += more
    bound = max(found.bound, float(raised.max()))
    before = fused(found._replace(bound=bound), weight=weight)
    after = fused(found._replace(bm25=raised, bound=bound), weight=weight)
    assert after.scores[place] >= before.scores[place]


@given(passages(embedded=True, least=1), st.data(), st.floats(0.0, 1.0), weights)
def test_more_cosine_never_lowers_a_score(
    found: Passages, data: st.DataObject, more: float, weight: float
) -> None:
    place = data.draw(st.integers(0, len(found.bm25) - 1))
    raised = found.cosines.copy()
    raised[place] = min(1.0, raised[place] + more)
    before = fused(found, weight=weight)
    after = fused(found._replace(cosines=raised), weight=weight)
    assert after.scores[place] >= before.scores[place]


def test_a_passage_that_has_both_is_above_one_that_has_either() -> None:
    result = fuse(np.array([4.0, 4.0, 0.0]), np.array([0.8, 0.2, 0.8]), bound=8.0, floor=0.3, weight=0.4)
    assert order(result.scores)[0] == 0


@given(passages(embedded=True), weights, st.data())
def test_a_score_does_not_move_with_the_other_passages_where_all_are_embedded(
    found: Passages, weight: float, data: st.DataObject
) -> None:
    size = len(found.bm25)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_)
    some = Passages(found.bm25[kept], found.cosines[kept], found.bound)
    assert fused(some, weight=weight).scores.tolist() == fused(found, weight=weight).scores[kept].tolist()


@given(passages(), weights, st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_the_order_of_the_passages(
    found: Passages, weight: float, dice: random.Random
) -> None:
    places = list(range(len(found.bm25)))
    dice.shuffle(places)
    shuffled = Passages(found.bm25[places], found.cosines[places], found.bound)
    np.testing.assert_allclose(
        fused(shuffled, weight=weight).scores, fused(found, weight=weight).scores[places], atol=1e-9
    )


@given(passages(), floors, weights)
def test_the_same_passages_have_the_same_bits_and_stay_as_they_are(
    found: Passages, floor: float, weight: float
) -> None:
    copies = found.bm25.copy(), found.cosines.copy()
    first, second = (fused(found, floor=floor, weight=weight) for _ in range(2))
    assert [part.tobytes() for part in first[:3]] == [part.tobytes() for part in second[:3]]
    np.testing.assert_array_equal(found.bm25, copies[0])
    np.testing.assert_array_equal(found.cosines, copies[1])


def test_nothing_is_fused_to_nothing() -> None:
    empty = np.empty(0)
    result = fuse(empty, empty, bound=0.0, floor=0.3, weight=0.4)
    assert [len(part) for part in result[:3]] == [0, 0, 0]
    assert result.weight == 0.4
    assert best(result.scores, result.matched, 10).tolist() == []


# Weights


@given(passages(), floors)
def test_weight_0_is_bm25_s_score(found: Passages, floor: float) -> None:
    result = fused(found, floor=floor, weight=0.0)
    having = found.bm25 > 0
    assert result.scores[having].tolist() == (found.bm25[having] / found.bound).tolist()
    assert not result.scores[~having].any()


@given(passages(embedded=True), floors)
def test_weight_1_is_the_cosine_s_order(found: Passages, floor: float) -> None:
    result = fused(found, floor=floor, weight=1.0)
    expected = np.where(result.matched, normalised(found.cosines, floor), 0.0)
    assert result.scores.tolist() == expected.tolist()


@given(passages(embedded=True), weights)
def test_where_all_is_embedded_nothing_is_assumed_and_the_weight_is_what_was_asked_for(
    found: Passages, weight: float
) -> None:
    result = fused(found, weight=weight)
    assert result.weight == weight
    assert result.near.tolist() == normalised(found.cosines, 0.3).tolist()


# Partial coverage


@given(passages(), floors, weights)
def test_where_nothing_is_embedded_the_order_is_bm25_s(found: Passages, floor: float, weight: float) -> None:
    bare = found._replace(cosines=np.full(len(found.bm25), NAN))
    result = fused(bare, floor=floor, weight=weight)
    assert result.matched.tolist() == (found.bm25 > 0).tolist()
    assert order(result.scores) == order(found.bm25)
    assert result.scores[result.matched].tolist() == (found.bm25[result.matched] / found.bound).tolist()


@given(passages(), floors)
def test_what_is_embedded_keeps_its_own_cosine(found: Passages, floor: float) -> None:
    known = embedded_of(found)
    assert fused(found, floor=floor).near[known].tolist() == normalised(found.cosines[known], floor).tolist()


@given(passages())
def test_what_is_assumed_only_grows_with_bm25_where_cosines_do(found: Passages) -> None:
    # Cosines that follow BM25: the line through them rises, and so does what it says of the rest.
    known = embedded_of(found)
    share = found.bm25 / found.bound if found.bound > 0 else found.bm25
    follows = found._replace(cosines=np.where(known, 0.3 + 0.7 * share, NAN))
    missing = ~known & (found.bm25 > 0)
    near = fused(follows).near[missing]
    ascending = np.argsort(found.bm25[missing], kind="stable")
    assert (np.diff(near[ascending]) >= -1e-12).all()


@given(passages(), weights)
def test_equal_passages_that_are_not_embedded_are_assumed_to_be_equal(found: Passages, weight: float) -> None:
    result = fused(found, weight=weight)
    missing = ~embedded_of(found)
    for score in set(found.bm25[missing].tolist()):
        assert len(set(result.scores[missing & (found.bm25 == score)].tolist())) == 1


def test_what_is_assumed_is_what_embedded_passages_of_that_bm25_have() -> None:
    bm25 = np.linspace(9.0, 1.0, 200)
    near = 0.1 + 0.5 * bm25 / 10
    cosines = 0.09 + 0.91 * near
    cosines[1::2] = NAN
    result = fuse(bm25, cosines, bound=10.0, floor=0.3, weight=0.4)
    # Equality, which is assumed before anything is seen, still draws a little.
    np.testing.assert_allclose(result.near[1::2], near[1::2], atol=0.03)


def test_the_cosine_counts_for_less_the_fewer_of_the_best_are_embedded() -> None:
    bm25 = np.linspace(9.0, 1.0, 50)
    used = []
    for count in (50, 40, 10, 0):
        cosines = np.where(np.arange(50) < count, 0.6, NAN)
        used.append(fuse(bm25, cosines, bound=10.0, floor=0.3, weight=0.5).weight)
    assert used == pytest.approx([0.5, 0.4, 0.1, 0.0])


@given(passages())
def test_what_is_assumed_is_from_0_to_1(found: Passages) -> None:
    assume(found.bound > 0)
    lexical = found.bm25 / found.bound
    near = np.nan_to_num(normalised(found.cosines, 0.3))
    missing = ~embedded_of(found) & (found.bm25 > 0)
    assumed = imputed(lexical, near, missing, best(lexical, found.bm25 > 0, POOL))
    assert assumed.shape == (missing.sum(),)
    assert ((assumed >= 0) & (assumed <= 1)).all()


# The best


def slow_best(values: Floats, matched: NDArray[np.bool_], depth: int) -> list[int]:
    """Sort everything, by score and then by place, and cut behind the last that ties."""
    found = sorted(np.flatnonzero(matched).tolist(), key=lambda place: (-values[place], place))
    if len(found) <= depth:
        return found
    least = values[found[depth - 1]]
    return [place for place in found if values[place] >= least]


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5]) | st.floats(0, 1), st.booleans()), max_size=60),
    st.integers(1, 70),
)
def test_the_best_are_those_of_a_slow_sort_with_all_that_tie_with_the_last(
    rows: list[tuple[float, bool]], depth: int
) -> None:
    values = np.array([score for score, _ in rows], np.float64)
    matched = np.array([match for _, match in rows], np.bool_)
    assert best(values, matched, depth).tolist() == slow_best(values, matched, depth)


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3]), max_size=40), st.integers(1, 20), st.integers(0, 20))
def test_the_best_few_begin_the_best_many(values: list[float], depth: int, more: int) -> None:
    everything = np.ones(len(values), np.bool_)
    few = best(np.array(values), everything, depth).tolist()
    assert best(np.array(values), everything, depth + more).tolist()[: len(few)] == few


def test_all_equal_come_in_their_order() -> None:
    assert best(np.full(5, 0.5), np.ones(5, np.bool_), 2).tolist() == [0, 1, 2, 3, 4]
