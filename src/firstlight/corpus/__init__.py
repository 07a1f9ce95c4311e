"""Config, plan, sync, search and verify: a folder of documents, kept searchable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight._lazy import lazy

if TYPE_CHECKING:
    from firstlight.corpus.corpus import Corpus

__all__ = ["Corpus"]

__getattr__ = lazy(__name__, {"corpus": ("Corpus",)})
