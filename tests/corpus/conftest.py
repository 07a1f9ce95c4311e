from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from firstlight import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass
class Docs:
    """A content folder that a test writes to."""

    root: Path

    def write(self, path: str, text: str | bytes, *, age: float = 0.0) -> Path:
        """Write a file, as if `age` seconds ago."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        if age:
            then = time.time() - age
            os.utime(file, (then, then))
        return file

    def age(self, seconds: float = 100.0) -> None:
        """Make every file look as if it was written long before any sync."""
        then = time.time() - seconds
        for file in self.root.rglob("*"):
            if file.is_file():
                os.utime(file, (then, then))

    def open(self, **options: Any) -> Corpus:
        """Open the folder."""
        return Corpus.open(self.root, **options)


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from the user's own state and configuration."""
    monkeypatch.setenv("FIRSTLIGHT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("FIRSTLIGHT_CONFIG", str(tmp_path / "config" / "config.toml"))


@pytest.fixture
def docs(tmp_path: Path) -> Docs:
    """An empty content folder."""
    root = tmp_path / "docs"
    root.mkdir()
    return Docs(root)


@pytest.fixture
def handbook(docs: Docs) -> Docs:
    """Three small pages, with front matter."""
    docs.write(
        "ops/drain.md",
        "---\ntitle: Drain a node\narea: platform\nlevel: 2\nlast_verified: 2026-01-31\n---\n"
        "# Drain\n\nCordon the node, then drain it. The pods move elsewhere.\n",
    )
    docs.write(
        "ops/backup.md",
        "---\narea: platform\nlevel: 1\ntags: [restore, nightly]\n---\n"
        "# Backups\n\nEvery night a snapshot of the database.\n",
    )
    docs.write("about.md", "---\narea: about\n---\n# About us\n\nWe write documents, and drain swamps.\n")
    return docs


@pytest.fixture
def corpus(handbook: Docs) -> Iterator[Corpus]:
    """The three pages, synced."""
    with handbook.open() as opened:
        opened.sync()
        yield opened
