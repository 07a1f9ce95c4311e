"""Embeds what lacks a vector: under the lease, in small commits, the chunks that questions hit first.

A sync may replace documents while this runs: a vector is stored only for a chunk that is still there with the
very text that was embedded. Whoever loses the lease finds every later commit refused.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from firstlight.corpus.calibrate import ENOUGH, calibrate, own_floor
from firstlight.corpus.languages import is_known
from firstlight.corpus.prepare import own_title
from firstlight.embed.embedding import embed_documents
from firstlight.embed.inputs import input_text
from firstlight.errors import EmbeddingError
from firstlight.store.embedders import (
    SERVING,
    add_tokens,
    drop_embedder,
    insert_embedder,
    read_embedders,
    set_dimensions,
    set_floor,
    set_trouble,
)
from firstlight.store.meta import raise_generation
from firstlight.store.pending import read_pending, read_wanted_pending
from firstlight.store.vectors import FOREIGN, any_vector, count_vectors, insert_failures, insert_vectors
from firstlight.store.wanted import forget

if TYPE_CHECKING:
    import sqlite3
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.site import Site
    from firstlight.corpus.tenure import Tenure
    from firstlight.embed.embedding import Outcome
    from firstlight.embed.types import Embedder
    from firstlight.store.embedders import EmbedderRow
    from firstlight.store.pending import Pending

# Chunks that are looked up at a time: what a question asks for waits for no more than these.
PORTION = 32


class Step(NamedTuple):
    """How far the embedding is: chunks that have a vector, or never will, of all.

    Attributes:
        embedded: Chunks with a vector.
        settled: Those, and the ones that never will have one.
        total: All chunks.
        rate: How many are embedded in a second.
        has_floor: Whether it is known from which cosine on a passage is a match.
    """

    embedded: int
    settled: int
    total: int
    rate: float
    has_floor: bool = True

    @property
    def mode(self) -> str:
        """What a search would use now."""
        if not self.embedded or not self.has_floor:
            return "bm25"
        return "hybrid" if self.settled >= self.total else "partial"


def ensure_recorded(site: Site, embedding: Embedding, held: Tenure, role: str) -> EmbedderRow:
    """Return the row of the embedder, made where there is none, or one that has no vector yet.

    Raises:
        ConfigError: The index has vectors of another.
    """
    with site.database.read() as connection:
        row = read_embedders(connection).get(role)
        is_empty = row is not None and role == SERVING and not any_vector(connection, row.id)
    if row is None or (is_empty and not embedding.made(row)):
        # A provider may have to be asked for it: not while others wait.
        fingerprint = embedding.fingerprint()
        with site.database.write() as connection:
            held.check(connection)
            if row is not None:
                drop_embedder(connection, role)
                raise_generation(connection)
            row = record(connection, embedding, fingerprint, role)
    embedding.check_recorded(row)
    return row


def record(connection: sqlite3.Connection, embedding: Embedding, fingerprint: str, role: str) -> EmbedderRow:
    """Add the embedder in a role that none has; its fingerprint was read before the transaction."""
    embedder = embedding.embedder
    number = insert_embedder(
        connection,
        role=role,
        spec=embedding.spec,
        name=embedder.name,
        fingerprint=fingerprint,
        dimensions=embedder.dimensions,
    )
    floor = own_floor(embedder)
    if floor is not None:
        set_floor(connection, number, floor)
    return read_embedders(connection)[role]


def how_far(connection: sqlite3.Connection, row: EmbedderRow, rate: float = 0.0) -> Step:
    """Return how far an embedder is."""
    counts = count_vectors(connection, row.id)
    settled = counts.embedded + counts.failed + counts.foreign
    return Step(counts.embedded, settled, counts.total, rate, row.floor is not None)


def embed_pending(
    site: Site,
    embedding: Embedding,
    held: Tenure,
    *,
    stop: threading.Event,
    role: str = SERVING,
    progress: Callable[[Step], object] | None = None,
) -> None:
    """Embed every chunk that lacks a vector, until there is none or `stop` is set.

    Raises:
        EmbeddingError: The embedder takes no more now; what was finished before is kept.
        LeaseLostError: The lease is gone.
    """
    run = _Run(site, embedding, held, ensure_recorded(site, embedding, held, role), stop)
    try:
        with _heard_by(embedding.embedder, stop):
            for step in run.steps():
                if progress is not None:
                    progress(step)
    except EmbeddingError:
        if not stop.is_set():  # else it is how the embedder says that it was
            raise


@contextmanager
def _heard_by(embedder: Embedder, stop: threading.Event) -> Iterator[None]:
    """Have an embedder that can be stopped in the middle of a call, as those over HTTP, hear of it."""
    if getattr(embedder, "stop", embedder) is not None:  # it has no such thing, or another one's
        yield
        return
    embedder.stop = stop  # type: ignore[attr-defined]
    try:
        yield
    finally:
        embedder.stop = None  # type: ignore[attr-defined]


class _Run:
    """One walk over what is pending."""

    def __init__(
        self, site: Site, embedding: Embedding, held: Tenure, row: EmbedderRow, stop: threading.Event
    ) -> None:
        self.row = row
        self._site = site
        self._embedding = embedding
        self._held = held
        self._stop = stop
        self._hashes: dict[int, bytes] = {}
        self._made = 0

    def steps(self) -> Iterator[Step]:
        """Embed, and tell after each commit."""
        embedding, stop = self._embedding, self._stop
        while not stop.is_set():
            for outcomes in embed_documents(
                embedding.embedder, self.texts(), cache=embedding.cache, spend=self.spend, stop=stop.is_set
            ):
                step = self.commit(outcomes)
                yield step
                if not step.has_floor and step.embedded >= ENOUGH:
                    yield self._calibrated()
            if not stop.is_set() and not self._is_more():
                yield self._calibrated(finished=True)
                return

    def _is_more(self) -> bool:
        with self._site.database.read() as connection:
            return bool(read_pending(connection, self.row.id, after=0, limit=1))

    def _calibrated(self, *, finished: bool = False) -> Step:
        may_change = finished and self._made > 0
        calibrate(
            self._site, self._embedding, self.row.id, self._held.check, finished=finished, anew=may_change
        )
        with self._site.database.write() as connection:
            self._held.check(connection)
            set_trouble(connection, self.row.id, None)
            self.row = next(row for row in read_embedders(connection).values() if row.id == self.row.id)
            return how_far(connection, self.row, self._held.rate)

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield the chunks to embed, as they are wanted; read in portions, so that a question's come soon."""
        after = 0
        taken: set[int] = set()
        while not self._stop.is_set():
            with self._site.database.read() as connection:
                most = PORTION + len(self._hashes)  # what is on its way is wanted still
                wanted = read_wanted_pending(connection, self.row.id, limit=most)
                portion = [each for each in wanted if each.chunk not in taken]
                if not portion:
                    portion = read_pending(connection, self.row.id, after=after, limit=PORTION)
                    after = portion[-1].chunk if portion else after
            if not portion:
                return
            fresh = [each for each in portion if each.chunk not in taken]
            taken.update(each.chunk for each in fresh)
            yield from self._known(fresh)

    def _known(self, portion: Sequence[Pending]) -> Iterator[tuple[int, str]]:
        """Yield what the model knows the language of; the rest is settled without it."""
        languages = self._embedding.embedder.languages
        foreign = []
        for each in portion:
            if is_known(each.text, each.language, languages):
                self._hashes[each.chunk] = each.input_hash
                title = own_title(each.path, each.title)
                yield each.chunk, input_text(title, each.headings, each.text)
            else:
                foreign.append((each.chunk, each.input_hash, FOREIGN))
        if foreign:
            with self._site.database.write() as connection:
                self._held.check(connection)
                insert_failures(connection, self.row.id, foreign)

    def spend(self, tokens: int) -> None:
        """Count what a remote embedder is about to be sent, and stop at the budget."""
        if not self._embedding.is_remote:
            return
        budget = self._site.config.token_budget
        with self._site.database.write() as connection:
            self._held.check(connection)
            spent = next(row.tokens for row in read_embedders(connection).values() if row.id == self.row.id)
            if spent + tokens > budget:
                raise EmbeddingError(
                    f"{spent:,} of the {budget:,} tokens that this folder may send are spent; raise "
                    "embedding.token_budget to go on",
                    kind="budget",
                )
            add_tokens(connection, self.row.id, tokens)

    def commit(self, outcomes: Sequence[Outcome]) -> Step:
        """Write what a call gave, in one short transaction behind the fence."""
        made = [
            (outcome.key, self._hashes[outcome.key], outcome.vectors)
            for outcome in outcomes
            if outcome.vectors is not None
        ]
        failed = [
            (outcome.key, self._hashes[outcome.key], outcome.reason or "")
            for outcome in outcomes
            if outcome.vectors is None
        ]
        with self._site.database.write() as connection:
            self._held.check(connection)
            if made:
                self._settle_dimensions(connection, made[0][2].shape[1])
            insert_vectors(connection, self.row.id, made)
            insert_failures(connection, self.row.id, failed)
            forget(connection, [outcome.key for outcome in outcomes])
            if self.row.trouble is not None:
                set_trouble(connection, self.row.id, None)
            step = how_far(connection, self.row)
        for outcome in outcomes:
            del self._hashes[outcome.key]
        self._made += len(made)
        return step._replace(rate=self._held.count(len(outcomes)))

    def _settle_dimensions(self, connection: sqlite3.Connection, dimensions: int) -> None:
        if self.row.dimensions == 0:
            set_dimensions(connection, self.row.id, dimensions)
            self.row = self.row._replace(dimensions=dimensions)
        elif self.row.dimensions != dimensions:
            raise EmbeddingError(
                f"{self.row.name} now answers with {dimensions} dimensions, and had {self.row.dimensions}: "
                f"it is another model under the same name; `firstlight migrate --to {self.row.spec}` makes "
                "all vectors anew",
                kind="wrong-answer",
            )
