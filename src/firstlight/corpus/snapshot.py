"""What one generation of an index needs in memory: its segments as one index, and masks of filters."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.lexical import Index
from firstlight.store.documents import read_fields, read_languages
from firstlight.store.embedders import SERVING, read_embedders
from firstlight.store.meta import read_meta
from firstlight.store.segments import read_parts
from firstlight.store.vectors import count_vectors

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from firstlight.corpus.site import Site
    from firstlight.rank.filters import Filter
    from firstlight.store.embedders import EmbedderRow
    from firstlight.store.matrix import VectorMatrix, Vectors
    from firstlight.store.meta import Meta
    from firstlight.store.segments import Part
    from firstlight.store.vectors import Counts
    from firstlight.text.types import Value

    Fields = Mapping[str, Value]

# Languages whose stemmers a question is looked up by; more would mix too many.
MOST_LANGUAGES = 3
# Masks kept for each generation: a byte per chunk each.
_MOST_MASKS = 32


class Allowed(NamedTuple):
    """What a filter lets through: the ids of documents, and for each segment a mask of its chunks."""

    documents: frozenset[int]
    masks: list[NDArray[np.bool_]]


@dataclass(slots=True, eq=False)
class Snapshot:
    """One generation, shared by the threads that search it."""

    meta: Meta
    parts: list[Part]
    index: Index
    languages: tuple[str, ...]
    fields: dict[int, Fields] | None = None
    _masks: OrderedDict[str, Allowed] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def allowed(self, connection: sqlite3.Connection, where: Filter) -> Allowed:
        """Return what `where` lets through; FilterError where it asks about a field that no document has."""
        from firstlight.rank.filters import canonical, check_fields, predicate  # noqa: PLC0415

        key = canonical(where)
        with self._lock:
            if key in self._masks:
                self._masks.move_to_end(key)
                return self._masks[key]
            if self.fields is None:
                self.fields = read_fields(connection)
            check_fields(where, {name for fields in self.fields.values() for name in fields})
            passes = predicate(where)
            documents = [number for number, fields in self.fields.items() if passes(fields)]
            made = Allowed(frozenset(documents), self._spread(documents))
            self._masks[key] = made
            if len(self._masks) > _MOST_MASKS:
                self._masks.popitem(last=False)
            return made

    def _spread(self, documents: list[int]) -> list[NDArray[np.bool_]]:
        highest = max((int(part.documents.max()) for part in self.parts), default=0)
        table = np.zeros(max(highest, *documents, 0) + 1, np.bool_)
        table[documents] = True
        return [table[part.documents] for part in self.parts]


class Embedded(NamedTuple):
    """What there is of vectors in one commit.

    Attributes:
        recorded: The embedder; None where there is none yet.
        counts: How far it is.
        vectors: The vectors themselves, where they were asked for.
    """

    recorded: EmbedderRow | None = None
    counts: Counts | None = None
    vectors: Vectors | None = None


class Snapshots:
    """The newest snapshot of a corpus; what did not change since the one before is kept.

    Args:
        role: Of the embedder whose vectors are looked at.
    """

    def __init__(self, role: str = SERVING) -> None:
        self._role = role
        self._current: Snapshot | None = None
        self._matrix: VectorMatrix | None = None
        self._lock = threading.Lock()

    def embedded(self, connection: sqlite3.Connection, site: Site, *, load: bool) -> Embedded:
        """Return what the connection's read transaction has of vectors; with `load`, the vectors too."""
        recorded = read_embedders(connection).get(self._role)
        if recorded is None:
            return Embedded()
        counts = count_vectors(connection, recorded.id)
        if not load:
            return Embedded(recorded, counts)
        from firstlight.store.matrix import VectorMatrix  # noqa: PLC0415  # words alone need none

        with self._lock:
            if self._matrix is None:
                self._matrix = VectorMatrix(site.state)
            return Embedded(recorded, counts, self._matrix.refresh(connection, recorded))

    def get(self, connection: sqlite3.Connection, site: Site) -> Snapshot:
        """Return the snapshot that belongs to the connection's read transaction.

        Raises:
            SegmentGoneError: A merge was committed since the transaction began; begin another one.
        """
        meta = read_meta(connection)
        with self._lock:
            before = self._current
            if before is not None and before.meta == meta:
                return before
            site.check_owner(meta)
            made = _load(connection, site, meta, before)
            if (
                before is None
                or before.meta.corpus != meta.corpus
                or before.meta.generation <= meta.generation
            ):
                self._current = made
            return made


def _load(connection: sqlite3.Connection, site: Site, meta: Meta, before: Snapshot | None) -> Snapshot:
    same = before is not None and before.meta.corpus == meta.corpus
    known = {part.id: part for part in before.parts} if before is not None and same else None
    parts = read_parts(connection, site.state, known=known)
    index = Index([(part.segment, part.dead) for part in parts], k1=site.config.k1, b=site.config.b)
    languages = tuple(read_languages(connection)[:MOST_LANGUAGES]) or ("en",)
    fields = None
    if before is not None and same and before.fields is not None:
        fields = read_fields(connection, known=before.fields)
    return Snapshot(meta, parts, index, languages, fields)
