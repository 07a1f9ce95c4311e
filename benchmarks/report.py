"""What a benchmark hands back: figures, goals, and where they are written."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from benchmarks import machine, places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Goal:
    """Something to reach: `measured` should be at most, or with `at_least` at least, `bound`."""

    what: str
    measured: float
    bound: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    def line(self) -> str:
        sign = ">=" if self.at_least else "<="
        return f"{'ok  ' if self.met else 'MISS'} {self.what}: {self.measured:.4g} ({sign} {self.bound:.4g})"


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one benchmark; `setup` says what was compared how, `skipped` what was not and why."""

    name: str
    setup: Mapping[str, Any]
    figures: Mapping[str, Any]
    goals: Sequence[Goal] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)


def write(report: Report, *, quick: bool) -> Path:
    """Write a report as JSON: into the results, or beside them when it comes from a quick run."""
    folder = places.scratch("quick") if quick else places.RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{report.name}.json"
    content = {
        "benchmark": report.name,
        "measured": datetime.now(tz=UTC).date().isoformat(),
        "machine": machine.describe(),
        "setup": report.setup,
        "figures": report.figures,
        "goals": [{**asdict(goal), "met": goal.met} for goal in report.goals],
        "skipped": report.skipped,
    }
    target.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return target


def show(report: Report) -> None:
    """Print figures and goals for a person."""
    print(f"== {report.name}")
    for who, figures in report.figures.items():
        print(f"{who:24}", "  ".join(f"{what} {value:g}" for what, value in _flat(figures).items()))
    for goal in report.goals:
        print(goal.line())
    for what, why in report.skipped.items():
        print(f"skipped {what}: {why}")


def ratio_goals(
    figures: Mapping[str, Mapping[str, float]],
    what: str,
    least: Mapping[str, float],
    *,
    ours: str = "firstlight",
) -> list[Goal]:
    """Return goals of the kind "at least so many times faster than each peer", by medians."""
    if ours not in figures:
        return []
    goals = []
    for peer, bound in least.items():
        if peer in figures:
            ratio = figures[peer]["median_s"] / figures[ours]["median_s"]
            goals.append(Goal(f"{what}: times faster than {peer}", ratio, bound, at_least=True))
    return goals


def _flat(figures: Mapping[str, Any]) -> dict[str, float]:
    """Return figures by their names, `outer.inner` where they are nested."""
    flat: dict[str, float] = {}
    for name, value in figures.items():
        inner = {f"{name}.{key}": number for key, number in value.items()} if isinstance(value, dict) else {}
        flat |= inner or {name: value}
    return flat
