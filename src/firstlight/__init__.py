"""Answers questions over your own documents: at once from BM25, hybrid a little later.

Example:
    >>> from firstlight import Corpus
    >>> with Corpus.open("docs") as corpus:  # doctest: +SKIP
    ...     corpus.sync()
    ...     for hit in corpus.search("how do I drain a node?", top_k=3):
    ...         print(hit.path, hit.line_start, hit.snippet)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight._lazy import lazy
from firstlight._version import __version__

if TYPE_CHECKING:
    from firstlight.context import ContextLayer
    from firstlight.corpus import Corpus
    from firstlight.digest import Digest, DigestEngine, Gate
    from firstlight.embed import Embedder
    from firstlight.errors import (
        ChatError,
        ConfigError,
        DocumentError,
        EmbeddingError,
        FilterError,
        FirstlightError,
        StoreError,
    )
    from firstlight.rank.types import Hit, Results

__all__ = [
    "ChatError",
    "ConfigError",
    "ContextLayer",
    "Corpus",
    "Digest",
    "DigestEngine",
    "DocumentError",
    "Embedder",
    "EmbeddingError",
    "FilterError",
    "FirstlightError",
    "Gate",
    "Hit",
    "Results",
    "StoreError",
    "__version__",
]

# Imported on first use: `import firstlight` itself costs nothing.
__getattr__ = lazy(
    __name__,
    {
        "context.layer": ("ContextLayer",),
        "corpus.corpus": ("Corpus",),
        "digest.engine": ("DigestEngine",),
        "digest.gate": ("Gate",),
        "digest.types": ("Digest",),
        "embed.types": ("Embedder",),
        "errors": (
            "ChatError",
            "ConfigError",
            "DocumentError",
            "EmbeddingError",
            "FilterError",
            "FirstlightError",
            "StoreError",
        ),
        "rank.types": ("Hit", "Results"),
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
