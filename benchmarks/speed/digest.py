"""A document of War and Peace's size and a question: from the text to the passages, at first and later."""

from __future__ import annotations

import tracemalloc
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks import places, texts
from benchmarks.report import Goal, Report
from benchmarks.speed.contenders import SETUP, engines
from benchmarks.timing import Taken, measure, summary
from benchmarks.vocabulary import Copies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.engines import Factory
    from benchmarks.options import Options

SIZE = 3_400_000  # characters
# Goals in seconds, and in times the text.
FIRST_S, SECOND_S, MEMORY = 0.15, 0.02, 10.0
FIRST, AT_ONCE, SECOND = "firstlight first", "firstlight second, at once", "firstlight second"
_PEERS = ("fts5", "tantivy", "bm25s")


class Silent:
    """A language model that has nothing to say: what is measured ends with what it is asked."""

    name = "silent"

    def stream(self, *_: object, **__: object) -> Iterator[str]:
        return iter(())


def run(options: Options) -> Report:
    """Give every round another document and other questions; the first round only warms up the code."""
    rounds, size = options.size(15, 2), options.size(SIZE, 400_000)
    copies = Copies(_books())
    with TemporaryDirectory() as folder:
        peers = {name: make for name, make in engines(options, Path(folder)).items() if name in _PEERS}
        times: dict[str, list[Taken]] = {name: [] for name in (FIRST, AT_ONCE, SECOND, *peers)}
        for number in range(rounds + 1):
            text = _document(copies, number, size)
            for name, taken in _round(text, number, peers).items():
                if number:
                    times[name].append(taken)
    figures: dict[str, Any] = summary(times)
    figures["memory, times the text"] = memory = _memory(text)
    goals = [
        Goal("first question, s", figures[FIRST]["median_s"], FIRST_S),
        Goal("second question, s", figures[SECOND]["median_s"], SECOND_S),
        Goal("memory, times the text", memory["peak"], MEMORY),
    ]
    from firstlight.text import split_pages

    setup = {
        "characters": size,
        "chunks": len(split_pages(text)),
        FIRST: "DigestEngine.run without an embedder: cutting, counting words, choosing, writing the prompt",
        AT_ONCE: "another question in the same moment: the words are counted again",
        SECOND: "another question after wait_background: there is an index now",
        **{name: f"{SETUP[name]}; the chunks are given, and cutting them is not counted" for name in peers},
    }
    return Report("speed.digest", setup, figures, goals)


def _round(text: str, number: int, peers: dict[str, Factory]) -> dict[str, Taken]:
    from firstlight.digest import DigestEngine
    from firstlight.text import split_pages

    pieces = [chunk.text for chunk in split_pages(text)]
    asked = texts.questions(pieces, 3, seed=number)
    taken: dict[str, Taken] = {}
    with DigestEngine(llm=Silent(), embedder=None, cache=None) as engine:
        for name, question in zip((FIRST, AT_ONCE, SECOND), asked, strict=True):
            if name == SECOND:
                engine.wait_background()
            taken[name] = measure(partial(engine.run, text, question), collect=name != AT_ONCE)
    for name, make in peers.items():
        taken[name] = measure(partial(_index_and_ask, make, pieces, asked[0]))
    return taken


def _index_and_ask(make: Factory, pieces: list[str], question: str) -> None:
    peer = make()
    peer.build(pieces)
    peer.search(question, 10)
    peer.close()


def _memory(text: str) -> dict[str, float]:
    """Return the most memory that three questions take beside the text, and what is kept after them."""
    from firstlight.digest import DigestEngine

    tracemalloc.start()
    with DigestEngine(llm=Silent(), embedder=None, cache=None) as engine:
        for question in ("where is the whale?", "who is captain?", "what is a lamp for?"):
            engine.run(text, question)
            engine.wait_background()
        kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = len(text.encode())
    return {"peak": round(peak / size, 2), "kept": round(kept / size, 2)}


def _books() -> Iterator[str]:
    root = places.data()
    files = sorted((root / "longqa/chroma_chunking_eval/files").iterdir())
    for path in (root / "long" / "moby_dick.txt", *files, *sorted((root / "md/rust-book").rglob("*.md"))):
        yield path.read_text(encoding="utf-8", errors="replace").replace("\0", "")


def _document(copies: Copies, number: int, size: int) -> str:
    text = "\n\n".join(copies.text(number, place) for place in range(len(copies)))
    return (text * (size // len(text) + 1))[:size]
