"""Questions of 10 to 20 words over 100,000 chunks, and the same with filters."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import texts
from benchmarks.report import Goal, Report, ratio_goals
from benchmarks.speed.contenders import SETUP, engines
from benchmarks.timing import Taken, measure, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.engines import Engine
    from benchmarks.options import Options

BLOCKS = 4
SHARES = (0.01, 0.1, 0.5)
TOP = 10


def run(options: Options) -> Report:
    """Ask each engine a block of questions, then the next engine; every question is new to all."""
    chunks = texts.chunks(options.size(100_000, 3_000))
    asked = texts.questions(chunks, options.size(200, 20))
    with TemporaryDirectory() as folder:
        makers = engines(options, Path(folder))
        makers.pop("tantivy 1 thread", None)  # it searches with one thread in any case
        built = {name: make() for name, make in makers.items()}
        for engine in built.values():
            engine.build(chunks)
        ways: dict[str, Callable[[str], object]] = {
            name: partial(_search, engine) for name, engine in built.items()
        }
        times = _ask(ways, asked)
        figures = summary(times)
        goals = ratio_goals(figures, "p50 of a question", {"fts5": 50.0, "tantivy": 1.0})
        if "firstlight" in built:
            filtered = _filtered(built["firstlight"], asked, len(chunks))
            figures |= filtered
            goals += _filter_goals(filtered)
        for engine in built.values():
            engine.close()
    setup = {"chunks": len(chunks), "questions": len(asked), "top": TOP, "example": asked[0], **SETUP}
    return Report("speed.questions", setup, figures, goals)


def _search(engine: Engine, question: str) -> list[int]:
    return engine.search(question, TOP)


def _filtered(engine: Engine, asked: Sequence[str], size: int) -> dict[str, dict[str, float]]:
    """Ask with masks that let a share of the chunks pass, beside no mask, on questions asked before."""
    from benchmarks.engines.ours import Firstlight

    assert isinstance(engine, Firstlight)
    ways: dict[str, Callable[[str], object]] = {"firstlight, again": partial(_search, engine)}
    random = np.random.default_rng(5)
    for share in SHARES:
        masks = engine.masks(random.random(size) < share)
        ways[f"firstlight, filter {share:.0%}"] = partial(_search_masked, engine, masks)
    return summary(_ask(ways, asked))


def _search_masked(engine: object, masks: object, question: str) -> object:
    return engine.search(question, TOP, masks)  # type: ignore[attr-defined]


def _ask(ways: dict[str, Callable[[str], object]], asked: Sequence[str]) -> dict[str, list[Taken]]:
    times: dict[str, list[Taken]] = {name: [] for name in ways}
    for way in ways.values():
        way("warm up the code")
    names = list(ways)
    for number in range(BLOCKS):
        for name in names if number % 2 == 0 else reversed(names):
            for question in asked[number::BLOCKS]:
                times[name].append(measure(partial(ways[name], question), collect=False))
    return times


def _filter_goals(filtered: dict[str, dict[str, float]]) -> list[Goal]:
    plain = filtered["firstlight, again"]["median_s"]
    return [
        Goal(f"p50 {name}: times the unfiltered", figures["median_s"] / plain, 1.2)
        for name, figures in filtered.items()
        if "filter" in name
    ]
