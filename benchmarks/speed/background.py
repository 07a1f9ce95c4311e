"""Searching by words while thousands of chunks are being embedded, by another process or a thread of this."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks import places, testsets
from benchmarks.report import Goal, Report
from benchmarks.timing import measure, summary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.options import Options
    from benchmarks.timing import Taken
    from firstlight import Corpus

SEARCHES = 1500
MOST_SLOWER = 1.5


def run(options: Options) -> Report:
    """Ask the same questions at rest and during the embedding, in turns of rest and work."""
    folder = places.data() / "md"
    searches = options.size(SEARCHES, 50)
    times: dict[str, list[Taken]] = {}
    with TemporaryDirectory() as home:
        os.environ |= {
            "FIRSTLIGHT_STATE": f"{home}/state",
            "FIRSTLIGHT_CONFIG": f"{home}/config.toml",
            "FIRSTLIGHT_EMBEDDER": "local",
        }
        chunks = _indexed(folder)
        for _ in range(2):
            times.setdefault("at rest", []).extend(_asked(folder, searches))
            with _worker(folder):
                times.setdefault("beside a worker process", []).extend(_asked(folder, searches))
            times.setdefault("beside a worker thread", []).extend(_asked(folder, searches, thread=True))
    figures = summary(times)
    rest = figures["at rest"]["p95_s"]
    goals = [
        Goal(f"p95 of lexical search, {how}, times that at rest", figures[how]["p95_s"] / rest, MOST_SLOWER)
        for how in figures
        if how != "at rest"
    ]
    setup = {
        "folder": f"md of the data pack, {chunks} chunks, none of them embedded at first",
        "questions": "of the EIPs, mode bm25, 10 hits with their snippets",
        "worker process": "firstlight background run, as the command line starts it",
        "worker thread": "of the searching process itself, as in a program",
    }
    return Report("speed.background", setup, figures, goals)


def _indexed(folder: Path) -> int:
    from firstlight import Corpus

    with Corpus.open(folder, background=False) as corpus:
        corpus.sync()
        return corpus.status().chunks


def _asked(folder: Path, searches: int, *, thread: bool = False) -> list[Taken]:
    from firstlight import Corpus

    questions = list(testsets.load("md_knownitem_eips").questions.values())
    with Corpus.open(folder, background=thread) as corpus:
        if thread:
            corpus.sync()  # which starts the thread
        for question in questions[:100]:
            corpus.search(question, mode="bm25")
        taken = [_search(corpus, questions[number % len(questions)]) for number in range(searches)]
        if thread:
            assert corpus.status().worker is not None, "nothing was being embedded"
    return taken


def _search(corpus: Corpus, question: str) -> Taken:
    return measure(lambda: corpus.search(question, mode="bm25"), collect=False)


@contextmanager
def _worker(folder: Path) -> Iterator[None]:
    program = [sys.executable, "-m", "firstlight", "background", "run", str(folder)]
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _until_embedding(folder)
        yield
        assert process.poll() is None, "nothing was being embedded"
    finally:
        process.terminate()
        process.wait(10)


def _until_embedding(folder: Path) -> None:
    import time

    from firstlight import Corpus

    with Corpus.open(folder, background=False) as corpus:
        before = corpus.status().embedded
        for _ in range(300):
            if corpus.status().embedded > before:
                return
            time.sleep(0.1)
    raise SystemExit("the worker did not begin")
