"""The writing half of a sync: batches that each leave a whole index behind."""

from __future__ import annotations

import os
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from firstlight.corpus.merge import merge_due
from firstlight.corpus.parallel import prepare_all
from firstlight.corpus.prepare import Refused
from firstlight.corpus.survey import file_errors
from firstlight.corpus.types import Progress, SyncReport
from firstlight.lexical import SegmentBuilder
from firstlight.store.database import create, remove
from firstlight.store.documents import (
    ErrorRow,
    delete_documents,
    insert_documents,
    next_ids,
    replace_errors,
    touch_documents,
)
from firstlight.store.embedders import read_embedders
from firstlight.store.fts5 import keep_fts5
from firstlight.store.meta import Meta, raise_generation, read_meta, write_meta
from firstlight.store.schema import NotOursError
from firstlight.store.segments import bury_documents, insert_segment, store_segment, sweep_files
from firstlight.store.vectors import adopt_vectors, delete_vectors, read_chunk_ids

if TYPE_CHECKING:
    import sqlite3

    from firstlight.corpus.plan import Job
    from firstlight.corpus.prepare import Prepared
    from firstlight.corpus.site import Site
    from firstlight.corpus.survey import Survey
    from firstlight.corpus.types import Report
    from firstlight.store.documents import ChunkRow, DocumentRow
    from firstlight.store.segments import Stored

# A batch is committed when it has so much text, or took so long: what is lost by a crash, and how long the
# first passages stay out of reach.
BATCH_CHARACTERS = 8_000_000
BATCH_SECONDS = 1.0


def carry_out(
    site: Site, seen: Survey, progress: Report | None = None, began: float | None = None
) -> SyncReport:
    """Do what a survey found; only the holder of the write lock may."""
    return _Run(site, seen, progress).run(time.perf_counter() if began is None else began)


def ensure_database(site: Site, *, replace: bool) -> None:
    """Make the database where there is none; `replace` one that cannot be read."""
    if replace and site.database.exists() and not _is_sound(site):
        remove(site.database.path)
    if not site.database.exists():
        create(site.database.path, Meta(os.urandom(16).hex(), site.root)._asdict())


@dataclass(slots=True)
class _Batch:
    """What the next transaction writes; its documents and chunks are numbered as they come."""

    next_document: int
    next_chunk: int
    began: float = field(default_factory=time.perf_counter)
    documents: list[DocumentRow] = field(default_factory=list)
    chunks: list[ChunkRow] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    characters: int = 0

    @property
    def is_full(self) -> bool:
        return self.characters >= BATCH_CHARACTERS or time.perf_counter() - self.began >= BATCH_SECONDS

    def add(self, prepared: Prepared, job: Job, recipe: str) -> list[int]:
        """Add a document; return the ids of its chunks."""
        row, chunks = prepared.rows(recipe, self.next_document, self.next_chunk)
        self.documents.append(row)
        self.chunks += chunks
        self.next_document += 1
        self.next_chunk += len(chunks)
        self.characters += prepared.characters
        if job.replaces is not None:
            self.removed.append(job.replaces.document)
        return [chunk.id for chunk in chunks]


