"""The floor of a model that brings none: the cosine that nonsense reaches among real passages."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from firstlight.embed.calls import ask, limits_of
from firstlight.embed.inputs import input_hash
from firstlight.errors import ConfigError
from firstlight.store.embedders import is_floor, read_embedders, set_floor
from firstlight.store.vectors import count_vectors, sample_vectors

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from numpy.typing import NDArray

    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.site import Site
    from firstlight.embed.types import Embedder, Vectors

# Words of no language, as many as questions have.
NONSENSE = (
    "blorf snarg wizzlethump",
    "qwzx vrplk jjtfh",
    "the splunge of grivven tars",
    "how vonk the mirple gast",
    "zorblax frindle mopsick gratch",
    "glimmerfrotz under vaxnip",
    "kefu zolami tarp ixo",
    "what is a drubnick foosh",
    "wemba lutto ghirn pasolex nev",
    "tivv quonk habbledar",
    "orp",
    "yilgen mox trassid uvvo kepp",
    "when does snibble crote",
    "fralm ottwick jenda",
    "hjkl uiop zxcv",
    "plindo vask errumtz",
)
# Enough passages to know what nonsense comes near to, and how many of them are looked at.
ENOUGH = 256
_SAMPLE = 2048
_HIGHEST = 0.95


def floor_of(questions: Vectors, passages: NDArray[np.float32]) -> float:
    """Return the cosine that no nonsense question exceeds with any passage.

    Args:
        questions: float32[q, d], of unit length.
        passages: float32[n, d], of unit length, one or more.

    Example:
        >>> floor_of(np.eye(2, dtype=np.float32), np.array([[0.6, 0.8]], np.float32))
        0.8
    """
    nearest = (passages.astype(np.float64) @ questions.astype(np.float64).T).max(axis=0)
    return min(_HIGHEST, max(0.0, math.ceil(round(float(nearest.max()) * 1000, 3)) / 1000))


def own_floor(embedder: Embedder) -> float | None:
    """Return the floor that an embedder brings, if it does.

    Raises:
        ConfigError: It is no cosine that a match can have.
    """
    given = getattr(embedder, "floor", None)
    if given is None:
        return None
    with suppress(TypeError, ValueError, OverflowError):
        floor = float(given)
        if is_floor(floor):
            return floor
    raise ConfigError(
        f"the floor of {embedder.name} has to be a cosine from -1 up to, and not including, 1", key="embedder"
    )


def calibrate(
    site: Site,
    embedding: Embedding,
    number: int,
    check: Callable[[sqlite3.Connection], None],
    *,
    finished: bool,
    anew: bool = False,
) -> None:
    """Give the embedder its floor, once there are enough vectors, or all; one that brings its own keeps that.

    Args:
        site: The corpus.
        embedding: The embedder.
        number: Its row.
        check: Refuses the commit of who may not write any more.
        finished: Whether there is nothing left to embed.
        anew: Whether vectors came since it was given one: that of a few passages does not hold for many.

    Raises:
        EmbeddingError: The nonsense could not be embedded.
    """
    with site.database.read() as connection:
        row = next((row for row in read_embedders(connection).values() if row.id == number), None)
        own = own_floor(embedding.embedder)
        if row is None or (row.floor is not None and (own is not None or not anew)):
            return
        if row.floor is not None and count_vectors(connection, number).embedded > _SAMPLE:
            return
        passages = sample_vectors(connection, number, dimensions=row.dimensions, most=_SAMPLE)
    if own is None and len(passages) < ENOUGH and not (finished and len(passages)):
        return
    floor = floor_of(_nonsense(embedding, row.dimensions), passages) if own is None else own
    if floor == row.floor:
        return
    with site.database.write() as connection:
        check(connection)
        set_floor(connection, number, floor)


def _nonsense(embedding: Embedding, dimensions: int) -> Vectors:
    """Return float32[q, d], the nonsense's vectors: from the cache where it has them."""
    embedder, cache = embedding.embedder, embedding.cache
    hashes = [input_hash(text) for text in NONSENSE]
    known = cache.get_many(embedder.fingerprint, hashes, kind="query")
    known = {item: rows for item, rows in known.items() if rows.shape == (1, dimensions)}
    missing = [place for place, item in enumerate(hashes) if item not in known]
    size = limits_of(embedder).texts
    for few in (missing[start : start + size] for start in range(0, len(missing), size)):
        rows = ask(embedder, [NONSENSE[place] for place in few], "query", dimensions=dimensions)
        made = {hashes[place]: row[np.newaxis] for place, row in zip(few, rows, strict=True)}
        cache.put_many(embedder.fingerprint, made, kind="query", name=str(embedder.name))
        known |= made
    return np.concatenate([known[item] for item in hashes])
