"""The vectors of a collection's units and questions: made as the product makes them, and kept.

`python -m benchmarks.hybrid.vectors [NAME ...]` makes them alone: the first time takes a while.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import places, testsets
from benchmarks.quality import units
from firstlight.corpus.languages import is_known, question_language
from firstlight.corpus.prepare import own_title
from firstlight.embed.cache import VectorCache
from firstlight.embed.embedding import embed_documents
from firstlight.embed.inputs import input_text
from firstlight.embed.local import LocalEmbedder
from firstlight.embed.question import QuestionEmbedder
from firstlight.lexical import detect_language

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

MOST_THREADS = 8
TELL_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Embedded:
    """A collection's vectors, all of them; the product would leave out what is not `known`.

    Attributes:
        windows: float32[w, d], the windows of all units, one unit after the other.
        firsts: int64[n], where each unit's windows begin.
        questions: float32[q, d].
        known: bool[n], which units are in a language that the model knows.
        known_questions: bool[q].
    """

    windows: NDArray[np.float32]
    firsts: NDArray[np.int64]
    questions: NDArray[np.float32]
    known: NDArray[np.bool_]
    known_questions: NDArray[np.bool_]


def units_of(name: str) -> units.Units:
    """Return what is searched of a collection: chunks of files, or whole documents."""
    return units.chunks(name) if testsets.load(name).files else units.documents(name)


@cache
def embedder() -> LocalEmbedder:
    return LocalEmbedder(threads=min(MOST_THREADS, len(os.sched_getaffinity(0))))


def open_cache() -> VectorCache:
    return VectorCache(places.scratch() / "vectors.db")


def embed(name: str) -> Embedded:
    """Embed a collection, or take what was embedded before from the cache."""
    indexed = units_of(name)
    asked = list(testsets.load(name).questions.values())
    languages = [detect_language(item.body) for item in indexed.items]
    spoken = sorted(set(languages), key=languages.count, reverse=True)
    model = embedder().languages
    with closing(open_cache()) as kept:
        parts = _documents(name, _inputs(indexed), kept)
        questions = embed_questions(asked, kept)
    return Embedded(
        np.concatenate(parts),
        np.cumsum([0, *map(len, parts[:-1])]),
        questions,
        np.array(
            [
                is_known(item.body, language, model)
                for item, language in zip(indexed.items, languages, strict=True)
            ]
        ),
        np.array([is_known(text, question_language(text, spoken), model) for text in asked]),
    )


def embed_questions(texts: Sequence[str], kept: VectorCache) -> NDArray[np.float32]:
    """Return float32[q, d], a vector for each question."""
    asker = QuestionEmbedder(embedder(), cache=kept)
    return np.stack([asker.embed(text) for text in texts])


def _inputs(indexed: units.Units) -> Iterator[tuple[int, str]]:
    for number, (item, owner) in enumerate(zip(indexed.items, indexed.owners, strict=True)):
        yield number, input_text(own_title(owner, item.title), item.headings, item.body)


def _documents(name: str, inputs: Iterator[tuple[int, str]], kept: VectorCache) -> list[NDArray[np.float32]]:
    made: dict[int, NDArray[np.float32]] = {}
    told = time.monotonic()
    for outcomes in embed_documents(embedder(), inputs, cache=kept):
        for outcome in outcomes:
            assert outcome.vectors is not None, outcome.reason
            made[outcome.key] = outcome.vectors
        if time.monotonic() - told > TELL_SECONDS:
            told = time.monotonic()
            print(f"{name}: {len(made)} texts embedded", file=sys.stderr, flush=True)
    return [made[number] for number in range(len(made))]


if __name__ == "__main__":
    for chosen in sys.argv[1:] or testsets.NAMES:
        result = embed(chosen)
        print(
            f"{chosen}: {len(result.firsts)} units, {len(result.windows)} windows, "
            f"{int(result.known.sum())} known, questions {int(result.known_questions.sum())} "
            f"of {len(result.questions)}",
            flush=True,
        )
