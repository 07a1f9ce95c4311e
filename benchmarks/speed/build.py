"""Indexing 100,000 chunks of real text, in one process."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks import texts
from benchmarks.report import Report, ratio_goals
from benchmarks.speed.contenders import SETUP, engines
from benchmarks.timing import interleaved, summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.engines import Factory
    from benchmarks.options import Options


def run(options: Options) -> Report:
    """Build every index anew in each round."""
    chunks = texts.chunks(options.size(100_000, 3_000))
    with TemporaryDirectory() as folder:
        makers = engines(options, Path(folder))
        actions = {name: partial(_build, make, chunks) for name, make in makers.items()}
        figures = summary(interleaved(actions, rounds=options.size(3, 2)))
    goals = ratio_goals(figures, "build", {"fts5": 1.0, "fts5 file": 1.0, "tantivy": 1.0, "bm25s": 2.5})
    size = sum(len(text.encode()) for text in chunks)
    setup = {"chunks": len(chunks), "megabytes": round(size / 1e6, 1), **SETUP}
    return Report("speed.build", setup, figures, goals)


def _build(make: Factory, chunks: Sequence[str]) -> None:
    engine = make()
    engine.build(chunks)
    engine.close()
