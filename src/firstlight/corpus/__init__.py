"""Config, plan, sync, search and verify: a folder of documents, kept searchable."""

from __future__ import annotations

from firstlight.corpus.corpus import Corpus
from firstlight.corpus.trust import is_trusted, trust

__all__ = ["Corpus", "is_trusted", "trust"]
