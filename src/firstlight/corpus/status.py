"""What there is to tell of an index, from a few counts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from firstlight.corpus.reports import Status
from firstlight.corpus.survey import file_errors
from firstlight.store import lease
from firstlight.store.documents import count_documents, read_errors
from firstlight.store.embedders import SERVING, read_embedders
from firstlight.store.meta import read_meta
from firstlight.store.vectors import count_vectors

if TYPE_CHECKING:
    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.site import Site
    from firstlight.store.embedders import EmbedderRow
    from firstlight.store.vectors import Counts


def status(site: Site, embedding: Embedding | None) -> Status:
    """Return the state of the index; nothing is written.

    Args:
        site: The corpus.
        embedding: The embedder that a search would use.
    """
    if not site.database.exists():
        model = None if embedding is None else embedding.embedder.name
        return Status(state=str(site.state), root=site.root, model=model)
    with site.database.read() as connection:
        meta = read_meta(connection)
        site.check_owner(meta)
        documents, chunks = count_documents(connection)
        errors = read_errors(connection)
        recorded = read_embedders(connection).get(SERVING)
        counts = None if recorded is None else count_vectors(connection, recorded.id)
        held = lease.read(connection)
    is_empty = recorded is not None and counts is not None and not counts.embedded
    if recorded is not None and is_empty and embedding is not None and not embedding.made(recorded):
        recorded = counts = None  # the next vectors are this one's
    return Status(
        documents=documents,
        chunks=chunks,
        **_embedded(embedding, recorded, counts, chunks),
        rate=held.rate if held.live else 0.0,
        worker=held.owner if held.live else None,
        generation=meta.generation,
        state=str(site.state),
        errors=file_errors(errors),
        root=site.root,
        synced=_when(meta.synced_ns),
    )


def _embedded(
    embedding: Embedding | None, recorded: EmbedderRow | None, counts: Counts | None, chunks: int
) -> dict[str, Any]:
    """Return what a status says of vectors."""
    if recorded is None or counts is None:
        return {
            "queue": 0 if embedding is None else chunks,
            "model": None if embedding is None else embedding.embedder.name,
        }
    is_usable = (
        embedding is not None
        and embedding.made(recorded)
        and recorded.floor is not None
        and counts.embedded > 0
    )
    return {
        "embedded": counts.embedded,
        "failed": counts.failed,
        "foreign": counts.foreign,
        "windows": counts.windows,
        "model": recorded.name,
        "mode": ("partial" if counts.waiting else "hybrid") if is_usable else "bm25",
        "queue": 0 if embedding is None else counts.waiting,
        "trouble": recorded.trouble,
        "tokens": recorded.tokens,
    }


def _when(nanoseconds: int) -> str | None:
    if not nanoseconds:
        return None
    return datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC).isoformat().replace("+00:00", "Z")
