"""Repeated, interleaved timing: what disturbs the machine disturbs every contender alike."""

from __future__ import annotations

import gc
import resource
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Taken(NamedTuple):
    """The seconds that a call took: on the clock, and of processors, its child processes included."""

    clock: float
    processor: float


def measure(action: Callable[[], object], *, collect: bool = True) -> Taken:
    """Time one call, the garbage of others collected before it."""
    if collect:
        gc.collect()
    processor, clock = _processor(), perf_counter()
    action()
    return Taken(perf_counter() - clock, _processor() - processor)


def interleaved(contenders: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, list[Taken]]:
    """Time every contender once in each round; every other round goes through them backwards."""
    times: dict[str, list[Taken]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(rounds):
        for name in names if number % 2 == 0 else reversed(names):
            times[name].append(measure(contenders[name]))
    return times


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def summary(times: Mapping[str, Sequence[Taken]]) -> dict[str, dict[str, float]]:
    """Return each contender's median, least, 95th percentile and processor time, in seconds."""
    return {name: _figures(taken) for name, taken in times.items() if taken}


def _figures(taken: Sequence[Taken]) -> dict[str, float]:
    clock = [times.clock for times in taken]
    return {
        "median_s": round(median(clock), 6),
        "least_s": round(min(clock), 6),
        "p95_s": round(percentile(clock, 0.95), 6),
        "processor_median_s": round(median(times.processor for times in taken), 6),
        "runs": len(taken),
    }


def _processor() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime
