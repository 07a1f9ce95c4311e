"""The vectors of the documents' chunks and of the questions: made as a digest makes them, and kept."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.hybrid.vectors import TELL_SECONDS, embed_questions, embedder, open_cache
from firstlight.embed.embedding import embed_documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from firstlight.digest.documents import LongText
    from firstlight.embed.cache import VectorCache

    Vectors = NDArray[np.float32]


class Embedded(NamedTuple):
    """float32[windows, d] for each chunk, by the hash of its text; float32[d] for each question."""

    chunks: Mapping[bytes, Vectors]
    questions: Mapping[str, Vectors]


def embed(documents: Iterable[LongText], questions: Iterable[str]) -> Embedded:
    """Embed documents and questions, or take what was embedded before from the cache."""
    texts: dict[bytes, str] = {}
    for document in documents:
        texts |= dict(zip(document.hashes, document.texts, strict=True))
    asked = list(dict.fromkeys(questions))
    with closing(open_cache()) as kept:
        return Embedded(_documents(texts, kept), dict(zip(asked, embed_questions(asked, kept), strict=True)))


def _documents(texts: Mapping[bytes, str], kept: VectorCache) -> dict[bytes, Vectors]:
    hashes = list(texts)
    made: dict[bytes, Vectors] = {}
    told = time.monotonic()
    for outcomes in embed_documents(embedder(), enumerate(texts.values()), cache=kept):
        for outcome in outcomes:
            assert outcome.vectors is not None, outcome.reason
            made[hashes[outcome.key]] = outcome.vectors
        if time.monotonic() - told > TELL_SECONDS:
            told = time.monotonic()
            print(f"{len(made)} of {len(hashes)} chunks embedded", file=sys.stderr, flush=True)
    return made
