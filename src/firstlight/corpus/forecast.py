"""What a sync would leave to embed: exactly, since every token may have to be paid for."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from firstlight.corpus.languages import is_known
from firstlight.corpus.prepare import Prepared, own_title, prepare
from firstlight.embed.calls import windows_of
from firstlight.embed.inputs import input_text
from firstlight.errors import EmbeddingError
from firstlight.store.embedders import SERVING, read_embedders
from firstlight.store.pending import read_pending
from firstlight.store.vectors import read_known_inputs
from firstlight.text.tokens import est_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.reports import Plan
    from firstlight.corpus.site import Site

_PORTION = 512


class _Text(NamedTuple):
    """What would be embedded, and what tells its language."""

    item: bytes
    text: str
    passage: str
    language: str


def forecast(site: Site, embedding: Embedding, plan: Plan) -> tuple[int, int]:
    """Return how many chunks would have to be embedded after `plan`, and their estimated tokens.

    A text that has a vector, in this index or in the user's cache, costs nothing, nor does one in a language
    that the model does not know; one that several chunks have counts once.
    """
    chunks = tokens = 0
    seen: set[bytes] = set()
    for portion in _texts(site, embedding, plan):
        texts = {
            each.item: each.text
            for each in portion
            if each.item not in seen and is_known(each.passage, each.language, embedding.embedder.languages)
        }
        new = texts.keys() - _known(site, embedding, [*texts])
        seen |= texts.keys()
        chunks += len(new)
        tokens += _tokens(embedding, {item: texts[item] for item in new})
    return chunks, tokens


def _texts(site: Site, embedding: Embedding, plan: Plan) -> Iterator[list[_Text]]:
    """Yield what waits already, as far as `plan` leaves it, and what it brings."""
    yield from _waiting(site, embedding, gone={*plan.changed, *plan.deleted})
    for path in (*plan.added, *plan.changed):
        prepared = prepare(site.root, path, site.config)
        if isinstance(prepared, Prepared):
            title = own_title(path, prepared.title)
            yield [
                _Text(
                    bytes.fromhex(chunk.input_hash),
                    input_text(title, tuple(chunk.headings), chunk.text),
                    chunk.text,
                    prepared.language,
                )
                for chunk in prepared.chunks
            ]


def _waiting(site: Site, embedding: Embedding, *, gone: set[str]) -> Iterator[list[_Text]]:
    after = 0
    while site.database.exists():
        with site.database.read() as connection:
            row = read_embedders(connection).get(SERVING)
            number = row.id if row is not None and embedding.made(row) else 0
            portion = read_pending(connection, number, after=after, limit=_PORTION)
        if not portion:
            return
        after = portion[-1].chunk
        yield [
            _Text(
                each.input_hash,
                input_text(own_title(each.path, each.title), each.headings, each.text),
                each.text,
                each.language,
            )
            for each in portion
            if each.path not in gone
        ]


def _known(site: Site, embedding: Embedding, inputs: list[bytes]) -> set[bytes]:
    """Return which of these inputs have a vector already."""
    known: set[bytes] = set()
    with suppress(EmbeddingError):  # a provider that is down cannot say whose vectors are kept
        known.update(embedding.cache.get_many(embedding.embedder.fingerprint, inputs))
    if site.database.exists():
        with site.database.read() as connection:
            row = read_embedders(connection).get(SERVING)
            if row is not None and embedding.made(row):
                known |= read_known_inputs(connection, row.id, inputs)
    return known


def _tokens(embedding: Embedding, texts: Mapping[bytes, str]) -> int:
    if not embedding.is_remote:  # cutting by a local model's own tokens takes long, and nobody pays
        return sum(map(est_tokens, texts.values()))
    parts = (windows_of(embedding.embedder, item, text) for item, text in texts.items())
    return sum(window.tokens for windows in parts for window in windows)
