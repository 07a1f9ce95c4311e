"""What there is to tell of an index, from a few counts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from firstlight.corpus.survey import file_errors
from firstlight.corpus.types import Status
from firstlight.store.documents import count_documents, read_errors
from firstlight.store.meta import read_meta

if TYPE_CHECKING:
    from firstlight.corpus.site import Site


def status(site: Site) -> Status:
    """Return the state of the index; nothing is written."""
    if not site.database.exists():
        return Status(state=str(site.state), root=site.root)
    with site.database.read() as connection:
        meta = read_meta(connection)
        site.check_owner(meta)
        documents, chunks = count_documents(connection)
        errors = read_errors(connection)
    return Status(
        documents=documents,
        chunks=chunks,
        generation=meta.generation,
        state=str(site.state),
        errors=file_errors(errors),
        root=site.root,
        synced=_when(meta.synced_ns),
    )


def _when(nanoseconds: int) -> str | None:
    if not nanoseconds:
        return None
    return datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC).isoformat().replace("+00:00", "Z")
