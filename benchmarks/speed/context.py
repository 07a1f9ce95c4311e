"""The documents that an agent carries: making a layer of them, the first search, and those after it."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks import places, texts
from benchmarks.report import Goal, Report
from benchmarks.timing import Taken, interleaved, measure, summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.options import Options
    from firstlight.context import ContextLayer

DOCUMENTS = 1000
# Goals in seconds.
MADE_S, FIRST_S, LATER_S = 0.01, 0.15, 0.002
FROM_TEXTS, FROM_FILES, READING = "of texts", "of files", "reading alone"
FIRST, FRESH, LATER, PHRASE = "first search", "first search, new process", "later search", "later, a phrase"
_NEW_PROCESS = """
import sys, time
from firstlight.context import ContextLayer
layer = ContextLayer.from_files([sys.argv[1]])
begin = time.perf_counter()
layer.search(sys.argv[2])
print(time.perf_counter() - begin)
"""


def run(options: Options) -> Report:
    """Make layers of many small documents, and search one of a real book; the first round only warms up."""
    rounds, questions = options.size(15, 2), options.size(200, 20)
    book = places.data() / "md" / "rust-book" / "src"
    pages = [path.read_text(encoding="utf-8") for path in sorted(book.rglob("*.md"))]
    times = _made(pages, rounds) | _first(book, pages, rounds) | _later(book, pages, questions)
    figures: dict[str, Any] = summary(times)
    beyond = max(0.0, figures[FROM_FILES]["median_s"] - figures[READING]["median_s"])
    goals = [
        Goal(f"making a layer of {DOCUMENTS:,} texts, s", figures[FROM_TEXTS]["median_s"], MADE_S),
        Goal(f"making a layer of {DOCUMENTS:,} files, beyond reading, s", beyond, MADE_S),
        Goal("first search, s", figures[FIRST]["median_s"], FIRST_S),
        Goal("later search, s", figures[LATER]["median_s"], LATER_S),
    ]
    setup = {
        "documents": DOCUMENTS,
        "pages of the book": len(pages),
        "megabytes of the book": round(sum(len(page.encode()) for page in pages) / 1e6, 2),
        READING: "walking the folder, reading, hashing and decoding its files",
        FIRST: "cutting and indexing the book included; modules are imported",
        FRESH: "modules are imported by it",
        LATER: "another question each time",
    }
    return Report("speed.context", setup, figures, goals)


def _made(pages: list[str], rounds: int) -> dict[str, list[Taken]]:
    from firstlight.context import ContextLayer

    many = (pages * (DOCUMENTS // len(pages) + 1))[:DOCUMENTS]
    with TemporaryDirectory() as folder:
        for number, page in enumerate(many):
            Path(folder, f"{number:04}.md").write_text(page, encoding="utf-8")
        ways: dict[str, Callable[[], object]] = {
            FROM_TEXTS: partial(ContextLayer, many),
            FROM_FILES: partial(ContextLayer.from_files, [folder]),
            READING: partial(_read, folder),
        }
        for way in ways.values():
            way()
        return interleaved(ways, rounds=rounds)


def _read(folder: str) -> list[str]:
    from firstlight.text.files import walk
    from firstlight.text.read import decode, read_file

    return [decode(read_file(folder, entry.path).data) for entry in walk(folder).files]


def _first(book: Path, pages: list[str], rounds: int) -> dict[str, list[Taken]]:
    asked = texts.questions(pages, rounds + 1, seed=1)
    times: dict[str, list[Taken]] = {FIRST: [], FRESH: []}
    for number, question in enumerate(asked):
        taken = measure(partial(_layer(book).search, question))
        if number:
            times[FIRST].append(taken)
            times[FRESH].append(_in_new_process(book, question))
    return times


def _in_new_process(book: Path, question: str) -> Taken:
    command = [sys.executable, "-c", _NEW_PROCESS, str(book), question]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = float(done.stdout)
    return Taken(seconds, seconds)


def _later(book: Path, pages: list[str], questions: int) -> dict[str, list[Taken]]:
    layer = _layer(book)
    layer.prewarm()
    asked = texts.questions(pages, questions, seed=2)
    phrases = ['"' + " ".join(question.split()[:2]) + '"' for question in asked]
    return {
        name: [measure(partial(layer.search, question), collect=False) for question in some]
        for name, some in ((LATER, asked), (PHRASE, phrases))
    }


def _layer(book: Path) -> ContextLayer:
    from firstlight.context import ContextLayer

    return ContextLayer.from_files([book])
