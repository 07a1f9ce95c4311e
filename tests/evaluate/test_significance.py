from __future__ import annotations

import itertools

import numpy as np
import pytest

from firstlight.evaluate.significance import compare


def values(numbers: list[float]) -> dict[str, float]:
    return {f"q{place}": number for place, number in enumerate(numbers)}


def test_few_questions_are_judged_by_every_change_of_signs() -> None:
    one, other = [0.9, 0.8, 0.7, 0.9, 0.4, 0.6, 0.8], [0.5, 0.6, 0.8, 0.4, 0.2, 0.1, 0.3]
    differences = np.array(one) - np.array(other)
    means = [
        abs(np.mean(differences * signs)) for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    share = np.mean(np.array(means) >= abs(differences.mean()) - 1e-12)
    found = compare("hybrid", values(one), "bm25", values(other))
    assert found.p == pytest.approx(share)
    assert (found.better, found.worse, found.questions) == (6, 1, 7)


def test_many_questions_give_the_same_p_each_time_and_about_that_of_a_t_test() -> None:
    from scipy.stats import ttest_rel

    random = np.random.default_rng(7)
    base = random.random(80)
    other = np.clip(base + random.normal(0.03, 0.15, 80), 0, 1)
    found = compare("hybrid", values(other.tolist()), "bm25", values(base.tolist()))
    again = compare("hybrid", values(other.tolist()), "bm25", values(base.tolist()))
    expected = ttest_rel(other, base)
    assert found == again
    assert found.p == pytest.approx(expected.pvalue, abs=0.02)
    interval = expected.confidence_interval()
    assert [found.low, found.high] == pytest.approx([interval.low, interval.high])


def test_the_better_one_is_named_from_either_side() -> None:
    low, high = values([0.1] * 12), values([0.5 + place / 100 for place in range(12)])
    up, down = compare("b", high, "a", low), compare("a", low, "b", high)
    assert up.verdict == "b is better than a by 0.455 (p < 0.001, 95 % interval 0.432 to 0.478)"
    assert down.verdict == "a is worse than b by 0.455 (p < 0.001, 95 % interval 0.432 to 0.478)"
    assert up.p == pytest.approx(down.p)


def test_what_cannot_be_told_is_said_so() -> None:
    found = compare("b", values([0.4, 0.9, 0.2]), "a", values([0.3, 0.5, 0.1]))
    assert found.verdict.startswith(
        "no difference between b and a can be told from 3 questions (+0.200, p = "
    )
    one = compare("b", {"q": 1.0}, "a", {"q": 0.0})
    assert (one.p, one.low, one.high) == (1.0, None, None)
    assert "from 1 question (" in one.verdict


def test_equal_rankings_are_equal() -> None:
    same = values([0.1, 0.7, 0.3])
    nearly = {name: value + 1e-12 for name, value in same.items()}
    found = compare("b", nearly, "a", same)
    assert (found.p, found.difference, found.better, found.worse) == (1.0, 0.0, 0, 0)
    assert found.verdict == "b and a score the same on every question"
    assert found.to_dict()["interval"] == [0.0, 0.0]
