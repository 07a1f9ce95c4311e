"""From nothing to the first answer, as whole commands without state; and how that grows with the folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks import places, texts
from benchmarks.report import Goal, Report, ratio_goals
from benchmarks.speed import commands
from benchmarks.timing import interleaved, summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.options import Options

TOLERANCE = 1.25  # of the time per file between the sizes: whole commands on a shared machine jitter


def run(options: Options) -> Report:
    """Time the EIPs beside qmd, then firstlight alone on larger folders."""
    rounds = options.size(7, 2)
    figures = summary(interleaved(_ways(options, places.data() / "md" / "eips"), rounds=rounds))
    goals = ratio_goals(figures, "first answer", {"qmd": 2.0})
    if options.wants("firstlight"):
        sizes = (1_000, 3_000, 10_000) if not options.quick else (500, 1_000)
        actions = {f"{size} files": partial(_ours, texts.folder(size)) for size in sizes}
        grown = summary(interleaved(actions, rounds=options.size(3, 1)))
        figures |= grown
        times = [grown[f"{size} files"]["median_s"] for size in sizes]
        growth = (times[-1] / times[0]) / (sizes[-1] / sizes[0])
        goals.append(
            Goal(f"time of {sizes[-1]} files by that of {sizes[0]}, by their number", growth, TOLERANCE)
        )
    skipped = {} if "qmd" in figures or not options.wants("qmd") else {"qmd": commands.NO_QMD}
    setup = {
        "folder": "md/eips of the data pack",
        "firstlight": "firstlight search DIR QUESTION",
        "qmd": f"qmd collection add DIR; qmd search QUESTION; {commands.qmd_version()}",
        "question": commands.QUESTION,
        "state": "none before every run",
    }
    return Report("speed.first_answer", setup, figures, goals, skipped)


def _ways(options: Options, folder: Path) -> dict[str, Callable[[], object]]:
    ways: dict[str, Callable[[], object]] = {}
    if options.wants("qmd") and commands.qmd(folder):
        ways["qmd"] = partial(_qmd, folder)
    if options.wants("firstlight"):
        ways["firstlight"] = partial(_ours, folder)
    return ways


def _ours(folder: Path) -> None:
    with TemporaryDirectory() as state:
        _check(commands.firstlight(Path(state))("search", folder, commands.QUESTION))


def _qmd(folder: Path) -> None:
    with TemporaryDirectory() as state:
        command = commands.qmd(Path(state))
        assert command
        command("collection", "add", folder, "--name", "documents")
        _check(command("search", commands.QUESTION))


def _check(output: str) -> None:
    """Take care that nobody is timed for giving up."""
    assert commands.QUESTION.split()[0] in output.casefold(), output
