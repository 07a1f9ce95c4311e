from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.corpus.reports import Status
from firstlight.errors import ConfigError
from firstlight.evaluate import TestSet, evaluate, tune_weight
from firstlight.evaluate.tune import FOLDS, GRID, best_weight, split

from .conftest import Answering

if TYPE_CHECKING:
    from collections.abc import Sequence


def best_about_a_third(question: str, mode: str, weight: float | None) -> Sequence[str]:
    """Put the right document the lower, the farther the weight is from 0.35."""
    off = {"bm25": 0.35, "vector": 0.65}.get(mode, abs((0.6 if weight is None else weight) - 0.35))
    others = [f"other{number}.md" for number in range(round(off * 20))]
    return (*others, f"{question.removeprefix('about ')}.md")


def test_the_best_weight_is_found_and_judged_by_other_questions(forty: TestSet) -> None:
    corpus = Answering(best_about_a_third)
    report = evaluate(corpus, forty)
    told: list[tuple[str, int, int]] = []
    tuning = tune_weight(corpus, forty, report, present_weight=0.6, progress=lambda *step: told.append(step))
    assert tuning.weight == 0.35
    assert tuning.ndcg == tuning.cross_validated == 1.0
    assert tuning.present == report.modes[1].ndcg < 1
    assert [fold.questions for fold in tuning.folds] == [8] * 5
    assert {fold.weight for fold in tuning.folds} == {0.35}
    assert list(tuning.curve) == list(GRID)
    assert tuning.warning == ""
    assert [each.base for each in tuning.comparisons] == ["the weight in force", "bm25"]
    assert tuning.comparisons[0].verdict.startswith("tuned is better than the weight in force by")
    assert told[-1] == ("tune", 840, 840)
    shape = replace(report, tuning=tuning).to_dict()
    assert json.loads(json.dumps(shape, allow_nan=False)) == shape
    assert shape["tuning"]["curve"][7] == {"weight": 0.35, "ndcg@10": 1.0}


def test_too_few_questions_are_told_or_refused(forty: TestSet) -> None:
    corpus = Answering(best_about_a_third)
    few = few_of(forty, 19)
    assert "19 questions are too few" in tune_weight(corpus, few, evaluate(corpus, few)).warning
    with pytest.raises(ConfigError, match="at least 5 questions"):
        tune_weight(corpus, few_of(forty, 4), evaluate(corpus, few_of(forty, 4)))


def few_of(test_set: TestSet, count: int) -> TestSet:
    names = list(test_set.questions)[:count]
    return TestSet(
        {name: test_set.questions[name] for name in names}, {name: test_set.qrels[name] for name in names}
    )


def test_without_hybrid_there_is_nothing_to_tune(forty: TestSet) -> None:
    corpus = Answering(best_about_a_third, status_now=Status(chunks=4))
    with pytest.raises(ConfigError, match="no weight to tune: there is no embedder"):
        tune_weight(corpus, forty, evaluate(corpus, forty))
    report = evaluate(Answering(best_about_a_third), forty, modes=["bm25"])
    with pytest.raises(ConfigError, match="hybrid is not among the modes"):
        tune_weight(corpus, forty, report)


@given(st.sets(st.text(max_size=8), min_size=FOLDS), st.randoms())
def test_folds_are_even_complete_and_the_same_for_any_order(names: set[str], random: object) -> None:
    folds = split(names)
    shuffled = sorted(names, reverse=True)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert folds == split(shuffled)
    assert sorted(name for fold in folds for name in fold) == sorted(names)
    assert max(map(len, folds)) - min(map(len, folds)) <= 1


def test_of_equally_good_weights_the_middle_one_is_taken() -> None:
    assert best_weight({0.1: 0.7, 0.2: 0.7 + 1e-13, 0.3: 0.7, 0.4: 0.6}) == 0.2
    assert best_weight(dict.fromkeys(GRID, 0.5)) == 0.5
