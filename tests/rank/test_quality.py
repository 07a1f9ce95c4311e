from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.evaluate.metrics import measure
from firstlight.rank.quality import agreement, ndcg

PATHS = [f"{letter}.md" for letter in "abcdefghijklmnop"]
rankings = st.lists(st.sampled_from(PATHS), unique=True)


@settings(max_examples=60)
@given(rankings, st.dictionaries(st.sampled_from(PATHS), st.integers(-2, 3), min_size=1))
def test_ndcg_is_what_the_library_says_that_evaluations_use(
    ranking: list[str], grades: dict[str, int]
) -> None:
    assert ndcg(ranking, grades) == pytest.approx(measure({"q": ranking}, {"q": grades}).ndcg["q"])


@given(rankings, rankings)
def test_agreement_is_mutual_and_whole_where_the_same_documents_are_found(
    first: list[str], second: list[str]
) -> None:
    assert agreement(first, second) == agreement(second, first)
    assert 0 <= agreement(first, second) <= 1
    assert (agreement(first, second) == 1) == (set(first) == set(second))
