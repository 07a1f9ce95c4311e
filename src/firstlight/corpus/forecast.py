"""What a sync would leave to embed: exactly, since every token may have to be paid for."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from firstlight.corpus.prepare import Prepared, own_title, prepare
from firstlight.embed.inputs import input_text
from firstlight.errors import EmbeddingError
from firstlight.store.embedders import read_embedders
from firstlight.store.pending import count_pending
from firstlight.store.vectors import read_known_inputs
from firstlight.text.tokens import est_tokens, tokens_of

if TYPE_CHECKING:
    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.site import Site
    from firstlight.corpus.types import Plan


def forecast(site: Site, embedding: Embedding, plan: Plan) -> tuple[int, int]:
    """Return how many chunks would have to be embedded after `plan`, and their estimated tokens.

    A text that has a vector, in this index or in the user's cache, costs nothing; one that several chunks
    have counts once.
    """
    chunks, size = _waiting(site, embedding, gone={*plan.changed, *plan.deleted})
    tokens = tokens_of(size)
    seen: set[bytes] = set()
    for path in (*plan.added, *plan.changed):
        prepared = prepare(site.root, path, site.config)
        if not isinstance(prepared, Prepared):
            continue
        title = own_title(path, prepared.title)
        texts = {
            bytes.fromhex(chunk.input_hash): input_text(title, tuple(chunk.headings), chunk.text)
            for chunk in prepared.chunks
        }
        new = texts.keys() - seen - _known(site, embedding, [*texts])
        seen |= texts.keys()
        chunks += len(new)
        tokens += sum(est_tokens(texts[each]) for each in new)
    return chunks, tokens


def _waiting(site: Site, embedding: Embedding, *, gone: set[str]) -> tuple[int, int]:
    if not site.database.exists():
        return 0, 0
    with site.database.read() as connection:
        row = read_embedders(connection).get("serving")
        number = row.id if row is not None and embedding.made(row) else 0
        return count_pending(connection, number, without=gone)


def _known(site: Site, embedding: Embedding, inputs: list[bytes]) -> set[bytes]:
    """Return which of these inputs have a vector already."""
    known: set[bytes] = set()
    with suppress(EmbeddingError):  # a provider that is down cannot say whose vectors are kept
        known.update(embedding.cache.get_many(embedding.embedder.fingerprint, inputs))
    if site.database.exists():
        with site.database.read() as connection:
            row = read_embedders(connection).get("serving")
            if row is not None and embedding.made(row):
                known |= read_known_inputs(connection, row.id, inputs)
    return known
