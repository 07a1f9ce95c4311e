"""nDCG agrees with trec_eval's definition."""

from __future__ import annotations

from math import log2

import pytest
from benchmarks.metrics import mean_ndcg, ndcg


def test_a_perfect_ranking_has_1_and_an_empty_one_0() -> None:
    assert ndcg(["a", "b"], {"a": 1, "b": 1}) == 1.0
    assert ndcg([], {"a": 1}) == 0.0
    assert ndcg(["a"], {}) == 0.0


def test_gain_is_linear_and_the_discount_is_log2_of_rank_plus_1() -> None:
    # trec_eval -m ndcg_cut.10 on the same judgements: 0.7967
    dcg = 1 / log2(2) + 3 / log2(3)
    ideal = 3 / log2(2) + 1 / log2(3)
    assert ndcg(["b", "a"], {"a": 3, "b": 1}) == pytest.approx(dcg / ideal)
    assert ndcg(["b", "a"], {"a": 3, "b": 1}) == pytest.approx(0.7967, abs=1e-4)


def test_what_was_not_found_counts_in_the_ideal() -> None:
    assert ndcg(["a"], {"a": 1, "b": 1}) == pytest.approx(1 / (1 + 1 / log2(3)))


def test_nothing_below_the_depth_counts() -> None:
    assert ndcg(["x"] * 10 + ["a"], {"a": 1}) == 0.0
    assert ndcg([f"d{n}" for n in range(10)], {f"d{n}": 1 for n in range(20)}) == 1.0


def test_negative_judgements_gain_nothing() -> None:
    assert ndcg(["bad", "a"], {"bad": -2, "a": 1}) == pytest.approx(1 / log2(3))


def test_the_mean_counts_every_judged_question() -> None:
    assert mean_ndcg({"q1": ["a"]}, {"q1": {"a": 1}, "q2": {"b": 1}}) == 0.5
