"""Verify: manifest, chunks and postings proven equal, id by id; and put right where asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.corpus.check import (
    PORTION,
    Fault,
    check_database,
    check_embedded,
    check_postings,
    check_rows,
    lenient,
    read_indexables,
)
from firstlight.corpus.commands import pasteable
from firstlight.corpus.merge import merge_due
from firstlight.corpus.reports import Finding, VerifyReport
from firstlight.corpus.survey import survey
from firstlight.corpus.writer import carry_out, ensure_database
from firstlight.errors import StoreError
from firstlight.lexical import build_segment
from firstlight.store.database import remove
from firstlight.store.documents import count_documents
from firstlight.store.embedders import forget_embedders
from firstlight.store.lock import writer_lock
from firstlight.store.meta import raise_generation, read_meta
from firstlight.store.schema import NotOursError
from firstlight.store.segments import delete_segments, insert_segment, read_sizes, store_segment
from firstlight.store.vectors import any_vector, delete_orphans, delete_rows

if TYPE_CHECKING:
    from firstlight.corpus.site import Site
    from firstlight.store.segments import Stored

# What a repair makes anew from the rows; everything else comes from the files.
_FROM_ROWS = ("posting", "segment")


def verify(site: Site, *, repair: bool, wait: float) -> VerifyReport:
    """Check everything, and with `repair` put it right; see `Corpus.verify`."""
    began = time.perf_counter()
    if not site.database.exists():
        return VerifyReport()
    if not repair:
        return _report(site, _check(site), began)
    with writer_lock(site.state, wait=wait):
        found = _check(site)
        left = found
        if found.faults:
            _repair(site, found.faults)
            left = _check(site)
        return _report(site, found, began, left=left)


class _Checked(NamedTuple):
    """What a check found, and how much it looked at."""

    faults: list[Fault]
    documents: int
    chunks: int


def _check(site: Site) -> _Checked:
    try:
        with site.database.read() as connection, lenient(connection):
            broken = list(check_database(connection))
            if broken:
                return _Checked(broken, 0, 0)
            read_meta(connection)
            faults = [
                *check_rows(connection),
                *check_postings(connection, site.state),
                *check_embedded(connection),
            ]
            return _Checked(faults, *count_documents(connection))
    except NotOursError as error:
        return _Checked([Fault("different", Finding("database", "corpus.db", "", str(error)))], 0, 0)


def _report(site: Site, found: _Checked, began: float, *, left: _Checked | None = None) -> VerifyReport:
    kinds = {
        kind: tuple(
            finding._replace(reason=pasteable(finding.reason, site))
            for found_kind, finding in found.faults
            if found_kind == kind
        )
        for kind in ("missing", "orphaned", "different")
    }
    repaired = 0 if left is None else max(0, len(found.faults) - len(left.faults))
    checked = found if left is None else left
    seconds = time.perf_counter() - began
    return VerifyReport(checked.documents, checked.chunks, **kinds, repaired=repaired, seconds=seconds)


def _repair(site: Site, faults: list[Fault]) -> None:
    if any(fault.finding.what == "database" for fault in faults):
        _mend_or_replace(site)
        faults = _check(site).faults  # what SQLite could not save may be rows of ours
    vectors, embedders = (
        [int(fault.finding.id) for fault in faults if fault.finding.what == what]
        for what in ("vector", "embedder")
    )
    if vectors or embedders:
        _forget_vectors(site, vectors, embedders)
    faults = [fault for fault in faults if fault.finding.what not in ("vector", "embedder")]
    if faults:
        _mark(site, faults)
        rebuild_segments(site)
    carry_out(site, survey(site))


def _forget_vectors(site: Site, rows: list[int], embedders: list[int]) -> None:
    """Drop vectors that are not as they should be; the cache has them, or they are made anew.

    So does an embedder go that is left with none: it may be its own row that is wrong.
    """
    with site.database.write() as connection:
        forget_embedders(connection, embedders)
        owners = delete_rows(connection, rows)
        forget_embedders(connection, [each for each in owners if not any_vector(connection, each)])
        raise_generation(connection)


def _mend_or_replace(site: Site) -> None:
    """Have SQLite mend its file from its rows; where it cannot, make the database anew from the files."""
    try:
        site.database.mend()
        with site.database.read() as connection:
            read_meta(connection)
            sound = not list(check_database(connection))
    except StoreError:
        sound = False
    if not sound:
        remove(site.database.path)
        ensure_database(site, replace=False)


def _mark(site: Site, faults: list[Fault]) -> None:
    """Have the next sync make the documents of doubtful rows anew, and forget what belongs to none.

    Rows that are not as they were written are forgotten: nothing that they say can be relied upon, not even
    the path. Where postings and rows disagree, either may be wrong; where postings are only lost, the rows
    are enough.
    """
    paths = {
        finding.path for kind, finding in faults if finding.what not in _FROM_ROWS or kind == "different"
    }
    damaged = [(int(finding.id),) for _, finding in faults if finding.what == "rows"]
    with site.database.write() as connection:
        connection.executemany("DELETE FROM documents WHERE id = ?", damaged)
        connection.execute("DELETE FROM errors")
        connection.executemany("UPDATE documents SET recipe = '' WHERE path = ?", ((each,) for each in paths))
        connection.execute("DELETE FROM chunks WHERE document NOT IN (SELECT id FROM documents)")
        delete_orphans(connection)


def rebuild_segments(site: Site) -> None:
    """Make all segments anew from the chunks, in one commit."""
    with site.database.read() as connection:
        old = [size.id for size in read_sizes(connection)]
        chunks = connection.execute("SELECT id, document FROM chunks ORDER BY id").fetchall()
    stored = [_built(site, chunks[begin : begin + PORTION]) for begin in range(0, len(chunks), PORTION)]
    with site.database.write() as connection:
        delete_segments(connection, old)
        for each in stored:
            insert_segment(connection, each)
        raise_generation(connection)
    merge_due(site)


def _built(site: Site, chunks: list[tuple[int, int]]) -> Stored:
    with site.database.read() as connection, lenient(connection):
        items = read_indexables(connection, chunks[0][0], chunks[-1][0])
    segment = build_segment([number for number, _ in chunks], [items[number] for number, _ in chunks])
    return store_segment(site.state, segment, np.array([document for _, document in chunks], np.int64))
