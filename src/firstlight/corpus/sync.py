"""Sync: brings the index after the folder. With nothing to do, it writes nothing and takes no lock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from firstlight.corpus.survey import file_errors, survey
from firstlight.corpus.types import MANY_FILES, SyncReport
from firstlight.errors import ConfigError
from firstlight.store.meta import Meta, read_meta
from firstlight.store.schema import OutdatedError

if TYPE_CHECKING:
    from firstlight.corpus.site import Site
    from firstlight.corpus.survey import Survey
    from firstlight.corpus.types import Confirm, Report


def sync(
    site: Site,
    *,
    wait: float,
    progress: Report | None = None,
    rebuild: bool = False,
    confirm: Confirm | None = None,
) -> SyncReport:
    """Bring the index up to date; see `Corpus.sync`."""
    began = time.perf_counter()
    seen, replace = None, rebuild
    try:
        seen = None if rebuild else survey(site)
    except OutdatedError:
        replace = True  # all that it holds comes from the files
    if seen is not None:
        if seen.is_idle:
            return _idle_report(seen, began)
        _ask(seen, confirm)
    # Everything that writes is imported only now: a search that finds nothing changed does without.
    from firstlight.corpus.state import make_state_folder  # noqa: PLC0415
    from firstlight.corpus.writer import carry_out, ensure_database  # noqa: PLC0415
    from firstlight.store.lock import writer_lock  # noqa: PLC0415

    make_state_folder(site.state, site.root)
    with writer_lock(site.state, wait=wait):
        ensure_database(site, replace=replace)
        with site.database.read() as connection:
            meta = read_meta(connection)
        if seen is None or (seen.meta or _fresh(meta)) != meta:
            # Somebody else wrote since, so that what was seen may be older than what is indexed.
            seen = survey(site, force=rebuild)
            _ask(seen, confirm)
        return carry_out(site, seen, progress, began)


def _idle_report(seen: Survey, began: float) -> SyncReport:
    return SyncReport(
        unchanged=seen.work.unchanged,
        errors=file_errors(seen.known_errors()),
        skipped=seen.skipped,
        generation=seen.meta.generation if seen.meta else 0,
        seconds=time.perf_counter() - began,
    )


def _ask(seen: Survey, confirm: Confirm | None) -> None:
    new = len(seen.work.added)
    if confirm is not None and new > MANY_FILES and not confirm(new):
        raise ConfigError(
            f"{new:,} files were not indexed, as you said; 'sources' or 'exclude' narrows a folder"
        )


def _fresh(meta: Meta) -> Meta:
    """What a database says that was made just now: no survey could have seen it."""
    return Meta(meta.corpus, meta.root)
