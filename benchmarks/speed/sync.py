"""A sync that finds nothing changed among 10,000 files, inside the process, beside `find -printf`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks import texts
from benchmarks.report import Goal, Report
from benchmarks.speed import commands
from benchmarks.timing import interleaved, summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.options import Options

BOUND = 4.0


def run(options: Options) -> Report:
    """Sync once, then sync and find in turns."""
    size = options.size(10_000, 500)
    folder = texts.folder(size)
    listing = [str(folder), "-type", "f", "-printf", "%s %T@\n"]
    ways: dict[str, Callable[[], object]] = {"find": partial(commands.find, listing)}
    rounds = options.size(25, 3)
    if not options.wants("firstlight"):
        return Report("speed.sync", {"files": size}, summary(interleaved(ways, rounds=rounds)))
    from firstlight import Corpus

    with TemporaryDirectory() as state, Corpus.open(folder, state=Path(state)) as corpus:
        corpus.sync()
        ways["firstlight"] = corpus.sync
        figures = summary(interleaved(ways, rounds=rounds))
    ratio = figures["firstlight"]["median_s"] / figures["find"]["median_s"]
    goals = [Goal("a sync without changes: times find", ratio, BOUND)]
    setup = {"files": size, "find": "find DIR -type f -printf '%s %T@\\n'", "firstlight": "Corpus.sync()"}
    return Report("speed.sync", setup, figures, goals)
