"""A search in a folder that is indexed already, as a whole command, its look for changes included."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks import places
from benchmarks.report import Report, ratio_goals
from benchmarks.speed import commands
from benchmarks.timing import interleaved, summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.options import Options


def run(options: Options) -> Report:
    """Index once, then search in turns."""
    folder = places.data() / "md" / "eips"
    with TemporaryDirectory() as state:
        ways = _ways(options, folder, Path(state))
        figures = summary(interleaved(ways, rounds=options.size(25, 3)))
    goals = ratio_goals(figures, "warm search", {"qmd": 1.0})
    skipped = {} if "qmd" in figures or not options.wants("qmd") else {"qmd": commands.NO_QMD}
    setup = {
        "folder": "md/eips of the data pack",
        "firstlight": "firstlight search DIR QUESTION --mode bm25",
        "qmd": f"qmd search QUESTION (it does not look for changes); {commands.qmd_version()}",
        "question": commands.QUESTION,
    }
    return Report("speed.warm", setup, figures, goals, skipped)


def _ways(options: Options, folder: Path, state: Path) -> dict[str, Callable[[], object]]:
    ways: dict[str, Callable[[], object]] = {}
    peer = commands.qmd(state / "qmd")
    if options.wants("qmd") and peer:
        peer("collection", "add", folder, "--name", "documents")
        ways["qmd"] = partial(peer, "search", commands.QUESTION)
    if options.wants("firstlight"):
        ours = commands.firstlight(state / "firstlight")
        ours("search", folder, commands.QUESTION, "--mode", "bm25")
        ways["firstlight"] = partial(ours, "search", folder, commands.QUESTION, "--mode", "bm25")
    return ways
