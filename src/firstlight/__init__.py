"""Answers questions over your own documents: at once from BM25, hybrid a little later.

Example:
    >>> from firstlight import Corpus
    >>> with Corpus.open("docs") as corpus:  # doctest: +SKIP
    ...     corpus.sync()
    ...     for hit in corpus.search("how do I drain a node?", top_k=3):
    ...         print(hit.path, hit.line_start, hit.snippet)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from firstlight._version import __version__

if TYPE_CHECKING:
    from firstlight.corpus import Corpus
    from firstlight.errors import ConfigError, DocumentError, FilterError, FirstlightError, StoreError
    from firstlight.rank.types import Hit, Results

__all__ = [
    "ConfigError",
    "Corpus",
    "DocumentError",
    "FilterError",
    "FirstlightError",
    "Hit",
    "Results",
    "StoreError",
    "__version__",
]

# Imported on first use: `import firstlight` itself costs nothing.
_HOMES = {
    "ConfigError": "firstlight.errors",
    "Corpus": "firstlight.corpus.corpus",
    "DocumentError": "firstlight.errors",
    "FilterError": "firstlight.errors",
    "FirstlightError": "firstlight.errors",
    "Hit": "firstlight.rank.types",
    "Results": "firstlight.rank.types",
    "StoreError": "firstlight.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'firstlight' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
