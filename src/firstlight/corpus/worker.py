"""Embeds what lacks a vector: under the lease, in small commits, the chunks that questions hit first.

A sync may replace documents while this runs: a vector is stored only for a chunk that is still there with the
very text that was embedded. Whoever loses the lease finds every later commit refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from firstlight.corpus.calibrate import calibrate
from firstlight.corpus.languages import is_known
from firstlight.corpus.prepare import own_title
from firstlight.embed.embedding import embed_documents
from firstlight.embed.inputs import input_text
from firstlight.errors import EmbeddingError
from firstlight.store.embedders import (
    add_tokens,
    insert_embedder,
    read_embedders,
    set_dimensions,
    set_floor,
    set_trouble,
)
from firstlight.store.pending import read_pending, read_wanted_pending
from firstlight.store.vectors import FOREIGN, count_vectors, insert_failures, insert_vectors
from firstlight.store.wanted import forget

if TYPE_CHECKING:
    import sqlite3
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.site import Site
    from firstlight.corpus.tenure import Tenure
    from firstlight.embed.embedding import Outcome
    from firstlight.store.embedders import EmbedderRow
    from firstlight.store.pending import Pending

# Chunks that are looked up at a time: what a question asks for waits for no more than these.
PORTION = 32


class Step(NamedTuple):
    """How far the embedding is: chunks that have a vector, or never will, of all."""

    embedded: int
    settled: int
    total: int
    rate: float

    @property
    def mode(self) -> str:
        """What a search would use now."""
        if not self.embedded:
            return "bm25"
        return "hybrid" if self.settled >= self.total else "partial"


def ensure_recorded(site: Site, embedding: Embedding, role: str = "serving") -> EmbedderRow:
    """Return the row of the embedder, made where there is none.

    Raises:
        ConfigError: The index has vectors of another.
    """
    with site.database.read() as connection:
        row = read_embedders(connection).get(role)
    if row is None:
        with site.database.write() as connection:
            embedder = embedding.embedder
            insert_embedder(
                connection,
                role=role,
                spec=embedding.spec,
                name=embedder.name,
                fingerprint=embedder.fingerprint,
                dimensions=embedder.dimensions,
            )
            row = read_embedders(connection)[role]
            floor = getattr(embedder, "floor", None)
            if floor is not None:
                set_floor(connection, row.id, float(floor))
    embedding.check_recorded(row)
    return row


def embed_pending(
    site: Site,
    embedding: Embedding,
    held: Tenure,
    *,
    stop: threading.Event,
    role: str = "serving",
    progress: Callable[[Step], object] | None = None,
) -> None:
    """Embed every chunk that lacks a vector, until there is none or `stop` is set.

    Raises:
        EmbeddingError: The embedder takes no more now; what was finished before is kept.
        LeaseLostError: The lease is gone.
    """
    row = ensure_recorded(site, embedding, role)
    run = _Run(site, embedding, held, row, stop)
    while not stop.is_set():
        for outcomes in embed_documents(
            embedding.embedder, run.texts(), cache=embedding.cache, spend=run.spend, stop=stop.is_set
        ):
            step = run.commit(outcomes)
            if progress is not None:
                progress(step)
        is_over = not run.is_more()
        calibrate(site, embedding, run.row.id, held.check, finished=is_over)
        if is_over:
            return


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

    def is_more(self) -> bool:
        with self._site.database.read() as connection:
            return bool(read_pending(connection, self.row.id, after=0, limit=1))

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield the chunks to embed, as they are wanted; read in portions, so that a question's come soon."""
        after = 0
        taken: set[int] = set()
        while not self._stop.is_set():
            with self._site.database.read() as connection:
                wanted = read_wanted_pending(connection, self.row.id, limit=PORTION)
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
            counts = count_vectors(connection, self.row.id)
        for outcome in outcomes:
            del self._hashes[outcome.key]
        rate = self._held.count(len(outcomes))
        settled = counts.embedded + counts.failed + counts.foreign
        return Step(counts.embedded, settled, counts.total, rate)

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