@dataclass(slots=True)
class _Run:
    """One sync, under the write lock."""

    site: Site
    seen: Survey
    progress: Report | None
    errors: list[ErrorRow] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    chunks: int = 0
    done: int = 0
    generation: int = 0
    builder: SegmentBuilder = field(default_factory=SegmentBuilder)

    def run(self, began: float) -> SyncReport:
        self.errors = self.seen.known_errors()
        jobs = self.seen.work.jobs()
        paths = [job.entry.path for job in jobs]
        batch = self._new_batch()
        with closing(prepare_all(self.site.root, paths, self.site.config)) as outcomes:
            for job, outcome in zip(jobs, outcomes, strict=True):
                if batch.is_full and batch.documents:
                    self._commit(batch, total=len(jobs))
                    batch = self._new_batch()
                self._take(job, outcome, batch)
        batch.removed += [row.document for row in self.seen.work.deleted]
        self._commit(batch, total=len(jobs), last=True)
        self.builder.close()
        return self._report(began)

    def _new_batch(self) -> _Batch:
        with self.site.database.read() as connection:  # under the write lock: nobody else takes these ids
            return _Batch(*next_ids(connection))

    def _take(self, job: Job, outcome: Prepared | Refused, batch: _Batch) -> None:
        if isinstance(outcome, Refused):
            self._refuse(job, outcome, batch)
        else:
            # Read into postings as they come: a second process may be preparing the next ones meanwhile.
            self.builder.add(batch.add(outcome, job, self.site.recipe), outcome.indexables())
        self.done += 1

    def _refuse(self, job: Job, refused: Refused, batch: _Batch) -> None:
        entry = job.entry
        reason = refused.reason if refused.line is None else f"line {refused.line}: {refused.reason}"
        digest = None if refused.digest is None else bytes.fromhex(refused.digest)
        self.errors.append(ErrorRow(entry.path, reason, entry.size, entry.mtime_ns, digest, self.site.recipe))
        self.failed.add(entry.path)
        if job.replaces is not None and job.replaces.path != entry.path:
            batch.removed.append(job.replaces.document)  # its own path is gone

    def _commit(self, batch: _Batch, *, total: int, last: bool = False) -> None:
        stored = self._segment(batch)
        with self.site.database.write() as connection:
            gone: list[int] = []
            if batch.removed:
                gone = read_chunk_ids(connection, batch.removed)
                bury_documents(connection, batch.removed)
                delete_documents(connection, batch.removed)
            insert_documents(connection, batch.documents, batch.chunks)
            if batch.chunks and read_embedders(connection):
                adopt_vectors(connection, batch.chunks[0].id)
            if gone:
                delete_vectors(connection, gone)
            if stored is not None:
                insert_segment(connection, stored)
            if last:
                self._finish(connection)
                keep_fts5(connection, keep=self.site.config.fts5)
            if batch.removed or batch.documents:
                self.generation = raise_generation(connection)
            else:
                self.generation = read_meta(connection).generation
        self.chunks += len(batch.chunks)
        if stored is not None or batch.removed:
            merge_due(self.site)
        if self.progress is not None and total:
            self.progress(Progress(self.done, total, self.chunks))

    def _segment(self, batch: _Batch) -> Stored | None:
        """Bring the batch's segment to rest, before the transaction that makes it exist."""
        if not batch.chunks:
            return None
        owners = np.array([row.document for row in batch.chunks], np.int64)
        return store_segment(self.site.state, self.builder.finish(), owners)

    def _finish(self, connection: sqlite3.Connection) -> None:
        touched = self.seen.work.touched
        touch_documents(
            connection,
            ((job.entry.size, job.entry.mtime_ns, job.replaces.document) for job in touched if job.replaces),
        )
        if set(self.errors) != set(self.seen.errors):
            replace_errors(connection, self.errors)
        write_meta(connection, synced_ns=self.seen.started_ns, root=self.site.root)

    def _report(self, began: float) -> SyncReport:
        work = self.seen.work
        added, changed, renamed = (
            sum(job.entry.path not in self.failed for job in jobs)
            for jobs in (work.added, work.changed, work.renamed)
        )
        kept = sum(job.entry.path in self.failed for job in work.changed)
        with self.site.database.read() as connection:
            sweep_files(connection, self.site.state)
        return SyncReport(
            added=added,
            changed=changed,
            deleted=len(work.deleted),
            renamed=renamed,
            unchanged=work.unchanged + kept,
            chunks=self.chunks,
            errors=file_errors(self.errors),
            skipped=self.seen.skipped,
            generation=self.generation,
            seconds=time.perf_counter() - began,
        )


def _is_sound(site: Site) -> bool:
    try:
        with site.database.read() as connection:
            read_meta(connection)
            return [row[0] for row in connection.execute("PRAGMA quick_check(1)")] == ["ok"]
    except NotOursError:
        return False
