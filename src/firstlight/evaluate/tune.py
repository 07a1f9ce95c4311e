"""Which share of the cosine is best in a hybrid score, by cross-validation."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from firstlight.errors import ConfigError
from firstlight.evaluate.metrics import mean, measure
from firstlight.evaluate.report import Fold, Tuning
from firstlight.evaluate.run import ask
from firstlight.evaluate.significance import compare
from firstlight.rank.quality import ranked_documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from firstlight.evaluate.report import Report
    from firstlight.evaluate.types import Searchable, Tell, TestSet, Values

# Finer steps than a twentieth change fewer rankings than there are questions.
GRID = tuple(step / 20 for step in range(21))
FOLDS = 5
# With fewer, one question moves the mean by more than weights do.
ENOUGH = 20


def tune_weight(
    corpus: Searchable,
    test_set: TestSet,
    report: Report,
    *,
    present_weight: float | None = None,
    progress: Tell | None = None,
) -> Tuning:
    """Find the weight with the best nDCG@10.

    What is found is judged by cross-validation: each fifth of the questions is scored with the weight that is
    best on the other four, so that no question has a say in its own weight.

    Args:
        corpus: What is asked.
        test_set: The questions.
        report: What `evaluate` found for them, hybrid among the modes.
        present_weight: The weight in force, where it is known.
        progress: Called with "tune", how many questions are answered, and how many there are.

    Raises:
        ConfigError: Hybrid was not evaluated, or there are too few questions to divide.
    """
    if "hybrid" not in report.by_question:
        reasons = [missing.reason for missing in report.not_evaluated if missing.mode == "hybrid"]
        raise ConfigError(f"there is no weight to tune: {(*reasons, 'hybrid is not among the modes')[0]}")
    if len(test_set.questions) < FOLDS:
        raise ConfigError(
            f"tuning takes at least {FOLDS} questions with judgements, better {ENOUGH} and more"
        )
    scores = {weight: _scores(corpus, test_set, weight, place, progress) for place, weight in enumerate(GRID)}
    folds, validated = _cross_validated(scores)
    curve = {weight: mean(values) for weight, values in scores.items()}
    chosen = best_weight(curve)
    present = report.by_question["hybrid"]
    comparisons = [compare("tuned", validated, "the weight in force", present)]
    if "bm25" in report.by_question:
        comparisons.append(compare("tuned", validated, "bm25", report.by_question["bm25"]))
    return Tuning(
        weight=chosen,
        ndcg=curve[chosen],
        cross_validated=mean(validated),
        present=mean(present),
        present_weight=present_weight,
        folds=folds,
        curve=curve,
        comparisons=tuple(comparisons),
        warning=_warning(len(validated)),
    )


def split(questions: Iterable[str], folds: int = FOLDS) -> list[list[str]]:
    """Divide questions by the hashes of their ids: the same for the same ids, in whatever order they come.

    Example:
        >>> [len(fold) for fold in split(map(str, range(12)))]
        [3, 3, 2, 2, 2]
    """
    dealt = sorted(questions, key=lambda name: (hashlib.sha256(name.encode()).digest(), name))
    return [dealt[first::folds] for first in range(folds)]


def best_weight(curve: Mapping[float, float]) -> float:
    """Return the best weight; of several equally good ones the middle, farthest from where it gets worse.

    Example:
        >>> best_weight({0.0: 0.5, 0.25: 0.6, 0.5: 0.6, 0.75: 0.6, 1.0: 0.4})
        0.5
    """
    most = max(curve.values())
    equal = [weight for weight, value in sorted(curve.items()) if np.isclose(value, most, rtol=0, atol=1e-9)]
    return equal[(len(equal) - 1) // 2]


def _cross_validated(scores: Mapping[float, Values]) -> tuple[tuple[Fold, ...], dict[str, float]]:
    questions = next(iter(scores.values())).keys()
    folds = []
    validated: dict[str, float] = {}
    for held_out in split(questions):
        others = questions - set(held_out)
        weight = best_weight({weight: _mean(values, others) for weight, values in scores.items()})
        validated |= {name: scores[weight][name] for name in held_out}
        folds.append(Fold(len(held_out), weight, _mean(scores[weight], held_out)))
    return tuple(folds), validated


def _mean(values: Values, questions: Iterable[str]) -> float:
    return mean({name: values[name] for name in sorted(questions)})


def _scores(
    corpus: Searchable, test_set: TestSet, weight: float, place: int, progress: Tell | None
) -> dict[str, float]:
    rankings = {}
    count = len(test_set.questions)
    for done, (name, text) in enumerate(test_set.questions.items(), 1):
        rankings[name] = ranked_documents(ask(corpus, text, "hybrid", weight=weight))
        if progress is not None:
            progress("tune", place * count + done, len(GRID) * count)
    return measure(rankings, test_set.qrels).ndcg


def _warning(questions: int) -> str:
    if questions >= ENOUGH:
        return ""
    return f"{questions} questions are too few to trust a weight: judge at least {ENOUGH}"
