"""One question over 500 chunks of 1,200 tokens that nobody has seen: from plain texts to the best ten."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks import texts
from benchmarks.report import Report, ratio_goals
from benchmarks.speed.contenders import SETUP, engines
from benchmarks.timing import Taken, measure, summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.engines import Factory
    from benchmarks.options import Options

CHUNKS = 500
SIZE = 4_800  # characters: 1,200 tokens
TOP = 10


def run(options: Options) -> Report:
    """Give every round other texts and another question; the first round only warms up the code."""
    rounds = options.size(15, 3)
    everything = texts.chunks(CHUNKS * (rounds + 1), size=SIZE)
    with TemporaryDirectory() as folder:
        ways = _ways(engines(options, Path(folder)))
        times: dict[str, list[Taken]] = {name: [] for name in ways}
        for number in range(rounds + 1):
            unseen = everything[number * CHUNKS : (number + 1) * CHUNKS]
            question = texts.questions(unseen, 1, seed=number)[0]
            for name in list(ways) if number % 2 == 0 else reversed(list(ways)):
                taken = measure(partial(ways[name], unseen, question))
                if number:
                    times[name].append(taken)
    figures = summary(times)
    goals = ratio_goals(figures, "unseen", {"fts5": 1.5, "bm25s": 8.0})
    megabytes = sum(len(text.encode()) for text in everything[:CHUNKS]) / 1e6
    notes = {"firstlight": "lexical.score_texts: nothing is indexed"}
    setup = {"chunks": CHUNKS, "megabytes": round(megabytes, 2), **SETUP, **notes}
    return Report("speed.unseen", setup, figures, goals)


def _ways(makers: dict[str, Factory]) -> dict[str, Callable[[list[str], str], object]]:
    ways: dict[str, Callable[[list[str], str], object]] = {}
    for name, make in makers.items():
        if name == "firstlight":
            ways[name] = _score
        elif name != "fts5 file":
            ways[name] = partial(_index_and_ask, make)
    return ways


def _index_and_ask(make: Factory, given: list[str], question: str) -> list[int]:
    engine = make()
    engine.build(given)
    found = engine.search(question, TOP)
    engine.close()
    return found


def _score(given: list[str], question: str) -> list[int]:
    import numpy as np

    from firstlight import lexical

    scores = lexical.score_texts(lexical.parse_query(question), given)
    return [int(position) for position in np.argsort(-scores, kind="stable")[:TOP]]
