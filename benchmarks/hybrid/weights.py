"""Which weight is best, judged on questions, or collections, that had no say in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.hybrid import ways
from benchmarks.hybrid.legs import MEAN
from firstlight.embed.local import FLOOR
from firstlight.evaluate.tune import GRID, best_weight, split

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.hybrid.legs import Floats, Legs


class Curve(NamedTuple):
    """The nDCG@10 of each question of a collection at each weight of the grid: float64[weights, q]."""

    questions: tuple[str, ...]
    values: Floats

    def means(self) -> dict[float, float]:
        return dict(zip(GRID, self.values.mean(axis=1).tolist(), strict=True))

    def at(self, weight: float) -> float:
        return float(self.values[GRID.index(weight)].mean())


def curve(legs: Legs, *, floor: float = FLOOR, windows: str = MEAN) -> Curve:
    """Rank every question at every weight."""
    values = [ways.by_both(legs, weight=weight, floor=floor, windows=windows) for weight in GRID]
    return Curve(legs.questions, np.stack(values))


def within(one: Curve) -> tuple[float, list[float]]:
    """Return the mean nDCG@10 with the weight, for each fold, that is best on the others; and the weights."""
    places = {question: place for place, question in enumerate(one.questions)}
    found, chosen = np.empty(len(places)), []
    for fold in split(one.questions):
        held_out = np.isin(np.arange(len(places)), [places[question] for question in fold])
        others = one.values[:, ~held_out].mean(axis=1).tolist()
        weight = best_weight(dict(zip(GRID, others, strict=True)))
        found[held_out] = one.values[GRID.index(weight), held_out]
        chosen.append(weight)
    return float(found.mean()), chosen


def elsewhere(curves: Mapping[str, Curve], name: str) -> float:
    """Return the weight that is best, on average, on all collections but this one."""
    return best_on_average([one for other, one in curves.items() if other != name])


def best_on_average(curves: Sequence[Curve]) -> float:
    """Return the weight with the best mean over collections, each counting the same."""
    means = np.mean([list(one.means().values()) for one in curves], axis=0).tolist()
    return best_weight(dict(zip(GRID, means, strict=True)))
