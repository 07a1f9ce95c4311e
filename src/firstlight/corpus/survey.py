"""A look at the folder and the index: what a sync would do. It writes nothing and needs no lock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from firstlight.corpus.plan import Known, Work, compare, is_quiet, resolve
from firstlight.corpus.scan import scan
from firstlight.corpus.types import FileError, Rename
from firstlight.errors import DocumentError
from firstlight.store.documents import ErrorRow, read_errors, read_manifest, read_stats
from firstlight.store.meta import Meta, read_meta
from firstlight.text.read import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from firstlight.corpus.reports import Plan
    from firstlight.corpus.site import Site
    from firstlight.text.entries import Skipped

# No recipe has this name: comparing with it makes every document anew.
_NO_RECIPE = ""


class Survey(NamedTuple):
    """What was seen.

    Attributes:
        meta: The facts about the index when it was read; None where there is none.
        started_ns: When the look began.
        work: What there is to do.
        skipped: What the walk passed over.
        unseen: What the walk could not read.
        errors: The files that the index has as unfit.
        fts5_due: Whether the FTS5 table is to be made, or dropped.
    """

    meta: Meta | None
    started_ns: int
    work: Work
    skipped: tuple[FileError, ...]
    unseen: tuple[ErrorRow, ...]
    errors: tuple[ErrorRow, ...]
    fts5_due: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to write at all."""
        work = self.work
        return self.meta is not None and not (
            work.added
            or work.changed
            or work.renamed
            or work.deleted
            or work.touched
            or work.settles
            or self.fts5_due
            or self.meta.synced_ns == 0
            or set(self.known_errors()) != set(self.errors)
        )

    def known_errors(self) -> list[ErrorRow]:
        """Return the files that are unfit without reading any."""
        return sorted([*self.work.unfit, *self.unseen])

    def to_plan(self) -> Plan:
        """Return what there is to do, as a person wants to hear it."""
        from firstlight.corpus.reports import Plan  # noqa: PLC0415  # a sync needs none

        work = self.work
        return Plan(
            added=_paths(job.entry.path for job in work.added),
            changed=_paths(job.entry.path for job in work.changed),
            deleted=_paths(row.path for row in work.deleted),
            renamed=tuple(sorted(_renames(work))),
            unchanged=work.unchanged,
            skipped=self.skipped,
            errors=file_errors(self.known_errors()),
        )


def survey(site: Site, *, force: bool = False) -> Survey:
    """Look at the folder and at the index.

    Args:
        site: The corpus.
        force: Take every document as changed.
    """
    while True:
        started_ns = time.time_ns()
        # The index is read before the folder: what others sync meanwhile must not look like a lost file.
        meta, stats, errors = _read_stats(site)
        fts5_due = meta is not None and bool(meta.fts5) != site.config.fts5
        walked = scan(site.root, site.config, state=site.state)
        skipped = tuple(FileError(each.path, each.reason) for each in walked.skipped)
        quiet = meta is not None and is_quiet(stats, walked.files, synced_ns=meta.synced_ns)
        if quiet and not walked.errors and not force:
            return Survey(meta, started_ns, Work(unchanged=len(stats)), skipped, (), errors, fts5_due)
        again, known = _read_known(site)
        if again == meta:
            break
    if force:
        known = known._replace(errors=())
    recipe = _NO_RECIPE if force else site.recipe
    unseen = [each.path for each in walked.errors]
    found = compare(known, walked.files, recipe=recipe, started_ns=started_ns, unseen=unseen)
    work = resolve(found, dict(_hashes(site, found.to_hash())), recipe=recipe)
    return Survey(
        meta,
        started_ns,
        work,
        skipped,
        tuple(_unseen(walked.errors, site.recipe)),
        tuple(known.errors),
        fts5_due,
    )


def file_errors(rows: Iterable[ErrorRow]) -> tuple[FileError, ...]:
    """Return what to tell of files that could not be indexed, by path."""
    return tuple(sorted(FileError(row.path, row.reason) for row in rows))


def _read_stats(site: Site) -> tuple[Meta | None, list[tuple[str, int, int, int]], tuple[ErrorRow, ...]]:
    if not site.database.exists():
        return None, [], ()
    with site.database.read() as connection:
        meta = read_meta(connection)
        site.check_owner(meta)
        return meta, read_stats(connection, site.recipe), tuple(read_errors(connection))


def _read_known(site: Site) -> tuple[Meta | None, Known]:
    if not site.database.exists():
        return None, Known()
    with site.database.read() as connection:
        meta = read_meta(connection)
        return meta, Known(read_manifest(connection), read_errors(connection), meta.synced_ns)


def _hashes(site: Site, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        try:
            yield path, read_file(site.root, path, max_bytes=site.config.max_file_size).digest
        except DocumentError:
            continue


def _unseen(errors: Iterable[Skipped], recipe: str) -> Iterator[ErrorRow]:
    return (ErrorRow(each.path, each.reason, 0, 0, None, recipe) for each in errors)


def _renames(work: Work) -> Iterator[Rename]:
    return (Rename(job.replaces.path, job.entry.path) for job in work.renamed if job.replaces)


def _paths(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(paths))
