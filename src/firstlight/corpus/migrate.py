"""A change of models: the new one is filled while the old serves, asked the same questions, then swapped in.

All of it happens under the lease, and every step is a commit of its own: whatever ends it, the same call goes
on where it was.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from firstlight.corpus.embedding import open_embedding
from firstlight.corpus.gate import compare, verdict
from firstlight.corpus.migration_types import RECORDED, SWAPPED, UNCHANGED, WAITING, MigrationReport
from firstlight.corpus.models import follow, model_of, own_embedding
from firstlight.corpus.tenure import LeaseLostError, leased
from firstlight.corpus.types import Progress
from firstlight.corpus.worker import embed_pending, record
from firstlight.errors import ConfigError, EmbeddingError, StoreError
from firstlight.store import embedders, lease
from firstlight.store.embedders import PREVIOUS, SERVING, SHADOW, read_embedders, set_trouble
from firstlight.store.meta import raise_generation, read_meta
from firstlight.store.vectors import any_vector, count_vectors

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.migration_types import Gate, Golden
    from firstlight.corpus.site import Site
    from firstlight.corpus.tenure import Tenure
    from firstlight.corpus.types import Report
    from firstlight.corpus.upgrade import Upgrade
    from firstlight.embed.types import Embedder
    from firstlight.store.embedders import EmbedderRow


def migrate(
    site: Site,
    upgrade: Upgrade,
    model: str | Embedder,
    *,
    questions: Golden | None,
    min_quality: float,
    yes: bool,
    progress: Report | None,
) -> MigrationReport:
    """Change the model; see `Corpus.migrate`."""
    began = time.perf_counter()
    if not site.database.exists():
        raise ConfigError("nothing is indexed yet, and any embedder can be named: `firstlight sync` first")
    own = own_embedding(upgrade)
    upgrade.pause()
    embedding = upgrade.opened_at_work(model)
    with closing(embedding), _alone(site) as (held, stop):
        run = _Migration(site, embedding, own, held, stop, questions, min_quality, yes, progress)
        report = run.run()
    configured = follow(site, upgrade, own, embedding) if report.done else False
    return replace(report, configured=configured, seconds=time.perf_counter() - began)


@dataclass(slots=True)
class _Migration:
    """One change of models, by who holds the lease."""

    site: Site
    embedding: Embedding
    own: Embedding | None
    held: Tenure
    stop: threading.Event
    questions: Golden | None
    min_quality: float
    yes: bool
    progress: Report | None

    def run(self) -> MigrationReport:
        begun = self._begin()
        if begun.done:
            return begun
        judged = self._judged(begun, self._filled_and_asked())
        if judged.outcome != SWAPPED:
            return judged
        self._fill()  # what was changed while the questions were asked
        return self._swapped(judged)

    def _filled_and_asked(self) -> Gate | None:
        if self.questions is None:
            self._fill()
            return None
        with self._old() as old:
            self._fill()
            return compare(self.site, old, self.embedding, self.questions, check=self._check)

    def _begin(self) -> MigrationReport:
        """Make the shadow, or find the one that is there; tell where none is needed."""
        fingerprint = self.embedding.fingerprint()
        with self.site.database.read() as connection:
            self.site.check_owner(read_meta(connection))
            serving = read_embedders(connection).get(SERVING)
        if serving is not None and serving.fingerprint == fingerprint and not self._is_another(serving):
            return self._report(UNCHANGED, f"{serving.name} serves already", SERVING)
        with self.site.database.write() as connection:
            self.held.check(connection)
            rows = read_embedders(connection)
            if SERVING not in rows or not any_vector(connection, rows[SERVING].id):
                embedders.drop_embedder(connection, SERVING)
                embedders.drop_embedder(connection, SHADOW)
                row = record(connection, self.embedding, fingerprint, SERVING)
                raise_generation(connection)
                replaced = None
            else:
                row = None
                replaced = self._make_shadow(connection, rows, fingerprint)
        if row is not None:
            reason = f"there are no vectors yet: from now on they are {row.name}'s"
            return self._report(RECORDED, reason, SERVING)
        return replace(self._report(WAITING, "not filled yet", SHADOW), replaced=replaced)

    def _is_another(self, serving: EmbedderRow) -> bool:
        """Whether a provider serves another model under the same name, as vectors of another length show."""
        if not self.embedding.is_remote or not serving.dimensions:
            return False
        try:
            length: int = self.embedding.embedder.embed(["length"], "query").shape[1]
        except EmbeddingError:
            return False
        return length != serving.dimensions

    def _make_shadow(
        self, connection: sqlite3.Connection, rows: dict[str, EmbedderRow], fingerprint: str
    ) -> str | None:
        """Return the name of the model whose unfinished migration makes room for this one."""
        shadow = rows.get(SHADOW)
        if shadow is not None and shadow.fingerprint == fingerprint:
            return None
        if shadow is not None:
            embedders.drop_embedder(connection, SHADOW)
            raise_generation(connection)
        previous = rows.get(PREVIOUS)
        if previous is not None and previous.fingerprint == fingerprint:
            embedders.take_up_again(connection)
        else:
            record(connection, self.embedding, fingerprint, SHADOW)
        return None if shadow is None else shadow.name

    @contextmanager
    def _old(self) -> Iterator[Embedding]:
        """Hold the embedder that serves; found before anything is paid for."""
        with self.site.database.read() as connection:
            serving = read_embedders(connection)[SERVING]
        way_out = "without golden questions the change needs no more than a yes"
        if self.own is not None and self.own.made(serving):
            yield self.own
            return
        if serving.spec != "local" and self.site.is_brought_along:
            reason = (
                f"the index, which lies in the folder itself, says that its vectors are of '{serving.spec}': "
                f"if you believe it, set FIRSTLIGHT_EMBEDDER={serving.spec} to compare with it; {way_out}"
            )
            raise ConfigError(reason, key="golden")
        try:
            found = open_embedding(serving.spec, self.site.config)
        except ConfigError as error:
            reason = f"{serving.name} cannot be asked, to compare with ({error.reason}); {way_out}"
            raise ConfigError(reason, key="golden") from None
        if found is None or not found.made(serving):
            reason = f"{serving.name} is another model by now, and cannot be compared with; {way_out}"
            raise ConfigError(reason, key="golden")
        with closing(found):
            yield found

    def _fill(self) -> None:
        def tell(embedded: int, total: int) -> None:
            if self.progress is not None:
                self.progress(Progress(0, 0, 0, embedded, total))

        try:
            embed_pending(
                self.site,
                self.embedding,
                self.held,
                stop=self.stop,
                role=SHADOW,
                progress=lambda step: tell(step.settled, step.total),
            )
        except EmbeddingError as error:
            with self.site.database.write() as connection:
                self.held.check(connection)
                set_trouble(connection, read_embedders(connection)[SHADOW].id, str(error))
            raise
        self._check()

    def _check(self) -> None:
        if self.stop.is_set():
            raise LeaseLostError("the migration was stopped; what is finished is kept, and the same goes on")

    def _judged(self, begun: MigrationReport, gate: Gate | None) -> MigrationReport:
        with self.site.database.read() as connection:
            rows = read_embedders(connection)
            lost = embedders.count_lost(connection, old=rows[SERVING].id, new=rows[SHADOW].id)
            chunks = count_vectors(connection, rows[SHADOW].id).total
        outcome, reason = verdict(gate, lost, chunks, min_quality=self.min_quality, yes=self.yes)
        judged = self._report(outcome, reason, SHADOW)
        return replace(judged, lost=lost, gate=gate, replaced=begun.replaced)

    def _swapped(self, judged: MigrationReport) -> MigrationReport:
        with self.site.database.write() as connection:
            self.held.check(connection)
            set_trouble(connection, read_embedders(connection)[SHADOW].id, None)
            embedders.promote(connection)
            generation = raise_generation(connection)
        return replace(judged, generation=generation)

    def _report(self, outcome: str, reason: str, role: str) -> MigrationReport:
        """Report on the model of a role, the one beside it being the old one."""
        with self.site.database.read() as connection:
            rows = read_embedders(connection)
            old = rows.get(SERVING) if role == SHADOW else None
            return MigrationReport(
                outcome,
                reason,
                model_of(connection, rows[role]),
                None if old is None else model_of(connection, old),
                count_vectors(connection, rows[role].id).total,
                generation=read_meta(connection).generation,
            )


@contextmanager
def _alone(site: Site) -> Iterator[tuple[Tenure, threading.Event]]:
    """Hold the lease while the block runs.

    Raises:
        StoreError: Another process holds it; the message says which.
    """
    stop = threading.Event()
    with leased(site, stop) as held:
        if held is None:
            with site.database.read() as connection:
                owner = lease.read(connection).owner
            raise StoreError(
                f"{site.state}: process {owner.rsplit(':', 2)[-2:][0] or '?'} is embedding; `firstlight "
                "migrate --status` shows how far it is, and `firstlight background stop` ends it"
            )
        yield held, stop


def questions_of(golden: Golden | Iterable[str] | None, min_quality: float) -> Golden | None:
    """Return what is judged by question, whichever way the questions were given."""
    if not (math.isfinite(min_quality) and min_quality >= 0):
        raise ValueError(f"min_quality must be 0 or more, 1 being as good as before, not {min_quality}")
    if golden is None:
        return None
    if isinstance(golden, str):
        raise TypeError(
            "golden is a mapping or a list of questions; evaluate.read_golden reads a file of them"
        )
    found: Golden = golden if isinstance(golden, Mapping) else {question: {} for question in golden}
    if not found:
        raise ValueError("golden has no question; leave it out instead")
    return found
