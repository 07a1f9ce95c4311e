"""What every part of a corpus works on: its folders, its settings and its database."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from firstlight.errors import ConfigError
from firstlight.lexical import ANALYSIS_VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from firstlight.corpus.config import Config
    from firstlight.store.database import Database
    from firstlight.store.meta import Meta

# Raised with every change of what a document's title and chunks are: the next sync then makes all anew.
CHUNKER_VERSION = 3


class Site(NamedTuple):
    """A content folder and its index.

    Attributes:
        root: The content folder, its real path.
        state: The folder of the index.
        config: The settings in force.
        database: The index.
    """

    root: str
    state: Path
    config: Config
    database: Database

    @property
    def recipe(self) -> str:
        """How documents become chunks and postings; what another recipe made is made anew."""
        config = self.config
        sizes = f"{config.min_tokens}-{config.max_tokens}-{config.overlap:g}"
        return f"{CHUNKER_VERSION}/{ANALYSIS_VERSION}/{sizes}/{config.language}/{config.encoding or ''}"

    @property
    def is_brought_along(self) -> bool:
        """Whether the index lies in the content folder, and may have come with it from anywhere."""
        return str(self.state).startswith(f"{self.root.rstrip(os.sep)}{os.sep}")

    def check_owner(self, meta: Meta) -> None:
        """Refuse the index of another folder; a folder that moved takes its index along."""
        if meta.root == self.root or self.is_brought_along:
            return
        if os.path.isdir(meta.root):  # noqa: PTH112  # a string, and on the way of every search
            raise ConfigError(f"{self.state} is the index of {meta.root}; name another folder", key="state")
