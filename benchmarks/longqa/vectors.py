"""The vectors of the documents' chunks and of the questions: made as a digest makes them, and kept."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.hybrid.vectors import TELL_SECONDS, embed_questions, embedder, open_cache
from firstlight.embed.embedding import embed_documents
from firstlight.embed.question import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from firstlight.digest.documents import LongText
    from firstlight.embed.cache import VectorCache

    Vector = NDArray[np.float32]


class Embedded(NamedTuple):
    """float32[d] of unit length for each chunk, by the hash of its text, and for each question."""

    chunks: Mapping[bytes, Vector]
    questions: Mapping[str, Vector]


def embed(documents: Iterable[LongText], questions: Iterable[str]) -> Embedded:
    """Embed documents and questions, or take what was embedded before from the cache."""
    texts: dict[bytes, str] = {}
    for document in documents:
        texts |= dict(zip(document.hashes, document.texts, strict=True))
    asked = list(dict.fromkeys(questions))
    with closing(open_cache()) as kept:
        return Embedded(_documents(texts, kept), dict(zip(asked, embed_questions(asked, kept), strict=True)))


def _documents(texts: Mapping[bytes, str], kept: VectorCache) -> dict[bytes, Vector]:
    hashes = list(texts)
    made: dict[bytes, Vector] = {}
    told = time.monotonic()
    for outcomes in embed_documents(embedder(), enumerate(texts.values()), cache=kept):
        for outcome in outcomes:
            assert outcome.vectors is not None, outcome.reason
            made[hashes[outcome.key]] = mean(outcome.vectors)
        if time.monotonic() - told > TELL_SECONDS:
            told = time.monotonic()
            print(f"{len(made)} of {len(hashes)} chunks embedded", file=sys.stderr, flush=True)
    return made
