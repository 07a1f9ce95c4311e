"""The embedder of a layer, and of every layer made from it, with the vectors that it made so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from firstlight.corpus.embedding import embedder_of, spec_of
from firstlight.embed.described import check_described
from firstlight.embed.question import QuestionEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from firstlight.embed.types import Embedder

__all__ = ["Model", "open_model"]

# Seconds that a question waits for a provider.
_QUERY_TIMEOUT = 1.5


class Model(NamedTuple):
    """An embedder in use.

    Attributes:
        embedder: The model; loaded, or asked, on first use.
        spec: How it was named.
        question: What embeds questions, within a time.
        known: float32[d] of each passage, by the hash of what was embedded of it; it only grows.
    """

    embedder: Embedder
    spec: str
    question: QuestionEmbedder
    known: dict[bytes, NDArray[np.float32]]


def open_model(given: str | Embedder | None) -> Model | None:
    """Return the embedder that is given, a spec or an object; None for none.

    Raises:
        ConfigError: What is named cannot be had, or what is given is no embedder.
    """
    if given is None:
        return None
    if isinstance(given, str):
        return _named(given)
    check_described(given)
    from firstlight.embed.remote import RemoteEmbedder  # noqa: PLC0415  # an extra

    timeout = _QUERY_TIMEOUT if isinstance(given, RemoteEmbedder) else None
    return _model(given, str(given.name), timeout)


def _named(text: str) -> Model | None:
    spec = spec_of(text)
    embedder = embedder_of(spec)
    if embedder is None:
        return None
    return _model(embedder, str(spec), _QUERY_TIMEOUT if spec.is_remote else None)


def _model(embedder: Embedder, spec: str, timeout: float | None) -> Model:
    return Model(embedder, spec, QuestionEmbedder(embedder, cache=None, timeout=timeout), {})
