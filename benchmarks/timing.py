"""Repeated, interleaved timing: what disturbs the machine disturbs every contender alike."""

from __future__ import annotations

import gc
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def seconds(action: Callable[[], object]) -> float:
    """Return how long one call takes, with garbage of others collected before it."""
    gc.collect()
    start = perf_counter()
    action()
    return perf_counter() - start


def interleaved(contenders: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, list[float]]:
    """Time every contender once in each round; every other round goes through them backwards."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(rounds):
        for name in names if number % 2 == 0 else reversed(names):
            times[name].append(seconds(contenders[name]))
    return times


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def summary(times: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Return median, least and number of each contender's times, in seconds."""
    return {
        name: {"median_s": round(median(values), 6), "least_s": round(min(values), 6), "runs": len(values)}
        for name, values in times.items()
        if values
    }
