"""Adding 100 chunks to 100,000 and finding one of them."""

from __future__ import annotations

import gc
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks import texts
from benchmarks.report import Goal, Report
from benchmarks.timing import interleaved, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.options import Options

ADDED = 100
BOUND = 0.05  # seconds
MARK = "zyxwvunique"  # followed by a number: a word that only the wanted chunk has
SETUP = {
    "firstlight": "a new segment beside those in memory, a new snapshot, one question",
    "firstlight corpus": "a new file of 100 chunks beside 1,000 such: sync, one question; no embedder",
    "tantivy": "a new writer (what a sync would open), commit, reload, one question; index in memory",
}


def run(options: Options) -> Report:
    """Add other chunks in every round."""
    chunks = texts.chunks(options.size(100_000, 3_000))
    rounds = options.size(15, 3)
    with TemporaryDirectory() as folder:
        ways: dict[str, Callable[[], object]] = {}
        if options.wants("tantivy"):
            ways["tantivy"] = _tantivy(chunks).__next__
        if options.wants("firstlight"):
            ways["firstlight"] = _ours(chunks).__next__
            ways["firstlight corpus"] = _corpus(chunks, Path(folder)).__next__
        for way in ways.values():
            way()  # builds, and warms up
        gc.freeze()  # the collector is not to look through every contender's index during each one's turn
        figures = summary(interleaved(ways, rounds=rounds))
        gc.unfreeze()
    goals = [
        Goal(f"{name}: seconds to add {ADDED} chunks and find one", values["median_s"], BOUND)
        for name, values in figures.items()
        if name.startswith("firstlight")
    ]
    return Report("speed.adding", {"chunks": len(chunks), "added": ADDED, **SETUP}, figures, goals)


def _ours(chunks: list[str]) -> Iterator[None]:
    from benchmarks.engines.ours import Firstlight
    from firstlight.lexical.types import Indexable

    engine = Firstlight()
    engine.build(chunks)
    for number in count():
        first = len(chunks) + number * ADDED
        engine.add([Indexable(text) for text in _new(chunks, number)], first)
        assert engine.search(_question(number), 10)[0] == first
        yield


def _tantivy(chunks: list[str]) -> Iterator[None]:
    from benchmarks.engines.tantivy_index import Tantivy

    engine = Tantivy()
    engine.build(chunks)
    for number in count():
        first = len(chunks) + number * ADDED
        engine.add(enumerate(_new(chunks, number), start=first))
        assert engine.search(_question(number), 10)[0] == first
        yield


def _corpus(chunks: list[str], folder: Path) -> Iterator[None]:
    from firstlight import Corpus

    content = folder / "content"
    content.mkdir()
    for at in range(0, len(chunks), ADDED):
        _write(content / f"{at // ADDED:05}.md", chunks[at : at + ADDED])
    with Corpus.open(content, state=folder / "state", embedder="none") as corpus:
        corpus.sync()
        for number in count():
            _write(content / f"new-{number:05}.md", _new(chunks, number))
            corpus.sync()
            assert corpus.search(_question(number))[0].path == f"new-{number:05}.md"
            yield


def _write(path: Path, parts: list[str]) -> None:
    path.write_text("\n\n".join(parts), encoding="utf-8")


def _new(chunks: list[str], number: int) -> list[str]:
    """Return 100 chunks that nobody has: each with words of its own, the first with the mark."""
    start = number * ADDED % (len(chunks) - ADDED)
    some = chunks[start : start + ADDED]
    return [
        f"{_question(number)} {some[0]}",
        *(f"added{number}x{at} {text}" for at, text in enumerate(some[1:])),
    ]


def _question(number: int) -> str:
    return f"{MARK}{number}"
